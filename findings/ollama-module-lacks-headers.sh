#!/usr/bin/env bash
# ollama v0.17.4, a server of models with the format of OpenAI: its Go module cannot be compiled, though `go install` finds and fetches
# it. Go leaves folders called vendor out of a module's archive, and llama.cpp keeps headers of C++ in one: miniaudio, nlohmann/json,
# stb. The repository has them, so that a clone compiles. A compiler that finds some of these headers in a system's own folders hides
# it in part; no system here has miniaudio.
# Whoever builds the server for `make peers` without a clone gives the compiler these headers by CGO_CXXFLAGS=-I….
set -euo pipefail
for tool in go g++; do
  command -v "$tool" >/dev/null || { echo "no $tool is here, which compiles the module"; exit 1; }
done
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOFLAGS=-mod=mod CGO_ENABLED=1
unset CGO_CXXFLAGS CGO_CFLAGS CGO_CPPFLAGS
go mod init example.org/finding >/dev/null 2>&1
go get github.com/ollama/ollama@v0.17.4 >/dev/null 2>&1
module=$(go list -m -f '{{.Dir}}' github.com/ollama/ollama)
if [ -e "$module/llama/llama.cpp/vendor" ]; then
  echo "the module has its vendored headers: this is not what v0.17.4 did"
  exit 1
fi
grep -h '#cgo CPPFLAGS' "$module/llama/llama.cpp/tools/mtmd/mtmd.go"
if go build github.com/ollama/ollama/llama/llama.cpp/tools/mtmd >out 2>&1; then
  echo "it compiles: this is not what v0.17.4 did"
  exit 1
fi
grep -h 'fatal error' out
grep -q 'miniaudio/miniaudio.h: No such file' out || { cat out; echo "this is not what v0.17.4 did"; exit 1; }

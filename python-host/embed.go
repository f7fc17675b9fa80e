// Package pythonhost carries the Python host of actors inside the binary: the
// host process (host/), and the packages its authors import, pvm_host and
// cowboy_sdk, with their test runner. Package internal/environment/pyhost starts it.
package pythonhost

import "embed"

// Files holds the sources by path.
//
//go:embed bootstrap.py host/*.py pvm_host/*.py cowboy_sdk/*.py
var Files embed.FS

// Testing holds cowboy_sdk.testing and cowboy_sdk.client, which run beside authors' tests
// and in no host.
//
//go:embed cowboy_sdk/testing/*.py cowboy_sdk/client/*.py
var Testing embed.FS

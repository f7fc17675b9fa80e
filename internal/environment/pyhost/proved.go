package pyhost

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

// maxProved bounds the marks of a file: of each interpreter one, and of each version of
// these sources.
const maxProved = 64

// known are the marks of interpreters that this process proved.
var known sync.Map

// identity is the mark of an interpreter, its standard library, the host's sources and the
// corpus. For files of the library it takes sizes and times instead of bytes. It is "" if
// the library is not found, and then nothing is remembered.
func identity(path string, sources []byte) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	library, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(real)), "lib", "python3*", "*.py"))
	parts := [][]byte{[]byte(real), sources, []byte(receipts.Text())}
	for _, pattern := range []string{"re/*.py", "json/*.py", "collections/*.py", "lib-dynload/*"} {
		more, wrong := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(real)), "lib", "python3*", filepath.FromSlash(pattern)))
		if wrong != nil {
			err = wrong
		}
		library = append(library, more...)
	}
	if err != nil || len(library) == 0 {
		return ""
	}
	for _, file := range append(library, real) {
		info, err := os.Stat(file)
		if err != nil {
			return ""
		}
		parts = append(parts, fmt.Appendf(nil, "%s %d %d", file, info.Size(), info.ModTime().UnixNano()))
	}
	return types.Keccak(bytes.Join(parts, []byte{0})).String()
}

// file is where marks are kept between processes; "" where the user has no place for it.
func provedFile() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "devnet", "pythons")
}

func proved(mark string) bool {
	if mark == "" {
		return false
	}
	if _, ok := known.Load(mark); ok {
		return true
	}
	for _, line := range provedMarks() {
		if line == mark {
			known.Store(mark, true)
			return true
		}
	}
	return false
}

func provedMarks() []string {
	data, err := os.ReadFile(provedFile())
	if err != nil || len(data) > 100*maxProved {
		return nil
	}
	var marks []string
	for _, line := range bytes.Fields(data) {
		marks = append(marks, string(line))
	}
	return marks
}

// remember keeps a mark. A file that cannot be written costs the next process a proof.
func remember(mark string) {
	if mark == "" {
		return
	}
	known.Store(mark, true)
	path := provedFile()
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	marks := append(provedMarks(), mark)
	marks = marks[max(0, len(marks)-maxProved):]
	var text bytes.Buffer
	for _, m := range marks {
		fmt.Fprintln(&text, m)
	}
	made, err := os.CreateTemp(filepath.Dir(path), "pythons-")
	if err != nil {
		return
	}
	_, err = made.Write(text.Bytes())
	if wrong := made.Close(); err != nil || wrong != nil || os.Rename(made.Name(), path) != nil {
		os.Remove(made.Name())
	}
}

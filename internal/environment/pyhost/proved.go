package pyhost

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

// identity is the mark of an interpreter, its standard library, the host's sources and the
// corpus. For files of the library it takes sizes and times instead of bytes. It is "" if
// the library is not found, and then nothing is remembered.
func identity(path string, sources []byte) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	mark := sha256.New() // faster than Keccak, and no rule of the chain
	fmt.Fprintf(mark, "%s\x00%x\x00%x", real, sha256.Sum256(sources), corpus())
	found := 0
	for _, pattern := range []string{"*.py", "re/*.py", "json/*.py", "collections/*.py", "lib-dynload/*"} {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(real)), "lib", "python3*", filepath.FromSlash(pattern)))
		if err != nil || !markFiles(mark, files) {
			return ""
		}
		found += len(files)
	}
	if found == 0 || !markFiles(mark, []string{real}) {
		return ""
	}
	return hex.EncodeToString(mark.Sum(nil))
}

// corpus is the digest of all pinned receipts.
var corpus = sync.OnceValue(func() [sha256.Size]byte { return sha256.Sum256([]byte(receipts.Text())) })

// markFiles writes each file's name, size and time. It reports whether all exist.
func markFiles(mark io.Writer, files []string) bool {
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return false
		}
		fmt.Fprintf(mark, "\x00%s %d %d", file, info.Size(), info.ModTime().UnixNano())
	}
	return true
}

func proved(mark string) bool {
	_, ok := cached(mark)
	return ok
}

// remember keeps the mark of an interpreter that was proved.
func remember(mark string) { keep(mark, "") }

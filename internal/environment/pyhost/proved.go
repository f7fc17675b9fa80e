package pyhost

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

// interpreterMark is the mark of an interpreter, its standard library, the host's sources and the
// corpus. For files of the library it takes sizes and times instead of bytes. It is "" if
// the library is not found, and then nothing is remembered.
func interpreterMark(path string, sources [sha256.Size]byte) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	mark := sha256.New() // faster than Keccak, and no rule of the chain
	fmt.Fprintf(mark, "%s\x00%x\x00%x", real, sources, corpus())
	libraries, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(real)), "lib", "python3*"))
	if err != nil {
		return ""
	}
	found := 0
	for _, library := range libraries {
		for _, folder := range []string{"", "re", "json", "collections", extensions} {
			n, err := markFolder(mark, filepath.Join(library, folder), folder == extensions)
			if err != nil {
				return ""
			}
			found += n
		}
	}
	if found == 0 || markFile(mark, real) != nil {
		return ""
	}
	return hex.EncodeToString(mark.Sum(nil))
}

// extensions is the folder of a library's compiled modules.
const extensions = "lib-dynload"

// corpus is the digest of all pinned receipts.
var corpus = sync.OnceValue(func() [sha256.Size]byte { return sha256.Sum256([]byte(receipts.Text())) })

// markFolder writes the marks of a folder's Python files, or of all its files, and returns their
// number. A folder that does not exist has none.
func markFolder(mark io.Writer, folder string, all bool) (found int, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, entry := range entries {
		if err == nil && !entry.IsDir() && (all || filepath.Ext(entry.Name()) == ".py") {
			err = markFile(mark, filepath.Join(folder, entry.Name()))
			found++
		}
	}
	return found, err
}

// markFile writes a file's name, size and time.
func markFile(mark io.Writer, file string) error {
	info, err := os.Stat(file)
	if err == nil {
		fmt.Fprintf(mark, "\x00%s %d %d", file, info.Size(), info.ModTime().UnixNano())
	}
	return err
}

func isProved(mark string) bool {
	_, ok := readCache(mark)
	return ok
}

// rememberProof keeps the mark of an interpreter that was proved.
func rememberProof(mark string) { writeCache(mark, "") }

package hosts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// leftSuffix is the suffix of the empty file next to a node's settings that marks it as
// deregistered. The chain knows it too, but its state is not available before the first
// node starts.
const leftSuffix = ".left"

// SetLeft notes in a folder whether a node has left, for the next start of all.
func SetLeft(dir, name string, left bool) error {
	path := filepath.Join(dir, name+leftSuffix)
	if left {
		return home.WriteFile(path, nil, store.Process)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func hasLeft(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name+leftSuffix))
	return err == nil
}

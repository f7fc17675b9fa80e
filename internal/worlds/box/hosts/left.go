package hosts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// leftSuffix is that of the empty file beside a node's settings which says that it has
// left. The chain knows it too, but nobody has its state who is to start the first node.
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

package store

import (
	"errors"
	"fmt"
	"os"
)

// SyncDir makes the names in a directory survive a loss of power: a file that is
// synced, and whose name is not, is lost all the same.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err == nil {
		err = errors.Join(dir.Sync(), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("sync the directory %s: %w", path, err)
	}
	return nil
}

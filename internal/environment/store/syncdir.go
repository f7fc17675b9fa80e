package store

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// SyncDir makes the names in a directory survive a loss of power: a file that is
// synced, and whose name is not, is lost all the same.
func SyncDir(path string) error {
	if see := witness.Load(); see != nil {
		(*see)(path)
	}
	dir, err := os.Open(path)
	if err == nil {
		err = errors.Join(dir.Sync(), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("sync the directory %s: %w", path, err)
	}
	return nil
}

var witness atomic.Pointer[func(path string)]

// Witness calls see for each directory just before it is synced, until restore is
// called: otherwise only a loss of power shows a missing sync. It is for tests, one
// at a time in a process.
func Witness(see func(path string)) (restore func()) {
	before := witness.Swap(&see)
	return func() { witness.Store(before) }
}

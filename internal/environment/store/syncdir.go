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
	tellStep(Step{FolderSynced, path})
	dir, err := os.Open(path)
	if err == nil {
		err = errors.Join(dir.Sync(), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("sync the directory %s: %w", path, err)
	}
	return nil
}

// Step is something that decides what a loss of power leaves.
type Step struct {
	Kind StepKind
	Path string
}

// StepKind is a kind of step.
type StepKind int

// The kinds.
const (
	FileSynced   StepKind = iota // the content of an open file
	FolderSynced                 // told before it is done
	Renamed                      // Path is the name that was taken
)

var witness atomic.Pointer[func(Step)]

func tellStep(s Step) {
	if see := witness.Load(); see != nil {
		(*see)(s)
	}
}

// Witness calls see for each step, until restore is called: otherwise only a loss of power
// shows a missing sync. It is for tests, one at a time in a process.
func Witness(see func(Step)) (restore func()) {
	before := witness.Swap(&see)
	return func() { witness.Store(before) }
}

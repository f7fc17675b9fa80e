package command

import (
	"errors"
	"io/fs"
	"os"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// ReadActor reads the Python file of an actor: one on disk, or else an example that the
// program carries.
func ReadActor(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if folder, name, ok := scenario.Carried(path); ok {
			return fs.ReadFile(folder, name)
		}
	}
	return ReadFile(path)
}

// ReadFile reads a file a person named.
func ReadFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.CausedBy(err, failure.NewUsage(failure.GivePath, "cannot read %s: %v", path, failure.InnermostCause(err)))
	}
	return data, nil
}

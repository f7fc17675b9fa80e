package cluster

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Adopt copies the state of each validator that has one into the folder of kept blocks,
// if that has no file of the validator: an earlier version kept none, and a bounded
// history cannot be executed again. It comes before Launch, since a running validator
// holds its state.
func (c *Backend) Adopt() error {
	if c.stores == "" {
		return nil
	}
	if err := os.MkdirAll(c.stores, 0o700); err != nil {
		return err
	}
	for _, v := range c.hosts.Validators {
		kept := filepath.Join(c.stores, v.Name+storeSuffix)
		if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
			continue // resume reads it
		}
		err := copyFile(home.NodeFiles(c.hosts.Home(c.dir, v.Name), v.Name).State, kept)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// storeSuffix is the suffix of a file of kept blocks.
const storeSuffix = ".db"

// copyFile copies a file, whole or not at all.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	unfinished := to + ".new"
	out, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return store.TakeName(unfinished, to)
}

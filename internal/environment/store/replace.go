package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// newSuffix is the suffix of a file that is not whole yet.
const newSuffix = ".new"

// ReplaceFile replaces a file by data: a reader and a crash see the old content or the new,
// and so does, with Disk, a loss of power.
func ReplaceFile(path string, data []byte, mode os.FileMode, durability Durability) error {
	f, err := os.OpenFile(path+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if durability == Process {
		return os.Rename(f.Name(), path)
	}
	return TakeName(f.Name(), path)
}

// TakeName gives a file or folder, with all that it holds, a name that survives a loss of
// power. Whoever finds the name finds the whole content. What had the name is replaced; a
// folder that had it must be empty.
func TakeName(from, to string) error {
	if err := syncTree(from); err != nil {
		return err
	}
	if err := Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// Rename gives away a name that need not survive a loss of power yet.
func Rename(from, to string) error {
	err := os.Rename(from, to)
	if err == nil {
		tellStep(Step{Renamed, to})
	}
	return err
}

// syncTree makes a file, or a folder with its content, survive a loss of power, but for its
// own name. The content of folders comes before them.
func syncTree(root string) error {
	var folders []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			folders = append(folders, path)
			return nil
		case !e.Type().IsRegular():
			return nil
		}
		return syncFile(path)
	})
	for i := len(folders) - 1; err == nil && i >= 0; i-- {
		err = SyncDir(folders[i])
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) { // its owner may only read it, which suffices on some systems
		f, err = os.Open(path)
	}
	if err == nil {
		err = errors.Join(SyncFile(f, path), f.Close())
	}
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}

// SyncFile makes the content of the open file at a path survive a loss of power.
func SyncFile(f interface{ Sync() error }, path string) error {
	err := f.Sync()
	if err == nil {
		tellStep(Step{FileSynced, path})
	}
	return err
}

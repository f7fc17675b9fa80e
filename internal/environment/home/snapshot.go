package home

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// snapshotsDir holds what Save kept: in a folder for each name a home.json, and what
// belongs to the chain as the home has it.
const snapshotsDir = "snapshots"

// Snapshot is a state of a home that it can be given again.
type Snapshot struct {
	Name  string    `json:"name"`
	Saved time.Time `json:"saved"`
	Bytes int64     `json:"bytes"`
}

// SnapshotError says why a home's snapshot cannot be saved or loaded.
type SnapshotError struct{ What, Remedy string }

func (e *SnapshotError) Error() string { return e.What + ": " + e.Remedy }

// Save keeps the chain of a home that nobody has open under a name, which Node's are
// like. A name that is there already is replaced only where that is wanted.
func Save(dir, name string, replace bool) (Snapshot, error) {
	to, err := snapshotDir(dir, name)
	if err != nil {
		return Snapshot{}, err
	}
	lock, err := ownChain(dir)
	if err != nil {
		return Snapshot{}, err
	}
	defer lock.Close()
	if _, err := os.Stat(to); err == nil && !replace {
		return Snapshot{}, &SnapshotError{"there is a snapshot " + name + " already", "choose another name, or give --replace"}
	}
	fresh := to + newSuffix
	err = os.RemoveAll(fresh)
	for _, part := range slices.Concat(parts, []string{metaFile}) {
		if err == nil {
			err = copyTree(filepath.Join(dir, part), filepath.Join(fresh, part))
		}
	}
	if err == nil {
		err = os.RemoveAll(to)
	}
	if err == nil {
		err = os.Rename(fresh, to)
	}
	if err != nil {
		return Snapshot{}, errors.Join(fmt.Errorf("home: %w", err), os.RemoveAll(fresh))
	}
	return statSnapshot(dir, name)
}

// Load makes a home that nobody has open what it was when a snapshot was saved. One that
// is interrupted leaves no home.json, and can be loaded again.
func Load(dir, name string) (Snapshot, error) {
	from, err := snapshotDir(dir, name)
	if err != nil {
		return Snapshot{}, err
	}
	if _, err := ReadMeta(from); err != nil {
		return Snapshot{}, &SnapshotError{fmt.Sprintf("%s has no snapshot %s", dir, name), "see devnet snapshot list"}
	}
	lock, err := takeLock(dir)
	if err != nil {
		return Snapshot{}, err
	}
	defer lock.Close()
	err = os.RemoveAll(filepath.Join(dir, metaFile))
	for _, part := range slices.Concat(parts, []string{metaFile}) {
		if err == nil {
			err = os.RemoveAll(filepath.Join(dir, part))
		}
		if err == nil {
			err = copyTree(filepath.Join(from, part), filepath.Join(dir, part))
		}
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("home: %w; load it again", err)
	}
	return statSnapshot(dir, name)
}

// parts are what belongs to the chain, beside home.json. Logs go on.
var parts = []string{genesisFile, clockFile, nodesDir, netDir}

// Snapshots lists those of a home, by name.
func Snapshots(dir string) ([]Snapshot, error) {
	found, err := names(filepath.Join(dir, snapshotsDir))
	if err != nil {
		return nil, err
	}
	all := []Snapshot{}
	for _, name := range found {
		if !validName(name) {
			continue // half of one, which a crash left
		}
		s, err := statSnapshot(dir, name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// ownChain locks a home that has a whole network, of which nobody else knows votes: a
// validator that forgot some of its own, while others go on, would contradict itself.
func ownChain(dir string) (lock *os.File, err error) {
	meta, err := ReadMeta(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &SnapshotError{"there is no devnet home at " + dir, "name one with --home"}
	case err != nil:
		return nil, err
	case meta.Node != "":
		return nil, &SnapshotError{fmt.Sprintf("%s is the home of %s alone", dir, meta.Node), "that would forget its votes while others go on"}
	}
	return takeLock(dir)
}

func snapshotDir(dir, name string) (string, error) {
	if !validName(name) {
		return "", &SnapshotError{fmt.Sprintf("%.40q is no name of a snapshot", name), "it has 1 to 32 lower-case letters, digits and hyphens"}
	}
	return filepath.Join(dir, snapshotsDir, name), nil
}

func statSnapshot(dir, name string) (Snapshot, error) {
	at := filepath.Join(dir, snapshotsDir, name)
	s := Snapshot{Name: name}
	info, err := os.Stat(filepath.Join(at, metaFile))
	if err != nil {
		return s, fmt.Errorf("home: %w", err)
	}
	s.Saved = info.ModTime().UTC().Truncate(time.Second)
	err = filepath.WalkDir(at, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			info, err = e.Info()
			s.Bytes += info.Size()
		}
		return err
	})
	return s, err
}

// copyTree copies a file, or a folder with what is in it, but for locks, sockets and
// what a running node says of itself. What is not there is left out.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) && path == from {
			return nil
		}
		if err != nil {
			return err
		}
		at := to + strings.TrimPrefix(path, from)
		switch info, err := e.Info(); {
		case err != nil:
			return err
		case e.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link, behind which no snapshot looks", path)
		case e.IsDir():
			return os.MkdirAll(at, info.Mode().Perm())
		case !e.Type().IsRegular() || e.Name() == lockFile || e.Name() == runFile:
			return nil
		default:
			return copyFile(path, at, info.Mode().Perm())
		}
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

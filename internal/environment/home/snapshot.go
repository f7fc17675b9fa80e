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

	"github.com/cowboyinc/devnet/internal/environment/store"
)

// snapshotsDir holds the snapshots: one folder per name with a home.json, and the
// chain's files in the home's layout.
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

// Save stores the chain of a home that is not open under a name, in the form of
// Node's names. An existing name is replaced only if replace is true.
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
	if err := finishReplacing(to); err != nil {
		return Snapshot{}, err
	}
	if _, err := os.Stat(to); err == nil && !replace {
		return Snapshot{}, &SnapshotError{"there is a snapshot " + name + " already", "choose another name, or give --replace"}
	}
	fresh := to + newSuffix
	err = errors.Join(makeDir(filepath.Dir(to), store.Disk), os.RemoveAll(fresh))
	for _, part := range slices.Concat(parts, []string{metaFile}) {
		if err == nil {
			err = copyTree(filepath.Join(dir, part), filepath.Join(fresh, part))
		}
	}
	if err == nil {
		err = replaceFolder(fresh, to)
	}
	if err != nil {
		return Snapshot{}, errors.Join(fmt.Errorf("home: %w", err), os.RemoveAll(fresh))
	}
	return statSnapshot(dir, name)
}

// replacedSuffix is the suffix of a folder whose name another one takes.
const replacedSuffix = ".old"

// replaceFolder gives a folder the name of another, which is removed. A crash leaves the one
// or the other, once finishReplacing has looked.
func replaceFolder(fresh, to string) error {
	err := store.Rename(to, to+replacedSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := store.TakeName(fresh, to); err != nil {
		return err
	}
	return os.RemoveAll(to + replacedSuffix)
}

// finishReplacing ends what a crash interrupted in replaceFolder. Its caller has the home's lock.
func finishReplacing(to string) error {
	old := to + replacedSuffix
	if _, err := os.Stat(to); err == nil {
		return os.RemoveAll(old)
	}
	if err := store.Rename(old, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("home: %w", err)
	}
	return nil
}

// Load restores a home that is not open to a saved snapshot. An interrupted load leaves
// no home.json, and can be repeated.
func Load(dir, name string) (Snapshot, error) {
	from, err := snapshotDir(dir, name)
	if err != nil {
		return Snapshot{}, err
	}
	if _, err := statSnapshot(dir, name); err != nil {
		return Snapshot{}, &SnapshotError{fmt.Sprintf("%s has no snapshot %s", dir, name), "see devnet snapshot list"}
	}
	lock, err := takeLock(dir)
	if err != nil {
		return Snapshot{}, err
	}
	defer lock.Close()
	if err := finishReplacing(from); err != nil {
		return Snapshot{}, err
	}
	if _, err := ReadMeta(from); err != nil {
		return Snapshot{}, err
	}
	if err = os.RemoveAll(filepath.Join(dir, metaFile)); err == nil {
		err = store.SyncDir(dir) // before anything else goes
	}
	for _, part := range slices.Concat(parts, []string{metaFile}) {
		to := filepath.Join(dir, part)
		if err == nil {
			err = errors.Join(os.RemoveAll(to), os.RemoveAll(to+newSuffix))
		}
		if err == nil {
			err = copyTree(filepath.Join(from, part), to+newSuffix)
		}
		if err == nil {
			err = takeNameIfThere(to+newSuffix, to)
		}
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("home: %w; load it again", err)
	}
	return statSnapshot(dir, name)
}

// takeNameIfThere takes a name, unless there is nothing to take it: a home need not have
// each part.
func takeNameIfThere(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return store.TakeName(from, to)
}

// parts lists the chain's files, besides home.json. Logs are kept.
var parts = []string{genesisFile, clockFile, nodesDir, netDir}

// Snapshots lists those of a home, by name.
func Snapshots(dir string) ([]Snapshot, error) {
	found, err := listNames(filepath.Join(dir, snapshotsDir))
	if err != nil {
		return nil, err
	}
	all := []Snapshot{}
	for _, name := range found {
		if kept, is := strings.CutSuffix(name, replacedSuffix); is && !slices.Contains(found, kept) {
			name = kept // its replacement is under way, or was interrupted
		}
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

// ownChain locks a home with a whole network, whose votes no other home holds: a
// validator that forgot some of its votes, while others continue, would contradict
// itself.
func ownChain(dir string) (lock *os.File, err error) {
	meta, err := ReadMeta(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &SnapshotError{"there is no devnet home at " + dir, "name one with --home"}
	case err != nil:
		return nil, err
	case meta.Node != "":
		return nil, &SnapshotError{fmt.Sprintf("%s is the home of the single node %s", dir, meta.Node),
			"a snapshot would lose its votes while other validators continue"}
	}
	return takeLock(dir)
}

func snapshotDir(dir, name string) (string, error) {
	if !validName(name) {
		return "", &SnapshotError{fmt.Sprintf("invalid snapshot name %.40q", name), "want 1 to 32 lower-case letters, digits and hyphens"}
	}
	return filepath.Join(dir, snapshotsDir, name), nil
}

func statSnapshot(dir, name string) (Snapshot, error) {
	at := filepath.Join(dir, snapshotsDir, name)
	s := Snapshot{Name: name}
	info, err := os.Stat(filepath.Join(at, metaFile))
	if errors.Is(err, fs.ErrNotExist) {
		at += replacedSuffix
		info, err = os.Stat(filepath.Join(at, metaFile))
	}
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

// copyTree copies a file, or a folder with its content, except locks, sockets and a
// running node's record of itself. A missing source is skipped.
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
			return fmt.Errorf("%s is a symbolic link, and a snapshot does not follow links", path)
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
	return errors.Join(err, out.Close())
}

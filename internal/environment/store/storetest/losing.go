package storetest

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/cowboyinc/devnet/internal/environment/store"
)

// LosingDisk is what is below a folder on a disk that loses what was not synced: the content
// that a file had at its last sync is left, and of a folder the names at its last sync or,
// by chance, those that it has now. It follows files and folders, not their names.
type LosingDisk struct {
	t        fataler
	root     string
	contents map[inode]string           // of files, at the last sync
	names    map[inode]map[string]inode // of folders, at the last sync
	held     map[inode]*os.File         // open, so that no other file gets the number
}

type inode uint64

// NewLosingDisk begins with all that is below root synced. Close ends it.
func NewLosingDisk(t fataler, root string) *LosingDisk {
	d := &LosingDisk{t: t, root: root, contents: map[inode]string{}, names: map[inode]map[string]inode{}, held: map[inode]*os.File{}}
	d.each(func(path string, isFolder bool) {
		if isFolder {
			d.syncFolder(path)
		} else {
			d.syncFile(path)
		}
	})
	return d
}

// Close lets the files go.
func (d *LosingDisk) Close() {
	for _, f := range d.held { // order: each by itself
		_ = f.Close()
	}
}

// Follow runs do. At each step that decides what a loss of power leaves it calls at.
func (d *LosingDisk) Follow(do, at func()) {
	restore := store.Witness(func(s store.Step) {
		at()
		switch s.Kind {
		case store.FileSynced:
			d.syncFile(s.Path)
		case store.FolderSynced:
			d.syncFolder(s.Path)
		}
		at()
	})
	defer restore()
	do()
}

// Left is what a loss of power now leaves: the content of each file by its path from the root.
// isNow says of each folder whether it has the names of now, or those of its last sync.
func (d *LosingDisk) Left(isNow func() bool) map[string]string {
	now := map[inode]map[string]inode{}
	d.each(func(path string, isFolder bool) {
		if isFolder {
			now[d.number(path)] = d.entries(path)
		}
	})
	left := map[string]string{}
	var walk func(at inode, path string)
	walk = func(at inode, path string) {
		names := d.names[at]
		if isNow() {
			names = now[at]
		}
		_, isFolder := now[at]
		if _, wasFolder := d.names[at]; !isFolder && !wasFolder {
			left[path] = d.contents[at]
			return
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			walk(names[name], filepath.Join(path, name))
		}
	}
	walk(d.number(d.root), "")
	return left
}

// Losses are losses of power now: with the names of the last sync, with those of now, and
// with those of one or the other in each folder.
func (d *LosingDisk) Losses(rng *rand.Rand) (all []map[string]string) {
	for _, isNow := range []func() bool{func() bool { return false }, func() bool { return true }, func() bool { return rng.IntN(2) == 0 }} {
		all = append(all, d.Left(isNow))
	}
	return all
}

// Write puts what is left into an empty folder.
func Write(t fataler, left map[string]string, folder string) {
	for path, content := range left { // order: each by itself
		at := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

func (d *LosingDisk) each(do func(path string, isFolder bool)) {
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && (e.IsDir() || e.Type().IsRegular()) {
			do(path, e.IsDir())
		}
		return err
	})
	if err != nil {
		d.t.Fatalf("%v", err)
	}
}

func (d *LosingDisk) syncFile(path string) {
	content, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatalf("%v", err)
	}
	d.contents[d.number(path)] = string(content)
}

func (d *LosingDisk) syncFolder(path string) { d.names[d.number(path)] = d.entries(path) }

func (d *LosingDisk) entries(path string) map[string]inode {
	all, err := os.ReadDir(path)
	if err != nil {
		d.t.Fatalf("%v", err)
	}
	names := map[string]inode{}
	for _, e := range all {
		names[e.Name()] = d.number(filepath.Join(path, e.Name()))
	}
	return names
}

func (d *LosingDisk) number(path string) inode {
	info, err := os.Lstat(path)
	if err != nil {
		d.t.Fatalf("%v", err)
	}
	n := inode(info.Sys().(*syscall.Stat_t).Ino)
	if d.held[n] == nil {
		f, err := os.Open(path)
		if err != nil {
			d.t.Fatalf("%v", err)
		}
		d.held[n] = f
	}
	return n
}

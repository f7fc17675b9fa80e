package store

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// losing follows what a disk holds that loses all that was not synced: the content of a file
// since its last sync is gone, and so is a name in a folder that was not synced since.
type losing struct {
	files map[string][]byte   // the content at its last sync, by the path that it had then
	names map[string][]string // of a folder at its last sync
	moved map[string]string   // from a name that was taken to where its content was synced
}

func (l *losing) see(t *testing.T, source func(to string) string) func(Step) {
	return func(s Step) {
		switch s.Kind {
		case FileSynced:
			content, err := os.ReadFile(s.Path)
			if err != nil {
				t.Fatal(err)
			}
			l.files[s.Path] = content
		case FolderSynced:
			l.names[s.Path] = nil
			entries, err := os.ReadDir(s.Path)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				l.names[s.Path] = append(l.names[s.Path], e.Name())
			}
		case Renamed:
			l.moved[s.Path] = source(s.Path)
		}
	}
}

// left is what a loss of power leaves at a path: the content of files below it.
func (l *losing) left(path, under string) map[string]string {
	all := map[string]string{}
	for file, content := range l.files {
		if rest, is := strings.CutPrefix(file, path); is && l.isNamed(path, file) {
			all[under+rest] = string(content)
		}
	}
	return all
}

// isNamed reports whether each folder from root down to a file had the next name at its sync.
func (l *losing) isNamed(root, file string) bool {
	for at := file; at != root; at = filepath.Dir(at) {
		found := false
		for _, name := range l.names[filepath.Dir(at)] {
			found = found || name == filepath.Base(at)
		}
		if !found {
			return false
		}
	}
	return true
}

// contents are those of all files at and below a path.
func contents(t *testing.T, path string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(at)
		all[at] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// C5: whatever takes a name is on a disk that loses what was not synced, whole, before it does.
func TestWhatTakesANameIsWholeOnALosingDisk(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		dir := t.TempDir()
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		for i := range 1 + rng.IntN(12) {
			folder := from
			for range rng.IntN(3) {
				folder = filepath.Join(folder, fmt.Sprint("folder", rng.IntN(3)))
			}
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			content := bytes.Repeat([]byte{byte(i)}, rng.IntN(5000))
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint("file", i)), content, []os.FileMode{0o600, 0o400, 0o644}[i%3]); err != nil {
				t.Fatal(err)
			}
		}
		disk := &losing{files: map[string][]byte{}, names: map[string][]string{}, moved: map[string]string{}}
		restore := Witness(disk.see(t, func(string) string { return from }))
		err := TakeName(from, to)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		want, got := contents(t, to), disk.left(from, to)
		if fmt.Sprint(want) != fmt.Sprint(got) || disk.moved[to] != from {
			t.Fatalf("seed %d: %d files took the name, and a loss of power leaves %d", seed, len(want), len(got))
		}
		if names := disk.names[dir]; fmt.Sprint(names) != "[to]" {
			t.Fatalf("seed %d: the folder of the name was synced with %v", seed, names)
		}
	}
}

// A file that replaces another one is synced before it has the name, if the disk is to keep it.
func TestAFileIsReplacedWhole(t *testing.T) {
	for _, durability := range []Durability{Process, Disk} {
		path := filepath.Join(t.TempDir(), "file")
		for _, text := range []string{"one", "another", ""} {
			var steps []StepKind
			restore := Witness(func(s Step) { steps = append(steps, s.Kind) })
			err := ReplaceFile(path, []byte(text), 0o600, durability)
			restore()
			if got, _ := os.ReadFile(path); err != nil || string(got) != text {
				t.Fatalf("%s: %q, %v", durability, got, err)
			}
			var want []StepKind
			if durability == Disk {
				want = []StepKind{FileSynced, Renamed, FolderSynced}
			}
			if !slices.Equal(steps, want) {
				t.Errorf("%s: the steps are %v, want %v", durability, steps, want)
			}
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("%s: %d files are left", durability, len(entries))
		}
	}
}

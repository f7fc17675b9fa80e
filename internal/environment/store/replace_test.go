package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

// below are the files at and below a path, each with its content.
func below(files map[string]string, path string) map[string]string {
	all := map[string]string{}
	for file, content := range files {
		if rest, is := strings.CutPrefix(file, path); is {
			all[rest] = content
		}
	}
	return all
}

// C5: whatever takes a name is on a disk that loses what was not synced, whole, before it does.
func TestWhatTakesANameIsWholeOnALosingDisk(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		dir := t.TempDir()
		disk := storetest.NewLosingDisk(t, dir)
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		want := map[string]string{}
		for i := range 1 + rng.IntN(12) {
			folder := "from"
			for range rng.IntN(3) {
				folder = filepath.Join(folder, fmt.Sprint("folder", rng.IntN(3)))
			}
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
			content, file := bytes.Repeat([]byte{byte(i)}, rng.IntN(5000)), filepath.Join(folder, fmt.Sprint("file", i))
			if err := os.WriteFile(filepath.Join(dir, file), content, []os.FileMode{0o600, 0o400, 0o644}[i%3]); err != nil {
				t.Fatal(err)
			}
			want[strings.TrimPrefix(file, "from")] = string(content)
		}
		judge := func(mayLack bool) {
			for _, left := range disk.Losses(rng) {
				if got := below(left, "to"); fmt.Sprint(got) != fmt.Sprint(want) && !(mayLack && len(got) == 0) {
					t.Fatalf("seed %d: %d files take the name, and a loss of power leaves %d with it, or others", seed, len(want), len(got))
				}
			}
		}
		disk.Follow(func() {
			if err := store.TakeName(from, to); err != nil {
				t.Fatal(err)
			}
		}, func() { judge(true) })
		judge(false)
		disk.Close()
	}
}

// C5: whenever power is lost, each file that is replaced is whole: it was, or it is to be. One
// that has been replaced is the new one.
func TestAReplacedFileIsWholeOnALosingDisk(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			rt.Fatal(err)
		}
		disk := storetest.NewLosingDisk(rt, dir)
		defer disk.Close()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "chance"), 5))
		files := map[string]string{}
		for range rapid.IntRange(1, 6).Draw(rt, "files") {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name")
			content := rapid.StringN(0, 40, 80).Draw(rt, "content")
			before, was := files[name]
			judge := func(done bool) {
				for _, left := range disk.Losses(rng) {
					for other, want := range files { // order: each by itself
						if other != name && left[other] != want {
							rt.Fatalf("%s is %q, and was not touched", other, left[other])
						}
					}
					got, is := left[name]
					if isOld, isNew := got == before && is == was, is && got == content; !isNew && (done || !isOld) {
						rt.Fatalf("%s is left with %q, %v; it was %q and becomes %q", name, got, is, before, content)
					}
				}
			}
			disk.Follow(func() {
				if err := store.ReplaceFile(filepath.Join(dir, name), []byte(content), 0o600, store.Disk); err != nil {
					rt.Fatal(err)
				}
			}, func() { judge(false) })
			judge(true)
			files[name] = content
		}
	})
}

// A file that replaces another one is synced before it has the name, if the disk is to keep it.
func TestAFileIsReplacedWhole(t *testing.T) {
	for _, durability := range []store.Durability{store.Process, store.Disk} {
		path := filepath.Join(t.TempDir(), "file")
		for _, text := range []string{"one", "another", ""} {
			var steps []store.StepKind
			restore := store.Witness(func(s store.Step) { steps = append(steps, s.Kind) })
			err := store.ReplaceFile(path, []byte(text), 0o600, durability)
			restore()
			if got, _ := os.ReadFile(path); err != nil || string(got) != text {
				t.Fatalf("%s: %q, %v", durability, got, err)
			}
			var want []store.StepKind
			if durability == store.Disk {
				want = []store.StepKind{store.FileSynced, store.Renamed, store.FolderSynced}
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

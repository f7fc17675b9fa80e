package log

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

// C5: a log whose Append or Rewrite has returned holds exactly that, also after a loss of
// power. Before, it holds what it held, or what it is to hold.
func TestALogKeepsWhatItPromisesOnALosingDisk(t *testing.T) {
	root, replayed := t.TempDir(), map[string][]string{}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			rt.Fatal(err)
		}
		disk := storetest.NewLosingDisk(rt, dir)
		defer disk.Close()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "chance"), 5))
		var held, next []string
		judge := func(done bool) {
			for _, left := range disk.Losses(rng) {
				content, is := left["votes.log"]
				key := fmt.Sprint(is, content)
				got, known := replayed[key]
				if !known {
					got = replayLeft(rt, left, filepath.Join(root, fmt.Sprint("left", len(replayed))))
					replayed[key] = got
				}
				if isOld, isNew := slices.Equal(got, held), slices.Equal(got, next); !isNew && (done || !isOld) {
					rt.Fatalf("a loss of power leaves %q; it held %q, and is to hold %q", got, held, next)
				}
			}
		}
		follow := func(do func() error) {
			disk.Follow(func() {
				if err := do(); err != nil {
					rt.Fatal(err)
				}
			}, func() { judge(false) })
			judge(true)
			held = next
		}
		var l *Log
		reopen := func() (err error) { l, err = Open(filepath.Join(dir, "votes.log"), store.Disk); return err }
		follow(reopen)
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			var records [][]byte
			var added []string
			for range rapid.IntRange(1, 3).Draw(rt, "records") {
				text := rapid.StringN(0, 20, 40).Draw(rt, "record")
				records, added = append(records, []byte(text)), append(added, text)
			}
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0, 1:
				next = slices.Concat(held, added)
				follow(func() error { return l.Append(records...) })
			case 2:
				next = added
				follow(func() error { return l.Rewrite(records) })
			case 3:
				next = held
				if err := l.Close(); err != nil {
					rt.Fatal(err)
				}
				follow(reopen)
			}
		}
		if err := l.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

// replayLeft opens what a loss of power left, in a new folder.
func replayLeft(rt *rapid.T, left map[string]string, folder string) []string {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		rt.Fatal(err)
	}
	storetest.Write(rt, left, folder)
	l, err := Open(filepath.Join(folder, "votes.log"), store.Process)
	if err != nil {
		rt.Fatal(err)
	}
	defer l.Close()
	return storetest.Records(rt, l)
}

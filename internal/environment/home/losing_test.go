package home

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

// chainIn is what a home's files below a folder say of its chain: "" if nothing says that there
// is one, "broken" if some of it is missing or another's.
func chainIn(left map[string]string, under string) string {
	if _, is := left[filepath.Join(under, metaFile)]; !is {
		return ""
	}
	state := left[filepath.Join(under, nodesDir, "v0", "state.db")]
	whole := map[string]string{filepath.Join(nodesDir, "v0", "votes.log"): "votes of " + state, "net/nodes/v1/key": "secret"}
	for path, content := range whole { // order: each by itself
		if left[filepath.Join(under, path)] != content {
			return "broken"
		}
	}
	return state
}

// C5: whenever power is lost while a snapshot is saved, replaced or loaded, a home or a
// snapshot that claims to be one is whole: what it was, or what it is to be.
func TestSnapshotsAreWholeOnALosingDisk(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 3))
		dir := chain(t, "one")
		files := NodeFiles(dir, "v0")
		if seed%2 == 1 { // a home of nodes in processes has no genesis of its own
			if err := os.Remove(filepath.Join(dir, genesisFile)); err != nil {
				t.Fatal(err)
			}
		}
		disk := storetest.NewLosingDisk(t, filepath.Dir(dir))
		// follow judges the home and the snapshot: after a loss of power each is in one of these
		// states, and in the last of them when all is done.
		follow := func(what string, do func() error, home, snapshot []string) {
			judge := func(home, snapshot []string) {
				for _, left := range disk.Losses(rng) {
					at := filepath.Join("home", snapshotsDir, "first")
					kept := chainIn(left, at)
					if kept == "" {
						kept = chainIn(left, at+replacedSuffix)
					}
					if got := chainIn(left, "home"); !slices.Contains(home, got) || !slices.Contains(snapshot, kept) {
						t.Fatalf("seed %d: %s: a loss of power leaves the home with %q of %q and the snapshot with %q of %q:\n%s", seed, what, got, home,
							kept, snapshot, describe(left))
					}
				}
			}
			disk.Follow(func() {
				if err := do(); err != nil {
					t.Fatal(err)
				}
			}, func() { judge(home, snapshot) })
			judge(home[len(home)-1:], snapshot[len(snapshot)-1:])
		}
		save := func() error { _, err := Save(dir, "first", true); return err }
		load := func() error { _, err := Load(dir, "first"); return err }
		follow("save", save, []string{"one"}, []string{"", "one"})
		advance := func(state string) {
			for path, content := range map[string]string{files.State: state, files.Votes: "votes of " + state} { // order: each by itself
				if err := store.ReplaceFile(path, []byte(content), 0o600, store.Disk); err != nil {
					t.Fatal(err)
				}
			}
		}
		disk.Follow(func() { advance("two") }, func() {})
		follow("replace", save, []string{"two"}, []string{"one", "two"})
		disk.Follow(func() { advance("three") }, func() {})
		follow("load", load, []string{"three", "", "two"}, []string{"two"})
		disk.Close()
	}
}

func describe(left map[string]string) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(&b, "  %s: %.40q\n", path, left[path])
	}
	return b.String()
}

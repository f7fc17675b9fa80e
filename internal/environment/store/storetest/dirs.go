package storetest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/store"
)

// WantSynced fails unless exactly these directories at or below root are synced while
// do runs, in this order: each by its path from there, and the names that it has then,
// as in "nodes v0".
func WantSynced(t *testing.T, root string, do func(), want ...string) {
	t.Helper()
	var got []string
	restore := store.Witness(func(step store.Step) {
		path := step.Path
		if step.Kind != store.FolderSynced {
			return
		}
		from, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(from) {
			return
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Errorf("a directory is synced that cannot be read: %v", err)
		}
		for _, e := range entries {
			from += " " + e.Name()
		}
		got = append(got, from)
	})
	defer restore()
	do()
	if !slices.Equal(got, want) {
		t.Errorf("the directories synced, each with its names, are %q, want %q", got, want)
	}
}

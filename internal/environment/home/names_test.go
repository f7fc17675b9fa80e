package home

import (
	"path/filepath"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

// Under disk each name in a home survives a loss of power, and its own, with those of
// the directories that are made for it; process promises none.
func TestTheNamesInAHomeAreSynced(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "of", "mine")
	var h *Home
	make := func() {
		var err error
		if h, err = Open(dir, Want{Version: "1", ChainID: 1, Durability: store.Disk}); err != nil {
			t.Fatal(err)
		}
	}
	storetest.WantSynced(t, root, make, ". of", "of mine",
		"of/mine home.json lock", "of/mine home.json lock logs", "of/mine home.json lock logs nodes")
	defer h.Close()
	storetest.WantSynced(t, root, func() {
		if _, err := h.Node("v0"); err != nil {
			t.Fatal(err)
		}
	}, "of/mine/nodes v0")
	storetest.WantSynced(t, root, func() {
		if _, err := h.Node("v0"); err != nil {
			t.Fatal(err)
		}
	})
	for durability, promised := range map[store.Durability][]string{store.Disk: {"of/mine/nodes/v0 file"}, store.Process: nil} {
		storetest.WantSynced(t, root, func() {
			if err := WriteFile(filepath.Join(dir, "nodes", "v0", "file"), []byte("data"), durability); err != nil {
				t.Fatal(err)
			}
		}, promised...)
	}
}

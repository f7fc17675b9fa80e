package bolt

import (
	"path/filepath"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

// Under disk the name of a store's file survives a loss of power from when it is made.
func TestTheNameOfAStoreIsSynced(t *testing.T) {
	for _, durability := range []store.Durability{store.Disk, store.Process} {
		dir := t.TempDir()
		var promised []string
		if durability == store.Disk {
			promised = []string{". state.db"}
		}
		reopen := func() {
			s, err := Open(filepath.Join(dir, "state.db"), durability)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		storetest.WantSynced(t, dir, reopen, promised...)
		storetest.WantSynced(t, dir, reopen)
	}
}

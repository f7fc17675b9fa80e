package log

import (
	"path/filepath"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

// Under disk the name of a log survives a loss of power: when it is made, and when
// another file takes it. An append changes no name, and process promises none.
func TestTheNameOfALogIsSynced(t *testing.T) {
	for _, durability := range []store.Durability{store.Disk, store.Process} {
		dir := t.TempDir()
		path := filepath.Join(dir, "votes.log")
		var promised []string
		if durability == store.Disk {
			promised = []string{". votes.log"}
		}
		var l *Log
		storetest.WantSynced(t, dir, func() { l = open(t, path, durability) }, promised...)
		storetest.WantSynced(t, dir, func() { must(t, l.Append([]byte("one"))) })
		storetest.WantSynced(t, dir, func() { must(t, l.Rewrite([][]byte{[]byte("two")})) }, promised...)
		must(t, l.Close())
		storetest.WantSynced(t, dir, func() { open(t, path, durability) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

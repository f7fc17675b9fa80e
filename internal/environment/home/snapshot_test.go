package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chain is a closed home with a chain of one node in it.
func chain(t *testing.T, state string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	h := open(t, dir, want)
	files, err := h.Node("v0")
	if err != nil {
		t.Fatal(err)
	}
	write(t, files.State, state)
	write(t, files.Votes, "votes of "+state)
	write(t, h.Genesis(), "genesis")
	write(t, filepath.Join(dir, "net/nodes/v1/lock"), "1")
	write(t, filepath.Join(dir, "net/nodes/v1/key"), "secret")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAHomeIsWhatItWasAtASnapshot(t *testing.T) {
	dir := chain(t, "one")
	if s, err := Save(dir, "first", false); err != nil || s.Name != "first" || s.Bytes < 20 {
		t.Fatal(s, err)
	}
	state := NodeFiles(dir, "v0").State
	write(t, state, "two")
	write(t, filepath.Join(dir, "nodes/v7/state.db"), "of a validator that joined")
	write(t, filepath.Join(dir, "clock.json"), "{}")
	for range 2 { // the snapshot stays
		if _, err := Load(dir, "first"); err != nil {
			t.Fatal(err)
		}
		votes, key := read(t, NodeFiles(dir, "v0").Votes), read(t, filepath.Join(dir, "net/nodes/v1/key"))
		if read(t, state) != "one" || votes != "votes of one" || key != "secret" {
			t.Fatal("the chain is another")
		}
		for _, gone := range []string{"nodes/v7", "clock.json", "net/nodes/v1/lock"} {
			if _, err := os.Stat(filepath.Join(dir, gone)); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("%s is there", gone)
			}
		}
		write(t, state, "three")
	}
	if _, err := Save(dir, "first", true); err != nil {
		t.Fatal(err)
	}
	write(t, state, "four")
	if err := Reset(dir); err != nil {
		t.Fatal(err)
	}
	open(t, dir, want).Close() // the remains of a Reset are not foreign
	if _, err := Load(dir, "first"); err != nil || read(t, state) != "three" {
		t.Fatal(read(t, state), err)
	}
	if info, err := os.Stat(filepath.Join(dir, "net/nodes/v1/key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal("who may read a key has changed", err)
	}
}

// A crash while a snapshot is loaded leaves what no network starts on, and what can be
// loaded again.
func TestALoadThatWasCutShortCanBeMadeAgain(t *testing.T) {
	dir := chain(t, "one")
	if _, err := Save(dir, "first", false); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, metaFile)), os.RemoveAll(filepath.Join(dir, nodesDir))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, want); !errors.As(err, new(*ForeignError)) {
		t.Fatalf("it is opened: %v", err)
	}
	if _, err := Load(dir, "first"); err != nil {
		t.Fatal(err)
	}
	open(t, dir, want)
}

func TestASnapshotIsRefused(t *testing.T) {
	dir := chain(t, "one")
	alone := filepath.Join(t.TempDir(), "alone")
	own := want
	own.Node = "v0"
	open(t, alone, own).Close()
	linked := chain(t, "one")
	if err := os.Symlink(dir, filepath.Join(linked, "nodes/v9")); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(dir, "first", false); err != nil {
		t.Fatal(err)
	}
	save := func(dir, name string) func() error {
		return func() error {
			_, err := Save(dir, name, false)
			return err
		}
	}
	load := func(name string) func() error {
		return func() error {
			_, err := Load(dir, name)
			return err
		}
	}
	for why, do := range map[string]func() error{
		"already": save(dir, "first"), "invalid snapshot name": save(dir, "../first"), "there is no devnet home": save(dir+"x", "first"),
		"single node v0": save(alone, "first"), "symbolic link": save(linked, "first"), "has no snapshot second": load("second"),
		`invalid snapshot name ".."`: load(".."),
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", why, err)
		}
	}
	if _, err := os.Stat(filepath.Join(linked, snapshotsDir, "first.new")); !errors.Is(err, os.ErrNotExist) {
		t.Error("half a snapshot stays")
	}
	open(t, dir, want)
	for _, do := range []func() error{save(dir, "third"), load("first")} {
		if err := do(); !errors.As(err, new(*InUseError)) {
			t.Errorf("of a home in use: %v", err)
		}
	}
}

// A crash while a snapshot is replaced leaves the earlier one, by its name.
func TestASnapshotWhoseReplacementWasInterruptedIsTheEarlierOne(t *testing.T) {
	dir := chain(t, "one")
	if _, err := Save(dir, "first", false); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, snapshotsDir, "first")
	if err := errors.Join(os.Rename(at, at+replacedSuffix), os.MkdirAll(at+newSuffix, 0o700)); err != nil {
		t.Fatal(err)
	}
	if listed, err := Snapshots(dir); err != nil || len(listed) != 1 || listed[0].Name != "first" || listed[0].Bytes < 20 {
		t.Fatalf("%+v, %v", listed, err)
	}
	if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
		t.Error("who lists snapshots, without the home's lock, moves one")
	}
	state := NodeFiles(dir, "v0").State
	write(t, state, "two")
	if _, err := Load(dir, "first"); err != nil || read(t, state) != "one" {
		t.Fatalf("it is not loaded: %q, %v", read(t, state), err)
	}
	write(t, state, "three")
	if _, err := Save(dir, "first", true); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, "first"); err != nil || read(t, state) != "three" {
		t.Errorf("it is not replaced: %q, %v", read(t, state), err)
	}
	for _, left := range []string{at + replacedSuffix, at + newSuffix} {
		if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left", left)
		}
	}
}

package box

import (
	"os"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/audit"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// lose removes or empties the states of some validators.
func lose(t *testing.T, dir string, empty bool, names ...string) {
	t.Helper()
	for _, name := range names {
		path := home.NodeFiles(dir, name).State
		err := os.Remove(path)
		if err == nil && empty {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// F2: an empty state beside votes is a lost one, as a missing one is: check names it. Where
// others have the state, the start fetches it.
func TestAnEmptyStateIsALostState(t *testing.T) {
	for _, empty := range []bool{true, false} {
		dir := ran(t)
		lose(t, dir, empty, "v1")
		report, err := audit.Home(dir, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Join(report.Nodes[1].Problems, "\n"); !strings.Contains(told, "its state is lost") {
			t.Errorf("empty %v: check says %q", empty, told)
		}
		if report.Clean() || report.Lost != "" {
			t.Errorf("empty %v: clean %v, lost %q", empty, report.Clean(), report.Lost)
		}
		if err := goesOn(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// emptyFiles leaves of all files of some validators the names, as a power cut may.
func emptyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	lose(t, dir, true, names...)
	for _, name := range names {
		if err := os.Truncate(home.NodeFiles(dir, name).Votes, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// F2: where all files of all validators are empty, no log tells that there was a chain; it is lost all the same, and
// check does not take the files for new ones. Of one validator alone it is a problem, and the others help.
func TestAChainWhoseFilesAreAllEmptyIsLost(t *testing.T) {
	dir := ran(t)
	emptyFiles(t, dir, "v1")
	report, err := audit.Home(dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(report.Nodes[1].Problems, "\n"); !strings.Contains(told, "its files are empty") || report.Lost != "" {
		t.Errorf("check says %q, lost %q", told, report.Lost)
	}
	if err := goesOn(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	emptyFiles(t, dir, "v0", "v1", "v2", "v3")
	for range 2 { // check leaves the files as they are
		if report, err = audit.Home(dir, "", nil); err != nil {
			t.Fatal(err)
		}
		report.Advise(audit.Commands{Up: "up", Reset: "reset", Snapshot: "load"}, false)
		if !strings.Contains(report.Lost, "the chain is lost") || len(report.Remedy) != 2 || report.Remedy[0] != "load" {
			t.Errorf("check says %q, and to type %q", report.Lost, report.Remedy)
		}
	}
	refusedHome(t, dir, "the chain is lost", "snapshot")
}

// F2: validators that together lack the chain say so at once, in check and at the start, with
// what to type. They stood at height 0 for ever.
func TestALostChainIsNamed(t *testing.T) {
	for _, empty := range []bool{true, false} {
		dir := t.TempDir() + "/home"
		n := up(t, Config{Plan: setup.Plan{Seed: testSeed()}, Home: dir})
		for _, node := range n.List() {
			awaitNode(t, node, 60)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		lose(t, dir, empty, "v0", "v1", "v2", "v3")
		refusedHome(t, dir, "the chain is lost", "height", "snapshot")
		report, err := audit.Home(dir, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		report.Advise(audit.Commands{Up: "up", Reset: "reset", Snapshot: "load"}, false)
		if !strings.Contains(report.Lost, "the chain is lost") || len(report.Remedy) != 2 || report.Remedy[0] != "load" {
			t.Errorf("empty %v: check says %q, and to type %q", empty, report.Lost, report.Remedy)
		}
	}
}

// A chain of a few blocks is in the logs of votes, and comes back from there.
func TestAShortChainComesBackFromTheLogs(t *testing.T) {
	dir := t.TempDir() + "/home"
	n := up(t, Config{Plan: setup.Plan{BlockTime: 0, Auto: true, Seed: testSeed()}, Home: dir})
	alice := newPayer(n, "alice")
	at := land(t, n, alice.transfer(n.addressOf("bob"), 1)).Height
	if at > 8 {
		t.Fatalf("%d blocks are too many here", at)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	lose(t, dir, true, "v0", "v1", "v2", "v3")
	report, err := audit.Home(dir, "", nil)
	if err != nil || report.Lost != "" {
		t.Fatal(report, err)
	}
	again := up(t, Config{Home: dir})
	await(t, again, at)
	if receipt := land(t, again, newPayer(again, "bob").transfer(again.addressOf("alice"), 1)); receipt.Height <= at {
		t.Errorf("it goes on at height %d", receipt.Height)
	}
}

// One validator beyond help of four keeps nobody from starting; of more, all are named at once, and
// none is told to remove the last state.
func TestMoreThanMayBeMissingAreNamedTogether(t *testing.T) {
	dir := ran(t)
	for _, name := range []string{"v1", "v2"} {
		spoilFile(t, home.NodeFiles(dir, name).State, func(b []byte) []byte { clear(b[8192:]); return b })
	}
	refusedHome(t, dir, "v1: ", "v2: ", home.NodeFiles(dir, "v2").State, "remove")
	for _, name := range []string{"v0", "v3"} {
		spoilFile(t, home.NodeFiles(dir, name).State, func(b []byte) []byte { clear(b[8192:]); return b })
	}
	refusedHome(t, dir, "no validator's state can be read", "v0: ", "v3: ", "put one back", "snapshot")
}

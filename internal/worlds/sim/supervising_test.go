package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// supervisedNetwork is one with a runner, whose nodes are treated by a strategy.
func supervisedNetwork(t *testing.T, by roles.Strategy) *Network {
	t.Helper()
	n, err := NewNetwork(NetworkConfig{World: Config{Seed: 7}, Runners: 1, Strategy: by, Apart: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	if err := n.RunToHeight(3, time.Minute); err != nil {
		t.Fatal(err)
	}
	return n
}

// upsets orders an upset of a node, lets the network go on, and returns what it did.
func upsets(t *testing.T, n *Network, o fault.Order) string {
	t.Helper()
	if _, err := n.Do(o); err != nil {
		t.Fatalf("%s: %v", o.String(), err)
	}
	if err := n.RunToHeight(n.Tip()+8, time.Minute); err != nil {
		t.Fatalf("after %s: %v", o.String(), err)
	}
	effects := n.Faults()
	last := effects[len(effects)-1]
	if !last.Ended {
		t.Errorf("%s lasts for ever", o.String())
	}
	return last.Did
}

// sameRoots compares the states of all validators that run, block by block up to the
// lowest tip.
func sameRoots(t *testing.T, n *Network) {
	t.Helper()
	if err := n.RunFor(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	low := n.Tip()
	for _, name := range n.Names() {
		if n.Running(name) {
			low = min(low, n.Height(name))
		}
	}
	roots := map[types.Hash]string{}
	for _, name := range n.Names() {
		if !n.Running(name) {
			continue
		}
		b, err := n.Validator(name).Archive().Block(low)
		if err != nil || b == nil {
			t.Fatalf("%s has no block %d: %v", name, low, err)
		}
		roots[b.Block.Header.StateRoot] = name
	}
	if len(roots) != 1 {
		t.Errorf("block %d has %d state roots", low, len(roots))
	}
}

// Under restart the intake is made again alone, and every other role has its node start
// again from its disk; nobody loses a block of it.
func TestAPanickingRoleComesBack(t *testing.T) {
	n := supervisedNetwork(t, roles.Restart)
	for role, want := range map[string]string{
		"intake":  "1 actor panicked, 1 actor restarted",
		"archive": "1 process ended, 1 actor panicked", "execution": "1 process ended, 1 actor panicked",
		"consensus": "1 process ended, 1 actor panicked", "gateway": "1 process ended, 1 actor panicked",
		"parent": "1 process ended, 1 actor panicked",
	} {
		if did := upsets(t, n, fault.Order{Verb: fault.Panic, Node: "v1", Role: role}); did != want {
			t.Errorf("%s: %q, want %q", role, did, want)
		}
		if !n.Running("v1") {
			t.Errorf("after a panic of %s v1 is down", role)
		}
	}
	for _, role := range []string{"runner", "parent"} {
		if did := upsets(t, n, fault.Order{Verb: fault.Panic, Node: "r0", Role: role}); did != "1 process ended, 1 actor panicked" {
			t.Errorf("%s of r0: %q", role, did)
		}
		if n.Runner("r0") == nil {
			t.Errorf("after a panic of %s r0 is down", role)
		}
	}
	sameRoots(t, n)
}

// Under stop a role takes its node along, and it stays down until it is started.
func TestUnderStopANodeStaysDown(t *testing.T) {
	for _, role := range fault.RolesOf(fault.Validators) {
		n := supervisedNetwork(t, roles.Stop)
		did := upsets(t, n, fault.Order{Verb: fault.Panic, Node: "v1", Role: role})
		if did != "1 process ended, 1 actor panicked" || n.Running("v1") {
			t.Errorf("%s: %q, v1 runs: %v", role, did, n.Running("v1"))
		}
		if err := n.Restart("v1"); err != nil {
			t.Fatal(err)
		}
		if err := n.RunToHeight(n.Tip()+4, time.Minute); err != nil {
			t.Errorf("after the restart: %v", err)
		}
		sameRoots(t, n)
	}
}

// What panics again and again stays down: a bug would repeat it for ever.
func TestANodeIsStartedAgainSoOftenAndNoMore(t *testing.T) {
	n := supervisedNetwork(t, roles.Restart)
	for i := range roles.MaxRestarts + 1 {
		if _, err := n.Do(fault.Order{Verb: fault.Panic, Node: "v1", Role: "consensus"}); err != nil {
			t.Fatalf("panic %d: %v", i+1, err)
		}
		if err := n.RunFor(time.Second); err != nil {
			t.Fatal(err)
		}
		if runs := n.Running("v1"); runs != (i < roles.MaxRestarts) {
			t.Errorf("after panic %d v1 runs: %v", i+1, runs)
		}
	}
}

// A contract that panics in one validator's attempt leaves no trace on the chain: the
// attempt is repeated there, and all have the same roots.
func TestAPanickingContractIsNoReceipt(t *testing.T) {
	n := supervisedNetwork(t, roles.Restart)
	did := upsets(t, n, fault.Order{Verb: fault.Panic, Node: "v1", Contract: "dispatcher"})
	if did != "1 actor panicked, 1 actor restarted" {
		t.Errorf("the dispatcher: %q", did)
	}
	if _, err := n.SetParam(t.Context(), "chain.max_events_per_message", "200", 0); err != nil {
		t.Fatal(err)
	}
	if did := upsets(t, n, fault.Order{Verb: fault.Panic, Node: "v2", Contract: "governance"}); did != "1 actor panicked, 1 actor restarted" {
		t.Errorf("governance: %q", did)
	}
	if got := n.Validator("v1").Status().Roles.Contracts; got != 1 {
		t.Errorf("v1 counts %d contracts that were made again", got)
	}
	sameRoots(t, n)
}

// An actor that hangs does so for the time given, and the network goes on without it.
func TestAnActorHangsForItsTime(t *testing.T) {
	n := supervisedNetwork(t, roles.Restart)
	for _, o := range []fault.Order{{Role: "archive"}, {Role: "execution"}, {Role: "consensus"}, {Role: "intake"}, {Role: "gateway"},
		{Contract: "dispatcher"}, {Role: "parent"}} {
		o.Verb, o.Node, o.Delay = fault.Hang, "v1", 4*time.Second
		if did := upsets(t, n, o); did != "1 actor hung" {
			t.Errorf("%s: %q", o.String(), did)
		}
	}
	sameRoots(t, n)
}

// A parent that hangs decides late, and the role waits for it.
func TestAHangingParentDecidesLate(t *testing.T) {
	n := supervisedNetwork(t, roles.Restart)
	began := n.findNode("v1").started
	for _, o := range []fault.Order{{Verb: fault.Hang, Role: "parent", Delay: 3 * time.Second}, {Verb: fault.Panic, Role: "consensus"}} {
		o.Node = "v1"
		if _, err := n.Do(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.RunFor(2 * time.Second); err != nil || n.findNode("v1").started != began {
		t.Fatalf("it was started again at once, or %v", err)
	}
	if err := n.RunFor(2 * time.Second); err != nil || n.findNode("v1").started != began+1 {
		t.Errorf("it was not started again, or %v", err)
	}
}

// Frames for a role that has stopped are counted.
func TestWhatAStoppedRoleIsToldIsCounted(t *testing.T) {
	n := supervisedNetwork(t, roles.Restart)
	v := n.Validator("v1")
	if before := v.Status().Roles.DeadLetters; before != 0 {
		t.Fatalf("%d before", before)
	}
	v.Stop()
	v.Pause(true)
	if after := v.Status().Roles.DeadLetters; after == 0 {
		t.Error("no letter is counted")
	}
	_, err := n.Do(fault.Order{Verb: fault.Panic, Node: "v1", Role: "consensus"})
	if err == nil || !strings.Contains(err.Error(), "has stopped") {
		t.Errorf("a role that has stopped panics: %v", err)
	}
}

// Events for the role of a runner that has stopped are counted.
func TestWhatAStoppedRunnerIsToldIsCounted(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(1), Runners: 1})
	reach(t, n, 4)
	if before := n.RunnerLetters("r0"); before != 0 {
		t.Fatalf("%d before", before)
	}
	r := n.Runner("r0")
	r.Stop()
	before := n.RunnerLetters("r0")
	r.Drain(true, "")
	if after := n.RunnerLetters("r0"); after != before+1 {
		t.Errorf("%d letters are counted, want %d and that of the order", after, before)
	}
}

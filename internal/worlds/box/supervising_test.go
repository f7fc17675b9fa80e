package box

import (
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// did waits, block by block, until the latest fault has ended, and returns what it did.
func did(t *testing.T, n *Network) string {
	t.Helper()
	for begin := time.Now(); !lastFault(n).Ended; await(t, n, n.Best().finalHeight()+1) {
		if time.Since(begin) > patience {
			t.Fatalf("%+v has not ended", lastFault(n))
		}
	}
	return lastFault(n).Did
}

// Live as simulated, intake is made again alone; every other role takes its validator
// along, which starts again from its disk, and so does a runner's.
func TestARoleThatPanicsComesBackLive(t *testing.T) {
	config := quick()
	config.Ephemeral, config.Home, config.Runners = false, t.TempDir(), 1
	n := up(t, config)
	await(t, n, 2)
	const along = "1 process ended, 1 actor panicked"
	for _, c := range []struct{ node, role, want string }{{"v1", "intake", "1 actor panicked, 1 actor restarted"},
		{"v1", "consensus", along}, {"v2", "archive", along}, {"v3", fault.Parent, along}, {"r0", "runner", along}} {
		if err := order(n, fault.Order{Verb: fault.Panic, Node: c.node, Role: c.role}); err != nil {
			t.Fatal(err)
		}
		if got := did(t, n); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.role, c.node, got, c.want)
		}
		if c.node != "r0" {
			awaitFaulty(t, n, c.node, n.Best().finalHeight()+2)
		}
	}
	if got := n.findNode("v1").Validator().Status().Roles.Restarted; got != 0 { // it was started again since
		t.Errorf("v1 counts %d roles that were made again", got)
	}
	for begin := time.Now(); !n.findRunner("r0").Running() || len(n.findRunner("r0").Peers()) == 0; await(t, n, n.Best().finalHeight()+1) {
		if time.Since(begin) > patience {
			t.Fatal("r0 does not come back")
		}
	}
}

// Under stop a validator stays down, and says why, until it is started.
func TestUnderStopAValidatorStaysDownLive(t *testing.T) {
	config := quick()
	config.Strategy = roles.Stop
	n := up(t, config)
	await(t, n, 2)
	if err := order(n, fault.Order{Verb: fault.Panic, Node: "v1", Role: "intake"}); err != nil {
		t.Fatal(err)
	}
	did(t, n)
	node := n.findNode("v1")
	if node.Running() || !strings.Contains(node.Failure().Error(), "its role intake panicked, as it was told") {
		t.Errorf("it runs: %v, %v", node.Running(), node.Failure())
	}
	if err := order(n, fault.Order{Verb: fault.Hang, Node: "v1", Role: "intake", Delay: time.Second}); err == nil {
		t.Error("a node that is down hangs")
	}
	done(t, do(n, fault.Restart, "v1"))
	awaitFaulty(t, n, "v1", n.Best().finalHeight()+2)
}

// A contract that panics live is made again, and the chain goes on.
func TestAContractThatPanicsLiveIsMadeAgain(t *testing.T) {
	config := quick()
	config.NoMemo = true
	n := up(t, config)
	await(t, n, 2)
	if err := order(n, fault.Order{Verb: fault.Panic, Node: "v1", Contract: "dispatcher"}); err != nil {
		t.Fatal(err)
	}
	if got := did(t, n); got != "1 actor panicked, 1 actor restarted" {
		t.Error(got)
	}
	if err := order(n, fault.Order{Verb: fault.Hang, Node: "v1", Contract: "dispatcher", Delay: 50 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if got := did(t, n); got != "1 actor hung" {
		t.Error(got)
	}
	awaitFaulty(t, n, "v1", n.Best().finalHeight()+2)
	if got := n.findNode("v1").Validator().Status().Roles.Contracts; got != 1 {
		t.Errorf("%d contracts were made again", got)
	}
}

// Nobody orders a panic of a network without cheats.
func TestAStrictNetworkHasNoPanics(t *testing.T) {
	config := quick()
	config.Strict = true
	n := up(t, config)
	if err := order(n, fault.Order{Verb: fault.Panic, Node: "v1", Role: "intake"}); err == nil || !strings.Contains(err.Error(), "--strict") {
		t.Errorf("a panic under --strict: %v", err)
	}
}

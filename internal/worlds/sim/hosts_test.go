package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// beating is a network in which an actor's timer fires in every block.
func beating(t *testing.T, validators int) (*Network, types.Address) {
	n := aNetwork(t, NetworkConfig{World: Config{Seed: 31, Link: Link{Latency: 10 * time.Millisecond}}, Validators: validators})
	deploy, heart := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(500).Mul(types.CBY))
	n.Submit("v0", deploy, nil)
	letRun(t, n.World, 3*time.Second)
	n.Submit("v0", n.Execute("alice", heart, "start", samples.Number(1)), nil)
	letRun(t, n.World, 3*time.Second)
	return n, heart
}

// ends tells, from the chain, how often a fire was passed over by name, and how
// the fires ended; each that was passed over is looked for in the next block of
// somebody who is not named.
func ends(t *testing.T, n *Network, notBy map[types.Address]bool) (passed int, results map[types.Status]int) {
	t.Helper()
	results = map[types.Status]int{}
	waiting := map[types.TimerID]bool{}
	for h := types.Height(1); h <= n.Height("v0"); h++ {
		stored, err := n.Validator("v0").Archive().Block(h)
		if err != nil || stored == nil {
			t.Fatal(h, err)
		}
		receipts := stored.Receipts
		ran := map[types.TimerID]bool{}
		for i := range receipts {
			if receipts[i].Origin == types.OriginTimer {
				ran[receipts[i].Hash] = true
				results[receipts[i].Status]++
			}
		}
		if !notBy[stored.Block.Header.Proposer] {
			for id := range waiting { // order: each is judged alone
				if !ran[id] {
					t.Errorf("timer %s was passed over, and does not fire in block %d of an honest proposer", id, h)
				}
			}
			waiting = map[types.TimerID]bool{}
		}
		if p := stored.Block.Passed; p != nil {
			passed += len(p.Fires.Failed)
			for _, id := range p.Fires.Failed {
				waiting[id] = !ran[id]
				if ran[id] {
					delete(waiting, id)
				}
			}
		}
	}
	return passed, results
}

// Decision C18: f liars that pass over all that needs a program end nobody's timer,
// and the next honest proposer fires it.
func TestLiarsThatPassOverOnlyDelay(t *testing.T) {
	n, _ := beating(t, 7)
	liars := map[types.Address]bool{}
	for _, name := range []string{"v2", "v5"} {
		receipt, err := n.Misbehave(name, "passes_over")
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if receipt.Idle() {
				t.Error("it never lied")
			}
		}()
		liars[n.Key(name).Address()] = true
	}
	if err := honestReach(n, 60); err != nil {
		t.Fatal(err)
	}
	passed, results := ends(t, n, liars)
	if passed < 2 || results[types.StatusHostFailed] != 0 || results[types.StatusOK] < 20 {
		t.Errorf("%d passed over, ended %v", passed, results)
	}
}

// Decision C18: what the hosts of all fail over, by crashing or by hanging, ends;
// the chain goes on meanwhile, and the rest of it as before.
func TestWhatAllHostsFailOverEnds(t *testing.T) {
	for _, how := range []string{fault.HostCrashes, fault.HostHangs} {
		t.Run(how, func(t *testing.T) {
			n, heart := beating(t, 4)
			before := n.Height("v0")
			for _, name := range n.Names() {
				if _, err := n.HostFail(name, heart, how); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.RunToHeight(before+40, 4*time.Minute); err != nil {
				t.Fatal(err)
			}
			passed, results := ends(t, n, map[types.Address]bool{n.Key("v0").Address(): true, n.Key("v1").Address(): true,
				n.Key("v2").Address(): true, n.Key("v3").Address(): true})
			if passed != 2 || results[types.StatusHostFailed] != 1 {
				t.Errorf("%d passed over by name, ended %v", passed, results)
			}
			if c := n.Judge.Counts(); c.HostFailed != 1 || c.Passed != 2 {
				t.Errorf("the oracles saw %+v", c)
			}
			if _, err := n.HostFail("v0", heart, fault.HostWorks); err != nil {
				t.Error(err)
			}
			if _, err := n.HostFail("v0", heart, "melts"); err == nil {
				t.Error("a way to fail that there is not")
			}
			for _, f := range n.Faults() {
				t.Log(fmt.Sprint(f.Verb, " ", f.Detail, ": ", f.Did))
			}
		})
	}
}

// Decision C18: a validator whose host fails stands still, for longer than consensus
// holds bodies too, and comes to where the others are once its host works.
func TestWhoseHostFailedForLongCatchesUp(t *testing.T) {
	for _, blocks := range []types.Height{20, 300} {
		t.Run(fmt.Sprint(blocks), func(t *testing.T) {
			n := aNetwork(t, NetworkConfig{World: Config{Seed: 33, Link: Link{Latency: 10 * time.Millisecond}}, Apart: true})
			deploy, heart := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(500).Mul(types.CBY))
			n.Submit("v0", deploy, nil)
			letRun(t, n.World, 3*time.Second)
			n.Submit("v0", n.Execute("alice", heart, "start", samples.Number(1)), nil)
			letRun(t, n.World, 3*time.Second)
			if _, err := n.HostFail("v3", heart, fault.HostCrashes); err != nil {
				t.Fatal(err)
			}
			letRun(t, n.World, 3*time.Second)
			stuck := n.Height("v3")
			for n.Height("v0") < stuck+blocks {
				letRun(t, n.World, time.Second)
			}
			if n.Height("v3") > stuck+3 {
				t.Fatalf("v3 stands at %d, and was at %d when its host failed", n.Height("v3"), stuck)
			}
			if _, err := n.HostFail("v3", heart, fault.HostWorks); err != nil {
				t.Fatal(err)
			}
			if err := n.RunToHeight(n.Tip()+20, 4*time.Minute); err != nil {
				t.Fatal(err)
			}
		})
	}
}

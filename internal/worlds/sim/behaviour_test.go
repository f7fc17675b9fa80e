package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
)

// One validator of four lies, in each way, on links that lose and reorder: the
// others keep agreement, and go on.
func TestOneLiarOfFourBreaksNothing(t *testing.T) {
	for _, kind := range byzantine.Kinds() {
		if kind.AboutRunners() {
			continue // lies_test.go and the library of scenarios have them
		}
		t.Run(string(kind), func(t *testing.T) {
			for seed := range uint64(6) {
				n, err := NewNetwork(NetworkConfig{World: Config{Seed: seed,
					Link: Link{Latency: 20 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.02, Reorder: 0.05}}})
				if err != nil {
					t.Fatal(err)
				}
				liar := fmt.Sprintf("v%d", seed%4)
				receipt, err := n.Misbehave(liar, string(kind))
				if err != nil {
					t.Fatal(err)
				}
				if n.Honest(liar) {
					t.Fatalf("%s counts as honest", liar)
				}
				makeBeat(n)
				if err := honestReach(n, 16); err != nil {
					t.Fatalf("%s by %s: %v", kind, liar, err)
				}
				if receipt.Idle() {
					t.Fatalf("seed %d: %v", seed, receipt)
				}
				if seed == 0 {
					t.Log(receipt)
				}
				if err := n.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// makeBeat has an actor schedule timers: something to pass over.
func makeBeat(n *Network) {
	deploy, heart := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(500).Mul(types.CBY))
	for _, tx := range []*types.Transaction{deploy, n.Execute("alice", heart, "start", samples.Number(1))} {
		for _, name := range n.Names() {
			n.Submit(name, tx, nil)
		}
	}
}

// honestReach runs until all who do not lie have finalized a height. The liar may
// lag: a validator is shut out for what no honest one sends.
func honestReach(n *Network, h types.Height) error {
	err := n.RunUntil(func() bool {
		for _, name := range n.Names() {
			if n.Honest(name) && n.Height(name) < h {
				return n.Err() != nil
			}
		}
		return true
	}, n.Now().Add(5*time.Minute))
	return errors.Join(n.Err(), err)
}

// The lies reach the others, and are proven to be lies.
func TestALiarIsSeenByTheOthers(t *testing.T) {
	n, err := NewNetwork(NetworkConfig{World: Config{Seed: 3, Link: Link{Latency: 10 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if _, err := n.Misbehave("v1", "equivocate"); err != nil {
		t.Fatal(err)
	}
	if err := n.RunToHeight(12, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	evidence := uint64(0)
	for _, name := range n.Names() {
		evidence += n.Validator(name).Status().Refused.Evidence
	}
	if evidence == 0 {
		t.Error("nobody has evidence against a validator that signs two votes a view")
	}
}

// Of two processes of a key that begin at once either may be the one that votes. Its votes are in its own log.
func TestTheFirstOfTwoProcessesOfAKeyVotesByItsOwnLog(t *testing.T) {
	for seed := range uint64(8) {
		n, err := NewNetwork(NetworkConfig{World: Config{Seed: seed, Link: Link{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Order(&fault.Order{Verb: fault.Twin, Node: "v1", On: true}); err != nil {
			t.Fatal(err)
		}
		if err := n.RunToHeight(6, 5*time.Minute); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		n.Close()
	}
}

// A second process begins while its key is cut off from all others, with or without a liar among these. After the partition
// it waits, the first votes by its own log, and neither contradicts the other.
func TestASecondProcessThatBeginsInAPartitionWaitsWhenItIsHealed(t *testing.T) {
	for seed := range uint64(8) {
		n, err := NewNetwork(NetworkConfig{Validators: 7,
			World: Config{Seed: seed, Link: Link{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.RunToHeight(4, time.Minute); err != nil {
			t.Fatal(err)
		}
		if seed%2 == 1 {
			if _, err := n.Misbehave("v3", "equivocate"); err != nil {
				t.Fatal(err)
			}
		}
		n.Partition([]string{"v1"})
		twin, err := n.ordered(fault.Order{Verb: fault.Twin, Node: "v1", On: true})
		if err != nil {
			t.Fatal(err)
		}
		cut := n.Height("v1")
		if err := n.RunUntil(func() bool { return n.Height("v0") >= cut+6 || n.Err() != nil }, n.Now().Add(time.Minute)); err != nil {
			t.Fatalf("seed %d: the others stand: %v", seed, err)
		}
		n.Heal()
		waits := func() bool { return twin.Counts.Waited.Load() > 0 && n.Height("v1") >= cut+12 || n.Err() != nil }
		if err := n.RunUntil(waits, n.Now().Add(time.Minute)); err != nil {
			t.Errorf("seed %d: the second process waited %d times, v1 is at %d of %d: %v", seed, twin.Counts.Waited.Load(),
				n.Height("v1"), cut+12, err)
		}
		if err := n.Err(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if let := twin.Counts.Settled.Load(); let != 0 {
			t.Errorf("seed %d: the second process was let in %d times beside the first", seed, let)
		}
		n.Close()
	}
}

func TestALiarRestartsHonest(t *testing.T) {
	n, err := NewNetwork(NetworkConfig{World: Config{Seed: 5}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	receipt, err := n.Misbehave("v2", "withhold_votes")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.RunToHeight(3, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Crash("v2")
	if err := n.Restart("v2"); err != nil {
		t.Fatal(err)
	}
	if !n.Honest("v2") {
		t.Error("it still lies")
	}
	withheld := receipt.Counts.Withheld.Load()
	if err := n.RunToHeight(8, time.Minute); err != nil {
		t.Fatal(err)
	}
	if receipt.Counts.Withheld.Load() != withheld {
		t.Error("it withholds votes after the restart")
	}
	var verbs []string
	for _, r := range n.Faults() {
		verbs = append(verbs, fmt.Sprint(r.Verb, " ", r.Ended, " ", r.Idle))
	}
	if got := strings.Join(verbs, ", "); got != "misbehave true false, crash true false" {
		t.Errorf("the faults are %s", got)
	}
}

func TestMisbehaviourThatIsNotThereSaysSo(t *testing.T) {
	n, err := NewNetwork(NetworkConfig{World: Config{Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for kind, want := range map[string]string{
		"nonsense": "equivocate, withhold_votes, silent_leader, bad_state_root, passes_over, tamper_body, withhold_body, impersonate, forge, " +
			"flood"} {
		if _, err := n.Misbehave("v0", kind); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	n.Crash("v0")
	if _, err := n.Misbehave("v0", "equivocate"); err == nil {
		t.Error("a validator that is down misbehaves")
	}
}

// Two of seven lie in two ways at once while an honest one crashes and comes
// back and the links lose: two is f, so agreement holds throughout, and with the
// five honest up again, blocks become final.
func TestTwoLiarsOfSevenUnderFaults(t *testing.T) {
	kinds := byzantine.Kinds()
	for seed := range uint64(4) {
		n, err := NewNetwork(NetworkConfig{Validators: 7, World: Config{Seed: 100 + seed,
			Link: Link{Latency: 15 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.03}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(2) {
			if _, err := n.Misbehave(fmt.Sprintf("v%d", i), string(kinds[(2*seed+i)%uint64(len(kinds))])); err != nil {
				t.Fatal(err)
			}
		}
		n.After(2*time.Second, func() { n.Crash("v4") })
		n.After(6*time.Second, func() {
			if err := n.Restart("v4"); err != nil {
				t.Error(err)
			}
		})
		if err := n.RunFor(12 * time.Second); err != nil {
			t.Fatal(err)
		}
		if err := n.RunToHeight(n.Tip()+5, 5*time.Minute); err != nil {
			t.Fatalf("%v\n%v", err, n.Faults())
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

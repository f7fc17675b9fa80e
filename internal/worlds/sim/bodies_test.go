package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// bodiesIn reads the block bodies that a validator's log holds.
func bodiesIn(t *testing.T, n *Network, name string) (bodies []*types.Block) {
	t.Helper()
	for _, data := range n.findNode(name).disk.records {
		var r struct {
			_       struct{} `cbor:",toarray"`
			Kind    uint8
			Epoch   types.Epoch
			View    types.View
			Height  types.Height
			Block   types.Hash
			Content codec.RawMessage
		}
		if err := codec.UnmarshalLoose(data, 8<<20, &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind != 1 {
			continue
		}
		b := new(types.Block)
		if err := codec.UnmarshalLoose(r.Content, 8<<20, b); err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	return bodies
}

// paying sends a transfer every second, by one honest validator.
func paying(n *Network, seconds int) {
	for i := range seconds {
		n.After(time.Duration(i)*time.Second, func() {
			n.Submit("v0", n.Transfer("alice", n.Key("bob").Address(), types.WeiOf(1)), nil)
		})
	}
}

// A leader whose transport strips its own blocks, with a signature that stays
// good, gets no vote for them, whether validators share results or execute each
// for itself: no honest log holds a body that its header does not commit to.
func TestTamperedBodiesAreInNoHonestLog(t *testing.T) {
	for _, apart := range []bool{false, true} {
		n, err := NewNetwork(NetworkConfig{Apart: apart, World: Config{Seed: 11, Link: Link{Latency: 10 * time.Millisecond}}})
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := n.Misbehave("v3", "tamper_body")
		if err != nil {
			t.Fatal(err)
		}
		paying(n, 30)
		if err := n.RunFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := n.RunToHeight(20, time.Minute); err != nil || receipt.Idle() {
			t.Fatalf("%v, %v", err, receipt)
		}
		whole := 0
		for _, name := range []string{"v0", "v1", "v2"} {
			for _, b := range bodiesIn(t, n, name) {
				if err := b.CheckBody(); err != nil {
					t.Errorf("apart %v: in the log of %s: %v", apart, name, err)
				}
				whole += len(b.Transactions)
			}
			if n.Validator(name).Status().Refused.Nullified == 0 {
				t.Errorf("apart %v: %s saw no view of the liar's nullified", apart, name)
			}
		}
		if whole == 0 {
			t.Error("the logs hold no transactions to be tampered with")
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// All crash at any moment while one tampers with bodies, and the liar stays
// down: whatever was notarized, the other three have its body, and go on.
func TestHonestValidatorsGoOnWithoutWhoTamperedWithBodies(t *testing.T) {
	for seed := range uint64(12) {
		n, err := NewNetwork(NetworkConfig{World: Config{Seed: seed, Link: Link{Latency: 20 * time.Millisecond, Jitter: 20 * time.Millisecond}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Misbehave("v3", "tamper_body"); err != nil {
			t.Fatal(err)
		}
		paying(n, 10)
		if err := n.RunFor(3*time.Second + time.Duration(seed)*170*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		for _, name := range n.Names() {
			n.Crash(name)
		}
		for _, name := range []string{"v0", "v1", "v2"} {
			if err := n.Restart(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.RunToHeight(n.Tip()+3, 5*time.Minute); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// counted is a host of programs that counts what it is asked for.
type counted struct {
	program.Host
	opened *int
}

func (c counted) Open(p program.Purpose) (program.Session, error) {
	*c.opened++
	return c.Host.Open(p)
}

// Who boots after a crash executes what is notarized and not final himself
// (decision C5), unless somebody who lives on has done it: what only crashed
// lives knew is forgotten with them.
func TestResultsEndWithTheLivesThatKnewThem(t *testing.T) {
	for _, all := range []bool{true, false} {
		opened := 0
		n, err := NewNetwork(NetworkConfig{World: Config{Seed: 4, Link: Link{Latency: 10 * time.Millisecond}},
			Wrap: func(_ string, node env.Validator) env.Validator {
				node.Programs = counted{node.Programs, &opened}
				return node
			}})
		if err != nil {
			t.Fatal(err)
		}
		deploy, _ := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(100).Mul(types.CBY))
		n.Submit("v0", deploy, nil)
		// Finality is kept away from all, so that the block stays notarized.
		if err := n.RunUntil(func() bool { return opened > 0 }, n.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := n.RunFor(25 * time.Millisecond); err != nil { // the proposal reaches all, their votes do not
			t.Fatal(err)
		}
		before, tip := opened, n.Tip()
		crashed := n.Names()
		if !all {
			crashed = crashed[:1]
		}
		for _, name := range crashed {
			n.Crash(name)
		}
		for _, name := range crashed {
			if err := n.Restart(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.RunToHeight(tip+1, time.Minute); err != nil {
			t.Fatal(err)
		}
		if again := opened > before; again != all {
			t.Errorf("crashed %v: the program was opened %d times before and %d after", crashed, before, opened)
		}
		if err := n.Close(); err != nil {
			t.Fatal(fmt.Errorf("%v: %w", crashed, err))
		}
	}
}

package sim

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/oracle"
)

// rested is a network of so many validators with a heart that beats every second
// block, and how it was then.
func rested(t testing.TB, validators int) (NetworkConfig, *Network, types.Address) {
	t.Helper()
	c := NetworkConfig{World: quick(3), Validators: validators, Unjudged: true, Params: params.Overrides{"chain.block_time_auto": "true"}}
	n := aNetwork(t, c)
	deploy, at := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(10_000).Mul(types.CBY))
	n.Submit("v0", deploy, nil)
	if err := n.RunToHeight(2, time.Minute); err != nil {
		t.Fatal(err)
	}
	return c, n, at
}

func TestANetworkBeginsFromRestAgainAndAgain(t *testing.T) {
	for _, validators := range []int{1, 4} {
		c, n, at := rested(t, validators)
		rest, err := n.Rest()
		if err != nil {
			t.Fatal(err)
		}
		head := n.bestValidator().Head()
		var roots []types.Hash
		for range 3 {
			c.From = rest
			again := aNetwork(t, c)
			if got := again.bestValidator().Head(); got.Hash != head.Hash || again.Now() != n.Now() {
				t.Fatalf("it begins with %s at %v, and was at rest with %s at %v", got.Hash, again.Now(), head.Hash, n.Now())
			}
			h := again.reached()
			again.Submit("v0", again.Execute("alice", at, "start", samples.Number(2)), nil)
			if err := again.RunToHeight(h+6, time.Minute); err != nil {
				t.Fatal(err)
			}
			roots = append(roots, again.bestValidator().Head().State.Root())
			if err := again.Crash("v0"); err == nil {
				t.Fatal("nothing crashed")
			}
			if err := again.Restart("v0"); err != nil { // now from its disk
				t.Fatal(err)
			}
			if err := again.RunToHeight(h+8, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		if roots[0] != roots[1] || roots[1] != roots[2] || roots[0] == head.State.Root() {
			t.Fatalf("with %d validators the same calls after rest end in %v", validators, roots)
		}
		if got := n.bestValidator().Head(); got.Hash != head.Hash {
			t.Fatal("what was kept was changed by who began from it")
		}
	}
}

// The oracles of a network that begins from rest have not forgotten, and judge on: what
// they counted before is counted again, and every vote and block after it.
func TestTheOraclesJudgeOnFromRest(t *testing.T) {
	c := NetworkConfig{World: quick(3), Keeps: true, Runners: 2}
	n := aNetwork(t, c)
	if err := n.RunToHeight(6, time.Minute); err != nil {
		t.Fatal(err)
	}
	rest, err := n.Rest()
	if err != nil {
		t.Fatal(err)
	}
	before := n.Judge.Counts()
	c.From = rest
	for range 2 {
		again := aNetwork(t, c)
		if got := again.Judge.Counts(); got.Observations != before.Observations || got.Votes != before.Votes || got.Boots != before.Boots+4 {
			t.Fatalf("it begins with %+v, and at rest they had counted %+v", got, before)
		}
		if err := again.RunToHeight(12, time.Minute); err != nil {
			t.Fatal(err)
		}
		now := again.Judge.Counts()
		if now.Heights < 12 || now.Votes <= before.Votes+4 || now.Persisted <= before.Persisted || now.Presences <= before.Presences {
			t.Fatalf("at height 12 they have counted %+v, and %+v at rest", now, before)
		}
		again.Judge.Observe(oracle.Observation{Validator: again.keys["v0"].Address(), Block: &types.Block{Header: types.Header{Height: 2}}})
		if again.Err() == nil {
			t.Fatal("another block at a height of before is not seen")
		}
	}
}

func TestRestIsRefusedWhileSomethingIsUnderWay(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(*Network)
	}{
		{"a fault", "the fault partition", func(n *Network) { n.Partition([]string{"v0"}) }},
		{"a crash", "v1 does not run", func(n *Network) { n.Crash("v1") }},
		{"a liar", "v1 misbehaves", func(n *Network) { n.Misbehave("v1", "withhold_votes") }},
		{"a pause", "is paused", func(n *Network) { n.Pause() }},
		{"a transaction", "transactions wait", func(n *Network) {
			n.Transfer("alice", types.Address{19: 9}, types.WeiOf(1)) // its nonce is missing
			n.Submit("v0", n.Transfer("alice", types.Address{19: 9}, types.WeiOf(1)), nil)
			n.RunFor(time.Second)
		}},
		{"a long run", "too long for its oracles", func(n *Network) {
			n.config.Keeps, n.keeps, n.told = true, true, make([]word, maxTold)
			n.tellOracles(func(*oracle.Judge) {})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, n, _ := rested(t, 4)
			c.do(n)
			_, err := n.Rest()
			var unrest *UnrestError
			if !errors.As(err, &unrest) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("it is refused with %v", err)
			}
		})
	}
}

// A transaction that is final at one validator does not wait: the others catch up.
func TestRestWaitsForValidatorsThatAreBehind(t *testing.T) {
	for _, validators := range []int{1, 2, 3, 4, 5, 7, 10} {
		for seed := range uint64(3) {
			n := aNetwork(t, NetworkConfig{World: quick(seed), Validators: validators, Unjudged: true,
				Params: params.Overrides{"chain.block_time_auto": "true"}})
			for range 3 {
				at := n.tip
				n.Submit("v0", n.Transfer("alice", types.Address{19: 9}, types.WeiOf(1)), nil)
				if err := n.RunUntil(func() bool { return n.tip > at }, n.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				if _, err := n.Rest(); err != nil {
					t.Fatalf("with %d validators and seed %d: %v", validators, seed, err)
				}
			}
		}
	}
}

// BenchmarkRest is how long a network takes to begin from rest (aim: 1 ms).
func BenchmarkRest(b *testing.B) {
	collectAsRunDoes(b)
	c, n, _ := rested(b, 1)
	rest, err := n.Rest()
	if err != nil {
		b.Fatal(err)
	}
	c.From = rest
	for b.Loop() {
		m, err := NewNetwork(c)
		if err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}

package sim

import (
	"fmt"
	"math/big"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// otherValues are values that a parameter may have instead of one, the likelier first.
func otherValues(info params.Info, now string) (all []string) {
	switch info.Type {
	case params.Flag:
		is, _ := strconv.ParseBool(now)
		return []string{strconv.FormatBool(!is)}
	case params.Word:
		return slices.DeleteFunc(slices.Clone(info.Words), func(w string) bool { return w == now })
	}
	n, _ := new(big.Int).SetString(now, 10)
	one, two := big.NewInt(1), big.NewInt(2)
	for _, v := range []*big.Int{new(big.Int).Mul(n, two), new(big.Int).Quo(n, two), new(big.Int).Add(n, one), new(big.Int).Sub(n, one)} {
		if v.Sign() >= 0 && v.Cmp(n) != 0 {
			all = append(all, v.String())
		}
	}
	return all
}

// changeable are the keys of parameters that an instruction changes.
func changeable() (all []params.Info) {
	for _, info := range params.Keys() {
		if info.Class != params.Genesis {
			all = append(all, info)
		}
	}
	return all
}

// hold changes parameters while a network runs, and starts two of its four validators again:
// these read the parameters from their disks, the others had them all the time. Each executes
// every block itself, so another value would be another state.
func hold(t *testing.T, keys []params.Info) {
	t.Helper()
	begins := params.Overrides{"chain.epoch_blocks": "6"}
	if slices.ContainsFunc(keys, func(i params.Info) bool { return i.Key == "cip1.policy" }) {
		begins["cip1.policy"] = "fifo" // the only one that a network leaves
	}
	n := aNetwork(t, NetworkConfig{World: quick(3), Apart: true, Runners: 1, Params: begins})
	deploy, heart := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(100).Mul(types.CBY))
	n.Submit("v0", deploy, func(types.Hash, error) {})
	reach(t, n, 4)
	n.Submit("v1", n.Execute("alice", heart, "start", samples.Number(2)), func(types.Hash, error) {})
	set := map[string]string{}
	var last types.Height
	for _, info := range keys {
		now, err := n.bestValidator().Head().State.NextParams().Get(info.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range otherValues(info, now) {
			change, failed := n.SetParam(t.Context(), info.Key, value, 0)
			if err = failed; err == nil {
				set[info.Key], last = value, max(last, change.Height)
				break
			}
		}
		if err != nil {
			t.Errorf("%s = %s is not changed: %v", info.Key, now, err)
		}
	}
	pay := func(height types.Height) {
		for n.Tip() < height {
			n.Submit("v2", n.Transfer("bob", n.Key("alice").Address(), types.WeiOf(7)), func(types.Hash, error) {})
			reach(t, n, n.Tip()+1)
		}
	}
	again := func(name string) {
		if err := n.Stop(name); err != nil {
			t.Fatal(err)
		}
		if err := n.Restart(name); err != nil {
			t.Fatal(err)
		}
		pay(n.Tip() + 3)
	}
	again("v0") // while those of the next epoch wait for it
	pay(last + 1)
	again("v1")
	pay(last + 20)
	sameRoots(t, n)
	for _, name := range []string{"v0", "v1", "v2", "v3"} {
		head := n.Validator(name).Head()
		h := &head.Block.Header
		if d := n.Validator(name).Status().Diverged; d != nil || h.Height < last+20 || head.State.Root() != h.StateRoot {
			t.Errorf("%s is at height %d of %d; after %v: %s", name, h.Height, n.Tip(), set, d)
		}
		p := head.State.Params()
		for key, want := range set { // order: each by itself
			if got, err := p.Get(key); got != want || err != nil {
				t.Errorf("%s has %s = %s, want %s: %v", name, key, got, want, err)
			}
		}
	}
}

// C15, G1: whatever parameter is changed while a network runs, validators that are started again
// afterwards and those that never stopped have the same state, twenty blocks and more after it.
func TestG1ChangedParametersOutliveARestart(t *testing.T) {
	all, size := changeable(), 4
	if os.Getenv("DEVNET_SOAK") != "" {
		size = 1
	}
	for from := 0; from < len(all); from += size {
		keys := all[from:min(len(all), from+size)]
		t.Run(fmt.Sprint(keys[0].Key, "+", len(keys)-1), func(t *testing.T) {
			hold(t, keys)
		})
	}
}

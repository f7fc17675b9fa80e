package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A parameter is state of actor 0x09, so a timer may watch one: it fires in the
// first block in which the new value holds.
func TestAParameterCanBeWatched(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "storm", "st", 10*types.CBY))
	key := types.Watch{Actor: types.GovernanceAddress, Key: types.Bytes(params.StateKey("cip3.min_basefee"))}
	w.block(w.call("alice", "st", "make", encodeStorm(t, samples.Storm{Count: 1, In: 1, Watch: &key})),
		w.instruct(governance.OpSetParameter, &governance.SetParameter{Key: "cip3.min_basefee", Value: "2", Height: 5}))
	w.ok()
	for range 2 {
		if w.block(); len(w.fired()) != 0 {
			t.Fatalf("it fires at %d", w.head.Height())
		}
	}
	if w.block(); len(w.fired()) != 1 || w.head.Params().MinBaseFee != types.WeiOf(2) {
		t.Errorf("height %d: %d fired", w.head.Height(), len(w.fired()))
	}
}

// A watched key costs a cell for each of its bytes, as the payload does.
func TestAWatchedKeyIsPaidFor(t *testing.T) {
	cells := func(key string) types.Cells {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "storm", "st", 10*types.CBY))
		watched := types.Watch{Actor: types.GovernanceAddress, Key: types.Bytes(key)}
		w.block(w.call("alice", "st", "make", encodeStorm(t, samples.Storm{Count: 1, In: 1, Watch: &watched})))
		w.ok()
		return w.last.Receipts[0].Cells
	}
	const carried = 2 * 4 // in hex, by the transaction and by the storm's own payload
	if got := cells("three") - cells("two"); got != 2+carried {
		t.Errorf("two bytes more of a key cost %d cells", got)
	}
}

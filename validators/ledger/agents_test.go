package ledger

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// Decision T15: the calls of a block are bounded by their use, even those of agents
// that use nothing. A call itself costs cycles_actor_call: with 700 cycles a block
// and 500 a call the fourth does not fit.
func TestAgentsThatUseNothingAreBounded(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559, "cip1.gba_cycles_per_block": "700", "cip1.gba_cycles_per_call": "500"})
	w.block(w.deploy("alice", "counter", "mute", 0)) // it has no get_gas_bid
	mute := w.address("mute")
	const agents = 6
	for i := range agents {
		name := fmt.Sprintf("st%d", i)
		w.block(w.deploy("alice", "storm", name, types.CBY))
		w.block(w.call("alice", name, "set_gas_bidder", mute[:]), w.call("alice", name, "make", fmt.Appendf(nil, `{"count":1,"height":%d}`, 3+2*agents)))
	}
	for w.head.Height() < 3+2*agents {
		w.block()
	}
	w.ok()
	asked := 0
	for _, e := range w.last.Events {
		if e.Name == scheduler.EventGasBidFailed {
			asked++
		}
	}
	if fired := len(w.fired()); asked != 3 || w.last.Lane.AskCycles != 300 || fired != agents {
		t.Fatalf("%d calls for %d cycles, %d fires", asked, w.last.Lane.AskCycles, fired)
	}
}

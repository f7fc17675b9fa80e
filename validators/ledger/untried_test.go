package ledger

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Finding F34: a transaction that hangs and that its proposer has not tried yet has
// all the time of transactions in one block of his, and keeps out what is behind it;
// so an account that sent nothing before buys a block of each proposer's for the
// transfer that fills it. Once tried it is behind all others. What keeps its turn is
// what does not come from the pool: timers fire in each of these blocks.
func TestFindingAFreshAccountBuysOneBlocksTimeOfTransactions(t *testing.T) {
	const share = 100 * time.Millisecond
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "hangs", 0), w.deploy("alice", "heartbeat", "beats", types.CBY))
	w.block(w.call("alice", "beats", "start", samples.Number(1)))
	w.ok()
	h := w.wedge()
	h.takes[w.address("hangs")] = time.Minute
	var tried []*Checked
	for _, fresh := range []string{"bob", "carol"} {
		began := h.now
		w.hurry(h, share)
		hangs := w.call(fresh, "hangs", "increment", nil)
		w.block(hangs, w.transfer("alice", "bob", 1))
		if took := h.now - began; took != share/paceParts*3 && took != share/paceParts*2 {
			t.Errorf("%s, of whom nothing was known, had %v of %v beside the share of fires", fresh, took, share)
		}
		if len(w.last.Block.Transactions) != 0 || len(w.dropped) != 1 || !w.dropped[0].Waits {
			t.Errorf("behind %s: %d transactions, %+v", fresh, len(w.last.Block.Transactions), w.dropped)
		}
		if len(w.fired()) != 1 {
			t.Errorf("behind %s %d timers fired", fresh, len(w.fired()))
		}
		tried = append(tried, hangs)
	}
	w.hurry(h, share)
	w.block(append([]*Checked{w.transfer("alice", "bob", 1)}, tried...)...) // the order of a pool that knows who was late
	if len(w.last.Block.Transactions) != 1 {
		t.Errorf("before those that were tried: %d transactions", len(w.last.Block.Transactions))
	}
}

package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// few is a world of n validators.
func few(t *testing.T, n int) *world {
	t.Helper()
	w := newWorld(t, nil)
	w.genesis.Validators.Members = w.genesis.Validators.Members[:n]
	state, _, err := w.genesis.State()
	if err != nil {
		t.Fatal(err)
	}
	w.head = state
	return w
}

// crashing makes blocks until the host crashed so often over an actor.
func (p *proposers) crashing(actor string, times int, txs ...*Checked) {
	p.t.Helper()
	began := p.host.crashed
	p.host.crashes[p.address(actor)] = true
	for range 32 * crashTries {
		if p.host.crashed-began >= times {
			break
		}
		p.next(txs...)
	}
	if got := p.host.crashed - began; got != times {
		p.t.Fatalf("the host crashed %d times, and not %d", got, times)
	}
}

// Decision C18, 4: a crash proves nothing of a program, as an operator or a machine without
// memory may end a host. One to three validators have no other witness: crashes in two
// blocks of each charge no honest sender, and the next attempt is executed.
func TestCrashesInTwoBlocksChargeNobody(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		for _, kind := range []string{"transaction", "fire", "message"} {
			w := few(t, n)
			w.block(w.deploy("alice", "counter", "counter", 0), w.deploy("alice", "heartbeat", "hb", types.CBY),
				w.deploy("alice", "relay", "relay", types.CBY))
			actor, txs := "counter", []*Checked(nil)
			switch kind {
			case "transaction":
				txs = []*Checked{w.call("carol", actor, "increment", nil)}
			case "fire":
				actor = "hb"
				w.block(w.call("alice", "hb", "start", samples.Number(1)))
			case "message":
				w.block(w.call("alice", "relay", "send", relayTo(w.address("counter"))))
			}
			p := w.proposing(aShare)
			p.crashing(actor, n*maxAttempts*(crashTries-1), txs...)
			p.host.crashes[p.address(actor)] = false
			for range 32 * n {
				if p.next(txs...); len(p.last.Receipts) > 0 {
					break
				}
			}
			if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusOK {
				t.Errorf("%d validators, a %s: %+v", n, kind, p.last.Receipts)
			}
		}
	}
}

// An item that crashes in each block of one validator is listed after the third, and ends.
func TestWhatCrashesInThreeBlocksEnds(t *testing.T) {
	p := few(t, 1).proposing(aShare)
	p.block(p.deploy("alice", "counter", "bad", 0), p.transfer("alice", "mallory", types.CBY))
	bad := p.tipped("mallory", "bad", 1)
	p.crashing("bad", maxAttempts*crashTries, bad)
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusHostFailed {
		t.Fatalf("%+v", p.last.Receipts)
	}
}

// CPU time is a proof also where one validator is the only witness: its first list ends what
// was late in two of its blocks.
func TestOneValidatorEndsWhatIsLateTwice(t *testing.T) {
	p := few(t, 1).proposing(aShare)
	p.block(p.deploy("alice", "counter", "bad", 0), p.transfer("alice", "mallory", types.CBY))
	p.host.hangs[p.address("bad")] = true
	bad := p.tipped("mallory", "bad", 1)
	for blocks := 1; blocks <= 4; blocks++ {
		if p.next(bad); len(p.last.Receipts) == 0 {
			continue
		}
		if blocks != lateTries || p.last.Receipts[0].Status != types.StatusHostFailed ||
			p.took != creditOf(bad.Tx.CyclesLimit-p.head.params.CostTransaction) {
			t.Errorf("%+v in block %d after %v", p.last.Receipts, blocks, p.took)
		}
		return
	}
	t.Error("it never ends")
}

// A machine that cannot start a host says nothing about the waiting items: it lists no fire
// and no message by name.
func TestAMissingHostListsNothing(t *testing.T) {
	p := few(t, 1).proposing(aShare)
	p.block(p.deploy("alice", "heartbeat", "hb", types.CBY))
	p.block(p.call("alice", "hb", "start", samples.Number(1)))
	p.host.how, p.host.crashes[p.address("hb")] = program.Missing, true
	for range 32 {
		p.next()
		if len(p.last.Receipts) != 0 || p.last.Block.Passed == nil || p.last.Block.Passed.Fires.Begun == nil {
			t.Fatalf("%+v, %+v", p.last.Receipts, p.last.Block.Passed)
		}
	}
	p.host.crashes[p.address("hb")] = false
	if p.next(); len(p.fired()) != 1 {
		t.Errorf("%+v", p.last.Timers)
	}
}

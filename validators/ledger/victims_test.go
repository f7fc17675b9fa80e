package ledger

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// listedLate reports how many transactions the last block lists as late.
func (p *proposers) listedLate() int {
	if p.last.Block.Passed == nil {
		return 0
	}
	return len(p.last.Block.Passed.Late)
}

// Decision C18, 4: "a transaction that the block cannot include has no effect". A sender
// who empties his account between two lists is charged nothing. No proposer tries him again
// for nothing: those that were not asked yet refuse him before an attempt. Once he has the
// money, the next list ends the transaction at its whole limit.
func TestABalanceThatGoesBetweenTwoLists(t *testing.T) {
	p := hanging(t)
	bad := p.tipped("mallory", "bad", 1)
	tx := *bad.Tx
	tx.MaxFeePerCycle, tx.MaxFeePerCell = types.WeiOf(5000), types.WeiOf(5000)
	bad = p.checked("mallory", &tx)
	p.untilListed(bad)
	if p.listedLate() != 1 {
		t.Fatalf("the first list: %+v", p.last.Block.Passed)
	}
	p.forget()
	rest := p.balance("mallory").Sub(types.WeiOf(1000))
	p.head = p.moved("mallory", "bob", rest)
	for range 3 * len(p.head.set.Members) {
		began, before := p.host.now, p.balance("mallory")
		p.next(bad)
		if len(p.last.Receipts) != 0 || p.balance("mallory") != before || p.listedLate() != 0 {
			t.Fatalf("it has an effect: %+v, %+v", p.last.Receipts, p.last.Block.Passed)
		}
		if p.host.now != began {
			t.Fatal("a proposer tries what cannot pay")
		}
		if l := listsOf(reader{p.head.tree}, bad.slotOf()); len(l.By) != 1 {
			t.Fatalf("state remembers %+v", l)
		}
	}
	p.head = p.moved("bob", "mallory", rest)
	for range len(p.head.set.Members) {
		if p.next(bad); len(p.last.Receipts) > 0 {
			break
		}
	}
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusHostFailed || p.last.Receipts[0].Cycles != bad.Tx.CyclesLimit {
		t.Errorf("%+v", p.last.Receipts)
	}
}

// moved is the state after money moved by no transaction of its owner, as a sponsor's does.
func (p *proposers) moved(from, to string, amount types.Wei) *State {
	p.t.Helper()
	r := p.executor.openBlock(p.head, headerOf(p.head, p.proposal(), noPresence), noPresence, 0)
	result, err := r.runPhases(func() error {
		if !r.state.Move(p.address(from), p.address(to), amount) {
			p.t.Fatalf("%s does not hold %s", from, amount)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return result.State
}

// Decisions C18 and T28: a stranger who sponsors timers that hang pays what he stated for
// them at most. The actor pays nothing, and the stranger's other money is safe.
func TestASponsorOfWhatHangsPaysWhatHeStated(t *testing.T) {
	for _, policy := range allPolicies {
		t.Run(policy, func(t *testing.T) {
			w := newWorld(t, params.Overrides{"cip1.policy": policy})
			w.block(w.deploy("alice", "storm", "bad", types.CBY))
			bob := w.address("bob")
			order := fmt.Appendf(nil, `{"count":12,"in":1,"gas_limit":1000,"fee_payer":"%s"}`, bob)
			sponsor := types.WeiOf(650_000_000) // less than all of them take
			w.block(w.sponsored("bob", "bad", "make", order, &sponsor))
			w.ok()
			signed := w.last.Receipts[0].Hash
			p := w.proposing(aShare)
			p.host.hangs[w.address("bad")] = true
			before, owned, failed := p.balance("bob"), p.balance("bad"), 0
			var paid types.Wei
			for range 400 {
				p.next()
				for _, c := range p.last.Timers {
					if c.Status == types.TimerFired && c.Result == types.StatusHostFailed {
						failed++
						paid = paid.Add(c.FeePaid)
						if c.Timer.Sponsor == nil || *c.Timer.Sponsor != signed {
							t.Errorf("a timer of another sponsor: %+v", c.Timer)
						}
					}
				}
			}
			pays, free := "bob", "bad"
			if policy == scheduler.GBA { // its fires are the actor's to pay (decision T23)
				pays, free, before, owned = free, pays, owned, before
			}
			if lost := before.Sub(p.balance(pays)); lost != paid || pays == "bob" && sponsor.Less(lost) {
				t.Errorf("%s lost %s wei, the fires took %s, and %s were stated", pays, lost, paid, sponsor)
			}
			if p.balance(free) != owned {
				t.Errorf("%s holds %s wei of %s", free, p.balance(free), owned)
			}
			if failed == 0 {
				t.Error("no fire ended as host_failed")
			}
			t.Logf("%d of 12 ended so for %s of %s wei", failed, paid, sponsor)
		})
	}
}

// Decision C18, 4, for proposers whose mempools differ. A proposer that never saw the
// transaction lists and completes nothing, and is delayed by nothing. The next one that
// holds it completes the count.
func TestAProposerWithoutTheTransactionCompletesNothing(t *testing.T) {
	p := hanging(t)
	bad := p.tipped("mallory", "bad", 1)
	p.untilListed(bad)
	first := p.last.Block.Header.Proposer
	if p.listedLate() != 1 {
		t.Fatalf("the first list: %+v", p.last.Block.Passed)
	}
	for range 2 * len(p.head.set.Members) {
		leader := p.head.set.Leader(p.head.header.View + 1)
		p.next(p.transfer("alice", "bob", 1)) // no other proposer has it
		if p.executed() != 1 || p.took != 0 {
			t.Fatalf("%+v after %v", p.last.Receipts, p.took)
		}
		if leader != first && p.listedLate() != 0 {
			t.Fatalf("a proposer lists what it never saw: %+v", p.last.Block.Passed)
		}
	}
	for p.head.set.Leader(p.head.header.View+1) == first {
		p.next()
	}
	p.next(bad)
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusHostFailed || p.listedLate() != 1 {
		t.Errorf("%+v, %+v", p.last.Receipts, p.last.Block.Passed)
	}
}

// A proposer that holds another transaction of the nonce completes the count by neither: the
// one that does not hang is executed.
func TestAnotherPoolsTransactionOfTheNonceIsExecuted(t *testing.T) {
	p := hanging(t)
	bad, other := p.tipped("mallory", "bad", 1), p.call("alice", "bad", "increment", nil)
	tx := *other.Tx
	tx.Nonce = bad.Tx.Nonce
	good := p.checked("mallory", &tx)
	p.next(bad)
	p.host.hangs[p.address("bad")] = false
	p.next(good)
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusOK || p.listedLate() != 0 {
		t.Fatalf("%+v, %+v", p.last.Receipts, p.last.Block.Passed)
	}
	if l := listsOf(reader{p.head.tree}, bad.slotOf()); l.By != nil {
		t.Errorf("state remembers %+v", l)
	}
}

package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// hanging is a world with an actor that hangs, and proposers of little time.
func hanging(t *testing.T) *proposers {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "bad", 0), w.transfer("alice", "mallory", types.CBY))
	p := w.proposing(aShare)
	p.host.hangs[w.address("bad")] = true
	return p
}

// untilListed makes blocks until one lists something as late.
func (p *proposers) untilListed(txs ...*Checked) {
	p.t.Helper()
	for range 4 * lateTries {
		if p.next(txs...); p.last.Block.Passed != nil && len(p.last.Block.Passed.Late) > 0 {
			return
		}
	}
	p.t.Fatal("nothing is listed as late")
}

// untilReceipt makes blocks until one has a receipt.
func (p *proposers) untilReceipt(txs ...*Checked) {
	p.t.Helper()
	for range 4 * 4 * lateTries {
		if p.next(txs...); len(p.last.Receipts) > 0 {
			return
		}
	}
	p.t.Fatal("no block has a receipt")
}

// tipped is a call with a tip.
func (w *world) tipped(from, actor string, tip uint64) *Checked {
	c := w.call(from, actor, "increment", nil)
	tx := *c.Tx
	tx.MaxPriorityFeePerCycle, tx.MaxPriorityFeePerCell = types.WeiOf(tip), types.WeiOf(tip)
	return w.checked(from, &tx)
}

// Decision C18, 4: a transaction that f + 1 proposers listed ends as host_failed in the
// block that completes the count. The nonce is used, the whole limit is charged at base fee
// and tip, all of it burned, and counts in the block's use. A validator that applies the
// block executes nothing.
func TestALateTransactionPaysItsWholeLimit(t *testing.T) {
	p := hanging(t)
	bad := p.tipped("mallory", "bad", 40)
	before, supply := p.balance("mallory"), p.head.Supply()
	p.untilListed(bad)
	if len(p.last.Receipts) != 0 || len(p.dropped) != 0 || p.balance("mallory") != before {
		t.Fatalf("the first list: %+v, %+v", p.last.Receipts, p.last.Block.Passed)
	}
	if entry := p.last.Block.Passed.Late[0]; entry.Sender != p.address("mallory") || entry.Nonce != bad.Tx.Nonce ||
		time.Duration(entry.CPU)*time.Microsecond != creditOf(bad.Tx.CyclesLimit-p.head.params.CostTransaction) {
		t.Errorf("it lists %+v", entry)
	}
	mallory := p.address("mallory")
	mark := binary.BigEndian.AppendUint64([]byte("x/lated/"), uint64(p.head.Height()))
	mark = binary.BigEndian.AppendUint64(append(mark, mallory[:]...), uint64(bad.Tx.Nonce))
	marks := 0
	reader{p.head.tree}.Scan([]byte("x/lated/"), []byte("x/lated0"), func(key, value []byte) bool {
		if marks++; !bytes.Equal(key, mark) || !bytes.Equal(value, []byte{1}) {
			t.Errorf("state marks the list by %q = %x, want %q = 01", key, value, mark)
		}
		return true
	})
	if marks != 1 {
		t.Errorf("state has %d marks of one list", marks)
	}
	parent, proposer := p.head, p.head.set.Leader(p.head.header.View+1)
	tips := p.head.Account(proposer).Balance
	p.next(bad)
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusHostFailed || p.last.Receipts[0].Hash != bad.Hash {
		t.Fatalf("the second list: %+v", p.last.Receipts)
	}
	r, h, tx := p.last.Receipts[0], p.last.Block.Header, bad.Tx
	want := h.BaseFeeCycle.Add(types.WeiOf(40)).Mul(uint64(tx.CyclesLimit)).Add(h.BaseFeeCell.Add(types.WeiOf(40)).Mul(uint64(tx.CellsLimit)))
	after := p.head.Supply()
	burned := after.BurnedCycle.Add(after.BurnedCell).Sub(supply.BurnedCycle.Add(supply.BurnedCell))
	if paid := before.Sub(p.balance("mallory")); paid != want || r.Fee != want || !r.Tip.IsZero() || burned != want {
		t.Errorf("paid %s, told %s with a tip of %s, burned %s; want %s", paid, r.Fee, r.Tip, burned, want)
	}
	if p.head.Account(proposer).Balance != tips {
		t.Error("its proposer earned by it")
	}
	if h.CyclesUsed != tx.CyclesLimit || h.CellsUsed != tx.CellsLimit || p.head.Account(p.address("mallory")).Nonce != tx.Nonce+1 {
		t.Errorf("used %d cycles and %d cells", h.CyclesUsed, h.CellsUsed)
	}
	if l := listsOf(reader{p.head.tree}, bad.slotOf()); l.By != nil {
		t.Errorf("state remembers %+v after the transaction ended", l)
	}
	p.executor.Programs = nil
	if applied, err := p.executor.Apply(parent, p.last.Block); err != nil || applied.State.Root() != p.head.Root() {
		t.Errorf("promise (v): a voter without a host: %v", err)
	}
}

// Promise (iv): f liars can neither charge nor drop anybody. Their lists have one entry,
// however often they list, and the next honest proposer executes the transaction.
func TestLiarsThatListChargeNobody(t *testing.T) {
	p := hanging(t)
	p.host.hangs[p.address("bad")] = false
	liar := p.head.set.Leader(p.head.header.View + 1)
	for range 12 {
		p.host.hangs[p.address("bad")] = p.head.set.Leader(p.head.header.View+1) == liar
		tx := p.tipped("mallory", "bad", 1)
		p.next(tx)
		for i := range p.last.Receipts {
			if p.last.Receipts[i].Status != types.StatusOK {
				t.Fatalf("%+v", p.last.Receipts[i])
			}
		}
	}
	if n := p.head.Account(p.address("mallory")).Nonce; n < 8 {
		t.Errorf("%d of its transactions are in blocks of the others", n)
	}
}

// A forged list makes no block valid. With the count complete the block must hold the
// transaction; with it incomplete the transaction must be executed.
func TestWhatABodyMayNotListAsLate(t *testing.T) {
	p := hanging(t)
	bad := p.tipped("mallory", "bad", 1)
	p.untilListed(bad)
	entry := p.last.Block.Passed.Late[0]
	built, err := p.executor.Build(p.head, p.proposal(), slices.Values([]*Checked{p.transfer("alice", "bob", 1)}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, late := range map[string][]types.LateTransaction{
		"complete, and missing": {entry},
		"twice":                 {{Sender: types.Address{1}}, {Sender: types.Address{1}}},
		"too many":              make([]types.LateTransaction, types.MaxLate+1),
		"another form of nil":   {},
	} {
		forged := *built.Result.Block
		forged.Passed = &types.Passed{Late: late}
		forged.Header.Passed = types.PassedHash(forged.Passed)
		if _, err := p.executor.Apply(p.head, &forged); codeOf(t, err) != CodeBadPassed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A late transaction that cannot be included has no effect. A sender who uses his nonce
// otherwise pays for that, and nothing of the list remains. A sender without the funds
// pays once he has them.
func TestALateTransactionThatCannotBeIncludedHasNoEffect(t *testing.T) {
	p := hanging(t)
	bad := p.tipped("mallory", "bad", 1)
	p.untilListed(bad)
	other := p.transfer("mallory", "bob", 7) // the same nonce
	p.untilReceipt(other)
	if p.last.Receipts[0].Status != types.StatusOK {
		t.Fatalf("%+v", p.last.Receipts)
	}
	for range 8 {
		p.next(bad)
		if len(p.last.Receipts) != 0 || p.last.Block.Passed != nil && len(p.last.Block.Passed.Late) != 0 {
			t.Fatalf("%+v %+v", p.last.Receipts, p.last.Block.Passed)
		}
	}
	if l := listsOf(reader{p.head.tree}, bad.slotOf()); l.By != nil {
		t.Errorf("state remembers %+v", l)
	}
}

// The count belongs to a nonce and not to a transaction. A sender who replaces a
// transaction that hangs by another that hangs pays all the same.
func TestWhoReplacesWhatHangsPays(t *testing.T) {
	p := hanging(t)
	p.untilListed(p.tipped("mallory", "bad", 1))
	second := p.tipped("mallory", "bad", 2)
	p.untilReceipt(second)
	if p.last.Receipts[0].Status != types.StatusHostFailed || p.last.Receipts[0].Hash != second.Hash {
		t.Errorf("%+v", p.last.Receipts)
	}
}

// A list counts for 1,024 blocks, and is in state no longer: lists of garbage do not grow it.
func TestListsAreForgotten(t *testing.T) {
	p := hanging(t)
	bad := p.tipped("mallory", "bad", 1)
	var garbage []types.LateTransaction
	for i := range types.MaxLate {
		garbage = append(garbage, types.LateTransaction{Sender: types.Address{9}, Nonce: types.Nonce(i)})
	}
	garbage[0].Sender, garbage[0].Nonce = bad.Sender, bad.Tx.Nonce
	state := p.listing(garbage)
	for range lateBlocksKept {
		built, err := p.executor.Build(state, proposalOn(state), slices.Values([]*Checked(nil)), nil)
		if err != nil {
			t.Fatal(err)
		}
		state = built.Result.State
	}
	if l := listsOf(reader{state.tree}, bad.slotOf()); l.By == nil {
		t.Fatal("it is forgotten early")
	}
	built, err := p.executor.Build(state, proposalOn(state), slices.Values([]*Checked(nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := listsOf(reader{built.Result.State.tree}, bad.slotOf()); l.By != nil {
		t.Errorf("state remembers %+v", l)
	}
	found := false
	reader{built.Result.State.tree}.Scan([]byte("x/late"), []byte("x/latf"), func(_, _ []byte) bool {
		found = true
		return true
	})
	if found {
		t.Error("something of a list is still in state")
	}
}

// Promise (i) of decision C18 against fresh accounts: they pay for the time that they take.
// Two proposers try what is late twice each. A limit below 16,667 cycles buys the least credit,
// which no program of a right price uses up.
func TestWhoSlowsTheChainPaysForTheTime(t *testing.T) {
	for _, limit := range []types.Cycles{10_000, 100_000, 1_000_000} {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "counter", "bad", 0))
		bad := w.hostileCalls(20, limit, func(int) string { return "bad" })
		p := w.proposing(aShare)
		p.host.hangs[w.address("bad")] = true
		var took time.Duration
		var paid types.Cycles
		for range 600 {
			p.next(p.notEnded(bad)...)
			took += p.took
			for i := range p.last.Receipts {
				paid += p.last.Receipts[i].Cycles
			}
		}
		loops := types.Cycles(took/program.UsualRate) * 1000
		loop := time.Duration(limit) * program.UsualRate / 1000
		times := max(program.LateCreditTimes, (program.LateLeast+loop-1)/loop)
		if most := types.Cycles(2 * 2 * 2 * times); paid == 0 || loops/paid > most {
			t.Errorf("limit %d: %d cycles were paid for %v, in which plain loops pay %d: at most %d times", limit, paid, took, loops, most)
		}
		t.Logf("limit %d: %d cycles for %v, 1/%d of plain loops", limit, paid, took, loops/max(paid, 1))
	}
}

// Finding F66: a message pays its limit, which may be less than its attempts are worth.
func TestFindingAMessagePaysLessThanItsAttempts(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "bad", 0), w.deploy("alice", "relay", "relay", types.CBY))
	order := samples.Order{Target: w.address("bad"), Handler: "increment", Cycles: 10, Cells: 10}
	w.block(w.call("alice", "relay", "send", order.Encode()))
	p := w.proposing(aShare)
	p.host.hangs[w.address("bad")] = true
	var took time.Duration
	for range 8 {
		p.next()
		took += p.took
		if len(p.last.Receipts) == 1 {
			if r := p.last.Receipts[0]; r.Status != types.StatusHostFailed || r.Cycles != 10 || took > 4*lateTries*program.LateLeast {
				t.Errorf("%+v after %v", r, took)
			}
			return
		}
	}
	t.Error("it never ends")
}

// Decision C18, 5: a hostile proposer says that it executed a program. A voter stops that
// program at its own time, and has its result all the same once it must.
func TestAVoterStopsAtItsOwnTime(t *testing.T) {
	p := hanging(t)
	p.host.hangs[p.address("bad")] = false
	built, err := p.executor.Build(p.head, p.proposal(), slices.Values([]*Checked{p.tipped("mallory", "bad", 1)}), nil)
	if err != nil || len(built.Result.Receipts) != 1 {
		t.Fatal(err, built)
	}
	p.host.hangs[p.address("bad")] = true
	began := p.host.now
	_, err = p.executor.Judge(p.head, built.Result.Block)
	var environment *EnvironmentError
	if !errors.As(err, &environment) || !environment.Late || p.host.now-began > creditOf(built.Result.Block.Transactions[0].CyclesLimit) {
		t.Errorf("%+v after %v", err, p.host.now-began)
	}
	if applied, err := p.executor.Apply(p.head, built.Result.Block); err != nil || applied.Hash != built.Result.Hash {
		t.Errorf("once others notarized it: %v", err)
	}
}

// listing is the state after a block of a liar who lists what was never late.
func (p *proposers) listing(late []types.LateTransaction) *State {
	r := p.executor.openBlock(p.head, headerOf(p.head, p.proposal(), noPresence), noPresence, program.ForBlock)
	if refusal := r.followLists(&types.Passed{Late: late}); refusal != nil {
		p.t.Fatal(refusal)
	}
	result, err := r.runPhases(func() error { return nil })
	if err != nil {
		p.t.Fatal(err)
	}
	return result.State
}

// A proposer does not try again a transaction that it listed: that would cost each of its
// blocks an attempt.
func TestWhatWasListedIsNotTriedAgain(t *testing.T) {
	p := hanging(t)
	bad, tries := p.tipped("mallory", "bad", 1), NewTries()
	for i := range 40 {
		p.hurry(p.host, aShare)
		p.pace.Tries = tries
		began := p.host.now
		built, err := p.executor.Build(p.head, p.proposal(), slices.Values([]*Checked{bad}), p.pace)
		if err != nil {
			t.Fatal(err)
		}
		if tried := p.host.now > began; tried != (i < lateTries) {
			t.Errorf("block %d: tried %v", i, tried)
		}
		if late := built.Result.Block.Passed; i >= lateTries-1 && (late == nil || len(late.Late) != 1) {
			t.Errorf("block %d, of which none is final, lists %+v", i, late)
		}
	}
}

// Decision C18, 1 and 4: a deploy whose inspection is late is listed, and pays its whole
// limit as any transaction.
func TestALateDeployPaysItsWholeLimit(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.transfer("alice", "mallory", types.CBY))
	p := w.proposing(aShare)
	p.host.slow[types.Keccak(samples.Code("counter"))] = true
	first := w.deploy("mallory", "counter", "bad", 0)
	before := p.balance("mallory")
	p.untilListed(first)
	if len(p.last.Receipts) != 0 || len(p.last.Block.Passed.Late) != 1 || len(p.dropped) != 0 || p.took > program.LateCredit {
		t.Fatalf("the first list: %+v, %+v after %v", p.last.Receipts, p.last.Block.Passed, p.took)
	}
	p.next(first)
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusHostFailed || p.last.Receipts[0].Hash != first.Hash {
		t.Fatalf("the second list: %+v", p.last.Receipts)
	}
	r, h, tx := p.last.Receipts[0], p.last.Block.Header, first.Tx
	want := h.BaseFeeCycle.Mul(uint64(tx.CyclesLimit)).Add(h.BaseFeeCell.Mul(uint64(tx.CellsLimit)))
	if paid := before.Sub(p.balance("mallory")); r.Fee != want || paid != want {
		t.Errorf("paid %s, told %s, want %s", paid, r.Fee, want)
	}
	if p.head.Actor(p.address("bad")) != nil {
		t.Error("it is deployed")
	}
}

// Decision C18: a read, a dry run and a trial of an agent end once they are late, after one attempt, and
// say what their limit was.
func TestC18ReadsAreLateAsItemsOfBlocksAre(t *testing.T) {
	w := newWorld(t, map[string]string{"cip1.policy": "eip1559"})
	h := w.wedge()
	w.block(w.deploy("alice", "counter", "c", 0))
	h.hangs[w.address("c")] = true
	call := w.call("bob", "c", "increment", nil).Tx
	for what, try := range map[string]struct {
		limit types.Cycles
		do    func() error
	}{
		"a read": {w.head.Params().ItemCycles, func() error {
			_, err := w.executor.Read(w.head, Call{Actor: w.address("c"), Handler: "get"})
			return err
		}},
		"a dry run": {call.CyclesLimit, func() error {
			_, _, err := w.executor.Simulate(w.head, w.address("bob"), call)
			return err
		}},
		"a trial": {w.head.Params().GBACallCycles, func() error {
			_, err := w.executor.TryBid(w.head, BidTrial{Bidder: w.address("c"), Actor: w.address("c")})
			return err
		}},
	} {
		var failed *EnvironmentError
		if err := try.do(); !errors.As(err, &failed) || !failed.Late || failed.Attempts != 1 || failed.Limit != try.limit {
			t.Errorf("%s: %+v", what, err)
		}
	}
}

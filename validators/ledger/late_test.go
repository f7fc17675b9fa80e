package ledger

import (
	"errors"
	"fmt"
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
	p.next(bad)
	if len(p.last.Receipts) != 0 || len(p.last.Block.Passed.Late) != 1 || len(p.dropped) != 0 || p.balance("mallory") != before {
		t.Fatalf("the first list: %+v, %+v", p.last.Receipts, p.last.Block.Passed)
	}
	if entry := p.last.Block.Passed.Late[0]; entry.Sender != p.address("mallory") || entry.Nonce != bad.Tx.Nonce ||
		time.Duration(entry.CPU)*time.Microsecond != program.LateFree {
		t.Errorf("it lists %+v", entry)
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
	if l := listsOf(reader{p.head.tree}, bad.slot()); l.By != nil {
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
	p.next(bad)
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
	p.next(bad)
	other := p.transfer("mallory", "bob", 7) // the same nonce
	p.next(other)
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusOK {
		t.Fatalf("%+v", p.last.Receipts)
	}
	for range 8 {
		p.next(bad)
		if len(p.last.Receipts) != 0 || p.last.Block.Passed != nil && len(p.last.Block.Passed.Late) != 0 {
			t.Fatalf("%+v %+v", p.last.Receipts, p.last.Block.Passed)
		}
	}
	if l := listsOf(reader{p.head.tree}, bad.slot()); l.By != nil {
		t.Errorf("state remembers %+v", l)
	}
}

// The count belongs to a nonce and not to a transaction. A sender who replaces a
// transaction that hangs by another that hangs pays all the same.
func TestWhoReplacesWhatHangsPays(t *testing.T) {
	p := hanging(t)
	p.next(p.tipped("mallory", "bad", 1))
	second := p.tipped("mallory", "bad", 2)
	p.next(second)
	if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusHostFailed || p.last.Receipts[0].Hash != second.Hash {
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
	if l := listsOf(reader{state.tree}, bad.slot()); l.By == nil {
		t.Fatal("it is forgotten early")
	}
	built, err := p.executor.Build(state, proposalOn(state), slices.Values([]*Checked(nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := listsOf(reader{built.Result.State.tree}, bad.slot()); l.By != nil {
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
// They pay at least a fortieth of the price of plain loops for that time,
// times 1 / (f + 1).
func TestWhoSlowsTheChainPaysForTheTime(t *testing.T) {
	for _, limit := range []types.Cycles{1_100, 2_000, 20_000, 100_000} {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "counter", "bad", 0))
		const accounts = 20
		var fund, bad []*Checked
		for i := range accounts {
			fund = append(fund, w.transfer("alice", fmt.Sprintf("m%d", i), types.CBY))
		}
		w.block(fund...)
		p := w.proposing(aShare)
		p.host.hangs[w.address("bad")] = true
		for i := range accounts {
			c := p.call(fmt.Sprintf("m%d", i), "bad", "increment", nil)
			tx := *c.Tx
			tx.CyclesLimit = limit
			bad = append(bad, p.checked(fmt.Sprintf("m%d", i), &tx))
		}
		var took time.Duration
		var paid types.Cycles
		for range 600 {
			left := slices.DeleteFunc(slices.Clone(bad), func(c *Checked) bool { return p.head.Account(c.Sender).Nonce > c.Tx.Nonce })
			p.next(left...)
			took += p.took
			for i := range p.last.Receipts {
				paid += p.last.Receipts[i].Cycles
			}
		}
		loops := types.Cycles(took/program.UsualRate) * 1000
		if least := loops / program.LateTimes / 2; paid < least {
			t.Errorf("limit %d: %d cycles were paid for %v, in which plain loops pay %d: at least %d", limit, paid, took, loops, least)
		}
		t.Logf("limit %d: %d cycles for %v, 1/%d of plain loops", limit, paid, took, loops/max(paid, 1))
	}
}

// Promises (i) and (iii) with fifty codes: each costs each proposer one attempt. After that
// the others are executed, and the charges keep their proportion.
func TestManyCodesAreManyDoubts(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "good", 0))
	const codes = 50
	p := w.proposing(aShare)
	var bad []*Checked
	for i := range codes {
		name := fmt.Sprintf("bad%d", i)
		w.block(w.deploy("alice", "bidder", name, 0), w.transfer("alice", fmt.Sprintf("m%d", i), types.CBY))
		p.host.hangs[w.address(name)] = true
	}
	for i := range codes {
		bad = append(bad, p.call(fmt.Sprintf("m%d", i), fmt.Sprintf("bad%d", i), fmt.Sprintf("handler%d", i), nil))
	}
	var took time.Duration
	var paid types.Cycles
	without := 0 // blocks whose proposer had no time left after the codes that it tried
	for b := range 64 {
		left := slices.DeleteFunc(slices.Clone(bad), func(c *Checked) bool { return p.head.Account(c.Sender).Nonce > c.Tx.Nonce })
		p.next(append(left, p.call("alice", "good", "increment", nil))...)
		took += p.took
		if p.executed() != 1 {
			if without++; b >= 16 {
				t.Errorf("block %d: the honest call is not executed", b)
			}
		}
		for i := range p.last.Receipts {
			if p.last.Receipts[i].Status == types.StatusHostFailed {
				paid += p.last.Receipts[i].Cycles
			}
		}
	}
	loops := types.Cycles(took/program.UsualRate) * 1000
	if paid < loops/program.LateTimes/2 || paid < codes*100_000/2 {
		t.Errorf("%d cycles were paid for %v", paid, took)
	}
	if without > 8 {
		t.Errorf("the honest call is in all blocks but %d", without)
	}
	t.Logf("%d blocks without the honest call; %d codes: %d cycles for %v, 1/%d of plain loops", without, codes, paid, took,
		loops/max(paid, 1))
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
			if r := p.last.Receipts[0]; r.Status != types.StatusHostFailed || r.Cycles != 10 || took != 2*program.LateLeast {
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
	if !errors.As(err, &environment) || !environment.Late || p.host.now-began > program.LateFree {
		t.Errorf("%+v after %v", err, p.host.now-began)
	}
	if applied, err := p.executor.Apply(p.head, built.Result.Block); err != nil || applied.Hash != built.Result.Hash {
		t.Errorf("once others notarized it: %v", err)
	}
}

// listing is the state after a block of a liar who lists what was never late.
func (p *proposers) listing(late []types.LateTransaction) *State {
	r := p.executor.open(p.head, headerOf(p.head, p.proposal(), noPresence), noPresence, program.ForBlock)
	if refusal := r.followLists(&types.Passed{Late: late}); refusal != nil {
		p.t.Fatal(refusal)
	}
	result, err := r.transition(func() error { return nil })
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
		if tried := p.host.now > began; tried != (i == 0) {
			t.Errorf("block %d: tried %v", i, tried)
		}
		if late := built.Result.Block.Passed; late == nil || len(late.Late) != 1 {
			t.Errorf("block %d, of which none is final, lists %+v", i, late)
		}
	}
}

// Decision C18, 1 and 4: a deploy whose inspection is late is listed, and pays its whole
// limit as any transaction. Its code is doubted: others who bring it wait for a turn.
func TestALateDeployPaysItsWholeLimit(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.transfer("alice", "mallory", types.CBY), w.transfer("alice", "malice", types.CBY))
	p := w.proposing(aShare)
	p.host.slow[types.Keccak(samples.Code("counter"))] = true
	first, second := w.deploy("mallory", "counter", "bad", 0), w.deploy("malice", "counter", "worse", 0)
	before := p.balance("mallory")
	p.next(first, second)
	if len(p.last.Receipts) != 0 || len(p.last.Block.Passed.Late) != 1 || len(p.dropped) != 0 || p.took > program.LateFree {
		t.Fatalf("the first list: %+v, %+v after %v", p.last.Receipts, p.last.Block.Passed, p.took)
	}
	p.next(first, second)
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

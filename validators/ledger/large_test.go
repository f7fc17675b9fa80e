package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// proposers gives each leader its own memory and the same share of the host's time.
type proposers struct {
	*world
	host  *wedged
	share time.Duration
	tries map[types.Address]*Tries
	took  time.Duration // by the last block
}

func (w *world) proposing(share time.Duration) *proposers {
	return &proposers{world: w, host: w.wedge(), share: share, tries: map[types.Address]*Tries{}}
}

// next makes a block of the next leader.
func (p *proposers) next(txs ...*Checked) *Result {
	leader := p.head.set.Leader(p.head.header.View + 1)
	if p.tries[leader] == nil {
		p.tries[leader] = NewTries()
	}
	p.hurry(p.host, p.share)
	p.pace.Longest, p.pace.Tries = 4*p.share, p.tries[leader]
	began := p.host.now
	built, err := p.executor.Build(p.head, p.proposal(), slices.Values(txs), p.pace)
	if err != nil {
		p.t.Fatal(err)
	}
	p.took = p.host.now - began
	applied, err := p.executor.Apply(p.head, built.Result.Block)
	if err != nil {
		p.t.Fatalf("Build made a block that Apply refuses: %v", err)
	}
	if applied.Hash != built.Result.Hash {
		p.t.Fatal("Build and Apply disagree")
	}
	if err := Audit(applied.State); err != nil {
		p.t.Fatal(err)
	}
	p.head, p.last, p.dropped = applied.State, applied, built.Dropped
	p.forget()
	return applied
}

// executed counts what ended well in the last block.
func (p *proposers) executed() (n int) {
	for i := range p.last.Receipts {
		if p.last.Receipts[i].Status == types.StatusOK {
			n++
		}
	}
	return n
}

const aShare = 100 * time.Millisecond

// timersOf makes timers of one actor that are all due in the next block.
func (w *world) timersOf(actor string, n int, tip int) {
	w.t.Helper()
	w.block(w.call("alice", actor, "make", fmt.Appendf(nil, `{"count":%d,"in":1,"priority":"%d","gas_limit":1000}`, n, tip)))
	w.ok()
}

// Decision C18: what a late actor has in the lane takes one turn of a block at most, so that
// other timers fire in each block. Timers that hang have the higher tip.
func TestTimersOfALateActorKeepNoOtherFromFiring(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "storm", "bad", 10*types.CBY), w.deploy("alice", "heartbeat", "good", types.CBY))
	w.block(w.call("alice", "good", "start", samples.Number(1)))
	w.timersOf("bad", 40, 9)
	p := w.proposing(aShare)
	p.host.hangs[w.address("bad")] = true
	waits := 0
	for blocks := 1; blocks <= 128; blocks++ {
		p.next()
		if p.took > 2*creditOf(1000) { // the first, and the first that is large
			t.Fatalf("block %d took %v", blocks, p.took)
		}
		fires := slices.ContainsFunc(p.fired(), func(c types.TimerChange) bool { return c.Timer.Actor == p.address("good") })
		ends := slices.ContainsFunc(p.last.Receipts, func(r types.Receipt) bool { return r.Status == types.StatusHostFailed })
		if fires {
			waits = 0
			continue
		}
		// A timer that ends is charged all the cells that a fire may use, which leaves no
		// room for another.
		if waits++; waits > 1 || !ends {
			t.Fatalf("the heartbeat does not fire in block %d, nor in %d before: %+v", blocks, waits-1, p.last.Block.Passed)
		}
	}
	if left := len(p.head.Timers(p.address("bad"))); left > 30 {
		t.Errorf("%d of 40 are left", left)
	}
}

// Decision C18, 1: a transaction of a user has at most cip3.item_cycles, and 4 more for each byte
// of code that it brings. Other lanes have their own limits.
func TestC18AnItemHasAMillionCycles(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "counter", 0))
	limited := func(c *Checked, cycles types.Cycles) *Checked {
		tx := *c.Tx
		tx.CyclesLimit = cycles
		return w.checked("alice", &tx)
	}
	code := types.Cycles(len(samples.Code("counter")) * cyclesPerCodeByte)
	for _, c := range []struct {
		tx      func() *Checked
		largest types.Cycles
	}{
		{func() *Checked { return w.transfer("alice", "bob", 1) }, 1_000_000},
		{func() *Checked { return w.call("alice", "counter", "increment", nil) }, 1_000_000},
		{func() *Checked { return w.deploy("alice", "counter", "another", 0) }, 1_000_000 + code},
	} {
		w.forget()
		w.block(limited(c.tx(), c.largest+1))
		if len(w.dropped) != 1 || codeOf(t, w.dropped[0].Err) != CodeLimitTooHigh {
			t.Errorf("a limit of %d: %+v", c.largest+1, w.dropped)
		}
		w.forget()
		if _, refusal := precheckFee(reader{w.head.tree}, w.head.params, w.head.fees, limited(c.tx(), c.largest)); refusal != nil {
			t.Errorf("a limit of %d: %v", c.largest, refusal)
		}
	}
}

// hostileCalls are calls of as many fresh accounts, each with a limit.
func (w *world) hostileCalls(n int, limit types.Cycles, actor func(i int) string) (calls []*Checked) {
	w.t.Helper()
	var fund []*Checked
	for i := range n {
		fund = append(fund, w.transfer("alice", fmt.Sprintf("m%d", i), types.CBY))
	}
	w.block(fund...)
	for i := range n {
		from := fmt.Sprintf("m%d", i)
		tx := *w.call(from, actor(i), "increment", nil).Tx
		tx.CyclesLimit = limit
		calls = append(calls, w.checked(from, &tx))
	}
	return calls
}

// notEnded is those of calls whose sender's nonce is still unused.
func (p *proposers) notEnded(calls []*Checked) []*Checked {
	return slices.DeleteFunc(slices.Clone(calls), func(c *Checked) bool { return p.head.Account(c.Sender).Nonce > c.Tx.Nonce })
}

// Decision C18: fifty fresh accounts whose calls hang take each proposer one attempt each. An
// honest call that the mempool offers last waits for those attempts at most, and they pay.
func TestFiftyAccountsThatHangDelayOthersByOneAttemptEach(t *testing.T) {
	for name, actor := range map[string]func(int) string{
		"one code":    func(int) string { return "bad" },
		"fifty codes": func(i int) string { return fmt.Sprint("bad", i) },
	} {
		const accounts, limit = 50, 1_000_000
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "counter", "good", 0), w.deploy("alice", "counter", "bad", 0))
		bad := w.hostileCalls(accounts, limit, func(int) string { return "bad" })
		p := w.proposing(aShare)
		if name == "fifty codes" {
			for i := range accounts {
				w.block(w.deploy("alice", "bidder", actor(i), 0))
			}
			for i := range bad {
				from := fmt.Sprintf("m%d", i)
				tx := *w.call(from, actor(i), fmt.Sprint("handler", i), nil).Tx
				tx.CyclesLimit = limit
				bad[i] = w.checked(from, &tx)
			}
		}
		for i := range accounts {
			p.host.hangs[w.address(actor(i))] = true
		}
		attempts := int(accounts * creditOf(limit) / aShare) // blocks that they fill, of each proposer
		waited := 0
		var paid types.Cycles
		for range 400 {
			p.next(append(p.notEnded(bad), p.transfer("alice", "bob", 1))...)
			if p.executed() != 1 {
				waited++
			}
			for i := range p.last.Receipts {
				if p.last.Receipts[i].Status == types.StatusHostFailed {
					paid += p.last.Receipts[i].Cycles
				}
			}
		}
		if most := 4 * (attempts + 2*lateTries); waited > most {
			t.Errorf("%s: the honest call waited in %d blocks, at most %d", name, waited, most)
		}
		if paid != accounts*limit {
			t.Errorf("%s: %d cycles were paid", name, paid)
		}
	}
}

// Decision C18: an item that a first attempt did not end is large. It has a whole share in
// its turn, ends, and nobody is blamed for it.
func TestWhatIsCutOffIsLargeAndEnds(t *testing.T) {
	for _, takes := range []time.Duration{aShare / 4, aShare / 2, aShare * 9 / 10} {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "heartbeat", "fires", types.CBY), w.deploy("alice", "counter", "calls", 0),
			w.deploy("bob", "counter", "busy", 0))
		w.block(w.call("alice", "fires", "start", samples.Number(1)))
		p := w.proposing(aShare)
		p.host.takes[w.address("fires")], p.host.takes[w.address("calls")] = takes, takes
		p.host.takes[w.address("busy")] = aShare / firstParts
		called, fired, blocks := false, false, 0
		slow := p.call("alice", "calls", "increment", nil)
		for ; blocks < 200 && !(called && fired); blocks++ {
			txs := []*Checked{p.call("bob", "busy", "increment", nil)}
			if !called {
				txs = append(txs, slow)
			}
			p.next(txs...)
			if p.took > aShare*3/2+aShare/firstParts {
				t.Errorf("takes %v: block %d took %v", takes, blocks, p.took)
			}
			if len(p.dropped) != 0 || p.last.Block.Passed != nil && len(p.last.Block.Passed.Fires.Failed) != 0 {
				t.Fatalf("takes %v: block %d blames it: %+v", takes, blocks, p.last.Block.Passed)
			}
			for i := range p.last.Receipts {
				r := &p.last.Receipts[i]
				called = called || r.To == p.address("calls") && r.Status == types.StatusOK
				fired = fired || r.To == p.address("fires") && r.Status == types.StatusOK
			}
		}
		if !called || !fired {
			t.Errorf("takes %v: after %d blocks called %v, fired %v", takes, blocks, called, fired)
		}
	}
}

// Decision C18: large items take a ninth of the proposers' time together, however many there are.
// So most blocks have time for others.
func TestLargeItemsTakeANinthOfTheTime(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "large", 0))
	calls := w.hostileCalls(50, 1_000_000, func(int) string { return "large" })
	p := w.proposing(aShare)
	p.host.takes[w.address("large")] = aShare * 8 / 10
	const blockTime = 4 * aShare
	took, waited, blocks := time.Duration(0), 0, 400
	for range blocks {
		began := p.host.now
		p.next(append(p.notEnded(calls)[:1], p.transfer("alice", "bob", 1))...)
		took += p.took
		if p.executed() == 0 {
			waited++
		}
		p.host.now = max(p.host.now, began+blockTime)
	}
	if most := time.Duration(blocks) * blockTime * 3 / 18; took > most { // and the first attempts
		t.Errorf("%d blocks spent %v, at most %v", blocks, took, most)
	}
	if left := len(p.notEnded(calls)); left > 35 || waited > blocks/9 {
		t.Errorf("%d of 50 are left; %d blocks had no other transaction", left, waited)
	}
}

// Decision C18: what has the CPU time of a whole share and does not end is late, and ends.
func TestWhatNeedsMoreThanAShareIsLate(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "crawls", types.CBY), w.call("alice", "crawls", "start", samples.Number(1)))
	p := w.proposing(aShare)
	p.host.takes[w.address("crawls")] = time.Hour
	for blocks := 1; blocks <= 400; blocks++ {
		p.next()
		p.host.now += 4 * aShare
		if p.took > aShare*3/2 {
			t.Errorf("block %d took %v", blocks, p.took)
		}
		if len(p.last.Receipts) == 1 {
			if p.last.Receipts[0].Status != types.StatusHostFailed {
				t.Errorf("%+v", p.last.Receipts[0])
			}
			return
		}
	}
	t.Error("it never ends")
}

// Promise (ii) of decision C18: an honest program has its receipt on a machine at load 20.
// There the wall clock ends a share in which the host hardly ran, and that is not the
// program's fault. A fire waits for as long as that lasts, and nobody is charged.
func TestAStarvedMachineChargesNoFire(t *testing.T) {
	for _, starved := range []int{30, 400} {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "heartbeat", "honest", types.CBY), w.call("alice", "honest", "start", samples.Number(1)))
		p := w.proposing(aShare)
		blocks := 0
		for ; blocks < starved+100 && len(p.last.Receipts) != 1; blocks++ {
			p.host.starves = blocks < starved
			p.next()
			p.host.now += 4 * aShare
		}
		if blocks < starved || len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != types.StatusOK {
			t.Errorf("starved for %d blocks: after %d the receipts are %+v", starved, blocks, p.last.Receipts)
		}
	}
}

// Decision C18, 3: an item is large that had a fifth of a first attempt as CPU time and did not end. One
// that had no processor meanwhile, or the rest of a block, is tried in the next block as if it were new,
// though large items rest. The eighth such attempt makes it large.
func TestAStarvedFirstAttemptIsRepeatedAtOnce(t *testing.T) {
	for name, takes := range map[string]time.Duration{"no processor": 0, "the rest of a block": aShare / firstParts * 9 / 10} {
		for _, starved := range []int{1, maxStarved - 1, maxStarved} {
			w := few(t, 1)
			w.block(w.deploy("alice", "counter", "honest", 0), w.deploy("alice", "counter", "busy", 0), w.transfer("alice", "bob", types.CBY))
			p := w.proposing(aShare)
			p.next()
			for _, tries := range p.tries {
				tries.rests = time.Hour
			}
			p.host.takes[w.address("honest")] = takes
			blocks, ran := 0, func() bool {
				return slices.ContainsFunc(p.last.Receipts, func(r types.Receipt) bool { return r.To == p.address("honest") })
			}
			for ; blocks < 4*maxStarved && !ran(); blocks++ {
				busy := blocks < starved
				p.host.starves, p.host.takes[w.address("busy")] = busy && takes == 0, 0
				txs := []*Checked{p.call("bob", "honest", "increment", nil)}
				if busy && takes > 0 { // others take all but the fifth of a first attempt
					p.host.takes[w.address("busy")] = aShare * 97 / 500
					txs = append(p.hostileCalls(5, 1_000_000, func(int) string { return "busy" }), txs...)
				}
				p.next(txs...)
			}
			if want := starved + 1; (blocks == want) != (starved < maxStarved) {
				t.Errorf("%s in %d blocks: it ended in block %d", name, starved, blocks)
			}
		}
	}
}

// A transaction that a slow machine starves eight times is dropped with words, uncharged.
func TestAStarvedTransactionIsDroppedUncharged(t *testing.T) {
	w := few(t, 1)
	w.block(w.deploy("alice", "counter", "honest", 0), w.transfer("alice", "bob", types.CBY))
	p := w.proposing(aShare)
	p.host.starves = true
	call, before := p.call("bob", "honest", "increment", nil), p.balance("bob")
	for range 200 {
		p.next(call)
		p.host.now += 100 * aShare
		if len(p.dropped) == 0 {
			continue
		}
		var environment *EnvironmentError
		if !errors.As(p.dropped[0].Err, &environment) || !strings.HasPrefix(environment.Ended(), "this machine was too slow") {
			t.Errorf("%v", p.dropped[0].Err)
		}
		if p.balance("bob") != before || len(p.last.Receipts) != 0 {
			t.Errorf("it was charged: %+v", p.last.Receipts)
		}
		return
	}
	t.Error("it is never dropped")
}

// A large item that comes no more is forgotten, and takes no turn from others.
func TestWhatComesNoMoreIsForgotten(t *testing.T) {
	tries := NewTries()
	gone, here := types.Keccak([]byte("gone")), types.Keccak([]byte("here"))
	tries.beginBlock(1, 0)
	tries.noteCutOff(gone, types.Address{}, phaseTransactions)
	tries.noteCutOff(here, types.Address{}, phaseTransactions)
	turns := 0
	for h := types.Height(2); h < 40; h++ {
		tries.beginBlock(h, 0)
		if tries.takeTurn(here, types.Address{}, phaseTransactions) == turnLarge {
			turns++
			tries.noteCutOff(here, types.Address{}, phaseTransactions)
		}
	}
	for h := types.Height(40); h < 40+2*maxMissed; h++ {
		tries.beginBlock(h, 0)
	}
	if tries.beginBlock(80, 0); turns < 20 || len(tries.items) != 0 || len(tries.order) != 0 {
		t.Errorf("%d turns; %d are remembered", turns, len(tries.items))
	}
}

// The memory of items and parties is bounded, and what was late is large for 256 blocks.
func TestTriesAreBounded(t *testing.T) {
	tries := NewTries()
	item := func(i int) types.Hash { return types.Keccak(samples.Number(uint64(i))) }
	party := func(i int) types.Address { return types.Address{byte(i), byte(i >> 8)} }
	tries.beginBlock(1, 0)
	for i := range 2 * maxTries {
		tries.blameParty(party(i))
		tries.noteFailure(item(i), party(i), phaseFires, lateTries)
	}
	if len(tries.items) != maxTries || len(tries.order) != maxTries || len(tries.parties.until) != maxTries {
		t.Errorf("%d items, %d parties are remembered", len(tries.items), len(tries.parties.until))
	}
	tries.beginBlock(largeBlocks, 0)
	if got := tries.takeTurn(item(-1), party(2*maxTries-1), phaseFires); got != turnWaits {
		t.Errorf("the next item of a late party has turn %d", got)
	}
	if got := tries.takeTurn(item(-2), party(0), phaseFires); got != turnFirst {
		t.Errorf("an item of a forgotten party has turn %d", got)
	}
	if tries.beginBlock(1+largeBlocks, 0); tries.parties.holdsKey(party(2*maxTries-1), tries.height) {
		t.Error("a party is late for longer than it should be")
	}
}

// Decision C18: blame is the sender's. A contract that strangers' calls make late serves its
// honest callers in each block.
func TestHonestCallersOfAContractThatStrangersMakeLateAreServed(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "shared", 0), w.transfer("alice", "mallory", 1000*types.CBY))
	p := w.proposing(aShare)
	p.host.hangsFor[w.address("mallory")] = true
	for block := range 200 {
		p.next(p.tipped("mallory", "shared", 90), p.call("alice", "shared", "increment", nil))
		if p.executed() != 1 {
			t.Fatalf("block %d: %+v", block, p.last.Receipts)
		}
	}
}

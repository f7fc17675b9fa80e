package ledger

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/program"
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
	p.pace.Longest, p.pace.Tries = 16*p.share, p.tries[leader]
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

// Promise (iii) of decision C18: items that are not doubted never wait for doubted ones;
// "doubted items together take at most one block in eight". Timers that hang, with the
// higher tip, take each proposer one attempt of 2 ms, and then one in eight of its blocks.
func TestWhatNobodyDoubtsNeverWaitsForWhatIsDoubted(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "storm", "bad", 10*types.CBY), w.deploy("alice", "heartbeat", "good", types.CBY))
	w.block(w.call("alice", "good", "start", samples.Number(1)))
	w.timersOf("bad", 40, 9)
	p := w.proposing(aShare)
	p.host.hangs[w.address("bad")] = true
	var slow, blocks, waits int
	for range 128 {
		p.next()
		if blocks++; p.took > 0 {
			slow++
		}
		if p.took > program.LateFree {
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
	if slow > 4+blocks/8 || slow < 4+blocks/8/2 {
		t.Errorf("%d of %d blocks tried what is doubted", slow, blocks)
	}
	ended := 40 - len(p.head.Timers(p.address("bad")))
	if ended < 4 {
		t.Errorf("%d of 40 ended", ended)
	}
	for _, c := range p.last.Timers {
		if c.Status == types.TimerPending && c.Timer.Actor == p.address("bad") && c.Reason == "" {
			t.Errorf("%+v", c)
		}
	}
}

// Decision C18, 3: doubt belongs to a handler of a code, and not to a sender. Fifty fresh
// accounts of one code are tried once per proposer, and their transactions keep no other
// out.
func TestManyAccountsOfOneCodeAreOneDoubt(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "bad", 0), w.deploy("alice", "counter", "good", 0))
	var fund []*Checked
	for i := range 50 {
		fund = append(fund, w.transfer("alice", fmt.Sprintf("m%d", i), types.CBY))
	}
	w.block(fund...)
	p := w.proposing(aShare)
	p.host.hangs[w.address("bad")] = true
	var bad []*Checked
	for i := range 50 {
		bad = append(bad, p.call(fmt.Sprintf("m%d", i), "bad", "increment", nil))
	}
	var took time.Duration
	const blocks = 64
	for i := range blocks {
		p.next(append(slices.Clone(bad), p.transfer("alice", "bob", 1))...)
		took += p.took
		if p.executed() != 1 {
			t.Fatalf("block %d: %d transactions", i, len(p.last.Block.Transactions))
		}
	}
	if most := program.LateFree * (4 + blocks/8); took > most {
		t.Errorf("they took %v of %d blocks, at most %v", took, blocks, most)
	}
}

// Doubt belongs to the innermost code that ran. An honest contract is not doubted if a
// stranger makes it call code that hangs, and its other callers have their turns in each
// block.
func TestAContractIsNotDoubtedForItsCallersArgument(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "bidder", "bad", 0), w.deploy("alice", "counter", "good", 0), w.deploy("alice", "relay", "relay", types.CBY))
	p := w.proposing(aShare)
	p.host.hangs[w.address("bad")] = true
	bad := p.call("bob", "relay", "call", relayTo(w.address("bad")))
	for i := range 40 {
		p.next(bad, p.call("alice", "relay", "call", relayTo(p.address("good"))))
		if p.executed() != 1 {
			t.Fatalf("block %d: %+v", i, p.last.Receipts)
		}
	}
}

// Promise (ii) of decision C18: "unfinished is not late". An item that is cut off by the
// end of a share is lent a separate share, longer each time, and ends. No account is blamed
// for it.
func TestWhatIsCutOffIsLentAShareAndEnds(t *testing.T) {
	for _, takes := range []time.Duration{190 * time.Millisecond, 700 * time.Millisecond, 1500 * time.Millisecond} {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "heartbeat", "fires", types.CBY), w.deploy("alice", "counter", "calls", 0),
			w.deploy("bob", "counter", "busy", 0))
		w.block(w.call("alice", "fires", "start", samples.Number(1)))
		p := w.proposing(aShare)
		p.host.takes[w.address("fires")], p.host.takes[w.address("calls")] = takes, takes
		p.host.takes[w.address("busy")] = 90 * time.Millisecond
		called, fired, blocks := false, false, 0
		slow := p.call("alice", "calls", "increment", nil)
		for ; blocks < 100 && !(called && fired); blocks++ {
			txs := []*Checked{p.call("bob", "busy", "increment", nil)}
			if !called {
				txs = append(txs, slow)
			}
			p.next(txs...)
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

// Decision C18, 2: what exceeds the longest share counts as late.
func TestWhatExceedsTheLongestShareIsLate(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "heartbeat", "crawls", types.CBY), w.call("alice", "crawls", "start", samples.Number(1)))
	p := w.proposing(aShare)
	p.host.takes[w.address("crawls")] = time.Hour
	for blocks := 1; blocks <= 40; blocks++ {
		p.next()
		if p.took > 16*aShare {
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
// program's fault. Such losses are bounded.
func TestAStarvedMachineMakesNoProgramLate(t *testing.T) {
	for _, c := range []struct {
		blocks int // for which the machine is starved
		want   types.Status
	}{{30, types.StatusOK}, {200, types.StatusHostFailed}} {
		w := newWorld(t, nil)
		w.block(w.deploy("alice", "heartbeat", "honest", types.CBY), w.call("alice", "honest", "start", samples.Number(1)))
		p := w.proposing(aShare)
		p.host.starves = true
		blocks := 0
		for ; blocks < c.blocks+20 && len(p.last.Receipts) != 1; blocks++ {
			p.host.starves = blocks < c.blocks
			p.next()
		}
		if len(p.last.Receipts) != 1 || p.last.Receipts[0].Status != c.want {
			t.Errorf("starved for %d blocks: after %d the receipts are %+v, want %v", c.blocks, blocks, p.last.Receipts, c.want)
		}
		if c.want == types.StatusHostFailed && blocks < 4*maxStarved/2 {
			t.Errorf("it is late after %d blocks", blocks)
		}
	}
}

// A proposer's time is whole again in the next block. An item that was cut off and comes no
// more is forgotten, and takes no share from others.
func TestWhatComesNoMoreIsForgotten(t *testing.T) {
	tries := NewTries()
	gone, here := types.Keccak([]byte("gone")), types.Keccak([]byte("here"))
	tries.begin(1)
	tries.cut(gone, phaseTransactions, turnOwn)
	tries.cut(here, phaseTransactions, turnOwn)
	lent := 0
	for h := types.Height(2); h < 40; h++ {
		tries.begin(h)
		if tries.turn(here, types.Address{}, phaseTransactions) == turnLent {
			lent++
			tries.cut(here, phaseTransactions, turnLent)
		}
	}
	for h := types.Height(40); h < 40+2*maxMissed; h++ {
		tries.begin(h)
	}
	if tries.begin(80); lent < 20 || len(tries.items) != 0 || len(tries.order) != 0 {
		t.Errorf("lent %d times; %d are remembered", lent, len(tries.items))
	}
}

// The memory of items, codes and parties is bounded.
func TestTriesAreBounded(t *testing.T) {
	tries := NewTries()
	item := func(i int) types.Hash { return types.Keccak(samples.Number(uint64(i))) }
	tries.begin(1)
	for i := range 2 * maxTries {
		tries.late(item(i), phaseFires, ranCode{code: item(i)}, types.Address{byte(i), byte(i >> 8)})
	}
	if len(tries.items) != maxTries || len(tries.order) != maxTries || len(tries.codes.until) != maxTries ||
		len(tries.codes.order) != maxTries || len(tries.parties.until) != maxTries {
		t.Errorf("%d items, %d codes, %d parties are remembered", len(tries.items), len(tries.codes.until), len(tries.parties.until))
	}
	last := ranCode{code: item(2*maxTries - 1)}
	tries.begin(doubtBlocks)
	if !tries.doubts(last) || tries.doubts(ranCode{code: item(0)}) || tries.doubts(ranCode{last.code, "other"}) {
		t.Error("another code is doubted than should be")
	}
	if tries.begin(1 + doubtBlocks); tries.doubts(last) {
		t.Error("it is doubted for longer than it should be")
	}
}

// Decision C18, 3: "each item is tried for itself: one caller's lateness charges no other". Code that
// a stranger's argument makes late still serves honest callers, before those who were late.
func TestHonestCallersOfDoubtedCodeAreServed(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "shared", 0), w.transfer("alice", "mallory", 1000*types.CBY))
	p := w.proposing(aShare)
	p.host.hangsFor[w.address("mallory")] = true
	served := 0
	for range 200 {
		p.next(p.tipped("mallory", "shared", 90), p.call("alice", "shared", "increment", nil))
		for i := range p.last.Receipts {
			if r := &p.last.Receipts[i]; r.Sender == p.address("alice") && r.Status == types.StatusOK {
				served++
			} else if r.Sender != p.address("mallory") || r.Status != types.StatusHostFailed {
				t.Fatalf("%+v", r)
			}
		}
	}
	if served < 10 {
		t.Errorf("%d of the honest calls are in 200 blocks", served)
	}
}

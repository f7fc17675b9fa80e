package catchup

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

const testEpochBlocks = 100

func testAddress(i int) types.Address { return types.Address{0: 0xa0, 19: byte(i)} }

func testSet(epoch types.Epoch) types.ValidatorSet {
	set := types.ValidatorSet{Epoch: epoch}
	for i := range 4 {
		set.Members = append(set.Members, types.Validator{Address: testAddress(i)})
	}
	return set
}

// testCertificate is genuine when its one vote is by member 0: tests need no
// more of a signature.
func testCertificate(kind types.VoteKind, h *types.Header, hash types.Hash) *types.Certificate {
	return &types.Certificate{Kind: kind, Epoch: h.SetEpoch, View: h.View, Height: h.Height, Block: hash,
		Votes: []types.CertificateVote{{Validator: testAddress(0)}}}
}

func checkTestCertificate(c *types.Certificate) error {
	if len(c.Votes) != 1 || c.Votes[0].Validator != testAddress(0) {
		return errors.New("forged certificate")
	}
	return nil
}

// testChain is the final blocks of the network, by height; every third, the tip and
// epochs' ends have their own finalization.
type testChain struct {
	blocks []*types.Block
	hashes []types.Hash
	final  func(types.Height) bool
	bytes  int // of each
	tip    types.Height
	first  types.Height // that is kept
}

func newChain(length int) *testChain {
	c := &testChain{bytes: 600, final: func(h types.Height) bool { return h%3 == 0 }}
	genesis := &types.Block{}
	c.blocks, c.hashes = []*types.Block{genesis}, []types.Hash{genesis.Hash()}
	for h := types.Height(1); h <= types.Height(length); h++ {
		parent := &c.blocks[h-1].Header
		b := &types.Block{Header: types.Header{Height: h, View: types.View(h), Epoch: types.Epoch((h - 1) / testEpochBlocks),
			SetEpoch: types.Epoch((h - 1) / testEpochBlocks), Parent: c.hashes[h-1], Transactions: types.TransactionsHash(nil),
			Passed: types.PassedHash(nil)}}
		if h > 1 {
			b.Parent = testCertificate(types.Notarize, parent, c.hashes[h-1])
			if parent.Border() {
				b.Finalization = testCertificate(types.Finalize, parent, c.hashes[h-1])
			}
		}
		if h%testEpochBlocks == 0 {
			next := testSet(b.Header.SetEpoch + 1)
			b.Header.NextSet = next.Hash()
		}
		c.blocks, c.hashes = append(c.blocks, b), append(c.hashes, b.Hash())
	}
	c.tip = types.Height(length)
	return c
}

func (c *testChain) Block(h types.Height) (*types.Block, int) {
	if h == 0 || h > c.tip {
		return nil, 0
	}
	return c.blocks[h], c.bytes
}

func (c *testChain) Finalization(h types.Height) *types.Certificate {
	if h != c.tip && h%testEpochBlocks != 0 && !c.final(h) {
		return nil
	}
	return testCertificate(types.Finalize, &c.blocks[h].Header, c.hashes[h])
}

func (c *testChain) Next(h types.Height) types.Height {
	if h > c.tip {
		return 0
	}
	return max(h, 1)
}

func (c *testChain) Tip() types.Height { return c.tip }

func (c *testChain) First() types.Height { return c.first }

func (c *testChain) root(h types.Height) Root {
	r := Root{Block: c.blocks[h], Hash: c.hashes[h], Set: testSet(types.Epoch(h / testEpochBlocks))}
	if h > 0 && h%testEpochBlocks == 0 {
		previous := testSet(r.Set.Epoch - 1)
		r.Previous = &previous
	}
	return r
}

// world is validator 0, which lags, and three peers that answer.
type world struct {
	chain    *testChain
	machine  *Machine
	now      types.Time
	latency  time.Duration
	queue    []queued
	answer   [4]func(*Batch) *Batch // a peer's change of the right answer; nil result: silence
	grow     int                    // blocks a request
	rejects  func(*types.Block) bool
	next     func(types.Epoch) *types.ValidatorSet // what execution says of the next set; nil: the right one
	applied  []types.Hash
	log      strings.Builder
	requests [4]int
	lies     [4]int
	done     int
	height   types.Height
}

type queued struct {
	at    types.Time
	event Event
}

func newWorld(length int, from types.Height) *world {
	c := newChain(length)
	w := &world{chain: c, latency: 20 * time.Millisecond, height: from}
	w.machine = New(Config{Self: testAddress(0), Timeout: time.Second, Root: c.root(from)})
	return w
}

func (w *world) post(e Event, after time.Duration) {
	w.queue = append(w.queue, queued{w.now.Add(after), e})
}

// run delivers until nothing is left to happen or the time is over.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for {
		next := -1
		for i := range w.queue {
			if next < 0 || w.queue[i].at < w.queue[next].at {
				next = i
			}
		}
		at, event := w.machine.Deadline(), Event(Tick{})
		if next >= 0 && w.queue[next].at <= at {
			at, event = w.queue[next].at, w.queue[next].event
			w.queue = append(w.queue[:next:next], w.queue[next+1:]...)
		}
		if at > end {
			return
		}
		w.now = max(w.now, at)
		w.step(event)
	}
}

func (w *world) step(e Event) {
	out := w.machine.Step(w.now, e)
	at := time.Duration(w.now)
	for _, s := range out.Send {
		i := int(s.To[19])
		w.requests[i]++
		fmt.Fprintf(&w.log, "%v: ask v%d for %d to %d\n", at, i, s.Request.From, s.Request.To)
		w.chain.tip = min(w.chain.tip+types.Height(w.grow), types.Height(len(w.chain.blocks)-1))
		batch := Serve(s.Request, w.chain)
		if w.answer[i] != nil {
			batch = w.answer[i](batch)
		}
		if batch != nil {
			w.post(Answer{From: s.To, Batch: batch}, w.latency)
		}
	}
	for _, a := range out.Ask {
		switch a := a.(type) {
		case Verify:
			verified, err := Check(a.Batch, &a.Root, checkTestCertificate)
			if err != nil {
				fmt.Fprintf(&w.log, "%v: refuse: %v\n", at, err)
				w.post(Refused{a.ID}, 0)
			} else {
				w.post(Verified{a.ID, verified}, 0)
			}
		case Apply:
			w.apply(a)
		}
	}
	for _, r := range out.Report {
		switch r := r.(type) {
		case Moved:
			fmt.Fprintf(&w.log, "%v: moved to %d of epoch %d\n", at, r.Root.Block.Header.Height, r.Root.Block.Header.Epoch)
		case Done:
			w.done++
			fmt.Fprintf(&w.log, "%v: done at %d\n", at, r.Root.Block.Header.Height)
		case Lied:
			w.lies[r.Peer[19]]++
			fmt.Fprintf(&w.log, "%v: v%d lied\n", at, r.Peer[19])
		}
	}
}

func (w *world) apply(a Apply) {
	for i, b := range a.Batch.Blocks() {
		if w.rejects != nil && w.rejects(b) {
			fmt.Fprintf(&w.log, "%v: reject %d\n", time.Duration(w.now), b.Header.Height)
			w.post(Rejected{a.ID}, time.Millisecond)
			return
		}
		if b.Header.Height > w.height {
			w.height = b.Header.Height
			w.applied = append(w.applied, a.Batch.Hashes()[i])
		}
	}
	blocks := a.Batch.Blocks()
	fmt.Fprintf(&w.log, "%v: apply %d to %d\n", time.Duration(w.now), blocks[0].Header.Height, blocks[len(blocks)-1].Header.Height)
	e := Applied{ID: a.ID}
	if last := blocks[len(blocks)-1].Header; last.Border() {
		next := testSet(last.SetEpoch + 1)
		if e.Next = &next; w.next != nil {
			e.Next = w.next(next.Epoch)
		}
	}
	w.post(e, 5*time.Millisecond)
}

package catchup

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// behaviours are faulty peers' changes of the right answer.
var behaviours = map[string]func(*Batch) *Batch{
	"silence": func(*Batch) *Batch { return nil },
	"empty":   func(b *Batch) *Batch { return &Batch{From: b.From} },
	"forged finalization": func(b *Batch) *Batch {
		c := *b.Finalization
		c.Votes = []types.CertificateVote{{Validator: testAddress(3)}}
		return &Batch{From: b.From, Blocks: b.Blocks, Links: b.Links, Finalization: &c}
	},
	"no finalization": func(b *Batch) *Batch { return &Batch{From: b.From, Blocks: b.Blocks} },
	"another's finality": func(b *Batch) *Batch {
		return &Batch{From: b.From, Blocks: b.Blocks[:len(b.Blocks)-1], Finalization: b.Finalization}
	},
	"a gap": func(b *Batch) *Batch {
		if len(b.Blocks) < 3 {
			return nil
		}
		return &Batch{From: b.From, Blocks: append([]*types.Block{b.Blocks[0]}, b.Blocks[2:]...), Finalization: b.Finalization}
	},
	"a missing block": func(b *Batch) *Batch {
		return &Batch{From: b.From, Blocks: append([]*types.Block{b.Blocks[0], nil}, b.Blocks[1:]...), Finalization: b.Finalization}
	},
	"forged votes": func(b *Batch) *Batch {
		return changed(b, func(block *types.Block) {
			c := *block.Parent
			c.Votes = []types.CertificateVote{{Validator: testAddress(3)}}
			block.Parent = &c
		})
	},
	"added transactions": func(b *Batch) *Batch {
		return changed(b, func(block *types.Block) { block.Transactions = []types.Transaction{{Payload: []byte{0xf6}}} })
	},
	"another state": func(b *Batch) *Batch {
		return changed(b, func(block *types.Block) { block.Header.StateRoot[0]++ })
	},
	"stripped certificates": func(b *Batch) *Batch {
		return changed(b, func(block *types.Block) { block.Parent = nil })
	},
}

// changed alters the last block, which has a parent with a certificate.
func changed(b *Batch, change func(*types.Block)) *Batch {
	last := len(b.Blocks) - 1
	if last < 0 || b.Blocks[last].Parent == nil {
		return nil
	}
	altered := *b.Blocks[last]
	change(&altered)
	return &Batch{From: b.From, Blocks: append(append([]*types.Block(nil), b.Blocks[:last]...), &altered), Links: b.Links,
		Finalization: b.Finalization}
}

// One honest peer is enough, whatever the others do; only right blocks are
// applied, in order, and a liar is named and left out.
func TestLiarsAreFoundOut(t *testing.T) {
	for name, behave := range behaviours {
		t.Run(name, func(t *testing.T) {
			w := newWorld(450, 0)
			w.answer[1], w.answer[2] = behave, behave
			w.post(Behind{Peer: testAddress(1), Height: 450, Proven: true}, 0)
			w.run(10 * time.Minute)
			w.expectChain(t, 450)
			if w.done != 1 {
				t.Errorf("done %d times", w.done)
			}
			if name != "silence" && name != "empty" && w.lies[1]+w.lies[2] == 0 {
				t.Error("no liar was found")
			}
			if w.lies[3] > 0 {
				t.Error("the honest peer is said to lie")
			}
			if w.requests[1] > 20 {
				t.Errorf("the faulty peer was asked %d times", w.requests[1])
			}
		})
	}
}

func (w *world) expectChain(t *testing.T, height types.Height) {
	t.Helper()
	if w.height != height {
		t.Fatalf("reached %d, not %d\n%s", w.height, height, w.log.String())
	}
	start := int(height) - len(w.applied)
	for i, hash := range w.applied {
		if hash != w.chain.hashes[start+1+i] {
			t.Fatalf("block %d applied is not the chain's", start+1+i)
		}
	}
}

// A height that is claimed and does not exist costs one attempt per liar, then the
// machine stops.
func TestClaimOfALiarEnds(t *testing.T) {
	w := newWorld(50, 50)
	w.post(Behind{Peer: testAddress(1), Height: 1 << 40}, 0)
	w.run(time.Hour)
	if w.done != 1 || w.machine.Active() || w.requests[1] != 1 {
		t.Errorf("done %d times after %d requests, active %v", w.done, w.requests[1], w.machine.Active())
	}
}

// A batch that the application rejects is fetched again from another peer.
func TestRejectedBatchIsFetchedAgain(t *testing.T) {
	w := newWorld(90, 0)
	times := 0
	w.rejects = func(b *types.Block) bool {
		if b.Header.Height == 40 {
			times++
			return times < 3
		}
		return false
	}
	w.post(Behind{Peer: testAddress(1), Height: 90, Proven: true}, 0)
	w.run(10 * time.Minute)
	w.expectChain(t, 90)
	if w.lies[1]+w.lies[2]+w.lies[3] != 2 {
		t.Errorf("lies: %v", w.lies)
	}
}

// While others continue, a validator that lost 1,000 blocks reaches them.
func TestPeersThatKeepGoing(t *testing.T) {
	w := newWorld(3000, 0)
	w.chain.tip, w.grow = 1000, 10
	for p := 1; p < 4; p++ {
		w.post(Behind{Peer: testAddress(p), Height: 1000, Proven: true}, 0)
	}
	w.run(10 * time.Minute)
	if w.done == 0 || w.height < 1000 {
		t.Fatalf("at %d, done %d times", w.height, w.done)
	}
	w.expectChain(t, w.height)
}

// Finality that consensus reached is taken over, and nothing is applied twice.
func TestFinalizedMovesTheRoot(t *testing.T) {
	w := newWorld(90, 0)
	w.post(Behind{Peer: testAddress(1), Height: 90, Proven: true}, 0)
	w.run(22 * time.Millisecond)
	w.height = 85
	w.step(Finalized{w.chain.root(85)})
	w.run(10 * time.Minute)
	if w.done != 1 || w.machine.Root().Block.Header.Height != 90 {
		t.Errorf("done %d times, at %d", w.done, w.machine.Root().Block.Header.Height)
	}
}

// Requests and answers never cross an epoch's last block, one request is out at
// a time, and at most one batch is fetched ahead of the one in work.
func TestBatchesEndWithTheirEpoch(t *testing.T) {
	w := newWorld(350, 0)
	outstanding := 0
	for p := 1; p < 4; p++ {
		w.answer[p] = func(b *Batch) *Batch {
			first, last := b.Blocks[0].Header, b.Blocks[len(b.Blocks)-1].Header
			if first.Epoch != last.Epoch || len(b.Blocks) > MaxBatchBlocks {
				t.Errorf("a batch from %d to %d", first.Height, last.Height)
			}
			if m := w.machine; m.fetching != nil && m.working != nil && m.working.verified == nil {
				t.Error("two batches ahead")
			}
			outstanding++
			return b
		}
	}
	w.post(Behind{Peer: testAddress(2), Height: 350, Proven: true}, 0)
	w.run(time.Minute)
	w.expectChain(t, 350)
	if outstanding < 7 {
		t.Errorf("%d batches for four epochs", outstanding)
	}
}

// A validator completes the proof that it is behind with its own vote.
func TestAProofOfItsOwn(t *testing.T) {
	w := newWorld(350, 0)
	w.post(Behind{Peer: testAddress(0), Height: 350}, 0)
	if w.run(time.Second); w.machine.Active() {
		t.Error("its own claim counts")
	}
	w.post(Behind{Peer: testAddress(0), Height: 350, Proven: true}, 0)
	w.run(time.Minute)
	w.expectChain(t, 350)
}

// A liar is left out for lyingTimeouts, also if there is no other peer to ask;
// after that it is asked again.
func TestALiarIsLeftOutForAWhile(t *testing.T) {
	w := newWorld(50, 0)
	for i := range w.answer {
		w.answer[i] = behaviours["another state"]
	}
	w.post(Behind{Peer: testAddress(1), Height: 50, Proven: true}, 0)
	w.run((lyingTimeouts - 1) * time.Second)
	for i := 1; i < 4; i++ {
		if w.requests[i] != 1 || w.lies[i] != 1 {
			t.Errorf("v%d was asked %d times, and found to lie %d times", i, w.requests[i], w.lies[i])
		}
	}
	clear(w.answer[:])
	w.run((lyingTimeouts + 1) * time.Second)
	w.expectChain(t, 50)
}

// A border is passed only with the set that its block names: without one, or with another, catch-up
// stays below it.
func TestABorderIsNotPassedWithAnotherSet(t *testing.T) {
	for name, next := range map[string]func(types.Epoch) *types.ValidatorSet{
		"the next":     nil,
		"none":         func(types.Epoch) *types.ValidatorSet { return nil },
		"one too late": func(e types.Epoch) *types.ValidatorSet { other := testSet(e + 1); return &other },
	} {
		w := newWorld(2*testEpochBlocks, 0)
		w.next = next
		w.post(Behind{Peer: testAddress(1), Height: 2 * testEpochBlocks, Proven: true}, 0)
		w.run(10 * time.Second)
		if passed := w.machine.root.Block.Header.Height >= testEpochBlocks; passed != (next == nil) {
			t.Errorf("%s: it is at height %d of epoch %d", name, w.machine.root.Block.Header.Height, w.machine.root.Set.Epoch)
		}
	}
}

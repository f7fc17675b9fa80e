package catchup

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Hostile events in any order neither panic nor make the machine hold more than
// its limits, and never have a wrong block applied.
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 1, 200, 1, 1, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0})
	f.Add([]byte{0, 1, 255, 7, 9, 0, 1, 1, 9, 6, 2, 2, 5, 0, 0, 0, 2, 255})
	chain := newChain(250)
	f.Fuzz(func(t *testing.T, script []byte) {
		m := New(Config{Self: testAddress(0), Timeout: 1000, Root: chain.root(0)})
		now := types.Time(0)
		var verify []Verify
		var apply []Apply
		var requests []Send
		for len(script) >= 3 {
			kind, a, b := script[0]%9, script[1], script[2]
			script = script[3:]
			var e Event
			switch kind {
			case 0:
				e = Behind{Peer: testAddress(int(a)), Height: types.Height(b) << (a % 50), Proven: a%3 == 0}
			case 1:
				from, batch := testAddress(int(a)), &Batch{}
				if len(requests) > 0 {
					last := requests[len(requests)-1]
					from = last.To
					batch = Serve(last.Request, chain)
				}
				if len(batch.Blocks) > 2 && b%2 == 1 {
					batch = mangle(batch, a)
				}
				e = Answer{From: from, Batch: batch}
			case 2:
				if len(verify) == 0 {
					continue
				}
				v := verify[len(verify)-1]
				checked, err := Check(v.Batch, &v.Root, checkTestCertificate)
				if e = (Verified{v.ID, checked}); err != nil {
					e = Refused{v.ID}
				}
			case 3:
				if len(apply) == 0 {
					continue
				}
				done := Applied{ID: apply[len(apply)-1].ID}
				hashes := apply[len(apply)-1].Batch.Hashes()
				last := apply[len(apply)-1].Batch.Blocks()[len(hashes)-1].Header
				if last.Height%testEpochBlocks == 0 && b%4 != 0 {
					next := testSet(last.Epoch + 1)
					done.Next = &next
				}
				e = done
			case 4:
				e = Finalized{chain.root(types.Height(b) % 251)}
			case 5:
				e = Tick{}
				now = now.Add(1 << (a % 20))
			case 6:
				e = Rejected{uint64(b)}
			case 7:
				e = Answer{From: testAddress(int(a) % 4), Batch: nil}
			case 8:
				e = Verified{ID: uint64(b)}
			}
			out := m.Step(now, e)
			requests = append(requests, out.Send...)
			for _, ask := range out.Ask {
				switch ask := ask.(type) {
				case Verify:
					verify = append(verify, ask)
				case Apply:
					apply = append(apply, ask)
					for i, block := range ask.Batch.Blocks() {
						if h := block.Header.Height; ask.Batch.Hashes()[i] != chain.hashes[h] {
							t.Fatalf("block %d is not the chain's", h)
						}
					}
				}
			}
			if len(m.peers) > MaxPeers {
				t.Fatalf("%d peers", len(m.peers))
			}
			if h := m.root.Block.Header.Height; m.root.Hash != chain.hashes[h] {
				t.Fatalf("root %d is not the chain's", h)
			}
			m.Deadline()
		}
	})
}

func mangle(b *Batch, how byte) *Batch {
	switch how % 4 {
	case 0:
		return &Batch{From: b.From, Blocks: b.Blocks[1:], Finalization: b.Finalization}
	case 1:
		return &Batch{From: b.From, Blocks: b.Blocks, Links: b.Links}
	case 2:
		return &Batch{From: b.From, Blocks: append([]*types.Block{nil}, b.Blocks...), Finalization: b.Finalization}
	}
	return changed(b, func(block *types.Block) { block.Header.StateRoot[how%32]++ })
}

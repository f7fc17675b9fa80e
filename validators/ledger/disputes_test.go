package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// proposing plays a proposer whose blocks find no quorum while a bad item is in them.
type proposing struct {
	tries *Tries
	pool  []types.Hash
	bad   types.Hash
	// made and failed count blocks, empty ones too.
	made, failed int
	disputed     []types.Hash
}

func (p *proposing) block(stood bool) (failed bool) {
	p.made++
	p.tries.beginBlock(types.Height(p.made), 0)
	var items []types.Hash
	for _, item := range p.pool {
		if p.tries.takeTurn(item, types.Address{}, phaseTransactions) == turnFirst {
			items = append(items, item)
		}
	}
	if slices.Contains(items, p.bad) {
		p.failed++
		if found, is := p.tries.Refused(items, stood); is {
			p.disputed = append(p.disputed, found)
		}
		return true
	}
	p.tries.Accepted()
	p.tries.Ended(items)
	p.pool = slices.DeleteFunc(p.pool, func(h types.Hash) bool { return slices.Contains(items, h) })
	return false
}

// Decision C2: a proposer finds the one item over which there is no quorum. Between two blocks
// that fail there is one that does not, all others are included, and it alone is disputed.
func TestC2AnItemWithoutAQuorumIsFoundAndLeftOut(t *testing.T) {
	for _, size := range []int{1, 2, 7, 300} {
		for _, place := range []int{0, size / 2, size - 1} {
			t.Run(fmt.Sprintf("%d of %d", place, size), func(t *testing.T) {
				p := &proposing{tries: NewTries()}
				for i := range size {
					p.pool = append(p.pool, types.Keccak([]byte{byte(i), byte(i >> 8)}))
				}
				p.bad = p.pool[place]
				row := 0
				for range 60 {
					if p.block(p.made == 0) {
						row++
					} else {
						row = 0
					}
					if row > 1 {
						t.Fatalf("two blocks in a row without a quorum, at block %d", p.made)
					}
				}
				if len(p.disputed) != 1 || p.disputed[0] != p.bad || len(p.pool) != 1 {
					t.Errorf("disputed %v, and %d of %d items wait", p.disputed, len(p.pool), size)
				}
				if p.failed > 14 {
					t.Errorf("%d blocks without a quorum", p.failed)
				}
			})
		}
	}
}

// Decision C2: one block that is lost while others find a quorum makes no suspects, and what
// another proposer's block has is suspected no more.
func TestC2ALostBlockMakesNoSuspects(t *testing.T) {
	item := types.Keccak([]byte("item"))
	tries := NewTries()
	tries.beginBlock(1, 0)
	if _, is := tries.Refused([]types.Hash{item}, false); is || tries.disputes.leavesOut(item) {
		t.Error("one lost block makes a suspect")
	}
	tries.beginBlock(2, 0)
	tries.Refused([]types.Hash{item}, false)
	tries.beginBlock(3, 0)
	if tries.takeTurn(item, types.Address{}, phaseTransactions) != turnWaits {
		t.Error("the item of two lost blocks is in the next")
	}
	tries.Ended([]types.Hash{item})
	if tries.disputes.leavesOut(item) {
		t.Error("an item that is final is still suspected")
	}
}

// The memory of suspects is bounded.
func TestC2SuspectsAreBounded(t *testing.T) {
	tries := NewTries()
	for i := range 8 {
		var items []types.Hash
		for j := range 300 {
			items = append(items, types.Keccak([]byte{byte(i), byte(j), byte(j >> 8)}))
		}
		tries.beginBlock(types.Height(i), 0)
		tries.Refused(items, true)
	}
	if n := tries.disputes.countSuspects(); n > maxSuspects {
		t.Errorf("%d suspects", n)
	}
}

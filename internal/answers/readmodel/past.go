package readmodel

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of the former states that are kept, so that their executions can be repeated. They
// are the latest that were read, and some that old blocks were executed to.
// States share what is equal in them, so that each costs what its block changed.
const (
	maxRecentStates = 32
	maxOldStates    = 32
)

// past is states by height. It is safe for concurrent use.
type past struct {
	mu     sync.Mutex
	recent []*ledger.State // the states read last, by height
	old    []*ledger.State // the longest unused first
}

// keepRead keeps a state that is read now.
func (p *past) keepRead(s *ledger.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, found := slices.BinarySearchFunc(p.recent, s.Height(), byHeight)
	if found {
		p.recent[at] = s
		return
	}
	if len(p.recent) == maxRecentStates {
		if at == 0 {
			return // older than all of them: a node that is behind
		}
		p.recent, at = slices.Delete(p.recent, 0, 1), at-1
	}
	p.recent = slices.Insert(p.recent, at, s)
}

func byHeight(s *ledger.State, h types.Height) int { return cmp.Compare(s.Height(), h) }

// keepState remembers a state that old blocks led to.
func (p *past) keepState(s *ledger.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.IndexFunc(p.old, func(o *ledger.State) bool { return o.Hash() == s.Hash() }); at >= 0 {
		p.old = slices.Delete(p.old, at, at+1)
	} else if len(p.old) == maxOldStates {
		p.old = slices.Delete(p.old, 0, 1)
	}
	p.old = append(p.old, s)
}

// nearestBefore returns the highest kept state below a height that belongs to the chain,
// as final decides by its block; nil without one.
func (p *past) nearestBefore(h types.Height, final func(*ledger.State) bool) (nearest *ledger.State) {
	p.mu.Lock()
	all := append(slices.Clone(p.recent), p.old...)
	p.mu.Unlock()
	slices.SortStableFunc(all, func(a, b *ledger.State) int { return byHeight(b, a.Height()) })
	for _, s := range all {
		if s.Height() < h && final(s) {
			return s
		}
	}
	return nil
}

package api

import (
	"context"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// giveBack frees a nonce whose transaction was dropped: the next one may use it,
// and those that wait for it after the gap continue.
func (n *nonces) giveBack(from types.Address, nonce types.Nonce) {
	s := n.findOrAddSender(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taken, nonce)
}

// forgetNonce is how many blocks a nonce stays taken for a transaction without a
// known end: its caller stopped waiting before it was dropped.
const forgetNonce types.Height = 64

// nonces gives each transaction that the devnet signs a distinct nonce. It lets one
// sender in at a time, so that transactions reach the pool in the order of their
// nonces, and takes a nonce back when its transaction was not admitted.
type nonces struct {
	backend Backend
	mu      sync.Mutex
	senders map[types.Address]*sender
}

type sender struct {
	mu    sync.Mutex
	taken map[types.Nonce]types.Height // admitted, at this height
}

func newNonces(b Backend) *nonces {
	return &nonces{backend: b, senders: map[types.Address]*sender{}}
}

// submitWithNonce signs and submits a transaction under the sender's next free nonce.
// When another transaction used that nonce meanwhile it signs again with the next.
func (n *nonces) submitWithNonce(ctx context.Context, from types.Address, head types.Height,
	sign func(types.Nonce) []byte) (types.Hash, types.Nonce, error) {
	s := n.findOrAddSender(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for range wallet.NonceTries {
		nonce := s.lowestFreeNonce(n.backend.NextNonce(from), head)
		var h types.Hash
		if h, err = n.backend.Submit(ctx, sign(nonce)); err == nil {
			s.taken[nonce] = head
			return h, nonce, nil
		}
		refused := Answer(err)
		if refused == nil {
			return h, nonce, err
		}
		switch refused.Body.Code {
		case refusal.CodeNonceTaken, refusal.CodeNonceTooLow:
			s.taken[nonce] = head // by another
		case refusal.CodeNonceGap:
			clear(s.taken) // those before it were given up
		default:
			return h, nonce, err
		}
	}
	return types.Hash{}, 0, err
}

func (n *nonces) findOrAddSender(a types.Address) *sender {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.senders[a]
	if s == nil {
		s = &sender{taken: map[types.Nonce]types.Height{}}
		n.senders[a] = s
	}
	return s
}

// lowestFreeNonce returns the lowest nonce from next on that is not taken, and forgets final
// or outdated ones.
func (s *sender) lowestFreeNonce(next types.Nonce, head types.Height) types.Nonce {
	for nonce, at := range s.taken {
		if nonce < next || head > at+forgetNonce {
			delete(s.taken, nonce)
		}
	}
	for {
		if _, taken := s.taken[next]; !taken {
			return next
		}
		next++
	}
}

// Reverted informs the server that its network is at an earlier state of itself
// again: nonces taken since are free, and events continue after its latest block.
func (s *Server) Reverted() {
	s.nonces.forgetIdle()
	s.made().page.Revert()
	if v, err := s.backend.Reader(""); err == nil {
		s.feed.revertTo(v.Head().Height)
	}
}

func (n *nonces) forgetIdle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.senders)
}

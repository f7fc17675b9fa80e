package gateway

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// herald announces the head to runners by the pongs that they did not ask for, some at
// a time. A crowd's signatures all at once would keep the crowd's pings waiting.
type herald struct {
	waiting []*peer // runners to which the head is not announced yet, in turn; some may have learned it meanwhile
	share   int     // how many of them in one turn
	next    types.Time
	rest    types.Time // before it there is only one turn
}

// addPeer enters a runner that needs the announcement of the head. A runner that waits for
// its turn since an earlier head gets this head instead. The first turn is heraldTurn
// after the head: what the head has pushed goes before it. In a crowd, the others' turns
// come after spread, when no more pings are due. A runner that pings learns the head in
// the packet of its pong, and a second packet would cost as much as the first.
func (h *herald) addPeer(now types.Time, spread time.Duration, p *peer) {
	if p.unheard {
		return
	}
	p.unheard = true
	if len(h.waiting) == 0 {
		h.next, h.rest = now.Add(heraldTurn), now.Add(spread)
	}
	h.waiting = append(h.waiting, p)
	h.share = max(heraldLeast, (len(h.waiting)+heraldTurns-1)/heraldTurns)
}

// nextTurnTime is when the next turn is, or types.Never.
func (h *herald) nextTurnTime() types.Time {
	if len(h.waiting) == 0 {
		return types.Never
	}
	return h.next
}

// takeTurn takes those of one turn.
func (h *herald) takeTurn(now types.Time) (turn []*peer) {
	for len(h.waiting) > 0 && len(turn) < h.share {
		if p := h.waiting[0]; p.unheard {
			turn = append(turn, p)
		}
		h.waiting = h.waiting[1:]
	}
	if len(h.waiting) == 0 {
		h.waiting = nil // what was taken goes with it
	}
	h.next = max(now.Add(heraldTurn), h.rest)
	return turn
}

// announceHead announces the head to those whose turn it is.
//
// Spec: decision J13.
func (m *Machine) announceHead() {
	if m.now < m.herald.nextTurnTime() {
		return
	}
	for _, p := range m.herald.takeTurn(m.now) {
		m.sendUnaskedPong(p)
	}
}

// sendUnaskedPong sends a runner that is still there the pong that it did not ask for.
func (m *Machine) sendUnaskedPong(p *peer) {
	p.unheard = false
	if p.stage == live {
		m.sendPong(p)
	}
}

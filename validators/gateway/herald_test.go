package gateway

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// pongs counts the pongs that a runner has got, and forgets them.
func (e *end) pongs() int {
	n := len(e.sent[0])
	for range n {
		expect[*push.HeartbeatPong](e, 0)
	}
	return n
}

// TestAHeadIsAnnouncedToACrowdInTurns: one step's signatures are bounded, and all
// runners get the head within heraldTurns turns, except the first of a crowd when
// the pings are over.
func TestAHeadIsAnnouncedToACrowdInTurns(t *testing.T) {
	const many = 3 * heraldLeast
	w := newWorld(t, nil)
	var all []*end
	for i := range many {
		all = append(all, w.live(fmt.Sprint("r", i)))
	}
	heard := func() (n int) {
		for _, e := range all {
			n += e.pongs()
		}
		return n
	}
	w.block(nil)
	if n := heard(); n != 0 {
		t.Fatalf("%d heard of the head at once", n)
	}
	w.pass(heraldTurn)
	spread := defaults().PingSpread()
	for turn := range 3 {
		if n := heard(); n != heraldLeast {
			t.Fatalf("%d heard of the head in turn %d", n, turn)
		}
		rest := heraldTurn
		if turn == 0 {
			rest = spread - heraldTurn
		}
		w.pass(rest - 1)
		if n := heard(); n != 0 {
			t.Fatalf("%d heard of it before their turn", n)
		}
		w.pass(1)
	}
	w.block(nil)
	w.pass(heraldTurn)
	heard()
	last := all[many-1]
	last.say(0, last.pingOf())
	if n := last.pongs(); n != 2 {
		t.Fatalf("%d pongs for a runner that pings before its turn: its own and the head's", n)
	}
	w.block(nil) // before all have heard of the one before
	w.pass(spread + heraldTurns*heraldTurn)
	if n := heard(); n != many {
		t.Fatalf("%d runners were told the newest head exactly once", n)
	}
}

// TestAHeadIsAnnouncedToManyInSixteenTurns bounds the time by the turns, not by how
// many there are.
func TestAHeadIsAnnouncedToManyInSixteenTurns(t *testing.T) {
	var h herald
	for range heraldTurns*heraldLeast + 5 {
		h.addPeer(0, 0, &peer{})
	}
	turns := 0
	for now := h.nextTurnTime(); len(h.waiting) > 0; now = h.nextTurnTime() {
		h.takeTurn(now)
		turns++
	}
	if turns != heraldTurns {
		t.Errorf("%d turns", turns)
	}
}

package validators

import (
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Decision C18: a transaction over which the host fails pays nothing. So nobody can
// send them for ever: each one that failed keeps its sender out twice as long.
func TestWhoSendsWhatHangsIsRefusedLongerEachTime(t *testing.T) {
	var l late
	mallory, alice := types.Address{1}, types.Address{2}
	hash := func(i int) types.Hash { return types.Keccak([]byte{byte(i)}) }
	now, height := types.Time(time.Hour), types.Height(7)
	l.waits(mallory, height)
	if l.refuses(mallory, hash(0), height, now) != nil || !l.isLast(mallory, height) || l.isLast(alice, height) {
		t.Error("one whose transaction waits is refused, or is not last")
	}
	var sent []time.Duration // how long after each failure the next was taken
	for i := range 12 {
		l.failed(mallory, hash(i), height, now)
		began := now
		if why := l.refuses(mallory, hash(100+i), height, now); why == nil || !strings.Contains(why.Error(), "another account") {
			t.Fatalf("%v", why)
		}
		for l.refuses(mallory, hash(100+i), height, now) != nil {
			now = now.Add(leastRefusal)
		}
		sent = append(sent, now.Sub(began))
		if l.refuses(mallory, hash(i), height, now) != ErrLate || l.refuses(alice, hash(200), height, now) != nil {
			t.Fatal("what failed is taken again, or another's is not")
		}
	}
	for i, d := range sent {
		if want := min(leastRefusal<<i, maxRefusal); d != want {
			t.Errorf("after failure %d he was refused for %v, not %v", i+1, d, want)
		}
	}
	height, now = height+lastBlocks, now.Add(2*maxRefusal)
	if l.isLast(mallory, height) || l.refuses(mallory, hash(0), height, now) != nil {
		t.Error("nothing is ever forgotten")
	}
	if l.failed(mallory, hash(0), height, now); l.senders.of[mallory].until != now.Add(leastRefusal) {
		t.Error("what was long ago counts for ever")
	}
}

// The memory is bounded: what comes beyond the bound replaces the oldest.
func TestTheMemoryOfWhoIsLateIsBounded(t *testing.T) {
	var l late
	for i := range 3 * maxRemembered {
		l.failed(types.Address{byte(i), byte(i >> 8)}, types.Keccak([]byte{byte(i), byte(i >> 8)}), 1, 1)
	}
	if len(l.senders.of) != maxRemembered || len(l.senders.order) != maxRemembered || len(l.transactions.of) != maxRemembered {
		t.Errorf("%d senders and %d transactions are remembered", len(l.senders.of), len(l.transactions.of))
	}
}

package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// CIP-1 §6 and decision T22: the window in which a bid is merely ignored.
func TestT22ABidIsRefusedFromTheHeightThatTheWindowCloses(t *testing.T) {
	for _, c := range []struct {
		policy  string
		from    types.Height
		refused bool // at height 7
	}{
		{Fifo, 0, false}, {Fifo, 7, true}, {Fifo, 8, false}, {Fifo, 1, true},
		{EIP1559, 0, true}, {EIP1559, 7, true}, {EIP1559, 8, false},
		{GBA, 0, false}, {GBA, 7, true}, {GBA, 8, false},
		{BiasVCG, 0, false}, {BiasVCG, 7, false}, {BiasFirstPrice, 1, false},
	} {
		for _, bid := range []uint64{0, 5} {
			w := rich()
			w.p.Policy, w.p.BidRejectedFrom = c.policy, c.from
			timer, events, err := w.at(7).Schedule(alice, nil, program.TimerRequest{Height: 9, Bid: ptr(types.WeiOf(bid))})
			if c.refused {
				wantCode(t, err, CodeArgDeprecated)
				continue
			}
			locks := c.policy == BiasVCG || c.policy == BiasFirstPrice
			if err != nil || (len(events) == 0) != locks || locks && timer.Bid != types.WeiOf(bid) || !locks && !timer.Bid.IsZero() {
				t.Errorf("%+v, bid %d: %v, %d events, bid %s kept", c, bid, err, len(events), timer.Bid)
			}
		}
	}
}

// CIP-5 §9.7: "The bid is locked at scheduling time".
func TestSection97TheBidIsLockedFromTheFeePayer(t *testing.T) {
	w := newWorld()
	w.p.Policy = BiasVCG
	w.fund(alice, types.WeiOf(10))
	w.fund(bob, types.WeiOf(100))
	timer, _, err := w.blockNow().Schedule(alice, signedBy(bob, types.WeiOf(60)),
		program.TimerRequest{Height: 9, Bid: ptr(types.WeiOf(60)), FeePayer: &bob})
	if err != nil || timer.Bid != types.WeiOf(60) {
		t.Fatal(timer.Bid, err)
	}
	if w.Balance(alice) != types.WeiOf(10) || w.Balance(bob) != types.WeiOf(40) || w.Balance(types.TimerEscrow) != types.WeiOf(60) {
		t.Fatalf("balances %v", w.balances)
	}
	if got, _ := Get(&w.p, w.kv, w.head, timer.ID); got.Bid != types.WeiOf(60) {
		t.Fatalf("the state says %s", got.Bid)
	}
}

func TestSection97ABidThatCannotBeLockedIsRefusedAndNothingIsDone(t *testing.T) {
	w := newWorld()
	w.p.Policy = BiasFirstPrice
	w.fund(alice, types.WeiOf(59))
	for _, bid := range []types.Wei{types.WeiOf(60), types.MaxWei} {
		_, err := w.schedule(alice, program.TimerRequest{Height: 9, Payload: []byte("x"), Bid: &bid})
		wantCode(t, err, CodeBidNotCovered)
	}
	if len(w.kv.dump()) > 0 || w.Balance(alice) != types.WeiOf(59) || !w.Balance(types.TimerEscrow).IsZero() {
		t.Fatalf("left behind: %v, balances %v", w.kv.dump(), w.balances)
	}
}

// Refusals that come before the bid lock
// nothing.
func TestSection97ARefusedTimerLocksNothing(t *testing.T) {
	w := newWorld()
	w.p.Policy, w.p.MaxTimers = BiasVCG, 0
	w.fund(alice, types.WeiOf(100))
	for _, height := range []types.Height{0, 9} { // not in the future; one timer too many
		if _, err := w.schedule(alice, program.TimerRequest{Height: height, Bid: ptr(types.WeiOf(60))}); err == nil {
			t.Fatal("it was taken")
		}
	}
	if w.Balance(alice) != types.WeiOf(100) {
		t.Fatalf("balances %v", w.balances)
	}
}

func TestSection97ACancelledTimersBidReturnsToWhoLockedIt(t *testing.T) {
	w := newWorld()
	w.p.Policy = BiasVCG
	w.fund(bob, types.WeiOf(100))
	for _, cancel := range []func(types.TimerID) error{
		func(id types.TimerID) error { _, err := w.blockNow().Cancel(alice, id); return err },
		func(id types.TimerID) error { _, _, err := w.blockNow().CancelByGovernance(id); return err },
	} {
		timer, _, err := w.blockNow().Schedule(alice, signedBy(bob, types.WeiOf(60)),
			program.TimerRequest{Height: 9, Bid: ptr(types.WeiOf(60)), FeePayer: &bob})
		if err != nil {
			t.Fatal(err)
		}
		if err := cancel(timer.ID); err != nil {
			t.Fatal(err)
		}
		if w.Balance(bob) != types.WeiOf(100) || !w.Balance(types.TimerEscrow).IsZero() {
			t.Fatalf("balances %v", w.balances)
		}
	}
}

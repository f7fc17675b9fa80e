package crowd

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// shilled plays two bidders of one fire, who bid their worth so many blocks ahead, beside a shill.
func shilled(t *testing.T, ahead uint64, shill *Crowd) (bidders *Crowd) {
	t.Helper()
	none := uint64(0)
	bidders = Bidders("bidders", 2, Bids{Top: 1_000_000, Permille: 1000, Patience: &none, In: ahead})
	crowds := []*Crowd{bidders}
	if shill != nil {
		crowds = append(crowds, shill)
	}
	room := open(t, Config{Seed: 3, Fires: 1, Crowds: crowds, Params: params.Overrides{"cip1.policy": "bias-vcg",
		"cip5.bias_reserve_price": "0", "cip5.bias_lambda_start": "1", "cip5.bias_lambda_min": "1"}})
	run(t, room, 5)
	room.Reset()
	run(t, room, 100)
	if err := room.World.Audit(); err != nil {
		t.Error(err)
	}
	return bidders
}

// A shill that reads bids in time takes all of the worth, but for 2 wei of each fire: its own, and the winner's bias. It never fires.
func TestAShillThatReadsBidsTakesTheWorth(t *testing.T) {
	shill := NewShill("shill", Shill{})
	bidders := shilled(t, 2, shill)
	if most := bidders.Counts.Tips.Add(types.WeiOf(2 * 100)); bidders.Counts.Fired != 100 || most.Less(bidders.Counts.Worth) {
		t.Errorf("bidders have %d fires and pay %s of %s wei, want 100 and all but 2 wei of each", bidders.Counts.Fired, bidders.Counts.Tips,
			bidders.Counts.Worth)
	}
	if shill.Counts.Fired != 0 || shill.Counts.Expired != 100 {
		t.Errorf("the shill fires %d times and %d of its timers expire, want 0 and 100", shill.Counts.Fired, shill.Counts.Expired)
	}
}

// A bid that is first seen in the block before its auction is answered too late.
func TestAShillIsLateForBidsOfTheNextBlock(t *testing.T) {
	alone, beside := shilled(t, 1, nil), shilled(t, 1, NewShill("shill", Shill{}))
	if alone.Counts.Tips.Cmp(beside.Counts.Tips) != 0 || beside.Counts.Fired != 100 {
		t.Errorf("bidders pay %s wei beside a shill that is late, and %s without", beside.Counts.Tips, alone.Counts.Tips)
	}
}

// A guess is a reserve: below it the shill wins and pays what the best bidder bids.
func TestAShillThatGuessesIsAReserve(t *testing.T) {
	half := uint64(500_000)
	shill := NewShill("shill", Shill{Guess: &half})
	bidders := shilled(t, 2, shill)
	if shill.Counts.Fired == 0 || shill.Counts.Tips.IsZero() || shill.Counts.Fired+bidders.Counts.Fired != 100 {
		t.Errorf("the shill fires %d times for %s wei, and bidders %d times, want 100 in all", shill.Counts.Fired, shill.Counts.Tips,
			bidders.Counts.Fired)
	}
	if least := types.WeiOf(half - 1).Mul(bidders.Counts.Fired); bidders.Counts.Tips.Less(least) {
		t.Errorf("bidders pay %s wei for %d fires, want at least the guess for each", bidders.Counts.Tips, bidders.Counts.Fired)
	}
}

package crowd

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
)

// auctionParams are those of an auction of CIP-5 §9 without a bias and a reserve.
func auctionParams(policy string) params.Overrides {
	return params.Overrides{"cip1.policy": policy, "cip5.bias_reserve_price": "0", "cip5.bias_lambda_start": "1", "cip5.bias_lambda_min": "1"}
}

// answering plays one that adapts beside static bidders that bid what a fire is worth.
func answering(t *testing.T, policy string, others int) (share, earned float64) {
	t.Helper()
	const blocks, top = 400, 1_000_000
	none := uint64(0)
	adapts := &BestResponse{Memory: 400, Step: 10}
	one := Bidders("one", 1, Bids{Top: top, Permille: 1000, Patience: &none, Adapts: adapts})
	rest := Bidders("rest", others, Bids{Top: top, Permille: 1000, Patience: &none})
	room := open(t, Config{Seed: 3, Fires: 1, Crowds: []*Crowd{one, rest}, Params: auctionParams(policy)})
	run(t, room, 400)
	room.Reset()
	run(t, room, blocks)
	sum, count := adapts.Shares()
	if count != blocks {
		t.Errorf("%d shares were chosen in %d blocks", count, blocks)
	}
	gain := new(big.Rat).SetFrac(one.Counts.Worth.Sub(one.Counts.Tips).Big(), big.NewInt(blocks*top))
	earned, _ = gain.Float64()
	return float64(sum) / float64(count*permille), earned
}

// By the second price no share is better than the whole worth. By the first the best answer to four who bid it is 4/5.
func TestABestResponseIsTheOneOfTheRule(t *testing.T) {
	if share, _ := answering(t, "bias-vcg", 4); share != 1 {
		t.Errorf("by the second price it bids %.3f of its worth, want all", share)
	}
	share, earned := answering(t, "bias-first-price", 4)
	if want := 0.2 * math.Pow(0.8, 4) / 6; math.Abs(share-0.8) > 0.1 || math.Abs(earned-want) > 0.01 {
		t.Errorf("by the first price it bids %.3f of its worth and earns %.4f a block, want 0.8 and %.4f", share, earned, want)
	}
}

// What is remembered is as many auctions as were said: the sums of a memory are those of what it has seen.
func TestAMemoryForgetsTheOldest(t *testing.T) {
	b := &BestResponse{Memory: 3, Step: 100}
	shares := []uint64{1000}
	b.takeShares(shares)
	m := &market{fires: 1, paysOwnBid: true}
	for _, hurdle := range []uint64{900, 100, 150, 120} { // of a value of 1,000
		b.answerAuction(0, auctionSeen{1000, hurdle}, m)
	}
	if shares[0] != 200 {
		t.Errorf("it bids %d thousandths, want 200: the lowest that beats 100, 150 and 120", shares[0])
	}
	for i, earned := range b.members[0].earned {
		want := int64(0)
		for _, saw := range b.members[0].seen {
			want += m.earningsOf(uint64(i)*b.Step, saw)
		}
		if earned != want {
			t.Errorf("%d thousandths would have earned %d, and %d is remembered", i*100, want, earned)
		}
	}
}

// A reserve price is known to who adapts: where it holds, a bid below it wins nothing; as written it is a first price below it.
func TestABestResponseKnowsTheReserve(t *testing.T) {
	for holds, want := range map[bool]uint64{true: 900, false: 100} {
		b := &BestResponse{Memory: 1, Step: 100}
		shares := []uint64{900}
		b.takeShares(shares)
		b.answerAuction(0, auctionSeen{1000, 0}, &market{fires: 1, reserve: 500, reserveHolds: holds})
		if shares[0] != want {
			t.Errorf("holds %v: it bids %d thousandths, want %d", holds, shares[0], want)
		}
	}
}

func TestABestResponseNeedsAnAuction(t *testing.T) {
	none := uint64(0)
	crowd := Bidders("one", 1, Bids{Top: 1000, Permille: 1000, Patience: &none, Adapts: &BestResponse{Memory: 1, Step: 10}})
	if _, err := New(Config{Seed: 1, Fires: 1, Crowds: []*Crowd{crowd}}); !errors.Is(err, errNoAuction) {
		t.Errorf("got %v, want that it needs an auction", err)
	}
}

// A kept value is drawn once: all fires of the one member are worth the same.
func TestAKeptValueIsDrawnOnce(t *testing.T) {
	none := uint64(0)
	one := Bidders("one", 1, Bids{Top: 1_000_000, Permille: 1000, Patience: &none, AreKept: true})
	room := open(t, Config{Seed: 1, Fires: 1, Crowds: []*Crowd{one}, Params: auctionParams("bias-first-price")})
	run(t, room, 21)
	if one.Counts.Fired != 20 || one.Counts.Worth.Cmp(one.Counts.Tips) != 0 {
		t.Fatalf("%d fires", one.Counts.Fired)
	}
	each := one.Counts.Worth.Div(20)
	if each.Mul(20) != one.Counts.Worth || each.IsZero() {
		t.Errorf("20 fires are worth %s together, want 20 times one value", one.Counts.Worth)
	}
}

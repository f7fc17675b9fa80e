package scheduler

import (
	"math/big"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// bidders are eight actors, each of which bids twice as much as the one before, for
// one timer at a time, if one of them fires in a block. The result is each actor's
// share per token of its bid over the blocks, under λ in units of 2^-16.
func bidders(t *testing.T, lambda uint64, blocks int) (perBid []*big.Rat) {
	t.Helper()
	w := auctioneer(BiasVCG)
	w.p.MaxFiresPerBlock, w.p.BiasControlBlocks = 1, 1<<40 // λ stays
	w.p.BiasLambdaStart, w.p.BiasLambdaMin, w.p.BiasLambdaMax = lambda, lambda, lambda
	bids, fires := make([]uint64, 8), make([]int64, 8)
	who := map[types.TimerID]int{}
	offer := func(i int) {
		who[w.bid(t, types.Address{byte(i + 1)}, w.now()+1, bids[i], 1000).ID] = i
	}
	for i := range bids {
		bids[i] = 1000 << i
		w.fund(types.Address{byte(i + 1)}, types.WeiOf(1<<62))
		offer(i)
	}
	for range blocks {
		w.orders = nil
		w.block()
		for _, order := range w.orders {
			i := who[order.Timer.ID]
			fires[i]++
			offer(i)
		}
	}
	for i := range bids {
		perBid = append(perBid, big.NewRat(fires[i], int64(bids[i])))
	}
	return perBid
}

// spread is the variance divided by the square of the mean, so that the total does not
// matter.
func spread(of []*big.Rat) float64 {
	n, sum, squares := big.NewRat(int64(len(of)), 1), new(big.Rat), new(big.Rat)
	for _, x := range of {
		sum.Add(sum, x)
		squares.Add(squares, new(big.Rat).Mul(x, x))
	}
	mean := new(big.Rat).Quo(sum, n)
	variance := squares.Sub(squares.Quo(squares, n), new(big.Rat).Mul(mean, mean))
	f, _ := variance.Quo(variance, mean.Mul(mean, mean)).Float64()
	return f
}

// Spec: CIP-5 §9.6. The bias is a lever, as the section says, and a λ lies between too
// little and too much of it (finding F57).
func TestSection96TheVarianceIsLeastBetweenTooLittleBiasAndTooMuch(t *testing.T) {
	const blocks = 2000
	little, some, much := spread(bidders(t, 64, blocks)), spread(bidders(t, 4096, blocks)), spread(bidders(t, 65536, blocks))
	t.Logf("the variance by the square of its mean: λ 1/1024 %.3f, 1/16 %.3f, 1 %.3f", little, some, much)
	if some >= little/2 || some >= much/1.5 {
		t.Error("1/16 is no better than the bounds of λ")
	}
}

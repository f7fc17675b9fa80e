package crowded

import (
	"math"
	"math/big"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
)

// played are the figures of a crowd that adapts, over some blocks of a world.
type played struct {
	fired  uint64
	tips   types.Wei
	shares uint64 // chosen
}

const top = 1_000_000 // wei, the highest value

func play(t *testing.T, open crowd.Opener) played {
	t.Helper()
	none := uint64(0)
	adapts := &crowd.BestResponse{Memory: 100, Step: 10}
	one := crowd.Bidders("bidders", 3, crowd.Bids{Top: top, Permille: 1000, Patience: &none, Adapts: adapts})
	room, err := crowd.New(crowd.Config{Seed: 2, Fires: 1, Crowds: []*crowd.Crowd{one}, Open: open, Params: params.Overrides{
		"cip1.policy": "bias-first-price", "cip5.bias_reserve_price": "0", "cip5.bias_lambda_start": "1", "cip5.bias_lambda_min": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer room.World.Close()
	if err := room.Run(100); err != nil {
		t.Fatal(err)
	}
	room.Reset()
	if err := room.Run(200); err != nil {
		t.Fatal(err)
	}
	if err := room.World.Audit(); err != nil {
		t.Fatal(err)
	}
	_, shares := adapts.Shares()
	return played{room.Fired(), room.Tips(), shares}
}

// Bidders that adapt fire as often on a network of four validators as in the bare world, and bring its proposers as much, but for the few
// blocks that come late after a view without one.
func TestANetworkIsAsTheBareWorld(t *testing.T) {
	bare, network := play(t, nil), play(t, Open)
	revenue := func(p played) float64 {
		f, _ := new(big.Rat).SetFrac(p.tips.Big(), big.NewInt(200*top)).Float64()
		return f
	}
	t.Logf("bare %+v, network %+v", bare, network)
	if bare.fired != 200 || network.fired < 190 || math.Abs(revenue(bare)-revenue(network)) > 0.05 {
		t.Errorf("%d fires bring %.3f in the bare world, and on a network %d bring %.3f", bare.fired, revenue(bare), network.fired,
			revenue(network))
	}
	if network.shares < 3*190 {
		t.Errorf("the members chose %d shares on the network, want three in nearly each of 200 blocks", network.shares)
	}
}

package scheduler

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/exact"
)

// fixedOf reads a fraction; ok is false where 64 fraction bits do not hold it.
func fixedOf(t *testing.T, fraction string) (f exact.Fixed, ok bool) {
	t.Helper()
	r, good := new(big.Rat).SetString(fraction)
	if !good {
		t.Fatalf("%q is no fraction", fraction)
	}
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64)))
	if !scaled.IsInt() || scaled.Num().BitLen() > 128 {
		return f, false
	}
	whole, frac := new(big.Int).DivMod(scaled.Num(), new(big.Int).Lsh(big.NewInt(1), 64), new(big.Int))
	return exact.Fixed{Whole: whole.Uint64(), Frac: frac.Uint64()}, true
}

func TestVectorsOfBias(t *testing.T) {
	tried := 0
	for _, c := range vectors.Cases[struct {
		Lambda string
		N      uint64 `json:",string"`
		Bias   types.Wei
	}](t, "cip5/9.2-exponential.json") {
		rate, ok := fixedOf(t, c.Lambda)
		if !ok {
			continue // our λ has 64 fraction bits, as the vectors' notes foresee
		}
		tried++
		if got := biasOf(rate, c.N); got.Cmp(c.Bias.Big()) != 0 {
			t.Errorf("e^(%d × %s): %s, want %s", c.N, c.Lambda, got, c.Bias)
		}
	}
	if tried < 150 {
		t.Fatalf("only %d cases are multiples of 2^-64", tried)
	}
}

func TestVectorsOfLambda(t *testing.T) {
	type group struct {
		Count uint64 `json:",string"`
		Paid  types.Wei
	}
	for _, c := range vectors.Cases[struct {
		Name        string
		FirstHeight uint64 `json:"first_height,string"`
		LastHeight  uint64 `json:"last_height,string"`
		Lambda      string
		Blocks      []struct {
			Height        uint64    `json:",string"`
			LongestWait   uint64    `json:"longest_wait,string"`
			HighestBid    types.Wei `json:"highest_bid"`
			Waited, Fresh group
		}
		Rates []struct {
			Height   uint64 `json:",string"`
			Up, Down bool
			Lambda   string
		}
	}](t, "cip5/9.3-lambda.json") {
		p := newWorld().p
		rate, ok := fixedOf(t, c.Lambda)
		if !ok {
			t.Fatalf("%s: λ %s", c.Name, c.Lambda)
		}
		at := control{Rate: rate}
		for h := c.FirstHeight; h <= c.LastHeight; h++ {
			var longest uint64
			var highest types.Wei
			for _, b := range c.Blocks {
				if b.Height == h {
					longest, highest = b.LongestWait, b.HighestBid
					at.Waited = revenue{Winners: at.Waited.Winners + b.Waited.Count, Paid: at.Waited.Paid.Add(b.Waited.Paid)}
					at.Fresh = revenue{Winners: at.Fresh.Winners + b.Fresh.Count, Paid: at.Fresh.Paid.Add(b.Fresh.Paid)}
				}
			}
			if nextPeriodEnd(&p, types.Height(h)) != types.Height(h) {
				continue
			}
			want := c.Rates[0]
			c.Rates = c.Rates[1:]
			moved := at.moveRate(&p, longest, highest)
			lambda, _ := fixedOf(t, want.Lambda)
			if want.Height != h || moved.Up != want.Up || moved.Down != want.Down || at.Rate != lambda {
				t.Errorf("%s at %d: up %v, down %v, λ %v; want %+v", c.Name, h, moved.Up, moved.Down, at.Rate, want)
			}
		}
		if len(c.Rates) > 0 {
			t.Errorf("%s: %d rates are left", c.Name, len(c.Rates))
		}
	}
}

// auctionCase is a case of 9.5-auction.json.
type auctionCase struct {
	Name     string
	Lambda   string
	Budget   uint64 `json:",string"`
	Fires    uint64 `json:"max_fires_per_block,string"`
	Actor    uint64 `json:"max_fires_per_actor,string"`
	Reserve  types.Wei
	Timers   []auctionTimer
	Order    []uint64Text
	RunnerUp *uint64Text `json:"runner_up"`
	Winners  []struct {
		Seq        uint64Text
		AsWritten  types.Wei `json:"vcg"`
		FirstPrice types.Wei `json:"first_price"`
		PerCycle   types.Wei `json:"per_cycle"`
	}
	LeftOut []struct {
		Seq    uint64Text
		Reason string
	} `json:"left_out"`
}

type auctionTimer struct {
	Seq    uint64Text
	Actor  types.Address
	Height int64 `json:",string"`
	Bid    types.Wei
	N      uint64     `json:",string"`
	Limit  uint64Text `json:"gas_limit"`
}

// uint64Text is a number in a JSON string, also within a list.
type uint64Text uint64

func (n *uint64Text) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	*n = uint64Text(v)
	return err
}

// The order of all offers, who wins, who runs up and why the others wait.
func TestVectorsOfAuctionOrders(t *testing.T) {
	for _, c := range vectors.Cases[auctionCase](t, "cip5/9.5-auction.json") {
		w := newWorld()
		w.p.LaneTimerCycles, w.p.MaxFiresPerBlock, w.p.MaxFiresPerActor = types.Cycles(c.Budget), c.Fires, c.Actor
		rate, _ := fixedOf(t, c.Lambda)
		actors := make(map[types.Address]int)
		var offers []offer
		slices.SortFunc(c.Timers, func(a, b auctionTimer) int { return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(a.Seq, b.Seq)) })
		for at, v := range c.Timers {
			if _, known := actors[v.Actor]; !known {
				actors[v.Actor] = len(actors)
			}
			grown := biasOf(rate, v.N)
			grownTo := exact.WideOf(grown)
			offers = append(offers, newOffer(at, actors[v.Actor], types.Cycles(v.Limit), v.Bid, grown, &grownTo))
		}
		held := newAuction(&w.p, offers, len(actors))
		var order, won []uint64Text
		waiting := make(map[uint64Text]string)
		for i, o := range held.offers {
			seq := c.Timers[o.at].Seq
			order = append(order, seq)
			if held.lost[i] == "" {
				won = append(won, seq)
			} else {
				waiting[seq] = held.lost[i]
			}
		}
		if !slices.Equal(order, c.Order) {
			t.Errorf("%s: order %v, want %v", c.Name, order, c.Order)
		}
		if (held.runnerUp < 0) != (c.RunnerUp == nil) || c.RunnerUp != nil && order[held.runnerUp] != *c.RunnerUp {
			t.Errorf("%s: runner-up %d of the order %v, want %v", c.Name, held.runnerUp, order, c.RunnerUp)
		}
		if len(won) != len(c.Winners) || len(waiting) != len(c.LeftOut) {
			t.Errorf("%s: %v win, want %v", c.Name, won, c.Winners)
		}
		for _, v := range c.LeftOut {
			if waiting[v.Seq] != v.Reason {
				t.Errorf("%s: %d waits for %q, want %q", c.Name, v.Seq, waiting[v.Seq], v.Reason)
			}
		}
	}
}

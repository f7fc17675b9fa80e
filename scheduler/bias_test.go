package scheduler

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/exact"
)

// auctioneer is a world with an auction whose cycles and cells cost nothing.
func auctioneer(policy string) *world {
	w := rich()
	w.p.Policy, w.fees = policy, Fees{}
	return w
}

func (w *world) bid(t *testing.T, actor types.Address, at types.Height, bid uint64, limit types.Cycles) types.Timer {
	t.Helper()
	return w.must(t, actor, program.TimerRequest{Height: at, Bid: ptr(types.WeiOf(bid)), GasLimit: &limit})
}

// total is all the money there is.
func (w *world) total() (sum types.Wei) {
	for _, held := range w.balances {
		sum = sum.Add(held)
	}
	return sum
}

// drawAuction draws timers that compete for little room, with bids that are
// close to each other, to bias, or to nothing.
func drawAuction(t *rapid.T) (p auctionRules, timers []auctionTimer) {
	p = auctionRules{
		budget: rapid.Uint64Range(1, 20).Draw(t, "budget") * 1000, fires: rapid.Uint64Range(1, 6).Draw(t, "fires"),
		actor: rapid.Uint64Range(1, 4).Draw(t, "fires an actor"), reserve: rapid.SampledFrom([]uint64{0, 3, 1000}).Draw(t, "reserve"),
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "timers") {
		timers = append(timers, auctionTimer{
			Seq: uint64Text(i), Actor: types.Address{0: 0xaa, 1: byte(rapid.IntRange(0, 3).Draw(t, "actor"))},
			Bid:   types.WeiOf(rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64Range(0, 5000)).Draw(t, "bid")),
			N:     rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 150)).Draw(t, "n"),
			Limit: uint64Text(rapid.OneOf(rapid.Uint64Range(1, 9), rapid.Uint64Range(1000, 9000)).Draw(t, "limit")),
		})
	}
	return p, timers
}

type auctionRules struct{ budget, fires, actor, reserve uint64 }

// hold holds the auction of timers by p, at λ = 1/16.
func (p auctionRules) hold(timers []auctionTimer, payment string) *auction {
	defaults := newWorld().p
	rules := &defaults
	rules.Policy, rules.BiasPayment, rules.BiasReservePrice = BiasVCG, payment, types.WeiOf(p.reserve)
	rules.LaneTimerCycles, rules.MaxFiresPerBlock, rules.MaxFiresPerActor = types.Cycles(p.budget), p.fires, p.actor
	var offers []offer
	for at, v := range timers {
		grown := biasOf(rateOf(4096), v.N)
		grownTo := exact.WideOf(grown)
		offers = append(offers, newOffer(at, int(v.Actor[1]), types.Cycles(v.Limit), v.Bid, grown, &grownTo))
	}
	return newAuction(rules, offers, 4)
}

// place returns the position among the winners of the timer at a place of held, or
// -1.
func (a *auction) place(at int) int {
	return slices.IndexFunc(a.winners, func(i int) bool { return a.offers[i].at == at })
}

// CIP-5 §§9.2, 9.4 in fractions: no float, no rounding, no cleverness.
func TestSection92TheOrderAndTheWinnersAreThoseOfTheFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, timers := drawAuction(t)
		held := rules.hold(timers, "runner_up")
		score := func(at int) *big.Rat {
			sum := new(big.Int).Add(new(big.Int).Lsh(timers[at].Bid.Big(), 64), biasOf(rateOf(4096), timers[at].N))
			return new(big.Rat).SetFrac(sum, new(big.Int).SetUint64(uint64(timers[at].Limit)))
		}
		left := make([]int, len(timers))
		for i := range left {
			left[i] = i
		}
		cycles, fires, actors := rules.budget, rules.fires, make(map[types.Address]uint64)
		for place := 0; len(left) > 0; place++ {
			best := 0
			for i := range left {
				if score(left[i]).Cmp(score(left[best])) > 0 {
					best = i
				}
			}
			at := left[best]
			left = slices.Delete(left, best, best+1)
			v := timers[at]
			wins := fires > 0 && uint64(v.Limit) <= cycles && actors[v.Actor] < rules.actor
			if wins {
				cycles, fires = cycles-uint64(v.Limit), fires-1
				actors[v.Actor]++
			}
			if held.offers[place].at != at || wins != (held.lost[place] == "") {
				t.Fatalf("place %d is %d (%q), want %d, which wins: %v", place, held.offers[place].at, held.lost[place], at, wins)
			}
		}
	})
}

// Decision T24: "at least the reserve price (1,000 wei), at most its bid".
func TestT24APaymentIsAtLeastTheReservePriceAndAtMostTheBid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, timers := drawAuction(t)
		for _, payment := range []string{"runner_up", PaymentPerCycle} {
			held := rules.hold(timers, payment)
			for i, place := range held.winners {
				bid, pays := held.offers[place].bid, held.paymentOf(i)
				if bid.Less(pays) || pays.Less(bid.Min(types.WeiOf(rules.reserve))) {
					t.Fatalf("%s: winner %d bid %s and pays %s, reserve %d", payment, i, bid, pays, rules.reserve)
				}
			}
		}
	})
}

// The critical value: with it the winner still wins, with a wei less it does
// not, whatever it was going to pay.
func TestT24PerCycleIsTheLeastBidThatStillWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, timers := drawAuction(t)
		held := rules.hold(timers, PaymentPerCycle)
		for i, place := range held.winners {
			at, least := held.offers[place].at, held.criticalBid(i)
			with := func(bid types.Wei) int {
				others := slices.Clone(timers)
				others[at].Bid = bid
				return rules.hold(others, PaymentPerCycle).place(at)
			}
			if with(least) < 0 || !least.IsZero() && with(least.Sub(types.WeiOf(1))) >= 0 {
				t.Fatalf("%d wins with %s: %v, with a wei less: %v", at, least, with(least) >= 0, with(least.Sub(types.WeiOf(1))) >= 0)
			}
		}
	})
}

// CIP-5 §9.1: "ideally, bid your true valuation". Under per_cycle, for an actor
// with one timer due and without a reserve price, no other bid gains more.
func TestSection91UnderPerCycleNoLieGainsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, timers := drawAuction(t)
		rules.reserve = 0
		if len(timers) == 0 {
			return
		}
		at := rapid.IntRange(0, len(timers)-1).Draw(t, "liar")
		worth := timers[at].Bid
		gain := func(bid types.Wei) *big.Int {
			others := slices.Clone(timers)
			others[at].Bid = bid
			held := rules.hold(others, PaymentPerCycle)
			place := held.place(at)
			if place < 0 {
				return new(big.Int)
			}
			return new(big.Int).Sub(worth.Big(), held.paymentOf(place).Big())
		}
		lie := types.WeiOf(rapid.Uint64Range(0, 10_000).Draw(t, "lie"))
		if gain(lie).Cmp(gain(worth)) > 0 {
			t.Fatalf("worth %s, gaining %s by the truth and %s by saying %s", worth, gain(worth), gain(lie), lie)
		}
	})
}

// CIP-5 §9.7, decision T24: the bid is "refunded (minus payment)" when its timer
// ends. The escrow holds what pending timers bid, to the wei, after every call
// and every block, and no wei is made or lost.
func TestSection97TheEscrowHoldsTheBidsOfWhatIsPending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := auctioneer(rapid.SampledFrom([]string{BiasVCG, BiasFirstPrice}).Draw(t, "policy"))
		w.p.LaneTimerCycles, w.p.MaxFiresPerBlock, w.p.MaxTTLBlocks, w.p.BiasControlBlocks = 3000, 2, 6, 3
		w.p.BiasPayment = rapid.SampledFrom([]string{"runner_up", PaymentPerCycle}).Draw(t, "payment")
		w.p.GCCyclesPerBlock = w.p.GCCyclesPerTimer
		w.fund(alice, types.WeiOf(10_000))
		w.fund(bob, types.WeiOf(10_000))
		all := w.total()
		var ids []types.TimerID
		w.handle = func(w *world, o Fire) Fired {
			if len(ids) > 0 && o.Timer.Seq%3 == 0 { // a fire that cancels, perhaps what was to be next
				_, _ = w.blockNow().Cancel(o.Timer.Actor, ids[len(ids)-1])
			}
			return Fired{Result: types.StatusOK, Cycles: min(o.Cycles, types.Cycles(o.Timer.Seq)*300)}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			actor := rapid.SampledFrom([]types.Address{alice, bob}).Draw(t, "actor")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				timer, err := w.schedule(actor, program.TimerRequest{Height: w.now() + types.Height(rapid.Uint64Range(1, 3).Draw(t, "in")),
					GasLimit: ptr(types.Cycles(rapid.SampledFrom([]uint64{1000, 1500, 4000}).Draw(t, "limit"))),
					Bid:      ptr(types.WeiOf(rapid.Uint64Range(0, 4000).Draw(t, "bid")))})
				if err == nil {
					ids = append(ids, timer.ID)
				}
			case 2:
				if len(ids) > 0 {
					_, _ = w.blockNow().Cancel(actor, rapid.SampledFrom(ids).Draw(t, "id"))
				}
			case 3:
				w.block()
			}
			if held, locked := w.Balance(types.TimerEscrow), LockedBids(&w.p, w.kv); held != locked || w.total() != all {
				t.Fatalf("the escrow holds %s and pending timers bid %s; in all there are %s of %s wei", held, locked, w.total(), all)
			}
		}
	})
}

// CIP-5 §9.4: both caps, and the third bound, the budget, by limits and not by use.
func TestSection94CapsAndBudgetBoundTheFiresOfABlock(t *testing.T) {
	w := auctioneer(BiasVCG)
	for i := range 300 {
		w.bid(t, addressOf(fmt.Sprint("quiet", i)), 2, 0, 1000)
	}
	for range 100 {
		w.bid(t, alice, 2, 9000, 1000)
	}
	w.block()
	out := w.block()
	fires := make(map[types.Address]int)
	for _, o := range w.orders {
		fires[o.Timer.Actor]++
	}
	if len(w.orders) != 256 || fires[alice] != 32 || out.Examined != 400 {
		t.Fatalf("%d fires, %d of them alice's", len(w.orders), fires[alice])
	}

	w = auctioneer(BiasVCG)
	w.handle = func(*world, Fire) Fired { return Fired{Result: types.StatusOK, Cycles: 1} }
	for range 5 {
		w.bid(t, alice, 2, 9000, 550_000)
	}
	w.block()
	wantStatuses(t, w.block(), "fired fired fired pending:lane_full pending:lane_full")
}

// "Timers that don't make the cut are deferred to the next block with n += 1".
func TestSection94WhoWaitsGrowsUntilItGoesBeforeAHigherBid(t *testing.T) {
	w := auctioneer(BiasVCG)
	w.p.MaxFiresPerBlock, w.p.BiasControlBlocks = 1, 1000 // λ stays
	patient := w.bid(t, alice, 2, 0, 1000)
	for n := 0; ; n++ {
		w.bid(t, bob, w.now()+1, 1000, 1000)
		w.block()
		if len(w.orders) > 0 && w.orders[0].Timer.ID == patient.ID {
			// e^(n/16) first exceeds 1,000 wei and the rival's own bias of 1 at n = 111.
			if w.orders[0].Timer.Deferrals != 111 {
				t.Fatalf("it fired after %d blocks", w.orders[0].Timer.Deferrals)
			}
			return
		}
		if n > 200 {
			t.Fatal("it never fired")
		}
	}
}

// A winner that is gone at its turn leaves its room empty, and its rivals' price
// as it was.
func TestAWinnerCancelledByAnEarlierFirePaysNothing(t *testing.T) {
	w := auctioneer(BiasFirstPrice)
	w.bid(t, alice, 2, 9000, 1000)
	second := w.bid(t, alice, 2, 8000, 1000)
	w.handle = func(w *world, _ Fire) Fired {
		change, err := w.blockNow().Cancel(alice, second.ID)
		if err != nil {
			t.Fatal(err)
		}
		return Fired{Result: types.StatusOK, Changes: []types.TimerChange{change}}
	}
	w.block()
	wantStatuses(t, w.block(), "fired cancelled:cancelled_by_owner")
	if !w.Balance(types.TimerEscrow).IsZero() || w.Balance(proposer) != types.WeiOf(9000) {
		t.Fatalf("balances %v", w.balances)
	}
}

// Governance may take the auction away while bids are locked: each returns whole
// when its timer ends (decision T25).
func TestABidLockedInAnAuctionReturnsUnderAnyPolicy(t *testing.T) {
	for _, policy := range []string{Fifo, EIP1559, GBA} {
		w := auctioneer(BiasVCG)
		w.bid(t, alice, 2, 9000, 1000)
		cancelled := w.bid(t, alice, 2, 8000, 1000)
		expiring := w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(1000)), ExpiresAt: ptr(types.Height(2)),
			Bid: ptr(types.WeiOf(7000))})
		before := w.Balance(alice)
		w.block()
		w.p.Policy, w.p.LaneTimerCycles = policy, 1000
		w.handle = func(*world, Fire) Fired { return Fired{Result: types.StatusOK, Cycles: 1000} }
		w.block()
		_, _ = w.blockNow().Cancel(alice, cancelled.ID) // unless it fired
		w.block()
		w.block()
		if _, pending := Get(&w.p, w.kv, w.head, expiring.ID); pending || !w.Balance(types.TimerEscrow).IsZero() ||
			w.Balance(alice) != before.Add(types.WeiOf(24_000)) {
			t.Errorf("%s: the escrow holds %s, alice has %s and had %s", policy, w.Balance(types.TimerEscrow), w.Balance(alice), before)
		}
	}
}

// The control loop of §9.3 and decisions T24, T27, from blocks' reports, in
// floating point of 640 bits.
func TestSection93TheLoopIsTheTwins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := auctioneer(rapid.SampledFrom([]string{BiasVCG, BiasFirstPrice}).Draw(t, "policy"))
		every := rapid.Uint64Range(1, 6).Draw(t, "every")
		w.p.BiasControlBlocks, w.p.MaxFiresPerBlock, w.p.BiasReservePrice = every, rapid.Uint64Range(1, 3).Draw(t, "fires"), types.WeiOf(1)
		lambda := new(big.Int).Lsh(big.NewInt(1), 60)
		least, greatest := new(big.Int).Lsh(big.NewInt(1), 54), new(big.Int).Lsh(big.NewInt(1), 64)
		move := func(n int64) {
			lambda.Mul(lambda, big.NewInt(n)).Rsh(lambda, 3)
			if lambda.Cmp(least) < 0 {
				lambda.Set(least)
			}
			if lambda.Cmp(greatest) > 0 {
				lambda.Set(greatest)
			}
		}
		var waited, fresh []*big.Int
		for range rapid.IntRange(1, 40).Draw(t, "blocks") {
			for range rapid.IntRange(0, 3).Draw(t, "new") {
				if _, err := w.schedule(alice, program.TimerRequest{Height: w.now() + 1, GasLimit: ptr(types.Cycles(1000)),
					Bid: ptr(types.WeiOf(rapid.SampledFrom([]uint64{0, 1, 2, 3, 5, 8, 100}).Draw(t, "bid")))}); err != nil {
					t.Fatal(err)
				}
			}
			longest, highest := uint64(0), big.NewInt(0)
			for _, d := range CalendarOf(&w.p, w.kv).Due(w.now(), 1000) {
				longest = max(longest, uint64(w.now()-d.Height))
				if d.Bid.Big().Cmp(highest) > 0 {
					highest = d.Bid.Big()
				}
			}
			for _, c := range w.block().Changes {
				switch {
				case c.Status != types.TimerFired:
				case c.Timer.Deferrals > 0:
					waited = append(waited, c.TipPaid.Big())
				default:
					fresh = append(fresh, c.TipPaid.Big())
				}
			}
			if uint64(w.head)%every > 0 {
				continue
			}
			whole, frac := new(big.Int).DivMod(lambda, greatest, new(big.Int))
			x, _ := exact.Fixed{Whole: whole.Uint64(), Frac: frac.Uint64()}.Times(longest)
			thrice := new(big.Float).Mul(floatExp(x), big.NewFloat(3))
			mean := func(paid []*big.Int) *big.Rat {
				sum := new(big.Int)
				for _, p := range paid {
					sum.Add(sum, p)
				}
				return new(big.Rat).SetFrac(sum, big.NewInt(int64(len(paid))))
			}
			if longest > 0 && thrice.Cmp(new(big.Float).SetInt(highest)) > 0 {
				move(9)
			}
			if len(waited) > 0 && len(fresh) > 0 && mean(waited).Cmp(new(big.Rat).Quo(mean(fresh), big.NewRat(2, 1))) < 0 {
				move(7)
			}
			waited, fresh = nil, nil
			if got, want := biasLambda(&w.p, w.kv), new(big.Rat).SetFrac(lambda, greatest).String(); got != want {
				t.Fatalf("block %d: λ = %s, want %s", w.head, got, want)
			}
		}
	})
}

// A bid of all the money there can be: scores take 321 bits, and nothing wraps.
func TestHostileTheGreatestBidIsOrderedAndPaid(t *testing.T) {
	for _, payment := range []string{"runner_up", PaymentPerCycle} {
		w := auctioneer(BiasVCG)
		w.p.MaxFiresPerBlock, w.p.BiasPayment = 1, payment
		w.balances = map[types.Address]types.Wei{}
		w.fund(alice, types.MaxWei)
		w.must(t, alice, program.TimerRequest{Height: 2, GasLimit: ptr(types.Cycles(550_000)), Bid: &types.MaxWei})
		w.bid(t, bob, 2, 0, 1000)
		w.block()
		w.block()
		if len(w.orders) != 1 || w.orders[0].Timer.Actor != alice || w.orders[0].Payment != types.WeiOf(1000) {
			t.Fatalf("%s: %+v", payment, w.orders)
		}
		if w.Balance(alice) != types.MaxWei.Sub(types.WeiOf(1000)) {
			t.Fatalf("alice holds %s", w.Balance(alice))
		}
	}
}

// λ at its extremes, and a wait of ten million blocks: the bias is at its maximum,
// and timers that have reached it are ordered by bid, then age.
func TestHostileSaturatedWaitsGoByBidThenAge(t *testing.T) {
	for _, units := range []uint64{1, 64, 65_536, 1_048_576} {
		w := auctioneer(BiasVCG)
		w.p.BiasLambdaStart, w.p.BiasLambdaMin, w.p.BiasLambdaMax = units, units, units
		w.p.MaxFiresPerBlock, w.p.MaxTTLBlocks = 1, 1<<40
		young := w.bid(t, alice, 4, 7, 1000)
		old := w.bid(t, alice, 2, 7, 1000)
		high := w.bid(t, bob, 3, 8, 1000)
		w.head = 10_000_000
		for _, want := range []types.Timer{high, old, young} {
			if w.block(); len(w.orders) != 1 || w.orders[0].Timer.ID != want.ID {
				t.Fatalf("λ = %d/65,536: %+v", units, w.orders)
			}
		}
	}
}

// Parameters change at a height: λ is held within the bounds of the block.
func TestT24LambdaStaysWithinTheBoundsThatHold(t *testing.T) {
	w := auctioneer(BiasVCG)
	if got := biasLambda(&w.p, w.kv); got != "1/16" {
		t.Fatal(got)
	}
	w.p.BiasLambdaMin = 8192
	if got := biasLambda(&w.p, w.kv); got != "1/8" {
		t.Fatal(got)
	}
	w.p.BiasLambdaMin, w.p.BiasLambdaMax = 64, 1024
	if got := biasLambda(&w.p, w.kv); got != "1/64" {
		t.Fatal(got)
	}
	for i, c := range []struct{ every, now, want types.Height }{
		{100, 1, 100}, {100, 100, 100}, {100, 101, 200}, {1, 7, 7}, {7, 1<<64 - 1, 1<<64 - 1}, {10, 1<<64 - 1, 1<<64 - 1},
	} {
		w.p.BiasControlBlocks = uint64(c.every)
		if got := nextPeriodEnd(&w.p, c.now); got != c.want {
			t.Errorf("%d: the period of %d ends at %d, want %d", i, c.now, got, c.want)
		}
	}
}

// A period that governance shortens ends with the shorter one, and does not hold λ
// still until the longer would have ended.
func TestAShortenedPeriodEnds(t *testing.T) {
	w := auctioneer(BiasVCG)
	w.p.BiasControlBlocks = 1 << 40
	w.must(t, alice, program.TimerRequest{Height: 2, Bid: ptr(types.WeiOf(5000))})
	w.block()
	w.block()
	if c := readControl(w.kv, &w.p, w.now()); c.End != 1<<40 || c.Fresh.Winners != 1 {
		t.Fatalf("%+v", c)
	}
	w.p.BiasControlBlocks = 3
	w.block()
	if c := readControl(w.kv, &w.p, w.now()); c.End != 6 || c.Fresh.Winners != 0 {
		t.Errorf("after block 3: %+v", c)
	}
}

// A block with nothing to count writes nothing: it may as well be skipped.
func TestABlockWithoutWinnersLeavesTheLoopsStateAlone(t *testing.T) {
	w := auctioneer(BiasVCG)
	w.p.BiasControlBlocks = 3
	for range 10 {
		w.block()
	}
	if w.kv.Get(keyControl) != nil {
		t.Fatal("it was written")
	}
}

func BenchmarkAuction(b *testing.B) {
	for _, payment := range []string{"runner_up", PaymentPerCycle} {
		for _, due := range []int{10_000, 50_000} {
			w := auctioneer(BiasVCG)
			w.p.BiasPayment = payment
			timers := make([]dueTimer, due)
			places := make([]int, due)
			for i := range timers {
				timers[i] = dueTimer{Entry: Entry{Place: Place{Height: types.Height(1000 - (due-i)*900/due), Seq: types.Seq(i)},
					Actor:    types.Address{byte(i), byte(i >> 8)},
					GasLimit: types.Cycles(1000 + i*7919%500_000), Bid: types.WeiOf(uint64(i) * 2654435761 % 1_000_000_000)}}
				places[i] = i
			}
			b.Run(fmt.Sprintf("%s/%d", payment, due), func(b *testing.B) {
				for b.Loop() {
					r := &laneRun{InBlock: w.at(1000), policy: bias{}, due: timers}
					offers, actors := (&biasRun{fifoRun: fifoRun{r}}).offersAt(places)
					held := newAuction(r.Params, offers, actors)
					for i := range held.winners {
						held.paymentOf(i)
					}
				}
			})
		}
	}
}

// biasLambda is λ in force, as a fraction in lowest terms.
func biasLambda(p *params.Params, kv KV) string {
	one := new(big.Int).Lsh(big.NewInt(1), 64)
	return new(big.Rat).SetFrac(biasRate(kv, p).Units(), one).String()
}

package scheduler

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Faults of CIP-5 §9 and the first revision, shown with their figures.
// docs/SPEC.md, section Findings, tells each in words.

// gainOf returns the gain of a small timer that is worth worth to its actor and
// bids bid, in an auction with two large ones.
func gainOf(t *testing.T, payment string, worth, bid uint64) int64 {
	t.Helper()
	w := auctioneer(BiasVCG)
	w.p.LaneTimerCycles, w.p.BiasPayment = 1_100_000, payment
	w.bid(t, bob, 2, 30_000, 550_000)
	w.bid(t, bob, 2, 29_000, 550_000)
	small := w.bid(t, alice, 2, bid, 100_000)
	w.block()
	w.block()
	for _, o := range w.orders {
		if o.Timer.ID == small.ID {
			paid, _ := o.Payment.Uint64()
			return int64(worth) - int64(paid)
		}
	}
	return 0
}

// §9.5 claims that bid(runner_up) − Bias(winner) "makes honest bidding a weakly
// dominant strategy". It compares a bid for few cycles with one for many: an actor
// that needs 100,000 cycles and states the truth, 9,000 wei, is charged all of it,
// because another bids 29,000 for 550,000. A bid of 5,400 wins as well.
func TestFindingWhatSection95ChargesMakesLiesPay(t *testing.T) {
	const worth = 9000
	if truth, lie := gainOf(t, "runner_up", worth, worth), gainOf(t, "runner_up", worth, 5400); truth != 0 || lie != 3600 {
		t.Errorf("as written: the truth gains %d, the lie %d", truth, lie)
	}
	// The lowest winning bid, 29,001/5.5 less the bias of 1, is charged instead.
	for _, said := range []uint64{0, 5000, 5272, 5273, 5400, 8999, 9000, 9001, 50_000} {
		want := int64(worth - 5272)
		if said < 5272 {
			want = 0
		}
		if got := gainOf(t, PaymentPerCycle, worth, said); got != want {
			t.Errorf("per cycle: saying %d gains %d, want %d", said, got, want)
		}
	}
}

// waits returns after how many blocks a timer without a bid fires, against a fresh
// rival every block that bids rival for rivalCycles, λ staying at 1/16.
func waits(t *testing.T, rival uint64, cycles, rivalCycles types.Cycles) uint64 {
	t.Helper()
	w := auctioneer(BiasVCG)
	w.p.MaxFiresPerBlock, w.p.BiasControlBlocks = 1, 1_000_000
	patient := w.bid(t, alice, 2, 0, cycles)
	for range 2000 {
		w.bid(t, bob, w.now()+1, rival, rivalCycles)
		w.block()
		if len(w.orders) > 0 && w.orders[0].Timer.ID == patient.ID {
			return w.orders[0].Timer.Deferrals
		}
	}
	t.Fatal("it never fired")
	return 0
}

// §9.2: "This guarantees a maximum wait time against any competitor, no matter
// how rich: N_max = ln(T / 3) / λ". Against a rival with a million wei that is
// 203.5 blocks; the bias has then reached a third of the rival's highest possible
// bid. It wins after 222 where both need the same cycles, and after 323 where it
// needs 550 times as many, cycles dividing the bias too.
func TestFindingNMaxIsNotTheLongestWait(t *testing.T) {
	const T = 1_000_000
	rate, nMax := rateOf(4096), uint64(0)
	for !tooLong(rate, nMax+1, types.WeiOf(T)) {
		nMax++
	}
	same, wide := waits(t, T, 1000, 1000), waits(t, T, 550_000, 1000)
	if nMax != 203 || same != 222 || wide != 323 {
		t.Fatalf("N_max is %d; it fired after %d, and after %d with more cycles", nMax, same, wide)
	}
}

// And it bounds nothing where more becomes due than a block fires: those who
// wait have the same bias, which moves none of them forward.
func TestFindingNMaxDoesNotBoundAQueue(t *testing.T) {
	w := auctioneer(BiasVCG)
	w.p.MaxFiresPerBlock, w.p.BiasControlBlocks = 1, 1_000_000
	for i := range 100 {
		w.bid(t, addressOf(fmt.Sprint(i)), 2, 0, 1000)
	}
	w.block()
	// No timer bids anything, so N_max is below 0, and the last one fires 99 blocks
	// late.
	longest := uint64(0)
	for range 100 {
		for _, c := range w.block().Changes {
			if c.Status == types.TimerFired {
				longest = max(longest, c.Timer.Deferrals)
			}
		}
	}
	if longest != 99 {
		t.Fatalf("the longest wait is %d", longest)
	}
}

// §9.3: "Y · Δn ≥ Bias(n + Δn) − Bias(n)" MUST hold for a value that decays by Y
// a block. The right side grows without bound and the left does not, so for any
// Y and any λ there is an n from which on it is broken, and no control of λ keeps
// it. At λ = 1/16 and Y = 1,000,000 wei a block that is block 265, at the least
// λ of all, 1/1,024, block 21,245: six hours.
func TestFindingTheCriticalConstraintIsAlwaysBrokenInTheEnd(t *testing.T) {
	const Y = 1_000_000
	for _, c := range []struct {
		units, want uint64 // of λ in 1/65,536
	}{{4096, 265}, {64, 21_245}} {
		rate, perBlock := rateOf(c.units), new(big.Int).Lsh(big.NewInt(Y), 64)
		step := func(n uint64) *big.Int { return new(big.Int).Sub(biasOf(rate, n+1), biasOf(rate, n)) }
		n := uint64(0)
		for step(n).Cmp(perBlock) <= 0 {
			n++
		}
		if n != c.want {
			t.Errorf("λ = %d/65,536: broken from block %d on, want %d", c.units, n, c.want)
		}
	}
}

// §9.5 takes the winner's bias off and forgets the runner-up's. In a backlog all
// have waited, so prices fall to the reserve price just when there is most
// demand: here 400 timers are due at once, one fires a block, and each bids ten
// million.
func TestFindingPricesFallToTheReserveInABacklog(t *testing.T) {
	revenue := func(payment string) (first, last types.Wei) {
		w := auctioneer(BiasVCG)
		w.p.MaxFiresPerBlock, w.p.BiasControlBlocks, w.p.BiasPayment = 1, 1_000_000, payment
		for i := range 400 {
			w.fund(addressOf(fmt.Sprint(i)), types.WeiOf(1<<60))
			w.bid(t, addressOf(fmt.Sprint(i)), 2, 10_000_000, 1000)
		}
		w.block()
		for n := range 300 {
			w.block()
			if n == 0 {
				first = w.orders[0].Payment
			}
			last = w.orders[0].Payment
		}
		return first, last
	}
	if first, last := revenue("runner_up"); first != types.WeiOf(9_999_999) || last != types.WeiOf(1000) {
		t.Errorf("as written: %s, then %s", first, last)
	}
	if first, last := revenue(PaymentPerCycle); first != types.WeiOf(10_000_000) || last != first {
		t.Errorf("per cycle: %s, then %s", first, last)
	}
}

// §9.5 sets the reserve price "to guarantee validators a baseline revenue per
// timer execution", and §9.7 lets timers without a bid fire "by bias
// accumulation". They pay nothing: no more than the bid is locked.
func TestFindingTheReservePriceGuaranteesNothing(t *testing.T) {
	for _, policy := range []string{BiasVCG, BiasFirstPrice} {
		w := auctioneer(policy)
		for range 10 {
			w.bid(t, alice, 2, 0, 1000)
		}
		w.block()
		out := w.block()
		if len(w.orders) != 10 || !w.Balance(proposer).IsZero() || !out.Changes[0].FeePaid.IsZero() {
			t.Fatalf("%d fires paid %s", len(w.orders), w.Balance(proposer))
		}
	}
}

package mempool

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

var (
	ann = types.Address{0xa}
	ben = types.Address{0xb}
)

var serial uint64

// tx is a transaction of 100 bytes that no other equals.
func tx(sender types.Address, nonce types.Nonce, fee, priority uint64) Entry[int] {
	serial++
	return Entry[int]{Hash: types.Keccak(binary.BigEndian.AppendUint64(nil, serial)), Sender: sender, Nonce: nonce, Size: 100,
		MaxFeePerCycle: types.WeiOf(fee), MaxPriorityFeePerCycle: types.WeiOf(priority),
		MaxFeePerCell: types.WeiOf(1000), MaxPriorityFeePerCell: types.WeiOf(0)}
}

func take(t *testing.T, p *Pool[int], e Entry[int]) []Entry[int] {
	t.Helper()
	displaced, err := p.Add(1, e, 0)
	if err != nil {
		t.Fatal(err)
	}
	return displaced
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Message == "" {
		t.Fatalf("got %v, want %s", err, code)
	}
}

func wantOrder(t *testing.T, p *Pool[int], fees Fees, want ...Entry[int]) {
	t.Helper()
	var got []Entry[int]
	for e := range p.Pending(fees, func(types.Address) types.Nonce { return 0 }, thirdOf) {
		got = append(got, e)
	}
	if len(got) != len(want) {
		t.Fatalf("%d pending, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Hash != want[i].Hash {
			t.Fatalf("place %d has nonce %d of %s", i, got[i].Nonce, got[i].Sender)
		}
	}
}

var base = Fees{Cycle: types.WeiOf(100), Cell: types.WeiOf(100)}

func TestTheHighestEffectiveTipComesFirst(t *testing.T) {
	p := New[int](DefaultLimits)
	stated := tx(ann, 0, 110, 90) // pays 10 over the base fee
	real := tx(ben, 0, 1000, 20)
	take(t, p, stated)
	take(t, p, real)
	wantOrder(t, p, base, real, stated)
	wantOrder(t, p, Fees{}, stated, real) // with base fee 0 it pays the 90
}

func TestOneSendersTransactionsComeByNonceWhateverTheyBid(t *testing.T) {
	p := New[int](DefaultLimits)
	low, high, middle := tx(ann, 0, 1000, 1), tx(ann, 1, 1000, 900), tx(ben, 0, 1000, 5)
	take(t, p, high)
	take(t, p, low)
	take(t, p, middle)
	wantOrder(t, p, base, middle, low, high)
}

func TestEqualTipsComeByArrival(t *testing.T) {
	p := New[int](DefaultLimits)
	var all []Entry[int]
	for i := range byte(20) {
		all = append(all, tx(types.Address{20 - i}, 0, 1000, 5))
		take(t, p, all[i])
	}
	wantOrder(t, p, base, all...)
}

// C18: at equal tips what is light goes before what is not, whoever came first.
func TestALightTransactionGoesBeforeHeavyOnesOfItsTip(t *testing.T) {
	p := New[int](DefaultLimits)
	heavy, dearer := tx(ann, 0, 1000, 5), tx(types.Address{0xc}, 0, 1000, 6)
	light, lighter := tx(ben, 0, 1000, 5), tx(types.Address{0xd}, 0, 1000, 5)
	heavy.Value, dearer.Value, light.Value, lighter.Value = 2, 2, 1, 0
	for _, e := range []Entry[int]{heavy, dearer, light, lighter} {
		take(t, p, e)
	}
	wantOrder(t, p, base, dearer, lighter, light, heavy)
}

// C18: at equal tips senders have their turns one after the other, over blocks too: one with a
// long queue keeps nobody else behind it.
func TestSendersHaveTheirTurnsAtEqualTips(t *testing.T) {
	p := New[int](DefaultLimits)
	a, b, c := tx(ann, 0, 1000, 5), tx(ann, 1, 1000, 5), tx(ann, 2, 1000, 5)
	for _, e := range []Entry[int]{a, b, c} {
		take(t, p, e)
	}
	late, later := tx(ben, 0, 1000, 5), tx(ben, 1, 1000, 5)
	take(t, p, late)
	take(t, p, later)
	wantOrder(t, p, base, a, late, b, later, c)
	p.Confirmed([]Account{{Address: ann, Nonce: 1}})
	if first := firstPending(p, map[types.Address]types.Nonce{ann: 1}); first.Hash != late.Hash {
		t.Error("who had a turn goes before who had none")
	}
	p.Confirmed([]Account{{Address: ben, Nonce: 1}})
	if first := firstPending(p, map[types.Address]types.Nonce{ann: 1, ben: 1}); first.Hash != b.Hash {
		t.Error("who had the last turn goes first again")
	}
}

func firstPending(p *Pool[int], nonces map[types.Address]types.Nonce) Entry[int] {
	for e := range p.Pending(base, func(a types.Address) types.Nonce { return nonces[a] }, thirdOf) {
		return e
	}
	return Entry[int]{}
}

func TestNothingIsPendingBehindAGapOrBelowTheBaseFee(t *testing.T) {
	p := New[int](DefaultLimits)
	first, gapped := tx(ann, 0, 1000, 5), tx(ann, 2, 1000, 5)
	poor, behind := tx(ben, 0, 99, 5), tx(ben, 1, 1000, 5)
	for _, e := range []Entry[int]{first, gapped, poor, behind} {
		take(t, p, e)
	}
	wantOrder(t, p, base, first)
	filler := tx(ann, 1, 1000, 5)
	take(t, p, filler)
	wantOrder(t, p, base, first, filler, gapped)
}

func TestPendingStartsAtTheParentsNonces(t *testing.T) {
	p := New[int](DefaultLimits)
	take(t, p, tx(ann, 0, 1000, 5))
	second := tx(ann, 1, 1000, 5)
	take(t, p, second)
	n := 0
	for e := range p.Pending(base, func(types.Address) types.Nonce { return 1 }, thirdOf) { // nonce 0 is in a notarized block
		if n++; e.Hash != second.Hash {
			t.Fatal("proposed again")
		}
	}
	if n != 1 || p.Len() != 2 {
		t.Fatal("the pool forgot a transaction of a block that is not final")
	}
}

func TestAReplacementNeedsTenPercentMore(t *testing.T) {
	for _, c := range []struct {
		fee, priority uint64
		ok            bool
	}{{110, 11, true}, {109, 11, false}, {110, 10, false}, {1000, 10, false}} {
		p := New[int](DefaultLimits)
		old, better := tx(ann, 0, 100, 10), tx(ann, 0, c.fee, c.priority)
		take(t, p, old)
		displaced, err := p.Add(1, better, 0)
		if !c.ok {
			wantCode(t, err, CodeUnderpriced)
			continue
		}
		if err != nil || len(displaced) != 1 || displaced[0].Hash != old.Hash || p.Len() != 1 {
			t.Fatalf("%+v: %v, %v", c, displaced, err)
		}
	}
	p := New[int](DefaultLimits)
	take(t, p, tx(ann, 0, 100, 0))
	_, err := p.Add(1, tx(ann, 0, 110, 0), 0) // a tenth of nothing is still 1 wei
	wantCode(t, err, CodeUnderpriced)
	cell := tx(ann, 0, 200, 20)
	cell.MaxFeePerCell = types.WeiOf(999)
	_, err = p.Add(1, cell, 0)
	wantCode(t, err, CodeUnderpriced)
}

func TestRaisedRoundsUpAndNeverWraps(t *testing.T) {
	for fee, want := range map[uint64]uint64{0: 1, 1: 2, 9: 10, 10: 11, 11: 13, 99: 109, 100: 110, 101: 112} {
		if got := raiseFee(types.WeiOf(fee)); got != types.WeiOf(want) {
			t.Errorf("%d raised is %s, want %d", fee, got, want)
		}
	}
	if raiseFee(types.MaxWei) != types.MaxWei {
		t.Error("wraps")
	}
}

func TestRefusalsByCode(t *testing.T) {
	p := New[int](Limits{Count: 3, Bytes: 350, SenderCount: 2, SenderBytes: 250, NonceAhead: 5, AgeBlocks: 10})
	e := tx(ann, 7, 100, 10)
	add := func(e Entry[int]) error { _, err := p.Add(1, e, 7); return err }
	if err := add(e); err != nil {
		t.Fatal(err)
	}
	wantCode(t, add(e), CodeAlreadyKnown)
	wantCode(t, add(tx(ann, 6, 100, 10)), CodeNonceTooLow)
	wantCode(t, add(tx(ann, 13, 100, 10)), CodeNonceGap)
	wantCode(t, add(tx(ann, 7, 100, 10)), CodeUnderpriced)
	if err := add(tx(ann, 12, 100, 10)); err != nil {
		t.Fatal(err)
	}
	last := tx(ben, 7, 100, 10)
	wantCode(t, add(tx(ann, 12+0, 1, 1)), CodeUnderpriced)
	if err := add(last); err != nil {
		t.Fatal(err)
	}
	wantCode(t, add(tx(types.Address{9}, 7, 100, 10)), CodePoolFull) // bids no more than the cheapest
	p.Drop(last.Hash)
	big := tx(ben, 7, 1000, 1000)
	big.Size = 251
	wantCode(t, add(big), CodeSenderFull)
	if err := p.Check(); err != nil || p.Len() != 2 {
		t.Fatal(err, p.Len())
	}
}

func TestAFullPoolGivesUpTheCheapestTail(t *testing.T) {
	limits := DefaultLimits
	limits.Count = 3
	p := New[int](limits)
	cheap, tail, other := tx(ann, 0, 1000, 1), tx(ann, 1, 1000, 50), tx(ben, 0, 1000, 60)
	for _, e := range []Entry[int]{cheap, tail, other} {
		take(t, p, e)
	}
	// ann's first bids lowest, but is displaced only after the one that follows it.
	displaced := take(t, p, tx(types.Address{9}, 0, 1000, 55))
	if len(displaced) != 1 || displaced[0].Hash != tail.Hash {
		t.Fatalf("displaced %+v", displaced)
	}
}

func TestARefusedNewcomerLeavesThePoolAsItWas(t *testing.T) {
	limits := DefaultLimits
	limits.Bytes = 1000
	p := New[int](limits)
	var all []Entry[int]
	for i := range byte(10) { // the cheap half could go, the dear half not
		all = append(all, tx(types.Address{i, 1}, 0, 1000, map[bool]uint64{true: 5, false: 500}[i < 5]))
		take(t, p, all[i])
	}
	big := tx(ann, 0, 1000, 100)
	big.Size = 600
	_, err := p.Add(1, big, 0)
	wantCode(t, err, CodePoolFull)
	if err := p.Check(); err != nil || p.Len() != 10 {
		t.Fatal(err, p.Len())
	}
	wantOrder(t, p, base, append(append([]Entry[int]{}, all[5:]...), all[:5]...)...)
	big.Size = 500
	if gone := take(t, p, big); len(gone) != 5 {
		t.Fatalf("displaced %d", len(gone))
	}
}

func TestANewcomerDisplacesABoundedNumber(t *testing.T) {
	limits := DefaultLimits
	limits.Bytes = 100 * (MaxDisplaced + 1)
	p := New[int](limits)
	for i := range MaxDisplaced + 1 {
		take(t, p, tx(types.Address{byte(i), 1}, 0, 1000, 5))
	}
	big := tx(ann, 0, 1000, 100)
	big.Size = 100*MaxDisplaced + 1
	_, err := p.Add(1, big, 0)
	wantCode(t, err, CodePoolFull)
	big.Size--
	take(t, p, big)
}

func TestAFullSenderMayStillFillItsGap(t *testing.T) {
	limits := DefaultLimits
	limits.SenderCount = 2
	p := New[int](limits)
	take(t, p, tx(ann, 1, 1000, 5))
	last := tx(ann, 2, 1000, 5)
	take(t, p, last)
	_, err := p.Add(1, tx(ann, 3, 1000, 500), 0)
	wantCode(t, err, CodeSenderFull)
	if gone := take(t, p, tx(ann, 0, 1000, 1)); len(gone) != 1 || gone[0].Hash != last.Hash {
		t.Fatalf("displaced %+v", gone)
	}
}

func TestTransactionsExpireByHeightAndTime(t *testing.T) {
	limits := DefaultLimits
	limits.AgeBlocks, limits.AgeTime = 10, time.Minute
	p := New[int](limits)
	old, young := tx(ann, 0, 1000, 5), tx(ben, 0, 1000, 5)
	old.Came, young.Came = types.Time(0).Add(time.Second), types.Time(0).Add(time.Second)
	p.Add(5, old, 0)
	p.Add(6, young, 0)
	late := old.Came.Add(time.Minute)
	if gone := p.Expire(14, late); len(gone) != 0 {
		t.Fatal("too early by blocks")
	}
	if gone := p.Expire(1000, late-1); len(gone) != 0 {
		t.Fatal("too early by the clock")
	}
	if gone := p.Expire(15, late); len(gone) != 1 || gone[0].Hash != old.Hash || p.Len() != 1 {
		t.Fatal("too late")
	}
}

func TestConfirmedTakesWhatAFinalBlockUsedUp(t *testing.T) {
	p := New[int](DefaultLimits)
	for i := range types.Nonce(4) {
		take(t, p, tx(ann, i, 1000, 5))
	}
	if gone := p.Confirmed([]Account{{ben, 9}, {ann, 3}}); len(gone) != 3 || p.Len() != 1 || p.NextNonce(ann, 3) != 4 {
		t.Fatalf("%d gone", len(gone))
	}
}

func TestArrivalsThatLeftAreForgotten(t *testing.T) {
	p := New[int](DefaultLimits)
	for range 10_000 {
		e := tx(ann, 0, 1000, 5)
		take(t, p, e)
		p.Drop(e.Hash)
	}
	if len(p.byAge) > 100 {
		t.Fatalf("%d arrivals remembered for no transaction", len(p.byAge))
	}
}

func TestEntryOfTakesTheTransactionsFields(t *testing.T) {
	of := EntryOf(&types.Transaction{Nonce: 3, MaxFeePerCycle: types.WeiOf(1), MaxFeePerCell: types.WeiOf(2),
		MaxPriorityFeePerCycle: types.WeiOf(3), MaxPriorityFeePerCell: types.WeiOf(4)}, types.Hash{1}, ann, 77, "v")
	want := Entry[string]{Hash: types.Hash{1}, Sender: ann, Nonce: 3, Size: 77, Value: "v", MaxFeePerCycle: types.WeiOf(1),
		MaxFeePerCell: types.WeiOf(2), MaxPriorityFeePerCycle: types.WeiOf(3), MaxPriorityFeePerCell: types.WeiOf(4)}
	if of != want {
		t.Fatalf("%+v", of)
	}
}

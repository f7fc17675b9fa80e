package scheduler

import (
	"bytes"
	"cmp"
	"maps"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// lawyer is CIP-1 §§3-10 by the letter and without haste: all fires ever, in a
// list, fractions, big integers, and no state but that.
type lawyer struct {
	timers []types.Timer
	fires  []fireNote
	says   map[types.Address]opinion
	low    map[types.TimerID]low
	last   arrears
	moving *moving // the center, while it is smoothed
}

// moving is a moving center and the height of its last block.
type moving struct {
	at       types.Height
	millions *big.Int // of a fire
}

type fireNote struct {
	height types.Height
	party  types.Address // whose fire it counted as
	tip    *big.Int
}

// partyOf is who answers for an actor's fires: its deployer where cip1.fairness_of says so.
func (w *world) partyOf(actor types.Address) types.Address {
	if by, ok := w.deployers[actor]; ok && w.p.FairnessOf != "actor" {
		return by
	}
	return actor
}

// opinion is what a bidder always answers.
type opinion struct {
	fee, tip *types.Wei
	cycles   types.Cycles
	nonsense bool
}

func (l *lawyer) drop(id types.TimerID) {
	l.timers = slices.DeleteFunc(l.timers, func(t types.Timer) bool { return t.ID == id })
}

func (l *lawyer) pending(id types.TimerID) bool {
	return slices.ContainsFunc(l.timers, func(t types.Timer) bool { return t.ID == id })
}

func (l *lawyer) p50(now types.Height) *big.Int {
	var tips []*big.Int
	for _, f := range l.fires {
		if f.height == now-1 {
			tips = append(tips, f.tip)
		}
	}
	if len(tips) == 0 {
		return new(big.Int)
	}
	slices.SortFunc(tips, (*big.Int).Cmp)
	return tips[(len(tips)-1)/2]
}

// weight is clip(2 − recent/max(1, center), 1, 2).
func (l *lawyer) weight(w *world, now types.Height, party types.Address) *big.Rat {
	recent, center := l.count(w, now)
	if w.p.FairnessSmoothing < 1000 {
		if center = new(big.Rat).SetFrac(l.smoothed(w, now, center), big.NewInt(1_000_000)); center.Cmp(big.NewRat(1, 1)) < 0 {
			center = big.NewRat(1, 1)
		}
	}
	weight := new(big.Rat).Sub(big.NewRat(2, 1), new(big.Rat).Quo(big.NewRat(recent[party], 1), center))
	if weight.Cmp(big.NewRat(1, 1)) < 0 {
		return big.NewRat(1, 1)
	}
	return weight
}

// smoothed is c + α·(center − c), in millionths and with the step cut toward 0; center where no c is of the window.
func (l *lawyer) smoothed(w *world, now types.Height, center *big.Rat) *big.Int {
	millions := new(big.Int).Quo(new(big.Int).Mul(center.Num(), big.NewInt(1_000_000)), center.Denom())
	if l.moving == nil || l.moving.at+types.Height(w.p.FairnessWindowBlocks) < now {
		return millions
	}
	step := new(big.Int).Sub(millions, l.moving.millions)
	step.Quo(step.Mul(step, new(big.Int).SetUint64(w.p.FairnessSmoothing)), big.NewInt(1000))
	return step.Add(step, l.moving.millions)
}

// move keeps the center of a block for the blocks after it.
func (l *lawyer) move(w *world, now types.Height) {
	if w.p.FairnessSmoothing < 1000 {
		_, center := l.count(w, now)
		l.moving = &moving{now, l.smoothed(w, now, center)}
	}
}

// count is recent_executions, and the median or mean of them.
func (l *lawyer) count(w *world, now types.Height) (map[types.Address]int64, *big.Rat) {
	recent := map[types.Address]int64{}
	for _, f := range l.fires {
		if f.height < now && f.height+types.Height(w.p.FairnessWindowBlocks) >= now {
			recent[f.party]++
		}
	}
	var counts []int64
	var sum int64
	for _, n := range recent {
		counts, sum = append(counts, n), sum+n
	}
	center := big.NewRat(1, 1)
	if len(counts) > 0 {
		slices.Sort(counts)
		center = big.NewRat(counts[(len(counts)-1)/2], 1)
		if w.p.FairnessCenter == FairnessMean {
			center = big.NewRat(sum, int64(len(counts)))
		}
	}
	return recent, center
}

// brief is a due timer with the lawyer's findings about it.
type brief struct {
	types.Timer
	fee, tip  *big.Int // the bid
	priority  *big.Int // nil: priced out
	cost      *big.Int
	effective *big.Rat
}

func (l *lawyer) examine(w *world, now types.Height) (due []*brief) {
	for _, t := range l.timers {
		if t.Height <= now {
			due = append(due, &brief{Timer: t})
		}
	}
	rank := func(b *brief) *big.Int {
		if b.MaxPriorityFeePerCycle == nil || b.MaxFeePerCycle == nil {
			return new(big.Int)
		}
		return b.MaxPriorityFeePerCycle.Min(*b.MaxFeePerCycle).Big() // below 2^64 here
	}
	slices.SortFunc(due, func(a, b *brief) int {
		return cmp.Or(cmp.Compare(l.last[a.ID], l.last[b.ID]), rank(b).Cmp(rank(a)), cmp.Compare(a.Seq, b.Seq))
	})
	last := func(b *brief) types.Height { return l.last[b.ID] }
	due = examinedOf(w, now, due, last, func(b *brief) types.Height { return b.ExpiresAt })
	slices.SortFunc(due, func(a, b *brief) int { return int(a.Seq) - int(b.Seq) })
	return due
}

// rounds is T15's order of asking: each time through, of every actor the question
// of its oldest timer that is not in yet, and all timers that have it.
func rounds(due []*brief) (order []*brief) {
	in := map[bidKey]bool{}
	for len(order) < len(due) {
		had := map[types.Address]bool{}
		for _, b := range due {
			q := bidKey{*b.GBA, b.Actor, b.Height}
			if in[q] || had[b.Actor] {
				continue
			}
			in[q], had[b.Actor] = true, true
			for _, c := range due {
				if (bidKey{*c.GBA, c.Actor, c.Height}) == q {
					order = append(order, c)
				}
			}
		}
	}
	return order
}

// low is the answer of a timer's bidder that priced it out.
type low struct {
	at  types.Height
	fee types.Wei
}

// advise asks the bidders, in rounds, and settles what each timer bids.
func (l *lawyer) advise(w *world, now types.Height, due []*brief, money map[types.Address]*big.Int) (asked int) {
	heard := map[bidKey]opinion{}
	left := w.p.GBABlockCycles
	cycle := w.fees.Cycle.Big()
	var asking []*brief
	for _, b := range due {
		b.fee, b.tip = new(big.Int).Mul(w.fees.Lane.Big(), big.NewInt(2)), l.p50(now)
		if b.GBA == nil || now > b.ExpiresAt || b.MaxFeePerCycle != nil && b.MaxPriorityFeePerCycle != nil {
			continue
		}
		if last, low := l.low[b.ID]; low && b.MaxFeePerCycle == nil && last.fee.Less(w.fees.Lane) && now < last.at+16 {
			b.fee = last.fee.Big()
			continue
		}
		asking = append(asking, b)
	}
	for _, b := range rounds(asking) {
		q := bidKey{*b.GBA, b.Actor, b.Height}
		said, known := heard[q]
		hold := new(big.Int).Mul(cycle, big.NewInt(int64(w.p.GBACallCycles)))
		if !known && left >= w.p.GBACallCycles && money[b.FeePayer].Cmp(hold) >= 0 {
			said = l.says[*b.GBA]
			left -= said.cycles
			money[b.FeePayer].Sub(money[b.FeePayer], new(big.Int).Mul(cycle, big.NewInt(int64(said.cycles))))
			asked++
			if said.nonsense {
				said.fee, said.tip = nil, nil
			}
			heard[q] = said
		}
		delete(l.low, b.ID)
		if said.fee != nil {
			b.fee = said.fee.Big()
			if b.MaxFeePerCycle == nil && said.fee.Less(w.fees.Lane) {
				l.low[b.ID] = low{now, *said.fee}
			}
		}
		if said.tip != nil {
			b.tip = said.tip.Big()
		}
	}
	for _, b := range due {
		if b.MaxFeePerCycle != nil {
			b.fee = b.MaxFeePerCycle.Big()
		}
		if b.MaxPriorityFeePerCycle != nil {
			b.tip = b.MaxPriorityFeePerCycle.Big()
		}
	}
	return asked
}

func (l *lawyer) value(w *world, now types.Height, b *brief) {
	priority := new(big.Int)
	if room := new(big.Int).Sub(b.fee, w.fees.Lane.Big()); room.Sign() >= 0 {
		if priority.Set(room); b.tip.Cmp(room) < 0 {
			priority.Set(b.tip)
		}
		b.priority = priority
	}
	b.cost = l.cost(w, priority, b.GasLimit, w.p.MaxCellsPerFire)
	b.effective = new(big.Rat).SetInt(new(big.Int).Add(priority, w.p.PriorityFloor.Big()))
	b.effective.Mul(b.effective, l.weight(w, now, w.partyOf(b.Actor)))
}

func (l *lawyer) cost(w *world, priority *big.Int, cycles types.Cycles, cells types.Cells) *big.Int {
	perCycle := new(big.Int).Add(w.fees.Cycle.Big(), w.fees.Lane.Big())
	perCycle.Add(perCycle, priority)
	perCycle.Mul(perCycle, new(big.Int).SetUint64(uint64(cycles)))
	return perCycle.Add(perCycle, new(big.Int).Mul(w.fees.Cell.Big(), new(big.Int).SetUint64(uint64(cells))))
}

// block says what a block does, in the order in which it reports it.
func (l *lawyer) block(w *world, now types.Height, money map[types.Address]*big.Int, deeds map[types.TimerID]deed) (ends []end, asked int) {
	due := l.examine(w, now)
	asked = l.advise(w, now, due, money)
	for _, b := range due {
		l.value(w, now, b)
	}
	byAge := slices.Clone(due)
	slices.SortStableFunc(byAge, func(a, b *brief) int { return int(a.Height) - int(b.Height) })
	waits := map[types.TimerID]string{}
	gc, cycles, cells := w.p.GCCyclesPerBlock, types.Cycles(0), types.Cells(0)
	stop := func(b *brief, status types.TimerStatus) {
		if gc < w.p.GCCyclesPerTimer {
			waits[b.ID] = ReasonGCFull
			return
		}
		gc -= w.p.GCCyclesPerTimer
		l.drop(b.ID)
		ends = append(ends, end{b.ID, status, string(status), uint64(now - b.Height)})
	}
	var ready []*brief
	for _, b := range byAge {
		switch {
		case now > b.ExpiresAt:
			stop(b, types.TimerExpired)
		case money[b.FeePayer].Cmp(b.cost) < 0:
			stop(b, types.TimerInsufficientFunds)
		case b.priority == nil:
			waits[b.ID] = ReasonPricedOut
		default:
			ready = append(ready, b)
		}
	}
	slices.SortStableFunc(ready, func(a, b *brief) int {
		if c := b.effective.Cmp(a.effective); c != 0 {
			return c
		}
		if w.p.TieBreak == TieByID {
			return bytes.Compare(a.ID[:], b.ID[:])
		}
		return 0 // they are ordered by age
	})
	for _, b := range ready {
		switch {
		case b.GasLimit > w.p.LaneTimerCycles.Sub(cycles):
			waits[b.ID] = ReasonLaneFull
		case w.p.MaxCellsPerFire > w.cells.Sub(cells):
			waits[b.ID] = ReasonCellsFull
		case !l.pending(b.ID):
		case money[b.FeePayer].Cmp(b.cost) < 0:
			stop(b, types.TimerInsufficientFunds)
		default:
			l.drop(b.ID)
			d := deeds[b.ID]
			used, size := d.use(b.GasLimit)
			cycles, cells = cycles+used, cells+size
			money[b.FeePayer].Sub(money[b.FeePayer], l.cost(w, b.priority, used, size))
			money[proposer].Add(money[proposer], new(big.Int).Mul(b.priority, big.NewInt(int64(used))))
			l.fires = append(l.fires, fireNote{now, w.partyOf(b.Actor), b.priority})
			ends = append(ends, end{b.ID, types.TimerFired, "", uint64(now - b.Height)})
			for _, t := range l.timers {
				if t.ID == d.cancels && t.Actor == b.Actor {
					ends = append(ends, end{t.ID, types.TimerCancelled, ReasonByOwner, uint64(max(now, t.Height) - t.Height)})
				}
			}
			if i := slices.IndexFunc(l.timers, func(t types.Timer) bool { return t.ID == d.cancels && t.Actor == b.Actor }); i >= 0 {
				l.drop(d.cancels)
			}
		}
	}
	for _, b := range byAge {
		if waits[b.ID] != "" && l.pending(b.ID) {
			l.last.note(b.ID, waits[b.ID], now > b.ExpiresAt, now)
			ends = append(ends, end{b.ID, types.TimerPending, waits[b.ID], uint64(now-b.Height) + 1})
		}
	}
	return ends, asked
}

// trial is a world and a lawyer that must never differ.
type trial struct {
	w      *world
	l      *lawyer
	actors []types.Address
	deeds  map[types.TimerID]deed
}

func amount(t *rapid.T, name string, of ...uint64) *types.Wei {
	if rapid.Bool().Draw(t, name+" stated") {
		return nil
	}
	return ptr(types.WeiOf(rapid.SampledFrom(of).Draw(t, name)))
}

func (x *trial) schedule(t *rapid.T) {
	w := x.w
	r := program.TimerRequest{Height: w.now() + 1 + types.Height(rapid.Uint64Range(0, 3).Draw(t, "in")), Payload: []byte{byte(len(x.deeds))},
		GasLimit:               ptr(rapid.SampledFrom([]types.Cycles{1000, 30_000, 100_000, 250_000}).Draw(t, "gas")),
		MaxFeePerCycle:         amount(t, "fee", 1000, 1003, 1010, 5000),
		MaxPriorityFeePerCycle: amount(t, "tip", 0, 1, 2, 3, 7, 1_000_000)}
	r.ExpiresAt = ptr(r.Height + types.Height(rapid.Uint64Range(0, 6).Draw(t, "ttl")))
	if rapid.Bool().Draw(t, "has a gba") {
		r.GBA = ptr(rapid.SampledFrom(x.actors).Draw(t, "gba"))
	}
	actor := rapid.SampledFrom(x.actors).Draw(t, "actor")
	timer, err := w.schedule(actor, r)
	if err != nil {
		if codeOf(err) != CodeBelowBaseFee || r.MaxFeePerCycle == nil || !r.MaxFeePerCycle.Less(w.fees.Lane) {
			t.Fatal(err)
		}
		return
	}
	x.l.timers = append(x.l.timers, timer)
	d := deed{share: rapid.Uint64Range(0, 100).Draw(t, "share")}
	if rapid.IntRange(0, 3).Draw(t, "cancels") == 0 {
		d.cancels = rapid.SampledFrom(x.l.timers).Draw(t, "whom").ID
	}
	x.deeds[timer.ID] = d
}

func (x *trial) vary(t *rapid.T) {
	w := x.w
	w.fees.Lane = types.WeiOf(rapid.SampledFrom([]uint64{1, 900, 1000, 1002, 1010}).Draw(t, "lane fee"))
	w.cells = rapid.SampledFrom([]types.Cells{549_999, 550_050, 1_000_000, 1_000_000}).Draw(t, "cells")
	w.p.LaneTimerCycles = rapid.SampledFrom([]types.Cycles{30_000, 280_000, 2_000_000}).Draw(t, "lane")
	w.p.GCCyclesPerBlock = rapid.SampledFrom([]types.Cycles{0, 10_000, 5_000_000}).Draw(t, "gc")
	w.p.MaxExamined = rapid.SampledFrom([]uint64{2, 4, 50_000}).Draw(t, "examined")
	w.p.MaxArrears = rapid.SampledFrom([]uint64{1, 3, 5000}).Draw(t, "in arrears")
	w.p.GBABlockCycles = rapid.SampledFrom([]types.Cycles{0, 30_000, 2_000_000}).Draw(t, "calls")
	w.p.TieBreak = rapid.SampledFrom([]string{TieByID, "age"}).Draw(t, "ties")
	w.p.FairnessCenter = rapid.SampledFrom([]string{"median", FairnessMean}).Draw(t, "center")
	w.p.FairnessOf = rapid.SampledFrom([]string{"actor", FairnessOfDeployer}).Draw(t, "whose fires")
	w.p.FairnessSmoothing = rapid.SampledFrom([]uint64{1000, 1000, 400, 10}).Draw(t, "smoothing")
	w.p.PriorityFloor = types.WeiOf(rapid.Uint64Range(0, 1).Draw(t, "floor"))
	for _, a := range x.actors {
		w.fund(a, types.WeiOf(rapid.SampledFrom([]uint64{0, 15_000_000, 560_000_000, 1 << 50}).Draw(t, "balance")))
		x.l.says[a] = opinion{fee: amount(t, "said fee", 900, 1004, 9000), tip: amount(t, "said tip", 0, 2, 6),
			nonsense: rapid.IntRange(0, 4).Draw(t, "nonsense") == 0,
			cycles:   rapid.SampledFrom([]types.Cycles{0, 10_000, 20_000}).Draw(t, "said for")}
	}
}

func (x *trial) answer(_ *world, q BidCall) Answer {
	said := x.l.says[q.Bidder]
	a := Answer{Cycles: said.cycles, Output: codec.Marshal(&TxFeeParams{MaxFeePerCycle: said.fee, MaxPriorityFeePerCycle: said.tip})}
	if said.nonsense {
		a.Output = []byte{0xa1}
	}
	return a
}

func (x *trial) handle(w *world, o Fire) Fired {
	d := x.deeds[o.Timer.ID]
	fired := Fired{Result: types.StatusOK}
	fired.Cycles, fired.Cells = d.use(o.Cycles)
	if change, err := w.blockNow().Cancel(o.Timer.Actor, d.cancels); err == nil {
		fired.Changes = append(fired.Changes, change)
	}
	return fired
}

func (x *trial) block(t *rapid.T) {
	w := x.w
	money := map[types.Address]*big.Int{proposer: w.balances[proposer].Big()}
	for _, a := range x.actors {
		money[a] = w.balances[a].Big()
	}
	for _, a := range x.actors { // their weights, as the block reports none that is not due
		want := x.l.weight(w, w.now(), a)
		mark := w.kv.mark()
		w.blockNow().fairnessWindow().dropOldBlocks()
		w.blockNow().fairnessWindow().moveCenter()
		weights := w.blockNow().fairnessWindow().currentWeights()
		got := weights.weightOf(a)
		w.kv.rollback(mark)
		if (&ratio{*want}).is(got) == false {
			t.Fatalf("%s weighs %s, by the letter %s", a, got, want.RatString())
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "orphaned") == 0 {
		x.orphan(t)
	}
	out := w.block()
	want, asked := x.l.block(w, w.head, money, x.deeds)
	x.l.move(w, w.head)
	var got []end
	for _, c := range out.Changes {
		got = append(got, end{c.Timer.ID, c.Status, c.Reason, c.Timer.Deferrals})
	}
	if !slices.Equal(got, want) || len(w.asked) != asked {
		t.Fatalf("block %d did\n%+v, asked %d\nby the letter\n%+v, asked %d", w.head, got, len(w.asked), want, asked)
	}
	for a, m := range money {
		if w.balances[a].Big().Cmp(m) != 0 {
			t.Fatalf("%s has %s, by the letter %s", a, w.balances[a], m)
		}
	}
}

// orphan makes a block that ends up on no chain (decision C17).
func (x *trial) orphan(t *rapid.T) {
	w, before, mark := x.w, x.w.kv.dump(), x.w.kv.mark()
	funds := maps.Clone(w.balances)
	w.block()
	w.head--
	w.kv.rollback(mark)
	w.balances = funds
	if after := w.kv.dump(); !slices.EqualFunc(before, after,
		func(a, b pair) bool { return bytes.Equal(a.key, b.key) && bytes.Equal(a.value, b.value) }) {
		t.Fatalf("an orphaned block left %d keys of %d", len(after), len(before))
	}
}

// TestTheLaneIsCIP1ByTheLetter: also across skipped heights, and windows that
// governance shortens and lengthens, as far as what was forgotten is no matter.
func TestTheLaneIsCIP1ByTheLetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &lawyer{says: map[types.Address]opinion{}, low: map[types.TimerID]low{}, last: arrears{}}
		x := &trial{w: newWorld(), l: l, deeds: map[types.TimerID]deed{},
			actors: []types.Address{addressOf("a"), addressOf("b"), addressOf("c"), addressOf("d")}}
		x.w.p.Policy, x.w.handle, x.w.answer = EIP1559, x.handle, x.answer
		x.w.deployers = map[types.Address]types.Address{x.actors[0]: x.actors[3], x.actors[1]: x.actors[3]}
		x.w.p.FairnessWindowBlocks = rapid.Uint64Range(2, 9).Draw(t, "window")
		for range rapid.IntRange(1, 30).Draw(t, "blocks") {
			x.vary(t)
			for range rapid.IntRange(0, 8).Draw(t, "operations") {
				x.schedule(t)
			}
			x.block(t)
			next, due := NextDue(&x.w.p, x.w.kv)
			if skip := types.Height(rapid.Uint64Range(0, 4).Draw(t, "skip")); !due || next > x.w.head+skip {
				x.w.head += skip
			}
			if x.w.p.FairnessWindowBlocks > 2 && rapid.IntRange(0, 9).Draw(t, "shorten") == 0 {
				x.w.p.FairnessWindowBlocks--
			}
		}
	})
}

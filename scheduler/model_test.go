package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// twin is the dumbest correct lane: a list of timers, sorted when asked. It
// shares with the package only the arithmetic of identities and prices.
type twin struct {
	timers []types.Timer
	nonces map[types.Address]uint64
	seq    types.Seq
	last   arrears
}

// arrears is T16's memory: when a timer that could not pay was last examined.
type arrears map[types.TimerID]types.Height

// note keeps what an examination found, by the reason for which the timer waits.
func (a arrears) note(id types.TimerID, reason string, expired bool, now types.Height) {
	_, had := a[id]
	switch reason {
	case ReasonPricedOut, ReasonBelowCycleFee, ReasonInsufficient:
		had = true
	case ReasonGCFull:
		had = had || !expired
	default:
		had = false
	}
	if delete(a, id); had {
		a[id] = now
	}
}

func (m *twin) copy() *twin {
	c := &twin{timers: slices.Clone(m.timers), nonces: map[types.Address]uint64{}, seq: m.seq, last: maps.Clone(m.last)}
	for a, n := range m.nonces {
		c.nonces[a] = n
	}
	return c
}

func (m *twin) find(id types.TimerID) int {
	return slices.IndexFunc(m.timers, func(t types.Timer) bool { return t.ID == id })
}

func (m *twin) of(a types.Address) (n uint64) {
	for _, t := range m.timers {
		if t.Actor == a {
			n++
		}
	}
	return n
}

// schedule returns the code of the refusal, or "".
func (m *twin) schedule(w *world, now types.Height, actor types.Address, r program.TimerRequest) string {
	t := types.Timer{Actor: actor, Height: r.Height, Payload: r.Payload, Handler: DefaultHandler, FeePayer: actor,
		GasLimit: 550_000, ExpiresAt: now + types.Height(w.p.MaxTTLBlocks), ScheduledAt: now}
	if r.GasLimit != nil {
		t.GasLimit = *r.GasLimit
	}
	if r.ExpiresAt != nil {
		t.ExpiresAt = *r.ExpiresAt
	}
	switch {
	case r.Height <= now:
		return CodeHeightNotFuture
	case t.GasLimit < 1000:
		return CodeGasLimitTooLow
	case t.GasLimit > 550_000:
		return CodeGasLimitTooHigh
	case t.ExpiresAt < t.Height:
		return CodeExpiresTooEarly
	case t.ExpiresAt > now+types.Height(w.p.MaxTTLBlocks):
		return CodeExpiresTooLate
	case m.of(actor) == w.p.MaxTimers:
		return CodeTooManyTimers
	}
	t.ID, t.Seq = TimerID(actor, r.Height, r.Payload, m.nonces[actor]), m.seq
	m.nonces[actor]++
	m.seq++
	m.timers = append(m.timers, t)
	return ""
}

func (m *twin) cancel(actor types.Address, id types.TimerID) string {
	i := m.find(id)
	if i < 0 {
		return CodeUnknownTimer
	}
	if m.timers[i].Actor != actor {
		return CodeNotOwner
	}
	m.timers = slices.Delete(m.timers, i, i+1)
	return ""
}

func (m *twin) extend(w *world, now types.Height, actor types.Address, id types.TimerID, to types.Height) string {
	i := m.find(id)
	switch {
	case i < 0:
		return CodeUnknownTimer
	case m.timers[i].Actor != actor:
		return CodeNotOwner
	case to <= m.timers[i].ExpiresAt:
		return CodeExpiresNotLater
	case to > now+types.Height(w.p.MaxTTLBlocks):
		return CodeExpiresTooLate
	}
	m.timers[i].ExpiresAt = to
	return ""
}

// end is one line of a block's effects.
type end struct {
	ID     types.TimerID
	Status types.TimerStatus
	Reason string
	Waited uint64
}

// examinedOf is T16, for timers in their order: a fixed number, and in addition as
// many expired ones as the cleanup lane ends; a block examines no more than both.
func examinedOf[T any](w *world, now types.Height, due []T, last func(T) types.Height, expiresAt func(T) types.Height) (kept []T) {
	fresh := 0
	for _, t := range due { // those in arrears come last
		if last(t) == 0 {
			fresh++
		}
	}
	due = due[:min(len(due), fresh+int(w.p.MaxArrears))]
	beside := int(w.p.GCCyclesPerBlock / w.p.GCCyclesPerTimer)
	expired, others := 0, 0
	for _, t := range due[:min(len(due), int(w.p.MaxExamined)+beside)] {
		if expiresAt(t) < now && expired < beside {
			expired++
		} else if others < int(w.p.MaxExamined) {
			others++
		} else {
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

// block runs the lane by the letter of CIP-5 §5 and T9, T11, T13, T19.
func (m *twin) block(w *world, now types.Height, balances map[types.Address]types.Wei, script map[types.TimerID]deed) (ends []end) {
	due := slices.DeleteFunc(slices.Clone(m.timers), func(t types.Timer) bool { return t.Height > now })
	slices.SortFunc(due, func(a, b types.Timer) int {
		return cmp.Or(cmp.Compare(m.last[a.ID], m.last[b.ID]), cmp.Compare(a.Seq, b.Seq))
	})
	last := func(t types.Timer) types.Height { return m.last[t.ID] }
	due = examinedOf(w, now, due, last, func(t types.Timer) types.Height { return t.ExpiresAt }) // no tip is stated
	slices.SortFunc(due, func(a, b types.Timer) int { return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(a.Seq, b.Seq)) })
	gc, cycles, cells := types.Cycles(0), types.Cycles(0), types.Cells(0)
	deferred := map[types.TimerID]string{}
	stop := func(t types.Timer, status types.TimerStatus) {
		if gc+w.p.GCCyclesPerTimer > w.p.GCCyclesPerBlock {
			deferred[t.ID] = ReasonGCFull
			return
		}
		gc += w.p.GCCyclesPerTimer
		m.timers = slices.Delete(m.timers, m.find(t.ID), m.find(t.ID)+1)
		ends = append(ends, end{t.ID, status, string(status), uint64(now - t.Height)})
	}
	cost := func(t types.Timer) types.Wei {
		return w.fees.Cycle.Mul(uint64(t.GasLimit)).Add(w.fees.Cell.Mul(uint64(w.p.MaxCellsPerFire)))
	}
	var ready []types.Timer
	for _, t := range due {
		switch {
		case t.ExpiresAt < now:
			stop(t, types.TimerExpired)
		case !Free(&w.p) && balances[t.FeePayer].Less(cost(t)):
			stop(t, types.TimerInsufficientFunds)
		default:
			ready = append(ready, t)
		}
	}
	for _, t := range ready {
		switch {
		case m.find(t.ID) < 0 && cycles+t.GasLimit <= w.p.LaneTimerCycles && cells+w.p.MaxCellsPerFire <= w.cells:
		case cycles+t.GasLimit > w.p.LaneTimerCycles:
			deferred[t.ID] = ReasonLaneFull
		case cells+w.p.MaxCellsPerFire > w.cells:
			deferred[t.ID] = ReasonCellsFull
		case !Free(&w.p) && balances[t.FeePayer].Less(cost(t)):
			stop(t, types.TimerInsufficientFunds)
		default:
			m.timers = slices.Delete(m.timers, m.find(t.ID), m.find(t.ID)+1)
			d := script[t.ID]
			used, bytes := d.use(t.GasLimit)
			cycles, cells = cycles+used, cells+bytes
			if !Free(&w.p) {
				paid := w.fees.Cycle.Mul(uint64(used)).Add(w.fees.Cell.Mul(uint64(bytes)))
				balances[t.FeePayer] = balances[t.FeePayer].Sub(paid)
			}
			ends = append(ends, end{t.ID, types.TimerFired, "", uint64(now - t.Height)})
			if d.again > 0 {
				m.schedule(w, now, t.Actor, program.TimerRequest{Height: now + d.again})
			}
			if i := m.find(d.cancels); i >= 0 && m.timers[i].Actor == t.Actor {
				victim := m.timers[i]
				m.cancel(t.Actor, d.cancels)
				ends = append(ends, end{d.cancels, types.TimerCancelled, ReasonByOwner, uint64(max(now, victim.Height) - victim.Height)})
			}
		}
	}
	for _, t := range due {
		if reason := deferred[t.ID]; reason != "" && m.find(t.ID) >= 0 {
			m.last.note(t.ID, reason, t.ExpiresAt < now, now)
			ends = append(ends, end{t.ID, types.TimerPending, reason, uint64(now-t.Height) + 1})
		}
	}
	return ends
}

// deed is a handler's action when its timer fires.
type deed struct {
	share   uint64 // percent of the limit that it uses
	again   types.Height
	cancels types.TimerID
}

func (d deed) use(limit types.Cycles) (types.Cycles, types.Cells) {
	return limit * types.Cycles(d.share) / 100, types.Cells(d.share)
}

// modelled is a pair of worlds that must never differ.
type modelled struct {
	w      *world
	m      *twin
	actors []types.Address
	deeds  map[types.TimerID]deed
}

func (x *modelled) handle(w *world, o Fire) Fired {
	d := x.deeds[o.Timer.ID]
	fired := Fired{Result: types.StatusOK}
	fired.Cycles, fired.Cells = d.use(o.Cycles)
	if d.again > 0 {
		w.schedule(o.Timer.Actor, program.TimerRequest{Height: w.now() + d.again})
	}
	if change, err := w.blockNow().Cancel(o.Timer.Actor, d.cancels); err == nil {
		fired.Changes = append(fired.Changes, change)
	}
	return fired
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return err.(*Error).Code
}

// someID is mostly that of a pending timer.
func (x *modelled) someID(t *rapid.T) types.TimerID {
	if len(x.m.timers) == 0 || rapid.IntRange(0, 9).Draw(t, "strange") == 0 {
		return types.TimerID{1}
	}
	return x.m.timers[rapid.IntRange(0, len(x.m.timers)-1).Draw(t, "timer")].ID
}

func (x *modelled) scheduleOne(t *rapid.T) {
	now := x.w.now()
	actor := rapid.SampledFrom(x.actors).Draw(t, "actor")
	r := program.TimerRequest{Height: now + types.Height(rapid.Uint64Range(0, 8).Draw(t, "in")), Payload: []byte{byte(now)}}
	if rapid.Bool().Draw(t, "limited") {
		r.GasLimit = ptr(rapid.SampledFrom([]types.Cycles{999, 1000, 40_000, 200_000, 550_000, 550_001}).Draw(t, "gas"))
	}
	if rapid.Bool().Draw(t, "expiring") {
		r.ExpiresAt = ptr(r.Height + types.Height(rapid.Uint64Range(0, 5).Draw(t, "ttl")) - 1)
	}
	timer, err := x.w.schedule(actor, r)
	if want := x.m.schedule(x.w, now, actor, r); codeOf(err) != want {
		t.Fatalf("schedule: %v, the twin says %q", err, want)
	}
	if err == nil {
		x.deeds[timer.ID] = deed{share: rapid.Uint64Range(0, 100).Draw(t, "share"),
			again: types.Height(rapid.Uint64Range(0, 3).Draw(t, "again")), cancels: x.someID(t)}
	}
}

func (x *modelled) cancelOne(t *rapid.T) {
	id, actor := x.someID(t), rapid.SampledFrom(x.actors).Draw(t, "actor")
	if i := x.m.find(id); i >= 0 && rapid.IntRange(0, 3).Draw(t, "own") > 0 {
		actor = x.m.timers[i].Actor
	}
	_, err := x.w.blockNow().Cancel(actor, id)
	if want := x.m.cancel(actor, id); codeOf(err) != want {
		t.Fatalf("cancel: %v, the twin says %q", err, want)
	}
}

func (x *modelled) extendOne(t *rapid.T) {
	id, actor := x.someID(t), rapid.SampledFrom(x.actors).Draw(t, "actor")
	to := x.w.now() + types.Height(rapid.Uint64Range(0, 70).Draw(t, "to"))
	_, err := x.w.blockNow().Extend(actor, id, to)
	if want := x.m.extend(x.w, x.w.now(), actor, id, to); codeOf(err) != want {
		t.Fatalf("extend: %v, the twin says %q", err, want)
	}
}

// transactions does some operations, kept or rolled back.
func (x *modelled) transactions(t *rapid.T) {
	for range rapid.IntRange(0, 12).Draw(t, "operations") {
		mark, before := x.w.kv.mark(), x.m.copy()
		for range rapid.IntRange(1, 3).Draw(t, "in one") {
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				x.cancelOne(t)
			case 1:
				x.extendOne(t)
			default:
				x.scheduleOne(t)
			}
		}
		if rapid.IntRange(0, 4).Draw(t, "reverts") == 0 {
			x.w.kv.rollback(mark)
			x.m = before
		}
	}
}

func (x *modelled) vary(t *rapid.T) {
	w := x.w
	w.cells = rapid.SampledFrom([]types.Cells{0, 549_999, 550_050, 1_000_000}).Draw(t, "cells")
	w.p.LaneTimerCycles = rapid.SampledFrom([]types.Cycles{0, 40_000, 200_000, 600_000, 2_000_000}).Draw(t, "lane")
	w.p.GCCyclesPerBlock = rapid.SampledFrom([]types.Cycles{0, 4_999, 10_000, 5_000_000}).Draw(t, "gc")
	w.p.MaxExamined = rapid.SampledFrom([]uint64{3, 50_000}).Draw(t, "examined")
	w.p.MaxArrears = rapid.SampledFrom([]uint64{2, 5000}).Draw(t, "in arrears")
	w.p.Fees = rapid.SampledFrom([]string{"paid", "paid", "free"}).Draw(t, "fees")
	for _, a := range x.actors {
		w.fund(a, types.WeiOf(rapid.SampledFrom([]uint64{0, 551_000_000, 1_200_000_000, 1 << 50}).Draw(t, "balance")))
	}
}

func (x *modelled) block(t *rapid.T) {
	balances := map[types.Address]types.Wei{}
	for a, b := range x.w.balances {
		balances[a] = b
	}
	// A block that ends up on no chain leaves no trace (C17).
	mark, before, funds := x.w.kv.mark(), x.m.copy(), x.w.balances
	if rapid.IntRange(0, 5).Draw(t, "orphaned") == 0 {
		dump := x.w.kv.dump()
		x.w.balances = map[types.Address]types.Wei{}
		for a, b := range funds {
			x.w.balances[a] = b
		}
		x.w.block()
		x.w.head--
		x.w.kv.rollback(mark)
		x.w.balances, x.m = funds, before
		if again := x.w.kv.dump(); len(again) != len(dump) {
			t.Fatalf("a rollback left %d keys, were %d", len(again), len(dump))
		}
	}
	out := x.w.block()
	want := x.m.block(x.w, x.w.head, balances, x.deeds)
	var got []end
	for _, c := range out.Changes {
		got = append(got, end{c.Timer.ID, c.Status, c.Reason, c.Timer.Deferrals})
	}
	if !slices.Equal(got, want) {
		t.Fatalf("block %d did\n%+v\nthe twin\n%+v", x.w.head, got, want)
	}
	for _, a := range x.actors {
		if x.w.balances[a] != balances[a] {
			t.Fatalf("%s has %s, with the twin %s", a, x.w.balances[a], balances[a])
		}
		if uint64(len(Pending(&x.w.p, x.w.kv, x.w.head, a))) != x.m.of(a) || pendingCount(x.w.kv, a) != x.m.of(a) {
			t.Fatalf("%s has %d pending, with the twin %d", a, pendingCount(x.w.kv, a), x.m.of(a))
		}
	}
}

func TestTheLaneIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := &modelled{w: newWorld(), m: &twin{nonces: map[types.Address]uint64{}, last: arrears{}}, deeds: map[types.TimerID]deed{},
			actors: []types.Address{addressOf("a"), addressOf("b"), addressOf("c")}}
		x.w.handle = x.handle
		x.w.p.MaxTimers, x.w.p.MaxTTLBlocks = 12, 60
		for range rapid.IntRange(1, 40).Draw(t, "blocks") {
			x.transactions(t)
			x.vary(t)
			x.block(t)
		}
		for _, timer := range x.m.timers {
			got, ok := Get(&x.w.p, x.w.kv, x.w.head, timer.ID)
			if !ok || got.Height != timer.Height || got.Seq != timer.Seq || got.ExpiresAt != timer.ExpiresAt ||
				types.FireLimit(got.GasLimit, 550_000) != timer.GasLimit ||
				string(got.Payload) != string(timer.Payload) || got.ScheduledAt != timer.ScheduledAt {
				t.Fatalf("timer %+v, with the twin %+v", got, timer)
			}
		}
	})
}

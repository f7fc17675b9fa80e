package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/calendar"
)

// insertTimer writes a timer's record, payload, entry and owner entry. The caller
// updates the actor's tally. at is its place if it watched nothing.
func (b *InBlock) insertTimer(t *types.Timer, at Place) {
	if t.Watch != nil {
		at = b.watchKey(t, at)
	}
	r := record{At: at.Height, Rank: at.Rank, Seq: at.Seq, Height: t.Height, Handler: t.Handler, ScheduledAt: t.ScheduledAt, Watch: t.Watch}
	b.KV.Set(keyRecord(t.ID), r.encodeRecord())
	if len(t.Payload) > 0 {
		b.KV.Set(keyPayload(t.ID), append([]byte(nil), t.Payload...))
	}
	b.KV.Set(keyOfOwner(t.Actor, t.Seq), append([]byte(nil), t.ID[:]...))
	b.calendarOf().Insert(Entry{Place: at, ID: t.ID, Actor: t.Actor, FeePayer: t.FeePayer, GasLimit: t.GasLimit, ExpiresAt: t.ExpiresAt,
		MaxFeePerCycle: t.MaxFeePerCycle, MaxPriorityFeePerCycle: t.MaxPriorityFeePerCycle, GBA: t.GBA, Bid: t.Bid, Sponsor: t.Sponsor})
}

// removeTimer takes a pending timer out of state and out of its actor's count.
func (b *InBlock) removeTimer(e *Entry) {
	if e.isWatching() {
		b.unwatchKey(e)
	}
	b.forgiveTimer(e.ID)
	b.removeFromAllowance(e)
	b.forgetAnswer(e.ID)
	b.KV.Set(keyRecord(e.ID), nil)
	b.KV.Set(keyPayload(e.ID), nil)
	b.KV.Set(keyOfOwner(e.Actor, e.Seq), nil)
	b.calendarOf().Remove(e.Place)
	own := readTally(b.KV, e.Actor)
	if own.Pending == 0 {
		panic("scheduler: actor " + e.Actor.String() + " has a timer that its count does not hold")
	}
	own.Pending--
	writeTally(b.KV, e.Actor, own)
}

// findPending returns the record and the entry of a pending timer.
func findPending(c Calendar, kv KV, id types.TimerID) (r record, e Entry, ok bool) {
	data := kv.Get(keyRecord(id))
	if data == nil {
		return record{}, Entry{}, false
	}
	r = mustReadRecord(data)
	if e, ok = c.Find(r.placeOf()); !ok {
		panic("scheduler: timer " + id.String() + " is missing from the calendar")
	}
	return r, e, true
}

// assembleTimer returns a timer without its payload.
func assembleTimer(r *record, e *Entry, deferrals uint64) types.Timer {
	return types.Timer{
		ID: e.ID, Actor: e.Actor, Height: r.Height, Handler: r.Handler,
		FeePayer: e.FeePayer, GasLimit: e.GasLimit, ExpiresAt: e.ExpiresAt,
		MaxFeePerCycle: e.MaxFeePerCycle, MaxPriorityFeePerCycle: e.MaxPriorityFeePerCycle,
		Bid: e.Bid, GBA: e.GBA, Watch: r.Watch, Seq: e.Seq, ScheduledAt: r.ScheduledAt, Deferrals: deferrals, Sponsor: e.Sponsor,
	}
}

// loadTimer reads a pending timer that the calendar has, without its payload.
func loadTimer(kv KV, e *Entry, deferrals uint64) types.Timer {
	r := mustReadRecord(kv.Get(keyRecord(e.ID)))
	return assembleTimer(&r, e, deferrals)
}

func readPayload(kv KV, id types.TimerID) []byte {
	return append([]byte{}, kv.Get(keyPayload(id))...)
}

// Get returns a pending timer, whole. last is the height of the last block that
// is done, from which its deferrals are counted.
func Get(p *params.Params, kv KV, last types.Height, id types.TimerID) (types.Timer, bool) {
	r, e, ok := findPending(CalendarOf(p, kv), kv, id)
	if !ok {
		return types.Timer{}, false
	}
	t := assembleTimer(&r, &e, Deferrals(e.Height, last))
	t.Payload = readPayload(kv, id)
	return t, true
}

// Pending lists an actor's pending timers in insertion order, without their
// payloads: at most max_timers_per_actor of them.
func Pending(p *params.Params, kv KV, last types.Height, actor types.Address) (timers []types.Timer) {
	var ids []types.TimerID
	scanPrefix(kv, keyOwner(actor), func(_, id []byte) bool {
		ids = append(ids, types.TimerID(id))
		return true
	})
	of := CalendarOf(p, kv)
	for _, id := range ids {
		r, e, ok := findPending(of, kv, id)
		if !ok {
			panic("scheduler: actor " + actor.String() + " owns timer " + id.String() + ", which has no record")
		}
		timers = append(timers, assembleTimer(&r, &e, Deferrals(e.Height, last)))
	}
	return timers
}

// Named calls each with the id and the handler of an actor's pending timers, in insertion
// order, until it returns false.
func Named(kv KV, actor types.Address, each func(id types.TimerID, handler string) bool) {
	scanPrefix(kv, keyOwner(actor), func(_, id []byte) bool {
		r := mustReadRecord(kv.Get(keyRecord(types.TimerID(id))))
		return each(types.TimerID(id), r.Handler)
	})
}

// Payload is the payload of a pending timer.
func Payload(kv KV, id types.TimerID) []byte { return readPayload(kv, id) }

// Total is the number of pending timers in the whole chain. It reads a few bytes
// for each actor that ever scheduled one.
func Total(kv KV) (pending uint64) {
	scanPrefix(kv, []byte("t/a/"), func(_, value []byte) bool {
		var t tally
		mustRead(value, &t)
		pending += t.Pending
		return true
	})
	return pending
}

// CountDue is how many pending timers have heights up to now. It reads every
// entry of the calendar.
func CountDue(p *params.Params, kv KV, now types.Height) uint64 {
	return CalendarOf(p, kv).tiers.Count(now)
}

// Grown returns how many more keys of a range, among those that count selects, a
// state has than the one it was made from.
type Grown interface {
	Balance(from, to []byte, count func(key []byte) bool) int64
}

// DueNow returns CountDue at any point of a block of height now, from the changes
// of the block: due is CountDue after the block before, which left the state
// parent. Its cost follows from the timers that became due at now and from the
// writes since, so that no flood of timers makes a block count them all again.
func DueNow(p *params.Params, parent KV, due uint64, now types.Height, written Grown) uint64 {
	n := int64(due + CalendarOf(p, parent).tiers.CountAt(now))
	for _, keys := range calendar.Keys() {
		n += written.Balance(keys[0], keys[1], func(key []byte) bool { return calendar.DueKey(key, now) })
	}
	return uint64(n)
}

// NextDue returns the lowest height at which a timer is due. If it is at most the
// head's height + 1, a header may skip nothing (decision C8).
func NextDue(p *params.Params, kv KV) (types.Height, bool) { return CalendarOf(p, kv).Next() }

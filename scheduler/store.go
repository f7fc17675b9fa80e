package scheduler

import (
	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
)

// insert writes a timer's record, payload, due entry and owner entry. The
// actor's tally is the caller's.
func insert(kv KV, t *types.Timer) {
	kv.Set(keyRecord(t.ID), codec.Marshal(&record{
		Height: t.Height, Seq: t.Seq, Handler: t.Handler,
		MaxFeePerCycle: t.MaxFeePerCycle, MaxPriorityFeePerCycle: t.MaxPriorityFeePerCycle,
		Bid: t.Bid, GBA: t.GBA, ScheduledAt: t.ScheduledAt,
	}))
	if len(t.Payload) > 0 {
		kv.Set(keyPayload(t.ID), append([]byte(nil), t.Payload...))
	}
	kv.Set(keyOwned(t.Actor, t.Seq), append([]byte(nil), t.ID[:]...))
	CalendarOf(kv).Insert(Entry{Height: t.Height, Seq: t.Seq, ID: t.ID, Actor: t.Actor,
		FeePayer: t.FeePayer, GasLimit: t.GasLimit, ExpiresAt: t.ExpiresAt})
}

// remove takes a pending timer out of state and out of its actor's count.
func remove(kv KV, e *Entry) {
	kv.Set(keyRecord(e.ID), nil)
	kv.Set(keyPayload(e.ID), nil)
	kv.Set(keyOwned(e.Actor, e.Seq), nil)
	CalendarOf(kv).Remove(e.Height, e.Seq)
	own := readTally(kv, e.Actor)
	if own.Pending == 0 {
		panic("scheduler: actor " + e.Actor.String() + " has a timer that its count does not hold")
	}
	own.Pending--
	writeTally(kv, e.Actor, own)
}

// find returns the record and the due entry of a pending timer.
func find(kv KV, id types.TimerID) (r record, e Entry, ok bool) {
	data := kv.Get(keyRecord(id))
	if data == nil {
		return record{}, Entry{}, false
	}
	mustRead(data, &r)
	if e, ok = CalendarOf(kv).Find(r.Height, r.Seq); !ok {
		panic("scheduler: timer " + id.String() + " is missing from the calendar")
	}
	return r, e, true
}

// assemble returns a timer without its payload.
func assemble(r *record, e *Entry, deferrals uint64) types.Timer {
	return types.Timer{
		ID: e.ID, Actor: e.Actor, Height: e.Height, Handler: r.Handler,
		FeePayer: e.FeePayer, GasLimit: e.GasLimit, ExpiresAt: e.ExpiresAt,
		MaxFeePerCycle: r.MaxFeePerCycle, MaxPriorityFeePerCycle: r.MaxPriorityFeePerCycle,
		Bid: r.Bid, GBA: r.GBA, Seq: e.Seq, ScheduledAt: r.ScheduledAt, Deferrals: deferrals,
	}
}

// load reads a pending timer that the calendar has, without its payload.
func load(kv KV, e *Entry, deferrals uint64) types.Timer {
	var r record
	mustRead(kv.Get(keyRecord(e.ID)), &r)
	return assemble(&r, e, deferrals)
}

func readPayload(kv KV, id types.TimerID) []byte {
	return append([]byte{}, kv.Get(keyPayload(id))...)
}

// Get returns a pending timer, whole. last is the height of the last block that
// is done, from which its deferrals are counted.
func Get(kv KV, last types.Height, id types.TimerID) (types.Timer, bool) {
	r, e, ok := find(kv, id)
	if !ok {
		return types.Timer{}, false
	}
	t := assemble(&r, &e, Deferrals(e.Height, last))
	t.Payload = readPayload(kv, id)
	return t, true
}

// Pending lists an actor's pending timers in insertion order, without their
// payloads: at most max_timers_per_actor of them.
func Pending(kv KV, last types.Height, actor types.Address) (timers []types.Timer) {
	var ids []types.TimerID
	from, to := ownedRange(actor)
	kv.Scan(from, to, func(_, id []byte) bool {
		ids = append(ids, types.TimerID(id))
		return true
	})
	for _, id := range ids {
		r, e, ok := find(kv, id)
		if !ok {
			panic("scheduler: actor " + actor.String() + " owns timer " + id.String() + ", which has no record")
		}
		timers = append(timers, assemble(&r, &e, Deferrals(e.Height, last)))
	}
	return timers
}

// PendingCount is how many timers an actor has pending.
func PendingCount(kv KV, actor types.Address) uint64 { return readTally(kv, actor).Pending }

// Due lists at most limit timers that are due at now, without their payloads,
// by trigger height, then sequence. RunLane examines p.MaxExamined of them.
func Due(kv KV, now types.Height, limit uint64) (timers []types.Timer) {
	for _, e := range CalendarOf(kv).Due(now, limit) {
		timers = append(timers, load(kv, &e, uint64(now-e.Height)))
	}
	return timers
}

// NextDue returns the least height at which a timer is due. Where it is at most
// the head's height + 1, a header may skip nothing (decision C8).
func NextDue(kv KV) (types.Height, bool) { return CalendarOf(kv).Next() }

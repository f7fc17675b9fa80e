package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/calendar"
)

// Calendar keeps the entries of the pending timers in the tiers of CIP-1 §2: a
// calendar.Calendar of entries.
type Calendar struct{ tiers calendar.Calendar }

// CalendarOf returns the calendar in state. It writes nothing by itself, and
// finds everything where maintenance has not got to yet.
func CalendarOf(p *params.Params, kv KV) Calendar {
	return Calendar{calendar.Of(kv, calendar.SizesOf(p))}
}

// Maintain moves timers between the tiers and returns the moves in their order.
func (c Calendar) Maintain(now types.Height) (moves []types.TimerMove) {
	for _, m := range c.tiers.Maintain(now) {
		moves = append(moves, types.TimerMove{Seq: m.Seq, From: m.From.String(), To: m.To.String()})
	}
	return moves
}

// Insert puts a timer at its height.
func (c Calendar) Insert(e Entry) { c.tiers.Insert(e.Place, e.encodeEntry()) }

// Replace rewrites a timer's entry in place.
func (c Calendar) Replace(e Entry) { c.tiers.Replace(e.Place, e.encodeEntry()) }

// Remove takes a timer out.
func (c Calendar) Remove(p Place) { c.tiers.Remove(p) }

// Find returns the entry of a timer.
func (c Calendar) Find(p Place) (Entry, bool) {
	data, _, ok := c.tiers.Find(p)
	if !ok {
		return Entry{}, false
	}
	return mustDecodeEntry(p, data), true
}

// Due returns at most limit of the timers of heights up to now: the highest stated
// tip first, then the lowest sequence number, then those in arrears (decision T16).
func (c Calendar) Due(now types.Height, limit uint64) []Entry {
	items := c.tiers.Due(now, limit)
	due := make([]Entry, len(items))
	for i := range items {
		due[i] = mustDecodeEntry(items[i].Place, items[i].Value)
	}
	return due
}

// Next returns the lowest height at which a timer is due, which is in the past if a
// timer is carried; ok is false if none is pending.
func (c Calendar) Next() (height types.Height, ok bool) { return c.tiers.Next() }

// Shift moves a due timer into the arrears, with the height of its last
// examination, or out of them with 0.
func (c Calendar) Shift(e Entry, examined types.Height) {
	c.tiers.Shift(e.Place, examined, e.encodeEntry())
}

// Settle notes that height now examined all that is due.
func (c Calendar) Settle(now types.Height) { c.tiers.Settle(now) }

// TierOf returns the tier that holds a pending timer: ring, epoch, overflow, carry or
// arrears.
func TierOf(p *params.Params, kv KV, id types.TimerID) (tier string, ok bool) {
	data := kv.Get(keyRecord(id))
	if data == nil {
		return "", false
	}
	r := mustReadRecord(data)
	_, stands, ok := CalendarOf(p, kv).tiers.Find(r.placeOf())
	return stands.String(), ok
}

// Tally is what TallyOf counts.
type Tally struct {
	Bins    map[string][]uint64 // of ring, epoch and overflow, by height
	Carry   uint64
	Arrears uint64
	Whole   bool // all entries fit
}

// TallyOf counts the pending timers of the heights from one to another in bins of width
// heights, and those that wait past their height. It reads at most limit timers.
func TallyOf(p *params.Params, kv KV, from, to, width types.Height, limit int) Tally {
	t := Tally{Bins: map[string][]uint64{}, Whole: true}
	tiers := CalendarOf(p, kv).tiers
	for _, tier := range []calendar.Tier{calendar.Carry, calendar.Arrears, calendar.Ring, calendar.Epoch, calendar.Overflow} {
		var bins []uint64
		count := func(h types.Height) { bins[(h-from)/width]++ }
		switch tier {
		case calendar.Carry:
			count = func(types.Height) { t.Carry++ }
		case calendar.Arrears:
			count = func(types.Height) { t.Arrears++ }
		default:
			bins = make([]uint64, (to-from)/width+1)
			t.Bins[tier.String()] = bins
		}
		read, whole := tiers.Tally(tier, from, to, limit, count)
		limit, t.Whole = limit-read, t.Whole && whole
	}
	return t
}

package scheduler

import (
	"encoding/binary"
	"slices"

	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// Calendar keeps the pending timers by height and insertion order.
type Calendar struct{ kv KV }

// CalendarOf returns the calendar in state.
func CalendarOf(_ *params.Params, kv KV) Calendar { return Calendar{kv} }

// Maintain moves timers between the tiers and returns the moves in their order.
func (c Calendar) Maintain(types.Height) []types.TimerMove { return nil }

// Insert puts a timer at its height, or replaces the entry it has there.
func (c Calendar) Insert(e Entry) { c.kv.Set(keyDue(e.Place), e.encode()) }

// Replace rewrites a timer's entry where it stands.
func (c Calendar) Replace(e Entry) { c.kv.Set(keyDue(e.Place), e.encode()) }

// Remove takes a timer out.
func (c Calendar) Remove(p Place) { c.kv.Set(keyDue(p), nil) }

// Find returns the entry of a timer.
func (c Calendar) Find(p Place) (Entry, bool) {
	data := c.kv.Get(keyDue(p))
	if data == nil {
		return Entry{}, false
	}
	return mustDecodeEntry(p, data), true
}

// Due returns at most limit of the timers of heights up to now: the highest
// stated tip first, then the least sequence number (decision T16).
func (c Calendar) Due(now types.Height, limit uint64) (due []Entry) {
	to := endOfDue
	if now+1 != 0 {
		to = keyDue(Place{Height: now + 1})
	}
	c.kv.Scan(keyDue(Place{}), to, func(key, value []byte) bool {
		due = append(due, mustDecodeEntry(splitDueKey(key), value))
		return true
	})
	slices.SortFunc(due, func(a, b Entry) int { return a.Place.compare(b.Place) })
	return due[:min(uint64(len(due)), limit)]
}

// Next returns the least height at which a timer is due, which has passed
// already where one is carried; ok is false where none is pending.
func (c Calendar) Next() (height types.Height, ok bool) {
	c.kv.Scan(keyDue(Place{}), endOfDue, func(key, _ []byte) bool {
		height, ok = splitDueKey(key).Height, true
		return false
	})
	return height, ok
}

func splitDueKey(key []byte) Place {
	key = key[keyPrefixBytes:]
	return Place{Height: types.Height(binary.BigEndian.Uint64(key)), Rank: ^binary.BigEndian.Uint64(key[8:]),
		Seq: types.Seq(binary.BigEndian.Uint64(key[16:]))}
}

package scheduler

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/types"
)

// Calendar keeps the pending timers by height and insertion order: an ordered
// range of the state trie (decision T8). Its four methods are all that the rest
// of the package knows of how that is done.
type Calendar struct{ kv KV }

// CalendarOf returns the calendar in state.
func CalendarOf(kv KV) Calendar { return Calendar{kv} }

// Insert puts a timer at its height, or replaces the entry it has there.
func (c Calendar) Insert(e Entry) { c.kv.Set(keyDue(e.Height, e.Seq), e.encode()) }

// Remove takes a timer out.
func (c Calendar) Remove(height types.Height, seq types.Seq) { c.kv.Set(keyDue(height, seq), nil) }

// Find returns the entry of a timer.
func (c Calendar) Find(height types.Height, seq types.Seq) (Entry, bool) {
	data := c.kv.Get(keyDue(height, seq))
	if data == nil {
		return Entry{}, false
	}
	return mustDecodeEntry(height, seq, data), true
}

// Due returns the timers of heights up to now by trigger height, then sequence
// (decision T27), at most limit of them. Those past their height are in front.
func (c Calendar) Due(now types.Height, limit uint64) (due []Entry) {
	to := endOfDue
	if now+1 != 0 {
		to = keyDue(now+1, 0)
	}
	c.kv.Scan(keyDue(0, 0), to, func(key, value []byte) bool {
		if uint64(len(due)) == limit {
			return false
		}
		height, seq := splitDueKey(key)
		due = append(due, mustDecodeEntry(height, seq, value))
		return true
	})
	return due
}

// Next returns the least height at which a timer is due, which has passed
// already where one is carried; ok is false where none is pending.
func (c Calendar) Next() (height types.Height, ok bool) {
	c.kv.Scan(keyDue(0, 0), endOfDue, func(key, _ []byte) bool {
		height, _ = splitDueKey(key)
		ok = true
		return false
	})
	return height, ok
}

func splitDueKey(key []byte) (types.Height, types.Seq) {
	return types.Height(binary.BigEndian.Uint64(key[keyPrefixBytes:])),
		types.Seq(binary.BigEndian.Uint64(key[keyPrefixBytes+8:]))
}

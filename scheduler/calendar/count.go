package calendar

import (
	"bytes"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A block counts due entries from the count of the block before, since a fresh
// count reads all of them. It adds CountAt for the new height, and tests the keys
// that it wrote with DueKey.

// Count returns how many entries have heights up to now. It reads every entry.
func (c Calendar) Count(now types.Height) (n uint64) {
	for t := Ring; t <= Arrears; t++ {
		c.kv.Scan(firstKey(t), endKey(t), func(key, _ []byte) bool {
			if splitKey(t, key).Height <= now {
				n++
			}
			return true
		})
	}
	return n
}

// CountAt returns how many entries have this height, which the calendar is not
// maintained beyond. It reads only these entries.
func (c Calendar) CountAt(h types.Height) (n uint64) {
	add := func(from, to []byte) {
		c.kv.Scan(from, to, func(_, _ []byte) bool {
			n++
			return true
		})
	}
	add(atSlot(c.ringSlot(h), h), behindSlot(c.ringSlot(h), h))
	for _, t := range []Tier{Epoch, Overflow} {
		add(appendNumber(beginKey(t), uint64(h)), keyAfterHeight(t, h))
	}
	return n
}

// DueKey reports whether a key of state belongs to an entry whose height is at most
// now.
func DueKey(key []byte, now types.Height) bool {
	for t, prefix := range prefixes {
		if len(key) == keyBytes(Tier(t)) && bytes.HasPrefix(key, prefix) {
			return splitKey(Tier(t), key).Height <= now
		}
	}
	return false
}

// Keys bounds the keys of each tier.
func Keys() (ranges [][2][]byte) {
	for t := Ring; t <= Arrears; t++ {
		ranges = append(ranges, [2][]byte{firstKey(t), endKey(t)})
	}
	return ranges
}

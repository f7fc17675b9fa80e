package calendar

import "github.com/cowboyinc/devnet/internal/base/types"

// Tally calls each for entries of a tier: those of heights in the range if the tier is
// ordered by height, otherwise all. It reads at most limit entries, and returns how many
// it read and whether these are all.
func (c Calendar) Tally(t Tier, from, to types.Height, limit int, each func(types.Height)) (read int, whole bool) {
	first, behindLast := firstKey(t), endKey(t)
	if t == Epoch || t == Overflow {
		first, behindLast = appendNumber(beginKey(t), uint64(from)), keyAfterHeight(t, to)
	}
	whole = true
	c.kv.Scan(first, behindLast, func(key, _ []byte) bool {
		if read == limit {
			whole = false
			return false
		}
		read++
		if h := splitKey(t, key).Height; t >= Carry || from <= h && h <= to {
			each(h)
		}
		return true
	})
	return read, whole
}

package calendar

import (
	"bytes"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// inRing calls each for the heights from first to last at which the ring holds
// something, until it returns false. It goes by slot and begins with the slot of
// first: in ascending order, unless the range has more heights than slots. The ring
// holds nothing below first. It reads one key for each height, and one for each
// slot on the way that holds only heights after last.
func (c Calendar) inRing(first, last types.Height, each func(types.Height) bool) {
	if first > last {
		return
	}
	from, to, end := c.ringSlot(first), c.ringSlot(last), c.sizes.Ring-1
	switch whole := uint64(last-first) >= end; {
	case whole && from == 0:
		c.inSlots(0, end, first, last, each)
	case whole:
		_ = c.inSlots(from, end, first, last, each) && c.inSlots(0, from-1, first, last, each)
	case from <= to:
		c.inSlots(from, to, first, last, each)
	default:
		_ = c.inSlots(from, end, first, last, each) && c.inSlots(0, to, first, last, each)
	}
}

// inSlots is inRing over a range of slots. It reports whether each never
// returned false.
func (c Calendar) inSlots(from, to uint64, first, last types.Height, each func(types.Height) bool) bool {
	key, behind := atSlot(from, first), behindSlot(to, last)
	for bytes.Compare(key, behind) < 0 {
		p, found := c.firstEntry(Ring, key, behind)
		switch h := p.Height; {
		case !found:
			return true
		case h > last:
			key = atSlot(c.ringSlot(h)+1, first)
		case !each(h):
			return false
		default:
			key = behindSlot(c.ringSlot(h), h)
		}
	}
	return true
}

// firstInRing returns the lowest height from first to last at which the ring holds
// something; below first it holds nothing.
func (c Calendar) firstInRing(first, last types.Height) (least types.Height, found bool) {
	if first > last {
		return 0, false
	}
	round := last
	if uint64(last-first) >= c.sizes.Ring {
		round = first + types.Height(c.sizes.Ring-1)
	}
	c.inRing(first, round, func(h types.Height) bool {
		least, found = h, true
		return false
	})
	if found || round >= last {
		return least, found
	}
	// The sweep lags by more than the ring's length, so slots give no order.
	c.inRing(round+1, last, func(h types.Height) bool {
		if !found || h < least {
			least, found = h, true
		}
		return true
	})
	return least, found
}

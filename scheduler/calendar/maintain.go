package calendar

import "github.com/cowboyinc/devnet/internal/base/types"

// Maintain is the epoch maintenance at the start of block now (CIP-1 §3 step 2).
// It returns what it moved, at most MaxMigrations entries a height. If the header
// skips heights (decision C8), it does the work of each skipped height as if that
// had a block, and takes no time for heights without work. For a height that is
// maintained already it does nothing.
func (c Calendar) Maintain(now types.Height) []Move {
	u := upkeep{Calendar: c, at: c.readCursor(), from: [...][]byte{Epoch: firstKey(Epoch), Overflow: firstKey(Overflow)}}
	if now <= u.at.maintained {
		return nil
	}
	for height := u.at.maintained + 1; ; height = u.nextHeight(now) {
		u.maintainHeight(height)
		if height == now {
			break
		}
	}
	c.setCursor(u.at)
	return u.moves
}

// upkeep is one call of Maintain.
type upkeep struct {
	Calendar
	at    cursor
	left  uint64               // moves that the height has left
	from  [Overflow + 1][]byte // of the epoch queue and the overflow: the key after the moved entries, so as not to visit them again
	moves []Move
}

// maintainHeight is the maintenance of one height: the ring first, then the tier that is
// next to it.
func (u *upkeep) maintainHeight(height types.Height) {
	held := u.lastOf(u.epochOf(u.at.maintained)) // the highest height that the ring can hold
	u.at.maintained, u.left = height, u.sizes.MaxMigrations
	u.sweepRing(min(height-1, held))
	running := u.epochOf(height)
	u.advanceTier(Epoch, u.lastOf(running))
	reach := running + u.sizes.QueueEpochs
	if reach < running {
		reach = ^uint64(0)
	}
	u.advanceTier(Overflow, u.lastOf(reach))
}

// sweepRing takes what the ring holds of heights up to last to the carry.
func (u *upkeep) sweepRing(last types.Height) {
	for {
		h, found := u.firstInRing(u.at.swept, last)
		if !found {
			u.at.swept = u.at.maintained
			return
		}
		u.at.swept = h
		if u.left == 0 {
			return
		}
		u.moveEntries(Ring, atSlot(u.ringSlot(h), h), behindSlot(u.ringSlot(h), h))
	}
}

// advanceTier takes what a tier holds of heights up to last to where it belongs now.
func (u *upkeep) advanceTier(t Tier, last types.Height) {
	if rest := u.moveEntries(t, u.from[t], keyAfterHeight(t, last)); rest != nil {
		u.from[t] = rest
	}
}

// moveEntries takes the first entries of a range of keys, as many as the height has
// left, to where they belong. It returns the key after them, or nil if the range
// was empty.
func (u *upkeep) moveEntries(t Tier, from, to []byte) (rest []byte) {
	if u.left == 0 {
		return nil
	}
	var items []Item
	u.kv.Scan(from, to, func(key, value []byte) bool {
		items = append(items, Item{splitKey(t, key), append([]byte{}, value...)})
		return uint64(len(items)) < u.left
	})
	for _, item := range items {
		old, belongs := u.keyOf(t, item.Place), u.tierFor(item.Place, u.at.maintained)
		u.kv.Set(old, nil)
		u.kv.Set(u.keyOf(belongs, item.Place), item.Value)
		u.moves = append(u.moves, Move{item.Place, t, belongs})
		rest = nextKey(old)
	}
	u.left -= uint64(len(items))
	return rest
}

// nextHeight returns the first height after the last maintained one, and at most now, at
// which there may be something to move.
func (u *upkeep) nextHeight(now types.Height) types.Height {
	if u.sizes.MaxMigrations == 0 {
		return now
	}
	if u.left == 0 { // perhaps it was not enough
		return u.at.maintained + 1
	}
	next := now
	if h, found := u.firstInRing(u.at.swept, u.lastOf(u.epochOf(u.at.maintained))); found && h < next {
		next = h + 1
	}
	if p, found := u.firstEntry(Epoch, u.from[Epoch], endKey(Epoch)); found {
		next = min(next, u.firstOf(u.epochOf(p.Height)))
	}
	if p, found := u.firstEntry(Overflow, u.from[Overflow], endKey(Overflow)); found {
		next = min(next, u.firstOf(u.epochOf(p.Height)-u.sizes.QueueEpochs))
	}
	return next
}

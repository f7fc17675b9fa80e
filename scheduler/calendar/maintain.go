package calendar

import "github.com/cowboyinc/devnet/internal/base/types"

// Maintain is the epoch maintenance at the start of block now (CIP-1 §3 step 2).
// It returns what it moved, at most MaxMigrations entries a height. If the header
// skips heights (decision C8), it does the work of each skipped height as if that
// had a block, and takes no time for heights without work. For a height that is
// maintained already it does nothing.
func (c Calendar) Maintain(now types.Height) []Move {
	u := upkeep{Calendar: c, at: c.cursor(), from: [...][]byte{Epoch: start(Epoch), Overflow: start(Overflow)}}
	if now <= u.at.maintained {
		return nil
	}
	for height := u.at.maintained + 1; ; height = u.next(now) {
		u.step(height)
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

// step is the maintenance of one height: the ring first, then the tier that is
// next to it.
func (u *upkeep) step(height types.Height) {
	held := u.lastOf(u.epoch(u.at.maintained)) // the highest height that the ring can hold
	u.at.maintained, u.left = height, u.sizes.MaxMigrations
	u.sweep(min(height-1, held))
	running := u.epoch(height)
	u.advance(Epoch, u.lastOf(running))
	reach := running + u.sizes.QueueEpochs
	if reach < running {
		reach = ^uint64(0)
	}
	u.advance(Overflow, u.lastOf(reach))
}

// sweep takes what the ring holds of heights up to last to the carry.
func (u *upkeep) sweep(last types.Height) {
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
		u.move(Ring, atSlot(u.slot(h), h), behindSlot(u.slot(h), h))
	}
}

// advance takes what a tier holds of heights up to last to where it belongs now.
func (u *upkeep) advance(t Tier, last types.Height) {
	if rest := u.move(t, u.from[t], behind(t, last)); rest != nil {
		u.from[t] = rest
	}
}

// move takes the first entries of a range of keys, as many as the height has
// left, to where they belong. It returns the key after them, or nil if the range
// was empty.
func (u *upkeep) move(t Tier, from, to []byte) (rest []byte) {
	if u.left == 0 {
		return nil
	}
	var items []Item
	u.kv.Scan(from, to, func(key, value []byte) bool {
		items = append(items, Item{split(t, key), append([]byte{}, value...)})
		return uint64(len(items)) < u.left
	})
	for _, item := range items {
		old, belongs := u.key(t, item.Place), u.tierFor(item.Place, u.at.maintained)
		u.kv.Set(old, nil)
		u.kv.Set(u.key(belongs, item.Place), item.Value)
		u.moves = append(u.moves, Move{item.Place, t, belongs})
		rest = after(old)
	}
	u.left -= uint64(len(items))
	return rest
}

// next returns the first height after the last maintained one, and at most now, at
// which there may be something to move.
func (u *upkeep) next(now types.Height) types.Height {
	if u.sizes.MaxMigrations == 0 {
		return now
	}
	if u.left == 0 { // perhaps it was not enough
		return u.at.maintained + 1
	}
	next := now
	if h, found := u.firstInRing(u.at.swept, u.lastOf(u.epoch(u.at.maintained))); found && h < next {
		next = h + 1
	}
	if p, found := u.first(Epoch, u.from[Epoch], end(Epoch)); found {
		next = min(next, u.firstOf(u.epoch(p.Height)))
	}
	if p, found := u.first(Overflow, u.from[Overflow], end(Overflow)); found {
		next = min(next, u.firstOf(u.epoch(p.Height)-u.sizes.QueueEpochs))
	}
	return next
}

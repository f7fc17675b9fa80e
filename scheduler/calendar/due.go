package calendar

import (
	"cmp"
	"math"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Due returns what is due at now: the entries of heights up to now, the highest rank first,
// then the lowest sequence number, then those in arrears (decision T16), at most limit of
// them. It looks into the carry, the ring's slots not yet swept, the fronts of the epoch
// queue and the overflow, and the arrears. Its cost depends on the due entries there, not
// on all pending ones. The values are copies.
func (c Calendar) Due(now types.Height, limit uint64) []Item {
	items, _ := c.DueOf(now, limit, limit)
	return items
}

// DueOf is Due with at most the given number of entries in arrears. inArrears is how many
// those are.
func (c Calendar) DueOf(now types.Height, limit, arrears uint64) (items []Item, inArrears uint64) {
	if limit == 0 {
		return nil, 0
	}
	m := merge{kv: c.kv, now: now}
	m.addSource(Carry, firstKey(Carry), endKey(Carry))
	at := c.readCursor()
	c.inRing(at.swept, min(now, c.lastOf(c.epochOf(at.maintained))), func(h types.Height) bool {
		m.addSource(Ring, atSlot(c.ringSlot(h), h), behindSlot(c.ringSlot(h), h))
		return true
	})
	m.addFront(c, Epoch)
	m.addFront(c, Overflow)
	items = m.firstItems(limit)
	if _, waits := c.firstEntry(Arrears, firstKey(Arrears), endKey(Arrears)); !waits {
		return items, 0 // as in most blocks
	}
	others := len(items)
	items = m.addArrears(items, min(arrears, limit-uint64(others)), at.settled)
	return items, uint64(len(items) - others)
}

// addArrears appends the first entries in arrears, at most left. Entries that were
// last examined at settled or before count as of one height; the others go by theirs.
// It reads all of the former, at most as many as one height has examined.
func (m *merge) addArrears(items []Item, left uint64, settled types.Height) []Item {
	if left == 0 {
		return items
	}
	border := keyAfterHeight(Arrears, settled)
	early := m.readInto(nil, &source{tier: Arrears, from: firstKey(Arrears), to: border}, math.MaxUint64)
	slices.SortFunc(early, func(a, b Item) int { return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Seq, b.Seq)) })
	early = early[:min(uint64(len(early)), left)]
	items = append(items, early...)
	return m.readInto(items, &source{tier: Arrears, from: border, to: endKey(Arrears)}, left-uint64(len(early)))
}

// source is a range of keys in the order of due entries: the carry, or one height
// of another tier. It is read a piece at a time.
type source struct {
	tier     Tier
	from, to []byte // what is not read yet
	read     []Item // what is read and not taken, in memory
	memory   []Item
	piece    uint64 // how many are read at once, doubling
	done     bool   // nothing is left to read
}

const firstPiece = 8

// merge brings sources into one order.
type merge struct {
	kv      KV
	now     types.Height
	sources []source
	heap    []*source // those that have something, the first item on top
	values  arena
}

func (m *merge) addSource(t Tier, from, to []byte) {
	m.sources = append(m.sources, source{tier: t, from: from, to: to, piece: firstPiece})
}

// addFront adds the heights up to now of the epoch queue or the overflow.
func (m *merge) addFront(c Calendar, t Tier) {
	bound := keyAfterHeight(t, m.now)
	for key := firstKey(t); ; {
		p, found := c.firstEntry(t, key, bound)
		if !found {
			return
		}
		next := keyAfterHeight(t, p.Height)
		m.addSource(t, key, next)
		key = next
	}
}

// firstItems returns the first limit items of all sources.
func (m *merge) firstItems(limit uint64) (items []Item) {
	for i := range m.sources {
		if s := &m.sources[i]; m.refillSource(s) {
			m.heap = append(m.heap, s)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sinkSource(i)
	}
	for len(m.heap) > 1 && uint64(len(items)) < limit {
		items = appendDoubling(items, m.takeItem())
	}
	if len(m.heap) != 1 {
		return items
	}
	rest := m.heap[0]
	items = append(items, rest.read[:min(uint64(len(rest.read)), limit-uint64(len(items)))]...)
	return m.readInto(items, rest, limit-uint64(len(items)))
}

// takeItem takes the first item of all sources.
func (m *merge) takeItem() Item {
	s := m.heap[0]
	item := s.read[0]
	if s.read = s.read[1:]; len(s.read) == 0 && !m.refillSource(s) {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.sinkSource(0)
	return item
}

// sinkSource moves the source at i down to its place in the heap.
func (m *merge) sinkSource(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heap); child++ {
			if m.heap[child].read[0].isBefore(m.heap[least].read[0].Place) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// refillSource reads the next piece of a source; it reports whether there was one.
func (m *merge) refillSource(s *source) bool {
	s.memory = m.readInto(s.memory[:0], s, s.piece)
	s.read = s.memory
	s.piece *= 2
	return len(s.read) > 0
}

// readInto appends the next items of a source, at most n.
func (m *merge) readInto(items []Item, s *source, n uint64) []Item {
	if s.done || n == 0 {
		return items
	}
	enough := uint64(len(items)) + n
	s.done = true
	m.kv.Scan(s.from, s.to, func(key, value []byte) bool {
		p := splitKey(s.tier, key)
		if p.Height > m.now { // of the carry, where now is a height gone by
			return true
		}
		items = appendDoubling(items, Item{p, m.values.keepValue(value)})
		s.done = uint64(len(items)) < enough
		if !s.done {
			s.from = nextKey(key)
		}
		return s.done
	})
	return items
}

// appendDoubling is append that doubles what is full: append itself would copy an item of a
// long list five times.
func appendDoubling(items []Item, item Item) []Item {
	if len(items) == cap(items) {
		items = slices.Grow(items, len(items)+firstPiece)
	}
	return append(items, item)
}

// arena keeps copies of many small values in a few pieces of memory, each twice
// the one before: most blocks have few values.
type arena struct {
	free  []byte
	piece int // bytes of the last one
}

const (
	firstArenaBytes = 1 << 10
	arenaBytes      = 1 << 16 // of the largest piece
)

func (a *arena) keepValue(value []byte) []byte {
	switch {
	case len(value) > arenaBytes/8:
		return append([]byte{}, value...)
	case len(a.free) <= len(value):
		a.piece = min(max(2*a.piece, 2*len(value), firstArenaBytes), arenaBytes)
		a.free = make([]byte, a.piece)
	}
	n := copy(a.free, value)
	kept := a.free[:n:n]
	a.free = a.free[n:]
	return kept
}

// Package calendar is the tiered calendar queue of CIP-1 §2: it keeps what is
// to happen at a height, finds what is due, and moves what comes nearer from
// tier to tier. It knows heights, ranks and sequence numbers; the meaning of an
// entry belongs to its caller.
//
// All of it is consensus state, reached through KV; nothing is kept between
// calls. Numbers in keys are eight bytes, big-endian, unless said; a rank is
// complemented, so that the higher one comes first:
//
//	t/q/<slot be2><height><^rank><seq>  ring (§2.1): slot = height mod Ring
//	t/e/<height><^rank><seq>            epoch queue (§2.2): bucket E is the range of its heights
//	t/f/<height><^rank><seq>            overflow (§2.3): an ordered range of the state trie (decision T8)
//	t/c/<^rank><seq><height>            carry (decision T7): what is past its height and has not ended
//	t/t/<examined><^rank><seq><height>  arrears (decision T16): what could not pay when it was last examined
//	t/m                                 cursor: [maintained, swept] or [maintained, swept, settled], deterministic CBOR
//
// Values belong to the caller and move unchanged.
//
// Where an entry belongs follows from its height and from the height to which
// the calendar is maintained: below that, the carry; in its epoch (the running
// one), the ring; up to QueueEpochs epochs ahead, the epoch queue (decision
// T27); beyond, the overflow. Maintain brings entries there, at most MaxMigrations a
// height: first what the ring holds of heights gone by, then what the epoch
// queue holds of the running epoch, then what has come into the epoch queue's
// reach. So a rollover of any size is spread over blocks.
//
// Nothing depends on how far it got. Due looks wherever a due entry can be: in the
// carry, in the ring's slots not yet swept, and in the epoch queue and the overflow
// up to that height. The keys of the ring hold the full height, so heights that
// share a slot do not mix.
//
// The arrears come after all of these (decision T16): the entry that was examined
// longest ago first. The caller puts an entry there by Shift, with the height of
// the examination. A height that examines all due entries calls Settle instead of
// a Shift of each entry. Due then takes that height for all earlier examinations.
// So entries that wait in arrears write one key a block, and not one each.
//
// A tier is left by trigger height, then rank, then sequence (decision T7), the
// order of its keys. In sequence order, the timers due next could follow any number
// of others. A bounded rollover would then need a second index, or search the whole
// bucket to choose the next move.
//
// Always true, and checked by Check: an entry is stored once, under the key of its
// place, and no sequence number occurs twice. The ring holds heights from swept to
// the end of the running epoch, the epoch queue none beyond its reach, the carry
// only past heights. The arrears hold no height above that of the examination.
// swept, settled and each examination are at most maintained.
//
// Left to others: that heights are in time, that sequence numbers are never used
// again, and that the ring is at least as long as an epoch (params). A shorter
// ring would cost more and be as right.
package calendar

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// KV is the consensus state. Get and Scan lend slices that are read during the
// call only and never written; Set keeps key and value. Scan is not run
// across a Set.
type KV interface {
	// Get returns the value, or nil.
	Get(key []byte) []byte
	// Set stores value; nil deletes.
	Set(key, value []byte)
	// Scan calls each for the keys in [from, to) in order until it returns
	// false.
	Scan(from, to []byte, each func(key, value []byte) bool)
}

// MaxRing is the largest number of slots that a key can tell apart.
const MaxRing = 1 << 16

// Sizes are the parameters of the calendar. All but MaxMigrations are genesis only;
// MaxMigrations may change from block to block.
type Sizes struct {
	Ring          uint64 // slots, 1 to MaxRing; RING_BUFFER_SIZE, 4,096 (CIP-1 §2.1)
	EpochBlocks   uint64 // blocks an epoch, at least 1; 3,600 (decision T7)
	QueueEpochs   uint64 // epochs ahead of the running one that the epoch queue holds; 168 (decisions T7, T27)
	MaxMigrations uint64 // entries that Maintain moves a height; with 0 nothing moves and nothing is late
}

// SizesOf returns the sizes that parameters set.
func SizesOf(p *params.Params) Sizes {
	return Sizes{Ring: p.RingSlots, EpochBlocks: p.CalendarEpochBlocks, QueueEpochs: p.QueueEpochs, MaxMigrations: p.MaxMigrationsPerBlock}
}

// Place orders an entry in the calendar. Only Shift changes the place of an entry
// that is in.
type Place struct {
	Height   types.Height // the height at which it is due
	Rank     uint64       // the higher goes first (decision T16: the stated tip, saturated)
	Seq      types.Seq    // unique; the lower goes first among equal ranks
	Examined types.Height // of an entry in the arrears: the height of its last Shift; 0 in every other tier
}

// isBefore is the order of due entries not in the arrears, and of entries in arrears whose
// last examination has one height (decision T16).
func (p Place) isBefore(q Place) bool { return p.Rank > q.Rank || p.Rank == q.Rank && p.Seq < q.Seq }

// Item is an entry.
type Item struct {
	Place
	Value []byte
}

// Tier is a part of the calendar.
type Tier uint8

// The tiers, by distance (CIP-1 §2), the carry and the arrears.
const (
	Ring Tier = iota
	Epoch
	Overflow
	Carry
	Arrears
)

var tierNames = [...]string{Ring: "ring", Epoch: "epoch", Overflow: "overflow", Carry: "carry", Arrears: "arrears"}

// String returns the name under which people know the tier.
func (t Tier) String() string { return tierNames[t] }

// Move says that Maintain took an entry from a tier to another.
type Move struct {
	Place
	From, To Tier
}

// Calendar is the calendar in a state.
type Calendar struct {
	kv    KV
	sizes Sizes
}

// Of opens the calendar in state. Invalid sizes are a bug in the caller.
func Of(kv KV, s Sizes) Calendar {
	if s.Ring == 0 || s.Ring > MaxRing || s.EpochBlocks == 0 {
		panic(fmt.Sprintf("calendar: %d slots and epochs of %d blocks; give 1 to %d slots and at least 1 block", s.Ring, s.EpochBlocks, MaxRing))
	}
	return Calendar{kv, s}
}

// Insert puts an entry into the tier where it belongs, with one write. p is not
// in the calendar yet, and its height is not below the one maintained to; an
// entry that is late all the same goes to the carry. A nil value, with which the
// entry would be lost, is a bug of the caller's, here and in Replace.
func (c Calendar) Insert(p Place, value []byte) {
	c.setKey(c.keyOf(c.tierFor(p, c.readCursor().maintained), p), value)
}

// Shift moves a due entry into the arrears, with examined as the height of its last
// examination, or out of them with 0. It returns the new place. value is the value of
// the entry. An entry that is not in the calendar is a bug of the caller's.
//
// Spec: decision T16.
func (c Calendar) Shift(p Place, examined types.Height, value []byte) Place {
	c.Remove(p)
	p.Examined = examined
	c.Insert(p, value)
	return p
}

// Settle notes that height now has examined all that is due: of no entry in the
// arrears is the last examination earlier. With empty arrears it writes nothing.
//
// Spec: decision T16.
func (c Calendar) Settle(now types.Height) {
	if _, any := c.firstEntry(Arrears, firstKey(Arrears), endKey(Arrears)); any {
		at := c.readCursor()
		at.settled = now
		c.setCursor(at)
	}
}

func (c Calendar) setKey(key, value []byte) {
	if value == nil {
		panic("calendar: an entry without a value; an empty one is not nil")
	}
	c.kv.Set(key, value)
}

// tierFor returns where an entry belongs when the calendar is maintained to now.
func (c Calendar) tierFor(p Place, now types.Height) Tier {
	running, epoch := c.epochOf(now), c.epochOf(p.Height)
	switch {
	case p.Examined > 0:
		return Arrears
	case p.Height < now:
		return Carry
	case epoch == running:
		return Ring
	case epoch-running <= c.sizes.QueueEpochs: // decision T27: the last of them included
		return Epoch
	}
	return Overflow
}

// Find returns the value of an entry and its tier.
func (c Calendar) Find(p Place) (value []byte, tier Tier, ok bool) {
	belongs := c.tierFor(p, c.readCursor().maintained)
	for _, tier := range searches[belongs] {
		if value := c.kv.Get(c.keyOf(tier, p)); value != nil {
			return value, tier, true
		}
	}
	return nil, belongs, false
}

// searches lists the tiers in which an entry can be, by the tier where it belongs:
// that one, or one from which maintenance has not moved it yet.
var searches = [...][]Tier{
	Ring:     {Ring, Epoch, Overflow},
	Epoch:    {Epoch, Overflow},
	Overflow: {Overflow},
	Carry:    {Carry, Ring, Epoch, Overflow},
	Arrears:  {Arrears},
}

// Replace rewrites the value of an entry in place. An entry that is not in the
// calendar is a bug of the caller's.
func (c Calendar) Replace(p Place, value []byte) { c.setKey(c.mustFind(p), value) }

// Remove deletes an entry from its tier. An entry that is not in the calendar is a
// bug of the caller's.
func (c Calendar) Remove(p Place) { c.kv.Set(c.mustFind(p), nil) }

func (c Calendar) mustFind(p Place) (key []byte) {
	_, tier, ok := c.Find(p)
	if !ok {
		panic(fmt.Sprintf("calendar: no entry at height %d, rank %d, sequence %d, examined at %d", p.Height, p.Rank, p.Seq, p.Examined))
	}
	return c.keyOf(tier, p)
}

// Next returns the lowest height at which an entry is due. If the carry or the
// arrears have entries, it is the height of the first of these, which has passed. ok
// is false for an empty calendar.
func (c Calendar) Next() (height types.Height, ok bool) {
	for _, tier := range []Tier{Carry, Arrears} {
		if p, waits := c.firstEntry(tier, firstKey(tier), endKey(tier)); waits {
			return p.Height, true
		}
	}
	at := c.readCursor()
	height, ok = c.firstInRing(at.swept, c.lastOf(c.epochOf(at.maintained)))
	for _, tier := range []Tier{Epoch, Overflow} {
		if p, found := c.firstEntry(tier, firstKey(tier), endKey(tier)); found && (!ok || p.Height < height) {
			height, ok = p.Height, true
		}
	}
	return height, ok
}

// firstEntry returns the first entry in a range of a tier's keys.
func (c Calendar) firstEntry(t Tier, from, to []byte) (p Place, ok bool) {
	var first []byte
	c.kv.Scan(from, to, func(key, _ []byte) bool {
		first = key
		return false
	})
	if first == nil {
		return p, false
	}
	return splitKey(t, first), true
}

// epochOf is the number of the epoch to which a height belongs.
func (c Calendar) epochOf(h types.Height) uint64 { return uint64(h) / c.sizes.EpochBlocks }

// firstOf is the first height of an epoch that some height has.
func (c Calendar) firstOf(epoch uint64) types.Height {
	return types.Height(epoch * c.sizes.EpochBlocks)
}

// lastOf returns the last height of an epoch, or the highest height if the epoch
// reaches beyond it.
func (c Calendar) lastOf(epoch uint64) types.Height {
	if epoch >= c.epochOf(maxHeight) {
		return maxHeight
	}
	return c.firstOf(epoch+1) - 1
}

const maxHeight = ^types.Height(0)

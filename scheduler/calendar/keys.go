package calendar

import (
	"encoding/binary"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

const (
	prefixBytes = 4 // "t/x/"
	slotBytes   = 2
	placeBytes  = 3 * 8
	shiftBytes  = 8 // of the height of the last examination
)

var (
	prefixes = [...][]byte{Ring: []byte("t/q/"), Epoch: []byte("t/e/"), Overflow: []byte("t/f/"), Carry: []byte("t/c/"),
		Arrears: []byte("t/t/")}
	ends = [...][]byte{Ring: []byte("t/q0"), Epoch: []byte("t/e0"), Overflow: []byte("t/f0"), Carry: []byte("t/c0"),
		Arrears: []byte("t/t0")}
)

// firstKey returns the first key that a tier can have, end the first key after all of them: '0' follows '/'.
// Both are read only. Their capacity is their length, so that an append copies them.
func firstKey(t Tier) []byte { return slices.Clip(prefixes[t]) }
func endKey(t Tier) []byte   { return slices.Clip(ends[t]) }

// beginKey returns a tier's prefix, with room for a whole key.
func beginKey(t Tier) []byte {
	return append(make([]byte, 0, prefixBytes+max(slotBytes, shiftBytes)+placeBytes), prefixes[t]...)
}

func appendNumber(key []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(key, n) }

// keyOf returns the key of an entry in a tier.
func (c Calendar) keyOf(t Tier, p Place) []byte {
	key := beginKey(t)
	if t == Arrears {
		key = appendNumber(key, uint64(p.Examined))
	}
	if t >= Carry {
		return appendNumber(appendNumber(appendNumber(key, ^p.Rank), uint64(p.Seq)), uint64(p.Height))
	}
	if t == Ring {
		key = binary.BigEndian.AppendUint16(key, uint16(c.ringSlot(p.Height)))
	}
	return appendNumber(appendNumber(appendNumber(key, uint64(p.Height)), ^p.Rank), uint64(p.Seq))
}

// splitKey reads the place from a tier's key.
func splitKey(t Tier, key []byte) Place {
	at := key[len(key)-placeBytes:]
	a, b, c := binary.BigEndian.Uint64(at), binary.BigEndian.Uint64(at[8:]), binary.BigEndian.Uint64(at[16:])
	switch t {
	case Carry:
		return Place{Rank: ^a, Seq: types.Seq(b), Height: types.Height(c)}
	case Arrears:
		examined := types.Height(binary.BigEndian.Uint64(key[prefixBytes:]))
		return Place{Rank: ^a, Seq: types.Seq(b), Height: types.Height(c), Examined: examined}
	}
	return Place{Height: types.Height(a), Rank: ^b, Seq: types.Seq(c)}
}

// keyBytes is the length of a tier's keys.
func keyBytes(t Tier) int {
	switch t {
	case Ring:
		return prefixBytes + slotBytes + placeBytes
	case Arrears:
		return prefixBytes + shiftBytes + placeBytes
	}
	return prefixBytes + placeBytes
}

// ringSlot is the ring's bucket of a height (CIP-1 §2.1).
func (c Calendar) ringSlot(h types.Height) uint64 { return uint64(h) % c.sizes.Ring }

// atSlot returns the first key that heights of h and above have in a slot, which
// may be the slot after the last.
func atSlot(slot uint64, h types.Height) []byte {
	if slot >= MaxRing {
		return endKey(Ring)
	}
	return appendNumber(binary.BigEndian.AppendUint16(beginKey(Ring), uint16(slot)), uint64(h))
}

// behindSlot returns the first key after those that heights of h and below have in
// a slot.
func behindSlot(slot uint64, h types.Height) []byte {
	if h == maxHeight {
		return atSlot(slot+1, 0)
	}
	return atSlot(slot, h+1)
}

// keyAfterHeight returns the first key after all entries of heights up to h, in the epoch
// queue or the overflow; in the arrears, of examinations up to h.
func keyAfterHeight(t Tier, h types.Height) []byte {
	if h == maxHeight {
		return endKey(t)
	}
	return appendNumber(beginKey(t), uint64(h)+1)
}

// nextKey returns the smallest key above this one.
func nextKey(key []byte) []byte { return append(append(make([]byte, 0, len(key)+1), key...), 0) }

package scheduler

import (
	"encoding/binary"
	"errors"

	"github.com/cowboyinc/devnet/internal/types"
)

// Entry is a pending timer as the calendar has it: what it takes to examine the
// timer without reading its record. Height and Seq are in the key.
type Entry struct {
	Height    types.Height
	Seq       types.Seq
	ID        types.TimerID
	Actor     types.Address
	FeePayer  types.Address
	GasLimit  types.Cycles
	ExpiresAt types.Height
}

// maxEntryBytes is an entry with the greatest numbers.
const maxEntryBytes = 1 + 2 + 32 + 2*(1+20) + 2*9

var errEntry = errors.New("scheduler: a due entry is malformed")

// encode returns the deterministic CBOR of the array [id, actor, fee_payer,
// gas_limit, expires_at]. It is written out by hand, as is decodeEntry, because
// a block may examine fifty thousand of them.
func (e *Entry) encode() []byte {
	b := make([]byte, 0, maxEntryBytes)
	b = append(b, 0x85, 0x58, 32)
	b = append(b, e.ID[:]...)
	b = append(append(b, 0x54), e.Actor[:]...)
	b = append(append(b, 0x54), e.FeePayer[:]...)
	b = appendUint(b, uint64(e.GasLimit))
	return appendUint(b, uint64(e.ExpiresAt))
}

// decodeEntry reads what encode writes and nothing else.
func decodeEntry(height types.Height, seq types.Seq, data []byte) (Entry, error) {
	const gasAt = 3 + 32 + 2*21
	if len(data) < gasAt || data[0] != 0x85 || data[1] != 0x58 || data[2] != 32 || data[35] != 0x54 || data[56] != 0x54 {
		return Entry{}, errEntry
	}
	gas, rest, ok := cutUint(data[gasAt:])
	if !ok {
		return Entry{}, errEntry
	}
	expires, rest, ok := cutUint(rest)
	if !ok || len(rest) > 0 {
		return Entry{}, errEntry
	}
	return Entry{
		Height: height, Seq: seq,
		ID: types.TimerID(data[3:35]), Actor: types.Address(data[36:56]), FeePayer: types.Address(data[57:77]),
		GasLimit: types.Cycles(gas), ExpiresAt: types.Height(expires),
	}, nil
}

func mustDecodeEntry(height types.Height, seq types.Seq, data []byte) Entry {
	e, err := decodeEntry(height, seq, data)
	if err != nil {
		panic(err)
	}
	return e
}

// appendUint appends n as CBOR has it, in the fewest bytes.
func appendUint(b []byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, byte(n))
	case n < 1<<8:
		return append(b, 0x18, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, 0x19), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, 0x1a), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0x1b), n)
}

// cutUint reads a CBOR unsigned integer in its fewest bytes from the front.
func cutUint(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	if b[0] < 24 {
		return uint64(b[0]), b[1:], true
	}
	if b[0] < 0x18 || b[0] > 0x1b {
		return 0, nil, false
	}
	size := 1 << (b[0] - 0x18)
	if len(b) < 1+size {
		return 0, nil, false
	}
	for _, c := range b[1 : 1+size] {
		n = n<<8 | uint64(c)
	}
	least := uint64(24)
	if size > 1 {
		least = 1 << (4 * size) // what half the bytes could hold
	}
	return n, b[1+size:], n >= least
}

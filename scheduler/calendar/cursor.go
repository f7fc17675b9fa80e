package calendar

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/types"
)

// cursor is how far maintenance got. In a state without one both are 0.
type cursor struct {
	maintained types.Height // the last height whose maintenance is done
	swept      types.Height // the ring holds nothing of heights below; at most maintained
}

var keyCursor = []byte("t/m")

const maxCursorBytes = 1 + 2*9

func (c Calendar) cursor() cursor {
	data := c.kv.Get(keyCursor)
	if data == nil {
		return cursor{}
	}
	at, ok := decodeCursor(data)
	if !ok {
		panic("calendar: the cursor in state is damaged")
	}
	return at
}

func (c Calendar) setCursor(at cursor) { c.kv.Set(keyCursor, at.encode()) }

// encode returns the deterministic CBOR of the array [maintained, swept]. It is
// written out by hand, as is decodeCursor, because every insert reads it.
func (at cursor) encode() []byte {
	b := append(make([]byte, 0, maxCursorBytes), 0x82)
	return appendUint(appendUint(b, uint64(at.maintained)), uint64(at.swept))
}

// decodeCursor reads what encode writes and nothing else.
func decodeCursor(data []byte) (at cursor, ok bool) {
	if len(data) == 0 || data[0] != 0x82 {
		return cursor{}, false
	}
	maintained, rest, ok := cutUint(data[1:])
	if !ok {
		return cursor{}, false
	}
	swept, rest, ok := cutUint(rest)
	return cursor{types.Height(maintained), types.Height(swept)}, ok && len(rest) == 0
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
	if len(b) == 0 || b[0] > 0x1b {
		return 0, nil, false
	}
	if b[0] < 24 {
		return uint64(b[0]), b[1:], true
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

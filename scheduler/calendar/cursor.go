package calendar

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
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
	return codec.AppendUnsigned(codec.AppendUnsigned(b, uint64(at.maintained)), uint64(at.swept))
}

// decodeCursor reads what encode writes and nothing else.
func decodeCursor(data []byte) (at cursor, ok bool) {
	if len(data) == 0 || data[0] != 0x82 {
		return cursor{}, false
	}
	maintained, rest, ok := codec.CutUnsigned(data[1:])
	if !ok {
		return cursor{}, false
	}
	swept, rest, ok := codec.CutUnsigned(rest)
	return cursor{types.Height(maintained), types.Height(swept)}, ok && len(rest) == 0
}

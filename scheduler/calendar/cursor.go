package calendar

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// cursor is the progress of maintenance. In a state without one both are 0.
type cursor struct {
	maintained types.Height // the last height whose maintenance is done
	swept      types.Height // the ring holds nothing of heights below; at most maintained
	settled    types.Height // the last height that examined all that was due, with entries in the arrears; at most maintained
}

const (
	cborTwo   = 0x82 // an array of two elements
	cborThree = 0x83
)

var keyCursor = []byte("t/m")

const maxCursorBytes = 1 + 3*9

func (c Calendar) readCursor() cursor {
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

func (c Calendar) setCursor(at cursor) { c.kv.Set(keyCursor, at.encodeCursor()) }

// encodeCursor returns the deterministic CBOR of the array [maintained, swept], with
// settled as a third number unless that is 0. It is written out by hand, as is
// decodeCursor, because every insert reads it.
func (at cursor) encodeCursor() []byte {
	b := append(make([]byte, 0, maxCursorBytes), cborTwo)
	b = codec.AppendUnsigned(codec.AppendUnsigned(b, uint64(at.maintained)), uint64(at.swept))
	if at.settled == 0 {
		return b
	}
	b[0] = cborThree
	return codec.AppendUnsigned(b, uint64(at.settled))
}

// decodeCursor reads what encode writes and nothing else.
func decodeCursor(data []byte) (at cursor, ok bool) {
	if len(data) == 0 || data[0] != cborTwo && data[0] != cborThree {
		return cursor{}, false
	}
	maintained, rest, ok := codec.CutUnsigned(data[1:])
	if !ok {
		return cursor{}, false
	}
	swept, rest, ok := codec.CutUnsigned(rest)
	if !ok {
		return cursor{}, false
	}
	at = cursor{maintained: types.Height(maintained), swept: types.Height(swept)}
	if data[0] == cborThree {
		var settled uint64
		settled, rest, ok = codec.CutUnsigned(rest)
		at.settled, ok = types.Height(settled), ok && settled > 0
	}
	return at, ok && len(rest) == 0
}

package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Records and tallies are read for each fire, so those of the common form are
// read here; whatever else is in state is left to the decoder.

// encodeRecord returns the deterministic CBOR of a record. For a timer in arrears it is the
// array [examined, record] (decision T16). For every other it is the record, as states
// from before the arrears have it.
func (r *record) encodeRecord() []byte {
	data := codec.Marshal(r)
	if r.Examined == 0 {
		return data
	}
	b := codec.AppendUnsigned(append(make([]byte, 0, 1+9+len(data)), cborPair), uint64(r.Examined))
	return append(b, data...)
}

const cborPair = 0x82 // an array of two

// mustReadRecord reads what encode wrote.
func mustReadRecord(data []byte) record {
	examined := types.Height(0)
	if len(data) > 0 && data[0] == cborPair {
		in := reader{rest: data[1:]}
		if examined = types.Height(in.readUint()); in.bad || examined == 0 {
			panic("scheduler: the record of a timer in arrears is damaged")
		}
		data = in.rest
	}
	r, ok := decodeRecord(data)
	if !ok {
		r = mustReadNew[record](data)
	}
	r.Examined = examined
	return r
}

// mustReadNew is mustRead into a new value, which the fast readers do without.
func mustReadNew[T any](data []byte) (v T) {
	mustRead(data, &v)
	return v
}

// decodeRecord reads a record that watches nothing; ok is false for every other.
func decodeRecord(data []byte) (r record, ok bool) {
	if len(data) == 0 || data[0] != 0x87 { // an array of seven
		return record{}, false
	}
	in := reader{rest: data[1:]}
	at, rank, seq, height := in.readUint(), in.readUint(), in.readUint(), in.readUint()
	handler := in.readText()
	scheduled := in.readUint()
	if !in.takeNull() || in.bad || len(in.rest) > 0 {
		return record{}, false
	}
	return record{At: types.Height(at), Rank: rank, Seq: types.Seq(seq), Height: types.Height(height), Handler: handler,
		ScheduledAt: types.Height(scheduled)}, true
}

// decodeTally reads a tally; ok is false for other bytes.
func decodeTally(data []byte) (t tally, ok bool) {
	if len(data) == 0 || data[0] != 0x82 { // an array of two
		return tally{}, false
	}
	in := reader{rest: data[1:]}
	t = tally{Pending: in.readUint(), Nonce: in.readUint()}
	return t, !in.bad && len(in.rest) == 0
}

// readText reads a text of less than 24 bytes, or of less than 256; a longer one is
// bad to it.
func (r *reader) readText() string {
	size, at := 0, 1
	switch {
	case len(r.rest) > 0 && r.rest[0]>>5 == 3 && r.rest[0]&31 < 24:
		size = int(r.rest[0] & 31)
	case len(r.rest) > 1 && r.rest[0] == 0x78:
		size, at = int(r.rest[1]), 2
	default:
		r.bad, r.rest = true, nil
		return ""
	}
	if len(r.rest) < at+size {
		r.bad, r.rest = true, nil
		return ""
	}
	s := string(r.rest[at : at+size])
	r.rest = r.rest[at+size:]
	return s
}

package history

import (
	"encoding/binary"
	"errors"
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// verdict is a block's result for a timer that it examined. In a record of moves
// between tiers Status is the tier left and Reason the one entered.
type verdict struct {
	Status   types.TimerStatus
	Reason   string
	Priority types.Wei
	Weight   types.Weight
}

// rows is a list of timers with a verdict each, packed, since a block may
// examine fifty thousand timers and every validator writes that down. Most verdicts
// of a block are equal, and most timers are adjacent in the order they were
// scheduled, so a timer takes two to four bytes; a timer with a distinct priority
// takes some twelve.
//
// The form, in varints: the number of texts, and each with its length; the number
// of weights, and each as numerator and denominator. Then the number of verdicts,
// and each as the places of status, reason and weight, then the priority as a
// length and big-endian bytes. Then the number of timers, and each as the distance
// of its sequence number from the one before and the place of its verdict.
type rows struct {
	texts    table[string]
	weights  table[types.Weight]
	verdicts table[verdict]
	last     verdict // of the timer before
	lastAt   uint64  // the place of last
	seq      types.Seq
	count    uint64
	timers   []byte
}

// table numbers values in the order they come up.
type table[T comparable] struct {
	places map[T]uint64
	values []T
}

func (t *table[T]) placeOf(v T) uint64 {
	if at, ok := t.places[v]; ok {
		return at
	}
	if t.places == nil {
		t.places = map[T]uint64{}
	}
	at := uint64(len(t.values))
	t.places[v] = at
	t.values = append(t.values, v)
	return at
}

func (r *rows) addRow(seq types.Seq, v verdict) {
	if r.count == 0 || v != r.last {
		r.texts.placeOf(string(v.Status))
		r.texts.placeOf(v.Reason)
		r.weights.placeOf(v.Weight)
		r.last, r.lastAt = v, r.verdicts.placeOf(v)
	}
	r.timers = binary.AppendVarint(r.timers, int64(seq-r.seq))
	r.timers = binary.AppendUvarint(r.timers, r.lastAt)
	r.seq = seq
	r.count++
}

func (r *rows) encodeRows() []byte {
	b := binary.AppendUvarint(make([]byte, 0, len(r.timers)+16*len(r.verdicts.values)+64), uint64(len(r.texts.values)))
	for _, text := range r.texts.values {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	b = binary.AppendUvarint(b, uint64(len(r.weights.values)))
	for _, w := range r.weights.values {
		b = binary.AppendUvarint(binary.AppendUvarint(b, w.Num), w.Den)
	}
	b = binary.AppendUvarint(b, uint64(len(r.verdicts.values)))
	for i := range r.verdicts.values {
		v := &r.verdicts.values[i]
		b = binary.AppendUvarint(b, r.texts.placeOf(string(v.Status)))
		b = binary.AppendUvarint(b, r.texts.placeOf(v.Reason))
		b = binary.AppendUvarint(b, r.weights.placeOf(v.Weight))
		priority := v.Priority.Big().Bytes()
		b = append(append(b, byte(len(priority))), priority...)
	}
	return append(binary.AppendUvarint(b, r.count), r.timers...)
}

var errRows = errors.New("a stored record of the timer lane is damaged")

// eachRow calls each for every timer of an encoding until it returns false.
func eachRow(data []byte, each func(types.Seq, *verdict) bool) error {
	r := rowReader{rest: data}
	verdicts := r.readVerdicts()
	count := r.readNumber()
	var seq types.Seq
	for range count {
		if r.bad {
			return errRows
		}
		distance, n := binary.Varint(r.rest)
		r.cutBytes(n)
		at := r.readNumber()
		if r.bad || at >= uint64(len(verdicts)) {
			return errRows
		}
		seq += types.Seq(distance)
		if !each(seq, &verdicts[at]) {
			return nil
		}
	}
	if r.bad || len(r.rest) > 0 {
		return errRows
	}
	return nil
}

// rowReader cuts values off the front; the first missing value sets bad.
type rowReader struct {
	rest []byte
	bad  bool
}

func (r *rowReader) cutBytes(n int) []byte {
	if n <= 0 || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	head := r.rest[:n]
	r.rest = r.rest[n:]
	return head
}

func (r *rowReader) readNumber() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.cutBytes(size)
	return n
}

// readCount reads how many values follow, each of at least the given number of bytes,
// so that a damaged record makes no large list.
func (r *rowReader) readCount(bytes int) int {
	n := r.readNumber()
	if n > uint64(len(r.rest)/bytes) {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(n)
}

func (r *rowReader) readBytes(n uint64) []byte {
	if n == 0 || n > uint64(len(r.rest)) {
		r.bad = r.bad || n > 0
		return nil
	}
	return r.cutBytes(int(n))
}

func (r *rowReader) readVerdicts() []verdict {
	texts := make([]string, r.readCount(1))
	for i := range texts {
		texts[i] = string(r.readBytes(r.readNumber()))
	}
	weights := make([]types.Weight, r.readCount(2))
	for i := range weights {
		weights[i].Num, weights[i].Den = r.readNumber(), r.readNumber()
	}
	verdicts := make([]verdict, r.readCount(4))
	for i := range verdicts {
		status, reason, weight := r.readNumber(), r.readNumber(), r.readNumber()
		priority, ok := types.WeiFromBig(new(big.Int).SetBytes(r.readBytes(r.readNumber())))
		if r.bad || !ok || max(status, reason) >= uint64(len(texts)) || weight >= uint64(len(weights)) {
			r.bad, r.rest = true, nil
			return nil
		}
		verdicts[i] = verdict{types.TimerStatus(texts[status]), texts[reason], priority, weights[weight]}
	}
	return verdicts
}

package oracle

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"golang.org/x/crypto/sha3"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// judgeStateRoot judges the root of the state after a block: the validator's root equals
// the header's, and at sampled heights the root of a full re-hash.
func (j *Judge) judgeStateRoot(o *Observation) {
	h := &o.Block.Header
	if o.StateRoot != h.StateRoot {
		j.reportViolation("roots", h.Height, o.Validator, "its state has root %s, the header says %s", o.StateRoot, h.StateRoot)
	}
	if o.State == nil {
		return
	}
	j.seen.Rehashed++
	if !sharesMemory(j.rehashed.state, o.State) {
		j.rehashed = lastRehash{o.State, Root(o.State)}
	}
	if root := j.rehashed.root; root != h.StateRoot {
		j.reportViolation("roots", h.Height, o.Validator, "%d keys of state hash to %s, the header says %s", len(o.State), root, h.StateRoot)
	}
}

// lastRehash is the state hashed last: validators that share it in memory are
// judged by one hash.
type lastRehash struct {
	state []Entry
	root  types.Hash
}

// Root is the hash of all state, by definition and not by any tree: the keys
// are parted at the first bit in which they differ, again and again.
//
//	leaf   keccak256(0x00 ‖ key length be4 ‖ key ‖ value)
//	inner  keccak256(0x01 ‖ bit position be4 ‖ left ‖ right)
//	empty  32 zero bytes
//
// A key has nine bits a byte: a 1 that says there is a byte, then the byte from
// its highest bit; after its end there are zeros.
func Root(state []Entry) types.Hash {
	sorted := slices.Clone(state)
	slices.SortFunc(sorted, func(a, b Entry) int { return bytes.Compare(a.Key, b.Key) })
	if len(sorted) == 0 {
		return types.Hash{}
	}
	return rootOf(sorted, 0)
}

// rootOf hashes sorted entries whose keys agree in all bits before from.
func rootOf(entries []Entry, from int) types.Hash {
	if len(entries) == 1 {
		e := entries[0]
		return keccak256([]byte{0}, be4(len(e.Key)), e.Key, e.Value)
	}
	// In sorted order, what the first and the last agree in all between do.
	first, last := entries[0].Key, entries[len(entries)-1].Key
	position := from
	for bitAt(first, position) == bitAt(last, position) {
		if position > 9*max(len(first), len(last)) {
			return types.Hash{0xff} // duplicate key: no root is like this
		}
		position++
	}
	split := slices.IndexFunc(entries, func(e Entry) bool { return bitAt(e.Key, position) == 1 })
	left, right := rootOf(entries[:split], position+1), rootOf(entries[split:], position+1)
	return keccak256([]byte{1}, be4(position), left[:], right[:])
}

// bitAt returns a bit of a key, at nine bits a byte.
func bitAt(key []byte, position int) int {
	i, within := position/9, position%9
	switch {
	case i >= len(key):
		return 0
	case within == 0:
		return 1
	default:
		return int(key[i]>>(8-within)) & 1
	}
}

func be4(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

func be8(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func keccak256(parts ...[]byte) (digest types.Hash) {
	state := sha3.NewLegacyKeccak256()
	for _, part := range parts {
		state.Write(part)
	}
	state.(io.Reader).Read(digest[:]) // Sum would copy the state to keep it
	return digest
}

package oracle

import (
	"bytes"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// judgeAgreement judges a block against what others finalized at its height and against
// its parent.
func (j *Judge) judgeAgreement(o *Observation) {
	h := &o.Block.Header
	wrong := func(format string, args ...any) {
		j.reportViolation("agreement", h.Height, o.Validator, format, args...)
	}
	if known := j.chain[h.Height]; known != nil && known.first.sharesValuesWith(o) {
		return
	}
	if own := hashHeader(h); own != o.Hash {
		wrong("the block's hash is %s, the validator knows it as %s", own, o.Hash)
	}
	j.judgeLink(o, wrong)
	j.judgeCommitments(o, wrong)
	known := j.chain[h.Height]
	if known == nil {
		return
	}
	first := &known.first
	if first.Hash != o.Hash {
		wrong("finalized %s, while %s finalized %s", o.Hash, first.Validator, first.Hash)
		return
	}
	if !encodesEqual(first.Receipts, o.Receipts) {
		wrong("receipts differ from those of %s", first.Validator)
	}
	if !encodesEqual(first.Timers, o.Timers) {
		wrong("timer changes differ from those of %s", first.Validator)
	}
	if !encodesEqual(first.NextSet, o.NextSet) {
		wrong("the set of its next epoch differs from that of %s", first.Validator)
	}
}

// sharesValuesWith says that an observation shows the very values, in memory, that an earlier
// one did: validators of one process share the results of executing a block.
// Values judged there need not be judged again.
func (o *Observation) sharesValuesWith(later *Observation) bool {
	return o.Block == later.Block && o.Hash == later.Hash && o.NextSet == later.NextSet &&
		sharesMemory(o.Receipts, later.Receipts) && sharesMemory(o.Timers, later.Timers)
}

func sharesMemory[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// judgeLink judges a block against the block before it (decisions C7, C8, C9).
func (j *Judge) judgeLink(o *Observation, wrong func(string, ...any)) {
	h := &o.Block.Header
	if h.ChainID != j.rules.ChainID {
		wrong("wrong chain of the block: got %d, want %d", h.ChainID, j.rules.ChainID)
	}
	if h.Height == 0 || uint64(h.Height) <= h.Skipped {
		wrong("a block of height %d that skips %d has no parent", h.Height, h.Skipped)
		return
	}
	parent := &j.rules.Genesis.Header
	if at := h.Height - types.Height(h.Skipped) - 1; at > 0 {
		known := j.chain[at]
		if known == nil {
			return // not observed yet; the children of the tip are judged in order
		}
		parent = &known.first.Block.Header
	}
	hash := hashHeader(parent)
	if h.Parent != hash {
		wrong("wrong parent: got %s, but the finalized block of height %d is %s", h.Parent, parent.Height, hash)
	}
	if h.Timestamp <= parent.Timestamp {
		wrong("time %d ms is not after the parent's, %d ms", h.Timestamp, parent.Timestamp)
	}
	if want := keccak256(parent.Randomness[:], hash[:]); h.Randomness != want {
		wrong("wrong randomness: got %s, want %s", h.Randomness, want)
	}
}

// judgeCommitments judges the header's commitments to transactions and receipts.
func (j *Judge) judgeCommitments(o *Observation, wrong func(string, ...any)) {
	var hashes, receipts []byte
	for i := range o.Block.Transactions {
		h := keccak256(codec.Marshal(&o.Block.Transactions[i]))
		hashes = append(hashes, h[:]...)
	}
	if got := keccak256(hashes); got != o.Block.Header.Transactions {
		wrong("transactions hash to %s, the header has %s", got, o.Block.Header.Transactions)
	}
	for i := range o.Receipts {
		hashed := o.Receipts[i]
		if hashed.Error != nil && !j.rules.Messages {
			hashed.Error = &types.Fault{Code: hashed.Error.Code}
		}
		receipts = append(receipts, codec.Marshal(&hashed)...)
	}
	if got := keccak256(receipts); got != o.Block.Header.ReceiptsRoot {
		wrong("receipts hash to %s, the header has %s", got, o.Block.Header.ReceiptsRoot)
	}
}

func encodesEqual(a, b any) bool { return bytes.Equal(codec.Marshal(a), codec.Marshal(b)) }

func hashHeader(h *types.Header) types.Hash { return keccak256(codec.Marshal(h)) }

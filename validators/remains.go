package validators

import (
	"encoding/binary"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// writes gathers changes of a store. Later writes of a key replace earlier ones.
type writes []env.Write

func (w *writes) put(bucket env.Bucket, key, value []byte) {
	*w = append(*w, env.Write{Bucket: bucket, Key: key, Value: value})
}

func (w *writes) remove(bucket env.Bucket, key []byte) {
	*w = append(*w, env.Write{Bucket: bucket, Key: key})
}

// batch gathers the writes of one commit.
type batch struct {
	writes
	memo *Memo // may be nil
}

// remains is what a finalized block leaves in a store. All of it but the
// certificates follows from executing the block, so that the validators of one
// process share it (Memo). It is not changed once it is made.
type remains struct {
	writes
	before, behind []byte // the certificates in the encoding of Stored
}

// block adds all that one finalized block leaves behind.
func (b *batch) block(stored *Stored, result *ledger.Result) {
	left := b.memo.remains(result, func() *remains { return remainsOf(stored, result) })
	b.writes = append(slices.Grow(b.writes, len(left.writes)+ownWrites), left.writes...)
	b.put(bucketBlocks, heightKey(stored.Block.Header.Height), left.stored(stored.Finalization, stored.Notarization))
}

// ownWrites are those of a commit that are a validator's own: the block with its
// certificates, and the tip.
const ownWrites = 2

func remainsOf(stored *Stored, result *ledger.Result) *remains {
	left := &remains{}
	height := heightKey(stored.Block.Header.Height)
	for _, change := range result.Changes {
		left.put(bucketState, change.Key, change.Value)
	}
	for i := range stored.Receipts {
		at := binary.BigEndian.AppendUint32(append([]byte{}, height...), uint32(i))
		left.put(bucketExecutions, stored.Receipts[i].Hash[:], at)
	}
	plain := *stored
	plain.Finalization, plain.Notarization = nil, nil
	for i := range result.Timers {
		change := &result.Timers[i]
		if kindOf(change) == changeDeferred {
			continue // the lane's record has it
		}
		plain.Timers = append(plain.Timers, TimerMark{ID: change.Timer.ID, Actor: change.Timer.Actor, Status: change.Status, Reason: change.Reason})
		left.timer(change, i)
	}
	left.lane(result)
	for i, line := range result.Logs {
		left.put(bucketLogs, lineKey(line.Actor, height, i), []byte{})
	}
	left.put(bucketHashes, stored.Hash[:], height)
	left.before, left.behind = plain.parts()
	return left
}

// parts is the encoding of a block without certificates, before and behind where
// these stand.
func (s *Stored) parts() (before, behind []byte) {
	whole := codec.Marshal(s)
	upTo := len(codec.Marshal(s.Block)) + len(codec.Marshal(&s.Hash)) + 1
	return whole[:upTo:upTo], whole[upTo+2:] // each certificate that is not there is a null
}

// stored is the encoding of the block with certificates, which may be nil.
func (r *remains) stored(finalization, notarization *types.Certificate) []byte {
	certificates := codec.Append(codec.Marshal(finalization), notarization)
	out := make([]byte, 0, len(r.before)+len(certificates)+len(r.behind))
	return append(append(append(out, r.before...), certificates...), r.behind...)
}

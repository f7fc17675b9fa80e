package history

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

func (w *writes) putKey(bucket env.Bucket, key, value []byte) {
	*w = append(*w, env.Write{Bucket: bucket, Key: key, Value: value})
}

func (w *writes) removeKey(bucket env.Bucket, key []byte) {
	*w = append(*w, env.Write{Bucket: bucket, Key: key})
}

// Final is blocks that became final together, oldest first: the certificates
// name the last.
type Final struct {
	Results      []*ledger.Result
	Finalization *types.Certificate
	Notarization *types.Certificate // nil where only the finalization came
}

// Tip is the last of the blocks.
func (f *Final) Tip() *ledger.Result { return f.Results[len(f.Results)-1] }

// Writer says what to write for final blocks. The store's owner commits it.
type Writer struct {
	// Share gives the records of a result, using make if they were not made yet;
	// nil always calls make.
	Share func(result *ledger.Result, make func() *BlockWrites) *BlockWrites
	dropping
}

// NewWriter returns a writer for an archive that keeps the last bound blocks, or
// all where bound is 0.
func NewWriter(archive *Archive, bound uint64, share func(*ledger.Result, func() *BlockWrites) *BlockWrites) *Writer {
	return &Writer{Share: share, dropping: dropping{archive: archive, bound: bound}}
}

// Writes are the changes of the store for final blocks, for one transaction. The
// last of them moves the tip. An error comes from the store.
func (w *Writer) Writes(finals []Final) ([]env.Write, error) {
	var all writes
	blocks := 0
	for _, final := range finals {
		for i, result := range final.Results {
			stored := &Stored{Block: result.Block, Hash: result.Hash, Receipts: result.Receipts, Logs: result.Logs, Burned: result.Burned,
				Tips: result.Tips}
			if i == len(final.Results)-1 {
				stored.Finalization, stored.Notarization = final.Finalization, final.Notarization
			}
			w.writeBlock(&all, stored, result)
			blocks++
		}
	}
	if err := w.dropping.addDrops(&all, blocks); err != nil {
		return nil, err
	}
	tip := finals[len(finals)-1].Tip()
	all.putKey(bucketMeta, keyTip, heightKey(tip.Block.Header.Height))
	return all, nil
}

// GenesisWrites returns the writes of the state that the first block changes.
func GenesisWrites(state *ledger.State) []env.Write {
	var all writes
	state.Scan(nil, nil, func(key, value []byte) bool {
		all.putKey(bucketState, key, value)
		return true
	})
	return all
}

// BlockWrites is what a finalized block leaves in a store. All of it but the
// certificates follows from executing the block, so that the validators of one
// process may share it (Writer.Share). It is not changed once it is made.
type BlockWrites struct {
	writes
	before, behind []byte // the certificates in the encoding of Stored
}

// writeBlock adds all records of one finalized block.
func (w *Writer) writeBlock(all *writes, stored *Stored, result *ledger.Result) {
	make := func() *BlockWrites { return writesOf(stored, result) }
	var left *BlockWrites
	if w.Share != nil {
		left = w.Share(result, make)
	} else {
		left = make()
	}
	*all = append(slices.Grow(*all, len(left.writes)+ownWrites), left.writes...)
	all.putKey(bucketBlocks, heightKey(stored.Block.Header.Height), left.encodeBlock(stored.Finalization, stored.Notarization))
}

// ownWrites is the number of a commit's writes that differ between validators: the
// block with its certificates, and the tip.
const ownWrites = 2

func writesOf(stored *Stored, result *ledger.Result) *BlockWrites {
	left := &BlockWrites{}
	height := heightKey(stored.Block.Header.Height)
	for _, change := range result.Changes {
		left.putKey(bucketState, change.Key, change.Value)
	}
	for i := range stored.Receipts {
		at := binary.BigEndian.AppendUint32(append([]byte{}, height...), uint32(i))
		left.putKey(bucketExecutions, stored.Receipts[i].Hash[:], at)
	}
	plain := *stored
	plain.Finalization, plain.Notarization = nil, nil
	for i := range result.Timers {
		change := &result.Timers[i]
		if change.Kind == types.ChangeDeferred {
			continue // the lane's record has it
		}
		plain.Timers = append(plain.Timers, TimerMark{ID: change.Timer.ID, Actor: change.Timer.Actor, Status: change.Status,
			Reason: change.Reason})
		left.writeTimer(change, i)
	}
	left.writeLane(result)
	left.writeJobs(result)
	for i, line := range result.Logs {
		left.putKey(bucketLogs, lineKey(line.Actor, height, i), []byte{})
	}
	left.putKey(bucketHashes, stored.Hash[:], height)
	left.before, left.behind = plain.encodedParts()
	return left
}

// encodedParts returns the encoding of a block without certificates, before and after
// their position.
func (s *Stored) encodedParts() (before, behind []byte) {
	whole := codec.Marshal(s)
	upTo := len(codec.Marshal(s.Block)) + len(codec.Marshal(&s.Hash)) + 1
	return whole[:upTo:upTo], whole[upTo+2:] // each certificate that is not there is a null
}

// encodeBlock is the encoding of the block with certificates, which may be nil.
func (r *BlockWrites) encodeBlock(finalization, notarization *types.Certificate) []byte {
	out := make([]byte, 0, len(r.before)+roomFor(finalization)+roomFor(notarization)+len(r.behind))
	out = codec.Append(append(out, r.before...), finalization)
	return append(codec.Append(out, notarization), r.behind...)
}

// roomFor is about the bytes that a certificate takes: what is longer grows.
func roomFor(c *types.Certificate) int {
	if c == nil {
		return 1
	}
	room := 64
	for i := range c.Votes {
		room += 96 + len(c.Votes[i].Bitmap)
	}
	return room
}

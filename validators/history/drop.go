package history

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/catchup"
)

// MinHistory is the fewest blocks that a bounded archive keeps: a validator that
// missed some must find them at the others, with the headers that lead to a
// finalization.
const MinHistory = catchup.MaxLinks

// Limits of a commit's drops, so that a home with full history is emptied little by
// little. A commit may always drop twice what it adds.
const (
	leastDropBlocks = 64
	maxDropBytes    = 8 << 20 // of the encoded blocks that are read to drop them, the last one whole
)

var keyKept = []byte("kept")

// Kept is which blocks an archive still has: all from a height on.
type Kept struct {
	From   types.Height // 1 if no block was dropped
	Blocks uint64       // the bound by which others were dropped; 0 without one
}

// String says it in words, where blocks were dropped.
func (k Kept) String() string {
	return fmt.Sprintf("this network keeps %d blocks (--history), and dropped those before height %d", k.Blocks, k.From)
}

// Dropped reports whether the blocks up to a height are not kept any more.
func (k Kept) Dropped(h types.Height) bool { return h > 0 && h < k.From }

// Kept returns which blocks the archive still has.
func (a *Archive) Kept() (Kept, error) {
	data, err := a.store.Get(bucketMeta, keyKept)
	switch {
	case err != nil:
		return Kept{}, err
	case data == nil:
		return Kept{From: 1}, nil
	case len(data) != 16:
		return Kept{}, fmt.Errorf("the record of kept heights has %d bytes, not 16", len(data))
	}
	return Kept{types.Height(binary.BigEndian.Uint64(data)), binary.BigEndian.Uint64(data[8:])}, nil
}

// dropping bounds the blocks of an archive. Blocks count, and not heights: time
// travel skips heights, and a peer must be able to follow it.
type dropping struct {
	archive *Archive
	bound   uint64 // 0: none
	blocks  uint64 // in the store
	counted bool
}

// addDrops makes room for blocks that a commit adds: it adds to the commit's writes
// what removes the oldest of the blocks in the store.
func (d *dropping) addDrops(w *writes, blocks int) error {
	if d.bound == 0 {
		return nil
	}
	if !d.counted {
		if err := d.countBlocks(); err != nil {
			return err
		}
	}
	d.blocks += uint64(blocks)
	if d.blocks <= d.bound {
		return nil
	}
	limit := min(d.blocks-d.bound, uint64(max(leastDropBlocks, 2*blocks)))
	oldest, err := d.archive.oldestBlocks(int(limit))
	if err != nil || len(oldest) == 0 {
		return err
	}
	for _, stored := range oldest {
		if err := d.archive.removeBlock(w, stored); err != nil {
			return err
		}
	}
	d.blocks -= uint64(len(oldest))
	from := oldest[len(oldest)-1].Block.Header.Height + 1
	w.putKey(bucketMeta, keyKept, binary.BigEndian.AppendUint64(heightKey(from), d.bound))
	return nil
}

func (d *dropping) countBlocks() error {
	d.counted = true
	return d.archive.store.Scan(bucketHashes, nil, nil, false, func([]byte, []byte) bool {
		d.blocks++
		return true
	})
}

// oldestBlocks returns the first blocks of the store, at most limit.
func (a *Archive) oldestBlocks(limit int) (blocks []*Stored, err error) {
	size := 0
	err = a.rowsOf(bucketBlocks, 0, ^types.Height(0), limit, func(h types.Height, data []byte) error {
		if size >= maxDropBytes {
			return nil
		}
		size += len(data)
		stored := new(Stored)
		if err := codec.Unmarshal(data, maxStoredBytes, stored); err != nil {
			return fmt.Errorf("the stored block of height %d: %w", h, err)
		}
		blocks = append(blocks, stored)
		return nil
	})
	return blocks, err
}

// removeBlock drops a block's records outside the state: those of BlockWrites, except
// the timers that it scheduled and the jobs submitted in it; these are dropped with
// the block that ended them.
func (a *Archive) removeBlock(w *writes, stored *Stored) error {
	height := heightKey(stored.Block.Header.Height)
	for _, bucket := range []env.Bucket{bucketBlocks, bucketLanes, bucketLaneTimers, bucketLaneMoves, bucketEvents} {
		w.removeKey(bucket, height)
	}
	w.removeKey(bucketHashes, stored.Hash[:])
	for i := range stored.Receipts {
		w.removeKey(bucketExecutions, stored.Receipts[i].Hash[:])
	}
	for i, line := range stored.Logs {
		w.removeKey(bucketLogs, lineKey(line.Actor, height, i))
	}
	for i := range stored.Timers {
		if mark := &stored.Timers[i]; mark.Status != types.TimerPending {
			if err := a.removeTimer(w, mark.ID); err != nil {
				return err
			}
		}
	}
	return a.removeJobs(w, stored.Block.Header.Height)
}

// removeTimer drops the record of a timer that has ended.
func (a *Archive) removeTimer(w *writes, id types.TimerID) error {
	data, err := a.store.Get(bucketTimers, id[:])
	if err != nil || data == nil {
		return err
	}
	var t types.Timer
	if err := codec.Unmarshal(data, maxTimerRecordBytes, &t); err != nil {
		return fmt.Errorf("the stored timer %s: %w", id, err)
	}
	order := orderKey(&t)
	w.removeKey(bucketTimers, id[:])
	w.removeKey(bucketTimerSeqs, seqKey(t.Seq))
	w.removeKey(bucketTimerOrder, order)
	w.removeKey(bucketActorTimers, append(append([]byte{}, t.Actor[:]...), order...))
	w.removeKey(bucketTimerEnds, id[:])
	return a.removeAll(w, bucketTimerNotes, seqKey(t.Seq))
}

// removeAll drops all rows of a bucket whose keys begin alike.
func (a *Archive) removeAll(w *writes, bucket env.Bucket, prefix []byte) error {
	return a.store.Scan(bucket, prefix, keyAfterPrefix(prefix), false, func(key, _ []byte) bool {
		w.removeKey(bucket, append([]byte{}, key...))
		return true
	})
}

// orderKey orders timers by due height, then insertion.
func orderKey(t *types.Timer) []byte {
	return binary.BigEndian.AppendUint64(heightKey(t.Height), uint64(t.Seq))
}

// lineKey orders an actor's lines by height and number.
func lineKey(a types.Address, height []byte, i int) []byte {
	return binary.BigEndian.AppendUint32(append(append([]byte{}, a[:]...), height...), uint32(i))
}

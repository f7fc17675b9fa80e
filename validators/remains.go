package validators

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/env"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// writes gathers changes of a store. Later writes of a key replace earlier ones.
type writes []env.Write

func (w *writes) put(bucket env.Bucket, key, value []byte) {
	*w = append(*w, env.Write{Bucket: bucket, Key: key, Value: value})
}

// batch gathers the writes of one commit.
type batch struct {
	writes
	memo   *Memo      // may be nil
	blocks []*remains // before the store has them, oldest first
}

// remains is what a finalized block leaves in a store. All of it but the
// certificates follows from executing the block, so that the validators of one
// process share it (Memo). It is not changed once it is made.
type remains struct {
	writes
	before, behind []byte                 // the certificates in the encoding of Stored
	lives          map[types.TimerID]life // of timers that the block touched
	torn           bool                   // something that it tells of could not be read here
}

// block adds all that one finalized block leaves behind.
func (b *batch) block(a *Archive, stored *Stored, result *ledger.Result) {
	left := b.memo.remains(result, func() *remains { return b.remains(a, stored, result) })
	b.blocks = append(b.blocks, left)
	b.writes = append(b.writes, left.writes...)
	b.put(bucketBlocks, heightKey(stored.Block.Header.Height), left.stored(stored.Finalization, stored.Notarization))
}

func (b *batch) remains(a *Archive, stored *Stored, result *ledger.Result) *remains {
	left := &remains{lives: map[types.TimerID]life{}}
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
		plain.Timers = append(plain.Timers, TimerMark{ID: change.Timer.ID, Actor: change.Timer.Actor, Status: change.Status, Reason: change.Reason})
		left.timer(b, a, change)
	}
	for i, line := range result.Logs {
		key := append(append(append([]byte{}, line.Actor[:]...), height...), binary.BigEndian.AppendUint32(nil, uint32(i))...)
		left.put(bucketLogs, key, []byte{})
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
	certificates := [2][]byte{codec.Marshal(finalization), codec.Marshal(notarization)}
	out := make([]byte, 0, len(r.before)+len(certificates[0])+len(certificates[1])+len(r.behind))
	return append(append(append(append(out, r.before...), certificates[0]...), certificates[1]...), r.behind...)
}

// timer follows one change of a timer's life.
func (r *remains) timer(b *batch, a *Archive, change *types.TimerChange) {
	t := &change.Timer
	if change.Status == types.TimerPending && change.Reason == "" {
		r.put(bucketTimers, t.ID[:], codec.Marshal(t))
		order := binary.BigEndian.AppendUint64(heightKey(t.Height), uint64(t.Seq))
		r.put(bucketTimerOrder, order, t.ID[:])
		r.put(bucketActorTimers, append(append([]byte{}, t.Actor[:]...), order...), t.ID[:])
	}
	l := life{Status: change.Status, ExpiresAt: t.ExpiresAt, Deferrals: t.Deferrals, Reason: change.Reason, CyclesUsed: change.CyclesUsed,
		CellsUsed: change.CellsUsed, FeePaid: change.FeePaid, TipPaid: change.TipPaid, Result: change.Result}
	if change.Status != types.TimerPending {
		l.EndedAt = change.At
	}
	if l.Reason == "" && t.Deferrals > 0 {
		l.Reason = r.lastReason(b, a, t.ID)
	}
	r.lives[t.ID] = l
	r.put(bucketLives, t.ID[:], codec.Marshal(&l))
}

// lastReason is why a timer was deferred last. It is history only: one that
// cannot be read is left out.
func (r *remains) lastReason(b *batch, a *Archive, id types.TimerID) string {
	if l, ok := r.lives[id]; ok {
		return l.Reason
	}
	for i := len(b.blocks) - 1; i >= 0; i-- {
		if l, ok := b.blocks[i].lives[id]; ok {
			return l.Reason
		}
	}
	l, err := a.life(id)
	if err != nil {
		r.torn = true
		return ""
	}
	return l.Reason
}

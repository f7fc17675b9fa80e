package validators

import (
	"encoding/binary"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/env"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// maxCommitBlocks bounds the blocks of one transaction of the store.
const maxCommitBlocks = 256

// Events of the archive role.
type (
	// finalized hands over blocks, oldest first; the last is what the
	// certificates name.
	finalized struct {
		results      []*ledger.Result
		finalization *types.Certificate
		notarization *types.Certificate // nil where only the finalization came
		batch        uint64             // of catch-up; 0 for what consensus finalized
	}
	// flush writes what has gathered; it stands behind all that was queued
	// before it, so one commit takes them together.
	flush struct{}
	// archived tells consensus up to where the store holds the chain.
	archived struct {
		view  *View
		batch uint64              // of catch-up; 0 for what consensus finalized
		next  *types.ValidatorSet // where the block is its epoch's last
	}
)

func (f *finalized) tip() *ledger.Result { return f.results[len(f.results)-1] }

func (f *finalized) view() *View {
	tip := f.tip()
	return &View{State: tip.State, Block: tip.Block, Hash: tip.Hash, Finalization: f.finalization, Notarization: f.notarization}
}

// archiving is the role that owns the store.
type archiving struct {
	v       *Validator
	waiting []finalized
	blocks  int
	posted  bool // a flush is under way
	served  map[types.Address]allowance
}

func (a *archiving) receive(ctx actor.Context) {
	switch event := ctx.Message().(type) {
	case finalized:
		a.waiting = append(a.waiting, event)
		a.blocks += len(event.results)
		if a.blocks >= maxCommitBlocks {
			a.commit()
		} else if !a.posted {
			a.posted = true
			a.v.post(a.v.archive, flush{})
		}
	case rangeRequest:
		a.serve(event)
	case flush:
		a.posted = false
		a.commit()
	case *actor.Stopping:
		a.commit()
	}
}

// commit writes all that waits in one transaction. A store that fails stops
// the validator: what it would serve from then on could not be trusted.
func (a *archiving) commit() {
	if len(a.waiting) == 0 {
		return
	}
	var batch batch
	for _, event := range a.waiting {
		for i, result := range event.results {
			stored := &Stored{Block: result.Block, Hash: result.Hash, Receipts: result.Receipts, Logs: result.Logs, Burned: result.Burned, Tips: result.Tips}
			if i == len(event.results)-1 {
				stored.Finalization, stored.Notarization = event.finalization, event.notarization
			}
			batch.block(a.v.history, stored, result)
		}
	}
	last := a.waiting[len(a.waiting)-1]
	batch.put(bucketMeta, keyTip, heightKey(last.tip().Block.Header.Height))
	if err := a.v.history.store.Commit(batch.writes); err != nil {
		a.v.fail("the store cannot be written", err)
		return
	}
	for i := range a.waiting {
		a.v.show(&a.waiting[i])
	}
	for i := range a.waiting {
		if event := &a.waiting[i]; event.batch != 0 || i == len(a.waiting)-1 {
			a.v.post(a.v.consensus, archived{event.view(), event.batch, event.tip().NextSet})
		}
	}
	a.waiting, a.blocks = nil, 0
}

// batch gathers the writes of one commit. Later writes of a key replace
// earlier ones, in place.
type batch struct {
	writes []env.Write
	lives  map[types.TimerID]life // what this batch leaves, before the store has it
}

func (b *batch) put(bucket env.Bucket, key, value []byte) {
	b.writes = append(b.writes, env.Write{Bucket: bucket, Key: key, Value: value})
}

// block adds all that one finalized block leaves behind.
func (b *batch) block(a *Archive, stored *Stored, result *ledger.Result) {
	height := heightKey(stored.Block.Header.Height)
	for _, change := range result.Changes {
		b.put(bucketState, change.Key, change.Value)
	}
	for i := range stored.Receipts {
		at := binary.BigEndian.AppendUint32(append([]byte{}, height...), uint32(i))
		b.put(bucketExecutions, stored.Receipts[i].Hash[:], at)
	}
	for i := range result.Timers {
		change := &result.Timers[i]
		stored.Timers = append(stored.Timers, TimerMark{ID: change.Timer.ID, Actor: change.Timer.Actor, Status: change.Status, Reason: change.Reason})
		b.timer(a, change)
	}
	for i, line := range result.Logs {
		key := append(append(append([]byte{}, line.Actor[:]...), height...), binary.BigEndian.AppendUint32(nil, uint32(i))...)
		b.put(bucketLogs, key, []byte{})
	}
	b.put(bucketHashes, stored.Hash[:], height)
	b.put(bucketBlocks, height, codec.Marshal(stored))
}

// timer follows one change of a timer's life.
func (b *batch) timer(a *Archive, change *types.TimerChange) {
	t := &change.Timer
	if change.Status == types.TimerPending && change.Reason == "" {
		b.put(bucketTimers, t.ID[:], codec.Marshal(t))
		order := binary.BigEndian.AppendUint64(heightKey(t.Height), uint64(t.Seq))
		b.put(bucketTimerOrder, order, t.ID[:])
		b.put(bucketActorTimers, append(append([]byte{}, t.Actor[:]...), order...), t.ID[:])
	}
	l := life{Status: change.Status, ExpiresAt: t.ExpiresAt, Deferrals: t.Deferrals, Reason: change.Reason, CyclesUsed: change.CyclesUsed,
		CellsUsed: change.CellsUsed, FeePaid: change.FeePaid, TipPaid: change.TipPaid, Result: change.Result}
	if change.Status != types.TimerPending {
		l.EndedAt = change.At
	}
	if l.Reason == "" && t.Deferrals > 0 {
		l.Reason = b.lastReason(a, t.ID)
	}
	if b.lives == nil {
		b.lives = map[types.TimerID]life{}
	}
	b.lives[t.ID] = l
	b.put(bucketLives, t.ID[:], codec.Marshal(&l))
}

// lastReason is why a timer was deferred last. It is history only: one that
// cannot be read is left out.
func (b *batch) lastReason(a *Archive, id types.TimerID) string {
	if l, ok := b.lives[id]; ok {
		return l.Reason
	}
	l, err := a.life(id)
	if err != nil {
		return ""
	}
	return l.Reason
}

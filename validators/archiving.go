package validators

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
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
	dropping
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
	batch := batch{memo: a.v.memo}
	for _, event := range a.waiting {
		for i, result := range event.results {
			stored := &Stored{Block: result.Block, Hash: result.Hash, Receipts: result.Receipts, Logs: result.Logs, Burned: result.Burned, Tips: result.Tips}
			if i == len(event.results)-1 {
				stored.Finalization, stored.Notarization = event.finalization, event.notarization
			}
			batch.block(stored, result)
		}
	}
	if err := a.dropping.add(&batch.writes, a.blocks); err != nil {
		a.v.fail("the store cannot be read", err)
		return
	}
	last := a.waiting[len(a.waiting)-1]
	batch.put(bucketMeta, keyTip, heightKey(last.tip().Block.Header.Height))
	if plant.Planted == plant.TipBeforeState {
		tip := len(batch.writes) - 1
		if err := a.v.history.store.Commit(batch.writes[tip:]); err != nil {
			a.v.fail("the store cannot be written", err)
			return
		}
	}
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

package validators

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// maxCommitBlocks bounds the blocks of one transaction of the store.
const maxCommitBlocks = 256

// Events of the archive role.
type (
	// finalized hands over blocks, oldest first; the last is what the
	// certificates name.
	finalized struct {
		history.Final
		batch uint64 // of catch-up; 0 for what consensus finalized
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

func (f *finalized) view() *View {
	tip := f.Tip()
	return &View{State: tip.State, Block: tip.Block, Hash: tip.Hash, Finalization: f.Finalization, Notarization: f.Notarization}
}

// archiving is the role that owns the store.
type archiving struct {
	v       *Validator
	waiting []finalized
	blocks  int
	posted  bool // a flush is under way
	writer  *history.Writer
}

func (a *archiving) receive(ctx actor.Context) {
	switch event := ctx.Message().(type) {
	case finalized:
		a.waiting = append(a.waiting, event)
		a.blocks += len(event.Results)
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
	var finals []history.Final
	for _, event := range a.waiting {
		finals = append(finals, event.Final)
	}
	writes, err := a.writer.Writes(finals)
	if err != nil {
		a.v.fail("the store cannot be read", err)
		return
	}
	if plant.Planted == plant.TipBeforeState {
		tip := len(writes) - 1
		if err := a.v.node.Store.Commit(writes[tip:]); err != nil {
			a.v.fail("the store cannot be written", err)
			return
		}
	}
	if err := a.v.node.Store.Commit(writes); err != nil {
		a.v.fail("the store cannot be written", err)
		return
	}
	for i := range a.waiting {
		a.v.show(&a.waiting[i])
	}
	for i := range a.waiting {
		if event := &a.waiting[i]; event.batch != 0 || i == len(a.waiting)-1 {
			a.v.post(a.v.consensus, archived{event.view(), event.batch, event.Tip().NextSet})
		}
	}
	a.waiting, a.blocks = nil, 0
}

package validators

import (
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/history"
)

// maxCommitBlocks bounds the blocks of one transaction of the store.
const maxCommitBlocks = 256

// archiveEvent is what the archive role is told.
type archiveEvent interface{ forArchive() }

// Events of the archive role.
type (
	// finalized hands over blocks, oldest first; the last is what the
	// certificates name.
	archiveRequest struct {
		history.Final
		batch uint64 // of catch-up; 0 for what consensus finalized
	}
	// flush writes what has gathered; it stands behind all that was queued
	// before it, so one commit takes them together.
	flush struct{}
	// rangeRequest asks for finalized blocks on behalf of a peer.
	rangeRequest struct {
		from    types.Address
		request *catchup.RangeRequest
	}
)

func (archiveRequest) forArchive() {}
func (flush) forArchive()          {}
func (rangeRequest) forArchive()   {}

func (f *archiveRequest) head() *Head {
	tip := f.Tip()
	return &Head{State: tip.State, Block: tip.Block, Hash: tip.Hash, Finalization: f.Finalization, Notarization: f.Notarization}
}

// archiving is the role that owns the store.
type archiving struct {
	v       *Validator
	waiting []archiveRequest
	blocks  int
	posted  bool // a flush is under way
	writer  *history.Writer
}

func (v *Validator) newArchive() (roles.Steps[archiveEvent], error) {
	a := &archiving{v: v, writer: history.NewWriter(v.history, v.config.History, v.memo.blockWrites)}
	return roles.Steps[archiveEvent]{Each: a.receive, Last: a.commit}, nil
}

func (a *archiving) receive(event archiveEvent) {
	switch event := event.(type) {
	case archiveRequest:
		a.waiting = append(a.waiting, event)
		a.blocks += len(event.Results)
		if a.blocks >= maxCommitBlocks {
			a.commit()
		} else if !a.posted {
			a.posted = true
			a.v.archive.Post(flush{})
		}
	case rangeRequest:
		a.serve(event)
	case flush:
		a.posted = false
		a.commit()
	default:
		panic(unknown("archive", event))
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
			a.v.consensus.Post(archived{event.head(), event.batch, event.Tip().NextSet})
		}
	}
	a.waiting, a.blocks = nil, 0
}

package validators

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// maxCommitBlocks bounds the blocks of one transaction of the store.
const maxCommitBlocks = 256

// behindAnswers is how long blocks that draw runners wait before they are written, and
// shown to readers: so long take an assignment and its answer on one machine. They cost
// less than all validators' writing, for which they would wait where processors are few.
const behindAnswers = 2 * time.Millisecond

// archiveEvent is what the archive role is told.
type archiveEvent interface{ forArchive() }

// Events of the archive role.
type (
	// finalized hands over blocks, oldest first; the last is what the
	// certificates name.
	archiveRequest struct {
		history.Final
		batch uint64 // of catch-up; 0 for blocks that consensus finalized
	}
	// flush writes the gathered blocks; it is queued after all earlier blocks, so
	// one commit takes them together.
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

func (f *archiveRequest) lastHead() *Head {
	tip := f.Tip()
	return &Head{State: tip.State, Block: tip.Block, Hash: tip.Hash, Finalization: f.Finalization, Notarization: f.Notarization}
}

// drawsRunners reports whether runners are drawn in the blocks.
func (f *archiveRequest) drawsRunners() bool {
	return slices.ContainsFunc(f.Results, (*ledger.Result).Draws)
}

// archiving is the role that owns the store.
type archiving struct {
	v       *Validator
	waiting []archiveRequest
	blocks  int
	posted  bool      // a flush is under way
	alarm   env.Alarm // rings for a flush; nil until it was needed
	writer  *history.Writer
}

func (v *Validator) newArchive() (roles.Steps[archiveEvent], error) {
	a := &archiving{v: v, writer: history.NewWriter(v.history, v.config.History, v.memo.blockWrites)}
	return roles.Steps[archiveEvent]{Each: a.receiveEvent, Last: a.stopRole}, nil
}

func (a *archiving) receiveEvent(event archiveEvent) {
	switch event := event.(type) {
	case archiveRequest:
		a.waiting = append(a.waiting, event)
		a.blocks += len(event.Results)
		switch {
		case a.blocks >= maxCommitBlocks:
			a.commitWaiting()
		case a.posted:
		case event.drawsRunners() && event.batch == 0 && a.v.node.Connections != nil:
			a.flushLater()
		default:
			a.posted = true
			a.v.archive.Post(flush{})
		}
	case rangeRequest:
		a.serveRange(event)
	case flush:
		a.posted = false
		a.commitWaiting()
	default:
		panic(unknownEvent("archive", event))
	}
}

// flushLater schedules a flush for when the runners of the first waiting block have
// been notified.
func (a *archiving) flushLater() {
	if len(a.waiting) > 1 {
		return // the alarm is set: consecutive blocks that draw runners would delay it without end
	}
	clock := a.v.node.Clock
	if a.alarm == nil {
		a.alarm = clock.NewAlarm(func() { a.v.archive.Post(flush{}) })
	}
	a.alarm.Set(clock.Now().Add(behindAnswers))
}

func (a *archiving) stopRole() {
	if a.alarm != nil {
		a.alarm.Set(types.Never)
	}
	a.commitWaiting()
}

// commitWaiting writes all that waits in one transaction. A store that fails stops
// the validator: what it would serve from then on could not be trusted.
func (a *archiving) commitWaiting() {
	if len(a.waiting) == 0 {
		return
	}
	var finals []history.Final
	for _, event := range a.waiting {
		finals = append(finals, event.Final)
	}
	writes, err := a.writer.Writes(finals)
	if err != nil {
		a.v.failWith("the store cannot be read", err)
		return
	}
	if plant.Planted == plant.TipBeforeState {
		tip := len(writes) - 1
		if err := a.v.node.Store.Commit(writes[tip:]); err != nil {
			a.v.failWith("the store cannot be written", err)
			return
		}
	}
	if err := a.v.node.Store.Commit(writes); err != nil {
		a.v.failWith("the store cannot be written", err)
		return
	}
	for i := range a.waiting {
		a.v.showStoredBlocks(&a.waiting[i])
	}
	for i := range a.waiting {
		if event := &a.waiting[i]; event.batch != 0 || i == len(a.waiting)-1 {
			a.v.consensus.Post(archived{event.lastHead(), event.batch, event.Tip().NextSet})
		}
	}
	a.waiting, a.blocks = nil, 0
}

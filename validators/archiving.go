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
	"github.com/cowboyinc/devnet/validators/simplex"
)

// maxCommitBlocks bounds the blocks of one transaction of the store.
const maxCommitBlocks = 256

// behindAnswers is how long blocks that draw runners wait before they are written, and
// shown to readers: so long take an assignment and its answer on one machine. They cost
// less than all validators' writing, for which they would wait where processors are few.
const behindAnswers = 2 * time.Millisecond

// A store that gathers commits (env.WriteBack) is flushed when so many blocks or bytes of values have gathered, or
// when the first has waited for so long. A machine executes simplex.MaxOpenDepth blocks from its log.
// So every start closes this gap, also where all validators were killed at once (decision C5).
const (
	maxUnflushedBlocks = simplex.MaxOpenDepth * 3 / 4
	maxUnflushedBytes  = 8 << 20
	DefaultFlushDelay  = 500 * time.Millisecond // Config.FlushDelay
)

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
	// flushDue says that the first commit since the last flush has waited long enough.
	flushDue struct{}
)

func (archiveRequest) forArchive() {}
func (flush) forArchive()          {}
func (rangeRequest) forArchive()   {}
func (flushDue) forArchive()       {}

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

	writeBack env.WriteBack // the store, where it gathers commits; otherwise nil
	unflushed unflushed
	flushing  env.Alarm  // rings for flushDue; nil until it was needed
	flushSet  bool       // it is to ring
	committed types.Time // the last commit
}

// unflushed is what a store has gathered since its last flush.
type unflushed struct{ blocks, bytes int }

func (u unflushed) isFull() bool {
	return u.blocks >= maxUnflushedBlocks || u.bytes >= maxUnflushedBytes
}

func (u *unflushed) add(blocks int, writes []env.Write) {
	u.blocks += blocks
	for i := range writes {
		u.bytes += len(writes[i].Value)
	}
}

func (v *Validator) newArchive() (roles.Steps[archiveEvent], error) {
	a := &archiving{v: v, writer: history.NewWriter(v.history, v.config.History, v.memo.blockWrites)}
	a.writeBack, _ = v.node.Store.(env.WriteBack)
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
	case flushDue:
		a.flushStore()
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
	a.flushStore()
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
	a.unflushed.add(a.blocks, writes)
	if a.mustFlush() {
		a.flushStore() // before readers see the blocks
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
	a.scheduleFlush()
}

// mustFlush reports whether what the store has gathered is to be flushed at once: it is as much as a start executes from the
// log, or the log has no bodies of it, since it came by catch-up.
func (a *archiving) mustFlush() bool {
	return a.unflushed.isFull() || slices.ContainsFunc(a.waiting, func(r archiveRequest) bool { return r.batch != 0 })
}

// scheduleFlush has what the store has gathered flushed in a while; at once where blocks come more slowly than that.
func (a *archiving) scheduleFlush() {
	if a.writeBack == nil || a.unflushed.blocks == 0 {
		return
	}
	clock, delay := a.v.node.Clock, a.v.config.FlushDelay
	now := clock.Now()
	isSlow := now.Sub(a.committed) >= delay
	a.committed = now
	if isSlow {
		a.flushStore()
		return
	}
	if a.flushing == nil {
		a.flushing = clock.NewAlarm(func() { a.v.archive.Post(flushDue{}) })
	}
	if !a.flushSet {
		a.flushSet = true
		a.flushing.Set(now.Add(delay))
	}
}

// flushStore makes durable what the store has gathered.
func (a *archiving) flushStore() {
	if a.flushSet {
		a.flushSet = false
		a.flushing.Set(types.Never)
	}
	if a.writeBack == nil || a.unflushed.blocks == 0 {
		return
	}
	a.unflushed = unflushed{}
	if err := a.writeBack.Flush(); err != nil {
		a.v.failWith("the store cannot be written", err)
	}
}

package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// loadAgain is how often the feed asks for a final block that the best validator lacks.
const loadAgain = 100 * time.Millisecond

// errBelow reports that the best validator is below a height.
var errBelow = errors.New("the validator is below the height")

// feed turns final blocks into events, once for all readers, and keeps the
// latest of them. Readers pull: nothing is queued for any of them, so that a
// slow one costs no memory.
type feed struct {
	backend  Backend
	world    sync.Locker // of the backend
	maxCount int
	maxBytes int
	cancel   func()
	observe  []func(*answers.Block) // in the order of blocks, from the feed's goroutine
	heard    chan struct{}          // for run: target has moved, or the feed is closed
	done     chan struct{}

	mu     sync.Mutex
	target types.Height // the latest final height heard of
	head   types.Height // the latest height in the ring
	oldest types.Height // the first height in the ring; head + 1 when it is empty
	ring   map[types.Height][]event
	bytes  int
	news   chan struct{} // closed and replaced when head moves
	closed bool
	calls  calls
	faults pendingNotes
	failed pendingNotes // views
	known  uint64       // how many of these were told

	reverts int // how often it went back
}

// calls wake streams. Their rate is bounded, whatever the number of streams.
type calls struct {
	news    chan struct{} // for streams: closed and replaced at a wake
	waiting int           // number of streams in follow
	last    time.Time
	due     *time.Timer // of the next wake; nil if none is due
}

// event is one event of a block, ready to send. Its number counts all events of the
// block from 0, so that a reader can resume after it.
type event struct {
	height types.Height
	number int
	kind   string
	actors []types.Address // accounts and actors that it concerns
	mark   string          // of the block, which ends the id
	text   string          // as it is sent, to all readers
}

func newEvent(h types.Height, number int, mark, kind string, data []byte, actors ...types.Address) event {
	return event{h, number, kind, actors, mark, fmt.Sprintf("id: %d.%d.%s\nevent: %s\ndata: %s\n\n", h, number, mark, kind, data)}
}

// markDigits is how many digits of a block's hash are its mark.
const markDigits = 8

// markOf tells a block from those of its height on other chains. Networks that began alike have
// other blocks all the same.
func markOf(b *answers.Block) string {
	hash := b.Block.Hash()
	return hex.EncodeToString(hash[:markDigits/2])
}

func newFeed(b Backend) *feed {
	f := &feed{backend: b, world: free{}, maxCount: EventRing, maxBytes: EventRingBytes,
		ring: map[types.Height][]event{}, news: make(chan struct{}),
		heard: make(chan struct{}, 1), done: make(chan struct{}), calls: calls{news: make(chan struct{})}}
	return f
}

// startAfterLatest begins with the block after the latest final one.
func (f *feed) startAfterLatest() {
	if v, err := f.backend.Reader(""); err == nil {
		f.head = v.Head().Height
	}
	f.target, f.oldest = f.head, f.head+1
	f.cancel = f.backend.Subscribe(f.onHeight)
	go f.runFeed()
}

func (f *feed) closeFeed() {
	if f.cancel != nil {
		f.cancel()
	}
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.news)
		close(f.calls.news)
		f.rereadTarget()
	}
	f.mu.Unlock()
	if f.cancel != nil {
		<-f.done
	}
}

func (f *feed) onHeight(h types.Height) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h > f.target && !f.closed {
		f.target = h
		f.rereadTarget()
	}
}

// rereadTarget makes run read the target again. Readers sleep until events of its height exist.
func (f *feed) rereadTarget() {
	select {
	case f.heard <- struct{}{}:
	default:
	}
}

// revertTo begins again after a height: events of later heights are no longer true.
func (f *feed) revertTo(head types.Height) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.head, f.target, f.oldest, f.bytes = head, head, head+1, 0
	f.reverts++
	clear(f.ring)
	f.faults, f.failed, f.known = pendingNotes{}, pendingNotes{}, 0
	f.wakeCallers()
}

// wakeCallers wakes the callers of next now, and streams at their next turn.
func (f *feed) wakeCallers() {
	close(f.news)
	f.news = make(chan struct{})
	if f.calls.due != nil {
		return
	}
	turn := time.Until(f.calls.last.Add(time.Duration(f.calls.waiting) * time.Second / EventWrites))
	if turn <= 0 {
		f.wakeStreams()
		return
	}
	f.calls.due = time.AfterFunc(turn, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls.due = nil
		if !f.closed {
			f.wakeStreams()
		}
	})
}

// wakeStreams wakes the streams.
func (f *feed) wakeStreams() {
	close(f.calls.news)
	f.calls.news, f.calls.last = make(chan struct{}), time.Now()
}

func (f *feed) runFeed() {
	defer close(f.done)
	for {
		f.mu.Lock()
		next, target, closed := f.head+1, f.target, f.closed
		f.mu.Unlock()
		if closed {
			return
		}
		if next > target {
			<-f.heard
			continue
		}
		if f.takeHeight(next) {
			continue
		}
		select {
		case <-f.heard:
		case <-time.After(loadAgain):
		}
	}
}

// takeHeight puts a height into the ring, and reports whether it did. The node that reported the
// height may have stopped, and another node may have the block later. A height whose block
// cannot be read is left empty.
func (f *feed) takeHeight(h types.Height) bool {
	f.mu.Lock()
	reverts, known := f.reverts, f.known
	f.mu.Unlock()
	events, block, err := f.loadEvents(h)
	if errors.Is(err, errBelow) {
		return false
	}
	failed, known := f.failedViewEvents(h, known)
	if err != nil {
		slog.Warn("a final block could not be read for its events", "height", h, "error", err)
	}
	if block != nil {
		for _, each := range f.observe {
			each(block)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.reverts != reverts { // what was read is no longer so
		return true
	}
	f.faults.setHeight(h)
	f.failed.waiting, f.known = failed, known
	f.failed.setHeight(h)
	events = f.appendNotes(h, events)
	f.head, f.ring[h] = h, events
	f.bytes += eventBytes(events)
	for f.oldest < h && (len(f.ring) > f.maxCount || f.bytes > f.maxBytes) {
		f.bytes -= eventBytes(f.ring[f.oldest])
		delete(f.ring, f.oldest)
		f.oldest++
	}
	f.wakeCallers()
	return true
}

func (f *feed) loadEvents(h types.Height) ([]event, *answers.Block, error) {
	f.world.Lock()
	defer f.world.Unlock()
	v, err := f.backend.Reader("")
	if err != nil {
		return nil, nil, err
	}
	if v.Head().Height < h {
		return nil, nil, errBelow
	}
	b, err := v.Block(h)
	if err != nil || b == nil {
		return nil, nil, err
	}
	return eventsOf(b, TypesOf(v)), b, nil
}

// position is a result of next.
type position int

const (
	ready  position = iota // the events are available
	coming                 // the height is not final yet
	behind                 // the height is older than the ring
	ended                  // the feed is closed, or the reader's context is done
)

// nextEvents returns the events of height h once it is final.
func (f *feed) nextEvents(ctx context.Context, h types.Height) ([]event, position) {
	for {
		f.mu.Lock()
		events, at, news := f.ring[h], f.positionOf(h), f.news
		f.mu.Unlock()
		if at != coming {
			return events, at
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ended
		}
	}
}

// followEvents returns the events of height h once it is final, and of later heights up to last, as
// many as one write holds. through is the latest of these heights. A stream with last 0 does
// not end.
func (f *feed) followEvents(ctx context.Context, h, last types.Height) (events []event, through types.Height, at position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch at = f.positionOf(h); at {
		case coming:
		case ready:
			events, through = f.eventsOfOneWrite(h, last)
			return events, through, at
		default:
			return nil, h, at
		}
		news := f.calls.news
		f.calls.waiting++
		f.mu.Unlock()
		gone := false
		select {
		case <-news:
		case <-ctx.Done():
			gone = true
		}
		f.mu.Lock()
		f.calls.waiting--
		if gone {
			return nil, h, ended
		}
	}
}

// positionOf compares a height with the ring.
func (f *feed) positionOf(h types.Height) position {
	switch {
	case f.closed:
		return ended
	case h < f.oldest:
		return behind
	case h <= f.head:
		return ready
	}
	return coming
}

// eventsOfOneWrite returns the events of one write from height h on.
func (f *feed) eventsOfOneWrite(h, last types.Height) (events []event, through types.Height) {
	if last == 0 {
		last = f.head
	}
	events, through = slices.Clip(f.ring[h]), h
	for bytes := eventBytes(events); through < min(last, f.head) && bytes < EventWriteBytes; bytes += eventBytes(f.ring[through]) {
		through++
		events = append(events, f.ring[through]...)
	}
	return events, through
}

// latestHeight is the latest height in the ring.
func (f *feed) latestHeight() types.Height {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.head
}

func eventBytes(events []event) (n int) {
	for _, e := range events {
		n += len(e.text) + 128
	}
	return n
}

// eventsOf lists a block's events: the block, its transactions and delivered messages in
// their order, then timers in theirs, then lines printed by actors. Then come changes of
// jobs, changed bits of presence, and validators' sightings of runners.
func eventsOf(b *answers.Block, as *Typing) (events []event) {
	mark := markOf(b)
	add := func(kind string, v any, actors ...types.Address) {
		events = append(events, newEvent(b.Block.Header.Height, len(events), mark, kind, mustSucceed(json.Marshal(v)), actors...))
	}
	add(model.EventBlock, answers.ShowBlock(b))
	printed := b.PrintedBy()
	fires := map[types.Hash]*types.Receipt{}
	for i := range b.Receipts {
		r := &b.Receipts[i]
		if r.Origin == types.OriginTimer {
			fires[r.Hash] = r
			continue
		}
		about := []types.Address{r.Sender, r.To}
		for _, e := range r.Events {
			about = append(about, e.Actor)
		}
		add(model.EventTx, as.Receipt(r, printed[r.Hash]), about...)
	}
	for _, t := range b.Timers {
		m := model.TimerEvent{ID: t.ID, Actor: t.Actor, Height: b.Block.Header.Height, Status: string(t.Status), Reason: t.Reason,
			Logs: []string{}}
		if r := fires[t.ID]; r != nil && t.Status == types.TimerFired {
			m.Receipt, m.Logs = new(as.Receipt(r, printed[t.ID])), append(m.Logs, printed[t.ID]...)
		}
		add(model.EventTimer, m, t.Actor)
	}
	for _, t := range b.Deferred {
		add(model.EventTimer, model.TimerEvent{ID: t.ID, Actor: t.Actor, Height: b.Block.Header.Height, Status: string(t.Status),
			Reason: t.Reason, Logs: []string{}}, t.Actor)
	}
	for _, l := range b.Logs {
		add(model.EventLog, answers.ShowLog(history.LogLine{Height: b.Block.Header.Height, LogLine: l}), l.Actor)
	}
	for i := range b.Jobs {
		j := &b.Jobs[i]
		add(model.EventJob, j, aboutJob(j)...)
	}
	for i := range b.Presence {
		add(model.EventPresence, &b.Presence[i], b.Presence[i].Runner)
	}
	for i := range b.Runners {
		add(model.EventRunner, &b.Runners[i], b.Runners[i].Runner, b.Runners[i].Validator)
	}
	return events
}

// aboutJob lists the addresses that an event of a job concerns.
func aboutJob(e *model.JobEvent) []types.Address {
	about := append([]types.Address{}, e.Committee...)
	for _, a := range []*types.Address{e.Runner, e.Validator, e.Submitter} {
		if a != nil {
			about = append(about, *a)
		}
	}
	return about
}

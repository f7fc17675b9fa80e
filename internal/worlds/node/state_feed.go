package node

import (
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// StateFeed shows the final states of the validators of this process to the runners of
// this process (env.ChainView). One goroutine reads each state once for all of them,
// and leaves out states that are no longer the newest. It is safe for concurrent use.
type StateFeed struct {
	book *AddressBook

	mu     sync.Mutex
	wakes  *sync.Cond
	state  *ledger.State // the newest final one
	views  []*watching
	closed bool
	done   sync.WaitGroup
}

// NewStateFeed makes one. The address book knows where validators listen.
func NewStateFeed(book *AddressBook) *StateFeed {
	w := &StateFeed{book: book}
	w.wakes = sync.NewCond(&w.mu)
	w.done.Go(w.feedViews)
	return w
}

// Show shows a final state, if it is newer than the last.
func (w *StateFeed) Show(state *ledger.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == nil || state.Height() > w.state.Height() {
		w.state = state
		w.wakes.Signal()
	}
}

// View makes the view of one runner.
func (w *StateFeed) View(runner types.PublicKey) env.ChainView {
	return &watching{watch: w, runner: runner}
}

// Close ends all views.
func (w *StateFeed) Close() {
	w.mu.Lock()
	w.closed = true
	w.wakes.Signal()
	w.mu.Unlock()
	w.done.Wait()
}

// feedViews tells each view what it has not been told.
func (w *StateFeed) feedViews() {
	var outlook *ledger.Outlook
	var of *ledger.State
	for {
		state, views := w.awaitNews()
		if state == nil {
			return
		}
		switch {
		case outlook == nil:
			outlook = state.Outlook()
		case state != of:
			outlook = outlook.Next(state)
		}
		of = state
		for _, v := range views {
			v.tellState(outlook, state)
		}
	}
}

// awaitNews waits until there is something to tell; the state is nil at the end.
func (w *StateFeed) awaitNews() (state *ledger.State, views []*watching) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed {
		for _, v := range w.views {
			if w.state != nil && (v.asks || v.shown != w.state) {
				v.asks, v.shown = false, w.state
				views = append(views, v)
			}
		}
		if len(views) > 0 {
			return w.state, views
		}
		w.wakes.Wait()
	}
	return nil, nil
}

// watching is the view of one runner.
type watching struct {
	watch  *StateFeed
	runner types.PublicKey

	// Guarded by the watch's lock:
	shown    *ledger.State // told, or being told
	asks     bool          // the runner follows others since
	followed []execution.ID

	mu      sync.Mutex // of telling
	receive func(*chainview.Head)
}

var _ env.ChainView = (*watching)(nil)

// Start implements env.ChainView.
func (v *watching) Start(receive func(*chainview.Head)) error {
	v.receive = receive
	v.watch.mu.Lock()
	defer v.watch.mu.Unlock()
	v.watch.views = append(v.watch.views, v)
	v.watch.wakes.Signal()
	return nil
}

// Follow implements env.ChainView.
func (v *watching) Follow(ids []execution.ID) {
	v.watch.mu.Lock()
	defer v.watch.mu.Unlock()
	v.followed, v.asks = ids, true
	v.watch.wakes.Signal()
}

// Close implements env.ChainView.
func (v *watching) Close() error {
	v.watch.mu.Lock()
	v.watch.views = slices.DeleteFunc(v.watch.views, func(other *watching) bool { return other == v })
	v.watch.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.receive = nil
	return nil
}

// tellState reports a state, with the book's endpoints.
func (v *watching) tellState(outlook *ledger.Outlook, state *ledger.State) {
	v.watch.mu.Lock()
	followed := v.followed
	v.watch.mu.Unlock()
	head := outlook.Head(v.runner, followed)
	head.Validators = slices.Clone(head.Validators) // the outlook's own list is shared with later heads
	for i := range head.Validators {
		head.Validators[i].Endpoint = v.watch.book.Endpoint(head.Validators[i])
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.receive != nil {
		v.receive(head)
	}
}

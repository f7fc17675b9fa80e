package control

import (
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// holdPatience is how long work waits for the driver to have seen the block that drew
// the runner. A driver that looks elsewhere holds up no job.
const holdPatience = 2 * time.Second

// gatedExecutor is an executor that begins no work before the driver has seen the block that drew
// the runner for it. So what a script does to a runner in that block comes before the
// runner's result, however long the order takes on its way.
type gatedExecutor struct {
	env.Executor

	mu    sync.Mutex
	shown types.Height // the driver has seen the blocks up to it, and done about them what it wanted
	waits map[execution.ID]*waiting
}

// waiting is work that has not begun.
type waiting struct {
	begin func()
	over  *time.Timer // of the patience with the driver
}

func newGatedExecutor(x env.Executor) *gatedExecutor {
	return &gatedExecutor{Executor: x, waits: map[execution.ID]*waiting{}}
}

// Execute implements env.Executor.
func (h *gatedExecutor) Execute(id execution.ID, spec *push.JobSpec, tell func(execution.Report)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	begin := func() { h.Executor.Execute(id, spec, tell) }
	switch {
	case h.waits[id] != nil: // it is not begun twice
	case id.Drawn <= h.shown:
		begin()
	default:
		h.waits[id] = &waiting{begin, time.AfterFunc(holdPatience, func() { h.letGo(id) })}
	}
}

// letGo begins what still waits.
func (h *gatedExecutor) letGo(id execution.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.waits[id]; w != nil {
		w.over.Stop()
		delete(h.waits, id)
		w.begin()
	}
}

// showHeight is told up to which block the driver has seen the chain.
func (h *gatedExecutor) showHeight(height types.Height) {
	h.mu.Lock()
	h.shown = max(h.shown, height)
	var free []execution.ID
	for id := range h.waits { // works are independent of one another
		if id.Drawn <= h.shown {
			free = append(free, id)
		}
	}
	h.mu.Unlock()
	for _, id := range free {
		h.letGo(id)
	}
}

// seenHeight is the height up to which the driver has seen the chain.
func (h *gatedExecutor) seenHeight() types.Height {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shown
}

// Cancel implements env.Executor.
func (h *gatedExecutor) Cancel(id execution.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.waits[id]; w != nil {
		w.over.Stop()
		delete(h.waits, id)
	}
	h.Executor.Cancel(id)
}

// Close implements env.Executor.
func (h *gatedExecutor) Close() {
	h.mu.Lock()
	for id, w := range h.waits { // all of them
		w.over.Stop()
		delete(h.waits, id)
	}
	h.mu.Unlock()
	h.Executor.Close()
}

package sim

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// tasks are operator code that runs concurrently with the script: each a coroutine that runs only between two steps. There is never a
// second thread.
type tasks struct {
	open    []*task
	current *task                        // that runs, or nil
	failed  func(name string, err error) // receives a task's error; nil: the error is dropped
}

// task is one of them.
type task struct {
	name   string
	resume func() (struct{}, bool) // runs it until its next wait; false: it is over
	stop   func()
	wait   func(struct{}) bool // ends a run; false: the world is closed
	closed bool
}

// Go implements network.Scheduler: the task begins at this instant.
func (l *loop) Go(name string, do func() error) {
	t := &task{name: name}
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.wait = yield
		if err := do(); err != nil && l.tasks.failed != nil {
			l.tasks.failed(name, err)
		}
	})
	l.tasks.open = append(l.tasks.open, t)
	l.At(l.now, func() { l.runTask(t) })
}

// runTask runs a task until its next wait.
func (l *loop) runTask(t *task) {
	before := l.tasks.current
	l.tasks.current = t
	_, more := t.resume()
	l.tasks.current = before
	if !more {
		l.tasks.dropTask(t)
	}
}

func (ts *tasks) dropTask(t *task) {
	for i := range ts.open {
		if ts.open[i] == t {
			ts.open = append(ts.open[:i], ts.open[i+1:]...)
			return
		}
	}
}

// endAll ends the waits of all tasks, and so the tasks.
func (ts *tasks) endAll() {
	for len(ts.open) > 0 {
		t := ts.open[0]
		t.closed, ts.current = true, t
		t.stop()
		ts.current = nil
		ts.dropTask(t)
	}
}

// Wait implements network.Scheduler. A script's wait runs the world; a task's lets the
// world run on. Within an event nothing can wait: that is what Go is for.
func (l *loop) Wait(ctx context.Context, on *network.Signal, patience time.Duration) error {
	if t := l.tasks.current; t != nil {
		return l.suspendTask(ctx, t, on, patience)
	}
	if l.occurring {
		panic("sim: a wait within an event: do what waits as a task, by Go")
	}
	err := l.RunUntil(func() bool { return on.HasFired() || ctx.Err() != nil }, l.deadlineAfter(patience))
	switch {
	case on.HasFired():
		return nil
	case errors.Is(err, ErrDeadline), errors.Is(err, ErrAsleep):
		return network.ErrLate
	case err != nil:
		return err
	}
	return ctx.Err()
}

// suspendTask suspends a task.
func (l *loop) suspendTask(ctx context.Context, t *task, on *network.Signal, patience time.Duration) error {
	var woken bool
	wake := func() {
		if !woken && !t.closed {
			woken = true
			l.runTask(t)
		}
	}
	woken = !on.SetWake(func() { l.At(l.now, wake) })
	if at := l.deadlineAfter(patience); at != types.Never && !woken {
		l.At(at, wake)
	}
	for !woken {
		if t.closed || !t.wait(struct{}{}) {
			return network.ErrClosed
		}
	}
	switch {
	case on.HasFired():
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return network.ErrLate
}

// deadlineAfter is when a patience is over.
func (l *loop) deadlineAfter(patience time.Duration) types.Time {
	if patience == network.Forever {
		return types.Never
	}
	return l.now.Add(patience)
}

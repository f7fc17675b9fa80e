package validators

import (
	"errors"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// How long a validator waits before it tries again to execute a finalized block
// over which its host of programs failed: twice as long each time. It never gives
// up, since it can do nothing else (decision C18).
const (
	leastPatience = time.Second
	mostPatience  = 64 * leastPatience
)

// patience is what the execution role puts off because its environment failed
// over a finalized block: that block's event, and all that came behind.
type patience struct {
	waiting []executionEvent // finalizeReport and catchUp events, oldest first
	wait    time.Duration
	alarm   env.Alarm
}

// putOff keeps an event behind those that wait already.
func (e *execution) putOff(event executionEvent) {
	e.patience.waiting = append(e.patience.waiting, event)
}

// mustWait puts an event off over which the environment failed, and reports
// whether it did. It is called while nothing else waits.
func (e *execution) mustWait(event executionEvent, err error) bool {
	var environment *ledger.EnvironmentError
	if !errors.As(err, &environment) {
		return false
	}
	p := &e.patience
	e.putOff(event)
	p.wait = min(max(2*p.wait, leastPatience), mostPatience)
	e.v.trouble.note(e.v.node.Clock.Now(), "a final block cannot be executed here: "+environment.Brief())
	e.v.count.hostFailures.Add(1)
	e.v.log.Warn("a final block cannot be executed here, and is tried again: the host of programs fails",
		"height", e.v.head.Load().Block.Header.Height+1, "in", p.wait, "error", err)
	if p.alarm == nil {
		p.alarm = e.v.node.Clock.NewAlarm(func() { e.v.execution.Post(again{}) })
	}
	p.alarm.Set(e.v.node.Clock.Now().Add(p.wait))
	return true
}

// tryAgain goes through what was put off, until it fails again.
func (e *execution) tryAgain() {
	waiting := e.patience.waiting
	e.patience.waiting = nil
	for i, event := range waiting {
		var done bool
		switch event := event.(type) {
		case finalizeReport:
			done = e.finalize(event)
		case catchUp:
			done = e.catchUp(event)
		}
		if !done {
			e.patience.waiting = append(e.patience.waiting, waiting[i+1:]...)
			return
		}
	}
	e.patience.wait = 0
}

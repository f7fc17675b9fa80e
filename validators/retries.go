package validators

import (
	"errors"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// How long a validator waits before it tries again to execute a finalized block
// over which its host of programs failed: twice as long each time. It never gives
// up, since it can do nothing else (decision C18).
const (
	leastWait = time.Second
	mostWait  = 64 * leastWait
)

// maxPutOff bounds the final blocks that wait for others to be executed: as many as
// one answer of catch-up brings. Further blocks are dropped, and fetched again.
const maxPutOff = catchup.MaxBatchBlocks

// retries holds the events that the execution role puts off because its
// environment failed on a finalized block, and the events after it.
type retries struct {
	waiting []executionEvent // in their order: finalizeReports of at most maxPutOff blocks, which follow one another, and a catchUp
	lost    types.Height     // up to where reports were let go: catch-up brings those blocks before others follow
	failing bool             // until it is tried again
	wait    time.Duration
	alarm   env.Alarm
}

// lacksBlocks reports whether this validator lacks blocks before those that consensus
// reports.
func (e *execution) lacksBlocks() bool { return e.retries.lost > e.v.head.Load().Block.Header.Height }

// putOff queues an event after those that wait already.
func (e *execution) putOff(event executionEvent) {
	e.retries.waiting = append(e.retries.waiting, event)
	e.boundRetries()
}

// boundRetries lets go the reports that wait where they hold too many blocks, and has
// catch-up fetch these: it asks for no more at once than is executed here.
func (e *execution) boundRetries() {
	p, blocks, last := &e.retries, 0, types.Height(0)
	for _, event := range p.waiting {
		if of, is := event.(finalizeReport); is {
			blocks += len(of.report.Blocks)
			last = of.report.Blocks[len(of.report.Blocks)-1].Header.Height
		}
	}
	if blocks <= maxPutOff {
		return
	}
	p.lost = last
	p.waiting = slices.DeleteFunc(p.waiting, func(event executionEvent) bool {
		_, is := event.(finalizeReport)
		return is
	})
	e.v.consensus.Post(asCatchupEvent(catchup.Behind{Peer: e.v.node.Signer.Address(), Height: last, Proven: true}))
}

// mustWait puts an event off over which the environment failed, and reports
// whether it did. It is called while nothing else waits before it.
func (e *execution) mustWait(event executionEvent, err error) bool {
	var environment *ledger.EnvironmentError
	if !errors.As(err, &environment) {
		return false
	}
	p := &e.retries
	p.failing = true
	p.waiting = slices.Insert(p.waiting, 0, event)
	e.boundRetries()
	p.wait = min(max(2*p.wait, leastWait), mostWait)
	e.v.trouble.noteTrouble(e.v.node.Clock.Now(), "a final block cannot be executed here: "+environment.Brief())
	e.v.count.hostFailures.Add(1)
	e.v.log.Warn("a final block cannot be executed here, and is tried again: the host of programs fails",
		"height", e.v.head.Load().Block.Header.Height+1, "in", p.wait, "error", err)
	if p.alarm == nil {
		p.alarm = e.v.node.Clock.NewAlarm(func() { e.v.execution.Post(again{}) })
	}
	p.alarm.Set(e.v.node.Clock.Now().Add(p.wait))
	return true
}

// tryAgain goes through what was put off, until it fails again, or lacks blocks that
// catch-up has to bring first.
func (e *execution) tryAgain() {
	waiting := e.retries.waiting
	e.retries.waiting, e.retries.failing = nil, false
	for i, event := range waiting {
		var done bool
		switch event := event.(type) {
		case finalizeReport:
			done = e.finalizeBlocks(event)
		case catchUp:
			done = e.catchUp(event)
		}
		if !done {
			for _, later := range waiting[i+1:] {
				e.putOff(later)
			}
			return
		}
	}
}

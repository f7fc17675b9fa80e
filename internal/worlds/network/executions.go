package network

import (
	"context"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// maxDropped bounds the given up transactions that are remembered, of some 150 bytes each.
const maxDropped = 4_096

// Executions tells callers the ends of the transactions that they wait for.
type Executions struct {
	scheduler Scheduler
	ends      guardedValue[ends]
}

// ends are the waits for transactions, and the latest transactions that validators gave up.
type ends struct {
	waiting map[types.Hash][]*Execution
	dropped map[types.Hash]string // why
	order   []types.Hash          // of dropped, the oldest first
}

func newExecutions(s Scheduler) *Executions {
	x := &Executions{scheduler: s}
	x.ends.withValue(func(is *ends) { is.waiting, is.dropped = map[types.Hash][]*Execution{}, map[types.Hash]string{} })
	return x
}

// Execution is one caller's wait for the end of a transaction.
type Execution struct {
	of   *Executions
	hash types.Hash
	over *Signal
	end  guardedValue[End]
}

// End is how a transaction ended: with its receipt, or without a block.
type End struct {
	Receipt *types.Receipt
	Printed []string // the lines that the execution printed
	Dropped string   // why a validator gave it up; "" with a receipt
}

// Await begins to wait for a transaction. The caller ends the wait with GiveUp.
func (x *Executions) Await(hash types.Hash) *Execution {
	e, _ := x.beginWait(hash)
	return e
}

// AwaitSubmitted is Await of a transaction that was submitted before: a validator may have
// given it up meanwhile.
func (x *Executions) AwaitSubmitted(hash types.Hash) *Execution {
	e, why := x.beginWait(hash)
	if why != "" {
		e.endWait(End{Dropped: why})
	}
	return e
}

// beginWait begins a wait, and says why the transaction was given up last, if it was.
func (x *Executions) beginWait(hash types.Hash) (e *Execution, why string) {
	e = &Execution{of: x, hash: hash, over: new(Signal)}
	x.ends.withValue(func(is *ends) {
		is.waiting[hash], why = append(is.waiting[hash], e), is.dropped[hash]
	})
	return e, why
}

// Wait waits until the transaction has ended. It fails as a wait of the scheduler does.
func (e *Execution) Wait(ctx context.Context, patience time.Duration) (end End, err error) {
	if err := e.of.scheduler.Wait(ctx, e.over, patience); err != nil {
		return End{}, err
	}
	e.end.withValue(func(is *End) { end = *is })
	return end, nil
}

// GiveUp ends the wait.
func (e *Execution) GiveUp() {
	e.of.ends.withValue(func(is *ends) {
		left := slices.DeleteFunc(is.waiting[e.hash], func(one *Execution) bool { return one == e })
		if is.waiting[e.hash] = left; len(left) == 0 {
			delete(is.waiting, e.hash)
		}
	})
}

// endWaitsOf ends the waits for the transactions of a block, which no validator had finalized
// before.
func (x *Executions) endWaitsOf(r *ledger.Result) {
	for i := range r.Receipts {
		receipt := &r.Receipts[i]
		for _, e := range x.waitsFor(receipt.Hash) {
			e.endWait(End{Receipt: receipt, Printed: printedLines(r, receipt.Hash)})
		}
	}
}

// Dropped ends the waits for a transaction that a validator gave up, also those that begin
// later.
func (x *Executions) Dropped(hash types.Hash, why string) {
	var waiting []*Execution
	x.ends.withValue(func(is *ends) {
		is.forgetHash(hash)
		if len(is.order) == maxDropped {
			is.forgetHash(is.order[0])
		}
		is.dropped[hash], is.order = why, append(is.order, hash)
		waiting = slices.Clone(is.waiting[hash])
	})
	for _, e := range waiting {
		e.endWait(End{Dropped: why})
	}
}

// forgetDrop forgets that a transaction was dropped before it was submitted again.
func (x *Executions) forgetDrop(hash types.Hash) {
	x.ends.withValue(func(is *ends) { is.forgetHash(hash) })
}

func (e *ends) forgetHash(hash types.Hash) {
	if _, is := e.dropped[hash]; is {
		delete(e.dropped, hash)
		e.order = slices.DeleteFunc(e.order, func(one types.Hash) bool { return one == hash })
	}
}

// waitsFor lists the waits for a transaction.
func (x *Executions) waitsFor(hash types.Hash) (all []*Execution) {
	x.ends.withValue(func(is *ends) { all = slices.Clone(is.waiting[hash]) })
	return all
}

// endWait ends a wait. The first end counts.
func (e *Execution) endWait(end End) {
	e.end.withValue(func(is *End) {
		if is.Receipt == nil && is.Dropped == "" {
			*is = end
		}
	})
	e.over.Fire()
}

// printedLines lists the lines that one execution of a block printed.
func printedLines(r *ledger.Result, execution types.Hash) (lines []string) {
	for i := range r.Logs {
		if r.Logs[i].Cause == execution {
			lines = append(lines, r.Logs[i].Line)
		}
	}
	return lines
}

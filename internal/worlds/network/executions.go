package network

import (
	"context"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Executions tells callers the ends of the transactions that they wait for.
type Executions struct {
	scheduler Scheduler
	waiting   guarded[map[types.Hash][]*Execution]
}

// Execution is one caller's wait for the end of a transaction.
type Execution struct {
	of   *Executions
	hash types.Hash
	over Signal
	end  guarded[End]
}

// End is how a transaction ended: with its receipt, or without a block.
type End struct {
	Receipt *types.Receipt
	Printed []string // the lines that the execution printed
	Dropped string   // why a validator gave it up; "" with a receipt
}

// Await begins to wait for a transaction. The caller ends the wait with GiveUp.
func (x *Executions) Await(hash types.Hash) *Execution {
	e := &Execution{of: x, hash: hash, over: x.scheduler.NewSignal()}
	x.waiting.do(func(waiting *map[types.Hash][]*Execution) {
		if *waiting == nil {
			*waiting = map[types.Hash][]*Execution{}
		}
		(*waiting)[hash] = append((*waiting)[hash], e)
	})
	return e
}

// Wait waits until the transaction has ended. It fails as a wait of the scheduler does.
func (e *Execution) Wait(ctx context.Context, patience time.Duration) (end End, err error) {
	if err := e.of.scheduler.Wait(ctx, e.over, patience); err != nil {
		return End{}, err
	}
	e.end.do(func(is *End) { end = *is })
	return end, nil
}

// GiveUp ends the wait.
func (e *Execution) GiveUp() {
	e.of.waiting.do(func(waiting *map[types.Hash][]*Execution) {
		left := slices.DeleteFunc((*waiting)[e.hash], func(one *Execution) bool { return one == e })
		if (*waiting)[e.hash] = left; len(left) == 0 {
			delete(*waiting, e.hash)
		}
	})
}

// final ends the waits for the transactions of a block, which no validator had finalized
// before.
func (x *Executions) final(r *ledger.Result) {
	for i := range r.Receipts {
		receipt := &r.Receipts[i]
		for _, e := range x.of(receipt.Hash) {
			e.fire(End{Receipt: receipt, Printed: printed(r, receipt.Hash)})
		}
	}
}

// Dropped ends the waits for a transaction that a validator gave up.
func (x *Executions) Dropped(hash types.Hash, why string) {
	for _, e := range x.of(hash) {
		e.fire(End{Dropped: why})
	}
}

// of lists the waits for a transaction.
func (x *Executions) of(hash types.Hash) (all []*Execution) {
	x.waiting.do(func(waiting *map[types.Hash][]*Execution) { all = slices.Clone((*waiting)[hash]) })
	return all
}

// fire ends a wait. The first end counts.
func (e *Execution) fire(end End) {
	e.end.do(func(is *End) {
		if is.Receipt == nil && is.Dropped == "" {
			*is = end
		}
	})
	e.over.Fire()
}

// printed lists the lines that one execution of a block printed.
func printed(r *ledger.Result, execution types.Hash) (lines []string) {
	for i := range r.Logs {
		if r.Logs[i].Cause == execution {
			lines = append(lines, r.Logs[i].Line)
		}
	}
	return lines
}

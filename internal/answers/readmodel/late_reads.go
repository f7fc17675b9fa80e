package readmodel

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of what is remembered of late reads: for how many blocks, and of how many handlers. With more
// of them, the one that would be forgotten first is.
const (
	lateReadBlocks = 256
	maxLateReads   = 1024
)

// readOf is a handler of an actor, as a hash: names are long.
type readOf types.Hash

func readOfHandler(actor types.Address, handler string) readOf {
	return readOf(types.Keccak(actor[:], []byte(handler)))
}

// readOfTransaction is what a dry run executes. A deploy has its sender's address, and like all but a
// call no handler.
func readOfTransaction(sender types.Address, tx *types.Transaction) readOf {
	actor, handler := sender, ""
	if tx.To != nil {
		actor = *tx.To
	}
	if instruction, err := tx.Instruction(); err == nil {
		if call, ok := instruction.(*types.Execute); ok {
			handler = call.Handler
		}
	}
	return readOfHandler(actor, handler)
}

// lateReads is the handlers that were late in a read. They have one place together, so that hosts are
// left to all others. A slow moment may make any seem late: all that it loses is company. It is safe
// for concurrent use.
//
// Spec: decision C18.
type lateReads struct {
	mu      sync.Mutex
	until   map[readOf]types.Height // they are remembered
	isTaken bool
}

// enterRead lets a read run at a height. One that was late before needs the place, which it has until leave.
func (l *lateReads) enterRead(at types.Height, of readOf) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch until, wasLate := l.until[of]; {
	case !wasLate || at >= until:
		return func() {}, nil
	case l.isTaken:
		return nil, refusal.New(answers.CodeLateBefore, "this handler was late in a read before, and another such read runs").
			Hint("Try again in a second, or let it do less at once.")
	}
	l.isTaken = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.isTaken = false
	}, nil
}

// noteLate remembers that a read was late at a height.
func (l *lateReads) noteLate(at types.Height, of readOf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[readOf]types.Height{}
	}
	if _, known := l.until[of]; !known && len(l.until) >= maxLateReads {
		first := of
		for other, until := range l.until { // order: of two that are equal either may go
			if first == of || until < l.until[first] {
				first = other
			}
		}
		delete(l.until, first)
	}
	l.until[of] = at + lateReadBlocks
}

// runPaidRead lets a read execute programs, and has the request of ctx pay for it. do returns the cycles that
// it used.
func (v *reader) runPaidRead(ctx context.Context, of readOf, do func() (types.Cycles, error)) error {
	late := &v.source.lateReads
	leave, err := late.enterRead(v.state.Height(), of)
	if err != nil {
		return err
	}
	defer leave()
	cycles, err := do()
	var failed *ledger.EnvironmentError
	if host := (*program.HostError)(nil); errors.As(err, &failed) && errors.As(err, &host) {
		if host.Failure == program.Late || host.Failure == program.Stopped {
			late.noteLate(v.state.Height(), of)
		}
		if host.Failure != program.Missing {
			cycles = program.LateTimesInAll * failed.Limit
		}
	}
	answers.SpendCycles(ctx, cycles)
	return err
}

// sharedRead is the outcome of reads that are equal and run at once.
type sharedRead struct {
	result ledger.ReadResult
	err    error
}

var errReadPanicked = errors.New("an equal read met a bug: the log says more")

// Read implements answers.Reader. Equal reads of one head that run at once run once, for the first of them.
func (v *reader) Read(ctx context.Context, call ledger.Call) (ledger.ReadResult, error) {
	of := readOfHandler(call.Actor, call.Handler)
	block := v.state.Hash()
	key := types.Keccak(block[:], of[:], call.Sender[:], binary.BigEndian.AppendUint64(nil, uint64(call.Cycles)), call.Payload)
	shared := v.source.running.Do(nil, key, func() (*sharedRead, bool) {
		s := new(sharedRead)
		s.err = v.runPaidRead(ctx, of, func() (_ types.Cycles, err error) {
			s.result, err = v.executor.Read(v.state, call)
			return s.result.Cycles, err
		})
		return s, false
	})
	if shared == nil {
		return ledger.ReadResult{}, errReadPanicked
	}
	return shared.result, failedRead(shared.err)
}

// failedRead answers for a read without an outcome.
func failedRead(err error) error {
	if missing := (*ledger.EnvironmentError)(nil); errors.As(err, &missing) {
		return environmentError(err)
	}
	return err
}

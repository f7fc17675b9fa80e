package validators

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

// begins is an env.Contracts that records the contracts it was called for, and panics
// for selected ones.
type begins struct {
	seen  []types.Address
	panic any
}

func (b *begins) Begin(a types.Address) {
	b.seen = append(b.seen, a)
	if value := b.panic; value != nil {
		b.panic = nil
		panic(value)
	}
}

// Decision C21: a contract handles a message in a separate actor. Its panic is this
// node's failure and no outcome, its actor is made again, and what another panics with
// within it stays the other's.
func TestC21AContractThatPanicsIsThisNodesFailure(t *testing.T) {
	before := &begins{panic: &roles.Ordered{}}
	withOnchain(t, before, func(o *onchain, v *Validator) {
		send := func(to types.Address, do func() program.Outcome) (program.Outcome, error) {
			return o.Run(actors.Native(do), nil, program.Code{}, program.Message{Self: to, Handler: "advance"})
		}
		fine := func() program.Outcome { return program.Outcome{Status: types.StatusOK} }
		var failed *actors.ContractError
		if _, err := send(types.DispatcherAddress, fine); !errors.As(err, &failed) || failed.Contract != types.DispatcherAddress {
			t.Errorf("an ordered panic: %v", err)
		}
		if outcome, err := send(types.DispatcherAddress, fine); err != nil || outcome.Status != types.StatusOK {
			t.Errorf("the next message: %v, %v", outcome, err)
		}
		before.panic = nil
		_, err := send(types.DispatcherAddress, func() program.Outcome {
			before.panic = &roles.Ordered{}
			if _, err := send(types.TreasuryAddress, fine); err != nil {
				panic(err)
			}
			return fine()
		})
		if !errors.As(err, &failed) || failed.Contract != types.TreasuryAddress {
			t.Errorf("a panic within: %v", err)
		}
		if got := v.count.contracts.Load(); got != 3 {
			t.Errorf("%d contracts were made again, want 3", got)
		}
		if len(before.seen) != 4 || o.pool.Len() != 2 {
			t.Errorf("%v were told, by %d actors", before.seen, o.pool.Len())
		}
	})
}

// Decision C21: a Go sample that panics is a receipt. A panic of the conversation with a
// program's host is this machine's failure alone, and begins is called for neither.
func TestC21APanicOverAProgramIsAReceiptOfAGoSampleAlone(t *testing.T) {
	before := &begins{}
	withOnchain(t, before, func(o *onchain, _ *Validator) {
		run := func(source string) (program.Outcome, error) {
			return o.Run(panicking{}, nil, program.Code{Source: []byte(source)}, program.Message{Self: types.Address{9}})
		}
		outcome, err := run("go:counter")
		if err != nil || outcome.Status != types.StatusFailed || outcome.Fault.Code != "panic" {
			t.Errorf("a sample: %v, %v", outcome, err)
		}
		var host *program.HostError
		outcome, err = run("def f(p): pass")
		if !errors.As(err, &host) || host.Failure != program.Crashed || outcome.Status != "" {
			t.Errorf("a program in Python: %v, %v", outcome, err)
		}
		if len(before.seen) != 0 {
			t.Errorf("%v were told", before.seen)
		}
	})
}

// panicking is a session whose programs panic.
type panicking struct{ program.Session }

func (panicking) Handle(program.Context, program.Code, program.Message) (program.Outcome, error) {
	panic("its bug")
}

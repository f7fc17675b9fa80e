package actors

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func (x *Execution) isHandled(a types.Address) bool {
	return x.block.System != nil && x.block.System.Answers(a)
}

// Native is the session in which a contract handles one message: its code is the
// chain's own, and it never waits.
type Native func() program.Outcome

var _ program.Session = Native(nil)

// Bound implements program.Session: there is nothing to wait for.
func (Native) Bound(program.Bounds) {}

// Inspect implements program.Session: no contract is deployed.
func (Native) Inspect(program.Code) (program.Description, error) {
	panic("actors: the code of a contract is the chain's own")
}

// Handle implements program.Session.
func (n Native) Handle(program.Context, program.Code, program.Message) (program.Outcome, error) {
	return n(), nil
}

// Close implements program.Session.
func (Native) Close() {}

// ContractError is the panic of a contract: a failure of this node, without a result
// of the execution. It is not a receipt: other nodes may not fail.
type ContractError struct {
	Contract types.Address
	What     string // the handler, or the step of the block
	Value    any    // what it panicked with
}

func (e *ContractError) Error() string {
	return fmt.Sprintf("the contract %s panicked in %s, and was made again: %v", e.Contract, e.What, e.Value)
}

// Instruct lets a contract do work that is not a call of a handler: an instruction of
// the system key, a runner transaction, or a step of the block without a sender, which
// what names. It charges nothing. An error comes from the environment; the caller then
// reverts.
//
// Spec: decision C21.
func (x *Execution) Instruct(from, contract types.Address, what string, do func() program.Outcome) (program.Outcome, error) {
	msg := program.Message{Kind: program.Call, Sender: from, Self: contract, Handler: what}
	f := x.pushFrame(x.top, msg, x.cyclesLeft)
	outcome, err := x.block.Deliverer.Run(Native(do), f, program.Code{}, msg)
	x.top = f.parent
	return outcome, err
}

// handleSystem runs a handler of a contract, which is charged like any other and is on
// the stack like one.
func (f *frame) handleSystem() program.Outcome {
	cycles, cells := f.x.block.System.Cost(f.msg)
	if fault := f.chargeWrite(cycles, int(cells)); fault != nil {
		return newFailedOutcome(fault.Status, fault.Code, fault.Message)
	}
	effect, fault := f.x.block.System.Handle(f.x.state, f.msg)
	if fault == nil {
		fault = f.chargeUse(effect.Cycles, effect.Cells)
	}
	if fault != nil {
		return newFailedOutcome(fault.Status, fault.Code, fault.Message)
	}
	f.x.Events = append(f.x.Events, effect.Events...)
	f.x.Jobs = append(f.x.Jobs, effect.Jobs...)
	return program.Outcome{Status: types.StatusOK, Output: effect.Output}
}

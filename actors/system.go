package actors

import (
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func (x *Execution) answers(a types.Address) bool {
	return x.block.System != nil && x.block.System.Answers(a)
}

// runSystem runs a handler of a system actor, which is charged like any other and
// is on the stack like one.
func (x *Execution) runSystem(parent *frame, msg program.Message, purse *types.Cycles) program.Outcome {
	mark := x.mark()
	f := x.push(parent, msg, *purse)
	outcome := f.end(f.handleSystem())
	x.top = parent
	*purse = f.left
	if outcome.Status != types.StatusOK {
		x.revert(mark)
	}
	return outcome
}

func (f *frame) handleSystem() program.Outcome {
	cycles, cells := f.x.block.System.Cost(f.msg)
	if fault := f.write(cycles, int(cells)); fault != nil {
		return failed(fault.Status, fault.Code, fault.Message)
	}
	effect, fault := f.x.block.System.Handle(f.x.state, f.msg)
	if fault == nil {
		fault = f.charge(effect.Cycles, effect.Cells)
	}
	if fault != nil {
		return failed(fault.Status, fault.Code, fault.Message)
	}
	f.x.Events = append(f.x.Events, effect.Events...)
	f.x.Jobs = append(f.x.Jobs, effect.Jobs...)
	return program.Outcome{Status: types.StatusOK, Output: effect.Output}
}

package byzantine

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
)

// ValidatorProcess is a validator's process as the faults of a single node see it.
type ValidatorProcess struct {
	Mask      *Mask
	Programs  *fault.Programs
	Shell     *validators.Validator
	Contracts *fault.Contracts
	Twin      *Twin
}

// Do makes the process execute a sound order of a node's fault. Nil counts end what its
// verb began. over is called once, with the delay after which the fault can do nothing
// more, if the process knows it.
func (p *ValidatorProcess) Do(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error {
	switch o.Verb {
	case fault.Misbehave:
		p.Mask.Honest()
		if counts == nil {
			return nil
		}
		return p.Mask.Behave(o.Kind, counts)
	case fault.Twin:
		if counts == nil {
			p.Twin.End()
			return nil
		}
		return p.Twin.Begin(counts)
	case fault.HostFail:
		how := o.How
		if counts == nil {
			how = fault.HostWorks
		}
		p.Programs.Fail(o.Actor, how, counts)
		return nil
	case fault.Panic, fault.Hang:
		if contract, is := types.ContractAddress(o.Contract); is {
			p.Contracts.Upset(contract, fault.Upset{Hang: hangOf(o), Panic: &roles.Ordered{}, Count: counts, Over: func() { over(0) }})
			return nil
		}
		return upsetRole(p.Shell.Upset, o, counts, over)
	}
	return notOwn(o, fault.Validators)
}

// RunnerProcess is a runner's process as the faults of a single node see it.
type RunnerProcess struct {
	Mask  *RunnerMask
	Shell *runners.Runner
}

// Do is as that of a validator's process.
func (p *RunnerProcess) Do(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error {
	switch o.Verb {
	case fault.Blackhole:
		p.Mask.Swallow(counts)
	case fault.Saturate:
		p.Mask.Saturate(counts)
		if counts == nil {
			p.Shell.Drain(false, "")
		} else {
			p.Shell.Drain(true, "saturated")
		}
	case fault.Capability:
		p.Mask.Offer(*o, counts)
		p.Shell.Change(o.Add, o.Remove)
	case fault.Slow:
		p.Mask.Slow(o.Delay, counts)
	case fault.Flap:
		p.Mask.Flap(o.Up, o.Down, o.Times, counts, func() { over(0) })
	case fault.Misbehave:
		if counts == nil {
			p.Mask.Honest()
			return nil
		}
		return p.Mask.Behave(o.Kind, counts)
	case fault.Panic, fault.Hang:
		return upsetRole(p.Shell.Upset, o, counts, over)
	default:
		return notOwn(o, fault.Runners)
	}
	return nil
}

// notOwn refuses a verb that no process of a kind of node does to itself.
func notOwn(o *fault.Order, kind fault.Whose) error {
	return refusal.New("unsupported", "%s: no process of %s does it to itself", o.Verb.Name, kind).At("verb")
}

package ledger

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// passing is what a block passes over, in the making (decision C18). A proposer
// finds out what that is; everybody else does as the body says, and holds it
// against what there was to pass over.
type passing struct {
	claimed   *types.Passed // what somebody else's block says it passed over
	foreign   bool          // the block is somebody else's
	questions passed[types.AgentQuestion]
	fires     passed[types.TimerID]
	messages  passed[types.Seq]
}

// passed is one kind of it.
type passed[T comparable] struct {
	types.PassedList[T]
	claimed types.PassedList[T]
	begun   uint64
}

// follow has the block pass over what its body says.
func (p *passing) follow(claimed *types.Passed) {
	p.foreign, p.claimed = true, claimed
	if claimed != nil {
		p.questions.claimed, p.fires.claimed, p.messages.claimed = claimed.Questions, claimed.Fires, claimed.Messages
	}
}

// made is what the block passed over; nil where that is nothing.
func (p *passing) made() *types.Passed {
	all := types.Passed{Questions: p.questions.PassedList, Fires: p.fires.PassedList, Messages: p.messages.PassedList}
	if all.Empty() {
		return nil
	}
	return &all
}

// check judges a body that says it passed over what was not there, in another
// order than it came, or twice.
func (p *passing) check() *Invalid {
	if types.PassedHash(p.claimed) != types.PassedHash(p.made()) {
		return invalid(CodeBadPassed, "C18", "the block says that it passed over %x, of which there was %x to pass over",
			clipped(codec.Marshal(p.claimed)), clipped(codec.Marshal(p.made())))
	}
	return nil
}

func clipped(data []byte) []byte { return data[:min(len(data), 256)] }

// attempting executes the next of a kind by do, or passes it over and says why;
// what a failed do did is undone already. The error is do's where this node's
// environment failed over a block that is not its own: it has no result then.
//
// Spec: decision C18.
func attempting[T comparable](r *run, l *passed[T], which T, item types.Hash, do func() error) (reason string, err error) {
	switch {
	case r.passing.foreign && l.claimed.Begun != nil && *l.claimed.Begun == l.begun,
		!r.passing.foreign && (r.pace.over() || len(l.Failed) == types.MaxPassed):
		return l.stop(), nil
	case r.passing.foreign && len(l.Failed) < len(l.claimed.Failed) && l.claimed.Failed[len(l.Failed)] == which:
		return l.fail(which), nil
	case r.passing.foreign:
		l.begun++
		return "", do()
	}
	if r.pace.failed(item, r.header.Height) {
		return l.fail(which), nil
	}
	late, err := r.try(item, chancesOfLane, do)
	var environment *EnvironmentError
	switch {
	case err == nil:
		l.begun++
		return "", nil
	case !errors.As(err, &environment):
		return "", err
	case late:
		return l.stop(), nil
	}
	return l.fail(which), nil
}

// try executes something by do in the making of a block, within what the proposer
// has left or lends it. late is that do failed because time was over, which is not
// held against it yet; else what the environment fails over has failed.
func (r *run) try(item types.Hash, c chances, do func() error) (late bool, err error) {
	lent, back := r.pace.lend(item, r.header.Height, c)
	defer back()
	err = do()
	var environment *EnvironmentError
	switch {
	case err == nil:
		r.pace.forget(item)
		return false, nil
	case !errors.As(err, &environment), errors.Is(err, program.ErrNotBegun):
		return true, err
	}
	r.failures = append(r.failures, environment)
	if !r.pace.over() {
		return false, err
	}
	var failed bool
	environment.Late, failed = r.pace.Tries.late(item, r.header.Height, lent, c)
	return !failed, err
}

func (l *passed[T]) fail(which T) string {
	l.begun++
	l.Failed = append(l.Failed, which)
	return scheduler.ReasonHostFailed
}

func (l *passed[T]) stop() string {
	if l.Begun == nil {
		begun := l.begun
		l.Begun = &begun
	}
	return scheduler.ReasonNotBegun
}

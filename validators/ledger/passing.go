package ledger

import (
	"errors"
	"time"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// passing collects the items that a block skips (decision C18). A proposer finds
// these items; other validators follow the body's list, and compare it with the
// items that could be skipped.
type passing struct {
	claimed   *types.Passed // the list of skipped items in another proposer's block
	foreign   bool          // the block has another proposer
	questions passedKind[types.AgentQuestion]
	fires     passedKind[types.TimerID]
	messages  passedKind[types.Seq]
}

// passedKind is one kind of it.
type passedKind[T comparable] struct {
	types.PassedList[T]
	claimed types.PassedList[T]
	begun   uint64
}

// followList makes the block skip the items that its body lists.
func (p *passing) followList(claimed *types.Passed) {
	p.foreign, p.claimed = true, claimed
	if claimed != nil {
		p.questions.claimed, p.fires.claimed, p.messages.claimed = claimed.Questions, claimed.Fires, claimed.Messages
	}
}

// passedItems returns the items that the block skipped; nil if there are none.
func (p *passing) passedItems(late []types.LateTransaction) *types.Passed {
	all := types.Passed{Late: late, Questions: p.questions.PassedList, Fires: p.fires.PassedList, Messages: p.messages.PassedList}
	if all.Empty() {
		return nil
	}
	return &all
}

// checkList judges a body that lists skipped items that did not exist, in a different
// order, or twice.
func (p *passing) checkList(late []types.LateTransaction) *Invalid {
	made := p.passedItems(late)
	if types.PassedHash(p.claimed) != types.PassedHash(made) {
		return newInvalid(CodeBadPassed, "C18", "the block lists skipped items %x, but skipped %x",
			clipData(codec.Marshal(p.claimed)), clipData(codec.Marshal(made)))
	}
	return nil
}

func clipData(data []byte) []byte { return data[:min(len(data), 256)] }

// passedOver is why a block leaves an item in place, and whether it begins no other of its
// kind after it.
type passedOver struct {
	reason string // "" of an item that was executed
	over   bool
}

// attemptItem executes the next of a kind by do, or skips it and says why. The effects of
// a failed do are undone already. party is the actor whose item it is. If this node's environment
// fails on a block of another validator, attempting returns the error of do, and the block
// has no result.
//
// Spec: decision C18.
func attemptItem[T comparable](r *run, l *passedKind[T], which T, item types.Hash, party types.Address, do func() error) (passedOver,
	error) {
	if r.passing.foreign {
		return l.followItem(which, do)
	}
	if len(l.Failed) == types.MaxPassed || len(l.Skipped) == types.MaxPassed {
		return l.stopAt(), nil
	}
	t := r.pace.takeTurn(item, party)
	switch {
	case t == turnWaits, t == turnFirst && r.pace.isOver() && r.pace.continuesForTry():
		return l.skipItem(), nil
	case t == turnFirst && r.pace.isOver():
		return l.stopAt(), nil
	}
	end, err := r.tryItem(item, t, party, do)
	switch end {
	case endDone:
		l.begun++
		return passedOver{}, nil
	case endBroken:
		return passedOver{}, err
	case endFailed:
		return l.failItem(which), nil
	case endMissing:
		return l.stopAt(), nil
	}
	return l.skipItem(), nil
}

// followItem treats an item as a block of another validator says.
func (l *passedKind[T]) followItem(which T, do func() error) (passedOver, error) {
	switch {
	case l.isSkipped():
		return l.skipItem(), nil
	case l.claimed.Begun != nil && *l.claimed.Begun == l.begun:
		return l.stopAt(), nil
	case len(l.Failed) < len(l.claimed.Failed) && l.claimed.Failed[len(l.Failed)] == which:
		return l.failItem(which), nil
	}
	l.begun++
	return passedOver{}, do()
}

// isSkipped reports whether a block of another validator leaves the next item.
func (l *passedKind[T]) isSkipped() bool {
	i := len(l.Skipped) // the entry of the claim under way, or the next
	if i > 0 && l.Skipped[i-1].Begun == l.begun {
		i--
	}
	if i >= len(l.claimed.Skipped) || l.claimed.Skipped[i].Begun != l.begun {
		return false
	}
	return i == len(l.Skipped) || l.Skipped[i].Count < l.claimed.Skipped[i].Count
}

// ending is the outcome of an attempt.
type ending uint8

const (
	endDone    ending = iota
	endBroken         // by an error that is not the environment's
	endFailed         // the host crashed over it, or it was late, in enough blocks to list it
	endStarved        // this machine was too slow for it, as often as an item may lose a share
	endMissing        // this machine has no host: nothing is noted of the item
	endWaits          // it was cut off or not begun, or has another attempt
)

// tryItem executes something by do in the making of a block, within the time of its turn.
//
// Spec: decision C18.
func (r *run) tryItem(item types.Hash, t turn, party types.Address, do func() error) (ending, error) {
	whole := t == turnLarge || r.pace.Pace != nil && r.pace.firstPatience() == r.pace.Share
	end := r.pace.startTurn(item, t)
	err := do()
	over := r.pace.isOver()
	end()
	tries, phase := r.pace.rememberedTries(), r.pace.phase
	var environment *EnvironmentError
	switch {
	case err == nil:
		tries.endItem(item)
		return endDone, nil
	case !errors.As(err, &environment):
		return endBroken, err
	case errors.Is(err, program.ErrNotBegun):
		return endWaits, err
	}
	environment.Item = item
	r.failures = append(r.failures, environment)
	if contract := (*actors.ContractError)(nil); errors.As(err, &contract) {
		return endWaits, err // only this node's failure: it says nothing about the item
	}
	if over && !errors.Is(err, program.ErrLate) || failureOf(err) == program.Stopped {
		environment.Late = true
		switch isStarved := usedCPU(err) < r.pace.starvedBelow(whole); {
		case !whole && isStarved:
			tries.starveFirst(item, party, phase)
			return endWaits, err
		case !whole || isStarved:
			tries.noteCutOff(item, party, phase)
			if whole && !tries.noteStarvation(item) {
				environment.Starved = true
				return endStarved, err
			}
			return endWaits, err
		}
		// It had the CPU time of a whole share, and no honest item needs more.
	}
	if failureOf(err) == program.Missing {
		return endMissing, err
	}
	environment.Late = environment.Late || errors.Is(err, program.ErrLate)
	needed := 1
	switch {
	case environment.Late && !isUnproved(err):
		needed = lateTries
		tries.blameParty(party)
	case r.parent.set.MaxFaulty() == 0:
		needed = crashTries
	}
	if !tries.noteFailure(item, party, phase, needed) {
		return endWaits, err
	}
	return endFailed, err
}

// usedCPU is the CPU time that the host of a failed attempt used.
func usedCPU(err error) time.Duration {
	var host *program.HostError
	if !errors.As(err, &host) {
		return 0
	}
	return host.CPU
}

// isUnproved reports whether a failure proves nothing about the program. A host that was
// killed crashes, and a machine that was suspended takes long. CPU time is a proof.
func isUnproved(err error) bool {
	var host *program.HostError
	return !errors.As(err, &host) || host.Failure == program.Crashed || host.Failure == program.Late && host.CPU == 0
}

// failureOf is how the host failed; 0: something else failed.
func failureOf(err error) program.Failure {
	var host *program.HostError
	if !errors.As(err, &host) {
		return 0
	}
	return host.Failure
}

func (l *passedKind[T]) failItem(which T) passedOver {
	l.begun++
	l.Failed = append(l.Failed, which)
	return passedOver{reason: scheduler.ReasonHostFailed}
}

func (l *passedKind[T]) stopAt() passedOver {
	if l.Begun == nil {
		begun := l.begun
		l.Begun = &begun
	}
	return passedOver{reason: scheduler.ReasonNotBegun, over: true}
}

func (l *passedKind[T]) skipItem() passedOver {
	if n := len(l.Skipped); n > 0 && l.Skipped[n-1].Begun == l.begun {
		l.Skipped[n-1].Count++
	} else {
		l.Skipped = append(l.Skipped, types.Skip{Begun: l.begun, Count: 1})
	}
	return passedOver{reason: scheduler.ReasonNotBegun}
}

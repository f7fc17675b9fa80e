// Package stage is what scripts do with a network, whichever world its nodes are in: the part
// of scenario.Backend that the operator's code does.
package stage

import (
	"context"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/internal/worlds/steer"
)

// Verbs submit a script's transactions, and do its verbs of governance and pace. A verb
// returns once its instruction is final.
type Verbs struct {
	Context context.Context                           // its end ends all waits
	Network func() *network.Network                   // the present one
	Read    func(node string) (answers.Reader, error) // as scenario.Backend does
	Done    func(err error, what ...any) (told error) // notes what was done, or says to the script why not
}

// Submit implements scenario.Backend.
func (v Verbs) Submit(raw []byte) (types.Hash, error) { return v.Network().Submit(v.Context, raw) }

// Join implements scenario.Backend.
func (v Verbs) Join(name string) error {
	who, err := v.Network().Join(v.Context, name)
	return v.Done(err, "join ", who.Name)
}

// Leave implements scenario.Backend.
func (v Verbs) Leave(name string) error {
	_, err := v.Network().Leave(v.Context, name)
	return v.Done(err, "leave ", name)
}

// JoinRunner implements scenario.Backend.
func (v Verbs) JoinRunner(terms model.RunnerRequest) error {
	name, err := v.Network().JoinRunner(v.Context, terms.Name, TermsOf(&terms))
	return v.Done(err, "join ", name)
}

// TermsOf returns what a runner registers with, by what all offer: what a script says of it, and otherwise that.
func TermsOf(asked *model.RunnerRequest) func(own system.Offer) (setup.Terms, error) {
	return func(own system.Offer) (t setup.Terms, err error) {
		t.Stake, t.Offer, err = api.OwnTerms(asked, own)
		return t, err
	}
}

// UpdateRunner implements scenario.Backend.
func (v Verbs) UpdateRunner(name string, terms model.RunnerRequest) error {
	err := v.Network().UpdateRunner(v.Context, name, func(now system.Offer) (system.Offer, error) { return api.Amended(&terms, now) })
	return v.Done(err, "update ", name)
}

// AddStake implements scenario.Backend.
func (v Verbs) AddStake(name string, amount types.Wei) error {
	return v.Done(v.Network().AddStake(v.Context, name, amount), "add stake of ", name, " ", amount)
}

// LeaveRunner implements scenario.Backend.
func (v Verbs) LeaveRunner(name string) error {
	return v.Done(v.Network().LeaveRunner(v.Context, name), "leave ", name)
}

// SetParam implements scenario.Backend.
func (v Verbs) SetParam(key, value string, at types.Height) error {
	_, err := v.Network().SetParam(v.Context, key, value, at)
	return v.Done(err, "set ", key, " ", value)
}

// CancelTimer implements scenario.Backend.
func (v Verbs) CancelTimer(id types.TimerID) error {
	_, err := v.timerActions().CancelTimer(v.Context, id)
	return v.Done(err, "cancel timer ", id)
}

// ExtendTimer implements scenario.Backend.
func (v Verbs) ExtendTimer(id types.TimerID, expiresAt types.Height) error {
	_, err := v.timerActions().ExtendTimer(v.Context, id, expiresAt)
	return v.Done(err, "extend timer ", id, " to ", expiresAt)
}

func (v Verbs) timerActions() steer.Actions { return steer.Actions{Network: v.Network(), Read: v.Read} }

// Pause implements scenario.Backend.
func (v Verbs) Pause() error { return v.Done(v.Network().Pause(), "pause") }

// Resume implements scenario.Backend.
func (v Verbs) Resume() error { return v.Done(v.Network().Resume(), "resume") }

// Verdict is what one oracle says. It fails as well where the oracle judged nothing: then
// nothing is known.
func Verdict(j *oracle.Judge, name string) error {
	for _, v := range j.Violations() {
		if v.Oracle == name {
			return v
		}
	}
	if j.Counts().Of()[name] == 0 {
		return scenario.NothingJudged(name)
	}
	return nil
}

package stage

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators"
)

// Runners implements scenario.Backend.
func (s *Stage) Runners() (all []api.NamedAccount) {
	for _, name := range s.Network.Runners() {
		all = append(all, api.NamedAccount{Name: name, Address: s.Key(name).Address()})
	}
	return all
}

// RunnerLetters implements scenario.Backend.
func (s *Stage) RunnerLetters() map[types.Address]uint64 {
	all := map[types.Address]uint64{}
	for _, name := range s.Network.Runners() {
		all[s.Key(name).Address()] = s.Network.RunnerLetters(name)
	}
	return all
}

// RunnerRuns implements scenario.Backend.
func (s *Stage) RunnerRuns(name string) bool { return s.Running(name) }

// JoinRunner implements scenario.Backend.
func (s *Stage) JoinRunner(name string) error {
	next, err := s.nextRunner(name)
	if err != nil {
		return err
	}
	return s.orderRunner(func() error { return s.Network.JoinRunner(next) }, next, func(r *model.Runner) bool { return r != nil })
}

// nextRunner returns the name of the next runner, if name is that or empty.
func (s *Stage) nextRunner(name string) (string, error) {
	all := s.Network.Runners()
	next := wallet.RunnerName(len(all))
	switch {
	case name != "" && slices.Contains(all, name):
		return "", api.Refuse(http.StatusConflict, "runner_exists", "there is a runner %s already", name).
			Hint("A deregistered runner cannot return: its key stays registered.").At("name")
	case name != "" && name != next:
		return "", api.Refuse(http.StatusBadRequest, "invalid_name", "%.40q is not the name of the next runner, which is %s", name, next).
			Hint("Give no name, or a public key to register a runner that the devnet does not start.").At("name")
	}
	return next, nil
}

// LeaveRunner implements scenario.Backend.
func (s *Stage) LeaveRunner(name string) error {
	if v, err := s.Reader(""); err == nil {
		if r, err := v.Runner(s.Key(name).Address()); err == nil && (r == nil || r.Health == model.RunnerDeregistered) {
			return api.Refuse(http.StatusConflict, "deregistered", "%s has left already", name).At("name")
		}
	}
	return s.orderRunner(func() error { return s.Network.LeaveRunner(name) }, name,
		func(r *model.Runner) bool { return r.Health == model.RunnerDeregistered })
}

// orderPatience is how long a registration may take to become final, in virtual time.
const orderPatience = 60 * time.Second

// orderRunner gives an order about a runner, and runs the world until the chain shows
// what was wanted.
func (s *Stage) orderRunner(give func() error, name string, done func(*model.Runner) bool) error {
	if s.Paused() {
		return api.ErrPausedOrder()
	}
	if err := give(); err != nil {
		return refuse(err)
	}
	at, was := s.Key(name).Address(), false
	err := s.RunUntil(func() bool {
		if v, err := s.Reader(""); err == nil {
			r, broken := v.Runner(at)
			was = broken == nil && done(r)
		}
		return was || s.Err() != nil
	}, s.Now().Add(orderPatience))
	if errors.Is(err, sim.ErrDeadline) || errors.Is(err, sim.ErrAsleep) {
		return api.ErrNotFinal(types.Hash{}, orderPatience.String())
	}
	return err
}

// Answer implements scenario.Backend.
func (s *Stage) Answer(job types.Hash, given execution.Given) error {
	return refuse(s.Network.Answer(job, given))
}

// connected lists the runners that are connected to a validator.
func connected(v *validators.Validator) (all []api.Connected) {
	for _, live := range v.Connections() {
		all = append(all, api.Connected{Runner: live.Runner, Accepting: live.Accepting, Changes: readmodel.Changes(live.Changes)})
	}
	return all
}

package stage

import (
	"errors"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
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

// RunnerRuns implements scenario.Backend.
func (s *Stage) RunnerRuns(name string) bool { return s.Running(name) }

// JoinRunner implements scenario.Backend.
func (s *Stage) JoinRunner(name string) error {
	if name != "" {
		if err := api.CheckJoin(name, slices.Concat(wallet.Accounts(), s.Names(), s.Network.Runners()), ""); err != nil {
			return err
		}
	}
	return s.orderRunner(func() error { return s.Network.JoinRunner(name) }, func() string {
		all := s.Network.Runners()
		return all[len(all)-1]
	}, func(r *model.Runner) bool { return r != nil })
}

// LeaveRunner implements scenario.Backend.
func (s *Stage) LeaveRunner(name string) error {
	return s.orderRunner(func() error { return s.Network.LeaveRunner(name) }, func() string { return name },
		func(r *model.Runner) bool { return r.Health == model.RunnerDeregistered })
}

// orderRunner gives an order about a runner, and runs the world until the chain shows
// what was wanted.
func (s *Stage) orderRunner(give func() error, name func() string, done func(*model.Runner) bool) error {
	if s.Paused() {
		return api.ErrPausedOrder()
	}
	if err := give(); err != nil {
		return refuse(err)
	}
	at, was := s.Key(name()).Address(), false
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
func (s *Stage) Answer(job types.Hash, result []byte) error {
	return refuse(s.Network.Answer(job, result))
}

// connected lists the runners that are connected to a validator.
func connected(v *validators.Validator) (all []api.Connected) {
	for _, live := range v.Connections() {
		all = append(all, api.Connected{Runner: live.Runner, Accepting: live.Accepting})
	}
	return all
}

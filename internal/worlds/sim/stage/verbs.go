package stage

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/history"
)

// refuse makes what the world says of a verb the script's to read.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return api.Refuse(http.StatusConflict, "refused", "%v", err)
}

// Crash implements scenario.Backend.
func (s *Stage) Crash(node string) error {
	if s.Network.Crash(node) == nil {
		return refuse(fmt.Errorf("%s does not run", node))
	}
	return nil
}

// Restart implements scenario.Backend.
func (s *Stage) Restart(node string) error { return refuse(s.Network.Restart(node)) }

// Freeze implements scenario.Backend.
func (s *Stage) Freeze(node string) error {
	_, err := s.Network.Freeze(node)
	return refuse(err)
}

// Thaw implements scenario.Backend.
func (s *Stage) Thaw(node string) error { return refuse(s.Network.Thaw(node)) }

// Wipe implements scenario.Backend.
func (s *Stage) Wipe(node string) error {
	_, err := s.Network.Wipe(node)
	return refuse(err)
}

// DiskFail implements scenario.Backend.
func (s *Stage) DiskFail(node string, on bool) error {
	s.Network.DiskFail(node, on)
	return nil
}

// HostFail implements scenario.Backend.
func (s *Stage) HostFail(node string, actor types.Address, how string) error {
	_, err := s.Network.HostFail(node, actor, how)
	return refuse(err)
}

// ClockSkew implements scenario.Backend.
func (s *Stage) ClockSkew(node string, d time.Duration) error {
	s.Network.ClockSkew(node, d)
	return nil
}

// Misbehave implements scenario.Backend.
func (s *Stage) Misbehave(node, kind string) error {
	if kind == "" {
		kind = "honest"
	}
	_, err := s.Network.Misbehave(node, kind)
	return refuse(err)
}

// Partition implements scenario.Backend.
func (s *Stage) Partition(groups [][]string) error {
	s.Network.Partition(groups...)
	return nil
}

// Bridge implements scenario.Backend.
func (s *Stage) Bridge(node string, left, right []string) error {
	s.Network.Bridge(node, left, right)
	return nil
}

// Link implements scenario.Backend.
func (s *Stage) Link(a, b string, link fault.Link) error {
	s.Network.Link(a, b, link)
	return nil
}

// Heal implements scenario.Backend.
func (s *Stage) Heal() error {
	s.Network.Heal()
	return nil
}

// Faults implements scenario.Backend.
func (s *Stage) Faults() []fault.Receipt { return s.FaultReceipts() }

// Join implements scenario.Backend.
func (s *Stage) Join(name string) error {
	standing := ""
	if slices.Contains(s.Names(), name) {
		standing = s.Status(name)
	}
	if err := api.CheckJoin(name, wallet.Accounts(), standing); err != nil {
		return err
	}
	return s.order(func() error { return refuse(s.Network.Join(name)) })
}

// Leave implements scenario.Backend.
func (s *Stage) Leave(name string) error {
	return s.order(func() error { return refuse(s.Network.Leave(name)) })
}

// SetParam implements scenario.Backend.
func (s *Stage) SetParam(key, value string, at types.Height) error {
	best := s.best()
	if best == "" {
		return errNobody()
	}
	state := s.Validator(best).View().State
	if _, err := api.CheckParameter(state.NextParams(), state.Height(), key, value, at); err != nil {
		return err
	}
	return s.order(func() error {
		_, err := s.Network.SetParam(key, value, at)
		return refuse(err)
	})
}

// CancelTimer implements scenario.Backend.
func (s *Stage) CancelTimer(id types.TimerID) error {
	return s.orderTimer(id, system.OpCancelTimer, system.CancelTimer{TimerID: id})
}

// ExtendTimer implements scenario.Backend.
func (s *Stage) ExtendTimer(id types.TimerID, expiresAt types.Height) error {
	return s.orderTimer(id, system.OpExtendTimer, system.ExtendTimer{TimerID: id, NewExpiresAt: expiresAt})
}

func (s *Stage) orderTimer(id types.TimerID, opcode uint16, args any) error {
	v, err := s.View("")
	if err != nil {
		return err
	}
	if _, err := api.CheckTimer(v, id); err != nil {
		return err
	}
	return s.order(func() error {
		s.Instruct(opcode, args)
		return nil
	})
}

// orderPatience is how long an instruction may take to become final, in virtual
// time; live it is as long.
const orderPatience = 60 * time.Second

// order has the system key give an instruction, and runs the world until the chain
// has judged it.
func (s *Stage) order(give func() error) error {
	if s.Paused() {
		return api.ErrPausedOrder()
	}
	if err := give(); err != nil {
		return err
	}
	hash, wanted := s.Ordered(), (*types.Receipt)(nil)
	var broken error
	err := s.RunUntil(func() bool {
		if best := s.best(); best != "" && broken == nil {
			wanted, broken = s.Validator(best).Archive().Receipt(hash)
		}
		return wanted != nil || broken != nil || s.Err() != nil
	}, s.Now().Add(orderPatience))
	switch {
	case broken != nil:
		return broken
	case wanted != nil:
		return api.Judged(wanted)
	case errors.Is(err, sim.ErrDeadline), errors.Is(err, sim.ErrAsleep):
		return api.ErrNotFinal(hash, orderPatience.String())
	}
	return err
}

// errNobody is that no validator can answer.
func errNobody() error {
	return api.Refuse(http.StatusServiceUnavailable, "no_validator", "no validator is running")
}

// Pause implements scenario.Backend.
func (s *Stage) Pause() error {
	s.Network.Pause()
	return nil
}

// Resume implements scenario.Backend.
func (s *Stage) Resume() error {
	s.Network.Resume()
	return nil
}

// Advance implements scenario.Backend.
func (s *Stage) Advance(t scenario.Target) (scenario.Advanced, error) {
	receipt, err := s.Network.Advance(history.Target{Blocks: t.Blocks, To: t.To, NextTimer: t.ToNextTimer})
	var refused *history.TravelError
	if errors.As(err, &refused) {
		return scenario.Advanced{}, refuse(err)
	}
	if err != nil {
		return scenario.Advanced{}, err
	}
	out := scenario.Advanced{From: receipt.From, To: receipt.To, Skipped: receipt.Skipped}
	for i := range receipt.Timers {
		t := &receipt.Timers[i]
		if t.Status == types.TimerFired {
			out.Fired = append(out.Fired, scenario.Fire{ID: t.ID, Actor: t.Actor, Due: t.Due, Height: t.At, Late: uint64(t.Late())})
		}
	}
	return out, nil
}

package stage

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// refuse converts the world's error about a verb to one for the script.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return api.Refuse(http.StatusConflict, "refused", "%v", err)
}

// Join implements scenario.Backend.
func (s *Stage) Join(name string) error {
	status := ""
	if slices.Contains(s.Names(), name) {
		status = s.Status(name)
	}
	if err := api.CheckJoin(name, wallet.Accounts(), status); err != nil {
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
	state := s.Validator(best).Head().State
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
	return s.orderTimer(id, governance.OpCancelTimer, governance.CancelTimer{TimerID: id})
}

// ExtendTimer implements scenario.Backend.
func (s *Stage) ExtendTimer(id types.TimerID, expiresAt types.Height) error {
	return s.orderTimer(id, governance.OpExtendTimer, governance.ExtendTimer{TimerID: id, NewExpiresAt: expiresAt})
}

func (s *Stage) orderTimer(id types.TimerID, opcode uint16, args any) error {
	v, err := s.Reader("")
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

// order lets the system key send an instruction, and runs the world until the chain
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

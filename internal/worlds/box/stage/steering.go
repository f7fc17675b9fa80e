package stage

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
)

// Join implements scenario.Backend. It returns when the instruction is final.
func (s *Stage) Join(name string) error {
	node, err := s.Network.Join(s.ctx, name)
	if err != nil {
		return readable(err)
	}
	return s.done(nil, "join ", node.Name)
}

// Leave implements scenario.Backend. It returns when the instruction is final.
func (s *Stage) Leave(name string) error {
	_, err := s.Network.Leave(s.ctx, name)
	return s.done(err, "leave ", name)
}

// SetParam implements scenario.Backend. It returns when the instruction is
// final.
func (s *Stage) SetParam(key, value string, at types.Height) error {
	_, err := s.Network.SetParam(s.ctx, key, value, at)
	return s.done(err, "set ", key, " ", value)
}

// CancelTimer implements scenario.Backend. It returns when the instruction is
// final.
func (s *Stage) CancelTimer(id types.TimerID) error {
	v, err := s.Reader("")
	if err == nil {
		_, err = s.Network.CancelTimer(s.ctx, v, id)
	}
	return s.done(err, "cancel timer ", id)
}

// ExtendTimer implements scenario.Backend. It returns when the instruction is
// final.
func (s *Stage) ExtendTimer(id types.TimerID, expiresAt types.Height) error {
	v, err := s.Reader("")
	if err == nil {
		_, err = s.Network.ExtendTimer(s.ctx, v, id, expiresAt)
	}
	return s.done(err, "extend timer ", id, " to ", expiresAt)
}

// Pause implements scenario.Backend.
func (s *Stage) Pause() error { return s.done(s.Network.Pause(), "pause") }

// Resume implements scenario.Backend.
func (s *Stage) Resume() error { return s.done(s.Network.Resume(), "resume") }

// Advance implements scenario.Backend.
func (s *Stage) Advance(to history.Target) (*history.Advance, error) {
	a, err := s.Network.Advance(s.ctx, to)
	if err == nil {
		s.judge.fault(fmt.Sprint("advance to ", a.To))
	}
	return a, err
}

// Snapshot implements scenario.Backend.
func (s *Stage) Snapshot() (restore func() error, err error) {
	return nil, s.Need(network.Snapshots)
}

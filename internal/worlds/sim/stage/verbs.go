package stage

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// refuse converts the world's error about a verb to one for the script.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return refusal.New("refused", "%v", err)
}

// Join implements scenario.Backend.
func (s *Stage) Join(name string) error {
	_, err := s.Network.Join(context.Background(), name)
	return err
}

// Leave implements scenario.Backend.
func (s *Stage) Leave(name string) error {
	_, err := s.Network.Leave(context.Background(), name)
	return err
}

// SetParam implements scenario.Backend.
func (s *Stage) SetParam(key, value string, at types.Height) error {
	_, err := s.Network.SetParam(context.Background(), key, value, at)
	return err
}

// CancelTimer implements scenario.Backend.
func (s *Stage) CancelTimer(id types.TimerID) error {
	v, err := s.Reader("")
	if err == nil {
		_, err = s.Network.CancelTimer(context.Background(), v, id)
	}
	return err
}

// ExtendTimer implements scenario.Backend.
func (s *Stage) ExtendTimer(id types.TimerID, expiresAt types.Height) error {
	v, err := s.Reader("")
	if err == nil {
		_, err = s.Network.ExtendTimer(context.Background(), v, id, expiresAt)
	}
	return err
}

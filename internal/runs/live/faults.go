package live

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// readableError makes an error of the operator's one that the script's author reads.
func readableError(err error) error {
	var refused *refusal.Error
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return refusal.New("refused", "%v", err)
}

// noteVerb notes what the operator did in the trace, or returns why it was not done.
func (s *Stage) noteVerb(err error, what ...any) error {
	if err != nil {
		return readableError(err)
	}
	s.judge.traceFault(fmt.Sprint(what...))
	return nil
}

// Do implements fault.World.
func (s *Stage) Do(o fault.Order) (fault.Effect, error) {
	effect, err := s.judge.applyOrder(o, s.Network)
	if err != nil {
		return effect, err
	}
	s.judge.traceFault(o.String())
	return effect, nil
}

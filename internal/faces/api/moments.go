package api

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/moment"
)

// onMoment is the parameters of a read that can look at an earlier moment.
type onMoment interface{ momentParameter() string }

// nameMoment is the moment that a reader reads.
func nameMoment(v answers.Reader) string { return fmt.Sprintf("h%d", v.Head().Height) }

// readerAt is a reader at a moment that a request names; "" is the present.
func (s *Server) readerAt(ctx context.Context, v answers.Reader, text string) (answers.Reader, error) {
	if text == "" {
		return v, nil
	}
	at, err := moment.Parse(text)
	if err != nil {
		return nil, Refuse(http.StatusBadRequest, "invalid_moment", "%v", err).At("at")
	}
	if at.Script != "" {
		if present, err := s.checkHeldMoment(at); present || err != nil {
			return v, err
		}
	}
	if head := v.Head().Height; at.Height > head {
		refused := Refuse(http.StatusNotFound, "unknown_block", "height %d is not final yet: the highest is %d", at.Height, head).At("at")
		if s.held != nil {
			refused = refused.Hint("devnet step --to %s goes there.", at)
		}
		return nil, refused
	}
	free, err := s.beginRead(ctx, s.traces)
	if err != nil {
		return nil, err
	}
	defer free()
	ctx, cancel := context.WithTimeout(ctx, TraceTimeout)
	defer cancel()
	return v.At(ctx, at.Height)
}

// checkHeldMoment says why a moment of a run of a script cannot be read here. It is the present if the run is held there. A moment at a
// height is read as one of the network that is held.
func (s *Server) checkHeldMoment(at moment.Moment) (present bool, err error) {
	if s.held == nil {
		return false, Refuse(http.StatusBadRequest, "invalid_moment", "%s is a moment of a run of a script, and this network is none", at).
			Hint("Give a height, like h12; devnet run SCRIPT --hold serves a run.").At("at")
	}
	now, err := moment.Parse(s.held.Moment())
	if err != nil {
		return false, err
	}
	switch of := filepath.Base(at.Script); {
	case of != filepath.Base(now.Script) || at.Seed != now.Seed:
		return false, Refuse(http.StatusBadRequest, "invalid_moment", "%s is of another run: this one is %s with seed %d", at,
			filepath.Base(now.Script), now.Seed).At("at")
	case at.Kind == moment.AtHeight:
		return false, nil
	}
	held := s.held.Held()
	if at.Kind == moment.AtStep && at.Step == held.Step || at.Kind == moment.AtEnd && held.Ended {
		return true, nil
	}
	return false, Refuse(http.StatusConflict, "other_moment", "the run is held at %s, and a step amid blocks is read only there", now).
		Hint("devnet step --to %s goes there; a height, like h12, is read from anywhere below.", at).At("at")
}

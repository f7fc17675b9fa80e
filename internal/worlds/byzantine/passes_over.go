package byzantine

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// passesOver sends what it would: the lie is in its blocks, which WrapPrograms makes.
// They are valid, since no validator can check another's host (decision C18).
func passesOver(_ *Mask, frame []byte, _ receiver) [][]byte { return [][]byte{frame} }

// WrapPrograms puts the mask before a node's host of programs: while the node lies
// by skipping, all that it proposes fails there, but not the blocks that it judges.
func (m *Mask) WrapPrograms(h program.Host) program.Host {
	if h == nil {
		return nil
	}
	return &passingHost{h, m}
}

type passingHost struct {
	program.Host
	mask *Mask
}

// Open implements program.Host.
func (h *passingHost) Open(purpose program.Purpose) (program.Session, error) {
	s, err := h.Host.Open(purpose)
	if err != nil {
		return nil, err
	}
	return &passingSession{Session: s, mask: h.mask}, nil
}

type passingSession struct {
	program.Session
	mask     *Mask
	proposes bool // the run has a share of time, as a proposer's has and no other's (decision C4)
}

// Bound implements program.Session.
func (s *passingSession) Bound(by program.Bounds) {
	s.proposes = by.Left != nil
	s.Session.Bound(by)
}

// Handle implements program.Session.
func (s *passingSession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	if lie := s.mask.active.Load(); s.proposes && lie != nil && lie.kind == PassesOver {
		lie.counts.Failed.Add(1)
		return program.Outcome{}, &program.HostError{Failure: program.Crashed, During: "handler " + msg.Handler, Err: errPassing}
	}
	return s.Session.Handle(ctx, code, msg)
}

var errPassing = errors.New("injected by the Byzantine validator")

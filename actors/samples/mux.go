package samples

import (
	"github.com/cowboyinc/devnet/internal/base/program"
)

// Mux runs samples itself and every other code on another host, which it asks
// for a session only when such code comes.
type Mux struct {
	Other program.Host
}

// Open implements program.Host.
func (m Mux) Open(purpose program.Purpose) (program.Session, error) {
	return &muxSession{host: m.Other, purpose: purpose}, nil
}

// Probing implements program.Prober. Samples have no lines; only the code of the
// other host is probed, if that host supports it.
func (m Mux) Probing(tell func(*program.Probed)) (program.Host, func()) {
	prober, ok := m.Other.(program.Prober)
	if !ok {
		return m, func() {}
	}
	other, end := prober.Probing(tell)
	return Mux{Other: other}, end
}

type muxSession struct {
	host    program.Host
	purpose program.Purpose
	samples session
	other   program.Session // nil until it is needed
}

// Bound implements program.Session.
func (s *muxSession) Bound(by program.Bounds) {
	s.samples.Bound(by)
	if s.other != nil {
		s.other.Bound(by)
	}
}

func (s *muxSession) sessionOf(code program.Code) (program.Session, error) {
	if isSample(code) {
		return &s.samples, nil
	}
	if s.other == nil {
		other, err := s.host.Open(s.purpose)
		if err != nil {
			return nil, err
		}
		s.other = other
		s.other.Bound(s.samples.bounds)
	}
	return s.other, nil
}

// Inspect implements program.Session.
func (s *muxSession) Inspect(code program.Code) (program.Description, error) {
	of, err := s.sessionOf(code)
	if err != nil {
		return program.Description{}, err
	}
	return of.Inspect(code)
}

// Handle implements program.Session.
func (s *muxSession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	of, err := s.sessionOf(code)
	if err != nil {
		return program.Outcome{}, err
	}
	return of.Handle(ctx, code, msg)
}

// Close implements program.Session.
func (s *muxSession) Close() {
	if s.other != nil {
		s.other.Close()
	}
}

package sim

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// Unhurried is a host of programs in real time for validators of virtual time, and for
// reads of their states. Their remaining time decides whether a message begins, and never
// how long it may take, since the machine's load is not part of a seed. The model of work
// gives the virtual time of a program.
type Unhurried struct{ program.Host }

// Open implements program.Host.
func (u Unhurried) Open(purpose program.Purpose) (program.Session, error) {
	s, err := u.Host.Open(purpose)
	if err != nil {
		return nil, err
	}
	return unhurriedSession{s}, nil
}

// Probing implements program.Prober, for a host that can say what its programs take.
func (u Unhurried) Probing(tell func(*program.Probed)) (program.Host, func()) {
	prober, ok := u.Host.(program.Prober)
	if !ok {
		return u, func() {}
	}
	host, end := prober.Probing(tell)
	return Unhurried{host}, end
}

type unhurriedSession struct{ program.Session }

// unbounded is more real time than a host gives any message itself.
const unbounded = 24 * time.Hour

// Bound implements program.Session.
func (s unhurriedSession) Bound(by program.Bounds) {
	if by.Left == nil {
		s.Session.Bound(program.Bounds{})
		return
	}
	s.Session.Bound(program.Bounds{Left: func() time.Duration {
		if rest := by.Left(); rest <= 0 {
			return rest
		}
		return unbounded
	}})
}

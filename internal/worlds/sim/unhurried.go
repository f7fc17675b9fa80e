package sim

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// unhurried is a host of programs that runs in real time, as validators of virtual
// time use it: what they have left decides whether something is begun, and never how
// long that may take, since the machine's load is no part of a seed. What a program
// takes of virtual time the model of work says.
type unhurried struct{ program.Host }

// Open implements program.Host.
func (u unhurried) Open(purpose program.Purpose) (program.Session, error) {
	s, err := u.Host.Open(purpose)
	if err != nil {
		return nil, err
	}
	return unhurriedSession{s}, nil
}

type unhurriedSession struct{ program.Session }

// unbounded is more real time than a host gives any message of its own.
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

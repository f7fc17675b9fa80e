package program

import (
	"errors"
	"fmt"
	"time"
)

// ErrNotBegun is within the HostError of a message that was not begun: no time
// was left when its turn came, or the time went by in waiting for a host. It says
// nothing at all about the message.
var ErrNotBegun = errors.New("no time was left to begin it")

// ErrLate is any HostError whose Failure is Late, to errors.Is.
var ErrLate = errors.New("the message is late")

// Is implements errors.Is.
func (e *HostError) Is(target error) bool { return target == ErrLate && e.Failure == Late }

// Failure is the failure of a host that has no outcome to give.
type Failure uint8

// The failures.
const (
	// Stopped: the bound that the session's user set (Session.Bound) struck
	// before the message ended, or before it began. The program's outcome is
	// unknown: with more time it may end. Or the message seemed late, and this machine
	// was slow in the moment after.
	Stopped Failure = 1 + iota
	// Late: the message took more CPU time than its Credit has, or longer than the host
	// allows any message.
	Late
	// Crashed: the host ended, ran out of memory, or broke its protocol.
	Crashed
	// Missing: this machine cannot start a host.
	Missing
)

func (f Failure) String() string {
	switch f {
	case Stopped:
		return "stopped"
	case Late:
		return "late"
	case Crashed:
		return "crashed"
	case Missing:
		return "missing"
	}
	return fmt.Sprintf("failure %d", uint8(f))
}

// HostError says that a host has no outcome to give, and why. It comes from the
// environment and is not final for the message: another host, or this one with more
// time, may run it (decision C18).
type HostError struct {
	Failure Failure
	During  string        // what the host was asked to do
	CPU     time.Duration // used on the message, if it is late by its Credit or was stopped under way; otherwise 0
	Err     error
}

func (e *HostError) Error() string { return fmt.Sprintf("%s: %v", e.During, e.Err) }

func (e *HostError) Unwrap() error { return e.Err }

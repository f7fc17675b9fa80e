package pyhost

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

var (
	errClosed   = errors.New("the pool of Python hosts is closed")
	errDead     = errors.New("the session's host has ended")
	errSlow     = errors.New("the message took longer by the wall clock than its cycles may")
	errInTime   = errors.New("no answer in time")
	errEnded    = errors.New("the host ended")
	errNotCalm  = errors.New("the message seemed late, and the machine was slow in the moment after")
	errGivenUp  = errors.New("given up: the caller's time ran out")
	errFullHost = errors.New("the host ran out of memory")
)

// newFailure describes how a host failed: during which step, why, and the end of its
// standard error.
func newFailure(during string, cause error, bounded bool, took time.Duration, said string) error {
	kind, text := program.Crashed, cause
	switch {
	case errors.Is(cause, errNotCalm):
		kind, took = program.Stopped, 0
	case errors.Is(cause, errLate) && took == 0:
		kind, text = program.Late, errSlow
	case errors.Is(cause, errLate):
		kind, text = program.Late, fmt.Errorf("the message used %v of CPU time, more than its cycles may", took.Round(time.Microsecond))
	case errors.Is(cause, os.ErrDeadlineExceeded) && bounded:
		kind, text = program.Stopped, errGivenUp
	case errors.Is(cause, os.ErrDeadlineExceeded):
		kind, text = program.Late, errInTime
	case errors.Is(cause, program.ErrNotBegun):
		kind = program.Stopped
	}
	if said != "" {
		text = fmt.Errorf("%w: %s", text, said)
	}
	return &program.HostError{Failure: kind, During: "Python host, " + during, CPU: took, Err: text}
}

// endPatience is how long a host whose pipes are closed may take to end.
const endPatience = time.Second

// endCause returns how a host whose pipes are closed ended.
func (h *host) endCause(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	select {
	case <-h.gone:
	case <-time.After(endPatience):
		return errEnded
	}
	state := h.cmd.ProcessState
	switch signal := syscall.Signal(state.ExitCode() - exitSignalled); {
	case signal == syscall.SIGSYS:
		return fmt.Errorf("%w: it made a system call that its wall refuses, so the program in it broke through the first wall", errEnded)
	case signal > 0:
		return fmt.Errorf("%w: %v", errEnded, signal)
	}
	return fmt.Errorf("%w: %v", errEnded, state)
}

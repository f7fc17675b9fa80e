package pyhost

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/cowboyinc/devnet/internal/program"
)

var (
	errClosed   = errors.New("the pool of Python hosts is closed")
	errDead     = errors.New("the session's host has ended")
	errNoTime   = errors.New("no time was left to begin it")
	errInTime   = errors.New("it did not answer in time")
	errEnded    = errors.New("it ended")
	errGivenUp  = errors.New("it was given up: whoever asked had no more time")
	errFullHost = errors.New("it ran out of memory")
)

// failure says what became of a host: during what, why, and the last of what it
// wrote to its standard error.
func failure(during string, cause error, bounded bool, said string) error {
	kind, text := program.Crashed, cause
	switch {
	case errors.Is(cause, os.ErrDeadlineExceeded) && bounded:
		kind, text = program.Stopped, errGivenUp
	case errors.Is(cause, os.ErrDeadlineExceeded):
		kind, text = program.Late, errInTime
	case errors.Is(cause, errNoTime):
		kind = program.Stopped
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, syscall.EPIPE):
		text = errEnded
	}
	if said != "" {
		text = fmt.Errorf("%w: %s", text, said)
	}
	return &program.HostError{Failure: kind, During: "Python host, " + during, Err: text}
}

package box

import "errors"

// EndedError says that a node which runs elsewhere ended without an order.
type EndedError struct {
	Node  string
	Cause error // its exit, and what it said last
}

func (e *EndedError) Error() string { return "the process ended by itself: " + e.Cause.Error() }

func (e *EndedError) Unwrap() error { return e.Cause }

// staysDown reports whether an error of a start is of its node alone, so that the others may go on
// without it: its files are beyond help, or its process ended by itself.
func (f *files) staysDown(err error) bool {
	switch {
	case f.origin.config.Here != nil:
		return false
	case f.origin.config.Elsewhere != nil:
		return errors.As(err, new(*EndedError))
	}
	return f.origin.home != nil && errors.As(err, new(*DamagedError))
}

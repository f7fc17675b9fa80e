package push

import "fmt"

// Reason is why a connection ends, as Goodbye says it.
type Reason string

// The reasons. All but Shutdown blame the peer.
const (
	UnsupportedVersion Reason = "unsupported_version"
	WrongRole          Reason = "wrong_role"
	IdentityMismatch   Reason = "identity_mismatch"
	NotRegistered      Reason = "not_registered"
	InsufficientStake  Reason = "insufficient_stake"
	NotInSubset        Reason = "not_in_subset"
	RateLimited        Reason = "rate_limited"
	BadSignature       Reason = "bad_signature"
	BadNonce           Reason = "bad_nonce"
	Malformed          Reason = "malformed"
	FrameTooLarge      Reason = "frame_too_large"
	UnknownFrame       Reason = "unknown_frame"
	UnexpectedFrame    Reason = "unexpected_frame"
	UnexpectedStream   Reason = "unexpected_stream"
	SlowReader         Reason = "slow_reader"
	Timeout            Reason = "timeout"
	Replaced           Reason = "replaced"
	Shutdown           Reason = "shutdown"
)

// Reasons lists them all. A reader lets others pass: they only inform.
var Reasons = [...]Reason{UnsupportedVersion, WrongRole, IdentityMismatch, NotRegistered, InsufficientStake, NotInSubset, RateLimited,
	BadSignature, BadNonce,
	Malformed, FrameTooLarge, UnknownFrame, UnexpectedFrame, UnexpectedStream, SlowReader, Timeout, Replaced, Shutdown}

// Code returns the code that closes the connection: 0 for a leave without fault,
// otherwise 1.
func (r Reason) Code() uint64 {
	if r == Shutdown {
		return 0
	}
	return 1
}

// Fault is why a frame is refused: always its sender's, and for good.
type Fault struct {
	Reason Reason
	Where  string // the frame's name, and with a point between the path to a field
	Detail string
}

func (f *Fault) Error() string {
	if f.Where == "" {
		return fmt.Sprintf("%s: %s", f.Reason, f.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", f.Reason, f.Where, f.Detail)
}

func newFault(reason Reason, where, format string, args ...any) *Fault {
	return &Fault{reason, where, fmt.Sprintf(format, args...)}
}

// Package connection has the events of connections between runners and
// validators, and the requests on them, as plain values: the terms that the cores
// of both ends and the environment's connections (env.Connections) share. Package push defines the meaning of the frames.
//
// A connection is QUIC's (CIP-11 §6.1), cut above it: streams are numbered as
// QUIC numbers them, frames are whole, and everything that takes time is an event.
//
// # Promises of the environment
//
//   - The first event of a connection is Up, or Down if it never came up; the
//     last is Down, exactly one. No event of the connection follows it.
//   - Frames of one stream come in order, none twice. Streams are not ordered
//     among each other; Opened is the first event of a stream.
//   - After Ended, Cut, TooLong or Stalled nothing more arrives from the peer's
//     side of that stream.
//   - A frame is whole, and 1 to MaxFrameBytes long. Memory is taken as bytes
//     come, whatever length was claimed.
//   - A frame above MaxGreetingBytes, of a peer that is not Admitted, is judged when all
//     reported frames are Taken: one of them may lead to the peer's admission.
//   - At most MaxUntaken frames of a connection were reported and not Taken: a peer
//     that sends faster than its frames are handled is held up.
//   - Requests on a connection or stream that does not exist, or no longer, are
//     ignored.
package connection

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// ID names a connection at one end, which never names another so again.
type ID uint64

// Stream numbers the streams of a connection as QUIC does (RFC 9000 §2.1): those
// a runner opens are even; of them 0, 4, 8, … go both ways, and 2, 6, … one.
type Stream uint64

// Control is the stream on which both sides say Hello: the first that the
// runner, which dials, opens in both directions.
const Control Stream = 0

// Job returns the number of the validator's n-th stream, counted from 0.
func Job(n uint64) Stream { return Stream(4*n + 1) }

// IsJob reports whether the number is one of a stream for a job: opened by the
// validator, in both directions.
func (s Stream) IsJob() bool { return s%4 == 1 }

// Address is the IP address of a peer, IPv4 mapped into IPv6 (RFC 4291 §2.5.5.2).
type Address [16]byte

// Limits of the events.
const (
	// MaxFrameBytes bounds what follows a frame's length: its type and its map.
	MaxFrameBytes = push.MaxFrame
	// MaxGreetingBytes bounds a frame before a connection is Admitted. The largest
	// frame then, a Goodbye with a reason of 1,024 bytes, needs a quarter of it.
	MaxGreetingBytes = 4 << 10
	// MaxUntaken bounds the frames of one connection that wait to be Taken: more
	// than one, so that no stream waits for the other's frame to come to its turn.
	MaxUntaken = 4
)

// Codes of an end.
const (
	CodeDone    uint64 = 0 // a normal leave, and the answer to a Goodbye
	CodeRefused uint64 = 1 // a Goodbye said why; of a stream, a job without an answer
)

// Event is an event of a connection.
type Event interface {
	// Of returns the connection.
	Of() ID
	isEvent()
}

// The events.
type (
	// Up says that both ends proved a key (decision J8). The peer may speak.
	Up struct {
		ID     ID
		Peer   types.PublicKey
		Remote Address
	}
	// Opened says that the peer opened a stream, with a first byte on it.
	Opened struct {
		ID     ID
		Stream Stream
	}
	// Came is a frame: its type, and its map.
	Came struct {
		ID     ID
		Stream Stream
		Frame  []byte
	}
	// TooLong is a frame that was not read: its length is 0, or more than
	// MaxFrameBytes, or, where Type is given, more than MaxGreetingBytes on a
	// connection that is not Admitted.
	TooLong struct {
		ID     ID
		Stream Stream
		Length uint32
		Type   byte
	}
	// Stalled is a frame that began and did not come whole in time.
	Stalled struct {
		ID     ID
		Stream Stream
	}
	// Ended says that the peer said all that it will on a stream; Torn, that it
	// ended within a frame.
	Ended struct {
		ID     ID
		Stream Stream
		Torn   bool
	}
	// Cut says that the peer broke its side of a stream off.
	Cut struct {
		ID     ID
		Stream Stream
	}
	// Stuck says that the peer takes nothing: a write was blocked for as long as
	// Patience says, or what waits for it is more than the queue holds. Data sent
	// since then, and queued data, may not have gone out.
	Stuck struct{ ID ID }
	// Down says that the connection is over.
	Down struct {
		ID     ID
		Closed bool   // by the peer, with Code and Reason; otherwise it was lost, or closed here
		Code   uint64 // of the peer's close
		Reason string // of the peer's close, or of the loss; hostile, at most MaxReasonBytes
	}
)

// MaxReasonBytes bounds the reason of an end.
const MaxReasonBytes = 1_024

func (e Up) Of() ID      { return e.ID }
func (e Opened) Of() ID  { return e.ID }
func (e Came) Of() ID    { return e.ID }
func (e TooLong) Of() ID { return e.ID }
func (e Stalled) Of() ID { return e.ID }
func (e Ended) Of() ID   { return e.ID }
func (e Cut) Of() ID     { return e.ID }
func (e Stuck) Of() ID   { return e.ID }
func (e Down) Of() ID    { return e.ID }

func (Up) isEvent()      {}
func (Opened) isEvent()  {}
func (Came) isEvent()    {}
func (TooLong) isEvent() {}
func (Stalled) isEvent() {}
func (Ended) isEvent()   {}
func (Cut) isEvent()     {}
func (Stuck) isEvent()   {}
func (Down) isEvent()    {}

// Verb is what is done with connections. None of them blocks, and they are done
// in the order in which they are given.
type Verb interface{ isVerb() }

// The verbs.
type (
	// Dial begins a connection with a validator, under a name that was not used
	// before. Up or Down answers. Up reports the peer that answers, which may be
	// anyone. Only a runner's end dials.
	Dial struct {
		ID       ID
		Endpoint string
	}
	// Admit says that the peer is known by now: its frames may be as long as any.
	Admit struct{ ID ID }
	// Open opens a stream under its number, the next of this side's bidirectional
	// streams. The peer learns the number from the first frame.
	Open struct {
		ID     ID
		Stream Stream
	}
	// Send queues a frame: its type and its map, without the length. It must not be
	// changed afterwards.
	Send struct {
		ID     ID
		Stream Stream
		Frame  []byte
	}
	// End ends this side of a stream, after its queued frames.
	End struct {
		ID     ID
		Stream Stream
	}
	// Reset breaks both sides of a stream off. Its queued frames are lost.
	Reset struct {
		ID     ID
		Stream Stream
		Code   uint64
	}
	// Close ends a connection at once, with a code and a reason for the peer.
	// Queued frames are lost. Down answers.
	Close struct {
		ID     ID
		Code   uint64
		Reason string
	}
	// Taken reports that a frame that Came was handled.
	Taken struct{ ID ID }
	// Patience is for how long a write may be blocked before the peer is Stuck
	// (the parameter cip11.write_timeout_ms); it holds from the next write on.
	Patience struct{ Write time.Duration }
)

func (Dial) isVerb()     {}
func (Admit) isVerb()    {}
func (Open) isVerb()     {}
func (Send) isVerb()     {}
func (End) isVerb()      {}
func (Reset) isVerb()    {}
func (Close) isVerb()    {}
func (Taken) isVerb()    {}
func (Patience) isVerb() {}

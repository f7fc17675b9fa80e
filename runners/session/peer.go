package session

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// stage is how far the connection with a validator is.
type stage uint8

const (
	apart stage = iota
	dialling
	greeting // our Hello is sent
	live     // both sides are done with the exchange
	leaving  // we said Goodbye and wait for the validator to close
)

// peer is a validator that the runner belongs or belonged to, and the connection
// with it.
type peer struct {
	types.Validator
	wanted   bool // it is in the subset, or in the former one that still holds
	refused  bool // it said that this runner has no place there
	failures int
	next     types.Time // to dial

	stage stage
	connected
}

// connected is what belongs to one connection, and begins anew with the next.
type connected struct {
	id        connection.ID
	due       types.Time // of the exchange of Hellos, or of the grace of our Goodbye
	reason    push.Reason
	challenge types.Hash // of our Hello
	greeted   bool       // the validator's Hello was good
	proved    bool       // its HelloAck was
	arrived   bool       // it is live, or was
	lived     types.Time // since when
	early     []connection.Event

	said   bool                // a frame behind the exchange
	spoke  types.Time          // when the last was
	beat   types.Time          // our last ping
	pinged types.Height        // the height heard of when it was sent
	heard  types.Height        // of by a pong
	ponged *push.HeartbeatPong // the last that was good, or nil
	nonce  uint64              // of the last ping
	loads  uint64              // version of the load that was said last
	told   uint64              // version of the changes that were told last

	streams map[connection.Stream]*sides // of jobs
}

// sides says which sides of a stream have ended.
type sides struct{ ours, theirs bool }

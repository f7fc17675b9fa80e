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
	next     types.Time // when to dial next

	stage stage
	connectionState
}

// connectionState is the state of one connection, new for each connection.
type connectionState struct {
	id        connection.ID
	due       types.Time // when the exchange of Hellos, or the grace of our Goodbye, is over
	reason    push.Reason
	challenge types.Hash // of our Hello
	greeted   bool       // the validator's Hello was good
	proved    bool       // the validator's HelloAck was good
	arrived   bool       // the connection is live, or was
	lived     types.Time // when the connection became live
	early     []connection.Event

	said   bool         // the runner sent a frame after the exchange
	spoke  types.Time   // when the runner's last frame after the exchange was sent
	beat   types.Time   // our last ping
	pinged types.Height // the height heard of when our last ping was sent
	heard  types.Height // the height that a pong told
	ripe   types.Time   // when the height heard of last is to be answered by a ping
	ponged []byte       // the frame of the last good pong, or empty
	nonce  uint64       // of the last ping
	loads  uint64       // version of the load that was said last
	told   uint64       // version of the changes that were told last
	tells  types.Time   // when the ration of long frames covers the next

	streams map[connection.Stream]*sides // of jobs
}

// sides says which sides of a stream have ended.
type sides struct{ ours, theirs bool }

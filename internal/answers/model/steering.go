package model

import "github.com/cowboyinc/devnet/internal/base/types"

// Pace is the answer of POST /devnet/pause and /devnet/resume.
type Pace struct {
	Paused bool         `json:"paused"`
	Height types.Height `json:"height" doc:"Height of the latest final block; one more may follow if it was under way."`
}

// AdvanceRequest asks for time travel: exactly one field is given.
type AdvanceRequest struct {
	Blocks      uint64       `json:"blocks,omitempty" doc:"Number of heights from the latest final one."`
	To          types.Height `json:"to,omitempty" doc:"This height."`
	ToNextTimer bool         `json:"to_next_timer,omitempty" doc:"The height at which the next timer is due."`
	Stop        bool         `json:"stop,omitempty" doc:"The next block: an advance that is under way ends there, and its clock with it."`
}

// Advance is the receipt of time travel.
type Advance struct {
	From     types.Height   `json:"from" doc:"The latest final height before."`
	To       types.Height   `json:"to" doc:"Final now."`
	Blocks   uint64         `json:"blocks" doc:"Blocks made on the way."`
	Skipped  uint64         `json:"skipped" doc:"Heights without a block, since nothing was due."`
	ClockMS  int64          `json:"clock_ms" doc:"By how much the network's clock was moved."`
	Fired    uint64         `json:"fired" doc:"Timers that fired."`
	Ended    uint64         `json:"ended" doc:"Timers that ended in any way, those that fired included."`
	Deferred uint64         `json:"deferred" doc:"How many times a due timer was left for a later block."`
	Left     []LaneDeferral `json:"left,omitempty" doc:"Timers that are due at the last height and have not ended, by reason."`
	Waiting  []WaitingTimer `json:"waiting,omitempty" doc:"Those timers by name, at most 10,000."`
	Timers   []AdvanceTimer `json:"timers" doc:"Timers that ended, in order; at most 10,000 are listed."`
}

// WaitingTimer is a timer that was due on the way and has not ended.
type WaitingTimer struct {
	ID     types.TimerID `json:"id"`
	Actor  types.Address `json:"actor"`
	Due    types.Height  `json:"due"`
	Reason string        `json:"reason" doc:"Why the last block left it, such as lane_full or not_begun."`
}

// AdvanceTimer is a timer that ended on the way.
type AdvanceTimer struct {
	ID     types.TimerID `json:"id"`
	Actor  types.Address `json:"actor"`
	Due    types.Height  `json:"due"`
	At     types.Height  `json:"at" doc:"The height at which it ended."`
	Late   uint64        `json:"late" doc:"In blocks."`
	Status string        `json:"status" enum:"fired,expired,insufficient_funds,cancelled"`
	Result string        `json:"result" doc:"How the handler of one that fired ended: ok, reverted and so on; empty for others."`
	Reason string        `json:"reason,omitempty"`
}

// MoveRequest names a validator that is to join or to leave.
type MoveRequest struct {
	Name string `json:"name,omitempty" doc:"A name of lower-case letters, digits and hyphens; left out when joining: the next of v0, v1, … that is free."`
}

// Move is a validator that joins or leaves at an epoch's end.
type Move struct {
	Name    string        `json:"name"`
	Address types.Address `json:"address"`
	Status  string        `json:"status" enum:"joining,active,leaving,left"`
	Epoch   types.Epoch   `json:"epoch" doc:"The first epoch in which it holds."`
	Height  types.Height  `json:"height" doc:"The first height of that epoch."`
}

// TimerRequest names a timer that is to be cancelled.
type TimerRequest struct {
	ID string `json:"id" doc:"The timer's id, or enough of its first digits."`
}

// ExtendRequest names a timer that is to live longer. Exactly one of To and By is
// set.
type ExtendRequest struct {
	ID string       `json:"id" doc:"The timer's id, or enough of its first digits."`
	To types.Height `json:"to,omitempty" doc:"Its new expires_at."`
	By uint64       `json:"by,omitempty" doc:"Number of heights to add to expires_at."`
}

// TimerOrder is an instruction's effect on a timer.
type TimerOrder struct {
	ID        types.TimerID `json:"id"`
	Status    string        `json:"status" enum:"pending,cancelled" doc:"As the instruction left it."`
	ExpiresAt types.Height  `json:"expires_at"`
	Height    types.Height  `json:"height" doc:"Height of the block with the instruction."`
	Hash      types.Hash    `json:"hash" doc:"Of the transaction."`
}

// ParamRequest sets a parameter.
type ParamRequest struct {
	Key   string       `json:"key"`
	Value string       `json:"value"`
	At    types.Height `json:"at,omitempty" doc:"The height from which it holds; left out: the next block, or the next epoch's first where its class is epoch."`
}

// ParamChange is a parameter's value from a height on.
type ParamChange struct {
	Key    string       `json:"key"`
	Value  string       `json:"value"`
	Class  string       `json:"class" doc:"block, or epoch: it changes with an epoch's first block."`
	Height types.Height `json:"height" doc:"From which it holds."`
	Hash   types.Hash   `json:"hash" doc:"Of the transaction."`
}

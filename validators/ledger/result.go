package ledger

import (
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Result is what a block did. All holders share it and must not change it.
type Result struct {
	Block    *types.Block
	Hash     types.Hash
	State    *State // the state after the block
	Receipts []types.Receipt
	Timers   []types.TimerChange // in the order they happened
	Jobs     []types.JobChange   // in the order they happened
	Presence Presence            // P of the parent
	Events   []types.Event       // the chain's own that belong to no receipt: timers that ended without a fire
	Logs     []actors.LogLine    // what programs printed; part of no consensus
	Burned   Burned
	Tips     Tips
	Lane     LaneSummary
	Changes  []Change            // what a store must write: state that differs from the parent's, by key
	NextSet  *types.ValidatorSet // the next epoch's set, in the last block of each (decision C6)
	// HasWork reports that something is due at the next height: deferred messages, timers or
	// changes of watched keys. A chain whose block time is auto makes a block for it.
	HasWork bool
}

// Draws reports whether a committee is drawn in the block.
func (r *Result) Draws() bool {
	return slices.ContainsFunc(r.Jobs, func(change types.JobChange) bool { return change.Kind == types.JobChangeDrawn })
}

// Burned is the base fees of a block, in wei.
type Burned struct {
	_         struct{}  `cbor:",toarray"`
	Cycle     types.Wei `json:"cycle"`
	Cell      types.Wei `json:"cell"`
	LaneTimer types.Wei `json:"lane_timer"`
}

// Tips is what the proposer of a block earned, in wei.
type Tips struct {
	_            struct{}  `cbor:",toarray"`
	Transactions types.Wei `json:"transactions"`
	Timers       types.Wei `json:"timers"`
}

// LaneSummary summarizes the timer lane of a block, besides the changes of its timers.
type LaneSummary struct {
	_        struct{} `cbor:",toarray"`
	Policy   string
	Examined uint64
	// Unexamined is how many due timers the lane did not come to (decision T16):
	// they are deferred, and in no change.
	Unexamined uint64
	Cycles     types.Cycles // what fires used: the utilisation (decision T11)
	GCCycles   types.Cycles // what the cleanup lane used (decision T19)
	AskCycles  types.Cycles // what gas bidding agents used (decision T15)
	Moves      []types.TimerMove
}

// Change is one key of state: its new value, or nil if it was deleted.
type Change struct {
	Key   []byte
	Value []byte
}

// Proposal is what a leader decides about its block; everything else follows
// from the parent and the transactions.
type Proposal struct {
	View         types.View
	Proposer     types.Address
	Timestamp    types.Millis // at least the parent's + 1 (decision C7)
	Skipped      uint64       // heights to skip, within Skippable (decision C8)
	Parent       *types.Certificate
	Finalization *types.Certificate
}

// Dropped is a transaction that can be in no block on this parent, and why. A
// proposer's mempool forgets it.
type Dropped struct {
	Transaction *Checked
	Err         error // *Invalid, or *EnvironmentError of a host that failed on it
}

// Checked is a transaction whose form and signature were verified.
type Checked struct {
	Tx          *types.Transaction
	Instruction types.Instruction
	Hash        types.Hash
	Sender      types.Address
	Size        int // bytes of its encoding

	lane   lane
	system governance.Instruction // the instruction, in the system lane
	report system.Report          // what is reported, in the runner lane
}

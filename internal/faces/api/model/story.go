package model

import "github.com/cowboyinc/devnet/internal/base/types"

// TimerStory is all that final blocks did to a timer.
type TimerStory struct {
	Timer  Timer         `json:"timer"`
	Height types.Height  `json:"height" doc:"Of the latest final block: up to there it is told."`
	Story  []StoryEntry  `json:"story" doc:"In the order of the blocks."`
	Next   *types.Height `json:"next" doc:"From where the blocks that deferred it go on, for from=; null where they are all told. What is not of these is told whole."`
}

// The kinds of story entries.
const (
	StoryScheduled    = "scheduled"
	StoryMoved        = "moved"
	StoryExtended     = "extended"
	StoryTriggered    = "triggered"
	StoryBidFailed    = "bid_failed"
	StoryDeferred     = "deferred"
	StoryFired        = "fired"
	StoryExpired      = "expired"
	StoryInsufficient = "insufficient_funds"
	StoryCancelled    = "cancelled"
	StoryNotKept      = "not_kept"
)

// StoryEntry is one thing that happened to a timer, or one row of blocks in which
// the same happened. Fields that say nothing about its kind are absent.
type StoryEntry struct {
	Kind      string         `json:"kind" enum:"scheduled,moved,extended,triggered,bid_failed,deferred,fired,expired,insufficient_funds,cancelled,not_kept"`
	From      types.Height   `json:"from" doc:"Of the first block."`
	To        types.Height   `json:"to" doc:"Of the last block."`
	Blocks    uint64         `json:"blocks"`
	Reason    string         `json:"reason,omitempty" doc:"Why it was deferred, extended or ended, or how its gas bidding agent failed."`
	TierFrom  string         `json:"tier_from,omitempty" doc:"Of a move."`
	Tier      string         `json:"tier,omitempty" doc:"Into which it was put or moved: ring, epoch, overflow or carry."`
	ExpiresAt *types.Height  `json:"expires_at,omitempty" doc:"From then on."`
	Policy    string         `json:"policy,omitempty" doc:"Of the lane."`
	Priority  *types.Wei     `json:"priority,omitempty" doc:"In wei a cycle; an auction's bid. Absent where the block did not come to look at it."`
	Weight    string         `json:"weight,omitempty" doc:"Of its actor, as n/d; absent under a policy without weights."`
	LaneFee   *FeeRange      `json:"basefee_lane_timer,omitempty"`
	Budget    *types.Cycles  `json:"budget,omitempty" doc:"Of the lane."`
	Spare     *types.Cycles  `json:"spare,omitempty" doc:"The least that fires left of the budget."`
	Bidder    *types.Address `json:"bidder,omitempty"`
	Proposer  *types.Address `json:"proposer,omitempty" doc:"Whose host of programs failed over it, where it was deferred for host_failed (decision C18)."`
	Node      string         `json:"proposer_name,omitempty" doc:"Of that proposer's node; absent where it is none of this devnet's."`
	Paid      *Settlement    `json:"paid,omitempty" doc:"Of a fire."`
}

// NameNodes fills in the names of the nodes whose validators the entry has by address.
func (e *StoryEntry) NameNodes(nameOf func(types.Address) string) {
	if e.Proposer != nil {
		e.Node = nameOf(*e.Proposer)
	}
	if e.Paid != nil {
		e.Paid.ProposerName = nameOf(e.Paid.Proposer)
	}
}

// FeeRange is how a fee went over a row of blocks, in wei.
type FeeRange struct {
	First types.Wei `json:"first"`
	Last  types.Wei `json:"last"`
	Least types.Wei `json:"least"`
	Most  types.Wei `json:"most"`
}

// Settlement is what a fire was charged, and where it went, in wei.
type Settlement struct {
	Status       string        `json:"status" doc:"How its handler ended."`
	Payer        types.Address `json:"payer"`
	Proposer     types.Address `json:"proposer"`
	ProposerName string        `json:"proposer_name" doc:"Of the node; empty where it is none of this devnet's."`
	CyclesUsed   types.Cycles  `json:"cycles_used"`
	CellsUsed    types.Cells   `json:"cells_used"`
	CyclesLimit  types.Cycles  `json:"cycles_limit"`
	CellsLimit   types.Cells   `json:"cells_limit"`
	PerCycle     types.Wei     `json:"basefee_cycle" doc:"Burned for each cycle."`
	PerCycleLane types.Wei     `json:"lane_fee_cycle" doc:"Burned for each cycle beside it, for the lane."`
	PerCell      types.Wei     `json:"basefee_cell" doc:"Burned for each cell."`
	Burned       Split         `json:"burned"`
	Tip          types.Wei     `json:"tip" doc:"To the proposer."`
	Payment      types.Wei     `json:"payment" doc:"Of an auction's winner, to the proposer, out of its locked bid."`
	FeePaid      types.Wei     `json:"fee_paid" doc:"All of these."`
	MaxCost      types.Wei     `json:"max_cost" doc:"Charged before the handler ran."`
	Refund       types.Wei     `json:"refund" doc:"Of max_cost, to the payer."`
	BidReturned  types.Wei     `json:"bid_returned" doc:"Of the locked bid, to the payer."`
}

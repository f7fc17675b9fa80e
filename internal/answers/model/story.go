package model

import "github.com/cowboyinc/devnet/internal/base/types"

// TimerStory is all that final blocks did to a timer.
type TimerStory struct {
	Timer  Timer         `json:"timer"`
	Height types.Height  `json:"height" doc:"Height of the latest final block, the end of the story."`
	Story  []StoryEntry  `json:"story" doc:"In the order of the blocks."`
	Next   *types.Height `json:"next" doc:"Value of from= that continues the blocks that deferred it; null if the story is complete. Other events are all listed."`
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
	From      types.Height   `json:"from" doc:"Height of the first block."`
	To        types.Height   `json:"to" doc:"Height of the last block."`
	Blocks    uint64         `json:"blocks"`
	Reason    string         `json:"reason,omitempty" doc:"Why it was deferred, extended or ended, or how its gas bidding agent failed."`
	TierFrom  string         `json:"tier_from,omitempty" doc:"Of a move."`
	Tier      string         `json:"tier,omitempty" doc:"Into which it was put or moved: ring, epoch, overflow or carry."`
	ExpiresAt *types.Height  `json:"expires_at,omitempty" doc:"From then on."`
	Policy    string         `json:"policy,omitempty" doc:"Of the lane."`
	Priority  *types.Wei     `json:"priority,omitempty" doc:"In wei a cycle; an auction's bid. Absent if the block did not examine the timer."`
	Weight    string         `json:"weight,omitempty" doc:"Weight of its actor, as n/d; absent under a policy without weights."`
	LaneFee   *FeeRange      `json:"basefee_lane_timer,omitempty"`
	Budget    *types.Cycles  `json:"budget,omitempty" doc:"Of the lane."`
	Spare     *types.Cycles  `json:"spare,omitempty" doc:"Smallest part of the budget that fires left."`
	Bidder    *types.Address `json:"bidder,omitempty"`
	Proposer  *types.Address `json:"proposer,omitempty" doc:"Proposer whose host of programs failed on it, if it was deferred for host_failed (decision C18)."`
	Node      string         `json:"proposer_name,omitempty" doc:"Name of that proposer's node; absent if it does not belong to this devnet."`
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

// FeeRange is the range of a fee over a row of blocks, in wei.
type FeeRange struct {
	First types.Wei `json:"first"`
	Last  types.Wei `json:"last"`
	Least types.Wei `json:"least"`
	Most  types.Wei `json:"most"`
}

// Settlement is the charge of a fire by recipient, in wei.
type Settlement struct {
	Status       string        `json:"status" doc:"How its handler ended."`
	Payer        types.Address `json:"payer"`
	Proposer     types.Address `json:"proposer"`
	ProposerName string        `json:"proposer_name" doc:"Name of the node; empty if it does not belong to this devnet."`
	CyclesUsed   types.Cycles  `json:"cycles_used"`
	CellsUsed    types.Cells   `json:"cells_used"`
	CyclesLimit  types.Cycles  `json:"cycles_limit"`
	CellsLimit   types.Cells   `json:"cells_limit"`
	PerCycle     types.Wei     `json:"basefee_cycle" doc:"Burned for each cycle."`
	PerCycleLane types.Wei     `json:"lane_fee_cycle" doc:"Burned for each cycle in addition, for the lane."`
	PerCell      types.Wei     `json:"basefee_cell" doc:"Burned for each cell."`
	Burned       Split         `json:"burned"`
	Tip          types.Wei     `json:"tip" doc:"To the proposer."`
	Payment      types.Wei     `json:"payment" doc:"Payment of an auction's winner to the proposer, out of its locked bid."`
	FeePaid      types.Wei     `json:"fee_paid" doc:"All of these."`
	MaxCost      types.Wei     `json:"max_cost" doc:"Charged before the handler ran."`
	Refund       types.Wei     `json:"refund" doc:"Part of max_cost refunded to the payer."`
	BidReturned  types.Wei     `json:"bid_returned" doc:"Part of the locked bid refunded to the payer."`
}

package model

import "github.com/cowboyinc/devnet/internal/base/types"

// LaneBlock is the work of the timer lane in one block.
type LaneBlock struct {
	Height           types.Height   `json:"height"`
	Skipped          uint64         `json:"skipped" doc:"Heights before it that have no block (decision C8)."`
	Proposer         types.Address  `json:"proposer"`
	Policy           string         `json:"policy" doc:"Policy of the lane in this block (decision T25)."`
	BaseFeeCycle     types.Wei      `json:"basefee_cycle"`
	BaseFeeCell      types.Wei      `json:"basefee_cell"`
	BaseFeeLaneTimer types.Wei      `json:"basefee_lane_timer"`
	Budget           types.Cycles   `json:"budget" doc:"Cycles that fires may use; base fees follow half of it."`
	TimerCyclesUsed  types.Cycles   `json:"timer_cycles_used" doc:"By fires: the lane's utilisation."`
	Utilisation      uint64         `json:"utilisation_permille" doc:"Share of the budget, in thousandths, rounded down."`
	GCBudget         types.Cycles   `json:"gc_budget"`
	GCCyclesUsed     types.Cycles   `json:"gc_cycles_used" doc:"By the cleanup of timers that ended unfired."`
	GBABudget        types.Cycles   `json:"gba_budget"`
	GBACyclesUsed    types.Cycles   `json:"gba_cycles_used" doc:"By gas bidding agents that were asked."`
	CyclesUsed       types.Cycles   `json:"cycles_used" doc:"By the whole block."`
	Examined         uint64         `json:"examined" doc:"Due timers that the block looked at."`
	Scheduled        uint64         `json:"scheduled"`
	Fired            uint64         `json:"fired"`
	Deferred         uint64         `json:"deferred" doc:"Due and left for a later block, examined or not (decision T9)."`
	DeferredFor      []LaneDeferral `json:"deferred_for" doc:"The same by reason."`
	Expired          uint64         `json:"expired"`
	Insufficient     uint64         `json:"insufficient"`
	Cancelled        uint64         `json:"cancelled"`
	Moved            uint64         `json:"moved" doc:"From one tier of the calendar to another."`
	BurnedLaneTimer  types.Wei      `json:"burned_lane_timer"`
	Tips             types.Wei      `json:"tips" doc:"Tips of fires to the proposer, an auction's payments included."`
}

// LaneDeferral is the number of timers that a block deferred for a reason.
type LaneDeferral struct {
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
}

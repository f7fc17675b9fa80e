package model

import "github.com/cowboyinc/devnet/internal/base/types"

// Columns are final blocks as columns: the entry i of each is of the block i, oldest
// first. All columns have one length.
type Columns struct {
	From     types.Height     `json:"from" doc:"First height that was looked at."`
	To       types.Height     `json:"to" doc:"Last height that was looked at."`
	Head     types.Height     `json:"head" doc:"Of the latest final block."`
	KeptFrom types.Height     `json:"kept_from" doc:"First height that is kept."`
	Next     *types.Height    `json:"next" doc:"Height from which to ask on; null where all is told."`
	Nodes    []NamedValidator `json:"nodes" doc:"The proposers in the answer."`

	Height           []types.Height `json:"height"`
	Skipped          []uint64       `json:"skipped" doc:"Heights before it that have no block."`
	View             []types.View   `json:"view"`
	Proposer         []int          `json:"proposer" doc:"Position in nodes."`
	TimestampMS      []types.Millis `json:"timestamp_ms"`
	Transactions     []int          `json:"transactions" doc:"How many it has."`
	CyclesUsed       []types.Cycles `json:"cycles_used"`
	CellsUsed        []types.Cells  `json:"cells_used"`
	TimerCyclesUsed  []types.Cycles `json:"timer_cycles_used"`
	LaneBudget       []types.Cycles `json:"lane_budget" doc:"Cycles that fires may use."`
	Fired            []uint64       `json:"fired"`
	Deferred         []uint64       `json:"deferred" doc:"Due and left for a later block, examined or not."`
	Ended            []uint64       `json:"ended" doc:"Timers that expired, or could not be paid for."`
	BaseFeeCycle     []types.Wei    `json:"basefee_cycle"`
	BaseFeeCell      []types.Wei    `json:"basefee_cell"`
	BaseFeeLaneTimer []types.Wei    `json:"basefee_lane_timer"`
}

// NamedValidator is a validator as lists name it, once for all rows.
type NamedValidator struct {
	Name    string        `json:"name" doc:"Its node's; empty where none is known."`
	Address types.Address `json:"address"`
}

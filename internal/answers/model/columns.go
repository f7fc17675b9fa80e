package model

import "github.com/cowboyinc/devnet/internal/base/types"

// Columns are final blocks as columns: entry i of each belongs to block i, oldest
// first. All columns have one length.
type Columns struct {
	From     types.Height     `json:"from" doc:"First height of the answer."`
	To       types.Height     `json:"to" doc:"Last height of the answer."`
	Head     types.Height     `json:"head" doc:"Height of the latest final block."`
	KeptFrom types.Height     `json:"kept_from" doc:"First stored height."`
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
	Name    string        `json:"name" doc:"Name of the node; empty if it is unknown."`
	Address types.Address `json:"address"`
}

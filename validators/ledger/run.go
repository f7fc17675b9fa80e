package ledger

import (
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// run is a block in the making: the writes over its parent's state, its
// figures, and what it reports.
type run struct {
	x        *Executor
	parent   *State
	state    *actors.State
	params   *params.Params
	due      []system.Change // the parameter changes of this block
	header   types.Header    // complete once the run is sealed
	txs      []types.Transaction
	txHashes []byte
	txBytes  uint64
	sessions sessions
	pace     pacer   // of a proposer
	passing  passing // over what the environment fails
	failures []*EnvironmentError
	shared   actors.Block
	used     use
	burned   Burned
	tips     Tips
	lane     Lane
	laneOver bool // the timer lane has run
	filled   int  // snapshot of the state after the transactions
	receipts []types.Receipt
	timers   []types.TimerChange
	events   []types.Event
	logs     []actors.LogLine
	nextSet  *types.ValidatorSet
}

// use is what a block has used so far.
type use struct {
	user, system, timer types.Cycles
	bidders             types.Cycles // get_gas_bid (decision T15)
	cells               types.Cells
}

func (u *use) cycles() types.Cycles { return u.user + u.system + u.timer + u.bidders }

// open begins a block with a header that was checked.
func (x *Executor) open(parent *State, header types.Header, purpose program.Purpose) *run {
	state := actors.NewState(parent.tree)
	p, due := system.InForce(reader{parent.tree}, parent.params, header.Height)
	r := &run{x: x, parent: parent, state: state, params: p, due: due, header: header}
	r.sessions = sessions{host: x.Programs, purpose: purpose, pace: &r.pace}
	fees := parent.feesAfter(header.Skipped, p)
	r.header.BaseFeeCycle, r.header.BaseFeeCell, r.header.BaseFeeLaneTimer = fees.Cycle, fees.Cell, fees.LaneTimer
	r.shared = actors.Block{Params: p, ChainID: header.ChainID, Height: header.Height, Timestamp: header.Timestamp,
		Randomness: header.Randomness, BaseFeeCycle: fees.Cycle, BaseFeeCell: fees.Cell,
		Timers: r.programTimers(), Runner: x.runner(), Sessions: &r.sessions}
	return r
}

func (r *run) fees() BaseFees { return feesOf(&r.header) }

// attempt executes something with limits. Where the environment fails, all it
// did is undone and it is tried once more with a fresh session, unless the time
// of a proposer is over; its error is an *EnvironmentError.
func (r *run) attempt(what func() string, cause actors.Cause, cycles types.Cycles, cells types.Cells,
	do func(*actors.Execution) (program.Outcome, error)) (*actors.Execution, program.Outcome, error) {
	snapshot := r.state.Snapshot()
	for attempts := 1; ; attempts++ {
		x := actors.Start(&r.shared, r.state, cause, cycles, cells)
		outcome, err := do(x)
		if err == nil {
			r.x.worked(x)
			return x, outcome, nil
		}
		r.state.Revert(snapshot)
		r.sessions.close()
		if attempts == maxAttempts || r.pace.over() {
			return nil, program.Outcome{}, &EnvironmentError{What: what(), Attempts: attempts, Err: err}
		}
	}
}

// record adds the receipt of an execution, which bears who, what and the fee.
func (r *run) record(receipt types.Receipt, x *actors.Execution, outcome program.Outcome) {
	receipt.Height, receipt.Index = r.header.Height, uint32(len(r.receipts))
	receipt.Status, receipt.Error, receipt.Output = outcome.Status, outcome.Fault, outcome.Output
	receipt.Cycles, receipt.Cells = x.Used()
	receipt.Events = append([]types.Event{}, x.Events...)
	if len(r.receipts) == cap(r.receipts) {
		r.receipts = slices.Grow(r.receipts, len(r.receipts)+1) // they are large, and there may be thousands
	}
	r.receipts = append(r.receipts, receipt)
	r.logs = append(r.logs, x.Logs...)
}

// recordFailed adds the receipt of what ended because the hosts of f + 1
// validators failed over it: it used all of its limits (decision C18).
func (r *run) recordFailed(receipt types.Receipt, cycles types.Cycles, cells types.Cells) {
	receipt.Height, receipt.Index = r.header.Height, uint32(len(r.receipts))
	receipt.Status, receipt.Cycles, receipt.Cells, receipt.Events = types.StatusHostFailed, cycles, cells, []types.Event{}
	receipt.Error = &types.Fault{Code: string(types.StatusHostFailed),
		Message: "the program hosts of more validators failed over it than can be faulty: they crashed, or it took too long"}
	r.receipts = append(r.receipts, receipt)
}

// burn counts base fees that were paid.
func (r *run) burn(cost feemarket.Cost) {
	r.burned.Cycle = r.burned.Cycle.Add(cost.BurnedCycle)
	r.burned.Cell = r.burned.Cell.Add(cost.BurnedCell)
	r.burned.LaneTimer = r.burned.LaneTimer.Add(cost.BurnedLane)
}

// receiptsRoot is the keccak256 of the receipts' encodings, one after the other.
func receiptsRoot(receipts []types.Receipt) types.Hash {
	encoded := make([][]byte, len(receipts))
	for i := range receipts {
		encoded[i] = codec.Marshal(&receipts[i])
	}
	return types.Keccak(encoded...)
}

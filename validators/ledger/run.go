package ledger

import (
	"errors"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// run is a block in the making: the writes over its parent's state, its
// figures, and what it reports.
type run struct {
	x           *Executor
	parent      *State
	state       *actors.State
	params      *params.Params
	presence    Presence            // of the parent (decision C3)
	rotation    *selection.Rotation // of subsets, in force in this block
	due         []governance.Change // the parameter changes of this block
	header      types.Header        // complete once the run is sealed
	txs         []types.Transaction
	txHashes    []byte
	txBytes     uint64
	sessions    sessions
	pace        pacer   // the time that a proposer has
	passing     passing // items that the block skips
	late        lateness
	failures    []*EnvironmentError
	shared      actors.BlockContext
	used        use
	burned      Burned
	tips        Tips
	summary     LaneSummary
	laneOver    bool        // the timer lane has run
	runnerCells types.Cells // what runner transactions took
	filled      *int        // snapshot of the state after the transactions; nil before
	receipts    []types.Receipt
	timers      []types.TimerChange
	jobs        []types.JobChange
	events      []types.Event
	logs        []actors.LogLine
	nextSet     *types.ValidatorSet
}

// openBlock begins a block with a header that was checked.
func (x *Executor) openBlock(parent *State, header types.Header, presence Presence, purpose program.Purpose) *run {
	state := actors.NewState(parent.tree)
	p, due := governance.InForce(reader{parent.tree}, parent.params, header.Height)
	r := &run{x: x, parent: parent, state: state, params: p, due: due, header: header, presence: presence}
	r.rotateIfDue()
	r.sessions = sessions{host: x.Programs, purpose: purpose, pace: &r.pace}
	fees := parent.feesAfter(header.Skipped, p)
	r.header.BaseFeeCycle, r.header.BaseFeeCell, r.header.BaseFeeLaneTimer = fees.Cycle, fees.Cell, fees.LaneTimer
	r.shared = actors.BlockContext{Params: p, ChainID: header.ChainID, Height: header.Height, Timestamp: header.Timestamp,
		Randomness: header.Randomness, BaseFeeCycle: fees.Cycle, BaseFeeCell: fees.Cell,
		Timers: r.programTimers(), System: systemActors{r}, Deliverer: x.newDeliverer(), Sessions: &r.sessions}
	return r
}

func (r *run) baseFees() BaseFees { return feesOf(&r.header) }

// executeWithin executes with limits, and reports its work.
func (r *run) executeWithin(what func() string, cause actors.Cause, cycles types.Cycles, cells types.Cells,
	do func(*actors.Execution) (program.Outcome, error)) (*actors.Execution, program.Outcome, error) {
	x, outcome, err := r.executeRepeatedly(what, cause, cycles, cells, do)
	if err == nil {
		r.x.reportWork(x)
	}
	return x, outcome, err
}

// executeRepeatedly executes something with limits. If the environment fails, all effects are
// reverted and it is tried again with a fresh session, unless the time of a proposer
// is over; an error is an *EnvironmentError.
func (r *run) executeRepeatedly(what func() string, cause actors.Cause, cycles types.Cycles, cells types.Cells,
	do func(*actors.Execution) (program.Outcome, error)) (*actors.Execution, program.Outcome, error) {
	snapshot := r.state.Snapshot()
	for attempts := 1; ; attempts++ {
		r.x.recordBegin(cause)
		x := actors.Start(&r.shared, r.state, cause, cycles, cells)
		outcome, err := do(x)
		if err == nil {
			return x, outcome, nil
		}
		r.state.Revert(snapshot)
		r.sessions.closeSession()
		if attempts == maxAttempts || r.pace.isOver() || errors.Is(err, program.ErrLate) {
			return nil, program.Outcome{}, &EnvironmentError{What: what(), Attempts: attempts, Limit: cycles,
				Late: errors.Is(err, program.ErrLate), Err: err}
		}
	}
}

// instructContract lets a contract do a step of the block, by a message to its actor. do is
// repeated if that actor panics, and writes only state and its own results. Its error
// is an *EnvironmentError.
//
// Spec: decision C21.
func (r *run) instructContract(contract types.Address, step string, do func()) error {
	_, _, err := r.executeRepeatedly(func() string { return "the step " + step + " of " + contract.String() }, actors.Cause{}, 0, 0,
		func(x *actors.Execution) (program.Outcome, error) {
			return x.Instruct(types.Address{}, contract, step, func() program.Outcome {
				do()
				return program.Outcome{Status: types.StatusOK}
			})
		})
	return err
}

// recordReceipt adds the receipt of an execution, with sender, content and fee, and its
// job changes.
func (r *run) recordReceipt(receipt types.Receipt, x *actors.Execution, outcome program.Outcome) {
	receipt.Height, receipt.Index = r.header.Height, uint32(len(r.receipts))
	receipt.Status, receipt.Error, receipt.Output = outcome.Status, outcome.Fault, outcome.Output
	receipt.Cycles, receipt.Cells = x.Used()
	receipt.Events = append([]types.Event{}, x.Events...)
	if len(r.receipts) == cap(r.receipts) {
		r.receipts = slices.Grow(r.receipts, len(r.receipts)+1) // they are large, and there may be thousands
	}
	r.receipts = append(r.receipts, receipt)
	r.jobs = append(r.jobs, x.Jobs...)
	r.logs = append(r.logs, x.Logs...)
}

// recordHostFailure adds the receipt of an item that ended because the hosts of f + 1
// validators failed on it: it used all of its limits (decision C18).
func (r *run) recordHostFailure(receipt types.Receipt, cycles types.Cycles, cells types.Cells) {
	receipt.Height, receipt.Index = r.header.Height, uint32(len(r.receipts))
	receipt.Status, receipt.Cycles, receipt.Cells, receipt.Events = types.StatusHostFailed, cycles, cells, []types.Event{}
	receipt.Error = &types.Fault{Code: string(types.StatusHostFailed),
		Message: "the program hosts of more validators than can be faulty failed on it: they crashed, or it took too long"}
	r.receipts = append(r.receipts, receipt)
}

// countBurn counts base fees that were paid.
func (r *run) countBurn(cost feemarket.Cost) {
	r.burned.Cycle = r.burned.Cycle.Add(cost.BurnedCycle)
	r.burned.Cell = r.burned.Cell.Add(cost.BurnedCell)
	r.burned.LaneTimer = r.burned.LaneTimer.Add(cost.BurnedLane)
}

// receiptsRoot is the keccak256 of the receipts' encodings, one after the other. The
// messages of errors are for people, and part of it only on a chain of an older genesis.
//
// Spec: decision C20.
func receiptsRoot(p *params.Params, receipts []types.Receipt) types.Hash {
	encoded := make([][]byte, len(receipts))
	for i := range receipts {
		hashed := &receipts[i]
		if !p.HashesMessages() {
			hashed = hashed.WithoutMessage()
		}
		encoded[i] = codec.Marshal(hashed)
	}
	return types.Keccak(encoded...)
}

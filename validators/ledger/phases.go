package ledger

import (
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// runPhases runs the phases of a block on an opened run. fill includes the
// transactions. An error comes from fill, or is an *EnvironmentError.
func (r *run) runPhases(fill func() error) (*Result, error) {
	defer r.sessions.closeSession()
	for _, phase := range []func() error{
		r.enactParameters,  // decision T9: they hold from the first step of their block
		r.rotateSubsets,    // CIP-11 §5.3, decision J10
		r.maintainCalendar, // CIP-1 §3 step 2
		r.fireBefore,       // decision T3: under gba
		fill,               // CIP-1 §3 step 3
		r.forgetLists,      // decision C18
		r.triggerWatches,   // decision T26
		r.fireAfter,        // CIP-1 §3 steps 4 to 10, decision T3
		r.deliverMessages,  // decision C16
		r.advanceJobs,      // CIP-1 §3 step 11, decisions J4, J6
		r.giveTurns,        // decision C16
		r.noteLateWrites,   // decision T26
		r.endEpoch,         // decision C6
		r.settleBooks,      // decisions C14, C15
	} {
		if err := phase(); err != nil {
			return nil, err
		}
	}
	return r.sealBlock(), nil
}

// enactParameters writes the parameters that change with this block.
func (r *run) enactParameters() error {
	if len(r.due) == 0 {
		return nil
	}
	before := r.parent.params
	if err := r.instructContract(types.GovernanceAddress, "enact", func() {
		storeParams(r.state, r.params, before)
		governance.Enact(r.state, r.due)
	}); err != nil {
		return err
	}
	if scheduler.ConfigOf(r.params) != scheduler.ConfigOf(before) {
		r.events = append(r.events, scheduler.ConfigUpdated(r.params))
	}
	return nil
}

// maintainCalendar moves timers between the tiers of the calendar.
func (r *run) maintainCalendar() error {
	r.summary.Moves = r.schedulerBlock().Maintain()
	return nil
}

// fireBefore is the timer lane of a policy that fires before the transactions.
func (r *run) fireBefore() error {
	if !scheduler.BeforeTransactions(r.params) {
		return nil
	}
	r.pace.beginPhase(r.parent, r.header.Height, phaseFires, phaseTransactions, phaseDeliveries)
	return r.fireTimers()
}

// fireAfter is the timer lane of every other policy.
func (r *run) fireAfter() error {
	if scheduler.BeforeTransactions(r.params) {
		return nil
	}
	r.pace.beginPhase(r.parent, r.header.Height, phaseFires, phaseDeliveries)
	return r.fireTimers()
}

// endEpoch makes the next validator set in the last block of an epoch, if a
// validator joins or leaves at its end; otherwise the present set continues,
// without a border.
func (r *run) endEpoch() error {
	if !governance.LastOfEpoch(r.params, r.header.Height) {
		return nil
	}
	return r.instructContract(types.GovernanceAddress, "rotate", func() { r.nextSet = governance.Rotate(r.state, r.header.Epoch+1) })
}

// settleBooks gives the proposer its tips and counts what was burned.
func (r *run) settleBooks() error {
	proposer := r.header.Proposer
	if plant.Planted == plant.TipsBefore && r.parent.header.Height > 0 {
		proposer = r.parent.header.Proposer
	}
	r.state.Credit(proposer, r.tips.Transactions.Add(r.tips.Timers))
	if r.burned == (Burned{}) {
		return nil
	}
	supply := supplyOf(r.state)
	supply.BurnedCycle = supply.BurnedCycle.Add(r.burned.Cycle)
	supply.BurnedCell = supply.BurnedCell.Add(r.burned.Cell)
	supply.BurnedLaneTimer = supply.BurnedLaneTimer.Add(r.burned.LaneTimer)
	setSupply(r.state, &supply)
	return nil
}

// sealBlock completes the header and gathers the result.
func (r *run) sealBlock() *Result {
	due := r.timersDue()
	tree, changes := r.state.Seal()
	h := &r.header
	h.Transactions = types.Keccak(r.txHashes)
	passed := r.passing.passedItems(r.late.made)
	h.Passed = types.PassedHash(passed)
	if !r.x.OmitRoots {
		h.ReceiptsRoot, h.StateRoot = receiptsRoot(r.params, r.receipts), tree.Root()
	}
	h.CyclesUsed, h.CellsUsed, h.TimerCyclesUsed = r.used.totalCycles(), r.used.cells, r.used.cycles[laneTimer]
	if r.nextSet != nil {
		h.NextSet = r.nextSet.Hash()
	}
	hash := h.Hash()
	state := newState(tree, *h, hash, r.params, due, r.currentRegistry())
	result := &Result{
		Block: &types.Block{Header: *h, Transactions: r.txs, Passed: passed}, Hash: hash, State: state,
		Receipts: r.receipts, Timers: r.timers, Jobs: r.jobs, Presence: r.presence, Events: r.events, Logs: r.logs,
		Burned: r.burned, Tips: r.tips, Lane: r.summary, NextSet: r.nextSet, HasWork: state.HasWork(),
	}
	if r.x.OmitRoots {
		return result
	}
	for _, c := range changes {
		result.Changes = append(result.Changes, Change{Key: c.Key, Value: c.Value})
	}
	return result
}

package ledger

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// IsReport reports whether a transaction is a runner transaction: free, and without
// nonce.
func (c *Checked) IsReport() bool { return c.report != nil }

// Runner is the runner of a runner transaction.
func (c *Checked) Runner() types.Address { return c.report.Of() }

// Heartbeat is the heartbeat that a runner transaction brings, nil if it brings another report.
func (c *Checked) Heartbeat() *system.Heartbeat {
	heartbeat, _ := c.report.(*system.Heartbeat)
	return heartbeat
}

// Job is the job of a runner transaction with a commitment, a result or a refusal; ok is
// false for all others.
func (c *Checked) Job() (job types.Hash, ok bool) {
	switch report := c.report.(type) {
	case *system.Commit:
		return report.JobID, true
	case *system.Reveal:
		return report.JobID, true
	case *system.Refusal:
		return report.JobID, true
	}
	return job, false
}

// checkReport reads a runner transaction: what depends on no state. It is free, so
// nothing in it may say that it pays, and it has no nonce, since no report is taken
// twice.
//
// Spec: decision J15.
func (x *Executor) checkReport(c *Checked) *Invalid {
	in, ok := c.Instruction.(*types.Report)
	if !ok {
		return nil
	}
	tx := *c.Tx
	tx.Payload, tx.Signature = nil, nil
	if blank := (types.Transaction{ChainID: tx.ChainID}); !sameFields(&tx, &blank) {
		return newInvalid(CodeMalformed, "J15", "of a runner transaction to is null, nonce, value, limits and fees are 0")
	}
	report, err := system.DecodeReport(in.Op, in.Args, tx.ChainID, x.Verifier.Recover)
	if err != nil {
		return newInvalid(CodeMalformed, "J15", "%v", err)
	}
	c.lane, c.report = laneRunner, report
	return nil
}

// sameFields compares transactions without payload and signature.
func sameFields(a, b *types.Transaction) bool {
	return a.To == b.To && a.Nonce == b.Nonce && a.Value == b.Value && a.CyclesLimit == b.CyclesLimit && a.CellsLimit == b.CellsLimit &&
		a.MaxFeePerCycle == b.MaxFeePerCycle && a.MaxFeePerCell == b.MaxFeePerCell &&
		a.MaxPriorityFeePerCycle == b.MaxPriorityFeePerCycle && a.MaxPriorityFeePerCell == b.MaxPriorityFeePerCell
}

// precheckReport reports whether the block after the state may hold a runner
// transaction.
func (s *State) precheckReport(c *Checked) *Invalid {
	return precheckReport(&system.InBlock{Params: s.next, State: actors.NewState(s.tree), Height: s.header.Height + 1}, s.set, c)
}

// Spends reports whether no block after the state will hold a runner transaction: it
// is on chain already, or its time is over.
func (s *State) Spends(c *Checked) bool {
	refusal := s.precheckReport(c)
	return refusal != nil && refusal.Code != CodeEarlyReport
}

// precheckReport reports whether the next transaction of a block may be a runner
// transaction: a validator of the set that decides on the block sends it, and the
// chain has no reason against it.
func precheckReport(b *system.InBlock, set *types.ValidatorSet, c *Checked) *Invalid {
	if set.Index(c.Sender) < 0 {
		return newInvalid(CodeNotValidator, "J15", "%s is not in the validator set that decides on the block", c.Sender)
	}
	switch fault := c.report.Precheck(b, c.Sender); {
	case fault == nil:
		return nil
	case system.MayComeLater(fault):
		return newInvalid(CodeEarlyReport, "J15", "%s: %s", fault.Code, fault.Message)
	default:
		return newInvalid(CodeRefusedReport, "J15", "%s: %s", fault.Code, fault.Message)
	}
}

// includeReport makes a runner transaction the next of the block. It is free, and
// takes cycles of the runner lane and of the block's cells half at most. An error is an
// *Invalid, or an *EnvironmentError, and leaves the state unchanged.
//
// Spec: decisions J15, J18, J19.
func (r *run) includeReport(c *Checked) error {
	block := r.systemBlock()
	if refusal := precheckReport(block, r.parent.set, c); refusal != nil {
		return refusal
	}
	cycles, cells := c.intrinsicUse(r.params)
	free := system.RunnerCells(r.params).Sub(r.runnerCells)
	switch {
	case cycles > r.cyclesLeft(laneRunner):
		return newInvalid(CodeNoRoom, "CIP-3", "%d cycles; the runner lane has %d left", cycles, r.cyclesLeft(laneRunner))
	case cells > free || cells > r.params.CellsLimit.Sub(r.used.cells):
		return newInvalid(CodeNoRoom, "CIP-3", "%d cells; the block has %d left, and %d of them for runners", cells,
			r.params.CellsLimit.Sub(r.used.cells), free)
	case r.txBytes+uint64(c.Size) > r.params.MaxBlockBytes:
		return newInvalid(CodeNoRoom, "C11", "%d bytes; the block has %d left", c.Size, r.params.MaxBlockBytes-r.txBytes)
	}
	op := c.Instruction.(*types.Report).Op
	cause := actors.Cause{Origin: types.OriginTransaction, Hash: c.Hash, TxHash: c.Hash}
	x, outcome, err := r.executeRepeatedly(func() string { return "runner transaction " + c.Hash.String() }, cause, cycles, cells,
		func(x *actors.Execution) (program.Outcome, error) {
			x.Spend(cycles, cells)
			return x.Instruct(c.Sender, c.report.To(), op, func() program.Outcome {
				effect := c.report.Perform(block, c.Sender)
				x.Events, x.Jobs = effect.Events, effect.Jobs
				return program.Outcome{Status: types.StatusOK}
			})
		})
	if err != nil {
		return err
	}
	r.runnerCells += cells
	r.countUsed(c, x)
	r.recordReceipt(types.Receipt{Hash: c.Hash, Origin: types.OriginTransaction, Sender: c.Sender, To: c.report.To(), Handler: op}, x, outcome)
	return nil
}

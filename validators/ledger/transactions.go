package ledger

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// includeTransaction makes a transaction the next of the block. An error is an *Invalid, or an
// *EnvironmentError, and leaves the state unchanged.
//
// Spec: CIP-1 §3 step 3, CIP-3, decision C14.
func (r *run) includeTransaction(c *Checked) error {
	if c.report != nil {
		return r.includeReport(c)
	}
	if r.isLate(c) {
		return r.includeLate(c)
	}
	charge, refusal := precheckFee(r.state, r.params, r.baseFees(), c)
	if refusal == nil {
		refusal = r.whyMisfit(c)
	}
	if refusal != nil {
		return refusal
	}
	before := r.state.Snapshot()
	account := actors.AccountOf(r.state, c.Sender)
	if plant.Planted != plant.SameNonce {
		account.Nonce++
	}
	account.Balance = account.Balance.Sub(charge.Total)
	r.state.SetAccount(c.Sender, account)
	x, to, outcome, err := r.executeTransaction(c)
	if err != nil {
		r.state.Revert(before)
		return err
	}
	r.forgetListers(c.slotOf())
	cost, refund := charge.Settle(x.Used())
	r.state.Credit(c.Sender, refund)
	if plant.Planted == plant.RefundsTwice {
		r.state.Credit(c.Sender, refund)
	}
	r.countBurn(cost)
	r.tips.Transactions = r.tips.Transactions.Add(cost.Tip)
	r.countUsed(c, x)
	r.timers = append(r.timers, x.Timers...)
	r.recordReceipt(c.newReceipt(to, cost), x, outcome)
	return nil
}

// whyMisfit returns why a transaction's limits do not fit into the rest of its lane
// and the block, or nil.
func (r *run) whyMisfit(c *Checked) *Invalid {
	p := r.params
	switch {
	case c.Tx.CyclesLimit > r.cyclesLeft(c.lane):
		return newInvalid(CodeNoRoom, "CIP-3", "a limit of %d cycles; the %s lane has %d left", c.Tx.CyclesLimit, c.lane, r.cyclesLeft(c.lane))
	case c.Tx.CyclesLimit > p.CyclesLimit.Sub(r.used.totalCycles()):
		return newInvalid(CodeNoRoom, "CIP-3", "a limit of %d cycles; the block has %d left", c.Tx.CyclesLimit,
			p.CyclesLimit.Sub(r.used.totalCycles()))
	case c.Tx.CellsLimit > p.CellsLimit.Sub(r.used.cells):
		return newInvalid(CodeNoRoom, "CIP-3", "a limit of %d cells; the block has %d left", c.Tx.CellsLimit, p.CellsLimit.Sub(r.used.cells))
	case r.txBytes+uint64(c.Size) > p.MaxBlockBytes:
		return newInvalid(CodeNoRoom, "C11", "%d bytes; the block has %d left", c.Size, p.MaxBlockBytes-r.txBytes)
	}
	return nil
}

// countUsed adds what a transaction used, and the transaction itself.
func (r *run) countUsed(c *Checked, x *actors.Execution) {
	cycles, cells := x.Used()
	r.countUse(c, cycles, cells)
}

func (r *run) countUse(c *Checked, cycles types.Cycles, cells types.Cells) {
	r.spendCycles(c.lane, cycles)
	r.used.cells += cells
	r.txs = append(r.txs, *c.Tx)
	r.txHashes = append(r.txHashes, c.Hash[:]...)
	r.txBytes += uint64(c.Size)
}

// executeTransaction does what a transaction says, within its limits; it neither pays nor
// counts. Its error is an *EnvironmentError.
func (r *run) executeTransaction(c *Checked) (x *actors.Execution, to types.Address, outcome program.Outcome, err error) {
	if c.Tx.To != nil {
		to = *c.Tx.To
	}
	cause := actors.Cause{Origin: types.OriginTransaction, Hash: c.Hash, TxHash: c.Hash, Sponsorship: c.sponsorshipOf()}
	x, outcome, err = r.executeWithin(func() string { return "transaction " + c.Hash.String() }, cause, c.Tx.CyclesLimit, c.Tx.CellsLimit,
		func(x *actors.Execution) (program.Outcome, error) {
			if fault := x.Spend(c.intrinsicUse(r.params)); fault != nil {
				panic("ledger: a transaction was included whose limits do not hold itself")
			}
			switch in := c.Instruction.(type) {
			case *types.Transfer:
				return r.transferValue(c.Sender, to, c.Tx.Value), nil
			case *types.Execute:
				return x.Deliver(program.Message{Kind: program.Call, Sender: c.Sender, Self: to, Handler: in.Handler, Payload: in.Payload}, c.Tx.Value)
			case *types.Deploy:
				var err error
				to, outcome, err = x.Deploy(c.Sender, in, c.Tx.Value)
				return outcome, err
			case *types.Upgrade:
				return x.Upgrade(c.Sender, to, in)
			case *types.ApplyUpgrade:
				return x.ApplyUpgrade(c.Sender, to, in)
			case *types.SetUpgradeTerms:
				return x.SetUpgradeTerms(c.Sender, to, in.Terms), nil
			default:
				if as, ok := c.system.(*governance.Impersonate); ok {
					var err error
					to, outcome, err = r.executeImpersonation(x, c, as)
					return outcome, err
				}
				return x.Instruct(c.Sender, types.GovernanceAddress, "instruct", func() program.Outcome { return r.executeInstruction(x, c.system) })
			}
		})
	return x, to, outcome, err
}

// sponsorshipOf is what the signer agreed to pay for timers: nothing where the
// transaction calls no actor, but for init, which may not name him either.
func (c *Checked) sponsorshipOf() *types.Sponsorship {
	if in, ok := c.Instruction.(*types.Execute); ok {
		return in.Sponsorship(c.Hash, c.Sender)
	}
	return &types.Sponsorship{Transaction: c.Hash, Signer: c.Sender}
}

func (r *run) transferValue(from, to types.Address, value types.Wei) program.Outcome {
	if !r.state.Move(from, to, value) {
		return newFault("insufficient_funds", "the sender holds less than the value")
	}
	return program.Outcome{Status: types.StatusOK}
}

// executeInstruction executes a system instruction: all of it or nothing.
func (r *run) executeInstruction(x *actors.Execution, in governance.Instruction) program.Outcome {
	before := r.state.Snapshot()
	effect, refused := in.Execute(governance.Chain{KV: r.state, Params: r.params, Height: r.header.Height,
		Timers: governedTimers{r.programTimers(), r.state}, Money: governedMoney{r.state}, State: governedState{r.state}})
	if refused != nil {
		r.state.Revert(before)
		return newFault(refused.Code, refused.Message)
	}
	x.Events = append(x.Events, effect.Events...)
	x.Timers = append(x.Timers, effect.Timers...)
	return program.Outcome{Status: types.StatusOK}
}

func newFault(code, message string) program.Outcome {
	if len(message) > types.MaxFaultBytes {
		message = message[:types.MaxFaultBytes]
	}
	return program.Outcome{Status: types.StatusFailed, Fault: &types.Fault{Code: code, Message: message}}
}

// newReceipt is the part of a receipt that does not depend on the execution.
func (c *Checked) newReceipt(to types.Address, cost feemarket.Cost) types.Receipt {
	receipt := types.Receipt{Hash: c.Hash, Origin: types.OriginTransaction, Sender: c.Sender, To: to, Fee: cost.Total(), Tip: cost.Tip}
	switch in := c.Instruction.(type) {
	case *types.Execute, *types.Deploy, *types.Upgrade, *types.ApplyUpgrade:
		receipt.Handler = handlerOf(in)
	case *types.System:
		receipt.To = types.GovernanceAddress
		if as, ok := c.system.(*governance.Impersonate); ok {
			receipt.Sender, receipt.To, receipt.Handler = as.From, to, handlerOf(as.Asked())
			if as.To != nil {
				receipt.To = *as.To
			}
		}
	}
	return receipt
}

// handlerOf is the handler that an instruction runs; "" for none.
func handlerOf(in types.Instruction) string {
	switch in := in.(type) {
	case *types.Execute:
		return in.Handler
	case *types.Deploy:
		return "init"
	case *types.Upgrade, *types.ApplyUpgrade:
		return program.MigrateHandler
	}
	return ""
}

package ledger

import (
	"errors"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Admit judges an encoded transaction for the block after state, as far as that is
// possible for one transaction: form, signature, fees, balance. A nonce above the
// account's is taken, since those before it may wait in a mempool. It changes
// nothing; its error is an *Invalid.
func (x *Executor) Admit(state *State, raw []byte) (*Checked, error) {
	if limit := maxTransaction(state.next); len(raw) > limit {
		return nil, newInvalid(CodeTooLarge, "C11", "a transaction of %d bytes, at most %d", len(raw), limit)
	}
	tx, err := types.DecodeTransaction(raw)
	if err != nil {
		return nil, newInvalid(CodeMalformed, "C11", "%v", err)
	}
	c, refusal := x.checkTransaction(state.next, tx, raw)
	if refusal == nil {
		if c.report != nil {
			refusal = state.precheckReport(c)
		} else {
			_, refusal = precheckFee(reader{state.tree}, state.next, state.fees, c)
		}
	}
	if refusal != nil && refusal.Code != CodeNonceTooHigh && refusal.Code != CodeEarlyReport {
		return nil, refusal
	}
	return c, nil
}

func maxTransaction(p *params.Params) int {
	return int(min(types.MaxTransactionBytes, p.MaxBlockBytes))
}

// checkTransaction judges what depends on no state: raw is the canonical encoding of tx.
func (x *Executor) checkTransaction(p *params.Params, tx *types.Transaction, raw []byte) (*Checked, *Invalid) {
	c := &Checked{Tx: tx, Hash: types.Keccak(raw), Size: len(raw)}
	if tx.ChainID != p.ChainID {
		return nil, newInvalid(CodeWrongChain, "C10", "the transaction is for chain %d, this is %d", tx.ChainID, p.ChainID)
	}
	if refusal := c.decodePayload(); refusal != nil {
		return nil, refusal
	}
	if refusal := x.checkReport(c); refusal != nil {
		return nil, refusal
	}
	if tx.Signature == nil {
		return nil, newInvalid(CodeBadSignature, "C10", "the transaction is not signed")
	}
	signer, ok := x.Verifier.Recover(tx.SigningDigest(), *tx.Signature)
	if !ok {
		return nil, newInvalid(CodeBadSignature, "C10", "invalid signature: want r ‖ s ‖ v with low s, v 0 or 1")
	}
	c.Sender = signer
	return c, nil
}

// decodePayload reads the payload and judges its form.
func (c *Checked) decodePayload() *Invalid {
	instruction, err := c.Tx.Instruction()
	if err != nil {
		return c.errUndecodable(err)
	}
	c.Instruction = instruction
	switch in := instruction.(type) {
	case *types.Execute:
		if len(in.Handler) > types.MaxNameBytes {
			return newInvalid(CodeMalformed, "C11", "a handler's name of %d bytes, at most %d", len(in.Handler), types.MaxNameBytes)
		}
	case *types.Deploy:
		if c.Tx.To != nil {
			return newInvalid(CodeMalformed, "C11", "a deploy has no address in to")
		}
	case *types.System:
		return c.decodeSystem(in)
	}
	return nil
}

func (c *Checked) errUndecodable(err error) *Invalid {
	var head struct {
		Kind string `cbor:"kind"`
	}
	if codec.UnmarshalPartial(c.Tx.Payload, types.MaxTransactionBytes, &head) == nil {
		switch head.Kind {
		case types.KindTransfer, types.KindDeploy, types.KindExecute, types.KindSystem, types.KindRunner,
			types.KindUpgrade, types.KindApply, types.KindTerms:
		default:
			return newInvalid(CodeUnknownKind, "C11", "%v", err)
		}
	}
	return newInvalid(CodeMalformed, "C11", "%v", err)
}

func (c *Checked) decodeSystem(in *types.System) *Invalid {
	if c.Tx.To != nil || !c.Tx.Value.IsZero() {
		return newInvalid(CodeMalformed, "CIP-1 §12", "a system instruction has no address in to and moves no value")
	}
	decoded, err := governance.Decode(in.Opcode, in.Args)
	if unknown := (*governance.UnknownOpcode)(nil); errors.As(err, &unknown) {
		return newInvalid(CodeUnknownOpcode, "CIP-1 §12", "%v", err)
	}
	if err != nil {
		return newInvalid(CodeMalformed, "CIP-1 §12", "%v", err)
	}
	c.lane, c.system = laneSystem, decoded
	if _, as := decoded.(*governance.Impersonate); as {
		c.lane = laneUser // it has the room of the transaction that it stands for
	}
	return nil
}

// intrinsicUse is what a transaction uses before anything runs: its cycles, and a
// cell for each byte of payload (CIP-3).
func (c *Checked) intrinsicUse(p *params.Params) (cycles types.Cycles, cells types.Cells) {
	cycles = p.CostTransaction
	if _, transfer := c.Instruction.(*types.Transfer); transfer || !c.Tx.Value.IsZero() {
		cycles += p.CostTransfer
	}
	if c.system != nil {
		cycles += c.system.Cycles(p)
	}
	if c.report != nil {
		cycles += c.report.Cycles(p)
	}
	return cycles, types.Cells(len(c.Tx.Payload))
}

// cyclesPerCodeByte is what each byte of code adds to the largest limit of the transaction that
// brings it: inspecting most sources takes less.
const cyclesPerCodeByte = 4

// largestLimit is the largest limit of cycles that a transaction may state. That of a user is
// an item: the dearest of that limit fits into the least share of a proposer.
//
// Spec: decision C18.
func (c *Checked) largestLimit(p *params.Params) types.Cycles {
	limit := c.lane.cycleLimit(p)
	if c.lane != laneUser {
		return limit
	}
	item := p.ItemCycles
	switch in := c.Instruction.(type) {
	case *types.Deploy:
		item = item.Add(types.Cycles(len(in.Code) * cyclesPerCodeByte))
	case *types.Upgrade:
		item = item.Add(types.Cycles(len(in.Code) * cyclesPerCodeByte))
	}
	if as, ok := c.system.(*governance.Impersonate); ok { // it brings what it stands for
		item = item.Add(types.Cycles(len(as.Payload) * cyclesPerCodeByte))
	}
	return min(limit, item)
}

// precheckFee reports whether the next transaction of a block may be c, and its
// payment then: limits at the price of the block, before it runs.
//
// Spec: CIP-3, decision C14.
func precheckFee(state actors.Reader, p *params.Params, fees BaseFees, c *Checked) (feemarket.Charge, *Invalid) {
	tx := c.Tx
	account := actors.AccountOf(state, c.Sender)
	if account == (actors.Account{}) {
		// Recovery finds a signer for nearly every signature, a stranger where
		// something else was signed.
		return feemarket.Charge{}, newInvalid(CodeBadSignature, "C10", "the signature recovers to %s, which has no account: "+
			"other bytes were signed, or the account was never funded", c.Sender)
	}
	if c.system != nil {
		if key := governance.Key(state); c.Sender != key || key.IsZero() {
			return feemarket.Charge{}, newInvalid(CodeNotSystem, "CIP-1 §12", "%s is not the system key", c.Sender)
		}
	}
	if tx.Nonce < account.Nonce {
		return feemarket.Charge{}, newInvalid(CodeNonceTooLow, "C10", "nonce %d was used; the next of %s is %d", tx.Nonce, c.Sender,
			account.Nonce)
	}
	if limit := c.largestLimit(p); tx.CyclesLimit > limit || tx.CellsLimit > p.CellsLimit {
		return feemarket.Charge{}, newInvalid(CodeLimitTooHigh, "CIP-3", "limits of %d cycles and %d cells, at most %d and %d",
			tx.CyclesLimit, tx.CellsLimit, limit, p.CellsLimit)
	}
	if cycles, cells := c.intrinsicUse(p); tx.CyclesLimit < cycles || tx.CellsLimit < cells {
		return feemarket.Charge{}, newInvalid(CodeLimitTooLow, "CIP-3", "limits of %d cycles and %d cells; the bare transaction takes %d and %d",
			tx.CyclesLimit, tx.CellsLimit, cycles, cells)
	}
	charge, refusal := chargeOf(tx, fees)
	if refusal != nil {
		return feemarket.Charge{}, refusal
	}
	if needed, ok := charge.Total.AddOk(tx.Value); !ok || account.Balance.Less(needed) {
		return feemarket.Charge{}, newInvalid(CodeInsufficientFunds, "C14", "%s holds %s wei; the limits and the value take %s", c.Sender,
			account.Balance, orMore(needed, ok))
	}
	if tx.Nonce > account.Nonce {
		return charge, newInvalid(CodeNonceTooHigh, "C10", "nonce %d; the next of %s is %d", tx.Nonce, c.Sender, account.Nonce)
	}
	return charge, nil
}

// chargeOf is what a transaction pays for its limits at a block's base fees.
func chargeOf(tx *types.Transaction, fees BaseFees) (feemarket.Charge, *Invalid) {
	tipCycle, okCycle := feemarket.Tip(tx.MaxFeePerCycle, tx.MaxPriorityFeePerCycle, fees.Cycle)
	tipCell, okCell := feemarket.Tip(tx.MaxFeePerCell, tx.MaxPriorityFeePerCell, fees.Cell)
	if !okCycle || !okCell {
		return feemarket.Charge{}, newInvalid(CodeFeeTooLow, "C14", "at most %s wei a cycle and %s a cell; the base fees are %s and %s",
			tx.MaxFeePerCycle, tx.MaxFeePerCell, fees.Cycle, fees.Cell)
	}
	price := feemarket.Price{BaseFeeCycle: fees.Cycle, BaseFeeCell: fees.Cell, TipCycle: tipCycle, TipCell: tipCell}
	charge, ok := feemarket.NewCharge(price, tx.CyclesLimit, tx.CellsLimit)
	if !ok {
		return feemarket.Charge{}, newInvalid(CodeInsufficientFunds, "C14", "the limits cost more than 2^256 wei")
	}
	return charge, nil
}

func orMore(w types.Wei, ok bool) string {
	if !ok {
		return "more than 2^256"
	}
	return w.String()
}

package ledger

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Call is a read-only call of a handler.
type Call struct {
	Actor   types.Address
	Sender  types.Address
	Handler string
	Payload []byte
	Cycles  types.Cycles // limit; 0: what a transaction may have at most
}

// ReadResult is how a read-only call ended.
type ReadResult struct {
	Outcome program.Outcome
	Cycles  types.Cycles
	Cells   types.Cells
	Logs    []actors.LogLine
}

// Read runs a handler on a state, refusing it every side effect. It sees the
// height and time of the state's block. What takes longer than its cycles say is
// late, as in a block. Its error is an *EnvironmentError.
//
// Spec: decision C18.
func (x *Executor) Read(state *State, call Call) (ReadResult, error) {
	r := x.openBlock(state, state.header, noPresence, program.ForRead)
	defer r.sessions.closeSession()
	r.sessions.strict = true
	r.shared.Params = state.params
	if most := min(state.params.ItemCycles, state.params.LaneUserCycles); call.Cycles == 0 || call.Cycles > most {
		call.Cycles = most
	}
	msg := program.Message{Kind: program.Read, Sender: call.Sender, Self: call.Actor, Handler: call.Handler, Payload: call.Payload}
	e, outcome, err := r.executeWithin(func() string { return "a read of " + call.Actor.String() }, actors.Cause{ReadOnly: true}, call.Cycles,
		state.params.CellsLimit,
		func(e *actors.Execution) (program.Outcome, error) { return e.Deliver(msg, types.Wei{}) })
	if err != nil {
		return ReadResult{}, err
	}
	cycles, cells := e.Used()
	return ReadResult{Outcome: outcome, Cycles: cycles, Cells: cells, Logs: e.Logs}, nil
}

// Simulate executes a transaction of sender as the next block would, and
// forgets it: a dry run. The transaction need not be signed, and its nonce, the
// balance for its limits and whether sender is the system key are not judged.
// What is late ends as in a block. Its error is an *Invalid, or an *EnvironmentError.
func (x *Executor) Simulate(state *State, sender types.Address, tx *types.Transaction) (*types.Receipt, []actors.LogLine, error) {
	c := &Checked{Tx: tx, Sender: sender, Hash: tx.Hash()}
	if tx.ChainID != state.next.ChainID {
		return nil, nil, newInvalid(CodeWrongChain, "C10", "the transaction is for chain %d, this is %d", tx.ChainID, state.next.ChainID)
	}
	if refusal := c.decodePayload(); refusal != nil {
		return nil, nil, refusal
	}
	if _, report := c.Instruction.(*types.Report); report {
		return nil, nil, newInvalid(CodeNotValidator, "J15", "only a validator sends a runner transaction: it cannot be tried for another sender")
	}
	if cycles, cells := c.intrinsicUse(state.next); tx.CyclesLimit < cycles || tx.CellsLimit < cells {
		return nil, nil, newInvalid(CodeLimitTooLow, "CIP-3", "limits of %d cycles and %d cells; the bare transaction takes %d and %d",
			tx.CyclesLimit, tx.CellsLimit, cycles, cells)
	}
	charge, refusal := chargeOf(tx, state.fees)
	if refusal != nil {
		return nil, nil, refusal
	}
	r := x.openBlock(state, headerOf(state, Proposal{Timestamp: state.header.Timestamp + 1}, noPresence), noPresence, program.ForRead)
	defer r.sessions.closeSession()
	r.sessions.strict = true
	e, to, outcome, err := r.executeTransaction(c)
	if err != nil {
		return nil, nil, err
	}
	cost, _ := charge.Settle(e.Used())
	r.recordReceipt(c.newReceipt(to, cost), e, outcome)
	return &r.receipts[0], e.Logs, nil
}

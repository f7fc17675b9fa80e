package model

import "github.com/cowboyinc/devnet/internal/base/types"

// Trace is what one execution did, call by call: of a transaction, a timer's fire or
// a delivered message that was executed again, or of a dry run.
type Trace struct {
	Receipt  Receipt       `json:"receipt"`
	Block    TraceBlock    `json:"block"`
	Fee      TraceFee      `json:"fee"`
	Call     *TraceCall    `json:"call" doc:"The first handler; null if no program ran."`
	Changes  []TraceChange `json:"changes" doc:"Changes of actors' state, in total, without those that were undone."`
	Sent     []TraceSent   `json:"sent" doc:"Messages for the next block, in their order."`
	Sources  []TraceSource `json:"sources" doc:"The code that ran, if requested; otherwise empty."`
	Steps    int           `json:"steps"`
	Cut      bool          `json:"cut" doc:"There was more than a trace holds: 20,000 steps, 4 MiB of values."`
	Text     []string      `json:"text" doc:"The same in lines of 80 columns, if requested; otherwise empty."`
	Replayed int           `json:"replayed" doc:"Blocks that were executed again to come to the state before this one."`
}

// TraceBlock is the part of the block that a program may read.
type TraceBlock struct {
	ChainID     uint64       `json:"chain_id"`
	Height      types.Height `json:"height"`
	TimestampMS types.Millis `json:"timestamp_ms"`
	TxHash      types.Hash   `json:"tx_hash" doc:"Value of context(): zero in a fire."`
}

// TraceFee is the fee of an execution, to the wei.
type TraceFee struct {
	Total   types.Wei `json:"total"`
	PerWhat string    `json:"prices" enum:"block,sent,none" doc:"Whose base fees these are: the block's, those of the block that sent a message, or of neither."`
	Cycle   types.Wei `json:"per_cycle" doc:"Burned for each cycle."`
	Cell    types.Wei `json:"per_cell" doc:"Burned for each cell."`
	Lane    types.Wei `json:"per_cycle_lane" doc:"Burned for each cycle in addition, for the timer lane."`
	Burned  Split     `json:"burned"`
	Tip     types.Wei `json:"tip" doc:"To the proposer, a payment of an auction included."`
	Prepaid types.Wei `json:"prepaid" doc:"For a message: the amount prepaid by its sender; the part above the total was refunded."`
}

// TraceCall is one handler, from its beginning to its end.
type TraceCall struct {
	Actor       types.Address `json:"actor"`
	Name        string        `json:"name" doc:"Name of the actor; empty if it has none."`
	Code        types.Hash    `json:"code_hash" doc:"Zero of a contract, whose code is the chain's own."`
	Kind        string        `json:"kind" enum:"init,call,timer,read" doc:"As context() has it."`
	Sender      types.Address `json:"sender"`
	Owner       types.Address `json:"owner"`
	Handler     string        `json:"handler"`
	Payload     types.Bytes   `json:"payload"`
	Value       types.Wei     `json:"value" doc:"Value in wei that the caller sent with the message, as in context()."`
	CyclesLimit types.Cycles  `json:"cycles_limit" doc:"With which it began."`
	Cycles      types.Cycles  `json:"cycles" doc:"That it used, with all that it called."`
	Own         types.Cycles  `json:"own_cycles" doc:"Part of these that its code computed; the chain charged the others for its steps."`
	Cells       types.Cells   `json:"cells"`
	Status      string        `json:"status"`
	Error       *Fault        `json:"error"`
	Output      types.Bytes   `json:"output"`
	Failed      []TracePlace  `json:"failed_at" doc:"The lines on the way to what failed, innermost last."`
	Undone      bool          `json:"undone" doc:"Its effects were undone, since it or its caller failed."`
	Steps       []TraceStep   `json:"steps"`
	Typed       *Typed        `json:"typed,omitempty" doc:"Payload and output by the schema; absent without one."`
	Lines       []TraceLine   `json:"lines" doc:"Cost of each line, if a profile was requested; otherwise empty."`
}

// TracePlace is a line of an actor's code.
type TracePlace struct {
	Line     int    `json:"line" doc:"From 1."`
	Function string `json:"function"`
	Text     string `json:"text"`
}

// TraceLine is the cost of a line of an actor's code.
type TraceLine struct {
	Stack  string       `json:"stack" doc:"The functions around it, outermost first, with ; between them."`
	Line   int          `json:"line"`
	Hits   uint64       `json:"hits"`
	Cycles types.Cycles `json:"cycles"`
	Called types.Cycles `json:"called_cycles" doc:"Part of these for calls of other actors, their costs included."`
}

// TraceStep is one request of a handler to the chain. Fields that say nothing about
// it are absent.
type TraceStep struct {
	What    string         `json:"what" doc:"By pvm_host's name: get_state, set_state, call_actor, print, …"`
	After   types.Cycles   `json:"after_cycles" doc:"That its code computed since the step before."`
	Cycles  types.Cycles   `json:"cycles" doc:"Charged by the chain for the step, calls included."`
	Cells   types.Cells    `json:"cells"`
	Key     *types.Bytes   `json:"key,omitempty"`
	Value   *types.Bytes   `json:"value,omitempty" doc:"Value read, written or answered; absent if the key has none."`
	Old     *types.Bytes   `json:"old,omitempty" doc:"Under the key before."`
	To      *types.Address `json:"to,omitempty" doc:"The account of a call, message, transfer or question."`
	Name    string         `json:"name,omitempty" doc:"Name of a handler, or of an event."`
	Payload *types.Bytes   `json:"payload,omitempty" doc:"Payload of a call, message, timer or event; the line of a print."`
	Height  *types.Height  `json:"height,omitempty" doc:"That a timer is due at, or expires at."`
	Amount  *types.Wei     `json:"amount,omitempty" doc:"In wei: moved, or of a balance."`
	Limit   *types.Cycles  `json:"limit,omitempty" doc:"Limit of cycles, for a call, message or timer."`
	ID      *types.Hash    `json:"id,omitempty" doc:"ID of a timer, job or message; the answer of keccak256 and randomness."`
	Error   *Fault         `json:"error,omitempty" doc:"Why it was refused."`
	Typed   *Typed         `json:"typed,omitempty" doc:"Key, values or payload by the schema; absent without one."`
	Call    *TraceCall     `json:"call,omitempty" doc:"What call_actor ran."`
}

// TraceChange is a key of an actor's state that an execution changed.
type TraceChange struct {
	Actor types.Address `json:"actor"`
	Name  string        `json:"name" doc:"Name of the actor; empty if it has none."`
	Key   types.Bytes   `json:"key"`
	Old   *types.Bytes  `json:"old" doc:"Null if it had none."`
	New   *types.Bytes  `json:"new" doc:"Null if it has none any more."`
	Typed *Typed        `json:"typed,omitempty" doc:"The same by the schema; absent without one."`
}

// TraceSent is a message for the next block.
type TraceSent struct {
	Hash    types.Hash    `json:"hash" doc:"Hash of the receipt of its delivery."`
	From    types.Address `json:"from"`
	To      types.Address `json:"to"`
	Handler string        `json:"handler"`
	Payload types.Bytes   `json:"payload"`
	Cycles  types.Cycles  `json:"cycles_limit"`
	Cells   types.Cells   `json:"cells_limit"`
	Prepaid types.Wei     `json:"prepaid" doc:"The unused part is refunded."`
	Typed   *Typed        `json:"typed,omitempty" doc:"The payload by the schema; absent without one."`
}

// TraceSource is code that ran.
type TraceSource struct {
	Code types.Hash `json:"code_hash"`
	Name string     `json:"name" doc:"Name of the actor; empty if it has none."`
	Text string     `json:"text"`
}

// Sent is the outcome of a transaction of the devnet's.
type Sent struct {
	Receipt
	Trace *Trace `json:"trace,omitempty" doc:"Trace of a dry run, if requested."`
}

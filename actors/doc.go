// Package actors connects the chain with the programs of its actors. It has
// accounts, actors' records, code and storage; the call stack; and the
// program.Context that a running handler calls.
//
// State is the writes of a block over the tree before it. Everything an
// execution does goes through it, so a snapshot and a revert undo all effects
// of a failed handler: storage, balances, sends, timers (decision C17).
//
// An Execution is one transaction, fire or delivery. It holds what is left of
// the limits, the stack of frames, the events and what happened to timers. A
// frame is one handler on the stack and implements program.Context.
//
// # Costs
//
// Cycles are the parameters cip3.cycles_*; cells are one per byte of the named
// data:
//
//	Get, Balance      cycles_storage_read
//	Set               cycles_storage_write    key and value
//	Delete            cycles_storage_write    key
//	Transfer          cycles_transfer
//	Emit              cycles_event            name and data (our own: events are part of receipts)
//	Send              cycles_message_send     handler and payload; the delivery's limits are paid in wei
//	Call              cycles_actor_call       handler and payload
//	returning         -                       the output, of each handler on the stack
//	ScheduleTimer     cycles_set_timer        payload and watched key; free_schedule_cycles where fires are free
//	CancelTimer       cycles_cancel_timer     free_cancel_cycles where fires are free
//	ExtendTimer       cycles_cancel_timer     the same
//	SubmitJob         a Call of 0x02          its handler and payload, and what submit takes
//	SetGasBidder      cycles_storage_write    -
//	Keccak            cycles_keccak_word      for each 32 bytes begun
//	Randomness        cycles_keccak_word      for each 32 bytes begun of R(H), actor and domain
//	Block, Message, Remaining, Log: nothing; the host charges the program's own steps
//
// A charge that does not fit takes what is left, ends the handler and cannot be
// caught by it. A call has the limit of cycles that its caller gives it, so its
// caller may continue when they are used up; cells are one pool for the whole
// stack. A failed call's effects are reverted; its used cycles and cells are not
// refunded.
//
// # Invariants
//
//   - No amount comes from nowhere: all but Mint moves wei between accounts and
//     the prepayments of messages.
//   - A handler with a status other than ok leaves no trace but its use and its
//     log.
//   - An error of the environment ends the whole Execution without a result; a
//     panic inside the chain's own code is a Bug and is never taken for a
//     program's.
//
// The scheduler schedules timers, through the interface Timers; fees, nonces and
// lanes belong to the ledger.
//
// Spec: CIP-3 and CIP-6 as in docs/DRAFTS.md, decisions C13, C16, C17.
package actors

// Package ledger is the state transition: Apply executes a block on the state of
// its parent and judges it, Build makes the block that Apply accepts, Admit judges
// a single transaction, Read and Simulate ask programs without a block.
//
// Both Apply and Build run the one list of phases in phases.go, which can be
// compared with CIP-1 §3. They share a run (run.go): the writes over the parent's
// state, the figures of the block, its receipts.
//
// # Limits of a block
//
// Each lane has a limit of cycles (lanes.go): a transaction reserves its limits
// before it runs, and after it ran its use is counted (CIP-3). All of them
// together, and all cells, stay within the block's limits, but for the bidders'
// lane: what gas bidding agents use, at most gba_cycles_per_block, counts in the
// block's cycles, so a full block may pass its limit by that much, and its base
// fee rises no further for it.
//
// # Money
//
// A transaction pays its limits at the price of its block before it runs and
// gets back what it did not use, also when it fails (decision C14). A fire does
// the same (CIP-1 §3 step 8), a call of a gas bidding agent too (decision T15); a
// message did so when it was sent (decision C16). Bids of an auction are in the
// escrow of timers until the timer ends. Base fees are burned and tips kept apart
// until the block is sealed, when the proposer gets them.
//
//	genesis + minted - burned = balances + prepaid messages     (decision C15)
//
// holds of every state; Audit checks it.
//
// # Errors
//
// *Invalid is the fault of the maker of the block or the transaction.
// *EnvironmentError is a fault of this node: the host of programs failed on one
// execution, or was late, so there is no result. A failing program is neither: it
// is a receipt's status. Anything else that goes wrong here is a bug and panics.
//
// Everything here is deterministic: the same parent and block give the same
// result on every node, and on every branch (decision C17). A State never
// changes and may be read from many goroutines; so may an Executor be used.
//
// Spec: CIP-1 §3, decisions C2, C3, C6 to C9, C12 to C17.
package ledger

// Package scheduler is the core of the timers: scheduling, cancelling and
// extending them, finding the due ones, and the lane that fires them in a
// block. It models CIP-5 §§1-8 under the policy fifo, with decisions T1-T6, T11,
// T18-T20, T22 and T27.
//
// The state of all timers is consensus state, reached through KV; nothing is
// kept between calls, so a block that ends up on no chain leaves no trace
// (CIP-5 §7, decision C17). Every key begins with t; numbers in keys are eight
// bytes, big-endian, so that the order of keys is the order of numbers:
//
//	t/r/<id>               record: what never changes about a timer
//	t/p/<id>               its payload, raw; absent where it is empty
//	t/d/<height><~rank><seq>  calendar entry: id and what examining needs
//	t/o/<actor><seq>       the actor's timers (CIP-5 §8's secondary index): id
//	t/a/<actor>            how many are pending, and the nonce of the next
//	t/s                    the chain-wide sequence number of the next timer
//
// Values are deterministic CBOR (decision C11) but for payloads and the ids
// that t/o holds. Each fact stands once: expires_at, the one thing that can
// change, is in the due entry, so that extending a timer rewrites some hundred
// bytes and never a payload. Deferring writes nothing at all: a timer past its
// height simply stays at the front of the due range, and the blocks it has
// waited are its height's distance, because a header may not skip a height at
// which anything is due (decision C8).
//
// The types: Calendar is the due range and the one place that knows how timers
// are kept by height (the ring and the epoch queue of CIP-1 §2 go there); Policy
// is what differs between the lane's policies; Lane is what the state
// transition lends RunLane, which has no money and no programs of its own.
//
// Always true, and checked by Check: a timer has a record exactly when it has a
// due entry and an owner entry; an actor's count is the number of its owner
// entries; no sequence number is used twice.
package scheduler

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/types"
)

// KV is the consensus state. Get and Scan lend slices that are read during the
// call only and never written; Set keeps key and value. Scan is not run
// across a Set.
type KV interface {
	// Get returns the value, or nil.
	Get(key []byte) []byte
	// Set stores value; nil deletes.
	Set(key, value []byte)
	// Scan calls each for the keys in [from, to) in order until it returns
	// false.
	Scan(from, to []byte, each func(key, value []byte) bool)
}

// Error is a refusal: the fault of whoever asked, and nothing has changed.
type Error struct {
	Code    string // one of the Code constants
	Section string // where the rule stands
	Message string // what is wrong and what would be right
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Code, e.Message, e.Section) }

// The codes of refusals, in the order Schedule looks for them.
const (
	CodeHeightNotFuture   = "timer_height_not_in_the_future"
	CodePayloadTooLarge   = "timer_payload_too_large"
	CodeHandlerTooLong    = "timer_handler_too_long"
	CodeFeePayerSystem    = "timer_fee_payer_in_system_band"
	CodeFeePayerForeign   = "timer_fee_payer_not_allowed"
	CodeGasLimitTooLow    = "timer_gas_limit_too_low"
	CodeGasLimitTooHigh   = "timer_gas_limit_too_high"
	CodeExpiresTooEarly   = "timer_expires_before_its_height"
	CodeExpiresTooLate    = "timer_expires_beyond_ttl"
	CodeTooManyTimers     = "timer_limit_reached"
	CodeUnknownTimer      = "timer_not_found"
	CodeNotOwner          = "timer_not_owned"
	CodeExpiresNotLater   = "timer_expires_not_later"
	CodePolicyUnsupported = "timer_policy_unknown"
	CodeBelowBaseFee      = "TimerRejectedBelowBasefee" // CIP-1 §6's own name
	CodeArgDeprecated     = "TimerArgDeprecated"        // CIP-1 §6's own name
	CodePriorityTier      = "timer_priority_tier_unknown"
	CodePriorityTwice     = "timer_priority_stated_twice"
	CodeWatchUnsupported  = "timer_watch_not_supported"
	CodeBidderNoActor     = "gas_bidder_not_an_actor"
)

func refuse(code, section, format string, args ...any) *Error {
	return &Error{Code: code, Section: section, Message: fmt.Sprintf(format, args...)}
}

// Reasons of deferrals and ends, as TimerChange bears them.
const (
	ReasonLaneFull     = "lane_full"              // its limit does not fit into what the lane has left
	ReasonCellsFull    = "block_cells_full"       // max_cells_per_fire does not fit into what the block has left
	ReasonOverCap      = "over_cycle_cap"         // its limit is above the cap of CIP-1 §10, lowered since
	ReasonPricedOut    = "below_lane_basefee"     // its max fee does not reach the lane's base fee (decision T13)
	ReasonGCFull       = "gc_lane_full"           // it ends, but not in this block (decision T19)
	ReasonExtended     = "extended"               // not a deferral: the owner moved expires_at
	ReasonExtendedGov  = "extended_by_governance" // the system key did
	ReasonExpired      = "expired"                // current_height > expires_at (decision T6)
	ReasonInsufficient = "insufficient_funds"     // the payer cannot hold max_cost
	ReasonByOwner      = "cancelled_by_owner"
	ReasonByGovernance = "cancelled_by_governance"
)

// DefaultHandler is called where a timer names none (CIP-5 §4.2).
const DefaultHandler = "handle_timer"

// Deferrals is how many blocks a timer was due in without ending, once the
// block at last is done: 0 until its height has passed.
func Deferrals(trigger, last types.Height) uint64 {
	if last < trigger {
		return 0
	}
	return uint64(last-trigger) + 1
}

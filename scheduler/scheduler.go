// Package scheduler is the core of the timers: scheduling, cancelling and
// extending them, finding the due ones, and the lane that fires them in a block.
// It models CIP-5 §§1-8 (policy fifo), CIP-1 (eip1559), CIP-1's first revision
// (gba) and CIP-5 §9 (bias-vcg, bias-first-price), with decisions T1-T31.
//
// The state of all timers is consensus state, reached through KV; nothing is
// kept between calls, so a block that ends up on no chain leaves no trace
// (CIP-5 §7, decision C17). Every key begins with t; numbers in keys are eight
// bytes, big-endian, so that the order of keys is the order of numbers:
//
//	t/r/<id>               record: where the timer stands, and what examining it does not need
//	t/p/<id>               its payload, raw; absent where it is empty
//	t/q t/e t/f t/c t/m    the tiers of the calendar: entries, what examining needs (package calendar)
//	t/o/<actor><seq>       the actor's timers (CIP-5 §8's secondary index): id
//	t/a/<actor>            how many are pending, and the nonce of the next
//	t/s                    the chain-wide sequence number of the next timer
//	t/g/<actor>            who prices the actor's timers (CIP-1 §7)
//	t/l                    eip1559: its activation, and the median tips of the last two blocks
//	t/w t/u t/v            eip1559: the fairness window (CIP-1 §8)
//	t/b t/i                what the policies gba and bias keep
//	t/k t/x t/y t/z        timers that watch a key of state
//	t/n/<id> t/h/<bidder>  timers and agents over which hosts failed, and whose (decision C18)
//	t/d/<id>               the last answer of a timer's agent, where that priced it out (decision T15)
//	t/j/<transaction>      what is left of the sponsor that its signer stated (decision T28)
//
// Values are deterministic CBOR (decision C11) but for payloads, ids, addresses
// and digests. Each fact is stored once. expires_at, the only field that an owner
// can change, is in the entry, so that extending a timer rewrites some hundred
// bytes and never a payload. Deferring moves an entry once, when the ring is swept,
// and then writes nothing: the blocks a timer has waited are its height's distance,
// because a header may not skip a height at which anything is due (decision C8).
//
// The types: InBlock is a block in the making, with the operations on timers in one.
// Calendar is the only code that knows how timers are stored by height. policy holds
// the differences between the lane's policies. LaneHost lends RunLane parts of the
// state transition: RunLane has neither money nor programs itself.
//
// Always true, and checked by Check: a timer has a record exactly when it has an
// entry and an owner entry. An actor's count is the number of its owner entries. No
// sequence number is used twice. The fairness window's sums equal the sums over its
// blocks. A watcher is a pending timer that waits for its key. Failures of hosts
// are stored only for pending timers. An allowance has pending timers, and its
// signer signed for the sum of its rest and the amounts locked in their bids.
package scheduler

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/calendar"
)

// KV is the consensus state.
type KV = calendar.KV

// Error is a refusal: the caller's fault, and nothing has changed.
type Error struct {
	Code    string // one of the Code constants
	Section string // section of the rule
	Message string // what is wrong and what would be right
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Code, e.Message, e.Section) }

// The codes of refusals: those of scheduling in the order Schedule looks for
// them, then those of cancelling and extending, and those of others.
const (
	CodeHeightNotFuture  = "timer_height_not_in_the_future"
	CodePayloadTooLarge  = "timer_payload_too_large"
	CodeHandlerTooLong   = "timer_handler_too_long"
	CodeFeePayerSystem   = "timer_fee_payer_in_system_band"
	CodeFeePayerForeign  = "timer_fee_payer_not_allowed"
	CodeNoSponsor        = "no_sponsor"
	CodeGasLimitTooLow   = "timer_gas_limit_too_low"
	CodeGasLimitTooHigh  = "timer_gas_limit_too_high"
	CodeExpiresTooEarly  = "timer_expires_before_its_height"
	CodeExpiresTooLate   = "timer_expires_beyond_ttl" // of extending, too
	CodeWatchUnsupported = "timer_watch_not_supported"
	CodePriorityTier     = "timer_priority_tier_unknown"
	CodePriorityTwice    = "timer_priority_stated_twice"
	CodeBelowBaseFee     = "TimerRejectedBelowBasefee" // CIP-1 §6's own name
	CodeTooManyTimers    = "timer_limit_reached"
	CodeArgDeprecated    = "TimerArgDeprecated" // CIP-1 §6's own name
	CodeBidNotCovered    = "timer_bid_not_covered"

	CodeUnknownTimer    = "timer_not_found"
	CodeNotOwner        = "timer_not_owned"
	CodeExpiresNotLater = "timer_expires_not_later"

	CodePolicyUnsupported = "timer_policy_unknown"
	CodeBidderNoActor     = "gas_bidder_not_an_actor"
)

func newError(code, section, format string, args ...any) *Error {
	return &Error{Code: code, Section: section, Message: fmt.Sprintf(format, args...)}
}

// Reasons of deferrals, of other changes and of ends, in TimerChange.
const (
	ReasonLaneFull      = "lane_full"           // its limit does not fit into the rest of the lane
	ReasonCellsFull     = "block_cells_full"    // max_cells_per_fire does not fit into the rest of the block
	ReasonOverCap       = "over_cycle_cap"      // its limit is above the cap of CIP-1 §10, lowered since
	ReasonPricedOut     = "below_lane_basefee"  // its max fee does not reach the lane's base fee (decision T13)
	ReasonBelowCycleFee = "below_basefee_cycle" // gba: its max fee does not reach the base fee of a cycle (decision T23)
	ReasonBlockFires    = "block_fires"         // bias: the block has its max_fires_per_block (decision T24)
	ReasonBelowReserve  = "below_reserve"       // bias: its bid is below a reserve price that holds (decision T24)
	ReasonActorFires    = "actor_fires"         // bias: the actor has its max_fires_per_actor (decision T24)
	ReasonGCFull        = "gc_lane_full"        // it ends, but not in this block (decision T19)
	ReasonHostFailed    = "host_failed"         // the proposer's host failed on it, or on its bidder (decision C18)
	ReasonNotBegun      = "not_begun"           // the proposer's time was over before its turn (decision C18)

	ReasonExtended    = "extended"               // the owner moved expires_at
	ReasonExtendedGov = "extended_by_governance" // the system key did
	ReasonTriggered   = "triggered"              // the key changed that it watches (decision T26)

	ReasonExpired      = "expired"            // current_height > expires_at (decision T6)
	ReasonInsufficient = "insufficient_funds" // the payer cannot hold max_cost; under gba a deferral (decision T23)
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

package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The events of the timers, by the specs' names. Their data is a CBOR map with
// the specs' names as keys; they come from the governance actor, which keeps the
// protocol's parameters.
const (
	EventInsufficientFunds     = "TimerCancelledInsufficientFunds"
	EventExpired               = "TimerExpired"
	EventCancelledByGovernance = "timer.cancelled_by_governance"
	EventExtendedByGovernance  = "timer.extended_by_governance"
	EventConfigUpdated         = "timer_config.updated"
	EventBidIgnored            = "timer.bid_ignored"              // decision T22's warning, which no spec names
	EventGasBidFailed          = "timer.gas_bid_failed"           // decision T15's event, which no spec names
	EventReserveLow            = "timer.reserve_low"              // CIP-1 §13.1's reserve, whose warning no spec names
	EventPriorityClamped       = "TimerPriorityClampedAtSchedule" // CIP-1 §6
	EventHostFailed            = "timer.host_failed"              // decision C18's end, which no spec names
	EventBiasRate              = "timer.bias_lambda_moved"        // decision T24's λ moved, as from the next block, which no spec names
)

func newEvent(name string, data any) types.Event {
	return types.Event{Actor: types.GovernanceAddress, Name: name, Data: codec.Marshal(data)}
}

// InsufficientFunds is the data of EventInsufficientFunds, in wei.
type InsufficientFunds struct {
	TimerID   types.TimerID `cbor:"timer_id"`
	FeePayer  types.Address `cbor:"fee_payer"`
	Required  types.Wei     `cbor:"required"`
	Available types.Wei     `cbor:"available"`
}

// Expired is the data of EventExpired.
type Expired struct {
	TimerID       types.TimerID `cbor:"timer_id"`
	ExpiresAt     types.Height  `cbor:"expires_at"`
	CurrentHeight types.Height  `cbor:"current_height"`
}

// CancelledByGovernance is the data of EventCancelledByGovernance.
type CancelledByGovernance struct {
	TimerID types.TimerID `cbor:"timer_id"`
}

// ExtendedByGovernance is the data of EventExtendedByGovernance.
type ExtendedByGovernance struct {
	TimerID      types.TimerID `cbor:"timer_id"`
	NewExpiresAt types.Height  `cbor:"new_expires_at"`
}

// BidIgnored is the data of EventBidIgnored, in wei.
type BidIgnored struct {
	TimerID types.TimerID `cbor:"timer_id"`
	Bid     types.Wei     `cbor:"bid"`
}

// PriorityClamped is the data of EventPriorityClamped, in wei a cycle.
type PriorityClamped struct {
	TimerID types.TimerID `cbor:"timer_id"`
	Stated  types.Wei     `cbor:"stated"`
	Clamped types.Wei     `cbor:"clamped"`
}

// ReserveLow is the data of EventReserveLow: an actor's balance and what its
// pending timers would need, each the max_cost of the one just scheduled, in wei.
type ReserveLow struct {
	Actor    types.Address `cbor:"actor"`
	Pending  uint64        `cbor:"pending"`
	Required types.Wei     `cbor:"required"`
	Balance  types.Wei     `cbor:"balance"`
}

// GasBidFailed is the data of EventGasBidFailed. Reason is the code of the call's
// fault, or malformed_answer.
type GasBidFailed struct {
	Bidder             types.Address `cbor:"bidder"`
	Actor              types.Address `cbor:"actor"`
	TriggerBlockHeight types.Height  `cbor:"trigger_block_height"`
	Reason             string        `cbor:"reason"`
}

// HostFailed is the data of EventHostFailed: the validators whose hosts failed on
// the timer, by address.
type HostFailed struct {
	TimerID    types.TimerID   `cbor:"timer_id"`
	Validators []types.Address `cbor:"validators"`
}

// BiasRateMoved is the data of EventBiasRate: λ before and from now on, in units
// of 2^-64, and which moves were made.
type BiasRateMoved struct {
	Before types.Wei `cbor:"before"`
	Lambda types.Wei `cbor:"lambda"`
	Up     bool      `cbor:"up"`
	Down   bool      `cbor:"down"`
}

// TimerConfig is the data of EventConfigUpdated: the configuration from then on.
type TimerConfig struct {
	MaxTTLBlocks      uint64       `cbor:"max_ttl_blocks"`
	MaxCyclesPerFire  types.Cycles `cbor:"max_cycles_per_fire"`
	MaxCellsPerFire   types.Cells  `cbor:"max_cells_per_fire"`
	MaxTimersPerActor uint64       `cbor:"max_timers_per_actor"`
	GCCyclesPerBlock  types.Cycles `cbor:"gc_cycles_per_block"`
}

// ConfigOf returns the timer configuration in p.
func ConfigOf(p *params.Params) TimerConfig {
	return TimerConfig{MaxTTLBlocks: p.MaxTTLBlocks, MaxCyclesPerFire: p.MaxCyclesPerFire,
		MaxCellsPerFire: p.MaxCellsPerFire, MaxTimersPerActor: p.MaxTimers, GCCyclesPerBlock: p.GCCyclesPerBlock}
}

// ConfigUpdated is the event of a block whose timer configuration p differs from
// that of the block before (opcode 49, or the governance instruction).
func ConfigUpdated(p *params.Params) types.Event { return newEvent(EventConfigUpdated, ConfigOf(p)) }

func bidIgnoredEvent(id types.TimerID, bid types.Wei) types.Event {
	return newEvent(EventBidIgnored, BidIgnored{TimerID: id, Bid: bid})
}

func cancelledByGovernance(id types.TimerID) types.Event {
	return newEvent(EventCancelledByGovernance, CancelledByGovernance{TimerID: id})
}

func extendedByGovernance(id types.TimerID, expiresAt types.Height) types.Event {
	return newEvent(EventExtendedByGovernance, ExtendedByGovernance{TimerID: id, NewExpiresAt: expiresAt})
}

package scheduler

import (
	"encoding/binary"
	"math"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/convention"
)

// TimerID is the identity of a timer (CIP-5 §3.3). The nonce is the actor's own
// count of timers scheduled, the first being 0. payload is as it was given,
// before the payload convention is resolved.
//
// Deviation T1: the spec's nonce is the nonce of the transaction, which is the same
// for two timers of one transaction, and does not exist in a handler run by a
// timer.
//
// Vectors: fixtures/vectors/cip5/3.3-timer-id.json.
func TimerID(actor types.Address, height types.Height, payload []byte, nonce uint64) types.TimerID {
	var h, n [8]byte
	binary.BigEndian.PutUint64(h[:], uint64(height))
	binary.BigEndian.PutUint64(n[:], nonce)
	return types.Keccak(actor[:], h[:], payload, n[:])
}

// Schedule registers a timer of actor and returns it with the events that go
// with it. signed is the amount that the transaction's signer agreed to pay; the
// signer may be fee payer instead of the actor. It is nil if the transaction does
// not call the actor itself, and in a handler run by a timer (decision T18) or by a
// delivered message.
//
// A refusal is an *Error and the program's fault; nothing is written. The payload
// convention is resolved here (see Convention), so that firing parses nothing and a
// handler's name is judged when it is given.
//
// Spec: CIP-5 §§3, 4, CIP-1 §§6, 7.3, 10; decisions T1, T4, T5, T6, T14, T16,
// T18, T22, T27, T28. Vectors: fixtures/vectors/cip1/6-schedule.json.
func (b *InBlock) Schedule(actor types.Address, signed *types.Sponsorship, req program.TimerRequest) (types.Timer, []types.Event, error) {
	timer, err := b.resolveRequest(actor, signed, req)
	if err != nil {
		return types.Timer{}, nil, err
	}
	tip := timer.MaxPriorityFeePerCycle
	b.supplyDefault(&timer)
	if err := b.boundFees(&timer); err != nil {
		return types.Timer{}, nil, err
	}
	own := readTally(b.KV, actor)
	if own.Pending >= b.Params.MaxTimers {
		return types.Timer{}, nil, newError(CodeTooManyTimers, "CIP-5 §8, T5",
			"actor %s has %d timers pending, at most %d; cancel one or wait until one fires", actor, own.Pending, b.Params.MaxTimers)
	}
	timer.ID = TimerID(actor, req.Height, req.Payload, own.Nonce)
	events, err := b.takeBid(&timer, signed, req.Bid)
	if err != nil {
		return types.Timer{}, nil, err
	}
	timer.Seq = readSequence(b.KV)
	b.insertTimer(&timer, b.placeOf(&timer))
	b.addToAllowance(&timer, signed)
	writeTally(b.KV, actor, tally{Pending: own.Pending + 1, Nonce: own.Nonce + 1})
	next := timer.Seq + 1
	b.KV.Set(keySequence, codec.Marshal(next))
	events = append(events, priorityClampEvent(&timer, tip)...)
	return timer, append(events, b.reserveMaxCost(&timer, own.Pending+1)...), nil
}

// placeOf returns the place of a new timer in the calendar. Its rank is the tip it
// states, if tips count, at most the max fee that it states with it. A tip without
// a max fee has rank 0, as has a timer without a tip (decision T16).
func (b *InBlock) placeOf(t *types.Timer) Place {
	at := Place{Height: t.Height, Seq: t.Seq}
	if b.Params.Policy != EIP1559 || t.MaxPriorityFeePerCycle == nil || t.MaxFeePerCycle == nil {
		return at
	}
	rank, fits := t.MaxPriorityFeePerCycle.Min(*t.MaxFeePerCycle).Uint64()
	if !fits {
		rank = math.MaxUint64
	}
	at.Rank = rank
	return at
}

// Scheduled is the change that a scheduled timer is reported by.
func Scheduled(t types.Timer) types.TimerChange {
	return types.TimerChange{Kind: types.ChangeScheduled, Timer: t, Status: types.TimerPending, At: t.ScheduledAt}
}

// resolveRequest applies the defaults and judges everything but the actor's count.
func (b *InBlock) resolveRequest(actor types.Address, signed *types.Sponsorship, req program.TimerRequest) (types.Timer, error) {
	p, now := b.Params, b.Height
	t := types.Timer{
		Actor: actor, Height: req.Height, ScheduledAt: now, GBA: req.GBA,
		MaxFeePerCycle: req.MaxFeePerCycle, MaxPriorityFeePerCycle: req.MaxPriorityFeePerCycle,
	}
	if req.Height <= now {
		return t, newError(CodeHeightNotFuture, "CIP-5 §4.2", "height %d is not above the current height %d", req.Height, now)
	}
	if uint64(len(req.Payload)) > p.MaxTimerPayload {
		return t, newError(CodePayloadTooLarge, "CIP-5 §4.2", "the payload has %d bytes, at most %d", len(req.Payload), p.MaxTimerPayload)
	}
	if err := resolveHandler(p, &t, req); err != nil {
		return t, err
	}
	if err := resolveFeePayer(&t, signed, req.FeePayer); err != nil {
		return t, err
	}
	if err := resolveGasLimit(p, &t, req.GasLimit); err != nil {
		return t, err
	}
	if err := resolveExpiry(p, &t, now, req.ExpiresAt); err != nil {
		return t, err
	}
	if err := b.resolveWatch(&t, req.Watch); err != nil {
		return t, err
	}
	return t, b.resolveTier(&t, req.PriorityTier)
}

// resolveHandler settles which handler gets which bytes: the named one, otherwise
// the convention's, otherwise the default (CIP-5 §4.2).
func resolveHandler(p *params.Params, t *types.Timer, req program.TimerRequest) error {
	t.Handler, t.Payload = req.Handler, req.Payload
	if t.Handler == "" {
		t.Handler = DefaultHandler
		if handler, inner, ok := convention.Read(req.Payload); ok {
			t.Handler, t.Payload = handler, inner
		}
	}
	if uint64(len(t.Handler)) > p.MaxTimerHandler {
		return newError(CodeHandlerTooLong, "CIP-5 §4.2", "the handler's name has %d bytes, at most %d", len(t.Handler), p.MaxTimerHandler)
	}
	return nil
}

// resolveFeePayer settles the payer: the actor, or the signer of the transaction
// within the amount signed for. No other account, and no system address, may pay
// (decisions T2, T28).
func resolveFeePayer(t *types.Timer, signed *types.Sponsorship, stated *types.Address) error {
	t.FeePayer = t.Actor
	if stated != nil {
		t.FeePayer = *stated
	}
	if t.FeePayer.InSystemBand() {
		return newError(CodeFeePayerSystem, "CIP-5 §4.1", "fee_payer %s is an address of the system's own, which cannot pay", t.FeePayer)
	}
	switch {
	case t.FeePayer == t.Actor:
		return nil
	case signed == nil || t.FeePayer != signed.Signer:
		return newError(CodeFeePayerForeign, "CIP-1 §13, T2, T18, T28",
			"fee_payer %s is neither the actor %s nor the signer of a transaction that calls this actor itself", t.FeePayer, t.Actor)
	case signed.Most.IsZero():
		return newError(CodeNoSponsor, "T28",
			"fee_payer %s signed the transaction and no sponsor with it; state the most in wei that timers may cost its signer", t.FeePayer)
	}
	t.Sponsor = &signed.Transaction
	return nil
}

// resolveGasLimit settles the cycles of a fire, from min_gas_limit up to the cap: of
// CIP-1 §10 under eip1559, otherwise max_cycles_per_fire. If none are stated, the limit is
// the cap at the fire (decisions T5, T18).
func resolveGasLimit(p *params.Params, t *types.Timer, stated *types.Cycles) error {
	most := p.MaxCyclesPerFire
	if p.Policy == EIP1559 {
		most = min(most, p.MaxCyclesPerFireLane)
	}
	if stated == nil {
		t.GasLimit = types.DefaultGasLimit
		return nil
	}
	t.GasLimit = *stated
	if t.GasLimit < p.MinGasLimit {
		return newError(CodeGasLimitTooLow, "T18", "gas_limit is %d cycles, at least %d", t.GasLimit, p.MinGasLimit)
	}
	if t.GasLimit > most {
		return newError(CodeGasLimitTooHigh, "CIP-5 §6.2, CIP-1 §10, T18", "gas_limit is %d cycles, at most %d", t.GasLimit, most)
	}
	return nil
}

// resolveExpiry settles the last height at which the timer may fire: the TTL
// from now unless less is stated, and no less than its own height (decision T6).
func resolveExpiry(p *params.Params, t *types.Timer, now types.Height, stated *types.Height) error {
	latest := latestExpiry(p, now)
	t.ExpiresAt = latest
	if stated != nil {
		t.ExpiresAt = *stated
	}
	if stated == nil && t.Height > latest {
		return newError(CodeExpiresTooEarly, "T6", "height %d is more than max_ttl_blocks, %d, from now, and no timer lives longer; the latest "+
			"is %d",
			t.Height, p.MaxTTLBlocks, latest)
	}
	if t.ExpiresAt < t.Height {
		return newError(CodeExpiresTooEarly, "T6", "expires_at %d is below the timer's height %d; the latest is %d, max_ttl_blocks from now",
			t.ExpiresAt, t.Height, latest)
	}
	if t.ExpiresAt > latest {
		return newError(CodeExpiresTooLate, "T6", "expires_at %d is more than %d blocks from now; the latest is %d", t.ExpiresAt, p.MaxTTLBlocks,
			latest)
	}
	return nil
}

// latestExpiry returns now + max_ttl_blocks, at most the highest height.
func latestExpiry(p *params.Params, now types.Height) types.Height {
	if latest := now + types.Height(p.MaxTTLBlocks); latest >= now {
		return latest
	}
	return math.MaxUint64
}

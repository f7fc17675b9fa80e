package samples

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Storm is what storm's make is told, as JSON. Every timer of one order is
// alike.
type Storm struct {
	Count     uint64         `json:"count"`
	Height    types.Height   `json:"height"`               // or
	In        types.Height   `json:"in"`                   // blocks from now
	GasLimit  *types.Cycles  `json:"gas_limit,omitempty"`  // nil, here and below: not given
	MaxFee    *types.Wei     `json:"max_fee,omitempty"`    // per cycle
	Priority  *types.Wei     `json:"priority,omitempty"`   // per cycle
	Bid       *types.Wei     `json:"bid,omitempty"`        // of the auctions
	GBA       *types.Address `json:"gba,omitempty"`        // who prices it
	FeePayer  *types.Address `json:"fee_payer,omitempty"`  // of the first; the actor pays for timers that a fire schedules
	Watch     *types.Watch   `json:"watch,omitempty"`      // a key of an actor's state
	ExpiresIn *types.Height  `json:"expires_in,omitempty"` // blocks from the timers' height
	Handler   string         `json:"handler,omitempty"`    // of the fires; only handle_timer does what follows
	Use       uint64         `json:"use"`                  // cycles that each fire spends
	Again     types.Height   `json:"again"`                // a fire schedules the same again this number of blocks later; 0: never
}

var storm = Sample{
	"make": func(ctx program.Context, payload []byte) ([]byte, error) {
		order, err := readStorm(payload)
		if err != nil {
			return nil, err
		}
		for range order.Count {
			if err := order.scheduleStorm(ctx); err != nil {
				return nil, err
			}
		}
		return nil, nil
	},
	"handle_timer": func(ctx program.Context, payload []byte) ([]byte, error) {
		order, err := readStorm(payload)
		if err != nil {
			return nil, err
		}
		if err := ctx.Spend(types.Cycles(order.Use), 0); err != nil {
			return nil, err
		}
		if order.Again == 0 {
			return nil, nil
		}
		order.Height, order.In, order.FeePayer = 0, order.Again, nil
		return nil, order.scheduleStorm(ctx)
	},
	"set_gas_bidder": func(ctx program.Context, payload []byte) ([]byte, error) {
		if len(payload) != len(types.Address{}) {
			return nil, ctx.SetGasBidder(nil)
		}
		bidder := types.Address(payload)
		return nil, ctx.SetGasBidder(&bidder)
	},
}

func readStorm(payload []byte) (order Storm, err error) {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.DisallowUnknownFields() // a mistyped name would be a storm by mistake
	if err := decoder.Decode(&order); err != nil {
		return order, fmt.Errorf("the order of a storm is a JSON object, with amounts as strings: %w", err)
	}
	return order, nil
}

func (s Storm) scheduleStorm(ctx program.Context) error {
	height := s.Height
	if s.In > 0 {
		height = ctx.Block().Height + s.In
	}
	request := program.TimerRequest{Height: height, Handler: s.Handler, GasLimit: s.GasLimit, MaxFeePerCycle: s.MaxFee,
		MaxPriorityFeePerCycle: s.Priority, Bid: s.Bid, GBA: s.GBA, FeePayer: s.FeePayer, Watch: s.Watch}
	if s.ExpiresIn != nil {
		expires := height + *s.ExpiresIn
		request.ExpiresAt = &expires
	}
	s.Count = 1
	payload, err := json.Marshal(s)
	if err != nil {
		return err
	}
	request.Payload = payload
	_, err = ctx.ScheduleTimer(request)
	return err
}

// question is the part of a gas bidder's context that bidder reads (CIP-1 §7.2).
// The first revision's has no fee of the lane; its cycles cost the cycle base fee.
type question struct {
	Trigger  types.Height `cbor:"trigger_block_height"`
	Current  types.Height `cbor:"current_block_height"`
	CycleFee types.Wei    `cbor:"basefee_cycle"`
	LaneFee  types.Wei    `cbor:"basefee_lane_timer"`
}

// bid is what it answers (CIP-1 §7.1).
type bid struct {
	MaxFee   types.Wei `cbor:"max_fee_per_cycle"`
	Priority types.Wei `cbor:"max_priority_fee_per_cycle"`
}

var bidder = Sample{
	// step sets the tip that each block of lateness adds.
	"step": func(ctx program.Context, payload []byte) ([]byte, error) {
		return nil, ctx.Set([]byte("step"), payload)
	},
	"get_gas_bid": func(ctx program.Context, payload []byte) ([]byte, error) {
		var asked question
		if err := codec.UnmarshalPartial(payload, types.MaxTransactionBytes, &asked); err != nil {
			return nil, err
		}
		if err := ctx.Spend(100, 0); err != nil {
			return nil, err
		}
		step, _, err := ctx.Get([]byte("step"))
		if err != nil {
			return nil, err
		}
		tip := types.WeiOf(readNumber(step)).Mul(uint64(asked.Current - asked.Trigger + 1))
		fee := asked.CycleFee.Add(asked.LaneFee)
		return codec.Marshal(&bid{MaxFee: fee.Mul(4).Add(tip), Priority: tip}), nil
	},
}

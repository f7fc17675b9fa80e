package crowd

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/draw"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// programCode is the code of every member: a program in Go, which takes cheats.
const programCode = "go:crowd"

// permille is 1 in the units of shares.
const permille = 1000

// Order is one timer of a member. It travels in payloads, so that a member's program is a
// function of what the chain hands it.
type Order struct {
	In       uint64  // blocks from now until it is due, at least 1
	Patience *uint64 // how many blocks it may be late before it expires; nil: as long as the chain allows
	MaxFee   *uint64 // wei a cycle of the lane; nil: the protocol's default
	Tip      *uint64 // of MaxFee, to the proposer; nil: the protocol's default
	Bid      *uint64 // wei for the fire, in an auction
	Tier     string  // a hint in place of Tip; "": none
	Value    uint64  // what the fire is worth to the member if it is punctual, in wei
	// Least and Most are in how many blocks the same order comes again after its fire, each
	// number alike; 0: it does not.
	Least, Most uint64
	// Top is the largest value of orders that come again, each from 0 on alike; 0: they keep
	// Value. A new value is also stated, by BidPermille and FeePermille.
	Top         uint64
	BidPermille *uint64 // the share of a value that is bid; nil: Bid stays
	FeePermille *uint64 // the share of a value that is MaxFee; nil: MaxFee stays
	Until       *uint64 // the last height at which it comes again; nil: always. Before it is submitted, blocks from the next on
	// RaisePermille has the member's agent asked for the tip, which is by this share above the last median; nil: it is not asked.
	RaisePermille *uint64
	Count         uint64 // which of its kind it is
	Slot          uint64 // tells apart the orders of a member that run side by side
}

// drawValue states a new value.
func (o *Order) drawValue(v uint64) {
	o.Value = v
	if o.BidPermille != nil {
		bid := shareOf(v, *o.BidPermille)
		o.Bid = &bid
	}
	if o.FeePermille != nil {
		most := shareOf(v, *o.FeePermille)
		o.MaxFee = &most
	}
}

// shareOf is a share of a value, in thousandths.
func shareOf(value, share uint64) uint64 {
	return value/permille*share + value%permille*share/permille
}

// nextOrder is the order after a fire of o by a member, at a height; ok is false if there is none.
func (o Order) nextOrder(seed uint64, member types.Address, now types.Height) (next Order, ok bool) {
	if o.Most == 0 {
		return o, false
	}
	name := binary.BigEndian.AppendUint64(append([]byte("member "), member[:]...), o.Slot)
	name = binary.BigEndian.AppendUint64(name, o.Count)
	stream := draw.New(seed, string(name))
	o.Count++
	o.In = stream.Uniform(o.Least, o.Most)
	if o.Top > 0 {
		o.drawValue(stream.Uniform(0, o.Top))
	}
	return o, o.Until == nil || uint64(now)+o.In <= *o.Until
}

// timerRequest is the timer that an order asks for at a height.
func (o *Order) timerRequest(now types.Height) program.TimerRequest {
	r := program.TimerRequest{Height: now + types.Height(o.In), Payload: appendOrder(nil, o), MaxFeePerCycle: weiOf(o.MaxFee),
		MaxPriorityFeePerCycle: weiOf(o.Tip), Bid: weiOf(o.Bid), PriorityTier: o.Tier}
	if o.Patience != nil {
		expires := r.Height + types.Height(*o.Patience)
		r.ExpiresAt = &expires
	}
	return r
}

func weiOf(amount *uint64) *types.Wei {
	if amount == nil {
		return nil
	}
	w := types.WeiOf(*amount)
	return &w
}

// Host runs the program of members:
//
//	order(orders)      schedules them; its output is how many the chain refused
//	conduct(errands)   calls order of each member; its output is the same of all together
//	get_gas_bid        of members with agents: the tip of a timer of theirs
//	ignore(bytes)      does nothing; its payload takes cells
//	handle_timer       schedules the next of its kind, and spends the rest of the limit; its
//	                   output is the order's value
//
// So a fire takes as much of the lane as its limit.
type Host struct{ Seed uint64 }

// Open implements program.Host.
func (h Host) Open(program.Purpose) (program.Session, error) { return session{h.Seed}, nil }

type session struct{ seed uint64 }

// Bound implements program.Session.
func (session) Bound(program.Bounds) {}

// Close implements program.Session.
func (session) Close() {}

// Inspect implements program.Session.
func (session) Inspect(code program.Code) (program.Description, error) {
	handlers := []program.Handler{{Name: "conduct"}, {Name: "handle_timer"}, {Name: "ignore"}, {Name: "order"}}
	if hasAgent, _ := readCode(code.Source); hasAgent {
		handlers = slices.Insert(handlers, 1, program.Handler{Name: program.BidHandler})
	}
	return program.Description{Handlers: handlers}, nil
}

// Handle implements program.Session.
func (s session) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	if msg.Kind == program.Init {
		return program.Outcome{Status: types.StatusOK}, nil
	}
	_, limit := readCode(code.Source)
	output, err := s.runHandler(ctx, msg, limit)
	var fault *program.Fault
	switch {
	case err == nil:
		return program.Outcome{Status: types.StatusOK, Output: output}, nil
	case errors.As(err, &fault):
		return program.Outcome{Status: fault.Status, Fault: &types.Fault{Code: fault.Code, Message: fault.Message}}, nil
	}
	return program.Outcome{Status: types.StatusReverted, Fault: &types.Fault{Code: "raised", Message: err.Error()}}, nil
}

func (s session) runHandler(ctx program.Context, msg program.Message, limit *types.Cycles) ([]byte, error) {
	switch msg.Handler {
	case "order":
		orders, err := decodeOrders(msg.Payload)
		if err != nil {
			return nil, err
		}
		refused := uint64(0)
		for i := range orders {
			n, err := scheduleOrder(ctx, &orders[i], limit)
			if err != nil {
				return nil, err
			}
			refused += n
		}
		return binary.BigEndian.AppendUint64(nil, refused), nil
	case "conduct":
		return conductOrders(ctx, msg.Payload)
	case "ignore":
		return nil, nil
	case program.BidHandler:
		return answerQuestion(ctx, msg.Payload)
	case "handle_timer":
		return s.handleFire(ctx, msg, limit)
	}
	return nil, errors.New("a member of a crowd has no handler " + msg.Handler)
}

func conductOrders(ctx program.Context, payload []byte) ([]byte, error) {
	errands, err := decodeErrands(payload)
	if err != nil {
		return nil, err
	}
	refused := uint64(0)
	for i := range errands {
		output, err := ctx.Call(errands[i].Member, "order", appendOrders(nil, errands[i].Orders), 0)
		if err != nil {
			return nil, err
		}
		refused += binary.BigEndian.Uint64(output)
	}
	return binary.BigEndian.AppendUint64(nil, refused), nil
}

// scheduleOrder returns 1 for a timer that the chain refused.
func scheduleOrder(ctx program.Context, o *Order, limit *types.Cycles) (refused uint64, err error) {
	if o.RaisePermille != nil {
		if err := keepWorth(ctx, o); err != nil {
			return 0, err
		}
	}
	request := o.timerRequest(ctx.Block().Height)
	request.GasLimit = limit
	_, err = ctx.ScheduleTimer(request)
	var fault *program.Fault
	if errors.As(err, &fault) && !fault.Abort {
		return 1, nil
	}
	return 0, err
}

func (s session) handleFire(ctx program.Context, msg program.Message, limit *types.Cycles) ([]byte, error) {
	o, err := decodeOrder(msg.Payload)
	if err != nil {
		return nil, err
	}
	if next, ok := o.nextOrder(s.seed, msg.Self, ctx.Block().Height); ok {
		if _, err := scheduleOrder(ctx, &next, limit); err != nil {
			return nil, err
		}
	}
	cycles, _ := ctx.Remaining()
	return binary.BigEndian.AppendUint64(nil, o.Value), ctx.Spend(cycles, 0)
}

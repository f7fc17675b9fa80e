package samples

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

var counter = Sample{
	"increment": incrementCount,
	"get": func(ctx program.Context, _ []byte) ([]byte, error) {
		value, _, err := ctx.Get([]byte("n"))
		return value, err
	},
	"fail": func(ctx program.Context, _ []byte) ([]byte, error) {
		if _, err := incrementCount(ctx, nil); err != nil {
			return nil, err
		}
		if err := ctx.Emit("never", nil); err != nil {
			return nil, err
		}
		ctx.Log("about to fail")
		return nil, errors.New("failed on purpose")
	},
	"reset": func(ctx program.Context, _ []byte) ([]byte, error) { return nil, ctx.Delete([]byte("n")) },
}

// tens is new code for a counter: it counts in steps of ten. Its migrate multiplies the
// count by ten, or fails with the payload fail.
var tens = Sample{
	"increment": func(ctx program.Context, _ []byte) ([]byte, error) { return scaleCount(ctx, 1, 10) },
	"get":       counter["get"],
	"migrate": func(ctx program.Context, payload []byte) ([]byte, error) {
		if _, err := scaleCount(ctx, 10, 0); err != nil || string(payload) != "fail" {
			return nil, err
		}
		return nil, errors.New("failed on purpose")
	},
}

// scaleCount multiplies the count and adds to it.
func scaleCount(ctx program.Context, times, more uint64) ([]byte, error) {
	value, _, err := ctx.Get([]byte("n"))
	if err != nil {
		return nil, err
	}
	n := readNumber(value)*times + more
	return Number(n), ctx.Set([]byte("n"), Number(n))
}

func incrementCount(ctx program.Context, _ []byte) ([]byte, error) {
	n, err := addOne(ctx, "n")
	if err != nil {
		return nil, err
	}
	return Number(n), ctx.Emit("incremented", Number(n))
}

// addOne adds one to the number under a key and returns it.
func addOne(ctx program.Context, key string) (uint64, error) {
	value, _, err := ctx.Get([]byte(key))
	if err != nil {
		return 0, err
	}
	n := readNumber(value) + 1
	return n, ctx.Set([]byte(key), Number(n))
}

var heartbeat = Sample{
	"start": func(ctx program.Context, payload []byte) ([]byte, error) {
		if err := ctx.Set([]byte("interval"), payload); err != nil {
			return nil, err
		}
		return scheduleTick(ctx, readNumber(payload))
	},
	"handle_timer": func(ctx program.Context, _ []byte) ([]byte, error) {
		beats, err := addOne(ctx, "beats")
		if err != nil {
			return nil, err
		}
		interval, _, err := ctx.Get([]byte("interval"))
		if err != nil {
			return nil, err
		}
		if err := ctx.Emit("beat", Number(beats)); err != nil {
			return nil, err
		}
		_, err = scheduleTick(ctx, readNumber(interval))
		return nil, err
	},
	"stop": func(ctx program.Context, _ []byte) ([]byte, error) {
		id, _, err := ctx.Get([]byte("timer"))
		if err != nil || len(id) != len(types.TimerID{}) {
			return nil, errors.Join(err, errors.New("there is no timer to stop"))
		}
		return nil, ctx.CancelTimer(types.TimerID(id))
	},
	"extend": func(ctx program.Context, payload []byte) ([]byte, error) {
		id, _, err := ctx.Get([]byte("timer"))
		if err != nil || len(id) != len(types.TimerID{}) {
			return nil, errors.Join(err, errors.New("there is no timer to extend"))
		}
		return nil, ctx.ExtendTimer(types.TimerID(id), types.Height(readNumber(payload)))
	},
}

func scheduleTick(ctx program.Context, interval uint64) ([]byte, error) {
	id, err := ctx.ScheduleTimer(program.TimerRequest{Height: ctx.Block().Height + types.Height(interval)})
	if err != nil {
		return nil, err
	}
	return id[:], ctx.Set([]byte("timer"), id[:])
}

var spender = Sample{
	"spend": func(ctx program.Context, payload []byte) ([]byte, error) {
		return nil, ctx.Spend(types.Cycles(readNumber(payload)), 0)
	},
	"store": func(ctx program.Context, payload []byte) ([]byte, error) {
		return nil, ctx.Set([]byte("stored"), make([]byte, readNumber(payload)))
	},
	"fill": func(ctx program.Context, _ []byte) ([]byte, error) {
		for i := uint64(0); ; i++ {
			if err := ctx.Set(Number(i), Number(i)); err != nil {
				return nil, err
			}
		}
	},
	"panic": func(program.Context, []byte) ([]byte, error) { panic("on purpose") },
	"pay": func(ctx program.Context, payload []byte) ([]byte, error) {
		const address = len(types.Address{})
		if len(payload) != address+8 {
			return nil, errors.New("pay takes an address and eight bytes of wei")
		}
		return nil, ctx.Transfer(types.Address(payload[:address]), types.WeiOf(readNumber(payload[address:])))
	},
}

// Order is what relay is told to do.
type Order struct {
	_       struct{} `cbor:",toarray"`
	Target  types.Address
	Handler string
	Payload []byte
	Cycles  types.Cycles // limit of a call (0: all) or of a send's delivery
	Cells   types.Cells  // limit of a send's delivery
}

// Encode returns the payload for relay.
func (o *Order) Encode() []byte { return codec.Marshal(o) }

var relay = Sample{
	"call": func(ctx program.Context, payload []byte) ([]byte, error) {
		o, err := readOrder(payload)
		if err != nil {
			return nil, err
		}
		return ctx.Call(o.Target, o.Handler, o.Payload, o.Cycles)
	},
	"try": func(ctx program.Context, payload []byte) ([]byte, error) {
		o, err := readOrder(payload)
		if err != nil {
			return nil, err
		}
		output, err := ctx.Call(o.Target, o.Handler, o.Payload, o.Cycles)
		var fault *program.Fault
		if errors.As(err, &fault) {
			return []byte(fault.Code), nil
		}
		return output, err
	},
	"send": func(ctx program.Context, payload []byte) ([]byte, error) {
		o, err := readOrder(payload)
		if err != nil {
			return nil, err
		}
		return nil, ctx.Send(o.Target, o.Handler, o.Payload, o.Cycles, o.Cells)
	},
}

func readOrder(payload []byte) (*Order, error) {
	o := new(Order)
	return o, codec.Unmarshal(payload, types.MaxTransactionBytes, o)
}

package pyhost

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// arity is how many arguments each request has.
var arity = map[byte]int{
	opGet: 1, opBalance: 1, opCall: 4, opKeccak: 1, opRandomness: 1, opSchedule: 13, opCancel: 1, opExtend: 2, opTransfer: 2,
	opSend: 5, opFlush: 0, opBidder: 1,
}

// arguments reads a request's items; the first malformed one stays as err.
type arguments struct {
	op  operation
	err error
}

func (a *arguments) bad(i int) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: argument %d of request %d", errFrame, i, a.op.code)
	}
}

func (a *arguments) bytes(i int) []byte { return notNil(a.op.args[i]) }

func (a *arguments) address(i int) (to types.Address) {
	if len(a.op.args[i]) != len(to) {
		a.bad(i)
	}
	copy(to[:], a.op.args[i])
	return to
}

func (a *arguments) hash(i int) (h types.Hash) {
	if len(a.op.args[i]) != len(h) {
		a.bad(i)
	}
	copy(h[:], a.op.args[i])
	return h
}

func (a *arguments) u64(i int) uint64 {
	v, ok := u64(a.op.args[i])
	if !ok {
		a.bad(i)
	}
	return v
}

func (a *arguments) wei(i int) types.Wei {
	v, ok := wei(a.op.args[i])
	if !ok {
		a.bad(i)
	}
	return v
}

// optional returns nil for an item without value, else what read makes of it.
func optional[T any](a *arguments, i int, read func(int) T) *T {
	if a.op.args[i] == nil {
		return nil
	}
	v := read(i)
	return &v
}

// request performs what waits for an answer. found is false where the answer
// has no value.
func (c *conversation) request(op operation) (result []byte, found bool, err error) {
	if n, ok := arity[op.code]; !ok || n != len(op.args) {
		return nil, false, fmt.Errorf("%w: request %d with %d arguments", errFrame, op.code, len(op.args))
	}
	a := &arguments{op: op}
	perform := c.prepare(a)
	if a.err != nil {
		return nil, false, a.err
	}
	return perform()
}

// prepare reads all arguments and returns what is to be done with them.
func (c *conversation) prepare(a *arguments) func() ([]byte, bool, error) {
	switch a.op.code {
	case opGet:
		c.remember(a.bytes(0))
		return func() ([]byte, bool, error) { return c.ctx.Get(a.bytes(0)) }
	case opBalance:
		of := a.address(0)
		return func() ([]byte, bool, error) {
			balance, err := c.ctx.Balance(of)
			return balance.Big().Bytes(), true, err
		}
	case opCall:
		target, limit := a.address(0), types.Cycles(a.u64(3))
		return func() ([]byte, bool, error) {
			out, err := c.ctx.Call(target, text(a.bytes(1)), a.bytes(2), limit)
			return out, true, err
		}
	case opKeccak:
		return hashOf(c.ctx.Keccak, a.bytes(0))
	case opRandomness:
		return hashOf(c.ctx.Randomness, a.bytes(0))
	case opSchedule:
		request := timerRequest(a)
		return func() ([]byte, bool, error) {
			id, err := c.ctx.ScheduleTimer(request)
			return id[:], true, err
		}
	case opCancel:
		id := a.hash(0)
		return nothing(func() error { return c.ctx.CancelTimer(id) })
	case opBidder:
		bidder := optional(a, 0, a.address)
		return nothing(func() error { return c.ctx.SetGasBidder(bidder) })
	case opExtend:
		id, height := a.hash(0), types.Height(a.u64(1))
		return nothing(func() error { return c.ctx.ExtendTimer(id, height) })
	case opTransfer:
		to, amount := a.address(0), a.wei(1)
		return nothing(func() error { return c.ctx.Transfer(to, amount) })
	case opSend:
		target, cycles, cells := a.address(0), types.Cycles(a.u64(3)), types.Cells(a.u64(4))
		return nothing(func() error { return c.ctx.Send(target, text(a.bytes(1)), a.bytes(2), cycles, cells) })
	}
	return nothing(func() error { return nil }) // a flush
}

func hashOf(hash func([]byte) (types.Hash, error), data []byte) func() ([]byte, bool, error) {
	return func() ([]byte, bool, error) {
		h, err := hash(data)
		return h[:], true, err
	}
}

func nothing(do func() error) func() ([]byte, bool, error) {
	return func() ([]byte, bool, error) { return nil, false, do() }
}

func timerRequest(a *arguments) program.TimerRequest {
	r := program.TimerRequest{
		Height: types.Height(a.u64(0)), Payload: a.bytes(1), Handler: text(a.bytes(2)),
		FeePayer:               optional(a, 3, a.address),
		MaxFeePerCycle:         optional(a, 6, a.wei),
		MaxPriorityFeePerCycle: optional(a, 7, a.wei),
		Bid:                    optional(a, 8, a.wei),
		GBA:                    optional(a, 9, a.address),
		PriorityTier:           text(a.bytes(10)),
	}
	if actor := optional(a, 11, a.address); actor != nil {
		r.Watch = &types.Watch{Actor: *actor, Key: a.bytes(12)}
	}
	if limit := optional(a, 4, a.u64); limit != nil {
		r.GasLimit = (*types.Cycles)(limit)
	}
	if at := optional(a, 5, a.u64); at != nil {
		r.ExpiresAt = (*types.Height)(at)
	}
	return r
}

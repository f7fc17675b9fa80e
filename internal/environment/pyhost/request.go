package pyhost

import (
	"fmt"
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// arguments reads the fields of an operation; the first that is not of its kind
// stays as err.
type arguments struct {
	*record
	err error
}

func (a *arguments) fail(what string) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: %s: %s", errFrame, a.form.name, what)
	}
}

// field returns a field of the map, or an empty one if it is missing.
func (a *arguments) field(name string) field {
	for _, f := range a.fields {
		if f.name == name {
			return f
		}
	}
	return field{name: name}
}

func (a *arguments) data(name string) []byte {
	f := a.field(name)
	if f.bytes == nil || f.big {
		a.fail(name + " is no bytes")
	}
	return f.bytes
}

// fixed fills to with a field of its length.
func (a *arguments) fixed(name string, to []byte) {
	if data := a.data(name); copy(to, data) != len(to) || len(data) != len(to) {
		a.fail(fmt.Sprintf("%s is not of %d bytes", name, len(to)))
	}
}

func (a *arguments) address(name string) (to types.Address) {
	a.fixed(name, to[:])
	return to
}

func (a *arguments) hash(name string) (h types.Hash) {
	a.fixed(name, h[:])
	return h
}

func (a *arguments) number(name string) uint64 {
	f := a.field(name)
	if f.bytes != nil {
		a.fail(name + " is not a number below 2^64")
	}
	return f.number
}

func (a *arguments) wei(name string) types.Wei {
	f := a.field(name)
	whole := new(big.Int).SetUint64(f.number)
	if f.big {
		whole.SetBytes(f.bytes)
	}
	v, ok := types.WeiFromBig(whole)
	if !ok || f.bytes != nil && !f.big {
		a.fail(name + " is not a number below 2^256")
	}
	return v
}

// optional returns nil for a missing field, otherwise the value that read returns.
func optional[T any](a *arguments, name string, read func(string) T) *T {
	if a.count(name) == 0 {
		return nil
	}
	v := read(name)
	return &v
}

// request performs what waits for an answer. found is false where the answer
// has no value.
func (c *conversation) request(op *record) (result []byte, found bool, err error) {
	a := &arguments{record: op}
	perform := c.prepare(a)
	if a.err != nil {
		return nil, false, a.err
	}
	return perform()
}

// prepare reads all arguments and returns what is to be done with them.
func (c *conversation) prepare(a *arguments) func() ([]byte, bool, error) {
	switch a.form.name {
	case opGet:
		key := a.data("key")
		c.remember(key)
		return func() ([]byte, bool, error) { return c.ctx.Get(key) }
	case opBalance:
		of := a.address("address")
		return func() ([]byte, bool, error) {
			balance, err := c.ctx.Balance(of)
			return balance.Big().Bytes(), true, err
		}
	case opCall:
		target, method, payload, limit := a.address("target"), text(a.data("method")), a.data("payload"), types.Cycles(a.number("cycles_limit"))
		return func() ([]byte, bool, error) {
			out, err := c.ctx.Call(target, method, payload, limit)
			return out, true, err
		}
	case opKeccak:
		return hashOf(c.ctx.Keccak, a.data("data"))
	case opRandomness:
		return hashOf(c.ctx.Randomness, a.data("domain"))
	case opSchedule:
		request := timerRequest(a)
		return func() ([]byte, bool, error) {
			id, err := c.ctx.ScheduleTimer(request)
			return id[:], true, err
		}
	case opSubmit:
		return hashOf(c.ctx.SubmitJob, a.data("payload"))
	}
	return nothing(c.prepareChange(a))
}

// prepareChange does the same for operations that are answered without a value.
func (c *conversation) prepareChange(a *arguments) func() error {
	switch a.form.name {
	case opCancel:
		id := a.hash("timer_id")
		return func() error { return c.ctx.CancelTimer(id) }
	case opBidder:
		bidder := optional(a, "bidder", a.address)
		return func() error { return c.ctx.SetGasBidder(bidder) }
	case opExtend:
		id, height := a.hash("timer_id"), types.Height(a.number("new_expires_at"))
		return func() error { return c.ctx.ExtendTimer(id, height) }
	case opTransfer:
		to, amount := a.address("to"), a.wei("amount")
		return func() error { return c.ctx.Transfer(to, amount) }
	case opSend:
		target, handler, payload := a.address("target"), text(a.data("handler")), a.data("payload")
		cycles, cells := types.Cycles(a.number("cycles_limit")), types.Cells(a.number("cells_limit"))
		return func() error { return c.ctx.Send(target, handler, payload, cycles, cells) }
	case opFlush:
		return func() error { return nil }
	}
	a.fail("it waits for no answer")
	return nil
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
		Height: types.Height(a.number("height")), Payload: a.data("payload"), Handler: text(a.data("handler")),
		FeePayer:               optional(a, "fee_payer", a.address),
		MaxFeePerCycle:         optional(a, "max_fee_per_cycle", a.wei),
		MaxPriorityFeePerCycle: optional(a, "max_priority_fee_per_cycle", a.wei),
		Bid:                    optional(a, "bid", a.wei),
		GBA:                    optional(a, "gba", a.address),
	}
	if tier := optional(a, "priority_tier_hint", a.data); tier != nil {
		r.PriorityTier = text(*tier)
	}
	if actor := optional(a, "watched", a.address); actor != nil {
		r.Watch = &types.Watch{Actor: *actor, Key: a.data("key")}
	}
	if limit := optional(a, "gas_limit", a.number); limit != nil {
		r.GasLimit = (*types.Cycles)(limit)
	}
	if at := optional(a, "expires_at", a.number); at != nil {
		r.ExpiresAt = (*types.Height)(at)
	}
	return r
}

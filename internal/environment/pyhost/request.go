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

func (a *arguments) failWith(what string) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: %s: %s", errFrame, a.form.name, what)
	}
}

// fieldByName returns a field of the map, or an empty one if it is missing.
func (a *arguments) fieldByName(name string) field {
	for _, f := range a.fields {
		if f.name == name {
			return f
		}
	}
	return field{name: name}
}

func (a *arguments) dataOf(name string) []byte {
	f := a.fieldByName(name)
	if f.bytes == nil || f.big {
		a.failWith(name + " is no bytes")
	}
	return f.bytes
}

// readExact fills to with a field of its length.
func (a *arguments) readExact(name string, to []byte) {
	if data := a.dataOf(name); copy(to, data) != len(to) || len(data) != len(to) {
		a.failWith(fmt.Sprintf("%s is not of %d bytes", name, len(to)))
	}
}

func (a *arguments) addressOf(name string) (to types.Address) {
	a.readExact(name, to[:])
	return to
}

func (a *arguments) hashOf(name string) (h types.Hash) {
	a.readExact(name, h[:])
	return h
}

func (a *arguments) numberOf(name string) uint64 {
	f := a.fieldByName(name)
	if f.bytes != nil {
		a.failWith(name + " is not a number below 2^64")
	}
	return f.number
}

func (a *arguments) weiOf(name string) types.Wei {
	f := a.fieldByName(name)
	whole := new(big.Int).SetUint64(f.number)
	if f.big {
		whole.SetBytes(f.bytes)
	}
	v, ok := types.WeiFromBig(whole)
	if !ok || f.bytes != nil && !f.big {
		a.failWith(name + " is not a number below 2^256")
	}
	return v
}

// orNil returns nil for a missing field, otherwise the value that read returns.
func orNil[T any](a *arguments, name string, read func(string) T) *T {
	if a.countOf(name) == 0 {
		return nil
	}
	v := read(name)
	return &v
}

// performRequest performs what waits for an answer. found is false where the answer
// has no value.
func (c *conversation) performRequest(op *record) (result []byte, found bool, err error) {
	a := &arguments{record: op}
	perform := c.prepareRequest(a)
	if a.err != nil {
		return nil, false, a.err
	}
	return perform()
}

// prepareRequest reads all arguments and returns what is to be done with them.
func (c *conversation) prepareRequest(a *arguments) func() ([]byte, bool, error) {
	switch a.form.name {
	case opGet:
		key := a.dataOf("key")
		c.rememberKey(key)
		return func() ([]byte, bool, error) { return c.ctx.Get(key) }
	case opBalance:
		of := a.addressOf("address")
		return func() ([]byte, bool, error) {
			balance, err := c.ctx.Balance(of)
			return balance.Big().Bytes(), true, err
		}
	case opCall:
		target, method, payload, limit := a.addressOf("target"), validText(a.dataOf("method")), a.dataOf("payload"),
			types.Cycles(a.numberOf("cycles_limit"))
		return func() ([]byte, bool, error) {
			out, err := c.ctx.Call(target, method, payload, limit)
			return out, true, err
		}
	case opKeccak:
		return hashOf(c.ctx.Keccak, a.dataOf("data"))
	case opRandomness:
		return hashOf(c.ctx.Randomness, a.dataOf("domain"))
	case opSchedule:
		request := timerRequest(a)
		return func() ([]byte, bool, error) {
			id, err := c.ctx.ScheduleTimer(request)
			return id[:], true, err
		}
	case opSubmit:
		return hashOf(c.ctx.SubmitJob, a.dataOf("payload"))
	}
	return withoutResult(c.prepareChange(a))
}

// prepareChange does the same for operations that are answered without a value.
func (c *conversation) prepareChange(a *arguments) func() error {
	switch a.form.name {
	case opCancel:
		id := a.hashOf("timer_id")
		return func() error { return c.ctx.CancelTimer(id) }
	case opBidder:
		bidder := orNil(a, "bidder", a.addressOf)
		return func() error { return c.ctx.SetGasBidder(bidder) }
	case opExtend:
		id, height := a.hashOf("timer_id"), types.Height(a.numberOf("new_expires_at"))
		return func() error { return c.ctx.ExtendTimer(id, height) }
	case opTransfer:
		to, amount := a.addressOf("to"), a.weiOf("amount")
		return func() error { return c.ctx.Transfer(to, amount) }
	case opSend:
		target, handler, payload := a.addressOf("target"), validText(a.dataOf("handler")), a.dataOf("payload")
		cycles, cells := types.Cycles(a.numberOf("cycles_limit")), types.Cells(a.numberOf("cells_limit"))
		return func() error { return c.ctx.Send(target, handler, payload, cycles, cells) }
	case opFlush:
		return func() error { return nil }
	}
	a.failWith("it waits for no answer")
	return nil
}

func hashOf(hash func([]byte) (types.Hash, error), data []byte) func() ([]byte, bool, error) {
	return func() ([]byte, bool, error) {
		h, err := hash(data)
		return h[:], true, err
	}
}

func withoutResult(do func() error) func() ([]byte, bool, error) {
	return func() ([]byte, bool, error) { return nil, false, do() }
}

func timerRequest(a *arguments) program.TimerRequest {
	r := program.TimerRequest{
		Height: types.Height(a.numberOf("height")), Payload: a.dataOf("payload"), Handler: validText(a.dataOf("handler")),
		FeePayer:               orNil(a, "fee_payer", a.addressOf),
		MaxFeePerCycle:         orNil(a, "max_fee_per_cycle", a.weiOf),
		MaxPriorityFeePerCycle: orNil(a, "max_priority_fee_per_cycle", a.weiOf),
		Bid:                    orNil(a, "bid", a.weiOf),
		GBA:                    orNil(a, "gba", a.addressOf),
	}
	if tier := orNil(a, "priority_tier_hint", a.dataOf); tier != nil {
		r.PriorityTier = validText(*tier)
	}
	if actor := orNil(a, "watched", a.addressOf); actor != nil {
		r.Watch = &types.Watch{Actor: *actor, Key: a.dataOf("key")}
	}
	if limit := orNil(a, "gas_limit", a.numberOf); limit != nil {
		r.GasLimit = (*types.Cycles)(limit)
	}
	if at := orNil(a, "expires_at", a.numberOf); at != nil {
		r.ExpiresAt = (*types.Height)(at)
	}
	return r
}

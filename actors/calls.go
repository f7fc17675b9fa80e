package actors

import (
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Call implements program.Context. The callee has at most limit cycles, or all
// that remain where limit is 0 or more than that.
func (f *frame) Call(target types.Address, handler string, payload []byte, limit types.Cycles) ([]byte, error) {
	defer f.guardPanics()
	p := f.blockParams()
	if fault := f.chargeUse(p.CostActorCall, types.Cells(len(handler)+len(payload))); fault != nil {
		return nil, fault
	}
	if fault := checkName("a handler's name", handler); fault != nil {
		return nil, fault
	}
	if f.depth+1 >= p.CallDepth {
		return nil, newFault("call_depth", "calls nest at most %d deep", p.CallDepth)
	}
	for on := f; on != nil; on = on.parent {
		if on.msg.Self == target {
			return nil, newFault("reentrancy", "actor %s is already on the stack", target)
		}
	}
	purse := f.left
	if limit != 0 && limit < purse {
		purse = limit
	}
	f.left -= purse
	outcome := f.x.runHandler(f, f.newCallMessage(target, handler, payload), &purse)
	f.left += purse
	if f.x.environment != nil {
		return nil, f.chargeUse(0, 0)
	}
	if outcome.Status != types.StatusOK {
		told := outcome.Fault.Message
		if outcome.Told != nil {
			told = *outcome.Told
		}
		f.inner = &program.InnerFailure{Code: outcome.Fault.Code, Told: told,
			Shown: program.NamePlaces(f.x.nameOf(target), outcome.Fault.Message)}
		return nil, &program.Fault{Status: types.StatusReverted, Code: outcome.Fault.Code, Message: told}
	}
	return outcome.Output, nil
}

// newCallMessage is the message of a call: read-only under a read.
func (f *frame) newCallMessage(target types.Address, handler string, payload []byte) program.Message {
	kind := program.Call
	if f.x.cause.ReadOnly {
		kind = program.Read
	}
	return program.Message{Kind: kind, Sender: f.msg.Self, Self: target, Handler: handler, Payload: append([]byte{}, payload...)}
}

// Send implements program.Context. The actor prepays the limits of the delivery at
// the base fees of this block; both must fit into one block.
//
// Spec: decision C16.
func (f *frame) Send(target types.Address, handler string, payload []byte, cycles types.Cycles, cells types.Cells) error {
	defer f.guardPanics()
	p := f.blockParams()
	if fault := f.chargeWrite(p.CostSend, len(handler)+len(payload)); fault != nil {
		return fault
	}
	if fault := checkName("a handler's name", handler); fault != nil {
		return fault
	}
	if cycles == 0 || cycles > p.LaneSystemCycles || cells > p.CellsLimit {
		return newFault("bad_limit", "a delivery has 1 to %d cycles and at most %d cells", p.LaneSystemCycles, p.CellsLimit)
	}
	b := f.x.block
	m := &Message{SentAt: b.Height, Cause: f.x.cause.Hash, From: f.msg.Self, Payer: f.msg.Self, To: target, Handler: handler,
		Payload: append([]byte{}, payload...), Cycles: cycles, Cells: cells, PriceCycle: b.BaseFeeCycle, PriceCell: b.BaseFeeCell}
	cost, ok := m.prepaidCost()
	if !ok || !f.x.state.Debit(f.msg.Self, cost) {
		return newFault("insufficient_funds", "the actor cannot prepay a delivery of %d cycles and %d cells", cycles, cells)
	}
	f.x.state.Enqueue(m)
	return nil
}

// prepaidCost is Prepaid before it is paid; ok is false where it passes 2^256.
func (m *Message) prepaidCost() (types.Wei, bool) {
	forCycles, ok := m.PriceCycle.MulOk(uint64(m.Cycles))
	if !ok {
		return types.Wei{}, false
	}
	forCells, ok := m.PriceCell.MulOk(uint64(m.Cells))
	if !ok {
		return types.Wei{}, false
	}
	return forCycles.AddOk(forCells)
}

// ScheduleTimer implements program.Context. It costs a cell for every byte of keys
// and values that the timer keeps in state. The cells of its payload, its handler's
// name and its watched key are charged first. A refused timer thus pays for them
// too, and no payload is hashed for free.
//
// Spec: CIP-1 §6, CIP-5 §4 and §6.1, decisions T1 to T6, T29.
func (f *frame) ScheduleTimer(request program.TimerRequest) (types.TimerID, error) {
	defer f.guardPanics()
	p := f.blockParams()
	cycles := p.CostSetTimer
	if p.FreeFires() {
		cycles = p.FreeScheduleCycles
	}
	given := len(request.Payload) + len(request.Handler) + watchedBytes(request.Watch)
	if fault := f.chargeWrite(cycles, given); fault != nil {
		return types.TimerID{}, fault
	}
	if !utf8.ValidString(request.Handler) {
		return types.TimerID{}, newFault("bad_name", "a handler's name must be UTF-8")
	}
	request.Payload = append([]byte{}, request.Payload...)
	if w := request.Watch; w != nil { // its value is hashed (decision T26)
		value, _ := StorageOf(f.x.state, w.Actor, w.Key)
		if fault := f.chargeUse(p.CostStorageRead+f.wordCycles(len(value)), 0); fault != nil {
			return types.TimerID{}, fault
		}
	}
	effect, fault := f.x.block.Timers.Schedule(f.x.state, f.timerCaller(), request)
	return effect.ID, f.timerEffect(effect, fault, types.Cells(given))
}

// watchedBytes is the size that a watched key adds to a timer's state.
func watchedBytes(w *types.Watch) int {
	if w == nil {
		return 0
	}
	return len(w.Key)
}

// CancelTimer implements program.Context.
func (f *frame) CancelTimer(id types.TimerID) error {
	defer f.guardPanics()
	if fault := f.chargeWrite(f.cancelCycles(), 0); fault != nil {
		return fault
	}
	effect, fault := f.x.block.Timers.Cancel(f.x.state, f.timerCaller(), id)
	return f.timerEffect(effect, fault, 0)
}

// ExtendTimer implements program.Context. It costs a cell for every byte of keys
// and values that it writes (decision T29).
func (f *frame) ExtendTimer(id types.TimerID, expiresAt types.Height) error {
	defer f.guardPanics()
	if fault := f.chargeWrite(f.cancelCycles(), 0); fault != nil {
		return fault
	}
	effect, fault := f.x.block.Timers.Extend(f.x.state, f.timerCaller(), id, expiresAt)
	return f.timerEffect(effect, fault, 0)
}

// SubmitJob implements program.Context: a call of the dispatcher's submit, at the
// cost of one.
//
// Spec: CIP-2, decision J7.
func (f *frame) SubmitJob(spec []byte) (types.Hash, error) {
	output, err := f.Call(types.DispatcherAddress, "submit", spec, 0)
	if err != nil {
		return types.Hash{}, err
	}
	return types.Hash(output), nil
}

// SetGasBidder implements program.Context. It costs a write of state.
//
// Spec: CIP-1 §7, decision T14.
func (f *frame) SetGasBidder(bidder *types.Address) error {
	defer f.guardPanics()
	if fault := f.chargeWrite(f.blockParams().CostStorageWrite, 0); fault != nil {
		return fault
	}
	effect, fault := f.x.block.Timers.SetGasBidder(f.x.state, f.timerCaller(), bidder)
	return f.timerEffect(effect, fault, 0)
}

// cancelCycles is what cancelling and extending a timer cost (CIP-5 §6.1).
func (f *frame) cancelCycles() types.Cycles {
	if f.blockParams().FreeFires() {
		return f.blockParams().FreeCancelCycles
	}
	return f.blockParams().CostCancelTimer
}

// timerCaller lends the signer's word to the actor that the transaction calls
// itself. Code deeper in the stack was called by a program, and a program cannot
// consent in the signer's name (decision T28).
func (f *frame) timerCaller() TimerCaller {
	by := TimerCaller{Actor: f.msg.Self}
	if f.parent == nil {
		by.Sponsorship = f.x.cause.Sponsorship
	}
	return by
}

// timerEffect keeps what a call of Timers did, and charges what it wrote beyond
// the cells that were paid for already. Where those do not fit the handler ends,
// and with it what it did.
func (f *frame) timerEffect(effect TimerEffect, fault *program.Fault, paid types.Cells) error {
	if fault != nil {
		return fault
	}
	if spent := f.chargeUse(0, effect.Cells.Sub(paid)); spent != nil {
		return spent
	}
	f.x.Timers = append(f.x.Timers, effect.Changes...)
	f.x.Events = append(f.x.Events, effect.Events...)
	return nil
}

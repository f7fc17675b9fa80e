package actors

import (
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a trace. Items beyond them are left out, and Cut is set, since a trace
// is kept in memory.
const (
	MaxTraceSteps = 20_000
	MaxTraceBytes = 4 << 20 // of keys, values, payloads and outputs
)

// Recorder is a Deliverer that notes an execution's requests to the chain, call by
// call. It changes nothing: every method of the Context is the frame's own. An
// Executor that has none runs without any of this.
type Recorder struct {
	of    types.Hash // the receipt of the execution to note
	on    bool       // that execution runs
	trace Trace
	stack []*TracedCall
	bytes int
}

// Trace is the course of an execution: the calls of its first handler and all below it.
type Trace struct {
	Call  *TracedCall // nil if no program ran
	Steps int
	Cut   bool // there was more than the limits of a trace
}

// TracedCall is one handler on the stack, from its beginning to its end. A
// contract's call has no Code and no Steps, and all its cycles are its own.
type TracedCall struct {
	Message program.Message
	Code    program.Code
	Block   program.BlockInfo
	Limit   types.Cycles // that it began with
	Cycles  types.Cycles // that it used, calls within it included
	Own     types.Cycles // of these, the program's own steps
	Cells   types.Cells
	Steps   []TracedStep
	Outcome program.Outcome
	OutOf   *program.Fault // what it ran out of, if it did
	Uses    []program.Use  // of the lines of its code, where the host was asked for them
}

// TracedStep is one request of a handler to the chain, by the name that pvm_host
// has for it. Fields that say nothing about it are zero.
type TracedStep struct {
	Name    string
	After   types.Cycles // the program's own steps since the step before
	Cycles  types.Cycles // that the chain charged for it, what it called included
	Cells   types.Cells
	Key     []byte
	Value   []byte // read, written or answered
	Found   bool   // whether Value is one: a key without a value has none
	Old     []byte // under Key before it was written
	HadOld  bool
	To      types.Address
	Handler string
	Payload []byte
	Height  types.Height
	Wei     types.Wei
	Limit   types.Cycles
	Prepaid types.Cells // that a message may use
	ID      types.Hash
	Fault   *program.Fault
	Call    *TracedCall // what call_actor or submit_job ran
}

// NewRecorder returns a Recorder of the execution whose receipt has the hash.
func NewRecorder(of types.Hash) *Recorder { return &Recorder{of: of} }

// Begin names the execution that begins, or begins again. It drops the notes of an
// attempt that the environment ended.
func (r *Recorder) Begin(cause Cause) {
	r.on = cause.Hash == r.of && !cause.ReadOnly
	if r.on {
		r.trace, r.stack, r.bytes = Trace{}, nil, 0
	}
}

// Trace returns the recorded course.
func (r *Recorder) Trace() *Trace { return &r.trace }

// Probed is told what the message that ends took of its lines.
func (r *Recorder) Probed(p *program.Probed) {
	if r.on && len(r.stack) > 0 {
		r.stack[len(r.stack)-1].Uses = p.Uses
	}
}

// Run implements Deliverer.
func (r *Recorder) Run(session program.Session, ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	f, ok := ctx.(*frame)
	if !r.on || !ok || r.isFull() {
		return Direct{}.Run(session, ctx, code, msg)
	}
	call := &TracedCall{Message: msg, Code: code, Block: f.Block(), Limit: f.left}
	call.Message.Payload = r.keepValue(msg.Payload)
	if len(r.stack) == 0 {
		r.trace.Call = call
	} else if above := r.stack[len(r.stack)-1]; len(above.Steps) > 0 {
		above.Steps[len(above.Steps)-1].Call = call
	}
	r.stack = append(r.stack, call)
	cells := f.x.cellsLeft
	outcome, err := Direct{}.Run(session, &tracedFrame{frame: f, r: r, call: call}, code, msg)
	r.stack = r.stack[:len(r.stack)-1]
	call.Cycles, call.Cells, call.OutOf = call.Limit-f.left, cells-f.x.cellsLeft, f.dead
	if _, native := session.(Native); native {
		call.Own = call.Cycles
	}
	call.Outcome = outcome
	call.Outcome.Output = r.keepValue(outcome.Output)
	return outcome, err
}

// isFull reports whether no step more is noted, of a handler more either.
func (r *Recorder) isFull() bool {
	if r.trace.Steps < MaxTraceSteps {
		return false
	}
	r.trace.Cut = true
	return true
}

// keepValue returns the part of a value that the trace may hold, as a copy.
func (r *Recorder) keepValue(b []byte) []byte {
	if r.bytes+len(b) > MaxTraceBytes {
		r.trace.Cut = true
		return nil
	}
	r.bytes += len(b)
	return append([]byte{}, b...)
}

// tracedFrame is a frame whose use is noted.
type tracedFrame struct {
	*frame
	r     *Recorder
	call  *TracedCall
	after types.Cycles
}

// traceStep records do, a request to the chain, with its cost.
func (t *tracedFrame) traceStep(s TracedStep, do func(*TracedStep) error) error {
	r := t.r
	if r.isFull() {
		return do(&s)
	}
	r.trace.Steps++
	s.After, t.after = t.after, 0
	s.Key, s.Payload = r.keepValue(s.Key), r.keepValue(s.Payload)
	t.call.Steps = append(t.call.Steps, s)
	at := len(t.call.Steps) - 1
	cycles, cells := t.frame.left, t.frame.x.cellsLeft
	var done TracedStep
	err := do(&done)
	noted := &t.call.Steps[at]
	noted.Cycles, noted.Cells = cycles-t.frame.left, cells-t.frame.x.cellsLeft
	noted.ID, noted.Wei = done.ID, s.Wei.Add(done.Wei)
	if done.Found {
		noted.Value, noted.Found = r.keepValue(done.Value), true
	}
	if fault, ok := err.(*program.Fault); ok {
		noted.Fault = fault
	}
	return err
}

// Spend implements program.Context.
func (t *tracedFrame) Spend(cycles types.Cycles, cells types.Cells) error {
	before := t.frame.left
	err := t.frame.Spend(cycles, cells)
	t.call.Own += before - t.frame.left
	t.after += before - t.frame.left
	return err
}

// Get implements program.Context.
func (t *tracedFrame) Get(key []byte) (value []byte, found bool, err error) {
	err = t.traceStep(TracedStep{Name: "get_state", Key: key}, func(s *TracedStep) (err error) {
		value, found, err = t.frame.Get(key)
		s.Value, s.Found = value, found
		return err
	})
	return value, found, err
}

// Set implements program.Context.
func (t *tracedFrame) Set(key, value []byte) error {
	old, had := t.frame.Peek(key)
	return t.traceStep(TracedStep{Name: "set_state", Key: key, Old: t.r.keepValue(old), HadOld: had}, func(s *TracedStep) error {
		s.Value, s.Found = value, true
		return t.frame.Set(key, value)
	})
}

// Delete implements program.Context.
func (t *tracedFrame) Delete(key []byte) error {
	old, had := t.frame.Peek(key)
	return t.traceStep(TracedStep{Name: "delete_state", Key: key, Old: t.r.keepValue(old), HadOld: had}, func(*TracedStep) error {
		return t.frame.Delete(key)
	})
}

// Balance implements program.Context.
func (t *tracedFrame) Balance(of types.Address) (balance types.Wei, err error) {
	err = t.traceStep(TracedStep{Name: "get_balance", To: of}, func(s *TracedStep) (err error) {
		balance, err = t.frame.Balance(of)
		s.Wei = balance
		return err
	})
	return balance, err
}

// Transfer implements program.Context.
func (t *tracedFrame) Transfer(to types.Address, amount types.Wei) error {
	return t.traceStep(TracedStep{Name: "transfer", To: to, Wei: amount}, func(*TracedStep) error { return t.frame.Transfer(to, amount) })
}

// Emit implements program.Context.
func (t *tracedFrame) Emit(name string, data []byte) error {
	return t.traceStep(TracedStep{Name: "emit_event", Handler: name, Payload: data},
		func(*TracedStep) error { return t.frame.Emit(name, data) })
}

// Send implements program.Context.
func (t *tracedFrame) Send(target types.Address, handler string, payload []byte, cycles types.Cycles, cells types.Cells) error {
	s := TracedStep{Name: "send_message", To: target, Handler: handler, Payload: payload, Limit: cycles, Prepaid: cells}
	return t.traceStep(s, func(*TracedStep) error { return t.frame.Send(target, handler, payload, cycles, cells) })
}

// Call implements program.Context.
func (t *tracedFrame) Call(target types.Address, handler string, payload []byte, limit types.Cycles) (output []byte, err error) {
	s := TracedStep{Name: "call_actor", To: target, Handler: handler, Payload: payload, Limit: limit}
	err = t.traceStep(s, func(s *TracedStep) (err error) {
		output, err = t.frame.Call(target, handler, payload, limit)
		s.Value, s.Found = output, err == nil
		return err
	})
	return output, err
}

// ScheduleTimer implements program.Context.
func (t *tracedFrame) ScheduleTimer(request program.TimerRequest) (id types.TimerID, err error) {
	s := TracedStep{Name: "schedule_timer", Handler: request.Handler, Payload: request.Payload, Height: request.Height}
	if request.GasLimit != nil {
		s.Limit = *request.GasLimit
	}
	err = t.traceStep(s, func(s *TracedStep) (err error) {
		id, err = t.frame.ScheduleTimer(request)
		s.ID = id
		return err
	})
	return id, err
}

// CancelTimer implements program.Context.
func (t *tracedFrame) CancelTimer(id types.TimerID) error {
	return t.traceStep(TracedStep{Name: "cancel_timer"}, func(s *TracedStep) error {
		s.ID = id
		return t.frame.CancelTimer(id)
	})
}

// ExtendTimer implements program.Context.
func (t *tracedFrame) ExtendTimer(id types.TimerID, expiresAt types.Height) error {
	return t.traceStep(TracedStep{Name: "extend_timer", Height: expiresAt}, func(s *TracedStep) error {
		s.ID = id
		return t.frame.ExtendTimer(id, expiresAt)
	})
}

// SubmitJob implements program.Context.
func (t *tracedFrame) SubmitJob(spec []byte) (id types.Hash, err error) {
	err = t.traceStep(TracedStep{Name: "submit_job", To: types.DispatcherAddress, Payload: spec}, func(s *TracedStep) (err error) {
		id, err = t.frame.SubmitJob(spec)
		s.ID = id
		return err
	})
	return id, err
}

// SetGasBidder implements program.Context.
func (t *tracedFrame) SetGasBidder(bidder *types.Address) error {
	s := TracedStep{Name: "set_gas_bidder"}
	if bidder != nil {
		s.To = *bidder
	}
	return t.traceStep(s, func(*TracedStep) error { return t.frame.SetGasBidder(bidder) })
}

// Keccak implements program.Context.
func (t *tracedFrame) Keccak(data []byte) (h types.Hash, err error) {
	err = t.traceStep(TracedStep{Name: "keccak256", Payload: data}, func(s *TracedStep) (err error) {
		h, err = t.frame.Keccak(data)
		s.ID = h
		return err
	})
	return h, err
}

// Randomness implements program.Context.
func (t *tracedFrame) Randomness(domain []byte) (h types.Hash, err error) {
	err = t.traceStep(TracedStep{Name: "randomness", Payload: domain}, func(s *TracedStep) (err error) {
		h, err = t.frame.Randomness(domain)
		s.ID = h
		return err
	})
	return h, err
}

// Log implements program.Context.
func (t *tracedFrame) Log(line string) {
	_ = t.traceStep(TracedStep{Name: "print", Payload: []byte(line)}, func(*TracedStep) error {
		t.frame.Log(line)
		return nil
	})
}

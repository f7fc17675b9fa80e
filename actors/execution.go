package actors

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// BlockContext is the state that the executions of a block share.
type BlockContext struct {
	Params       *params.Params
	ChainID      uint64
	Height       types.Height
	Timestamp    types.Millis
	Randomness   types.Hash // R(Height) (decision C9)
	BaseFeeCycle types.Wei  // what sends are prepaid at
	BaseFeeCell  types.Wei
	Timers       Timers
	System       System // nil: the chain answers for no address
	Deliverer    Deliverer
	Sessions     Sessions
}

// Sessions opens the conversation with the programs' host when the first
// message needs one.
type Sessions interface {
	Session() (program.Session, error)
}

// Deliverer delivers one message to its actor: to a program, or to a contract, whose
// session is Native. A panic of a Go sample is a failed outcome (Panicked). A panic over
// any other message gives no outcome; an error comes from the environment.
//
// Spec: decision C21.
type Deliverer interface {
	Run(program.Session, program.Context, program.Code, program.Message) (program.Outcome, error)
}

// Timers is the scheduler as a running handler meets it. Its methods write only to
// the given state.
type Timers interface {
	Schedule(*State, TimerCaller, program.TimerRequest) (TimerEffect, *program.Fault)
	Cancel(*State, TimerCaller, types.TimerID) (TimerEffect, *program.Fault)
	Extend(*State, TimerCaller, types.TimerID, types.Height) (TimerEffect, *program.Fault)
	SetGasBidder(*State, TimerCaller, *types.Address) (TimerEffect, *program.Fault)
	// Pending lists an actor's timers in the order they were scheduled, at most limit.
	Pending(s *State, actor types.Address, limit int) []PendingTimer
	// Payload is that of a pending timer.
	Payload(*State, types.TimerID) []byte
}

// PendingTimer is a timer that waits, and the handler that it will run.
type PendingTimer struct {
	ID      types.TimerID
	Handler string
}

// System is the system actors, for whose addresses the chain itself answers. Its
// methods write only to the given state.
type System interface {
	Answers(types.Address) bool
	// Cost is the charge of a handler before it begins.
	Cost(program.Message) (types.Cycles, types.Cells)
	// Handle runs it. On a fault its writes are undone.
	Handle(*State, program.Message) (SystemEffect, *program.Fault)
}

// SystemEffect is the effect of a handler of a system actor.
type SystemEffect struct {
	Output []byte
	Events []types.Event
	Jobs   []types.JobChange
	Cycles types.Cycles // that it takes in addition to Cost
	Cells  types.Cells
}

// TimerCaller is the caller that schedules or ends a timer.
type TimerCaller struct {
	Actor types.Address
	// Sponsorship is what the signer of the transaction agreed to pay, who may
	// be named as fee payer: nil for every actor but the one that the transaction
	// calls itself, and in fires and deliveries (decisions T2, T18, T28).
	Sponsorship *types.Sponsorship
}

// TimerEffect is the effect of a call of Timers.
type TimerEffect struct {
	ID      types.TimerID
	Changes []types.TimerChange
	Events  []types.Event
	Cells   types.Cells // of the keys and values it wrote (decision T29)
}

// Cause is the item that an execution belongs to.
type Cause struct {
	Origin   types.Origin
	Hash     types.Hash // the hash of its receipt
	TxHash   types.Hash // what programs see: zero in a fire (CIP-5 §5.2)
	ReadOnly bool
	// Sponsorship comes from the transaction's signer; nil in fires and deliveries
	// (decision T28).
	Sponsorship *types.Sponsorship
}

// LogLine is one line that a program printed. It is part of no consensus.
type LogLine struct {
	Actor types.Address `json:"actor"`
	Cause types.Hash    `json:"cause"` // hash of the receipt it was printed under
	Line  string        `json:"line"`
}

// Limits of a log: what one execution may keep and how long a line may be. More
// is cut off, with a mark.
const (
	MaxLogLines = 256
	MaxLogBytes = 4096
)

// Execution is one transaction, fire, delivery or read. Its exported fields are
// read when it has ended.
type Execution struct {
	Events []types.Event
	Timers []types.TimerChange
	Jobs   []types.JobChange
	Logs   []LogLine

	block       *BlockContext
	state       *State
	cause       Cause
	cycles      types.Cycles // the limits
	cells       types.Cells
	cyclesLeft  types.Cycles // what no frame has been given
	cellsLeft   types.Cells
	top         *frame
	environment error // the host failed: there is no result
	bug         *Bug
}

// Bug is a panic of the chain's own code while a program was running. It propagates
// past every recovery that is meant for programs.
type Bug struct{ Value any }

func (b *Bug) Error() string { return fmt.Sprintf("the chain panicked: %v", b.Value) }

// Start returns an execution with the given limits.
func Start(block *BlockContext, state *State, cause Cause, cycles types.Cycles, cells types.Cells) *Execution {
	return &Execution{block: block, state: state, cause: cause,
		cycles: cycles, cells: cells, cyclesLeft: cycles, cellsLeft: cells}
}

// Used is the used part of the execution's limits.
func (x *Execution) Used() (types.Cycles, types.Cells) {
	return x.cycles - x.cyclesLeft, x.cells - x.cellsLeft
}

// Spend charges the transaction's own part, which runs in no handler. Where it does
// not fit, what is left is taken.
func (x *Execution) Spend(cycles types.Cycles, cells types.Cells) *program.Fault {
	if cycles > x.cyclesLeft {
		x.cyclesLeft = 0
		return outOfCycles(x.cycles)
	}
	x.cyclesLeft -= cycles
	if cells > x.cellsLeft {
		x.cellsLeft = 0
		return outOfCells()
	}
	x.cellsLeft -= cells
	return nil
}

// Deliver runs a handler with all that is left, and moves value to the actor
// before: both or neither. An error comes from the environment; the caller then
// reverts.
func (x *Execution) Deliver(msg program.Message, value types.Wei) (program.Outcome, error) {
	mark := x.setMark()
	if !value.IsZero() && x.isHandled(msg.Self) {
		return newFailedOutcome(types.StatusReverted, "no_value",
			"a system actor accepts no value: it takes the amounts that its payload states"), nil
	}
	if !x.state.Move(msg.Sender, msg.Self, value) {
		return newFailedOutcome(types.StatusReverted, "insufficient_funds",
			"the sender holds less than the value to move"), nil
	}
	msg.Value = value
	outcome := x.runHandler(nil, msg, &x.cyclesLeft)
	if x.environment != nil {
		return program.Outcome{}, x.environment
	}
	if outcome.Status != types.StatusOK {
		x.revertTo(mark)
	}
	return outcome, nil
}

// runHandler puts a handler on the stack with all cycles of a purse and takes it off
// again. Unused cycles stay in the purse.
func (x *Execution) runHandler(parent *frame, msg program.Message, purse *types.Cycles) program.Outcome {
	if x.isHandled(msg.Self) {
		return x.carryMessage(parent, msg, purse, nil, program.Code{})
	}
	record := ActorOf(x.state, msg.Self)
	if record == nil {
		return newFailedOutcome(types.StatusNoActor, "no_actor", fmt.Sprintf("there is no actor at %s", msg.Self))
	}
	if msg.Handler == initHandler && msg.Kind != program.Init {
		return newFailedOutcome(types.StatusNoHandler, "no_handler", "init runs once, at deploy")
	}
	if msg.Handler == program.MigrateHandler && msg.Kind != program.Migrate { // on a chain without upgrades as well
		return newFailedOutcome(types.StatusNoHandler, "no_handler", "migrate runs once, at an upgrade to its code")
	}
	msg.Owner = record.Owner
	session, err := x.block.Sessions.Session()
	if err != nil {
		x.environment = err
		return program.Outcome{}
	}
	code := program.Code{Hash: record.CodeHash, Source: CodeOf(x.state, record.CodeHash)}
	return x.carryMessage(parent, msg, purse, session, code)
}

// carryMessage lets the actor of a message handle it, on the stack: in a session with the
// host of programs, or by the chain's own code if the session is nil.
func (x *Execution) carryMessage(parent *frame, msg program.Message, purse *types.Cycles, session program.Session,
	code program.Code) program.Outcome {
	mark := x.setMark()
	f := x.pushFrame(parent, msg, *purse)
	native := session == nil
	if native {
		session = Native(f.handleSystem)
	}
	outcome, err := x.block.Deliverer.Run(session, f, code, msg)
	if x.bug != nil {
		panic(x.bug)
	}
	if err != nil && x.environment == nil {
		if x.environment = err; !native {
			x.environment = &ProgramError{code.Hash, msg.Handler, err}
		}
	}
	outcome = f.endHandler(outcome)
	x.top = parent
	*purse = f.left
	if outcome.Status != types.StatusOK {
		x.revertTo(mark)
	}
	return outcome
}

// nameOf is what places in an actor's code are told by: its name, or its address.
func (x *Execution) nameOf(a types.Address) string {
	if record := ActorOf(x.state, a); record != nil && program.MayName(record.Name) {
		return record.Name
	}
	return a.String()
}

// ProgramError is the environment's error over a handler of a code: the innermost that
// ran.
type ProgramError struct {
	Code    types.Hash
	Handler string
	Err     error
}

func (e *ProgramError) Error() string { return e.Err.Error() }

func (e *ProgramError) Unwrap() error { return e.Err }

// pushFrame puts a frame on the stack.
func (x *Execution) pushFrame(parent *frame, msg program.Message, purse types.Cycles) *frame {
	f := &frame{x: x, msg: msg, parent: parent, left: purse, limit: purse}
	if parent == nil {
		f.limit = x.cycles // the one that was signed, what was spent before the handler included
	} else {
		f.depth = parent.depth + 1
	}
	x.top = f
	return f
}

// mark is a point to revert to. Logs stay: they show why something failed.
type mark struct{ state, events, timers, jobs int }

func (x *Execution) setMark() mark {
	return mark{x.state.Snapshot(), len(x.Events), len(x.Timers), len(x.Jobs)}
}

func (x *Execution) revertTo(m mark) {
	x.state.Revert(m.state)
	x.Events = x.Events[:m.events]
	x.Timers = x.Timers[:m.timers]
	x.Jobs = x.Jobs[:m.jobs]
}

func (x *Execution) logLine(actor types.Address, line string) {
	switch {
	case len(x.Logs) >= MaxLogLines:
		return
	case len(x.Logs) == MaxLogLines-1:
		line = "… (the rest of the log was cut off)"
	}
	x.Logs = append(x.Logs, LogLine{Actor: actor, Cause: x.cause.Hash, Line: clipUTF8(line, MaxLogBytes)})
}

// Direct is the Deliverer that hands a message to the session and no more.
type Direct struct{}

// Run implements Deliverer.
func (Direct) Run(session program.Session, ctx program.Context, code program.Code,
	msg program.Message) (outcome program.Outcome, err error) {
	if _, native := session.(Native); native {
		return session.Handle(ctx, code, msg) // a panic is the chain's own
	}
	defer func() {
		if v := recover(); v != nil {
			if bug, ok := v.(*Bug); ok {
				panic(bug)
			}
			outcome, err = Panicked(code, v)
		}
	}()
	return session.Handle(ctx, code, msg)
}

// Panicked is the end of a message over which Go code panicked with a value. A Go sample
// is the program itself, so that its panic is a receipt. Any other code runs in its host,
// and what panicked is this machine's conversation with that.
//
// Spec: decision C21.
func Panicked(code program.Code, value any) (program.Outcome, error) {
	if bytes.HasPrefix(code.Source, []byte(SamplePrefix)) {
		return newFailedOutcome(types.StatusFailed, "panic", fmt.Sprintf("the program panicked: %v", value)), nil
	}
	return program.Outcome{}, &program.HostError{Failure: program.Crashed, During: "message",
		Err: fmt.Errorf("the conversation with the host panicked: %v", value)}
}

// guardPanics marks a panic inside a Context's method as the chain's own. Every such
// method defers it.
func (f *frame) guardPanics() {
	v := recover()
	if v == nil {
		return
	}
	if f.x.bug == nil {
		f.x.bug = &Bug{Value: v}
	}
	panic(f.x.bug)
}

func newFailedOutcome(status types.Status, code, message string) program.Outcome {
	return program.Outcome{Status: status, Fault: &types.Fault{Code: code, Message: clipUTF8(message, types.MaxFaultBytes)}}
}

// clipUTF8 returns s as valid UTF-8 of at most limit bytes.
func clipUTF8(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	const more = "…"
	return strings.ToValidUTF8(s[:limit-len(more)], "") + more
}

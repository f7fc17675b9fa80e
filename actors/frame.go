package actors

import (
	"fmt"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// initHandler is the handler of a deploy.
const initHandler = "init"

// keccakWord is the number of input bytes that one cycles_keccak_word pays for.
const keccakWord = 32

// frame is one handler on the stack: the chain as it sees it. It implements
// program.Context.
type frame struct {
	x      *Execution
	msg    program.Message
	parent *frame
	depth  uint64
	left   types.Cycles
	limit  types.Cycles          // what it began with
	dead   *program.Fault        // it ran out of something, and nothing it says counts any more
	inner  *program.InnerFailure // its last call of another actor that failed; nil: none
}

// endHandler settles the handler's end: running out of cycles or cells overrides the
// program's outcome, and a good end pays for its output.
func (f *frame) endHandler(outcome program.Outcome) program.Outcome {
	if f.dead == nil && outcome.Status == types.StatusOK {
		f.chargeUse(0, types.Cells(len(outcome.Output)))
	}
	if f.dead != nil {
		message := f.dead.Message
		if outcome.Where != "" {
			message = clipUTF8(outcome.Where, maxWhere) + ": " + message
		}
		ended := newFailedOutcome(f.dead.Status, f.dead.Code, message)
		ended.Told = &f.dead.Message // the place is that of this machine's Python
		return ended
	}
	switch outcome.Status {
	case types.StatusOK:
		return program.Outcome{Status: types.StatusOK, Output: outcome.Output}
	case types.StatusReverted, types.StatusOutOfCycles, types.StatusOutOfCells, types.StatusNoActor,
		types.StatusNoHandler, types.StatusFailed, types.StatusInvalidCode:
	default:
		return newFailedOutcome(types.StatusFailed, "bad_status", fmt.Sprintf("the host ended the handler with status %q", outcome.Status))
	}
	if outcome.Fault == nil {
		return newFailedOutcome(outcome.Status, string(outcome.Status), "")
	}
	ended := newFailedOutcome(outcome.Status, clipUTF8(outcome.Fault.Code, types.MaxNameBytes), f.shownMessage(outcome.Fault.Message))
	if outcome.Told != nil {
		ended.Told = new(clipUTF8(*outcome.Told, types.MaxFaultBytes))
	} else if f.inner != nil { // a caller reads no places of others
		ended.Told = new(clipUTF8(outcome.Fault.Message, types.MaxFaultBytes))
	}
	return ended
}

// shownMessage is the message of the handler's error for people. An error that came from the call
// of another actor has the places there too, each with its actor. Where messages are hashed
// it stays as the program's host made it.
//
// Spec: decision C20.
func (f *frame) shownMessage(message string) string {
	if f.inner == nil || f.blockParams().HashesMessages() {
		return message
	}
	whole := f.inner.Within(message)
	if whole == message {
		return message
	}
	if whole = program.NamePlaces(f.x.nameOf(f.msg.Self), whole); len(whole) > types.MaxFaultBytes {
		return message
	}
	return whole
}

// chargeUse takes cycles and cells, or ends the handler. A charge that does not
// fit takes what is left.
func (f *frame) chargeUse(cycles types.Cycles, cells types.Cells) *program.Fault {
	switch {
	case f.dead != nil:
	case f.x.environment != nil:
		f.dead = &program.Fault{Status: types.StatusFailed, Code: "environment", Message: "the host of programs failed", Abort: true}
	case f.x.top != f:
		return &program.Fault{Status: types.StatusFailed, Code: "stale_context", Message: "this handler is not the one that runs", Abort: true}
	case cycles > f.left:
		f.left, f.dead = 0, outOfCycles(f.limit)
	case cells > f.x.cellsLeft:
		f.left -= cycles
		f.x.cellsLeft, f.dead = 0, outOfCells()
	default:
		f.left -= cycles
		f.x.cellsLeft -= cells
		return nil
	}
	return f.dead
}

// chargeWrite charges for a side effect, and refuses it in a read.
func (f *frame) chargeWrite(cycles types.Cycles, bytes int) *program.Fault {
	if f.x.cause.ReadOnly {
		return newFault("read_only", "a read-only call has no side effects")
	}
	return f.chargeUse(cycles, types.Cells(bytes))
}

func (f *frame) blockParams() *params.Params { return f.x.block.Params }

// Block implements program.Context.
func (f *frame) Block() program.BlockInfo {
	b := f.x.block
	return program.BlockInfo{ChainID: b.ChainID, Height: b.Height, TimestampMS: b.Timestamp, TxHash: f.x.cause.TxHash}
}

// Message implements program.Context.
func (f *frame) Message() program.Message { return f.msg }

// Remaining implements program.Context.
func (f *frame) Remaining() (types.Cycles, types.Cells) {
	if f.dead != nil {
		return 0, 0
	}
	return f.left, f.x.cellsLeft
}

// Spend implements program.Context.
func (f *frame) Spend(cycles types.Cycles, cells types.Cells) error {
	return asError(f.chargeUse(cycles, cells))
}

// Get implements program.Context.
func (f *frame) Get(key []byte) (value []byte, found bool, err error) {
	defer f.guardPanics()
	if fault := f.chargeUse(f.blockParams().CostStorageRead, 0); fault != nil {
		return nil, false, fault
	}
	if fault := f.checkKey(key); fault != nil {
		return nil, false, fault
	}
	value, found = StorageOf(f.x.state, f.msg.Self, key)
	return append([]byte(nil), value...), found, nil
}

// Set implements program.Context.
func (f *frame) Set(key, value []byte) error {
	defer f.guardPanics()
	if fault := f.chargeWrite(f.blockParams().CostStorageWrite, len(key)+len(value)); fault != nil {
		return fault
	}
	if fault := f.checkKey(key); fault != nil {
		return fault
	}
	if uint64(len(value)) > f.blockParams().MaxStateValueBytes {
		return newFault("value_too_long", "a value of %d bytes, at most %d", len(value), f.blockParams().MaxStateValueBytes)
	}
	f.x.state.SetStorage(f.msg.Self, append([]byte{}, key...), append([]byte{}, value...))
	return nil
}

// Delete implements program.Context.
func (f *frame) Delete(key []byte) error {
	defer f.guardPanics()
	if fault := f.chargeWrite(f.blockParams().CostStorageWrite, len(key)); fault != nil {
		return fault
	}
	if fault := f.checkKey(key); fault != nil {
		return fault
	}
	f.x.state.DeleteStorage(f.msg.Self, key)
	return nil
}

func (f *frame) checkKey(key []byte) *program.Fault {
	if uint64(len(key)) > f.blockParams().MaxStateKeyBytes {
		return newFault("key_too_long", "a key of %d bytes, at most %d", len(key), f.blockParams().MaxStateKeyBytes)
	}
	return nil
}

// Balance implements program.Context.
func (f *frame) Balance(of types.Address) (types.Wei, error) {
	defer f.guardPanics()
	if fault := f.chargeUse(f.blockParams().CostStorageRead, 0); fault != nil {
		return types.Wei{}, fault
	}
	return AccountOf(f.x.state, of).Balance, nil
}

// Transfer implements program.Context.
func (f *frame) Transfer(to types.Address, amount types.Wei) error {
	defer f.guardPanics()
	if fault := f.chargeWrite(f.blockParams().CostTransfer, 0); fault != nil {
		return fault
	}
	if !f.x.state.Move(f.msg.Self, to, amount) {
		return newFault("insufficient_funds", "a transfer of %s wei exceeds the actor's balance", amount)
	}
	return nil
}

// Emit implements program.Context.
func (f *frame) Emit(name string, data []byte) error {
	defer f.guardPanics()
	if fault := f.chargeWrite(f.blockParams().CostEvent, len(name)+len(data)); fault != nil {
		return fault
	}
	if fault := checkName("an event's name", name); fault != nil {
		return fault
	}
	if uint64(len(f.x.Events)) >= f.blockParams().MaxEvents {
		return newFault("too_many_events", "at most %d events a message", f.blockParams().MaxEvents)
	}
	f.x.Events = append(f.x.Events, types.Event{Actor: f.msg.Self, Name: name, Data: append([]byte{}, data...)})
	return nil
}

// Keccak implements program.Context.
func (f *frame) Keccak(data []byte) (types.Hash, error) {
	defer f.guardPanics()
	if fault := f.chargeUse(f.wordCycles(len(data)), 0); fault != nil {
		return types.Hash{}, fault
	}
	return types.Keccak(data), nil
}

// Randomness implements program.Context.
func (f *frame) Randomness(domain []byte) (types.Hash, error) {
	defer f.guardPanics()
	r, self := f.x.block.Randomness, f.msg.Self
	if fault := f.chargeUse(f.wordCycles(len(r)+len(self)+len(domain)), 0); fault != nil {
		return types.Hash{}, fault
	}
	return types.Keccak(r[:], self[:], domain), nil
}

func (f *frame) wordCycles(bytes int) types.Cycles {
	return types.Cycles((bytes+keccakWord-1)/keccakWord) * f.blockParams().CostKeccakWord
}

// Log implements program.Context.
func (f *frame) Log(line string) { f.x.logLine(f.msg.Self, line) }

func checkName(what, name string) *program.Fault {
	if len(name) > types.MaxNameBytes || !utf8.ValidString(name) {
		return newFault("bad_name", "%s must be UTF-8 of at most %d bytes", what, types.MaxNameBytes)
	}
	return nil
}

// maxWhere bounds the place at which a program ran out, in bytes.
const maxWhere = 256

func outOfCycles(limit types.Cycles) *program.Fault {
	return &program.Fault{Status: types.StatusOutOfCycles, Code: "out_of_cycles",
		Message: fmt.Sprintf("the limit of %d cycles is used up", limit), Abort: true}
}

func outOfCells() *program.Fault {
	return &program.Fault{Status: types.StatusOutOfCells, Code: "out_of_cells", Message: "the limit of cells is used up", Abort: true}
}

// newFault is a fault that a program may catch.
func newFault(code, format string, args ...any) *program.Fault {
	return &program.Fault{Status: types.StatusReverted, Code: code, Message: fmt.Sprintf(format, args...)}
}

// asError keeps a nil fault a nil error.
func asError(f *program.Fault) error {
	if f == nil {
		return nil
	}
	return f
}

package governance

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The opcodes.
const (
	OpCancelTimer       uint16 = 48
	OpUpdateTimerConfig uint16 = 49
	OpExtendTimer       uint16 = 50
	OpSetParameter      uint16 = 64
	OpJoinValidator     uint16 = 65
	OpLeaveValidator    uint16 = 66
	OpSetBalance        uint16 = 80
	OpSetState          uint16 = 81
	OpImpersonate       uint16 = 82
)

// MaxArgsBytes bounds the arguments of an instruction. Arguments that carry a value
// of state or a payload are bounded by the transaction.
const MaxArgsBytes = 4096

// KV is the state.
type KV interface {
	Get(key []byte) []byte
	Set(key, value []byte)
	Scan(from, to []byte, each func(key, value []byte) bool)
}

// Timers is the scheduler's side of the instructions about timers.
type Timers interface {
	Cancel(types.TimerID) (types.TimerChange, types.Event, *types.Fault)
	Extend(types.TimerID, types.Height) (types.TimerChange, types.Event, *types.Fault)
}

// Chain is the state that an instruction acts on.
type Chain struct {
	KV     KV
	Params *params.Params // the parameters in force in this block
	Height types.Height
	Timers Timers
	Money  Money
	State  State
}

// Effect is the effect of an instruction besides its writes.
type Effect struct {
	Events []types.Event
	Timers []types.TimerChange
}

// Instruction is a decoded system instruction.
type Instruction interface {
	// Cycles is its cost in addition to the transaction's own part.
	Cycles(*params.Params) types.Cycles
	// Execute does it; a fault means that nothing was done.
	Execute(Chain) (Effect, *types.Fault)
}

// Decode reads an instruction's arguments. Its error is the sender's fault.
func Decode(opcode uint16, args []byte) (Instruction, error) {
	var in Instruction
	limit := MaxArgsBytes
	switch opcode {
	case OpCancelTimer:
		in = new(CancelTimer)
	case OpUpdateTimerConfig:
		in = new(UpdateTimerConfig)
	case OpExtendTimer:
		in = new(ExtendTimer)
	case OpSetParameter:
		in = new(SetParameter)
	case OpJoinValidator:
		in = new(JoinValidator)
	case OpLeaveValidator:
		in = new(LeaveValidator)
	case OpSetBalance:
		in = new(SetBalance)
	case OpSetState:
		in, limit = new(SetState), types.MaxTransactionBytes
	case OpImpersonate:
		in, limit = new(Impersonate), types.MaxTransactionBytes
	default:
		return nil, &UnknownOpcode{opcode}
	}
	err := codec.Unmarshal(args, limit, in)
	if as, ok := in.(*Impersonate); ok && err == nil {
		err = as.decodePayload()
	}
	if err != nil {
		return nil, fmt.Errorf("arguments of opcode %d: %w", opcode, err)
	}
	return in, nil
}

// UnknownOpcode is an opcode without an instruction.
type UnknownOpcode struct{ Opcode uint16 }

func (e *UnknownOpcode) Error() string {
	return fmt.Sprintf("opcode %d is none of 48, 49, 50, 64, 65, 66, 80, 81, 82", e.Opcode)
}

// SetSystemKey writes the address whose instructions count. Only genesis does.
func SetSystemKey(kv KV, key types.Address) { kv.Set([]byte("g/k"), append([]byte{}, key[:]...)) }

// Key returns the address whose instructions count; zero, an address without a key,
// if genesis names none.
func Key(kv Reader) (key types.Address) {
	copy(key[:], kv.Get([]byte("g/k")))
	return key
}

func newEvent(name string, data any) types.Event {
	return types.Event{Actor: types.GovernanceAddress, Name: name, Data: codec.Marshal(data)}
}

func newRefusal(code, format string, args ...any) (Effect, *types.Fault) {
	return Effect{}, &types.Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

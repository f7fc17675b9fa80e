package system

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// MaxPending bounds the parameter changes that wait for their height, since
// each instruction looks at them all.
const MaxPending = 256

// maxAhead bounds how many blocks ahead a change may be registered.
const maxAhead = 1 << 40

// SetParameter gives a parameter a value from a height on.
type SetParameter struct {
	Key    string       `cbor:"key"`    // <group>.<name>
	Value  string       `cbor:"value"`  // as params.Set reads it
	Height types.Height `cbor:"height"` // 0: the next block, or the next epoch's first
}

// Cycles implements Instruction.
func (*SetParameter) Cycles(p *params.Params) types.Cycles { return p.CostStorageWrite }

// Execute implements Instruction.
func (in *SetParameter) Execute(c Chain) (Effect, *types.Fault) {
	info, err := params.Lookup(in.Key)
	if err != nil {
		return refuse("unknown_parameter", "%v", err)
	}
	switch {
	case info.Class == params.Genesis:
		return refuse("genesis_parameter", "%s is fixed in genesis", in.Key)
	case in.Height != 0 && in.Height <= c.Height:
		return refuse("height_passed", "height %d is not above this block's, %d", in.Height, c.Height)
	case in.Height > c.Height+maxAhead:
		return refuse("height_too_far", "height %d is more than %d blocks away", in.Height, uint64(maxAhead))
	}
	at := max(in.Height, c.Height+1)
	if info.Class == params.NextEpoch {
		at = firstOfEpoch(c.Params, at)
	}
	return register(c, []setting{{in.Key, in.Value}}, at)
}

// register keeps changes until their height, if with them and all that wait
// before, the parameters are sound.
func register(c Chain, settings []setting, at types.Height) (Effect, *types.Fault) {
	after := *c.Params
	waiting := Pending(c.KV)
	for _, change := range waiting {
		if change.At <= at {
			_ = after.Set(change.Key, change.Value) // it was checked when it was registered
		}
	}
	if len(waiting)+len(settings) > MaxPending {
		return refuse("too_many_changes", "%d parameter changes wait, at most %d", len(waiting), MaxPending)
	}
	var effect Effect
	for _, s := range settings {
		if err := after.Set(s.key, s.value); err != nil {
			return refuse("bad_value", "%v", err)
		}
		effect.Events = append(effect.Events, event("param.set", ParamSet{Key: s.key, Value: s.value, Height: at}))
	}
	if err := after.Check(); err != nil {
		return refuse("bad_value", "%v", err)
	}
	for _, s := range settings {
		c.KV.Set(changeKey(at, s.key), []byte(s.value))
	}
	return effect, nil
}

// ParamSet is the data of the event param.set.
type ParamSet struct {
	Key    string       `cbor:"key"`
	Value  string       `cbor:"value"`
	Height types.Height `cbor:"height"` // from which it holds
}

// ParamRefused is the data of the event param.refused: a change that was sound
// when it was registered, but not together with what was registered later.
type ParamRefused struct {
	Key    string `cbor:"key"`
	Value  string `cbor:"value"`
	Reason string `cbor:"reason"`
}

// Change is a parameter's value from a height on.
type Change struct {
	At    types.Height
	Key   string
	Value string
}

// Reader is a state that is only read.
type Reader interface {
	Get(key []byte) []byte
	Scan(from, to []byte, each func(key, value []byte) bool)
}

// Pending lists the changes that wait, by height, then key.
func Pending(kv Reader) (changes []Change) {
	kv.Scan([]byte("g/p/"), []byte("g/p0"), func(key, value []byte) bool {
		at := types.Height(binary.BigEndian.Uint64(key[4:]))
		changes = append(changes, Change{at, string(key[12:]), string(value)})
		return true
	})
	return changes
}

// InForce returns the parameters of a block, where p are those of the block
// before; it is p itself where nothing changes. Changes that do not fit together
// are left out, with an event.
func InForce(kv Reader, p *params.Params, height types.Height) (*params.Params, []Change, []types.Event) {
	var due []Change
	for _, change := range Pending(kv) {
		if change.At <= height {
			due = append(due, change)
		}
	}
	if len(due) == 0 {
		return p, nil, nil
	}
	after := *p
	for _, change := range due {
		_ = after.Set(change.Key, change.Value)
	}
	if err := after.Check(); err != nil {
		return oneByOne(p, due)
	}
	return &after, due, nil
}

// oneByOne applies each change that leaves the parameters sound.
func oneByOne(p *params.Params, due []Change) (*params.Params, []Change, []types.Event) {
	after := *p
	var events []types.Event
	for _, change := range due {
		with := after
		err := with.Set(change.Key, change.Value)
		if err == nil {
			err = with.Check()
		}
		if err != nil {
			events = append(events, event("param.refused", ParamRefused{change.Key, change.Value, err.Error()}))
			continue
		}
		after = with
	}
	return &after, due, events
}

// Settle removes changes that InForce has dealt with.
func Settle(kv KV, due []Change) {
	for _, change := range due {
		kv.Set(changeKey(change.At, change.Key), nil)
	}
}

// Store writes the parameters that differ from before, or all where before is
// nil, to the storage of actor 0x09.
func Store(p, before *params.Params, write func(stateKey string, value []byte)) {
	for _, info := range params.Keys() {
		value := mustEncode(p, info.Key)
		if before == nil || string(value) != string(mustEncode(before, info.Key)) {
			write(params.StateKey(info.Key), value)
		}
	}
}

func mustEncode(p *params.Params, key string) []byte {
	value, err := p.Encode(key)
	if err != nil {
		panic(err) // a key that params.Keys lists
	}
	return value
}

func changeKey(at types.Height, key string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte("g/p/"), uint64(at)), key...)
}

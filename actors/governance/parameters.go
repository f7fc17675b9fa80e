package governance

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// MaxPending bounds the parameter changes that wait for their height, since
// each instruction looks at them all.
const MaxPending = 256

// maxAhead bounds how many blocks ahead a change may be registered.
const maxAhead = 1 << 40

// SetParameter gives a parameter a value from a height on.
type SetParameter struct {
	Key    string       `cbor:"key"`    // <group>.<name>
	Value  string       `cbor:"value"`  // the value as params.Set reads it
	Height types.Height `cbor:"height"` // 0: the next block, or the next epoch's first
}

// Cycles implements Instruction.
func (*SetParameter) Cycles(p *params.Params) types.Cycles { return p.CostStorageWrite }

// Execute implements Instruction.
func (in *SetParameter) Execute(c Chain) (Effect, *types.Fault) {
	info, err := params.Lookup(in.Key)
	if err != nil {
		return newRefusal("unknown_parameter", "%v", err)
	}
	switch {
	case info.Class == params.Genesis:
		return newRefusal("genesis_parameter", "%s is fixed in genesis", in.Key)
	case in.Height != 0 && in.Height <= c.Height:
		return newRefusal("height_passed", "height %d is not above this block's, %d", in.Height, c.Height)
	case in.Height > c.Height+maxAhead:
		return newRefusal("height_too_far", "height %d is more than %d blocks away", in.Height, uint64(maxAhead))
	}
	at := max(in.Height, c.Height+1)
	if info.Class == params.NextEpoch {
		at = firstOfEpoch(c.Params, at)
	}
	return registerChanges(c, []setting{{in.Key, in.Value}}, at)
}

// registerChanges keeps changes until their height, if the parameters then are sound
// from that height on, at every height at which one changes. So those that wait
// always fit together.
func registerChanges(c Chain, settings []setting, at types.Height) (Effect, *types.Fault) {
	waiting := Pending(c.KV)
	if len(waiting)+len(settings) > MaxPending {
		return newRefusal("too_many_changes", "%d parameter changes wait, at most %d", len(waiting), MaxPending)
	}
	var effect Effect
	for _, s := range settings {
		waiting = slices.DeleteFunc(waiting, func(w Change) bool { return w.At == at && w.Key == s.key })
		waiting = append(waiting, Change{at, s.key, s.value})
		effect.Events = append(effect.Events, newEvent("param.set", ParamSet{Key: s.key, Value: s.value, Height: at}))
	}
	slices.SortFunc(waiting, func(a, b Change) int { return cmp.Compare(a.At, b.At) })
	if err := checkSoundness(*c.Params, waiting); err != nil {
		return newRefusal("bad_value", "%v", err)
	}
	if err := checkPolicySwitch(c.Params.Policy, waiting); err != nil {
		return newRefusal("policy_switch", "%v", err)
	}
	for _, s := range settings {
		c.KV.Set(changeKey(at, s.key), []byte(s.value))
	}
	return effect, nil
}

// checkSoundness goes through changes in the order of their heights.
func checkSoundness(p params.Params, changes []Change) error {
	for i, change := range changes {
		if err := p.Set(change.Key, change.Value); err != nil {
			return err
		}
		if i+1 < len(changes) && changes[i+1].At == change.At {
			continue
		}
		if err := p.Check(); err != nil {
			return fmt.Errorf("at height %d: %w", change.At, err)
		}
	}
	return nil
}

// keyPolicy is the parameter that names the lane's policy.
const keyPolicy = "cip1.policy"

// checkPolicySwitch goes through changes in the order of their heights. The lane's policy
// changes once, from fifo: timers that a policy took in by its own rules (locked
// bids, weights) cannot be settled by another policy.
//
// Spec: CIP-1 §13.2, decision T25.
func checkPolicySwitch(policy string, changes []Change) error {
	for _, change := range changes {
		if change.Key != keyPolicy || change.Value == policy {
			continue
		}
		if policy != policyFifo {
			return fmt.Errorf("the lane's policy cannot change from %s to %s at height %d: it changes only from %s; "+
				"choose any other policy in genesis", policy, change.Value, change.At, policyFifo)
		}
		policy = change.Value
	}
	return nil
}

// policyFifo is the policy that another may follow.
const policyFifo = "fifo"

// ParamSet is the data of the event param.set.
type ParamSet struct {
	Key    string       `cbor:"key"`
	Value  string       `cbor:"value"`
	Height types.Height `cbor:"height"` // the height from which it holds
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

// InForce returns the parameters of a block, from p, the parameters of the block
// before, and the changes in between; without changes it returns p itself.
func InForce(kv Reader, p *params.Params, height types.Height) (*params.Params, []Change) {
	due := slices.DeleteFunc(Pending(kv), func(c Change) bool { return c.At > height })
	if len(due) == 0 {
		return p, nil
	}
	after := *p
	for _, change := range due {
		if err := after.Set(change.Key, change.Value); err != nil {
			panic(fmt.Sprintf("governance: a change that was registered is refused: %v", err))
		}
	}
	return &after, due
}

// Enact takes changes that are in force from those that wait.
func Enact(kv KV, due []Change) {
	for _, change := range due {
		kv.Set(changeKey(change.At, change.Key), nil)
	}
}

// Store writes the parameters that differ from before, or all if before is nil, to the
// storage of actor 0x09. It writes one that older chains lack only if it is not its default
// (decision C12).
func Store(p, before *params.Params, write func(stateKey string, value []byte)) {
	defaults := params.Defaults()
	for _, info := range params.Keys() {
		value := mustEncode(p, info.Key)
		if before == nil && info.Later && string(value) == string(mustEncode(&defaults, info.Key)) {
			continue
		}
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

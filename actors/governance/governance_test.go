package governance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"pgregory.net/rapid"
)

// memory is a KV of a sorted map, the plain way.
type memory map[string][]byte

func (m memory) Get(key []byte) []byte { return m[string(key)] }
func (m memory) Set(key, value []byte) {
	if m[string(key)] = value; value == nil {
		delete(m, string(key))
	}
}
func (m memory) Scan(from, to []byte, each func(key, value []byte) bool) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key >= string(from) && key < string(to) && !each([]byte(key), m[key]) {
			return
		}
	}
}

func chain(height types.Height) Chain {
	p := params.Defaults()
	p.Policy = "fifo"
	p.EpochBlocks = 4
	return Chain{KV: memory{}, Params: &p, Height: height}
}

// TestTheChangesThatWaitFitTogether at every height: one that would break a
// later one is refused, and nothing else is.
func TestTheChangesThatWaitFitTogether(t *testing.T) {
	c := chain(1)
	set := func(key, value string, at types.Height, ok bool) {
		t.Helper()
		_, fault := (&SetParameter{Key: key, Value: value, Height: at}).Execute(c)
		if (fault == nil) != ok || fault != nil && fault.Code != "bad_value" {
			t.Error(fault)
		}
	}
	set("cip3.lane_user_cycles", "8000000", 5, true)    // 2,000,000 become free
	set("cip3.lane_runner_cycles", "6000000", 4, false) // too early
	set("cip3.lane_runner_cycles", "6000000", 6, true)
	set("cip3.lane_user_cycles", "10000000", 5, false) // it would break that at 6
	set("cip3.min_basefee", "9", 6, true)
	if p, due := InForce(c.KV, c.Params, 4); p != c.Params || due != nil {
		t.Error("something changes before its height")
	}
	p, due := InForce(c.KV, c.Params, 5)
	if p.LaneUserCycles != 8_000_000 || len(due) != 1 || c.Params.LaneUserCycles != 10_000_000 {
		t.Errorf("%v", due)
	}
	Enact(c.KV, due)
	p, due = InForce(c.KV, p, 6)
	if p.LaneRunnerCycles != 6_000_000 || p.MinBaseFee != types.WeiOf(9) || len(due) != 2 || p.Check() != nil {
		t.Errorf("%v", due)
	}
	if Enact(c.KV, due); len(Pending(c.KV)) != 0 {
		t.Error("changes wait without end")
	}
}

// Decision T25: the lane's policy changes from fifo to another, at every height at
// which a waiting change is due, and never again.
func TestThePolicyChangesOnceFromFifo(t *testing.T) {
	set := func(c Chain, value string, at types.Height, ok bool) {
		t.Helper()
		_, fault := (&SetParameter{Key: "cip1.policy", Value: value, Height: at}).Execute(c)
		if (fault == nil) != ok || fault != nil && fault.Code != "policy_switch" {
			t.Errorf("%s at %d: %v", value, at, fault)
		}
	}
	c := chain(1)
	set(c, "fifo", 3, true) // no change at all
	set(c, "eip1559", 10, true)
	set(c, "gba", 9, false)       // eip1559 waits after it
	set(c, "bias-vcg", 11, false) // eip1559 holds by then
	set(c, "fifo", 11, false)
	set(c, "eip1559", 9, true) // earlier, and again at 10
	set(c, "gba", 10, false)
	set(c, "bias-vcg", 9, false)
	c = chain(1)
	set(c, "eip1559", 10, true)
	set(c, "gba", 10, true) // instead
	p, due := InForce(c.KV, c.Params, 10)
	if p.Policy != "gba" {
		t.Errorf("%s", p.Policy)
	}
	Enact(c.KV, due)
	c.Params, c.Height = p, 10
	policy, err := params.Lookup("cip1.policy")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range policy.Words {
		set(c, other, 0, other == "gba")
	}
}

// TestTheWaitingChangesAreBounded.
func TestTheWaitingChangesAreBounded(t *testing.T) {
	c := chain(1)
	for i := range MaxPending + 1 {
		_, fault := (&SetParameter{Key: "cip3.min_basefee", Value: "2", Height: types.Height(i + 2)}).Execute(c)
		if (fault != nil) != (i == MaxPending) || fault != nil && fault.Code != "too_many_changes" {
			t.Fatalf("change %d: %v", i, fault)
		}
	}
	_, fault := (&SetParameter{Key: "cip3.min_basefee", Value: "2", Height: 1 << 63}).Execute(c)
	if fault == nil || fault.Code != "height_too_far" {
		t.Error(fault)
	}
	_, fault = (&UpdateTimerConfig{}).Execute(c)
	if fault == nil || fault.Code != "empty_config" {
		t.Error(fault)
	}
}

// TestEpochClassWaitsForAnEpoch: heights 1 to 4 are epoch 0, 5 begins epoch 1.
func TestEpochClassWaitsForAnEpoch(t *testing.T) {
	for _, v := range [][3]types.Height{{1, 0, 5}, {3, 4, 5}, {1, 5, 5}, {4, 0, 5}, {5, 0, 9}, {1, 6, 9}} {
		c := chain(v[0])
		if _, fault := (&SetParameter{Key: "chain.max_validators", Value: "9", Height: v[1]}).Execute(c); fault != nil {
			t.Fatal(fault)
		}
		if at := Pending(c.KV)[0].At; at != v[2] {
			t.Errorf("at %d for %d: holds from %d, want %d", v[0], v[1], at, v[2])
		}
	}
}

// TestStoredParametersLoadAgain, all of them, and only what changed is written. C12: a
// parameter that older chains lack is written if it is not its default.
func TestStoredParametersLoadAgain(t *testing.T) {
	before := params.Defaults()
	after := before
	after.MinBaseFee, after.MaxTimers = types.WeiOf(77), 5
	stored := memory{}
	write := func(key string, value []byte) { stored[key] = value }
	Store(&before, nil, write)
	for _, info := range params.Keys() {
		if found := stored[params.StateKey(info.Key)] != nil; found == info.Later {
			t.Errorf("%s: in state %v, and older chains lack it %v", info.Key, found, info.Later)
		}
	}
	newer, all := before, memory{}
	newer.ReceiptsRoot = params.RootWithoutMessages
	Store(&newer, nil, func(key string, value []byte) { all[key] = value })
	if len(all) != len(stored)+1 {
		t.Errorf("%d parameters of a new chain are in state, and %d of an older one", len(all), len(stored))
	}
	changed := memory{}
	Store(&after, &before, func(key string, value []byte) { changed[key] = value; write(key, value) })
	if len(changed) != 2 {
		t.Errorf("%d were written again", len(changed))
	}
	loaded, err := params.Load(func(key string) []byte { return stored[key] })
	if err != nil || loaded != after {
		t.Error("they differ", err)
	}
}

// TestTheSetFollowsASortedMap: after any joins and leaves, the set after Rotate
// equals the plainest model's, sorted, within its bounds and never empty.
func TestTheSetFollowsASortedMap(t *testing.T) {
	var members []types.Validator
	for i := range 7 {
		key := crypto.DeriveKey(1, fmt.Sprint(i))
		members = append(members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey()})
	}
	rapid.Check(t, func(t *rapid.T) {
		c := chain(1)
		c.Params.MaxValidators, c.Params.MaxValidatorMoves = 4, 3
		SetValidators(c.KV, &types.ValidatorSet{Members: []types.Validator{members[0]}})
		now, next := map[types.Address]bool{members[0].Address: true}, map[types.Address]bool{members[0].Address: true}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			v := members[rapid.IntRange(0, 6).Draw(t, "who")]
			var fault *types.Fault
			switch rapid.IntRange(0, 4).Draw(t, "verb") {
			case 0, 1:
				if _, fault = (&JoinValidator{PublicKey: v.PublicKey}).Execute(c); fault == nil {
					if next[v.Address] {
						t.Fatal("one joined twice")
					}
					next[v.Address] = true
				}
			case 2, 3:
				if _, fault = (&LeaveValidator{Address: v.Address}).Execute(c); fault == nil {
					if !next[v.Address] {
						t.Fatal("one left twice")
					}
					delete(next, v.Address)
				}
			default:
				moved, set := len(Moves(c.KV)) > 0, Validators(c.KV)
				if rotated := Rotate(c.KV, set.Epoch+3); (rotated != nil) != moved {
					t.Fatalf("an epoch ends with moves %v and the set %v", moved, rotated)
				} else if moved {
					if rotated.Epoch != set.Epoch+3 || Previous(c.KV).Epoch != set.Epoch {
						t.Fatalf("the set belongs to epoch %d", rotated.Epoch)
					}
					set = rotated
				}
				now = map[types.Address]bool{}
				for i, m := range set.Members {
					if now[m.Address] = true; !next[m.Address] || i > 0 && set.Members[i-1].Address.Compare(m.Address) >= 0 {
						t.Fatal("the set is not sorted, or holds a stranger")
					}
				}
				if len(now) != len(next) || len(Moves(c.KV)) != 0 || codec.Marshal(set) == nil {
					t.Fatalf("%d members, want %d", len(now), len(next))
				}
			}
			if n := len(next); n < 1 || n > 4 || len(Moves(c.KV)) > 3 {
				t.Fatalf("%d validators, %d moves", n, len(Moves(c.KV)))
			}
		}
	})
}

// Each opcode stands for one instruction, as in WIRE.md: the draft's are 48 to 50,
// the devnet's own 64 to 66, and its cheats 80 to 82.
func TestOpcodesAreThoseOfTheWire(t *testing.T) {
	for opcode := range uint16(256) {
		var want Instruction
		switch opcode {
		case 48:
			want = &CancelTimer{}
		case 49:
			want = &UpdateTimerConfig{}
		case 50:
			want = &ExtendTimer{}
		case 64:
			want = &SetParameter{}
		case 65:
			want = &JoinValidator{}
		case 66:
			want = &LeaveValidator{}
		case 80:
			want = &SetBalance{}
		case 81:
			want = &SetState{Key: []byte("k")}
		case 82:
			want = &Impersonate{To: new(types.Address), Payload: codec.Marshal(&types.Transfer{Kind: types.KindTransfer})}
		default:
			var unknown *UnknownOpcode
			if in, err := Decode(opcode, codec.Marshal(map[string]int{})); !errors.As(err, &unknown) || unknown.Opcode != opcode {
				t.Errorf("opcode %d is read as %T, %v", opcode, in, err)
			}
			continue
		}
		if in, err := Decode(opcode, codec.Marshal(want)); err != nil || fmt.Sprintf("%T", in) != fmt.Sprintf("%T", want) {
			t.Errorf("opcode %d is read as %T, %v; want %T", opcode, in, err, want)
		}
	}
}

// FuzzDecode: arguments from outside are read or refused.
func FuzzDecode(f *testing.F) {
	value := uint64(5)
	for opcode, args := range map[uint16]any{
		OpCancelTimer: &CancelTimer{}, OpExtendTimer: &ExtendTimer{NewExpiresAt: 9},
		OpUpdateTimerConfig: &UpdateTimerConfig{TimerConfig{MaxTTLBlocks: &value}},
		OpSetBalance:        &SetBalance{}, OpSetState: &SetState{Key: []byte("k")},
		OpImpersonate:  &Impersonate{To: new(types.Address), Payload: codec.Marshal(&types.Transfer{Kind: types.KindTransfer})},
		OpSetParameter: &SetParameter{Key: "cip3.min_basefee", Value: "1"}, OpJoinValidator: &JoinValidator{Endpoint: "host:1"},
		OpLeaveValidator: &LeaveValidator{}, 7: 1,
	} {
		f.Add(opcode, codec.Marshal(args))
	}
	f.Fuzz(func(t *testing.T, opcode uint16, args []byte) {
		in, err := Decode(opcode, args)
		if (in == nil) == (err == nil) {
			t.Fatalf("%v, %v", in, err)
		}
		if in == nil {
			return
		}
		if again := codec.Marshal(in); string(again) != string(args) {
			t.Errorf("%x reads as %x", args, again)
		}
		c := chain(1)
		SetValidators(c.KV, &types.ValidatorSet{Members: []types.Validator{{}}})
		c.Timers, c.Money, c.State = noTimers{}, noAccounts{}, noAccounts{}
		in.Cycles(c.Params)
		in.Execute(c)
	})
}

// noAccounts are accounts and actors that do not exist.
type noAccounts struct{}

func (noAccounts) SetBalance(types.Address, types.Wei) (before types.Wei, refused *types.Fault) {
	return before, nil
}
func (noAccounts) HasActor(types.Address) bool              { return true }
func (noAccounts) SetStorage(types.Address, []byte, []byte) {}
func (noAccounts) DeleteStorage(types.Address, []byte)      {}

type noTimers struct{}

func (noTimers) Cancel(types.TimerID) (types.TimerChange, types.Event, *types.Fault) {
	return types.TimerChange{}, types.Event{}, &types.Fault{Code: "none"}
}
func (noTimers) Extend(types.TimerID, types.Height) (types.TimerChange, types.Event, *types.Fault) {
	return types.TimerChange{}, types.Event{}, &types.Fault{Code: "none"}
}

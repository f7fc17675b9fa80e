package actors

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// inspecting refuses code or fails on it, as it is told.
type inspecting struct {
	scripted
	verdict error
}

func (i inspecting) Session() (program.Session, error) { return i, nil }
func (inspecting) Bound(program.Bounds)                {}
func (i inspecting) Inspect(program.Code) (program.Description, error) {
	return program.Description{}, i.verdict
}

// TestADeployIsAllOrNothing: whatever goes wrong, no actor, no code, no value
// and no effect of init stay behind.
//
// Spec: CIP-6 ("init … reverts the deploy when it raises").
func TestADeployIsAllOrNothing(t *testing.T) {
	crash := errors.New("crash")
	writes := func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		if msg.Kind != program.Init || msg.Handler != "init" || msg.Owner != alice || msg.Sender != alice {
			t.Errorf("init is told %+v", msg)
		}
		return program.Outcome{Status: types.StatusOK}, ctx.Set([]byte("k"), []byte("v"))
	}
	raises := func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		_, _ = writes(ctx, msg)
		_ = ctx.Transfer(two, types.WeiOf(1))
		return newFailedOutcome(types.StatusReverted, "raised", "no"), nil
	}
	good := types.Deploy{Code: []byte("code"), Init: []byte("args"), Manifest: types.Manifest{Name: "name"}}
	for name, c := range map[string]struct {
		change  func(*types.Deploy, *params.Params)
		verdict error
		init    scripted
		value   uint64
		status  types.Status
		code    string
		err     error
	}{
		"good": {init: writes, value: 7, status: types.StatusOK},
		"refused": {verdict: &program.Refusal{Line: 3, Reason: "import os"}, init: writes, status: types.StatusInvalidCode,
			code: "invalid_code"},
		"environment": {verdict: crash, init: writes, err: crash},
		"init raises": {init: raises, value: 7, status: types.StatusReverted, code: "raised"},
		"init crashes": {init: func(program.Context, program.Message) (program.Outcome, error) { return program.Outcome{}, crash },
			err: crash},
		"value": {init: writes, value: 1_000_001, status: types.StatusReverted, code: "insufficient_funds"},
		"name": {change: func(d *types.Deploy, _ *params.Params) { d.Manifest.Name = strings.Repeat("n", 257) }, init: writes,
			status: types.StatusFailed, code: "bad_name"},
		"length": {change: func(_ *types.Deploy, p *params.Params) { p.MaxCodeBytes = 3 }, init: writes, status: types.StatusInvalidCode,
			code: "code_too_long"},
		"cycles": {change: func(d *types.Deploy, _ *params.Params) { d.Code = make([]byte, 100_001) }, init: writes,
			status: types.StatusOutOfCycles, code: "out_of_cycles"},
		"cheat": {change: func(d *types.Deploy, p *params.Params) { d.Code, p.Cheats = []byte("go:counter"), false }, init: writes,
			status: types.StatusInvalidCode, code: "invalid_code"},
		"oversee": {change: func(d *types.Deploy, p *params.Params) { d.Code = []byte("go:counter") }, init: writes, status: types.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			p, d := params.Defaults(), good
			if c.change != nil {
				c.change(&d, &p)
			}
			host := inspecting{c.init, c.verdict}
			state := NewState(trie.Empty)
			state.Credit(alice, types.WeiOf(1_000_000))
			before, _ := state.Seal()
			x := Start(&BlockContext{Params: &p, Height: 5, Deliverer: Direct{}, Sessions: host}, state, Cause{}, 100_000, 10_000)
			at, outcome, err := x.Deploy(alice, &d, types.WeiOf(c.value))
			if !errors.Is(err, c.err) || outcome.Status != c.status || c.code != "" && outcome.Fault.Code != c.code {
				t.Fatalf("%+v %v, %v", outcome, outcome.Fault, err)
			}
			if c.status == types.StatusOK {
				record := ActorOf(state, at)
				value, _ := StorageOf(state, at, []byte("k"))
				if *record != (Actor{CodeHash: types.Keccak(d.Code), Owner: alice, Name: "name", DeployedAt: 5}) || string(value) != "v" ||
					string(CodeOf(state, record.CodeHash)) != string(d.Code) || AccountOf(state, at).Balance != types.WeiOf(c.value) {
					t.Errorf("%+v", record)
				}
				_, again, _ := x.Deploy(alice, &d, types.Wei{})
				if again.Status != types.StatusFailed || again.Fault.Code != "address_taken" {
					t.Errorf("a second time: %+v", again)
				}
				return
			}
			if after, _ := state.Seal(); after.Root() != before.Root() && c.err == nil {
				t.Error("something stayed behind")
			}
		})
	}
}

// described is a host whose code has a schema.
type described struct {
	inspecting
	schema []byte
}

func (d described) Session() (program.Session, error) { return d, nil }
func (d described) Inspect(program.Code) (program.Description, error) {
	return program.Description{Schema: d.schema}, nil
}

// TestASchemaPaysForItsBytes compares two deploys of one code. The schema is state that
// the signer did not send, so its bytes cost cells as those of a write do.
//
// Spec: decision C22, 6.
func TestASchemaPaysForItsBytes(t *testing.T) {
	ok := scripted(func(program.Context, program.Message) (program.Outcome, error) {
		return program.Outcome{Status: types.StatusOK}, nil
	})
	p, d := params.Defaults(), types.Deploy{Code: []byte("code")}
	deploy := func(schema string, cells types.Cells) (program.Outcome, types.Cycles, types.Cells, *State) {
		state := NewState(trie.Empty)
		host := described{inspecting{scripted: ok}, []byte(schema)}
		x := Start(&BlockContext{Params: &p, Height: 5, Deliverer: Direct{}, Sessions: host}, state, Cause{}, 100_000, cells)
		_, outcome, err := x.Deploy(alice, &d, types.Wei{})
		if err != nil {
			t.Fatal(err)
		}
		cyclesUsed, cellsUsed := x.Used()
		return outcome, cyclesUsed, cellsUsed, state
	}
	schema := strings.Repeat("s", 1000)
	_, bareCycles, bareCells, _ := deploy("", 10_000)
	outcome, cycles, cells, state := deploy(schema, 10_000)
	if outcome.Status != types.StatusOK || cycles-bareCycles != 1000*p.CostDeployByte || cells-bareCells != 1000 {
		t.Errorf("%s: %d cycles and %d cells more", outcome.Status, cycles-bareCycles, cells-bareCells)
	}
	if got := SchemaOf(state, types.Keccak(d.Code)); string(got) != schema {
		t.Errorf("the chain keeps %.20q", got)
	}
	outcome, _, _, state = deploy(schema, 999)
	if outcome.Status != types.StatusOutOfCells || SchemaOf(state, types.Keccak(d.Code)) != nil {
		t.Errorf("with cells for less than the schema: %s", outcome.Status)
	}
}

// TestActorAddress is keccak256(0xff ‖ deployer ‖ salt32 ‖ keccak256(code))[12:],
// by the published vectors of that formula (EIP-1014).
func TestActorAddress(t *testing.T) {
	for _, v := range []struct{ deployer, salt, code, want string }{
		{"0x0000000000000000000000000000000000000000", "0x0000000000000000000000000000000000000000000000000000000000000000", "0x00",
			"0x4d1a2e2bb4f88f0250f26ffff098b0b30b26bf38"},
		{"0xdeadbeef00000000000000000000000000000000", "0x0000000000000000000000000000000000000000000000000000000000000000", "0x00",
			"0xb928f69bb1d91cd65274e3c79d8986362984fda3"},
		{"0x00000000000000000000000000000000deadbeef", "0x00000000000000000000000000000000000000000000000000000000cafebabe", "0xdeadbeef",
			"0x60f3f640a8508fc6a86d45df051962668e1e8ac7"},
	} {
		deployer, err := types.ParseAddress(v.deployer)
		if err != nil {
			t.Fatal(err)
		}
		salt, err := types.ParseHash(v.salt)
		if err != nil {
			t.Fatal(err)
		}
		var code types.Bytes
		if err := code.UnmarshalText([]byte(v.code)); err != nil {
			t.Fatal(err)
		}
		if got := ActorAddress(deployer, salt, code); got.String() != v.want {
			t.Errorf("%s, want %s", got, v.want)
		}
	}
}

package actors

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// versions is a host that knows codes by their text, and runs one script for all.
type versions struct {
	scripted
	known map[string]program.Description
}

func (v versions) Session() (program.Session, error) { return v, nil }
func (v versions) Inspect(code program.Code) (program.Description, error) {
	if d, ok := v.known[string(code.Source)]; ok {
		return d, nil
	}
	return program.Description{}, &program.Refusal{Reason: "unknown"}
}

// manyTimers are pending timers of one handler.
type manyTimers struct {
	noTimers
	count   int
	handler string
}

func (m manyTimers) Pending(_ *State, _ types.Address, limit int) (pending []PendingTimer) {
	for i := range min(m.count, limit) {
		pending = append(pending, PendingTimer{types.TimerID{byte(i >> 8), byte(i)}, m.handler})
	}
	return pending
}

func offers(names ...string) (d program.Description) {
	for _, name := range names {
		d.Handlers = append(d.Handlers, program.Handler{Name: name})
	}
	return d
}

// upgradeTo upgrades the actor one, with code "old" and timers of its tick, to a code.
func upgradeTo(t *testing.T, code string, timers manyTimers, script scripted) (*Execution, *State, program.Outcome, error) {
	t.Helper()
	p := params.Defaults()
	host := versions{script, map[string]program.Description{"new": offers("tick", program.MigrateHandler), "plain": offers("tick"),
		"bare": offers("tock")}}
	state := NewState(trie.Empty)
	state.setActor(one, &Actor{CodeHash: types.Keccak([]byte("old")), Owner: alice})
	state.setUpgradable(one, &Upgradable{Terms: &types.UpgradeTerms{By: alice}, DeployedAs: types.Keccak([]byte("old"))})
	state.SetStorage(one, []byte("k"), []byte("v"))
	timers.handler = "tick"
	x := Start(&BlockContext{Params: &p, Height: 5, Deliverer: Direct{}, Sessions: host, Timers: timers}, state, Cause{}, 1_000_000, 10_000)
	before, _ := state.Seal()
	outcome, err := x.Upgrade(alice, one, &types.Upgrade{From: types.Keccak([]byte("old")), Code: []byte(code), Migrate: []byte("given")})
	if code == "plain" || code == "bare" {
		outcome, err = x.Upgrade(alice, one, &types.Upgrade{From: types.Keccak([]byte("old")), Code: []byte(code)})
	}
	if after, _ := state.Seal(); err == nil && outcome.Status != types.StatusOK && after.Root() != before.Root() {
		t.Error("something was left")
	}
	return x, state, outcome, err
}

// TestAnUpgradeIsAllOrNothing: whatever goes wrong, code, state, balance and events are as
// before. migrate is its own kind, told who signed and what was given.
//
// Decision C25, 3.
func TestAnUpgradeIsAllOrNothing(t *testing.T) {
	crash := errors.New("crash")
	migrates := func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		if msg.Kind != program.Migrate || msg.Handler != "migrate" || msg.Sender != alice || msg.Self != one || msg.Owner != alice ||
			string(msg.Payload) != "given" {
			t.Errorf("migrate is told %+v", msg)
		}
		return program.Outcome{Status: types.StatusOK, Output: []byte("done")}, errors.Join(ctx.Set([]byte("k"), []byte("w")),
			ctx.Emit("e", nil))
	}
	for _, c := range []struct {
		name, code string
		script     scripted
		status     types.Status
		fault      string
		err        error
	}{
		{"migrate", "new", migrates, types.StatusOK, "", nil},
		{"without migrate", "plain", nil, types.StatusOK, "", nil},
		{"unknown code", "other", nil, types.StatusInvalidCode, "invalid_code", nil},
		{"a handler that a timer names", "bare", nil, types.StatusFailed, "orphans", nil},
		{"migrate raises", "new", func(ctx program.Context, msg program.Message) (program.Outcome, error) {
			_, err := migrates(ctx, msg)
			return newFailedOutcome(types.StatusReverted, "raised", "no"), err
		}, types.StatusReverted, "raised", nil},
		{"migrate crashes", "new", func(program.Context, program.Message) (program.Outcome, error) { return program.Outcome{}, crash },
			"", "", crash},
	} {
		x, state, outcome, err := upgradeTo(t, c.code, manyTimers{count: 2}, c.script)
		if !errors.Is(err, c.err) || outcome.Status != c.status || c.fault != "" && outcome.Fault.Code != c.fault {
			t.Errorf("%s: %+v %v, %v", c.name, outcome, outcome.Fault, err)
			continue
		}
		if c.status != types.StatusOK {
			if len(x.Events) > 0 {
				t.Errorf("%s: events %v", c.name, x.Events)
			}
			continue
		}
		record, u := ActorOf(state, one), UpgradableOf(state, one)
		if record.CodeHash != types.Keccak([]byte(c.code)) || u.Upgrades != 1 || u.DeployedAs != types.Keccak([]byte("old")) ||
			x.Events[len(x.Events)-1].Name != EventUpgraded {
			t.Errorf("%s: %+v, %+v, events %v", c.name, record, u, x.Events)
		}
	}
}

// An upgrade reads at most 1,024 timers, each at the cost of a read.
//
// Decision C25, 4 and 5.
func TestAnUpgradeReadsABoundedNumberOfTimers(t *testing.T) {
	used := func(timers int) types.Cycles {
		x, _, outcome, err := upgradeTo(t, "plain", manyTimers{count: timers}, nil)
		if err != nil || outcome.Status != types.StatusOK {
			t.Fatalf("%d timers: %+v %v, %v", timers, outcome, outcome.Fault, err)
		}
		cycles, _ := x.Used()
		return cycles
	}
	p := params.Defaults()
	if none, most := used(0), used(MaxUpgradeTimers); most-none != 2*MaxUpgradeTimers*p.CostStorageRead {
		t.Errorf("%d timers cost %d cycles, want two reads per timer", MaxUpgradeTimers, most-none)
	}
	_, _, outcome, _ := upgradeTo(t, "plain", manyTimers{count: MaxUpgradeTimers + 1}, nil)
	if outcome.Status != types.StatusFailed || outcome.Fault.Code != "too_many_timers" {
		t.Errorf("one more: %+v %v", outcome, outcome.Fault)
	}
}

// A refusal names at most 16 items and counts the rest, however many there are.
func TestARefusalOfAnUpgradeIsBounded(t *testing.T) {
	var l list
	for i := range 100 {
		l.addLine("item %d", i)
	}
	if text := l.String(); !strings.HasSuffix(text, "item 15; and 84 more") {
		t.Error(text)
	}
}

// The chain adds old to the object that the signer gave. Other bytes it leaves to the
// decoder of the program, which refuses them.
func TestOldIsTheFirstArgumentOfMigrate(t *testing.T) {
	from := types.Hash{1}
	old := fmt.Sprintf(`{"old":"%s"`, from)
	for given, want := range map[string]string{"": old + "}", "{}": old + "}", " { } ": old + "} ", `{"a":1}`: old + `,"a":1}`,
		" {\n\"a\":1}": old + `,"a":1}`, "[]": "[]", "7": "7", "{": old + ","} {
		if got := string(withOld([]byte(given), from)); got != want {
			t.Errorf("%q: %s, want %s", given, got, want)
		}
	}
}

// A place of a continuation whose watchdog is long past keeps no actor from its upgrade,
// and neither does what no host wrote there.
func TestOnlyContinuationsThatSomethingWakesCount(t *testing.T) {
	p := params.Defaults()
	state := NewState(trie.Empty)
	u := &upgrading{x: Start(&BlockContext{Params: &p, Height: 5000}, state, Cause{}, 1000, 10), at: one}
	place := func(i byte, due string) {
		state.SetStorage(one, append([]byte(program.ContinuationPlace), i), []byte(due))
	}
	state.SetStorage(one, []byte(program.ContinuationPlaces), []byte{0x01, 0x1f}) // 0 to 4, and 8
	place(0, "\x00\x00\x00\x00\x00\x00\x13\x88 due at 5000")
	place(1, "\x00\x00\x00\x00\x00\x00\x0f\x87 due at 3975, one block too long ago")
	place(2, "\x00\x00\x00\x00\x00\x00\x0f\x88 due at 3976")
	place(3, "short")
	place(8, "\xff\xff\xff\xff\xff\xff\xff\xff at the end of all heights")
	if got := u.countContinuations(); got != (waits{live: 3, read: 6}) {
		t.Errorf("%+v, want 3 of 6", got)
	}
}

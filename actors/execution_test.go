package actors

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// scripted is a host whose only program is a Go function.
type scripted func(program.Context, program.Message) (program.Outcome, error)

func (s scripted) Session() (program.Session, error) { return s, nil }
func (scripted) Bound(program.Bounds)                {}
func (s scripted) Close()                            {}
func (s scripted) Inspect(program.Code) (program.Description, error) {
	return program.Description{}, nil
}
func (s scripted) Handle(ctx program.Context, _ program.Code, msg program.Message) (program.Outcome, error) {
	return s(ctx, msg)
}

var (
	alice = types.Address{0: 1}
	one   = types.Address{0: 0xa1}
	two   = types.Address{0: 0xa2}
)

// play runs handler "main" of actor one, with actor two present, on limits of
// 100,000 cycles and 10,000 cells.
func play(t *testing.T, host scripted, change func(*BlockContext, *Cause)) (*Execution, *State, program.Outcome, error) {
	t.Helper()
	p := params.Defaults()
	block := &BlockContext{Params: &p, ChainID: 1, Height: 5, Deliverer: Direct{}, Sessions: host, BaseFeeCycle: types.WeiOf(2),
		BaseFeeCell: types.WeiOf(3)}
	cause := Cause{Origin: types.OriginTransaction}
	if change != nil {
		change(block, &cause)
	}
	state := NewState(trie.Empty)
	for _, a := range []types.Address{one, two} {
		state.setActor(a, &Actor{Owner: alice})
		state.Credit(a, types.WeiOf(1_000_000))
	}
	x := Start(block, state, cause, 100_000, 10_000)
	outcome, err := x.Deliver(program.Message{Kind: program.Call, Sender: alice, Self: one, Handler: "main"}, types.Wei{})
	return x, state, outcome, err
}

// F38: what a transaction moves to an actor is seen by the handler that it calls, and by
// none that this calls.
func TestTheValueIsOfTheOutermostMessageAlone(t *testing.T) {
	p := params.Defaults()
	var seen []string
	host := scripted(func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		seen = append(seen, msg.Handler+" "+msg.Value.String()+" "+ctx.Message().Value.String())
		if msg.Self == one {
			if _, err := ctx.Call(two, "inner", nil, 0); err != nil {
				t.Error(err)
			}
		}
		return fine()
	})
	state := NewState(trie.Empty)
	for _, a := range []types.Address{one, two} {
		state.setActor(a, &Actor{Owner: alice})
	}
	state.Credit(alice, types.WeiOf(10))
	x := Start(&BlockContext{Params: &p, ChainID: 1, Height: 5, Deliverer: Direct{}, Sessions: host}, state,
		Cause{Origin: types.OriginTransaction}, 100_000, 10_000)
	outcome, err := x.Deliver(program.Message{Kind: program.Call, Sender: alice, Self: one, Handler: "outer"}, types.WeiOf(7))
	if err != nil || outcome.Status != types.StatusOK {
		t.Fatal(outcome, err)
	}
	if want := []string{"outer 7 7", "inner 0 0"}; !slices.Equal(seen, want) {
		t.Errorf("seen: %v, want %v", seen, want)
	}
}

// C20: the places that an error has for people are no part of what a calling program reads.
func TestC20ACallerReadsNoPlacesOfOthers(t *testing.T) {
	p := params.Defaults()
	p.ReceiptsRoot = params.RootWithoutMessages
	told := "no"
	host := scripted(func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		message := "line 1, in f: CallError: x: no"
		if msg.Self == two {
			return program.Outcome{Status: types.StatusReverted, Fault: &types.Fault{Code: "x", Message: "line 2, in g: no"}, Told: &told}, nil
		}
		if _, err := ctx.Call(two, "inner", nil, 0); err == nil || err.Error() != told && !strings.HasSuffix(err.Error(), ": "+told) {
			t.Errorf("the caller reads %v", err)
		}
		return program.Outcome{Status: types.StatusReverted, Fault: &types.Fault{Code: "x", Message: message}}, nil
	})
	state := NewState(trie.Empty)
	state.setActor(one, &Actor{Owner: alice, Name: "gazette"})
	state.setActor(two, &Actor{Owner: alice, Name: "a: b"}) // by its address
	x := Start(&BlockContext{Params: &p, ChainID: 1, Height: 5, Deliverer: Direct{}, Sessions: host}, state,
		Cause{Origin: types.OriginTransaction}, 100_000, 10_000)
	outcome, err := x.Deliver(program.Message{Kind: program.Call, Sender: alice, Self: one, Handler: "outer"}, types.Wei{})
	want := "gazette line 1, in f: CallError: x: " + two.String() + " line 2, in g: no"
	if err != nil || outcome.Fault.Message != want || outcome.Told == nil || *outcome.Told != "line 1, in f: CallError: x: no" {
		t.Errorf("%v, %+v, %v", err, outcome.Fault, outcome.Told)
	}
}

func fine() (program.Outcome, error) { return program.Outcome{Status: types.StatusOK}, nil }

// TestRunningOutCannotBeCaught: what a program says after it ran out does not
// count, and the chain refuses it everything.
func TestRunningOutCannotBeCaught(t *testing.T) {
	x, state, outcome, _ := play(t, func(ctx program.Context, _ program.Message) (program.Outcome, error) {
		if err := ctx.Set([]byte("k"), []byte("v")); err != nil {
			t.Error(err)
		}
		err := ctx.Spend(1_000_000, 0)
		var fault *program.Fault
		if !errors.As(err, &fault) || !fault.Abort {
			t.Errorf("Spend: %v", err)
		}
		if _, _, err := ctx.Get([]byte("k")); err == nil {
			t.Error("Get goes on")
		}
		if _, err := ctx.Call(two, "main", nil, 0); err == nil {
			t.Error("Call goes on")
		}
		if cycles, cells := ctx.Remaining(); cycles != 0 || cells != 0 {
			t.Error("something remains")
		}
		return fine()
	}, nil)
	if cycles, _ := x.Used(); outcome.Status != types.StatusOutOfCycles || cycles != 100_000 {
		t.Errorf("%+v after %d cycles", outcome, cycles)
	}
	if _, found := StorageOf(state, one, []byte("k")); found {
		t.Error("a write stayed")
	}
}

// TestAnEnvironmentErrorEndsTheWholeExecution, at any depth and whatever the
// calling programs do about it.
func TestAnEnvironmentErrorEndsTheWholeExecution(t *testing.T) {
	crash := errors.New("crash")
	_, _, _, err := play(t, func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		if msg.Self == two {
			return program.Outcome{}, crash
		}
		if _, err := ctx.Call(two, "main", nil, 0); err == nil {
			t.Error("the caller sees no fault")
		}
		if err := ctx.Set([]byte("k"), nil); err == nil {
			t.Error("the caller continues")
		}
		return fine()
	}, nil)
	if !errors.Is(err, crash) {
		t.Errorf("error %v", err)
	}
}

// TestABugIsNotTakenForAProgramsPanic: a panic in the chain's own code passes
// the recovery that is meant for programs, also one that swallows everything.
func TestABugIsNotTakenForAProgramsPanic(t *testing.T) {
	for name, runner := range map[string]Deliverer{"direct": Direct{}, "swallowing": swallowing{}} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if bug, ok := recover().(*Bug); !ok || !strings.Contains(bug.Error(), "nil pointer") {
					t.Error("the bug was swallowed")
				}
			}()
			play(t, func(ctx program.Context, _ program.Message) (program.Outcome, error) {
				_, _ = ctx.ScheduleTimer(program.TimerRequest{Height: 9}) // there is no scheduler
				return fine()
			}, func(b *BlockContext, _ *Cause) { b.Deliverer = runner })
		})
	}
}

// Decision C21: a panic of the conversation with a host of programs is one machine's failure
// over that code, also while it judges a deploy.
func TestC21APanicOfAConversationIsAProgramError(t *testing.T) {
	broken := func(program.Context, program.Message) (program.Outcome, error) { panic("a broken frame") }
	var failed *ProgramError
	if _, _, outcome, err := play(t, broken, nil); !errors.As(err, &failed) || failed.Handler != "main" || outcome.Status != "" {
		t.Errorf("%+v, %v", outcome, err)
	}
	if _, err := inspectBySession(nil, program.Code{}); failureOf(err) != program.Crashed {
		t.Errorf("a judgement: %v", err)
	}
}

// failureOf is how the host failed; 0: something else did.
func failureOf(err error) program.Failure {
	var host *program.HostError
	if !errors.As(err, &host) {
		return 0
	}
	return host.Failure
}

type swallowing struct{}

func (swallowing) Run(s program.Session, ctx program.Context, code program.Code, msg program.Message) (outcome program.Outcome, err error) {
	defer func() { _ = recover() }()
	return s.Handle(ctx, code, msg)
}

// TestReadsHaveNoSideEffects: each is refused, also below a call, and can be
// caught.
func TestReadsHaveNoSideEffects(t *testing.T) {
	_, state, outcome, _ := play(t, func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		if msg.Self == two && msg.Kind != program.Read {
			t.Errorf("kind %d below a read", msg.Kind)
		}
		for name, err := range map[string]error{
			"Set": ctx.Set([]byte("k"), []byte("v")), "Delete": ctx.Delete([]byte("k")), "Transfer": ctx.Transfer(alice, types.WeiOf(1)),
			"Emit": ctx.Emit("e", nil), "Send": ctx.Send(two, "h", nil, 1000, 10), "CancelTimer": ctx.CancelTimer(types.TimerID{}),
			"ExtendTimer": ctx.ExtendTimer(types.TimerID{}, 9),
		} {
			var fault *program.Fault
			if !errors.As(err, &fault) || fault.Code != "read_only" || fault.Abort {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := ctx.ScheduleTimer(program.TimerRequest{Height: 9}); err == nil {
			t.Error("ScheduleTimer is allowed")
		}
		if msg.Self == one {
			if _, err := ctx.Call(two, "main", nil, 0); err != nil {
				t.Error(err)
			}
		}
		return fine()
	}, func(_ *BlockContext, c *Cause) { c.ReadOnly = true })
	if outcome.Status != types.StatusOK {
		t.Error(outcome)
	}
	if !AccountOf(state, one).Balance.Sub(types.WeiOf(1_000_000)).IsZero() {
		t.Error("money moved")
	}
}

// TestWhatEachMethodCosts holds the charges against the table of the package
// comment.
func TestWhatEachMethodCosts(t *testing.T) {
	p := params.Defaults()
	ten := make([]byte, 10)
	for _, c := range []struct {
		name   string
		do     func(program.Context) error
		cycles types.Cycles
		cells  types.Cells
	}{
		{"Get", func(x program.Context) error { _, _, err := x.Get(ten); return err }, p.CostStorageRead, 0},
		{"Set", func(x program.Context) error { return x.Set(ten, ten) }, p.CostStorageWrite, 20},
		{"Delete", func(x program.Context) error { return x.Delete(ten) }, p.CostStorageWrite, 10},
		{"Balance", func(x program.Context) error { _, err := x.Balance(alice); return err }, p.CostStorageRead, 0},
		{"Transfer", func(x program.Context) error { return x.Transfer(alice, types.WeiOf(1)) }, p.CostTransfer, 0},
		{"Emit", func(x program.Context) error { return x.Emit("name", ten) }, p.CostEvent, 14},
		{"Send", func(x program.Context) error { return x.Send(two, "h", ten, 1000, 10) }, p.CostSend, 11},
		{"Call", func(x program.Context) error { _, err := x.Call(two, "h", ten, 0); return err }, p.CostActorCall, 11},
		{"Keccak of 0", func(x program.Context) error { _, err := x.Keccak(nil); return err }, 0, 0},
		{"Keccak of 33", func(x program.Context) error { _, err := x.Keccak(make([]byte, 33)); return err }, 2 * p.CostKeccakWord, 0},
		{"Randomness", func(x program.Context) error { _, err := x.Randomness(ten); return err }, 2 * p.CostKeccakWord, 0},
		{"Spend", func(x program.Context) error { return x.Spend(7, 8) }, 7, 8},
		{"Log", func(x program.Context) error { x.Log("line"); return nil }, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, _, outcome, _ := play(t, func(ctx program.Context, msg program.Message) (program.Outcome, error) {
				if msg.Self == one {
					if err := c.do(ctx); err != nil {
						t.Error(err)
					}
				}
				return fine()
			}, nil)
			if cycles, cells := x.Used(); outcome.Status != types.StatusOK || cycles != c.cycles || cells != c.cells {
				t.Errorf("%d cycles and %d cells, want %d and %d", cycles, cells, c.cycles, c.cells)
			}
		})
	}
}

// noTimers takes every call and does nothing.
type noTimers struct{}

func (noTimers) Schedule(*State, TimerCaller, program.TimerRequest) (TimerEffect, *program.Fault) {
	return TimerEffect{}, nil
}
func (noTimers) Cancel(*State, TimerCaller, types.TimerID) (TimerEffect, *program.Fault) {
	return TimerEffect{}, nil
}
func (noTimers) Extend(*State, TimerCaller, types.TimerID, types.Height) (TimerEffect, *program.Fault) {
	return TimerEffect{}, nil
}
func (noTimers) Payload(*State, types.TimerID) []byte              { return nil }
func (noTimers) Pending(*State, types.Address, int) []PendingTimer { return nil }
func (noTimers) SetGasBidder(*State, TimerCaller, *types.Address) (TimerEffect, *program.Fault) {
	return TimerEffect{}, nil
}

// CIP-5 §6.1: if fires are free, scheduling costs 1,000 cycles and a cell for each
// byte of payload, and cancelling 500; otherwise CIP-3's 200 each. A watched key is
// state like a payload, naming a bidder a write of state.
func TestSection61Costs(t *testing.T) {
	request := program.TimerRequest{Height: 9, Payload: make([]byte, 7)}
	watching := request
	watching.Watch = &types.Watch{Key: make(types.Bytes, 5)}
	for _, c := range []struct {
		name       string
		do         func(program.Context) error
		paid, free types.Cycles
		cells      types.Cells
	}{
		{"schedule", func(x program.Context) error { _, err := x.ScheduleTimer(request); return err }, 200, 1000, 7},
		{"watch", func(x program.Context) error { _, err := x.ScheduleTimer(watching); return err }, 210, 1010, 12},
		{"cancel", func(x program.Context) error { return x.CancelTimer(types.TimerID{}) }, 200, 500, 0},
		{"extend", func(x program.Context) error { return x.ExtendTimer(types.TimerID{}, 9) }, 200, 500, 0},
		{"bidder", func(x program.Context) error { return x.SetGasBidder(nil) }, 200, 200, 0},
	} {
		for fees, want := range map[string]types.Cycles{"paid": c.paid, params.FeesFree: c.free} {
			x, _, _, _ := play(t, func(ctx program.Context, _ program.Message) (program.Outcome, error) {
				if err := c.do(ctx); err != nil {
					t.Error(err)
				}
				return fine()
			}, func(b *BlockContext, _ *Cause) {
				b.Params.Policy, b.Params.Fees, b.Timers = params.PolicyFifo, fees, noTimers{}
			})
			if cycles, cells := x.Used(); cycles != want || cells != c.cells {
				t.Errorf("%s, %s: %d cycles and %d cells, want %d and %d", c.name, fees, cycles, cells, want, c.cells)
			}
		}
	}
}

// TestTheLimitsOfAMessage: keys, values, events, names, the depth of calls and
// the log have limits, each a fault that a program may catch.
func TestTheLimitsOfAMessage(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(program.Context) error
		code string
	}{
		"key":   {func(x program.Context) error { return x.Set(make([]byte, 257), nil) }, "key_too_long"},
		"value": {func(x program.Context) error { return x.Set(nil, make([]byte, 9)) }, "value_too_long"},
		"name":  {func(x program.Context) error { return x.Emit(string(make([]byte, 257)), nil) }, "bad_name"},
		"utf-8": {func(x program.Context) error { return x.Emit("\xff", nil) }, "bad_name"},
		"timer": {func(x program.Context) error {
			_, err := x.ScheduleTimer(program.TimerRequest{Handler: "\xff"})
			return err
		}, "bad_name"},
		"limit 0": {func(x program.Context) error { return x.Send(two, "h", nil, 0, 0) }, "bad_limit"},
		"prepay":  {func(x program.Context) error { return x.Send(two, "h", nil, 4_000_000, 0) }, "insufficient_funds"},
		"pay":     {func(x program.Context) error { return x.Transfer(two, types.WeiOf(1_000_001)) }, "insufficient_funds"},
		"self":    {func(x program.Context) error { _, err := x.Call(one, "h", nil, 0); return err }, "reentrancy"},
		"nobody":  {func(x program.Context) error { _, err := x.Call(alice, "h", nil, 0); return err }, "no_actor"},
		"events": {func(x program.Context) error {
			_ = x.Emit("1", nil)
			_ = x.Emit("2", nil)
			return x.Emit("3", nil)
		}, "too_many_events"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(ctx program.Context, msg program.Message) (program.Outcome, error) {
				var fault *program.Fault
				if err := c.do(ctx); !errors.As(err, &fault) || fault.Code != c.code || fault.Abort {
					t.Errorf("%v, want %s", err, c.code)
				}
				return fine()
			}, func(b *BlockContext, _ *Cause) { b.Params.MaxStateValueBytes, b.Params.MaxEvents = 8, 2 })
		})
	}
}

// TestALogIsCutOff in lines and in length, as valid UTF-8, and survives a
// failure.
func TestALogIsCutOff(t *testing.T) {
	x, _, _, _ := play(t, func(ctx program.Context, _ program.Message) (program.Outcome, error) {
		ctx.Log(strings.Repeat("ä", MaxLogBytes))
		ctx.Log("\xff")
		for range 2 * MaxLogLines {
			ctx.Log("more")
		}
		return newFailedOutcome(types.StatusReverted, "on_purpose", ""), nil
	}, nil)
	if len(x.Logs) != MaxLogLines || !strings.Contains(x.Logs[MaxLogLines-1].Line, "cut off") {
		t.Errorf("%d lines, the last %q", len(x.Logs), x.Logs[len(x.Logs)-1].Line)
	}
	if line := x.Logs[0].Line; len(line) > MaxLogBytes || !strings.HasSuffix(line, "ä…") || x.Logs[1].Line != "\uFFFD" {
		t.Error("a line is too long or no UTF-8")
	}
}

// TestAStaleContextIsRefused: while a callee runs, and after the end, its
// caller's context does nothing.
func TestAStaleContextIsRefused(t *testing.T) {
	var outer program.Context
	_, state, _, _ := play(t, func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		if msg.Self == one {
			outer = ctx
			_, err := ctx.Call(two, "main", nil, 5000)
			if err != nil {
				t.Error(err)
			}
			return fine()
		}
		if err := outer.Set([]byte("k"), []byte("v")); err == nil {
			t.Error("the caller's context works below its call")
		}
		return fine()
	}, nil)
	if err := outer.Set([]byte("k"), []byte("v")); err == nil {
		t.Error("a context works after its end")
	}
	if _, found := StorageOf(state, one, []byte("k")); found {
		t.Error("it wrote")
	}
}

// TestACallHasNoMoreThanItsCaller: a limit above the rest is cut to the rest, and
// cycles that the callee leaves are returned.
func TestACallHasNoMoreThanItsCaller(t *testing.T) {
	x, _, outcome, _ := play(t, func(ctx program.Context, msg program.Message) (program.Outcome, error) {
		left, _ := ctx.Remaining()
		if msg.Self == two {
			if left > 100_000 {
				t.Errorf("the callee has %d cycles", left)
			}
			return program.Outcome{Status: types.StatusOK}, ctx.Spend(1000, 0)
		}
		for _, limit := range []types.Cycles{0, 1 << 60, 2000} {
			before, _ := ctx.Remaining()
			if _, err := ctx.Call(two, "main", nil, limit); err != nil {
				t.Error(err)
			}
			if after, _ := ctx.Remaining(); before-after != 1100 {
				t.Errorf("limit %d: a call took %d cycles", limit, before-after)
			}
		}
		return fine()
	}, nil)
	if cycles, _ := x.Used(); cycles != 3300 || outcome.Status != types.StatusOK {
		t.Errorf("%d cycles, %+v", cycles, outcome)
	}
}

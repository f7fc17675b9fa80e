package pyhost

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// fire runs handle_timer as the chain does.
func (w *world) fire(t *testing.T, at types.Address) {
	t.Helper()
	m := program.Message{Kind: program.Timer, Sender: at, Self: at, Handler: "handle_timer", Owner: owner}
	out, _, err := w.handle(m, fire)
	if err != nil || out.Status != types.StatusOK {
		t.Fatalf("%v %v %v", out.Status, out.Fault, err)
	}
}

// CIP-5 Appendix B: an actor recurs by scheduling again; one chain of timers
// runs however often it is started.
func TestHeartbeat(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, fixture(t, "heartbeat.py"))
	out, _, err := w.handle(program.Message{Kind: program.Init, Sender: owner, Self: at, Owner: owner}, fire)
	if err != nil || out.Status != types.StatusOK || len(w.timers) != 0 {
		t.Fatalf("%v %v %v", out, err, w.timers)
	}
	w.call(t, at, "start", "")
	w.call(t, at, "start", "")
	w.fire(t, at)
	w.fire(t, at)
	if len(w.timers) != 3 || w.timers[0].Height != 110 || w.timers[0].Handler != "" {
		t.Fatalf("timers: %+v", w.timers)
	}
	if got := string(w.actors[at].state["beats"]); got != "2" {
		t.Errorf("beats: %s", got)
	}
	if want := []string{"beat 1 at height 100", "beat 2 at height 100"}; !reflect.DeepEqual(w.logs, want) {
		t.Errorf("log: %q", w.logs)
	}
}

func TestInitIsOptional(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, "def f(): pass\n")
	out, _, err := w.handle(program.Message{Kind: program.Init, Sender: owner, Self: at, Owner: owner}, fire)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, out, types.StatusOK, "")
}

// CIP-6: under the SDK's decorators a handler without one refuses every caller.
func TestDecoratorsSayWhoMayCall(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, fixture(t, "vault.py"))
	send := func(kind program.Kind, from types.Address, handler, payload string) program.Outcome {
		out, _, err := w.handle(program.Message{Kind: kind, Sender: from, Self: at, Handler: handler, Payload: []byte(payload), Owner: owner},
			plenty)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	refused := func(out program.Outcome) {
		t.Helper()
		if out.Status != types.StatusReverted || out.Fault.Code != "not_callable" {
			t.Errorf("got %v %v", out.Status, out.Fault)
		}
	}
	expect(t, send(program.Init, owner, "", ""), types.StatusOK, "")
	expect(t, send(program.Call, alice, "put", "41"), types.StatusOK, "")
	expect(t, send(program.Call, alice, "put", "-300"), types.StatusOK, "")
	expect(t, send(program.Read, alice, "show", ""), types.StatusOK, "-259")
	refused(send(program.Call, alice, "total", ""))
	refused(send(program.Call, owner, "total", ""))
	refused(send(program.Call, alice, "empty", ""))
	refused(send(program.Call, owner, "settle", ""))
	refused(send(program.Call, alice, "init", ""))
	expect(t, send(program.Call, owner, "empty", ""), types.StatusOK, "")
	expect(t, send(program.Call, at, "settle", ""), types.StatusOK, "")
	if _, kept := w.actors[at].state["last"]; kept {
		t.Error("settle did not delete")
	}
}

// A call of another actor re-enters the host that waits for it.
func TestCallsWithinCalls(t *testing.T) {
	w := openWorld(t)
	counter, caller := w.deploy(1, fixture(t, "counter.py")), w.deploy(2, fixture(t, "caller.py"))
	expect(t, first(w.call(t, caller, "relay", string(counter[:])+"7")), types.StatusOK, "7")
	expect(t, first(w.call(t, caller, "attempt", string(counter[:])+"x")), types.StatusOK, "value_error")
	out, _ := w.call(t, caller, "relay", string(counter[:])+"x")
	if out.Status != types.StatusReverted || out.Fault.Code != "value_error" ||
		!strings.Contains(out.Fault.Message, "line 9, in relay: CallError") {
		t.Errorf("got %v", out.Fault)
	}
	var chain string
	for n := byte(10); n < 42; n++ {
		at := w.deploy(n, fixture(t, "caller.py"))
		chain += string(at[:])
	}
	expect(t, first(w.call(t, caller, "descend", chain)), types.StatusOK, strings.Repeat(".", 32))
}

// A callee that runs out of its cycles ends; its caller may continue.
func TestCalleeOutOfCycles(t *testing.T) {
	w := openWorld(t)
	burner := w.deploy(1, "def add(p):\n    while True: pass\n")
	caller := w.deploy(2, fixture(t, "caller.py"))
	expect(t, first(w.call(t, caller, "attempt", string(burner[:]))), types.StatusOK, "out_of_cycles")
}

func TestSendAndTransfer(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, fixture(t, "sender.py"))
	expect(t, first(w.call(t, at, "notify", string(alice[:])+"hi")), types.StatusOK, "")
	if want := []string{`0 handle_message "hi" 100000 10000`}; !reflect.DeepEqual(w.sent, want) {
		t.Errorf("sent %q", w.sent)
	}
	expect(t, first(w.call(t, at, "pay", string(alice[:])+"300")), types.StatusOK, "700")
}

func TestTimerArguments(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, `
import pvm_host
def f(p):
    pvm_host.schedule_timer(110, b"p", handler="tick", fee_payer=p, gas_limit=5000, expires_at=200,
                            max_fee_per_cycle=7, max_priority_fee_per_cycle=2**200, bid=0, gba=p)
    t = pvm_host.schedule_timer_ex(111, b"q")
    pvm_host.extend_timer(t, 300)
    pvm_host.cancel_timer(t)
`)
	expect(t, first(w.call(t, at, "f", string(alice[:]))), types.StatusOK, "")
	r := w.timers[0]
	if r.Height != 110 || r.Handler != "tick" || *r.FeePayer != alice || *r.GasLimit != 5000 || *r.ExpiresAt != 200 ||
		r.MaxFeePerCycle.String() != "7" || r.MaxPriorityFeePerCycle.Big().BitLen() != 201 || !r.Bid.IsZero() || *r.GBA != alice {
		t.Errorf("got %+v", r)
	}
	if r := w.timers[1]; r.FeePayer != nil || r.GasLimit != nil || r.Bid != nil || r.GBA != nil {
		t.Errorf("what was not given is given: %+v", r)
	}
}

// CIP-1 §6 and CIP-5 §9.7, decision T31: both drafts' calls, as written there, by
// position and by name.
func TestTimerArgumentsAreTheDrafts(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, `
import pvm_host
def positions(p):
    pvm_host.schedule_timer(110, b"p", p, 5000, 200, 7, 3)
def names(p):
    pvm_host.schedule_timer(height=110, payload=b"p", fee_payer=p, gas_limit=5000, expires_at=200, max_fee_per_cycle=7,
                            max_priority_fee_per_cycle=3)
def auction(p):
    pvm_host.schedule_timer(height=110, payload=b"p", bid=9, cycles_limit=5000)
def both(p):
    pvm_host.schedule_timer(110, b"p", gas_limit=5000, cycles_limit=5000)
`)
	for _, handler := range []string{"positions", "names"} {
		w.timers = nil
		expect(t, first(w.call(t, at, handler, string(alice[:]))), types.StatusOK, "")
		r := w.timers[0]
		if r.Height != 110 || string(r.Payload) != "p" || *r.FeePayer != alice || *r.GasLimit != 5000 || *r.ExpiresAt != 200 ||
			r.MaxFeePerCycle.String() != "7" || r.MaxPriorityFeePerCycle.String() != "3" || r.Bid != nil {
			t.Errorf("%s: got %+v", handler, r)
		}
	}
	w.timers = nil
	expect(t, first(w.call(t, at, "auction", "")), types.StatusOK, "")
	if r := w.timers[0]; *r.GasLimit != 5000 || r.Bid.String() != "9" || r.FeePayer != nil {
		t.Errorf("auction: got %+v", r)
	}
	if a, _ := w.call(t, at, "both", ""); a.Status != types.StatusReverted || !strings.Contains(a.Fault.Message, "two names of one argument") {
		t.Errorf("both names: %+v", a)
	}
}

// A namespace lives for one message: no global, class or library remembers.
func TestGlobalsAreNoState(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, `
import functools
n = [0]
class K:
    n = 0
@functools.cache
def cached(x): n[0] += 1; return n[0]
def f(p, seen=[]):
    global total
    n[0] += 1
    K.n += 1
    seen.append(1)
    total = globals_of() + cached(1)
    return str((n, K.n, len(seen), total)).encode()
def globals_of():
    try: return total
    except NameError: return 0
`)
	a, used := w.call(t, at, "f", "")
	b, again := w.call(t, at, "f", "")
	expect(t, a, types.StatusOK, "([2], 1, 1, 2)") // f and cached count once each
	if string(a.Output) != string(b.Output) || used != again {
		t.Errorf("%s for %d, then %s for %d", a.Output, used, b.Output, again)
	}
}

// The trace of a program is the same on another host, with values sent ahead,
// and after other programs.
func TestSameEverywhere(t *testing.T) {
	p := openPool(t, Config{Hosts: 2})
	var traces [][]string
	for _, peeks := range []bool{false, true} {
		w := worldOn(t, p)
		w.peeks = peeks
		at := w.deploy(1, fixture(t, "counter.py"))
		for range 3 {
			w.call(t, at, "add", "1")
		}
		out, _, err := w.handle(program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "add", Owner: owner}, 480)
		if err != nil || out.Status != types.StatusOutOfCycles {
			t.Fatalf("%v %v", out, err)
		}
		traces = append(traces, w.trace)
	}
	if !reflect.DeepEqual(traces[0], traces[1]) {
		t.Errorf("without: %q\nwith: %q", traces[0], traces[1])
	}
}

// Whatever the limit, the operations are a prefix of those with plenty, and
// values sent ahead change none of it.
func TestEveryLimitEndsTheSame(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, fixture(t, "counter.py"))
	m := program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "add", Payload: []byte("1"), Owner: owner}
	_, needed, err := w.handle(m, plenty)
	if err != nil {
		t.Fatal(err)
	}
	run := func(peeks bool, limit types.Cycles) string {
		w.peeks, w.trace = peeks, nil
		w.actors[at].state = map[string][]byte{"count": []byte("5")}
		out, used, err := w.handle(m, limit)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(out.Status, used, w.trace)
	}
	for limit := types.Cycles(0); limit <= needed+20; limit += 7 {
		if a, b := run(false, limit), run(true, limit); a != b {
			t.Fatalf("limit %d:\n%s\n%s", limit, a, b)
		}
	}
	if got := run(true, needed); !strings.HasPrefix(got, "ok") {
		t.Errorf("exactly what is needed: %s", got)
	}
	if got := run(true, needed-1); !strings.HasPrefix(got, "out_of_cycles") {
		t.Errorf("one less: %s", got)
	}
}

func TestCostsAreData(t *testing.T) {
	var p params.Params
	p.CostArithmetic, p.CostKeccakWord = 1, 6
	if c := p.StepCosts(); c[0] != 1 || c[15] != 6 || c[1] != 0 {
		t.Fatalf("got %v", c)
	}
	w := openWorld(t)
	at := w.deploy(1, "def f(): x = 1 + 2 + 3\n")
	_, cheap := w.call(t, at, "f", "")
	defaults := params.Defaults()
	dear := defaults.StepCosts()
	dear[0] = 1000
	w.costs = &dear
	_, used := w.call(t, at, "f", "")
	w.costs = nil
	_, after := w.call(t, at, "f", "")
	if used < cheap+2000 || after != cheap {
		t.Errorf("%d, then %d, then %d", cheap, used, after)
	}
}

const endless = "def f():\n    while True: pass\n"

// run hands an actor's handler f a message that is not expected to end.
func (w *world) run(at types.Address) error {
	_, _, err := w.handle(program.Message{Kind: program.Call, Self: at, Handler: "f"}, 1<<40)
	return err
}

// failed wants an error of the environment that describes how the host failed.
func failed(t *testing.T, err error, want program.Failure, text string) {
	t.Helper()
	var host *program.HostError
	if !errors.As(err, &host) || host.Failure != want || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want: %s, %s", err, want, text)
	}
}

// A host that hangs is killed at the timeout; the pool then starts another.
func TestHangIsTheEnvironments(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	s, err := p.Open(program.ForBlock)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(s)
	expect(t, first(w.call(t, w.deploy(2, "def f(): pass\n"), "f", "")), types.StatusOK, "")
	p.config.CallTimeout = 50 * time.Millisecond
	at := w.deploy(1, endless)
	failed(t, w.run(at), program.Late, "no answer in time")
	_, err = s.Inspect(codeOf(""))
	failed(t, err, program.Crashed, "has ended")
	s.Close()
	p.config.CallTimeout = DefaultCallTimeout
	w = worldOn(t, p)
	at = w.deploy(1, "def f(): pass\n")
	expect(t, first(w.call(t, at, "f", "")), types.StatusOK, "")
}

// Session.Bound gives up the running message when its caller's time is over, and
// begins no other in that state. With time again the same session continues, if
// nothing had begun.
func TestABoundStopsWhatRuns(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	s, _ := p.Open(program.ForBlock)
	w := newWorld(s)
	quick, slow := w.deploy(1, "def f(): return b'done'\n"), w.deploy(2, endless)
	left := time.Duration(0)
	s.Bound(program.Bounds{Left: func() time.Duration { return left }})
	failed(t, w.run(quick), program.Stopped, "no time")
	left = time.Minute
	expect(t, first(w.call(t, quick, "f", "")), types.StatusOK, "done")
	left = -time.Second
	failed(t, w.run(quick), program.Stopped, "no time")
	left = time.Minute
	expect(t, first(w.call(t, quick, "f", "")), types.StatusOK, "done")
	left = 50 * time.Millisecond
	failed(t, w.run(slow), program.Stopped, "given up")
	s.Close()
	other, _ := p.Open(program.ForBlock)
	defer other.Close()
	w = newWorld(other)
	other.Bound(program.Bounds{})
	expect(t, first(w.call(t, w.deploy(1, "def f(): return b'done'\n"), "f", "")), types.StatusOK, "done")
}

// A message that waits for a busy host is stopped by its bound too.
func TestABoundStopsWaiting(t *testing.T) {
	p := openPool(t, Config{Hosts: 1})
	w := worldOn(t, p)
	expect(t, first(w.call(t, w.deploy(1, "def f(): pass\n"), "f", "")), types.StatusOK, "")
	s, _ := p.Open(program.ForBlock)
	defer s.Close()
	s.Bound(program.Bounds{Left: func() time.Duration { return 20 * time.Millisecond }})
	_, err := s.Inspect(codeOf("def f(): pass\n"))
	failed(t, err, program.Stopped, "no time")
}

func TestCrashIsTheEnvironments(t *testing.T) {
	p := openPool(t, Config{})
	gone := &program.HostError{Failure: program.Late, During: "a callee", Err: errors.New("gone")}
	for name, kill := range map[string]func(w *world, h *host) (want error){
		"killed while idle":   func(_ *world, h *host) error { h.cmd.Process.Kill(); <-h.gone; return errEnded },
		"killed in a request": func(w *world, h *host) error { w.failing = gone; return gone },
		"a broken context":    func(w *world, h *host) error { w.failing = errors.New("the disk is full"); return w.failing },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := p.Open(program.ForBlock)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			w := newWorld(s)
			at := w.deploy(1, fixture(t, "counter.py"))
			expect(t, first(w.call(t, at, "add", "")), types.StatusOK, "1")
			want := kill(w, s.(*session).host)
			_, _, err = w.handle(program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "add", Owner: owner}, plenty)
			if !errors.Is(err, want) {
				t.Errorf("got %v", err)
			}
			failed(t, first2(s.Inspect(codeOf(""))), program.Crashed, "has ended")
		})
	}
}

func first2[T any](_ T, err error) error { return err }

// A host ends when its parent does: its standard input ends then.
func TestHostEndsWithItsParent(t *testing.T) {
	p := openPool(t, Config{})
	s, err := p.Open(program.ForBlock)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Inspect(codeOf("")); err != nil {
		t.Fatal(err)
	}
	h := s.(*session).host
	h.in.Close()
	<-h.gone
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d", code)
	}
}

// An idle host that died is replaced at Open, unseen.
func TestDeadIdleHostIsReplaced(t *testing.T) {
	p := openPool(t, Config{})
	s, err := p.Open(program.ForRead)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Inspect(codeOf("")); err != nil {
		t.Fatal(err)
	}
	h := s.(*session).host
	s.Close()
	h.cmd.Process.Kill()
	<-h.gone
	if s, err = p.Open(program.ForRead); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Inspect(codeOf("def f(): pass\n")); err != nil {
		t.Error(err)
	}
}

// Memory beyond the address space is never an outcome.
func TestOutOfMemoryIsTheEnvironments(t *testing.T) {
	w := worldOn(t, openPool(t, Config{AddressSpace: 400 << 20}))
	at := w.deploy(1, `
def f():
    l = []
    while True:
        try:
            l.append(b"x" * 1000000)
        except Exception:
            return b"caught"
`)
	failed(t, w.run(at), program.Crashed, "out of memory")
}

func TestMissingPython(t *testing.T) {
	p := New(Config{Python: "python-that-is-not-there"})
	defer p.Close()
	s, _ := p.Open(program.ForBlock)
	defer s.Close()
	_, err := s.Inspect(codeOf(""))
	failed(t, err, program.Missing, "no python3")
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install -y python3") {
		t.Errorf("got %v", err)
	}
	if _, again := p.Probe(); !errors.As(again, &missing) {
		t.Errorf("Probe: %v", again)
	}
}

func TestClosedPool(t *testing.T) {
	p := openPool(t, Config{})
	p.Close()
	s, _ := p.Open(program.ForBlock)
	if _, err := s.Inspect(codeOf("")); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}

// Both sides keep at most MaxCodes codes, and agree on which.
func TestCodesAreBounded(t *testing.T) {
	w := openWorld(t)
	for round := range 2 {
		for i := range MaxCodes + 20 {
			at := w.deploy(1, fmt.Sprintf("def f(): return b'%d'\n", i))
			expect(t, first(w.call(t, at, "f", "")), types.StatusOK, fmt.Sprint(i))
		}
		if n := len(w.session.(*session).host.codes); n != MaxCodes {
			t.Errorf("round %d: %d codes", round, n)
		}
	}
}

// What messages leave behind in circles is collected before it adds up to what
// another message would be ended for.
func TestGarbageIsNobodysDeath(t *testing.T) {
	w := worldOn(t, openPool(t, Config{AddressSpace: 600 << 20}))
	at := w.deploy(1, `
def f():
    for i in range(20):
        held = [bytes(1000000)]
        held.append(held)
    for i in range(20000): pass
`)
	for range 60 {
		if err := w.run(at); err != nil {
			t.Fatal(err)
		}
	}
}

// Of many starts that take long, the first is told of.
func TestSlowStartsAreToldOnce(t *testing.T) {
	var told []string
	p := New(Config{Slow: func(words string) { told = append(told, words) }})
	for _, words := range []string{"one", "another"} {
		p.config.Slow(words)
	}
	if !slices.Equal(told, []string{"one"}) {
		t.Errorf("told %q", told)
	}
}

// A Python that hangs at its start is told of while it is waited for.
func TestASlowStartIsTold(t *testing.T) {
	dir := t.TempDir()
	path, gate := filepath.Join(dir, "python3"), filepath.Join(dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nread line < "+gate+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	told, ended := make(chan string, 1), make(chan error, 1)
	p := New(Config{Python: path, Slow: func(words string) { told <- words }})
	start := time.Now()
	go func() {
		_, err := p.Probe()
		ended <- err
	}()
	if words := <-told; !strings.Contains(words, path) || !strings.Contains(words, "has not started") || time.Since(start) < slowStart {
		t.Errorf("told %q after %v", words, time.Since(start))
	}
	open, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	open.Close()
	var missing *MissingError
	if err := <-ended; !errors.As(err, &missing) {
		t.Errorf("then %v", err)
	}
}

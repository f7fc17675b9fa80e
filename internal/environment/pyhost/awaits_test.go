package pyhost

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const waitingHead = "from cowboy_sdk import runner, capture\nimport pvm_host\n"

// waitingActor is an actor on a chain in memory, whose jobs are echoes.
type waitingActor struct {
	*testing.T
	w  *world
	at types.Address
}

func newWaitingActor(t *testing.T, w *world, source string) *waitingActor {
	w.jobs, w.timers = nil, nil
	return &waitingActor{T: t, w: w, at: w.deploy(1, waitingHead+source)}
}

func (a *waitingActor) message(kind program.Kind, from types.Address, handler string, payload []byte) program.Outcome {
	a.Helper()
	out, _, err := a.w.handle(program.Message{Kind: kind, Self: a.at, Sender: from, Owner: owner, Handler: handler, Payload: payload}, plenty)
	if err != nil {
		a.Fatalf("%s: %v", handler, err)
	}
	return out
}

// answer delivers the outcome of the n-th job.
func (a *waitingActor) answer(n int, result, code string) program.Outcome {
	a.Helper()
	told := a.w.ended(n, result, code)
	return a.message(program.Call, types.DispatcherAddress, a.w.jobs[n-1].Callback.Handler, codec.Marshal(&told))
}

// finish calls f and answers each job with its parameters, or with a failure where
// those are "bad". It returns how the last message ended.
func (a *waitingActor) finish(payload string) (out program.Outcome) {
	a.Helper()
	out = a.message(program.Call, alice, "f", []byte(payload))
	for n := len(a.w.jobs); len(a.w.jobs) == n && n > 0 && out.Status == types.StatusOK && string(out.Output) == string(idOf(n)); n++ {
		asked, code := string(a.w.jobs[n-1].JobType.Custom.Params), ""
		if asked == "bad" {
			code = "disagreement"
		}
		out = a.answer(n, asked, code)
	}
	return out
}

func idOf(n int) []byte {
	id := jobID(n)
	return id[:]
}

// CIP-6: a continuation does what it would do if its jobs answered at once. The same
// function runs both ways; where it says AWAIT one awaits an echo, the other calls one.
func TestAContinuationDoesWhatItWouldDoAtOnce(t *testing.T) {
	w := openWorld(t)
	for name, body := range map[string]string{
		"in a row": `
    x = AWAIT(b"1")
    ctx.log = [x]
    x = AWAIT(b"2")
    ctx.log.append(x)
`, "in if": `
    if p == b"a":
        x = AWAIT(b"1")
        if x == b"1":
            y = AWAIT(b"2")
            ctx.log.append(y)
        else:
            ctx.log.append(b"never")
        ctx.log.append(b"behind")
    elif p == b"b":
        ctx.log.append(b"b")
    elif p == b"c":
        z = AWAIT(b"3")
        ctx.log.append(z)
    else:
        ctx.log.append(b"else")
        z = AWAIT(b"4")
        ctx.log.append(z)
    ctx.log.append(b"end")
`, "in while": `
    ctx.n = len(p)
    while ctx.n < 5:
        ctx.n += 1
        if ctx.n == 3:
            continue
        x = AWAIT(b"%d" % ctx.n)
        ctx.log.append(x)
        if x == b"4":
            break
    else:
        ctx.log.append(b"no break")
    ctx.log.append(b"%d" % ctx.n)
`, "in try": `
    ctx.ask = [p, b"bad", b"2"]
    while ctx.ask:
        try:
            ctx.log.append(b"try")
            x = AWAIT(ctx.ask.pop(0))
            if x == b"a":
                return AWAIT(b"returned")
            ctx.log.append(x)
        except runner.RunnerError as e:
            ctx.log.append(e.code.encode())
        else:
            ctx.log.append(b"else")
    ctx.log.append(b"end")
`, "in while in while": `
    ctx.i = 0
    while ctx.i < 2:
        ctx.j = 0
        while ctx.j < 2:
            x = AWAIT(b"%d.%d" % (ctx.i, ctx.j))
            ctx.log.append(x)
            ctx.j += 1
        ctx.i += 1
        for k in range(2):
            ctx.log.append(b"%d" % k)
    y = AWAIT(b"last")
    ctx.log.append(y)
`,
	} {
		for _, payload := range []string{"a", "b", "c", "dddddd"} {
			const end = "    return repr(ctx.log).encode()\n"
			begin := "    ctx = capture(log=[])\n"
			async := "@runner.continuation\nasync def f(p):\n" + begin + body + end
			once := "class Kept: pass\ndef capture(**k):\n    kept = Kept()\n    kept.log = []\n    return kept\n" +
				"def echo(x):\n    if x == b'bad': raise runner.RunnerError('disagreement', '')\n    return x\ndef f(p):\n"
			once += strings.TrimPrefix(async, "@runner.continuation\nasync def f(p):\n")
			want := newWaitingActor(t, w, strings.ReplaceAll(once, "AWAIT(", "echo(")).finish(payload)
			got := newWaitingActor(t, w, strings.ReplaceAll(async, "AWAIT(", "await runner.custom('echo', ")).finish(payload)
			if got.Status != types.StatusOK || string(got.Output) != string(want.Output) {
				t.Errorf("%s, %s: %s %q %v, and at once %s %q", name, payload, got.Status, got.Output, got.Fault, want.Status, want.Output)
			}
			if (strings.Contains(body, "p == ") && payload == "b" || len(payload) > 5 && name == "in while") != (len(w.jobs) == 0) {
				t.Errorf("%s, %s: %d jobs", name, payload, len(w.jobs))
			}
		}
	}
}

// CIP-6: at most 8 awaits in a row, 64 KiB captured, 100 continuations of an actor that
// wait; each is refused with the author's line.
func TestCIP6TheLimitsOfContinuations(t *testing.T) {
	a := newWaitingActor(t, openWorld(t), `
@runner.continuation
async def f(p):
    while True:
        await runner.custom("echo")

@runner.continuation
async def keeps(p):
    ctx = capture(x=bytes(int(p)))
    await runner.custom("echo")
`)
	const tooMany = "line 7, in f: RuntimeError: more than 8"
	if out := a.finish("x"); len(a.w.jobs) != 8 || out.Fault == nil || !strings.Contains(out.Fault.Message, tooMany) {
		t.Errorf("%d jobs, %+v", len(a.w.jobs), out)
	}
	const around = len("\xa1ax\x59\xff\xff") // a map of one name, and the head of this many bytes
	for bytes, fits := range map[int]bool{64<<10 - around: true, 64<<10 - around + 1: false} {
		out := a.message(program.Call, alice, "keeps", fmt.Append(nil, bytes))
		if (out.Status == types.StatusOK) != fits || !fits && !strings.Contains(out.Fault.Message, "line 12") {
			t.Errorf("%d bytes: %+v", bytes, out)
		}
	}
	for n := 2; n <= 101; n++ { // f is the first that waits, the one that just fits the second
		out := a.message(program.Call, alice, "keeps", []byte("1"))
		if (out.Status == types.StatusOK) != (n < 100) || n >= 100 && out.Fault.Code != "too_many_continuations" {
			t.Errorf("%d wait, and another: %+v", n, out)
		}
	}
	if out := a.answer(len(a.w.jobs), "x", ""); out.Status != types.StatusOK {
		t.Errorf("%+v", out)
	}
	if out := a.message(program.Call, alice, "keeps", []byte("1")); out.Status != types.StatusOK {
		t.Errorf("a place is free, and %+v", out)
	}
}

// A local name that an await forgot is refused at the line that reads it, on every
// way.
func TestNoLocalNameOutlivesAnAwait(t *testing.T) {
	w := openWorld(t)
	const a = "await runner.custom('echo')\n"
	for source, line := range map[string]int{
		"n = 1\n" + a + "pvm_host.charge_gas(n)\n":                   7,
		a + "pvm_host.charge_gas(len(p))\n":                          6,
		"n = 1\nif p:\n    " + a + "pvm_host.charge_gas(n)\n":        8,
		"n = 1\nwhile p:\n    pvm_host.charge_gas(n)\n    " + a:      6,
		"n = 1\ntry:\n    " + a + "except ValueError:\n    n += 1\n": 9,
		a + "n = 1\npvm_host.charge_gas(n)\n":                        0,
		"n = await runner.custom('echo')\npvm_host.charge_gas(n)\n":  0,
		"if p:\n    return " + a + "return p\n":                      0,
		"n = 1\nif n:\n    " + a + "else:\n    n += 1\n":             0,
	} {
		body := "    " + strings.ReplaceAll(strings.TrimSpace(source), "\n", "\n    ") + "\n"
		_, err := w.session.Inspect(codeOf(waitingHead + "@runner.continuation\nasync def f(p):\n" + body))
		var refusal *program.Refusal
		if errors.As(err, &refusal) != (line > 0) || line > 0 && (refusal.Line != line || !strings.Contains(refusal.Reason, "does not outlive")) {
			t.Errorf("%s%v, want line %d", body, err, line)
		}
	}
}

// The outcome of a job is delivered once, to its submitter.
func TestAnOutcomeIsToldOnce(t *testing.T) {
	a := newWaitingActor(t, openWorld(t), `
def f(p):
    return runner.custom("echo", p).submit(context=p)
def on_runner_result(result):
    pvm_host.set_state(result.context, str(result.ok).encode())
`)
	a.message(program.Call, alice, "f", []byte("a"))
	a.message(program.Call, alice, "f", []byte("b"))
	if first, second, again := a.answer(1, "x", ""), a.answer(2, "", "timeout"), a.answer(1, "x", ""); first.Status != types.StatusOK ||
		second.Status != types.StatusOK || again.Fault == nil || again.Fault.Code != "not_callable" {
		t.Errorf("%+v, %+v, %+v", first, second, again)
	}
	if kept := a.w.actors[a.at].state; string(kept["a"]) != "True" || string(kept["b"]) != "False" {
		t.Errorf("%q", kept)
	}
}

// An uncaught error of an await ends the continuation. If something was done after
// the await, its message is undone, so that nothing is done by half.
func TestWhatAnUncaughtErrorEnds(t *testing.T) {
	const caught = `
    try:
        await runner.custom("echo")
    except runner.RunnerError:
        DONE
        raise
`
	w := openWorld(t)
	for done, undone := range map[string]bool{
		"print('nothing')": false, "pvm_host.get_state(b'k')": false, "pvm_host.set_state(b'k', b'v')": true,
		"pvm_host.transfer(pvm_host.self_address(), 0)": true, "pvm_host.delete_state(b'k')": true, "pvm_host.emit_event('e')": true,
	} {
		a := newWaitingActor(t, w, "@runner.continuation\nasync def f(p):"+strings.ReplaceAll(caught, "DONE", done))
		a.message(program.Call, alice, "f", nil)
		out := a.answer(1, "", "timeout")
		if (out.Status == types.StatusReverted) != undone || out.Status != types.StatusReverted && out.Status != types.StatusOK {
			t.Errorf("%s: %+v", done, out)
		}
		if _, waits := a.w.actors[a.at].state["\x00runner/at/\x00"]; waits != undone {
			t.Errorf("%s: it waits is %t", done, waits)
		}
	}
}

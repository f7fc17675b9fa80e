package pyhost

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// transcript answers the commands of testdata:
//
//	inspect            source → what it offers, or line and reason of a refusal
//	value              an expression → its repr, or how it ends
//	bounded            an expression, or indented statements → how it ends
//	run [limit=N] [handler=NAME] [payload=TEXT] [kind=K] [at=HEIGHT] [cost] [state] [trace]
//	                   source → outcome of a handler, with what is asked for
//	answer [job=N] [result=TEXT] [error=CODE] [stranger] [handler=NAME] [from=alice] [kind=K] [cost] [trace]
//	                   the outcome of a job, the last unless N says which → what came of it
//	fire [timer=N] [at=HEIGHT] [cost] [trace]
//	                   a timer that was set, the last unless N says which → the same
//	state              what the actor keeps
//	jobs [whole]       what was submitted
type transcript struct {
	t *testing.T
	w *world
}

func (tr *transcript) command(d *datadriven.TestData) string {
	switch d.Cmd {
	case "inspect":
		return tr.inspect(d.Input)
	case "run":
		return tr.run(d)
	case "value":
		return tr.value(d)
	case "bounded":
		return tr.bounded(d)
	case "answer":
		return tr.answer(d)
	case "fire":
		return tr.fire(d)
	case "state":
		return tr.state()
	case "jobs":
		return tr.jobs(d)
	}
	tr.t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
	return ""
}

func (tr *transcript) inspect(source string) string {
	found, err := tr.w.session.Inspect(codeOf(source))
	var refusal *program.Refusal
	if errors.As(err, &refusal) {
		return refusal.Error()
	}
	if err != nil {
		tr.t.Fatal(err)
	}
	var out []string
	for _, h := range found.Handlers {
		out = append(out, strings.TrimRight(h.Name+" – "+h.Doc, " –"))
	}
	return "fine: " + strings.Join(out, "; ")
}

var kinds = map[string]program.Kind{"init": program.Init, "call": program.Call, "timer": program.Timer, "read": program.Read}

func (tr *transcript) run(d *datadriven.TestData) string {
	limit, handler, payload, kind := uint64(plenty), "f", "", "call"
	d.MaybeScanArgs(tr.t, "limit", &limit)
	d.MaybeScanArgs(tr.t, "handler", &handler)
	d.MaybeScanArgs(tr.t, "payload", &payload)
	d.MaybeScanArgs(tr.t, "kind", &kind)
	at := types.Address{0: 0xaa, 19: 1}
	if source := strings.TrimSpace(d.Input); source != "" {
		tr.w.deploy(1, d.Input+"\n")
		tr.w.jobs, tr.w.timers, tr.w.height = nil, nil, 0
	}
	if d.HasArg("at") {
		var height uint64
		d.ScanArgs(tr.t, "at", &height)
		tr.w.height = types.Height(height) - 100
	}
	m := program.Message{Kind: kinds[kind], Sender: alice, Self: at, Handler: handler, Payload: []byte(payload), Owner: owner}
	return tr.handled(d, m, types.Cycles(limit))
}

// handled runs a message, and says how it ended.
func (tr *transcript) handled(d *datadriven.TestData, m program.Message, limit types.Cycles) string {
	tr.w.trace, tr.w.logs = nil, nil
	out, used, err := tr.w.handle(m, limit)
	if err != nil {
		tr.t.Fatalf("%s: %v", d.Pos, err)
	}
	var b strings.Builder
	if out.Status == types.StatusOK {
		fmt.Fprintf(&b, "ok %q", out.Output)
	} else {
		fmt.Fprintf(&b, "%s %s: %s", out.Status, out.Fault.Code, out.Fault.Message)
	}
	if d.HasArg("cost") {
		fmt.Fprintf(&b, "\n%d cycles", used)
	}
	for _, line := range tr.w.logs {
		fmt.Fprintf(&b, "\nlog: %s", line)
	}
	if d.HasArg("trace") {
		for _, line := range tr.w.trace {
			fmt.Fprintf(&b, "\n%s", line)
		}
	}
	return b.String()
}

const holeHead = "import collections, decimal, functools, hashlib, itertools, json, math, re, struct\nimport pvm_host\ndef f(payload):\n"

const valueHead = `import base64, bisect, collections, decimal, enum, functools, hashlib, heapq, hmac, itertools, json, math, operator, re, string, struct
import pvm_host
from cowboy_sdk import ActorRef, runtime
def f(payload):
    return repr((`

func (tr *transcript) value(d *datadriven.TestData) string {
	at := tr.w.deploy(1, valueHead+d.Input+")).encode()\n")
	out, _ := tr.w.call(tr.t, at, "f", "")
	if out.Status == types.StatusOK {
		return string(out.Output)
	}
	return fmt.Sprintf("%s %s: %s", out.Status, out.Fault.Code, strings.TrimPrefix(out.Fault.Message, "line 5, in f: "))
}

// bounded runs what must end within maxHole, with a block's cycles.
func (tr *transcript) bounded(d *datadriven.TestData) string {
	body := d.Input
	if !strings.Contains(body, "\n") && !strings.HasPrefix(body, "    ") && !strings.HasPrefix(body, "while") {
		body = "    return repr(" + strings.TrimSpace(body) + ").encode()"
	} else if !strings.HasPrefix(body, "    ") {
		body = "    " + body
	}
	host, start := tr.w.session.(*session), time.Now()
	before := host.cpu(start)
	at := tr.w.deploy(1, holeHead+body+"\n")
	m := program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "f", Owner: owner}
	out, used, err := tr.w.handle(m, fire)
	if err != nil {
		tr.t.Fatalf("%s: %v", d.Pos, err)
	}
	took := host.cpu(start) - before
	tr.t.Logf("%8d cycles %8v %.50q", used, took.Round(time.Microsecond*100), d.Input)
	if took > maxHole {
		tr.t.Errorf("%s: took %v", d.Pos, took)
	}
	if out.Status == types.StatusOK {
		return fmt.Sprintf("ok %.60q", out.Output)
	}
	return clipText(fmt.Sprintf("%s %s", out.Status, out.Fault.Message), 160)
}

const (
	fire = types.Cycles(550_000) // the limit of a timer's fire
	// maxHole is processor time: far more than those cycles take, and far less than
	// any of the holes took.
	maxHole = 2 * time.Second
)

func TestTranscripts(t *testing.T) {
	transcripts(t, openPool(t, Config{CallTimeout: time.Minute}), func(string) bool { return true })
}

// transcripts plays the files that are chosen by their paths.
func transcripts(t *testing.T, pool *Pool, chosen func(path string) bool) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !chosen(path) {
			return
		}
		s, err := pool.Open(program.ForBlock)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tr := &transcript{t: t, w: newWorld(s)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			tr.t = t
			return tr.command(d)
		})
	})
}

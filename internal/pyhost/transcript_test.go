package pyhost

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/program"
	"github.com/cowboyinc/devnet/internal/types"
)

// transcript answers the commands of testdata:
//
//	inspect            source → what it offers, or line and reason of a refusal
//	run [limit=N] [handler=NAME] [payload=TEXT] [kind=K] [cost] [state] [trace]
//	                   source → outcome of a handler, with what is asked for
type transcript struct {
	t *testing.T
	w *world
	n byte
}

func (tr *transcript) command(d *datadriven.TestData) string {
	switch d.Cmd {
	case "inspect":
		return tr.inspect(d.Input)
	case "run":
		return tr.run(d)
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
	}
	tr.w.trace, tr.w.logs = nil, nil
	m := program.Message{Kind: kinds[kind], Sender: alice, Self: at, Handler: handler, Payload: []byte(payload), Owner: owner}
	out, used, err := tr.w.handle(m, types.Cycles(limit))
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

func TestTranscripts(t *testing.T) {
	pool := openPool(t, Config{})
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
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

package pyhost

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// ended is the payload of a callback, as in decision J19.
type ended struct {
	JobID         types.Hash `cbor:"job_id"`
	Status        string     `cbor:"status"`
	Result        []byte     `cbor:"result"`
	Error         *endedBy   `cbor:"error"`
	CorrelationID []byte     `cbor:"correlation_id"`
	Context       []byte     `cbor:"context"`
}

type endedBy struct {
	Code    string `cbor:"code"`
	Message string `cbor:"message"`
}

// ended is how the n-th job ended: with a result, or with an error's code.
func (w *world) ended(n int, result, code string) ended {
	callback := w.jobs[n-1].Callback
	told := ended{JobID: jobID(n), Status: "Completed", Result: []byte(result), CorrelationID: callback.CorrelationID,
		Context: callback.Context}
	if code != "" {
		told.Status, told.Result, told.Error = "Failed", nil, &endedBy{code, "refused by the test"}
	}
	return told
}

// waits takes the actor summarizer through its awaits, and returns the cost of each
// message.
func (w *world) waits(t *testing.T, at types.Address) (results []string) {
	messages := []program.Message{{Kind: program.Call, Self: at, Sender: owner, Owner: owner, Handler: "summarize", Payload: []byte("a text")}}
	for n := 1; len(messages) > 0; n++ {
		out, used, err := w.handle(messages[0], plenty)
		if err != nil || out.Status != types.StatusOK {
			t.Fatalf("%+v, %v", out, err)
		}
		results, messages = append(results, fmt.Sprint(string(out.Output), used)), nil
		if n <= len(w.jobs) {
			told := w.ended(n, "an answer", "")
			messages = []program.Message{{Kind: program.Call, Self: at, Sender: types.DispatcherAddress, Owner: owner,
				Handler: w.jobs[n-1].Callback.Handler, Payload: codec.Marshal(&told)}}
		}
	}
	return append(results, string(w.actors[at].state["title/1"]))
}

// answer delivers the outcome of a job, from the dispatcher or another sender.
func (tr *transcript) answer(d *datadriven.TestData) string {
	n, result, code, from, kind := len(tr.w.jobs), "", "", "", "call"
	d.MaybeScanArgs(tr.t, "job", &n)
	d.MaybeScanArgs(tr.t, "result", &result)
	d.MaybeScanArgs(tr.t, "error", &code)
	d.MaybeScanArgs(tr.t, "from", &from)
	d.MaybeScanArgs(tr.t, "kind", &kind)
	if n < 1 || n > len(tr.w.jobs) {
		return "no such job"
	}
	callback := tr.w.jobs[n-1].Callback
	told := tr.w.ended(n, result, code)
	if d.HasArg("stranger") { // whose job names this actor's handler
		told.JobID = types.Hash{0: 0xbd}
	}
	m := program.Message{Kind: kinds[kind], Sender: types.DispatcherAddress, Self: callback.Actor, Handler: callback.Handler,
		Payload: codec.Marshal(&told), Owner: owner}
	if from != "" {
		m.Sender = alice
	}
	d.MaybeScanArgs(tr.t, "handler", &m.Handler)
	return tr.handled(d, m, plenty)
}

// fire has a timer fire, at its height or another.
func (tr *transcript) fire(d *datadriven.TestData) string {
	n := len(tr.w.timers)
	d.MaybeScanArgs(tr.t, "timer", &n)
	if n < 1 || n > len(tr.w.timers) {
		return "no such timer"
	}
	timer := tr.w.timers[n-1]
	height := uint64(timer.Height)
	d.MaybeScanArgs(tr.t, "at", &height)
	tr.w.height = types.Height(height) - 100
	self := types.Address{0: 0xaa, 19: 1}
	m := program.Message{Kind: program.Timer, Sender: self, Self: self, Handler: timer.Handler, Payload: timer.Payload, Owner: owner}
	return tr.handled(d, m, fire)
}

func (tr *transcript) state() string {
	kept := tr.w.actors[types.Address{0: 0xaa, 19: 1}].state
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		fmt.Fprintf(&b, "%q: %q\n", key, kept[key])
	}
	return b.String()
}

var absent = regexp.MustCompile(`"\w+":null,|,"\w+":null`)

// jobs lists submitted jobs; whole, with all fields of a job in addition to its
// kind's.
func (tr *transcript) jobs(d *datadriven.TestData) string {
	var b strings.Builder
	for i, job := range tr.w.jobs {
		asked, err := json.Marshal(job.JobType)
		if err != nil {
			tr.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d, for %s: %s\n", i+1, job.Callback.Handler, absent.ReplaceAll(asked, nil))
		if d.HasArg("whole") {
			v := job.Verification
			fmt.Fprintf(&b, "   %+v; %+v\n   %s of %d, tee %t, checks %d; %v and %v wei; %d blocks\n", job.Bounds, job.ResultSchema, v.Mode,
				v.Runners, v.TEERequired, len(v.Checks), job.MaxPrice, job.Tip, job.TimeoutBlocks)
		}
	}
	return b.String()
}

// The actors of fixtures/actors that ask runners, gone through.
func TestExamplesThatAskRunners(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, fixture(t, "oracle.py"))
	tell := func(kind program.Kind, from types.Address, handler string, payload []byte) string {
		t.Helper()
		out, _, err := w.handle(program.Message{Kind: kind, Self: at, Sender: from, Owner: owner, Handler: handler, Payload: payload}, plenty)
		if err != nil || out.Status != types.StatusOK {
			t.Fatalf("%s: %+v, %v", handler, out, err)
		}
		return string(out.Output)
	}
	tell(program.Init, owner, "init", []byte(`"https://api.test/price/"`))
	for i, c := range []struct{ result, code, price string }{
		{"42000.515", "", "42000515000"}, {"1e3", "", "1000000000"}, {"no number", "", "1000000000"}, {"NaN", "", "1000000000"},
		{"", "disagreement", "1000000000"},
	} {
		tell(program.Call, owner, "refresh", []byte("btc"))
		if asked := w.jobs[i].JobType.Http; asked.URL != "https://api.test/price/btc" || w.jobs[i].Verification.Runners != 3 {
			t.Errorf("%+v", asked)
		}
		told := w.ended(i+1, c.result, c.code)
		tell(program.Call, types.DispatcherAddress, "refresh__resume", codec.Marshal(&told))
		if got := tell(program.Read, alice, "price", []byte("btc")); got != c.price {
			t.Errorf("after %q %s the price is %s, want %s", c.result, c.code, got, c.price)
		}
		if failed := w.actors[at].state["failed/btc"]; (failed != nil) != (i > 1) {
			t.Errorf("after %q %s failed is %q", c.result, c.code, failed)
		}
	}
}

// Code that awaits is compiled in two steps, and pays for both.
func TestWhatAwaitsIsMeasuredTwice(t *testing.T) {
	w := openWorld(t)
	body := "def f(p):\n" + strings.Repeat("    a = p\n", 1000)
	units := func(source string) uint64 {
		t.Helper()
		found, err := w.session.Inspect(codeOf(source))
		if err != nil {
			t.Fatal(err)
		}
		return found.Units
	}
	plain, awaits := units(body), units("from cowboy_sdk import runner\n@runner.continuation\nasync "+body+"    await runner.custom('echo')\n")
	if awaits < 2*plain {
		t.Errorf("%d units, and %d of the code that awaits", plain, awaits)
	}
}

package batch

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// The last word of a batch's process is a line as any other, and its place is the
// script's position.
func TestTheLastWordIsAVerdict(t *testing.T) {
	v := Verdict{File: "it's \"here\".star", World: World{Backend: Sim}, Seed: 7}
	e := overrun{bluntly: lastLine}
	r := &Runner{Replay: func(Job, World, uint64) string { return "again" }}
	w := e.lastWord(r.limitVerdict(Job{}, v, Mistaken, stuckMessage(atMark, scenario.MaxStepTime)))
	text := w.textAt(make([]byte, 0, 4096), scenario.Position{File: "lib.star", Line: 12, Column: 3})
	var got verdictLine
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !got.Last || got.Verdict.Replay != "again" || got.Verdict.Code != Mistaken || got.Verdict.Seed != 7 || got.Verdict.File != v.File ||
		w.fd != syscall.Stdout ||
		!strings.HasPrefix(got.Verdict.Error, "lib.star:12:3: one step of the script takes more than 10s") {
		t.Errorf("%+v", got)
	}
	hungry := e.lastWord(r.limitVerdict(Job{}, v, Failed, outOfMemory(1<<30)))
	if text := string(hungry.textAt(nil, scenario.Position{File: "lib.star", Line: 12})); strings.Contains(text, "lib.star") ||
		!strings.Contains(text, "1024 MiB") {
		t.Error(text)
	}
}

// It is written without memory to allocate.
func TestTheLastWordAllocatesNothing(t *testing.T) {
	w := (&overrun{bluntly: lastLine}).lastWord(Verdict{File: "a.star", Code: Mistaken, Error: stuckMessage(atMark, scenario.MaxStepTime)})
	buffer, at := make([]byte, 0, 4096), scenario.Position{File: "a.star", Line: 12, Column: 3}
	pulse := &scenario.Pulse{}
	if n := testing.AllocsPerRun(100, func() {
		pulse.Look()
		w.textAt(buffer, at)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

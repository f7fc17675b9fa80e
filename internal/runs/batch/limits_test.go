package batch

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

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

// A run is beyond a limit if its heap is, or if one step of a script that waits for nothing takes too long.
func TestALimitIsJudgedByLooks(t *testing.T) {
	const memory, step = 1000, time.Second
	for name, c := range map[string]struct {
		looks []look // their times are since the beginning
		want  excess
	}{
		"steps go on":              {[]look{{ms(900), 1, 1, true}, {ms(1800), 1, 2, true}, {ms(2700), 1, 3, true}}, withinLimits},
		"a step at its limit":      {[]look{{ms(0), 1, 1, true}, {ms(1000), 1, 1, true}}, withinLimits},
		"a step beyond it":         {[]look{{ms(0), 1, 1, true}, {ms(1001), 1, 1, true}}, beyondStep},
		"a script that waits":      {[]look{{ms(0), 1, 1, true}, {ms(5000), 1, 1, false}, {ms(6000), 1, 1, true}}, withinLimits},
		"memory at its limit":      {[]look{{ms(0), memory, 1, true}}, withinLimits},
		"memory beyond it":         {[]look{{ms(0), memory + 1, 1, true}}, beyondMemory},
		"memory while it waits":    {[]look{{ms(0), memory + 1, 1, false}}, beyondMemory},
		"memory and step together": {[]look{{ms(0), 1, 1, true}, {ms(5000), memory + 1, 1, true}}, beyondMemory},
	} {
		w := runWatch{memory: memory, step: step, since: ms(0)}
		var got excess
		for _, l := range c.looks {
			got = w.judge(l)
		}
		if last := c.looks[len(c.looks)-1].at; got != c.want || got != withinLimits && w.since != last {
			t.Errorf("%s: %d since %v, want %d", name, got, w.since, c.want)
		}
	}
}

// ms is a time of a test.
func ms(n int64) time.Time { return time.UnixMilli(n) }

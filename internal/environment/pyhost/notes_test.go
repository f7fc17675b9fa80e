package pyhost

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// conversations are the transcripts of requests and operations of programs; those of
// holes and values are many, and add nothing here.
var conversations = []string{"awaits", "continuations", "language", "metering"}

// Notes change no outcome, cycle for cycle: every transcript is the same text with
// and without them.
func TestNotesChangeNoOutcome(t *testing.T) {
	told := 0
	pool := openPool(t, Config{CallTimeout: time.Minute, Notes: func(*program.Probed) { told++ }})
	transcripts(t, pool, func(path string) bool { return slices.Contains(conversations, filepath.Base(path)) })
	if told < 50 {
		t.Errorf("%d messages were reported", told)
	}
}

const noted = `
import pvm_host
from cowboy_sdk import actor, public

def square(i):
    return i * i

@actor
class Sums:
    """Adds up."""

    @public
    def add(self, payload):
        total = 0
        for i in range(int(payload)):
            if i % 2:
                total += square(i)
        while total > 1000:
            total -= 1
        pvm_host.set_state(b"n", b"%d" % total)
        match total:
            case 0:
                return b"none"
            case 1 | 2:
                return b"few"
        if total < 0:
            raise ValueError("no")
        return b"some"
`

// lastNoted runs a handler, and returns what it took of its lines and how it ended.
func lastNoted(t *testing.T, source, payload string, limit types.Cycles) (*program.Probed, program.Outcome, types.Cycles) {
	t.Helper()
	var last *program.Probed
	w := worldOn(t, openPool(t, Config{Notes: func(p *program.Probed) { last = p }}))
	at := w.deploy(1, source)
	out, used, err := w.handle(program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "add", Payload: []byte(payload),
		Owner: owner}, limit)
	if err != nil || last == nil {
		t.Fatal(last != nil, err)
	}
	return last, out, used
}

// The cycles of all lines add up to the message's, hits are a reader's count, and a
// line's functions surround it.
func TestLinesAddUpToTheMessage(t *testing.T) {
	p, out, used := lastNoted(t, noted, "10", plenty)
	if string(out.Output) != "some" {
		t.Fatalf("%+v", out)
	}
	hits, sum, byLine := map[int]uint64{}, types.Cycles(0), map[int]types.Cycles{}
	for _, u := range p.Uses {
		hits[u.Line] += u.Hits
		byLine[u.Line] += u.Cycles
		sum += u.Cycles
	}
	if sum != used {
		t.Errorf("the lines took %d cycles, the message %d", sum, used)
	}
	for line, want := range map[int]uint64{6: 5, 14: 1, 15: 1, 16: 10, 17: 5, 18: 1, 19: 0, 20: 1, 26: 1, 27: 0, 28: 1, 10: 0} {
		if hits[line] != want {
			t.Errorf("line %d began %d times, want %d", line, hits[line], want)
		}
	}
	if byLine[16] <= byLine[14] || byLine[6] == 0 {
		t.Errorf("by line: %v", byLine)
	}
	if !slices.ContainsFunc(p.Uses, func(u program.Use) bool { return u.Stack == "Sums.add;square" && u.Line == 6 && u.Hits == 5 }) {
		t.Errorf("no line of square within Sums.add: %v", p.Uses)
	}
}

func TestWaysAreThoseThatWereTaken(t *testing.T) {
	p, _, _ := lastNoted(t, noted, "10", plenty)
	var took []string
	for _, b := range p.Branches {
		took = append(took, fmt.Sprintf("%d.%d×%d", b.Line, b.Way, b.Taken))
	}
	slices.Sort(took)
	// 16 is either way, 18 never entered, the match of 21 falls through, 26 is false.
	want := "15.0×10 15.1×1 16.0×5 16.1×5 18.1×1 21.2×1 26.1×1"
	if got := strings.Join(took, " "); got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	points, err := shared.Points([]byte(noted))
	if err != nil {
		t.Fatal(err)
	}
	var lines, ways []string
	for _, at := range points {
		if at.Label == "" {
			lines = append(lines, fmt.Sprint(at.Line))
		} else if at.Line == 21 {
			ways = append(ways, fmt.Sprintf("%d %s", at.Way, at.Label))
		}
	}
	if got := strings.Join(lines, " "); got != "2 3 5 6 9 13 14 15 16 17 18 19 20 21 23 25 26 27 28" {
		t.Errorf("lines that can run: %s", got)
	}
	if got := strings.Join(ways, ", "); got != "0 case 1, 1 case 2, 2 no case" {
		t.Errorf("ways of the match: %s", got)
	}
}

// A message that runs out of cycles reports their lines all the same.
func TestLinesOfAMessageThatRanOut(t *testing.T) {
	p, out, used := lastNoted(t, noted, "100000", 2000)
	if out.Status != types.StatusOutOfCycles || used != 2000 {
		t.Fatalf("%+v after %d", out, used)
	}
	var sum types.Cycles
	for _, u := range p.Uses {
		sum += u.Cycles
	}
	if sum != used {
		t.Errorf("the lines took %d cycles, the message %d", sum, used)
	}
}

// Unrequested or senseless notes of a host end the conversation.
func TestNotesThatMakeNoSense(t *testing.T) {
	for rows, good := range map[string]bool{
		"":                              true,
		"L\tf\t3\t1\t10\t2":             true,
		"W\t3\t0\t1\nL\t\t0\t0\t5\t0":   true,
		"L\tf\t3\t1":                    false,
		"L\tf\t-3\t1\t1\t0":             false,
		"X\t1\t1\t1":                    false,
		"W\t3\t0\t99999999999999999999": false,
		"W\t4294967296\t0\t1":           false,
		"L\ta\tb\t1\t1\t1\t1":           false,
	} {
		all := true
		for _, row := range strings.Split(rows, "\n") {
			var fields [][]byte
			for _, f := range strings.Split(row, "\t") {
				fields = append(fields, []byte(f))
			}
			all = all && readNoteRow(new(program.Probed), fields)
		}
		if all != good {
			t.Errorf("%q is taken: %v", rows, all)
		}
	}
}

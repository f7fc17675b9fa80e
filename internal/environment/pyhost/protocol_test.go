package pyhost

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const protocolFile = "../../../python-host/host/protocol.py"

// written is protocol.go as Python reads it.
func written() string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line(`"""Names and numbers that both sides of the pipe need.

Written from internal/environment/pyhost/protocol.go, never by hand:

    go test ./internal/environment/pyhost -run TestProtocolIsWhatPythonReads -rewrite
"""
`)
	line("# The types of frames.")
	for _, f := range frames {
		line("%s = %d  # %c", f.name, f.kind, f.kind)
	}
	line("\n# Limits that both sides keep.")
	for _, l := range limits {
		line("%s = %d", l.name, l.value)
	}
	for _, group := range []struct {
		name, what string
		forms      []*form
	}{
		{"REQUESTS", "Operations with an answer, and the names of their fields.", requests},
		{"EFFECTS", "Operations without an answer.", effects},
		{"ENDS", "How a message ends.", ends},
		{"TOLD", "Other maps from a host.", fromHost},
	} {
		line("\n# %s\n%s = {", group.what, group.name)
		for _, f := range group.forms {
			var names []string
			for _, field := range f.fields {
				names = append(names, field.name)
			}
			line("    %q: %s,", f.name, quoted(names))
		}
		line("}")
	}
	for _, group := range []struct {
		name, what string
		fields     []fixedPart
	}{
		{"CALL_BEGINS", "Fields at the beginning of every call, with their sizes in bytes; 0 is a number.", callFixed},
		{"ANSWER_BEGINS", "Fields at the beginning of every answer.", answerFixed},
	} {
		line("\n# %s\n%s = (", group.what, group.name)
		for _, f := range group.fields {
			line("    (%q, %d),", f.name, f.size)
		}
		line(")")
	}
	line("\n# Why a message is handled, by its number.\nKINDS = %s", quoted(kindNames[:]))
	line("\n# CIP-3's table, which holds until the chain sends the one in force.\nDEFAULT_COSTS = {")
	defaults := params.Defaults()
	for i, cost := range defaults.StepCosts() {
		line("    %q: %d,", costNames[i], cost)
	}
	line("}")
	line("\nBID_HANDLER = %q", program.BidHandler)
	line("WAITING = bytes.fromhex(%q)  # the key of the places of continuations that wait", fmt.Sprintf("%x", program.ContinuationPlaces))
	line("WAITS_AT = bytes.fromhex(%q)  # begins the key of each", fmt.Sprintf("%x", program.ContinuationPlace))
	line("GRACE = %d  # blocks after its watchdog's height in which a place is still kept", program.ContinuationGrace)
	line("MIGRATE_HANDLER = %q  # of an upgrade", program.MigrateHandler)
	line("GOVERNANCE = bytes.fromhex(%q)  # who calls it for the chain", fmt.Sprintf("%x", types.GovernanceAddress[:]))
	line("DISPATCHER = bytes.fromhex(%q)  # reports how jobs ended", fmt.Sprintf("%x", types.DispatcherAddress[:]))
	return out.String()
}

// quoted is a tuple of texts, in lines that fit.
func quoted(words []string) string {
	const inLine = 5
	var lines []string
	for chunk := range slices.Chunk(words, inLine) {
		lines = append(lines, `"`+strings.Join(chunk, `", "`)+`"`)
	}
	switch {
	case len(words) == 1:
		return "(" + lines[0] + ",)"
	case len(words) <= inLine:
		return "(" + strings.Join(lines, "") + ")"
	}
	return "(\n        " + strings.Join(lines, ",\n        ") + ",\n    )"
}

// Python has exactly the content of protocol.go: nothing is typed twice.
func TestProtocolIsWhatPythonReads(t *testing.T) {
	if rewrite := flag.Lookup("rewrite"); rewrite != nil && rewrite.Value.String() == "true" {
		if err := os.WriteFile(protocolFile, []byte(written()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(protocolFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != written() {
		t.Errorf("%s is not what protocol.go says; -rewrite writes it", protocolFile)
	}
	if len(costNames) != len(params.StepCosts{}) {
		t.Errorf("%d names of %d costs", len(costNames), len(params.StepCosts{}))
	}
	if len(operations) != len(requests)+len(effects)+len(ends) {
		t.Error("two operations have one name")
	}
	for _, name := range costNames {
		if len(name) >= shortest {
			t.Errorf("the name %s is too long for one byte of length", name)
		}
	}
}

// Python reads what a call and an answer begin with by its place, so each has
// these names first, in this order and of these sizes.
func TestMapsBeginAsPythonReadsThem(t *testing.T) {
	w := newWorld(nil)
	ctx := w.context(program.Message{Kind: program.Call, Self: w.deploy(1, ""), Handler: "f"}, 7)
	h := &host{in: devNull(t)}
	defer h.in.Close()
	s := &session{pool: &Pool{hints: newHints()}, host: h}
	c := &conversation{session: s, host: h, ctx: ctx}
	s.writeCall(ctx, types.Hash{1}, ctx.m, c)
	begins(t, h.enc.finishFrame(), callFixed)
	for _, over := range []*program.Fault{nil, {}} {
		c.over = over
		if err := c.answerRequest(&record{form: operations[opFlush]}); err != nil {
			t.Fatal(err)
		}
		begins(t, h.enc.finishFrame(), answerFixed)
	}
}

// F38: what came with a call is in its context, however much it is.
func TestTheValueOfACallIsInItsContext(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, "import pvm_host\ndef f(payload):\n    return str(pvm_host.context()['value']).encode()\n")
	for _, value := range []types.Wei{{}, types.WeiOf(7), types.MaxWei} {
		out, _, err := w.handle(program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "f", Owner: owner, Value: value}, plenty)
		if err != nil || string(out.Output) != value.String() {
			t.Errorf("%s wei came, and it saw %q: %v %v", value, out.Output, out.Fault, err)
		}
	}
}

func begins(t *testing.T, frame []byte, want []fixedPart) {
	t.Helper()
	d := &decoder{data: frame[frameHeadBytes+1:]}
	if n := d.readEntryCount(); n < len(want) {
		t.Fatalf("%d entries", n)
	}
	for _, f := range want {
		name := string(d.readText())
		major, n := d.readHead()
		if name != f.name || (major == majorNumber) != (f.size == 0) || f.size != 0 && n != uint64(f.size) {
			t.Errorf("%s of kind %d and size %d, not %s of %d", name, major, n, f.name, f.size)
		}
		if major == majorBytes {
			d.takeBytes(n)
		}
	}
	if d.err != nil {
		t.Error(d.err)
	}
}

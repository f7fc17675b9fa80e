package words

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Columns is how wide a line of a trace is, and maxTraceDepth how far calls
// within calls are indented: both for terminals of 80 columns.
const (
	Columns       = 80
	maxTraceDepth = 12
)

// Names is what people call an address: an account's or actor's name, or the
// beginning of the address.
type Names func(types.Address) string

// SystemNames are what people call the addresses that every chain has.
func SystemNames() map[types.Address]string {
	names := map[types.Address]string{{}: "the chain"}
	for _, name := range types.ContractNames() {
		at, _ := types.ContractAddress(name)
		names[at] = name
	}
	return names
}

// Trace prints an execution's actions, below its head.
func Trace(w io.Writer, t *model.Trace, names Names) {
	p := &tracing{w: w, names: names}
	fmt.Fprintln(w, "    cycles")
	call := t.Call
	if call != nil {
		p.printStep(uint64(t.Receipt.Cycles-min(call.Cycles, t.Receipt.Cycles)), 0, "for itself: "+itself[t.Receipt.Origin])
		p.printCall(call, 0)
	} else {
		p.printStep(uint64(t.Receipt.Cycles), 0, "for itself: no program ran")
		p.printEvents(t.Receipt.Events)
		if e := t.Receipt.Error; e != nil {
			p.printText(0, e.Code+": "+Printable(e.Message))
		}
	}
	p.printStep(uint64(t.Receipt.Cycles), 0, "in all, and "+Grouped(uint64(t.Receipt.Cells))+" cells")
	if t.Cut {
		fmt.Fprintln(w, "… there was more: a trace holds 20,000 steps and 4 MiB of values.")
	}
	Changes(w, t, names)
	printSentMessages(w, t.Sent, names)
	fmt.Fprintln(w)
	printFee(w, t)
}

// itself names the parts that an execution pays for besides its handler.
var itself = map[string]string{
	string(types.OriginTransaction): "the transaction",
	string(types.OriginTimer):       "the fire",
	string(types.OriginMessage):     "the delivery",
}

// tracing prints a tree, a line for each step.
type tracing struct {
	w     io.Writer
	names Names
}

// printStep prints one step, cut at the width.
func (p *tracing) printStep(cycles uint64, depth int, text string) {
	p.printRow(Grouped(cycles), depth, text)
}

// printText prints what costs nothing, in as many lines as it takes.
func (p *tracing) printText(depth int, text string) {
	for _, line := range InLines(text, Columns-12-2*min(depth, maxTraceDepth)) {
		p.printRow("", depth, line)
	}
}

func (p *tracing) printRow(cycles string, depth int, text string) {
	indent := strings.Repeat("  ", min(depth, maxTraceDepth))
	fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf("%10s  %s%s", cycles, indent, Clipped(text, Columns-12-len(indent))), " "))
}

func (p *tracing) printCall(c *model.TraceCall, depth int) {
	who := p.names(c.Sender) + " → "
	if c.Kind == "timer" {
		who = ""
	}
	with := ""
	if !c.Value.IsZero() {
		with = " with " + CBY(c.Value)
	}
	p.printStep(uint64(c.Cycles), depth, fmt.Sprintf("%s%s.%s(%s)%s, at most %s", who, p.names(c.Actor), Printable(c.Handler),
		shownPayload(c.Payload, 32), with, Grouped(uint64(c.CyclesLimit))))
	for i := range c.Steps {
		p.printTracedStep(&c.Steps[i], depth+1)
	}
	p.printStep(uint64(c.Own), depth+1, "its own code")
	p.printEnd(c, depth+1)
}

func shownPayload(b types.Bytes, most int) string {
	if len(b) == 0 {
		return ""
	}
	return Quoted(b, most)
}

func (p *tracing) printEnd(c *model.TraceCall, depth int) {
	if c.Error == nil {
		if c.Typed != nil && c.Typed.Returned != nil {
			p.printRow("", depth, "returns "+Printable(string(c.Typed.Returned)))
		} else if len(c.Output) > 0 {
			p.printRow("", depth, "returns "+Quoted(c.Output, Columns))
		}
		return
	}
	what := c.Status
	if c.Error.Code != what {
		what += ": " + c.Error.Code
	}
	p.printText(depth, what+": "+Printable(withoutPlaces(c)))
	for _, at := range c.Failed {
		p.printRow("", depth+1, fmt.Sprintf("line %d, in %s:  %s", at.Line, Printable(at.Function), Printable(at.Text)))
	}
}

// withoutPlaces returns why a call failed, without the lines, which are printed
// below.
func withoutPlaces(c *model.TraceCall) string {
	message := c.Error.Message
	if len(c.Failed) == 0 {
		return message
	}
	last := c.Failed[len(c.Failed)-1]
	place := fmt.Sprintf("line %d, in %s: ", last.Line, last.Function)
	if at := strings.Index(message, place); at >= 0 {
		return message[at+len(place):]
	}
	return message
}

func (p *tracing) printEvents(events []model.Event) {
	for _, e := range events {
		p.printRow("", 0, "emit_event "+Printable(e.Name)+" "+EventData(e.Data))
	}
}

func (p *tracing) printTracedStep(s *model.TraceStep, depth int) {
	if s.What == "print" {
		p.printRow("", depth, "print "+Printable(string(*s.Payload)))
		return
	}
	text := s.What + p.stepSubject(s)
	if s.Error != nil && s.Call == nil {
		text += " ✗ " + s.Error.Code
	}
	p.printStep(uint64(s.Cycles), depth, text)
	if s.Error != nil && s.Call == nil {
		p.printText(depth+1, Printable(s.Error.Message))
	}
	if s.Call != nil {
		p.printCall(s.Call, depth+1)
	}
}

// stepSubject returns the subject of a step, printed after its name.
func (p *tracing) stepSubject(s *model.TraceStep) string {
	switch s.What {
	case "get_state":
		return " " + keyOf(s.Typed, *s.Key) + " is " + orNothing(s.Value, valueIn(s.Typed))
	case "set_state", "delete_state":
		return " " + keyOf(s.Typed, *s.Key) + ": " + orNothing(s.Old, oldIn(s.Typed)) + " → " + orNothing(s.Value, valueIn(s.Typed))
	case "get_balance":
		return " of " + p.names(*s.To) + " is " + CBY(*s.Amount)
	case "transfer":
		return " " + CBY(*s.Amount) + " to " + p.names(*s.To)
	case "emit_event":
		return " " + Printable(s.Name) + " " + EventData(*s.Payload)
	case "call_actor":
		if s.Call != nil {
			return ""
		}
		return " " + p.names(*s.To) + "." + Printable(s.Name) + "(" + shownPayload(*s.Payload, 24) + ")" + idOf(s)
	case "send_message":
		return " to " + p.names(*s.To) + "." + Printable(s.Name) + "(" + shownPayload(*s.Payload, 24) + ")" + idOf(s)
	case "schedule_timer":
		name := s.Name
		if name == "" {
			name = "handle_timer"
		}
		return fmt.Sprintf(" %s(%s) in block %s%s", Printable(name), shownPayload(*s.Payload, 24), fmt.Sprint(uint64(*s.Height)), idOf(s))
	case "extend_timer":
		return idOf(s) + " until block " + fmt.Sprint(uint64(*s.Height))
	}
	return idOf(s)
}

func idOf(s *model.TraceStep) string {
	if s.ID == nil {
		return ""
	}
	return " " + Short(s.ID.String())
}

// orNothing returns a value: by its type, if it has one.
func orNothing(b *types.Bytes, typed json.RawMessage) string {
	switch {
	case b == nil:
		return "nothing"
	case typed != nil:
		return Clipped(Printable(string(typed)), 32)
	}
	return Quoted(*b, 32)
}

func valueIn(t *model.Typed) json.RawMessage {
	if t == nil {
		return nil
	}
	return t.Value
}

func oldIn(t *model.Typed) json.RawMessage {
	if t == nil {
		return nil
	}
	return t.Old
}

// keyOf returns a key of state as its class calls it, or its bytes.
func keyOf(t *model.Typed, key types.Bytes) string {
	if t == nil || t.Attribute == "" {
		return Quoted(key, 28)
	}
	return Clipped(Printable(t.Attribute), 28)
}

// Changes prints what is otherwise in the state than before.
func Changes(w io.Writer, t *model.Trace, names Names) {
	if len(t.Changes) == 0 {
		return
	}
	fmt.Fprintln(w, "\nChanged:")
	for _, change := range t.Changes {
		line := fmt.Sprintf("    %s  %s: %s → %s", names(change.Actor), keyOf(change.Typed, change.Key),
			orNothing(change.Old, oldIn(change.Typed)), orNothing(change.New, valueIn(change.Typed)))
		fmt.Fprintln(w, Clipped(line, Columns))
	}
}

// printSentMessages prints the messages that wait for the next block.
func printSentMessages(w io.Writer, sent []model.TraceSent, names Names) {
	if len(sent) == 0 {
		return
	}
	fmt.Fprintln(w, "\nSent, for the next block:")
	for _, m := range sent {
		line := fmt.Sprintf("    %s  to %s.%s(%s), prepaid %s", Short(m.Hash.String()), names(m.To), Printable(m.Handler),
			shownPayload(m.Payload, 20), CBY(m.Prepaid))
		fmt.Fprintln(w, Clipped(line, Columns))
	}
}

// printFee tells a fee to the wei.
func printFee(w io.Writer, t *model.Trace) {
	f, r := &t.Fee, &t.Receipt
	var rows [][2]string
	add := func(amount types.Wei, format string, args ...any) {
		if !amount.IsZero() {
			rows = append(rows, [2]string{CBY(amount), fmt.Sprintf(format, args...)})
		}
	}
	when := ""
	if f.PerWhat == "sent" {
		when = " of the block that sent it"
	}
	add(f.Burned.Cycle, "burned: cycle base fee%s, %s × %s wei", when, Grouped(uint64(r.Cycles)), GroupedWei(f.Cycle))
	if f.Lane.IsZero() {
		add(f.Burned.LaneTimer, "burned: timer lane")
	} else {
		add(f.Burned.LaneTimer, "burned: lane base fee, %s × %s wei", Grouped(uint64(r.Cycles)), GroupedWei(f.Lane))
	}
	add(f.Burned.Cell, "burned: cell base fee%s, %s × %s wei", when, Grouped(uint64(r.Cells)), GroupedWei(f.Cell))
	add(f.Tip, "to the proposer: tip")
	rows = append(rows, [2]string{CBY(f.Total), "paid in all"})
	if !f.Prepaid.IsZero() {
		add(f.Prepaid.Sub(f.Total.Min(f.Prepaid)), "refunded, of the %s prepaid", CBY(f.Prepaid))
	}
	wide := len(slices.MaxFunc(rows, func(a, b [2]string) int { return len(a[0]) - len(b[0]) })[0])
	for _, row := range rows {
		fmt.Fprintf(w, "%*s  %s\n", wide, row[0], row[1])
	}
}

// Scheduled prints the timers and messages of a dry run, and what it moved.
func Scheduled(w io.Writer, t *model.Trace, names Names) {
	var lines []string
	p := &tracing{names: names}
	var look func(c *model.TraceCall)
	look = func(c *model.TraceCall) {
		if c == nil || c.Undone {
			return
		}
		for i := range c.Steps {
			s := &c.Steps[i]
			look(s.Call)
			switch s.What {
			case "schedule_timer", "cancel_timer", "extend_timer", "send_message", "transfer", "submit_job":
				if s.Error == nil {
					lines = append(lines, "    "+names(c.Actor)+"  "+s.What+p.stepSubject(s))
				}
			}
		}
	}
	look(t.Call)
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, "\nQuestions to the chain:")
	for _, line := range lines {
		fmt.Fprintln(w, Clipped(line, Columns))
	}
}

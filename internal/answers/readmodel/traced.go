package readmodel

import (
	"bytes"
	"strings"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// tracer shows what was noted of an execution.
type tracer struct {
	*reader
	state   *ledger.State // after it, for names and code
	ask     answers.TraceRequest
	sources map[types.Hash]bool
	whole   model.Trace
}

func (t *tracer) traceModel(found *ledger.Retraced, h *types.Header, replayed int) *model.Trace {
	t.beginTrace(found.Receipt, answers.Printed(found.Logs), replayed)
	t.whole.Block = model.TraceBlock{ChainID: h.ChainID, Height: h.Height, TimestampMS: h.Timestamp}
	t.whole.Fee = feeOf(found.Receipt, h, found.Message)
	t.addProgram(found.Trace)
	for i := range found.Sent {
		m := &found.Sent[i]
		t.whole.Sent = append(t.whole.Sent, model.TraceSent{Hash: m.Hash(), From: m.From, To: m.To, Handler: m.Handler, Payload: m.Payload,
			Cycles: m.Cycles, Cells: m.Cells, Prepaid: m.Prepaid()})
	}
	t.nameDeliveries(found.Trace.Call, t.whole.Call, sentBy(found.Sent))
	return &t.whole
}

// dryRunModel is what a dry run did.
func (t *tracer) dryRunModel(r *types.Receipt, printed []string, trace *actors.Trace) *model.Trace {
	t.beginTrace(r, printed, 0)
	next := t.state.NextBaseFees()
	t.whole.Block = model.TraceBlock{ChainID: t.state.Header().ChainID, Height: r.Height}
	t.whole.Fee = feeOf(r, &types.Header{BaseFeeCycle: next.Cycle, BaseFeeCell: next.Cell, BaseFeeLaneTimer: next.LaneTimer}, nil)
	if trace.Call != nil {
		t.whole.Block.TimestampMS = trace.Call.Block.TimestampMS
	}
	t.addProgram(trace)
	return &t.whole
}

// beginTrace adds the parts of every trace.
func (t *tracer) beginTrace(r *types.Receipt, printed []string, replayed int) {
	t.whole = model.Trace{Receipt: answers.ShowReceipt(r, printed), Changes: []model.TraceChange{}, Sent: []model.TraceSent{},
		Sources: []model.TraceSource{}, Text: []string{}, Replayed: replayed}
}

// addProgram adds the programs' actions.
func (t *tracer) addProgram(trace *actors.Trace) {
	t.whole.Cut, t.whole.Steps = trace.Cut, trace.Steps
	if trace.Call == nil {
		return
	}
	t.whole.Block.TxHash = trace.Call.Block.TxHash
	t.whole.Call = t.showCall(trace.Call, false)
	if s := t.whole.Receipt.Status; s != t.whole.Call.Status && s != string(types.StatusOK) { // the end that followed its handler
		t.whole.Call.Status, t.whole.Call.Error = s, t.whole.Receipt.Error
		undoCall(t.whole.Call)
	}
	t.addChanges(t.whole.Call)
}

// sentBy gives the messages that were sent, one after the other.
func sentBy(sent []actors.Message) func() *types.Hash {
	return func() *types.Hash {
		if len(sent) == 0 {
			return nil
		}
		hash := sent[0].Hash()
		sent = sent[1:]
		return &hash
	}
}

// nameDeliveries gives each message that was sent the hash of its delivery. Reverted messages
// have none.
func (t *tracer) nameDeliveries(from *actors.TracedCall, to *model.TraceCall, next func() *types.Hash) {
	if from == nil || to == nil || to.Undone {
		return
	}
	for i := range to.Steps {
		s := &to.Steps[i]
		if s.What == "send_message" && s.Error == nil {
			s.ID = next()
		}
		if s.Call != nil {
			t.nameDeliveries(from.Steps[i].Call, s.Call, next)
		}
	}
}

func undoCall(c *model.TraceCall) {
	c.Undone = true
	for i := range c.Steps {
		if c.Steps[i].Call != nil {
			undoCall(c.Steps[i].Call)
		}
	}
}

// showCall shows a handler; undone is whether what called it was undone.
func (t *tracer) showCall(c *actors.TracedCall, undone bool) *model.TraceCall {
	m := &model.TraceCall{Actor: c.Message.Self, Name: t.nameOf(c.Message.Self), Code: c.Code.Hash, Kind: kindNames[c.Message.Kind],
		Sender: c.Message.Sender, Owner: c.Message.Owner, Handler: c.Message.Handler, Payload: c.Message.Payload,
		Value: c.Message.Value, CyclesLimit: c.Limit, Cycles: c.Cycles, Own: c.Own, Cells: c.Cells,
		Status: string(c.Outcome.Status), Error: answers.ShowError(c.Outcome.Fault), Output: c.Outcome.Output, Failed: []model.TracePlace{},
		Steps: []model.TraceStep{}, Lines: []model.TraceLine{}}
	where := c.Outcome.Where
	if f := c.Outcome.Fault; f != nil {
		where = f.Message
	}
	if f := c.OutOf; f != nil {
		m.Status, m.Error, m.Output = string(f.Status), &model.Fault{Code: f.Code, Message: f.Message}, nil
		where = c.Outcome.Where
	}
	if m.Error != nil {
		m.Failed = placesIn(where, c.Code.Source)
	}
	m.Undone = undone || m.Status != string(types.StatusOK)
	for i := range c.Steps {
		m.Steps = append(m.Steps, t.showStep(&c.Steps[i], m.Undone))
	}
	for _, u := range c.Uses {
		m.Lines = append(m.Lines, model.TraceLine(u))
	}
	t.addSource(c, m.Name)
	return m
}

// kindNames are the words of context() for why a message is handled.
var kindNames = map[program.Kind]string{program.Init: "init", program.Call: "call", program.Timer: "timer", program.Read: "read"}

func (t *tracer) nameOf(a types.Address) string {
	if record := t.state.Actor(a); record != nil {
		return record.Name
	}
	return types.ContractName(a)
}

// addSource adds the code of a call, once.
func (t *tracer) addSource(c *actors.TracedCall, name string) {
	if !t.ask.Sources || c.Code.Hash.IsZero() || t.sources[c.Code.Hash] {
		return
	}
	t.sources[c.Code.Hash] = true
	t.whole.Sources = append(t.whole.Sources, model.TraceSource{Code: c.Code.Hash, Name: name, Text: string(c.Code.Source)})
}

// maxLineText bounds the shown text of a line of code.
const maxLineText = 160

// placesIn reads the lines at the beginning of a host's message, and finds their
// text in the code.
func placesIn(message string, source []byte) []model.TracePlace {
	found := []model.TracePlace{}
	lines := bytes.Split(source, []byte("\n"))
	places, _ := program.SplitPlaces(message)
	for _, at := range places {
		if at.Function == "" { // lines that the host left out, or one that it refuses
			continue
		}
		p := model.TracePlace{Line: at.Line, Function: at.Function}
		if at.Line <= len(lines) {
			text := strings.ToValidUTF8(strings.TrimSpace(string(lines[at.Line-1])), "\uFFFD")
			p.Text = strings.ToValidUTF8(text[:min(len(text), maxLineText)], "")
		}
		found = append(found, p)
	}
	return found
}

func (t *tracer) showStep(s *actors.TracedStep, undone bool) model.TraceStep {
	m := model.TraceStep{What: s.Name, After: s.After, Cycles: s.Cycles, Cells: s.Cells}
	if s.Fault != nil {
		m.Error = &model.Fault{Code: s.Fault.Code, Message: s.Fault.Message}
	}
	if s.Found {
		m.Value = shownBytes(s.Value)
	}
	if s.HadOld {
		m.Old = shownBytes(s.Old)
	}
	switch s.Name {
	case "get_state", "set_state", "delete_state":
		m.Key = shownBytes(s.Key)
	case "get_balance", "transfer":
		m.To, m.Amount = &s.To, &s.Wei
	case "emit_event":
		m.Name, m.Payload = s.Handler, shownBytes(s.Payload)
	case "send_message", "call_actor":
		m.To, m.Name, m.Payload, m.Limit = &s.To, s.Handler, shownBytes(s.Payload), &s.Limit
	case "schedule_timer":
		m.Name, m.Payload, m.Height = s.Handler, shownBytes(s.Payload), &s.Height
		if s.Limit > 0 {
			m.Limit = &s.Limit
		}
	case "extend_timer":
		m.Height = &s.Height
	case "set_gas_bidder":
		m.To = &s.To
	default:
		m.Payload = shownBytes(s.Payload)
	}
	if s.ID != (types.Hash{}) {
		m.ID = &s.ID
	}
	if s.Call != nil {
		m.Call = t.showCall(s.Call, undone || s.Fault != nil)
	}
	return m
}

func shownBytes(b []byte) *types.Bytes {
	return new(append(types.Bytes{}, b...))
}

// addChanges adds up what a call and those within it left in the state.
func (t *tracer) addChanges(c *model.TraceCall) {
	at := map[string]int{}
	t.addChangesAt(c, at)
	kept := t.whole.Changes[:0]
	for _, change := range t.whole.Changes {
		if !(change.Old == nil && change.New == nil || change.Old != nil && change.New != nil && bytes.Equal(*change.Old, *change.New)) {
			kept = append(kept, change)
		}
	}
	t.whole.Changes = kept
}

func (t *tracer) addChangesAt(c *model.TraceCall, at map[string]int) {
	if c.Undone {
		return
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Call != nil {
			t.addChangesAt(s.Call, at)
		}
		if s.What != "set_state" && s.What != "delete_state" || s.Error != nil {
			continue
		}
		id := string(c.Actor[:]) + string(*s.Key)
		n, known := at[id]
		if !known {
			n = len(t.whole.Changes)
			at[id] = n
			t.whole.Changes = append(t.whole.Changes, model.TraceChange{Actor: c.Actor, Name: c.Name, Key: *s.Key, Old: s.Old})
		}
		t.whole.Changes[n].New = s.Value
	}
}

// feeOf tells a fee to the wei. A fire under a policy without fees, and an item on
// which a host failed, have only a total.
func feeOf(r *types.Receipt, h *types.Header, sent *actors.Message) model.TraceFee {
	fee := model.TraceFee{Total: r.Fee, PerWhat: "block", Cycle: h.BaseFeeCycle, Cell: h.BaseFeeCell, Tip: r.Tip}
	if r.Origin == types.OriginMessage {
		if sent == nil {
			return model.TraceFee{Total: r.Fee, PerWhat: "none"}
		}
		fee.PerWhat, fee.Cycle, fee.Cell, fee.Prepaid = "sent", sent.PriceCycle, sent.PriceCell, sent.Prepaid()
	}
	cycles, okCycles := fee.Cycle.MulOk(uint64(r.Cycles))
	cells, okCells := fee.Cell.MulOk(uint64(r.Cells))
	parts, ok := cycles.AddOk(cells)
	if ok = ok && okCycles && okCells; ok {
		parts, ok = parts.AddOk(r.Tip)
	}
	if !ok || parts.Cmp(r.Fee) > 0 {
		return model.TraceFee{Total: r.Fee, PerWhat: "none", Tip: r.Tip}
	}
	fee.Burned = model.Split{Cycle: cycles, Cell: cells}
	if rest := r.Fee.Sub(parts); !rest.IsZero() {
		fee.Burned.LaneTimer = rest
		if r.Cycles > 0 && rest.Div(uint64(r.Cycles)).Mul(uint64(r.Cycles)) == rest {
			fee.Lane = rest.Div(uint64(r.Cycles)) // by cip1.lane_fee_multiplier_permille
		}
	}
	return fee
}

package api

import (
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Typing adds the meaning of bytes by the schemas of their actors. Bytes that do not fit
// their type get none, without an error: programs and callers choose them. A schema is read
// once for an answer. It belongs to the actor's present code.
type Typing struct {
	reader  answers.Reader // nil: no bytes have a meaning
	schemas map[types.Address]*typed.Schema
}

// TypesOf reads schemas from v, which is one view for one answer.
func TypesOf(v answers.Reader) *Typing { return &Typing{v, map[types.Address]*typed.Schema{}} }

func (t *Typing) schemaOf(at types.Address) *typed.Schema {
	known, looked := t.schemas[at]
	if looked || t.reader == nil {
		return known
	}
	known, _ = SchemaOf(t.reader, at)
	t.schemas[at] = known
	return known
}

// orNilMeaning is nil without any meaning, so that an answer leaves it out.
func orNilMeaning(m model.Typed) *model.Typed {
	if m.Arguments == nil && m.Returned == nil && m.Attribute == "" && m.Value == nil && m.Old == nil {
		return nil
	}
	return &m
}

// Receipt is a receipt as GET /transaction/{hash}/receipt shows it.
func (t *Typing) Receipt(r *types.Receipt, printed []string) model.Receipt {
	m := answers.ShowReceipt(r, printed)
	t.typeOutcome(&m)
	return m
}

func (t *Typing) typeOutcome(m *model.Receipt) {
	if m.Status == string(types.StatusOK) {
		m.Typed = t.Returned(m.To, m.Handler, m.Output)
	}
	for i := range m.Events {
		e := &m.Events[i]
		if s := t.schemaOf(e.Actor); s != nil {
			e.Typed = orNilMeaning(model.Typed{Value: s.EventView(e.Name, e.Data)})
		}
	}
}

// Returned is the meaning of an output; nil without one.
func (t *Typing) Returned(by types.Address, handler string, output []byte) *model.Typed {
	s := t.schemaOf(by)
	if s == nil {
		return nil
	}
	return orNilMeaning(model.Typed{Returned: s.ReturnedView(handler, output)})
}

func (t *Typing) typeArguments(to types.Address, handler string, payload []byte) *model.Typed {
	s := t.schemaOf(to)
	if s == nil {
		return nil
	}
	return orNilMeaning(model.Typed{Arguments: s.ArgumentsView(handler, payload)})
}

func (t *Typing) typeTransaction(tx *types.Transaction, sender types.Address) model.Transaction {
	m := transactionModel(tx, sender)
	if in, _ := tx.Instruction(); tx.To != nil {
		if call, ok := in.(*types.Execute); ok {
			m.Typed = t.typeArguments(*tx.To, call.Handler, call.Payload)
		}
	}
	return m
}

// Timer is a timer as GET /timers shows it.
func (t *Typing) Timer(of *answers.Timer) model.Timer {
	m := timerModel(of)
	m.Typed = t.typeArguments(of.Actor, of.Handler, of.Payload)
	return m
}

// typeState returns the meaning of a key, with its value and the value before.
func (t *Typing) typeState(actor types.Address, key []byte, value, old *types.Bytes) *model.Typed {
	s := t.schemaOf(actor)
	if s == nil {
		return nil
	}
	what, of := s.StateKey(key)
	m := model.Typed{Attribute: what}
	if of != nil && value != nil {
		m.Value, _ = s.Unpack(of, *value)
	}
	if of != nil && old != nil {
		m.Old, _ = s.Unpack(of, *old)
	}
	return orNilMeaning(m)
}

// typeTrace adds the meaning of all that an execution did.
func (t *Typing) typeTrace(m *model.Trace) {
	t.typeOutcome(&m.Receipt)
	t.typeCall(m.Call)
	for i := range m.Changes {
		c := &m.Changes[i]
		c.Typed = t.typeState(c.Actor, c.Key, c.New, c.Old)
	}
	for i := range m.Sent {
		s := &m.Sent[i]
		s.Typed = t.typeArguments(s.To, s.Handler, s.Payload)
	}
}

func (t *Typing) typeCall(c *model.TraceCall) {
	if c == nil {
		return
	}
	if s := t.schemaOf(c.Actor); s != nil {
		m := model.Typed{Arguments: s.ArgumentsView(c.Handler, c.Payload)}
		if c.Status == string(types.StatusOK) {
			m.Returned = s.ReturnedView(c.Handler, c.Output)
		}
		c.Typed = orNilMeaning(m)
	}
	for i := range c.Steps {
		t.typeStep(c.Actor, &c.Steps[i])
		t.typeCall(c.Steps[i].Call)
	}
}

func (t *Typing) typeStep(of types.Address, s *model.TraceStep) {
	switch {
	case s.Key != nil:
		s.Typed = t.typeState(of, *s.Key, s.Value, s.Old)
	case s.Payload == nil:
	case s.What == "emit_event":
		if known := t.schemaOf(of); known != nil {
			s.Typed = orNilMeaning(model.Typed{Value: known.EventView(s.Name, *s.Payload)})
		}
	case s.What == "schedule_timer":
		s.Typed = t.typeArguments(of, s.Name, *s.Payload)
	case s.To != nil:
		s.Typed = t.typeArguments(*s.To, s.Name, *s.Payload)
	}
}

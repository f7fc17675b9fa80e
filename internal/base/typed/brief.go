package typed

import (
	"fmt"
	"math/big"
)

// Brief is the schema as clients carry it, as JSON: without the state, and without
// texts, which only readers need.
func (s *Schema) Brief() []byte {
	out := fmt.Appendf(nil, `{"schema":%d,"actor":`, Version)
	out = append(appendText(out, s.Actor), `,"types":{`...)
	for i := range s.Types {
		t := &s.Types[i]
		out = append(appendText(appendComma(out, i), t.Name), ':')
		if t.IsEnum() {
			out = append(t.appendMembers(append(out, `{"enum":`...)), '}')
		} else {
			out = append(s.appendFields(append(out, `{"record":`...), t.Fields), '}')
		}
	}
	out = append(out, `},"handlers":[`...)
	for i := range s.Handlers {
		out = s.appendHandler(appendComma(out, i), &s.Handlers[i])
	}
	out = append(out, `],"events":[`...)
	for i, name := range s.Events {
		out = appendText(appendComma(out, i), name)
	}
	return append(out, "]}"...)
}

// appendComma separates the items of a list.
func appendComma(out []byte, i int) []byte {
	if i > 0 {
		return append(out, ',')
	}
	return out
}

func (n *Named) appendMembers(out []byte) []byte {
	out = append(out, '[')
	for i, m := range n.Values {
		out = append(appendText(append(appendComma(out, i), `{"name":`...), m.Name), `,"value":`...)
		if word, ok := m.Value.(string); ok {
			out = appendText(out, word)
		} else {
			out = fmt.Append(out, m.Value)
		}
		out = append(out, '}')
	}
	return append(out, ']')
}

func (s *Schema) appendFields(out []byte, fields []Field) []byte {
	out = append(out, '[')
	for i := range fields {
		f := &fields[i]
		out = append(appendText(append(appendComma(out, i), `{"name":`...), f.Name), `,"type":`...)
		out = f.Type.appendForm(out)
		if f.Optional {
			out = s.appendValue(append(out, `,"default":`...), &f.Type, f.Default)
		}
		out = append(out, '}')
	}
	return append(out, ']')
}

// appendValue writes a value that was read by its type, so that it is legal.
func (s *Schema) appendValue(out []byte, t *Type, v any) []byte {
	written, err := s.Append(nil, "", t, v)
	if err != nil {
		panic(err) // Parse read it by this type
	}
	return append(out, written...)
}

func (s *Schema) appendHandler(out []byte, h *Handler) []byte {
	out = appendText(append(out, `{"name":`...), h.Name)
	if h.Chain {
		out = append(out, `,"callers":"chain"`...)
	}
	if h.Raw {
		return append(out, `,"raw":true}`...)
	}
	out = s.appendFields(append(out, `,"arguments":`...), h.Arguments)
	if h.Returns != nil {
		out = h.Returns.appendForm(append(out, `,"returns":`...))
	}
	return append(out, '}')
}

func (t *Type) appendForm(out []byte) []byte {
	pair := func(word string, low, high *big.Int) []byte {
		return fmt.Appendf(out, `{%q:["%s","%s"]}`, word, low, high)
	}
	of := func(word string) []byte {
		out = fmt.Appendf(out, `{%q:`, word)
		return append(t.Of[0].appendForm(out), '}')
	}
	switch {
	case t.Bounded():
		return pair("int", t.Low, t.High)
	case t.Form == Text && t.Max > 0:
		return pair("str", big.NewInt(int64(t.Min)), big.NewInt(int64(t.Max)))
	case t.Form == OptionalForm:
		return of("optional")
	case t.Form == ListForm:
		return of("list")
	case t.Form == TupleForm:
		return t.appendForms(append(out, `{"tuple":`...))
	case t.Form == DictForm:
		return t.appendForms(append(out, `{"dict":`...))
	}
	return appendText(out, t.Name)
}

func (t *Type) appendForms(out []byte) []byte {
	out = append(out, '[')
	for i := range t.Of {
		out = t.Of[i].appendForm(appendComma(out, i))
	}
	return append(out, "]}"...)
}

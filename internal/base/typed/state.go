package typed

import (
	"bytes"
	bigendian "encoding/binary"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/jsontext"
)

// Attribute is an attribute of the actor's class that is state (decision C23).
type Attribute struct {
	Name string
	Kind Kind
	Type Type // of a value, an element or an entry
	Key  Type // of a Map

	Default bool // a value has one
	given   node // it
	// Begins is the default in a form that can only be compared, as of a Field.
	Begins string
}

// Kind is how many keys of state an attribute has.
type Kind byte

// The kinds of attributes.
const (
	OneValue Kind = iota // the name
	AList                // the name, / and 8 bytes of an index; the name and #, the length
	AMap                 // the name, / and the bytes of a key
)

// LeadingKey is a key of state that an attribute with anything in state has: that of its
// value, or of the length of a List. A Map has none.
func (a *Attribute) LeadingKey() []byte {
	switch a.Kind {
	case OneValue:
		return []byte(a.Name)
	case AList:
		return []byte(a.Name + "#")
	}
	return nil
}

// LeadingType is the type of the value under LeadingKey.
func (a *Attribute) LeadingType() *Type {
	if a.Kind == AList {
		return &length
	}
	return &a.Type
}

// The bytes of keys of state, as the host of programs writes them.
const (
	indexBytes   = 8
	integerBytes = 32 // of an integer in a Map's key
	lengthBytes  = 4  // before each part of a tuple in a Map's key
)

// StateKey returns what a key of state means to the actor's class, like log["0x…"],
// members[3] or len(members), and the type of its value. The type is nil if no declared
// attribute has the key.
func (s *Schema) StateKey(key []byte) (what string, value *Type) {
	for i := range s.State {
		a := &s.State[i]
		rest, mine := bytes.CutPrefix(key, []byte(a.Name))
		if !mine {
			continue
		}
		entry, isEntry := bytes.CutPrefix(rest, []byte("/"))
		switch {
		case a.Kind == OneValue && len(rest) == 0:
			return a.Name, &a.Type
		case a.Kind == AList && string(rest) == "#":
			return "len(" + a.Name + ")", &length
		case a.Kind == AList && isEntry && len(entry) == indexBytes:
			return a.Name + "[" + new(big.Int).SetBytes(entry).String() + "]", &a.Type
		case a.Kind == AMap && isEntry:
			if written, legal := s.keyText(&a.Key, entry); legal {
				return a.Name + "[" + written + "]", &a.Type
			}
		}
	}
	return "", nil
}

// length is the type of a List's length.
var length = atoms[4] // u64

// keyText returns the bytes of a Map's key as JSON; those of a tuple without its brackets.
func (s *Schema) keyText(t *Type, raw []byte) (string, bool) {
	key, legal := keyValue(t, raw)
	if !legal {
		return "", false
	}
	text, err := s.Append(nil, "", t, key)
	if t.Form == TupleForm && err == nil {
		return string(text[1 : len(text)-1]), true
	}
	return string(text), err == nil
}

// keyValue returns the value that the bytes of a Map's key have.
func keyValue(t *Type, raw []byte) (any, bool) {
	switch t.Form {
	case Integer:
		if len(raw) != integerBytes {
			return nil, false
		}
		n := new(big.Int).SetBytes(raw)
		if raw[0] >= 1<<7 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 8*integerBytes))
		}
		return n, true
	case Text:
		return string(raw), utf8.Valid(raw)
	case Binary:
		return raw, true
	case TupleForm:
		parts := []any{}
		for i := range t.Of {
			if len(raw) < lengthBytes || uint64(bigendian.BigEndian.Uint32(raw)) > uint64(len(raw)-lengthBytes) {
				return nil, false
			}
			end := lengthBytes + int(bigendian.BigEndian.Uint32(raw))
			part, legal := keyValue(&t.Of[i], raw[lengthBytes:end])
			if !legal {
				return nil, false
			}
			parts, raw = append(parts, part), raw[end:]
		}
		return parts, len(raw) == 0
	}
	return nil, false
}

// Unpack returns a value of state as JSON, in the one form. It is false for bytes that do
// not fit the type: other code wrote them.
func (s *Schema) Unpack(t *Type, raw []byte) ([]byte, bool) {
	var held any
	if codec.UnmarshalLoose(raw, MaxPayloadBytes, &held) != nil {
		return nil, false
	}
	v, fits := s.unpackValue(t, held)
	if !fits {
		return nil, false
	}
	text, err := s.Append(nil, "", t, v)
	return text, err == nil
}

// PackInteger returns the bytes of state of an integer, by its digits. An error says what the type wants.
func (s *Schema) PackInteger(t *Type, digits string) ([]byte, error) {
	v, err := s.Decode(t, appendText(nil, digits))
	if err != nil {
		return nil, err
	}
	return codec.Marshal(v.(*big.Int)), nil
}

// unpackValue returns a value of CBOR in the form of Decode. Append checks the atoms.
func (s *Schema) unpackValue(t *Type, held any) (any, bool) {
	switch t.Form {
	case Integer:
		return asInteger(held)
	case Text:
		// Text of strangers is valid UTF-8: the decoder refuses other.
		text, isText := held.(string)
		return text, isText
	case OptionalForm:
		if held == nil {
			return nil, true
		}
		return s.unpackValue(&t.Of[0], held)
	case ListForm, TupleForm:
		return s.unpackItems(t, held)
	case DictForm:
		return s.unpackEntries(held, func(string) (*Type, bool) { return &t.Of[1], true })
	case NamedForm:
		return s.unpackNamedType(s.Type(t.Name), held)
	}
	return held, true
}

// asInteger is an integer of CBOR.
func asInteger(held any) (any, bool) {
	switch n := held.(type) {
	case uint64:
		return new(big.Int).SetUint64(n), true
	case int64:
		return big.NewInt(n), true
	case big.Int:
		return &n, true
	}
	return nil, false
}

func (s *Schema) unpackItems(t *Type, held any) (any, bool) {
	items, isList := held.([]any)
	if !isList || t.Form == TupleForm && len(items) != len(t.Of) {
		return nil, false
	}
	all := []any{}
	for i := range items {
		v, fits := s.unpackValue(t.Item(i), items[i])
		if !fits {
			return nil, false
		}
		all = append(all, v)
	}
	return all, true
}

// unpackEntries reads the entries of a map. of is the type of a name's value, and whether
// the actor reads it: the host leaves out fields of older code.
func (s *Schema) unpackEntries(held any, of func(name string) (*Type, bool)) (any, bool) {
	entries, isMap := held.(map[any]any)
	if !isMap {
		return nil, false
	}
	all := map[string]any{}
	for k, one := range entries { // order: the result is a map too
		name, isText := k.(string)
		if !isText {
			return nil, false
		}
		t, read := of(name)
		if !read {
			continue
		}
		v, fits := s.unpackValue(t, one)
		if !fits {
			return nil, false
		}
		all[name] = v
	}
	return all, true
}

func (s *Schema) unpackNamedType(named *Named, held any) (any, bool) {
	if !named.IsEnum() {
		return s.unpackEntries(held, func(name string) (*Type, bool) {
			for i := range named.Fields {
				if named.Fields[i].Name == name {
					return &named.Fields[i].Type, true
				}
			}
			return nil, false
		})
	}
	if text, isText := held.(string); isText {
		return text, true
	}
	return asInteger(held)
}

// The views below return bytes as JSON in the one form, and nil for bytes that do not fit
// their type.

// ArgumentsView returns the payload of a handler.
func (s *Schema) ArgumentsView(handler string, payload []byte) []byte {
	h := s.Handler(handler)
	if h == nil || h.Raw {
		return nil
	}
	values, err := s.Arguments(h, payload)
	if err != nil {
		return nil
	}
	text, err := s.Encode(h, values)
	if err != nil {
		return nil
	}
	return text
}

// ReturnedView returns the output of a handler.
func (s *Schema) ReturnedView(handler string, output []byte) []byte {
	h := s.Handler(handler)
	if h == nil || h.Raw || h.Returns == nil {
		return nil
	}
	return s.viewValue(h.Returns, output)
}

// EventView returns the data of an event.
func (s *Schema) EventView(name string, data []byte) []byte {
	for _, known := range s.Events {
		if known == name {
			return s.viewValue(&Type{Form: NamedForm, Name: name}, data)
		}
	}
	return nil
}

func (s *Schema) viewValue(t *Type, data []byte) []byte {
	v, err := s.Decode(t, data)
	if err != nil {
		return nil
	}
	text, err := s.Append(nil, "", t, v)
	if err != nil {
		return nil
	}
	return text
}

// comparisonForm is a value in a form for comparisons: an integer in digits is the number.
func comparisonForm(n *node) string {
	switch n.Kind {
	case jsontext.Number, jsontext.Text:
		return strconv.Quote(n.Text)
	case jsontext.List, jsontext.Object:
		parts := make([]string, len(n.Items))
		for i := range n.Items {
			if n.Kind == jsontext.Object {
				parts[i] = strconv.Quote(n.Names[i]) + ":"
			}
			parts[i] += comparisonForm(&n.Items[i])
		}
		if n.Kind == jsontext.Object { // its members have no order
			slices.Sort(parts)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return n.Text
}

// stateForm reads an entry of the schema's state.
func (p *parser) stateForm(path string, n node) error {
	var a Attribute
	var one, list, key *Type
	typ := func(into **Type) func(string, node) error {
		return func(path string, n node) error {
			t, err := p.readType(path, n, maxTypeDepth)
			*into = &t
			return err
		}
	}
	err := readMembers(path, n, map[string]func(string, node) error{"name": textReader(&a.Name, maxName), "type": typ(&one),
		"list": typ(&list),
		"key":  typ(&key), "default": func(_ string, n node) error { a.Default, a.Begins, a.given = true, comparisonForm(&n), n; return nil }})
	if err == nil {
		err = checkName(memberPath(path, "name"), a.Name)
	}
	if err != nil {
		return err
	}
	switch {
	case list != nil && one == nil && key == nil:
		a.Kind, a.Type = AList, *list
	case one != nil && list == nil && key == nil:
		a.Type = *one
	case one != nil && list == nil:
		a.Kind, a.Type, a.Key = AMap, *one, *key
	default:
		return &Error{path, "has one of type, list, or key with type"}
	}
	p.schema.State = append(p.schema.State, a)
	return nil
}

// Names lists the members of a payload that is a JSON object; ok is false of any other. An
// empty payload has none.
func Names(payload []byte) (names []string, ok bool) {
	if len(payload) == 0 {
		return nil, true
	}
	n, err := readJSON(payload, MaxPayloadBytes, maxDepth)
	return n.Names, err == nil && n.Kind == jsontext.Object
}

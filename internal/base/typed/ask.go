package typed

import (
	bigendian "encoding/binary"
	"math/big"
	"strings"
)

// Asked is what a text asks of an actor's state, in the form of StateKey: price,
// members[3], len(members) or log["0x…"].
type Asked struct {
	Attribute *Attribute
	Length    bool   // of a List
	Entry     bool   // of a List or a Map
	Within    string // the brackets of an entry
}

// Ask reads such a text; ok is false of one that names no attribute.
func (s *Schema) Ask(text string) (a Asked, ok bool) {
	name := text
	if within, is := strings.CutPrefix(text, "len("); is && strings.HasSuffix(within, ")") {
		name, a.Length = within[:len(within)-1], true
	} else if before, within, is := strings.Cut(text, "["); is && strings.HasSuffix(within, "]") {
		name, a.Entry, a.Within = before, true, within[:len(within)-1]
	}
	a.Attribute = s.Attribute(name)
	return a, a.Attribute != nil
}

// Attribute returns an attribute by its name, or nil.
func (s *Schema) Attribute(name string) *Attribute {
	for i := range s.State {
		if s.State[i].Name == name {
			return &s.State[i]
		}
	}
	return nil
}

// Whole says how the attribute's parts are asked for, if the question names no part that it
// has; otherwise "".
func (a *Asked) Whole() string {
	name := a.Attribute.Name
	switch {
	case a.Attribute.Kind == OneValue && (a.Length || a.Entry):
		return name + " is one value: read " + name
	case a.Attribute.Kind == AList && !a.Length && !a.Entry:
		return name + " is a List: read len(" + name + ") or " + name + "[INDEX]"
	case a.Attribute.Kind == AMap && !a.Entry:
		return name + " is a Map: read " + name + "[KEY], and its KEY is " + a.Attribute.Key.String()
	}
	return ""
}

// KeyType is the type of what is in the brackets.
func (a *Asked) KeyType() *Type {
	if a.Attribute.Kind == AList {
		return &length
	}
	return &a.Attribute.Key
}

// KeyJSON is what is in the brackets as JSON: texts, addresses and bytes need no quotes.
func (a *Asked) KeyJSON() []byte {
	t := a.KeyType()
	if t.Form == TupleForm {
		return []byte("[" + a.Within + "]")
	}
	if (t.Form == Text || t.Form == Binary) && !strings.HasPrefix(a.Within, `"`) {
		return appendText(nil, a.Within)
	}
	return []byte(a.Within)
}

// AskedKey returns the key of state, and the type of its value. key is the JSON of an entry.
func (s *Schema) AskedKey(a *Asked, key []byte) ([]byte, *Type, error) {
	name := a.Attribute.Name
	switch {
	case a.Length:
		return []byte(name + "#"), &length, nil
	case !a.Entry:
		return []byte(name), &a.Attribute.Type, nil
	}
	v, err := s.Decode(a.KeyType(), key)
	if err != nil {
		return nil, nil, err
	}
	if a.Attribute.Kind == AList {
		return bigendian.BigEndian.AppendUint64([]byte(name+"/"), v.(*big.Int).Uint64()), &a.Attribute.Type, nil // a u64
	}
	return appendKey([]byte(name+"/"), v), &a.Attribute.Type, nil
}

// appendKey appends the bytes that a value has as a Map's key.
func appendKey(to []byte, v any) []byte {
	switch v := v.(type) {
	case *big.Int:
		n := new(big.Int).Set(v)
		if n.Sign() < 0 {
			n.Add(n, new(big.Int).Lsh(big.NewInt(1), 8*integerBytes))
		}
		return append(to, n.FillBytes(make([]byte, integerBytes))...)
	case string:
		return append(to, v...)
	case []byte:
		return append(to, v...)
	case []any:
		for _, part := range v {
			bytes := appendKey(nil, part)
			to = append(bigendian.BigEndian.AppendUint32(to, uint32(len(bytes))), bytes...) // a text has at most MaxPayloadBytes
		}
	}
	return to
}

// Initial is the JSON of a value that was never written: the default of an attribute or of a
// Map's entries, or the length of an empty List. It is nil where there is none.
func (s *Schema) Initial(a *Asked) []byte {
	switch {
	case a.Length:
		text, _ := s.Append(nil, "", &length, new(big.Int)) // it fits
		return text
	case !a.Attribute.Default || a.Entry != (a.Attribute.Kind == AMap):
		return nil
	}
	v, err := s.readValue("", &a.Attribute.Type, a.Attribute.given)
	if err != nil {
		return nil
	}
	text, err := s.Append(nil, "", &a.Attribute.Type, v)
	if err != nil {
		return nil
	}
	return text
}

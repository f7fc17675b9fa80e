package typed

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/jsontext"
)

// Values in Go: nil, bool, string, *big.Int for every integer, []byte for bytes, Address
// and Hash. Lists and tuples are []any, records and dicts map[readString]any; an enum is the
// member's value. The keys of a dict are as they are written.

// maxDigits is the most digits of an integer, those of 2^256.
const maxDigits = 78

// Arguments reads the payload of a handler.
func (s *Schema) Arguments(h *Handler, payload []byte) (map[string]any, error) {
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	n, err := readJSON(payload, MaxPayloadBytes, maxDepth)
	if err != nil {
		return nil, err
	}
	if n.Kind != jsontext.Object {
		return nil, &Error{"", "the arguments are an object: this is " + showNode(n)}
	}
	return s.readRecord("", h.Name, h.Arguments, n)
}

// Decode reads a value.
func (s *Schema) Decode(t *Type, data []byte) (any, error) {
	n, err := readJSON(data, MaxPayloadBytes, maxDepth)
	if err != nil {
		return nil, err
	}
	return s.readValue("", t, n)
}

func (s *Schema) readValue(path string, t *Type, n node) (any, error) {
	wrong := func(what string) error { return &Error{path, "is " + what + ": this is " + showNode(n)} }
	switch t.Form {
	case Integer:
		return integerValue(readInteger(path, n, t))
	case Bool:
		if n.Kind != jsontext.Bool {
			return nil, wrong("true or false")
		}
		return n.Text == "true", nil
	case Text:
		if n.Kind != jsontext.Text {
			return nil, wrong("a text")
		}
		return n.Text, s.checkText(path, t, n.Text)
	case Binary:
		return bytesValue(readBinary(path, n, t.Size))
	case OptionalForm:
		if n.Kind == jsontext.Null {
			return nil, nil
		}
		return s.readValue(path, &t.Of[0], n)
	case ListForm, TupleForm:
		return s.readList(path, t, n)
	case DictForm:
		return s.readDict(path, t, n)
	}
	named := s.Type(t.Name)
	if named.IsEnum() {
		return readEnum(path, named, n)
	}
	if n.Kind != jsontext.Object {
		return nil, wrong("an object, " + t.Name)
	}
	return s.readRecord(path, t.Name, named.Fields, n)
}

// integerValue and bytesValue return an untyped nil on an error, not a nil of their type.
func integerValue(v *big.Int, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func bytesValue(v []byte, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (s *Schema) checkText(path string, t *Type, text string) error {
	if n := countCharacters(text); t.Max > 0 && (n < t.Min || n > t.Max) {
		return &Error{path, fmt.Sprintf("has %d to %d characters: this has %d", t.Min, t.Max, n)}
	}
	return nil
}

func (s *Schema) readList(path string, t *Type, n node) (any, error) {
	if n.Kind != jsontext.List {
		return nil, &Error{path, "is a list: this is " + showNode(n)}
	}
	if t.Form == TupleForm && len(n.Items) != len(t.Of) {
		return nil, &Error{path, fmt.Sprintf("is a list of %d: this has %d", len(t.Of), len(n.Items))}
	}
	all := []any{}
	for i, item := range n.Items {
		v, err := s.readValue(fmt.Sprintf("%s[%d]", path, i), t.Item(i), item)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Item is the type of the i-th item of a list or a tuple.
func (t *Type) Item(i int) *Type {
	if t.Form == TupleForm {
		return &t.Of[i]
	}
	return &t.Of[0]
}

func (s *Schema) readDict(path string, t *Type, n node) (any, error) {
	if n.Kind != jsontext.Object {
		return nil, &Error{path, "is an object: this is " + showNode(n)}
	}
	all := map[string]any{}
	for i, name := range n.Names {
		at := memberPath(path, name)
		key, err := s.readValue(at, &t.Of[0], node{Kind: jsontext.Text, Text: name})
		if err != nil {
			return nil, err
		}
		written := keyText(key)
		if _, twice := all[written]; twice {
			return nil, &Error{at, "is given twice"}
		}
		if all[written], err = s.readValue(at, &t.Of[1], n.Items[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Key reads a key of a dict.
func (s *Schema) Key(t *Type, written string) (any, error) {
	return s.readValue(clipText(written), &t.Of[0], node{Kind: jsontext.Text, Text: written})
}

// keyText is a key of a dict as it is written.
func keyText(key any) string {
	switch k := key.(type) {
	case *big.Int:
		return k.String()
	case []byte:
		return "0x" + hex.EncodeToString(k)
	}
	return key.(string)
}

func readEnum(path string, t *Named, n node) (any, error) {
	var all []string
	for _, m := range t.Values {
		word, isWord := m.Value.(string)
		if isWord && n.Kind == jsontext.Text && n.Text == word || !isWord && n.Kind == jsontext.Number && n.Text == fmt.Sprint(m.Value) {
			return m.Value, nil
		}
		all = append(all, clipText(fmt.Sprint(m.Value)))
	}
	return nil, &Error{path, fmt.Sprintf("is one of %s: this is %s", strings.Join(all, ", "), showNode(n))}
}

// readRecord reads the fields of a record, or the arguments of a handler.
func (s *Schema) readRecord(path, of string, fields []Field, n node) (map[string]any, error) {
	seen := map[string]bool{}
	for _, name := range n.Names {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			return nil, unknownField(path, of, name, fields)
		}
		if seen[name] {
			return nil, &Error{memberPath(path, name), "is given twice"}
		}
		seen[name] = true
	}
	all := map[string]any{}
	for i := range fields {
		f := &fields[i]
		at := slices.Index(n.Names, f.Name)
		if at < 0 && !f.Optional {
			return nil, missingError(path, f)
		}
		if at < 0 {
			continue
		}
		v, err := s.readValue(memberPath(path, f.Name), &f.Type, n.Items[at])
		if err != nil {
			return nil, err
		}
		all[f.Name] = v
	}
	return all, nil
}

func missingError(path string, f *Field) error {
	return &Error{memberPath(path, f.Name), "is missing: " + f.Type.String()}
}

func unknownField(path, of, name string, fields []Field) error {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	has := strings.Join(names, ", ")
	if has == "" {
		has = "none"
	}
	return &Error{memberPath(path, name), fmt.Sprintf("is unknown: %s has %s", of, has)}
}

// readInteger reads an integer as a number or as digits.
func readInteger(path string, n node, t *Type) (*big.Int, error) {
	wrong := func() error { return &Error{path, "is " + t.integerNoun() + ": this is " + showNode(n)} }
	if n.Kind != jsontext.Number && n.Kind != jsontext.Text || !wholeNumber(n.Text) {
		return nil, wrong()
	}
	v, _ := new(big.Int).SetString(n.Text, 10)
	if n.Kind == jsontext.Number && v.CmpAbs(safe) > 0 {
		return nil, &Error{path, "is a number beyond 2^53: write its digits in quotes"}
	}
	if v.Cmp(t.Low) < 0 || v.Cmp(t.High) > 0 {
		return nil, wrong()
	}
	return v, nil
}

// wholeNumber reports whether a text is an integer in its one form.
func wholeNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > maxDigits || digits[0] == '0' && text != "0" {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

// readBinary reads bytes; size 0 is any number of them.
func readBinary(path string, n node, size int) ([]byte, error) {
	want := "bytes, 0x and pairs of hexadecimal digits"
	if size > 0 {
		want = fmt.Sprintf("%d bytes, 0x and %d hexadecimal digits", size, 2*size)
	}
	digits, prefixed := strings.CutPrefix(n.Text, "0x")
	data, err := hex.DecodeString(digits)
	if n.Kind != jsontext.Text || !prefixed || err != nil || size > 0 && len(data) != size {
		return nil, &Error{path, "is " + want + ": this is " + showNode(n)}
	}
	return data, nil
}

// integerNoun is what an integer is called in an error.
func (t *Type) integerNoun() string {
	if t.Name == "Amount" {
		return "an amount in wei"
	}
	return fmt.Sprintf("an integer from %s to %s", t.Low, t.High)
}

// showNode is a stranger's value in an error.
func showNode(n node) string {
	switch n.Kind {
	case jsontext.Text:
		return `"` + clipText(n.Text) + `"`
	case jsontext.List:
		return "a list"
	case jsontext.Object:
		return "an object"
	}
	return clipText(n.Text)
}

// String is the type as written in Python.
func (t *Type) String() string {
	var of []string
	for i := range t.Of {
		of = append(of, t.Of[i].String())
	}
	inner := strings.Join(of, ", ")
	switch {
	case t.Bounded():
		return fmt.Sprintf("Annotated[int, Bounds(%s, %s)]", t.Low, t.High)
	case t.Form == Text && t.Max > 0:
		return fmt.Sprintf("Annotated[str, Bounds(%d, %d)]", t.Min, t.Max)
	case t.Form == OptionalForm:
		return inner + " | None"
	case t.Form == ListForm:
		return "list[" + inner + "]"
	case t.Form == TupleForm:
		return "tuple[" + inner + "]"
	case t.Form == DictForm:
		return "dict[" + inner + "]"
	}
	return t.Name
}

// Encode writes the arguments of a handler in the one form. Omitted arguments stay
// omitted.
func (s *Schema) Encode(h *Handler, arguments map[string]any) ([]byte, error) {
	out, err := s.appendRecord(nil, "", h.Name, h.Arguments, arguments, false)
	if err == nil && len(out) > MaxPayloadBytes {
		err = &Error{"", fmt.Sprintf("the arguments have %d bytes: at most %d are sent", len(out), MaxPayloadBytes)}
	}
	return out, err
}

// Append writes a value in the one form. A record without a field that has a default gets
// that.
func (s *Schema) Append(out []byte, path string, t *Type, v any) ([]byte, error) {
	wrong := func(what string) error { return &Error{path, fmt.Sprintf("is %s: this is %T", what, v)} }
	if len(out) > MaxPayloadBytes {
		return nil, &Error{path, fmt.Sprintf("is behind the first %d bytes: no more are sent", MaxPayloadBytes)}
	}
	switch t.Form {
	case Integer:
		return t.appendInteger(out, path, v)
	case Bool:
		b, ok := v.(bool)
		if !ok {
			return nil, wrong("true or false")
		}
		return fmt.Append(out, b), nil
	case Text:
		text, ok := v.(string)
		if !ok {
			return nil, wrong("a text")
		}
		if text != strings.ToValidUTF8(text, "") {
			return nil, &Error{path, "is not UTF-8"}
		}
		return appendText(out, text), s.checkText(path, t, text)
	case Binary:
		data, ok := v.([]byte)
		if !ok || t.Size > 0 && len(data) != t.Size {
			return nil, wrong("bytes of " + t.Name)
		}
		return append(hex.AppendEncode(append(out, `"0x`...), data), '"'), nil
	case OptionalForm:
		if v == nil {
			return append(out, "null"...), nil
		}
		return s.Append(out, path, &t.Of[0], v)
	case ListForm, TupleForm:
		return s.appendList(out, path, t, v)
	case DictForm:
		return s.appendDict(out, path, t, v)
	}
	return s.appendNamedType(out, path, t, v)
}

func (t *Type) appendInteger(out []byte, path string, v any) ([]byte, error) {
	n, ok := v.(*big.Int)
	if !ok || n == nil || n.Cmp(t.Low) < 0 || n.Cmp(t.High) > 0 {
		return nil, &Error{path, fmt.Sprintf("is %s: this is %.80s", t.integerNoun(), fmt.Sprint(v))}
	}
	if t.Number() {
		return n.Append(out, 10), nil
	}
	return append(n.Append(append(out, '"'), 10), '"'), nil
}

func (s *Schema) appendList(out []byte, path string, t *Type, v any) ([]byte, error) {
	items, ok := v.([]any)
	if !ok || t.Form == TupleForm && len(items) != len(t.Of) {
		return nil, &Error{path, fmt.Sprintf("is %s: this is %T", t, v)}
	}
	out = append(out, '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = s.Append(out, fmt.Sprintf("%s[%d]", path, i), t.Item(i), item); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func (s *Schema) appendDict(out []byte, path string, t *Type, v any) ([]byte, error) {
	entries, ok := v.(map[string]any)
	if !ok {
		return nil, &Error{path, fmt.Sprintf("is %s: this is %T", t, v)}
	}
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(entries)) {
		if i > 0 {
			out = append(out, ',')
		}
		at := memberPath(path, name)
		key, err := s.readValue(at, &t.Of[0], node{Kind: jsontext.Text, Text: name})
		if err != nil {
			return nil, err
		}
		if keyText(key) != name {
			return nil, &Error{at, "is a key in another form than " + keyText(key)}
		}
		if out, err = s.Append(append(appendText(out, name), ':'), at, &t.Of[1], entries[name]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func (s *Schema) appendNamedType(out []byte, path string, t *Type, v any) ([]byte, error) {
	named := s.Type(t.Name)
	if !named.IsEnum() {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil, &Error{path, fmt.Sprintf("is %s: this is %T", t.Name, v)}
		}
		return s.appendRecord(out, path, t.Name, named.Fields, fields, true)
	}
	word, isWord := v.(string)
	if isWord {
		if _, err := readEnum(path, named, node{Kind: jsontext.Text, Text: word}); err != nil {
			return nil, err
		}
		return appendText(out, word), nil
	}
	digits := fmt.Sprint(v)
	if _, err := readEnum(path, named, node{Kind: jsontext.Number, Text: digits}); err != nil {
		return nil, err
	}
	return append(out, digits...), nil
}

// appendRecord writes fields by their names. With whole a field that is left out is
// written as its default.
func (s *Schema) appendRecord(out []byte, path, of string, fields []Field, given map[string]any, whole bool) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			return nil, unknownField(path, of, name, fields)
		}
	}
	sorted := slices.Clone(fields)
	slices.SortFunc(sorted, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	first := true
	out = append(out, '{')
	for i := range sorted {
		f := &sorted[i]
		v, there := given[f.Name]
		switch {
		case !there && !f.Optional:
			return nil, missingError(path, f)
		case !there && !whole:
			continue
		case !there:
			v = f.Default
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		var err error
		if out, err = s.Append(append(appendText(out, f.Name), ':'), memberPath(path, f.Name), &f.Type, v); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

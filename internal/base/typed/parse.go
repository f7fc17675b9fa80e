package typed

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/jsontext"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// validName reports whether a class, a handler, an argument or a field may have a name: a
// public name of Python in ASCII, so that every language can write it.
func validName(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

// keywords are the words that Python lets nothing be called. A schema that has one as a
// name was made by no deploy.
var keywords = strings.Fields("False None True and as assert async await break class continue def del elif else except finally for from " +
	"global if import in is lambda nonlocal not or pass raise return try while with yield")

// Parse reads a schema as JSON. It comes from a stranger: what this version does not know
// is refused by its name, so that no client is made of half a schema.
func Parse(data []byte) (*Schema, error) {
	root, err := readJSON(data, MaxSchemaBytes, maxSchemaDepth)
	if err != nil {
		return nil, schemaError(err)
	}
	p := &parser{schema: &Schema{Hash: types.Keccak(data)}}
	if err := p.readDocument(root); err != nil {
		return nil, schemaError(err)
	}
	return p.schema, nil
}

func schemaError(err error) error { return fmt.Errorf("the schema is not valid: %w", err) }

type parser struct{ schema *Schema }

// readMembers reads the members of an object, each by the function for its name.
func readMembers(path string, n node, known map[string]func(path string, n node) error) error {
	if n.Kind != jsontext.Object {
		return &Error{path, "is not an object"}
	}
	for i, name := range n.Names {
		read := known[name]
		if slices.Index(n.Names, name) < i {
			return &Error{memberPath(path, name), "is given twice"}
		}
		if read == nil {
			return &Error{memberPath(path, name), "is not known in a schema of version 1"}
		}
		if err := read(memberPath(path, name), n.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// readItems reads the items of a list within a limit.
func readItems(path string, n node, limit int, read func(path string, n node) error) error {
	if n.Kind != jsontext.List {
		return &Error{path, "is not a list"}
	}
	if len(n.Items) > limit {
		return &Error{path, fmt.Sprintf("has %d entries: at most %d are allowed", len(n.Items), limit)}
	}
	for i, item := range n.Items {
		if err := read(fmt.Sprintf("%s[%d]", path, i), item); err != nil {
			return err
		}
	}
	return nil
}

// textReader reads a text of at most limit bytes.
func textReader(into *string, limit int) func(string, node) error {
	return func(path string, n node) error {
		if n.Kind != jsontext.Text {
			return &Error{path, "is not a text"}
		}
		if len(n.Text) > limit {
			return &Error{path, fmt.Sprintf("has %d bytes: at most %d are allowed", len(n.Text), limit)}
		}
		*into = n.Text
		return nil
	}
}

func flagReader(into *bool) func(string, node) error {
	return func(path string, n node) error {
		if n.Kind != jsontext.Bool {
			return &Error{path, "is neither true nor false"}
		}
		*into = n.Text == "true"
		return nil
	}
}

func nodeReader(into **node) func(string, node) error {
	return func(_ string, n node) error {
		*into = &n
		return nil
	}
}

func checkName(path, name string) error {
	if len(name) > maxName || !validName(name) || slices.Contains(keywords, name) {
		return &Error{path, fmt.Sprintf("is %q, which is not a valid name: at most %d ASCII letters, digits and _, a letter first, "+
			"and not a keyword of Python", clipText(name), maxName)}
	}
	return nil
}

// readDocument reads the whole. The types come first, since the others name them.
func (p *parser) readDocument(root node) error {
	s, version := p.schema, ""
	var named, handlers, events, state *node
	err := readMembers("", root, map[string]func(string, node) error{
		"schema": func(_ string, n node) error { version = n.Text; return nil },
		"actor":  textReader(&s.Actor, maxName), "doc": textReader(&s.Doc, maxDoc),
		"types": nodeReader(&named), "handlers": nodeReader(&handlers), "events": nodeReader(&events), "state": nodeReader(&state)})
	switch {
	case version != fmt.Sprint(Version):
		return &Error{"schema", fmt.Sprintf("has version %q: this devnet knows version %d", clipText(version), Version)}
	case err != nil:
		return err
	case s.Actor != "" && checkName("actor", s.Actor) != nil:
		return checkName("actor", s.Actor)
	case handlers == nil:
		return &Error{"handlers", "is missing"}
	}
	if named != nil {
		if err := p.readTypes(*named); err != nil {
			return err
		}
	}
	if err := readItems("handlers", *handlers, maxHandlers, p.readHandler); err != nil {
		return err
	}
	if events != nil {
		if err := readItems("events", *events, maxTypes, p.readEvent); err != nil {
			return err
		}
	}
	if state != nil {
		return readItems("state", *state, maxState, p.stateForm)
	}
	return nil
}

// readTypes reads records and enums. All names are known before the first field is read.
func (p *parser) readTypes(n node) error {
	if n.Kind != jsontext.Object {
		return &Error{"types", "is not an object"}
	}
	if len(n.Items) > maxTypes {
		return &Error{"types", fmt.Sprintf("has %d entries: at most %d are allowed", len(n.Items), maxTypes)}
	}
	for _, name := range n.Names {
		path := memberPath("types", name)
		if err := checkName(path, name); err != nil {
			return err
		}
		if slices.ContainsFunc(atoms, func(t Type) bool { return t.Name == name }) {
			return &Error{path, "has the name of a type that every schema has"}
		}
		if p.schema.Type(name) != nil {
			return &Error{path, "is given twice"}
		}
		p.schema.Types = append(p.schema.Types, Named{Name: name})
	}
	late := make([]*node, len(n.Items)) // fields of records
	for i, item := range n.Items {
		t := &p.schema.Types[i]
		path := memberPath("types", t.Name)
		err := readMembers(path, item, map[string]func(string, node) error{"doc": textReader(&t.Doc, maxDoc), "record": nodeReader(&late[i]),
			"enum": func(path string, n node) error {
				return readItems(path, n, maxMembers, func(path string, n node) error { return p.readEnumValue(t, path, n) })
			}})
		if err != nil {
			return err
		}
		if (late[i] == nil) == (len(t.Values) == 0) {
			return &Error{path, "is either a record or an enum with values"}
		}
	}
	if err := p.readRecords(late); err != nil {
		return err
	}
	// By name, whatever order the document has: what is made of it is the same.
	slices.SortFunc(p.schema.Types, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (p *parser) readRecords(late []*node) error {
	for i, fields := range late {
		if fields == nil {
			continue
		}
		t := &p.schema.Types[i]
		found, err := p.readFields(memberPath(memberPath("types", t.Name), "record"), *fields, maxFields)
		if err != nil {
			return err
		}
		t.Fields = found
	}
	return p.checkDepths()
}

// readEnumValue reads a value of an enum.
func (p *parser) readEnumValue(t *Named, path string, n node) error {
	var m Member
	err := readMembers(path, n, map[string]func(string, node) error{"name": textReader(&m.Name, maxName),
		"value": func(path string, n node) error {
			switch n.Kind {
			case jsontext.Text:
				m.Value = n.Text
			case jsontext.Number:
				number, ok := new(big.Int).SetString(n.Text, 10)
				if !ok || number.CmpAbs(safe) > 0 {
					return &Error{path, "is not a whole number within 2^53"}
				}
				m.Value = number
			default:
				return &Error{path, "is neither a text nor a number"}
			}
			return nil
		}})
	if err != nil {
		return err
	}
	if err := checkName(memberPath(path, "name"), m.Name); err != nil {
		return err
	}
	if m.Value == nil {
		return &Error{memberPath(path, "value"), "is missing"}
	}
	for _, other := range t.Values {
		_, mine := m.Value.(string)
		if _, its := other.Value.(string); its != mine || other.Name == m.Name || fmt.Sprint(other.Value) == fmt.Sprint(m.Value) {
			return &Error{path, "has a name or value of another member, or another kind of value"}
		}
	}
	t.Values = append(t.Values, m)
	return nil
}

// readFields reads the fields of a record or the arguments of a handler.
func (p *parser) readFields(path string, n node, limit int) (found []Field, err error) {
	err = readItems(path, n, limit, func(path string, n node) error {
		f, err := p.readField(path, n)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(found, func(o Field) bool { return o.Name == f.Name }) {
			return &Error{path, fmt.Sprintf("is a second %s", f.Name)}
		}
		found = append(found, f)
		return nil
	})
	return found, err
}

func (p *parser) readField(path string, n node) (f Field, err error) {
	var kind, given *node
	err = readMembers(path, n, map[string]func(string, node) error{"name": textReader(&f.Name, maxName), "type": nodeReader(&kind),
		"default": nodeReader(&given)})
	if err != nil {
		return f, err
	}
	if err := checkName(memberPath(path, "name"), f.Name); err != nil {
		return f, err
	}
	if kind == nil {
		return f, &Error{memberPath(path, "type"), "is missing"}
	}
	if f.Type, err = p.readType(memberPath(path, "type"), *kind, maxTypeDepth); err != nil || given == nil {
		return f, err
	}
	f.Optional = true
	f.Default, f.Begins = *given, comparisonForm(given) // the value is read after all types
	return f, nil
}

func (p *parser) readHandler(path string, n node) error {
	h := Handler{}
	var arguments, returns, callers *node
	err := readMembers(path, n, map[string]func(string, node) error{"name": textReader(&h.Name, maxName), "doc": textReader(&h.Doc, maxDoc),
		"raw": flagReader(&h.Raw), "callers": nodeReader(&callers), "arguments": nodeReader(&arguments), "returns": nodeReader(&returns)})
	if err != nil {
		return err
	}
	if err := checkName(memberPath(path, "name"), h.Name); err != nil {
		return err
	}
	if p.schema.Handler(h.Name) != nil {
		return &Error{path, fmt.Sprintf("is a second %s", h.Name)}
	}
	if callers != nil {
		if h.Chain, err = chainOnly(memberPath(path, "callers"), *callers); err != nil {
			return err
		}
	}
	if h.Raw && (arguments != nil || returns != nil) {
		return &Error{path, "is raw, and so has neither arguments nor returns"}
	}
	if arguments != nil {
		at := memberPath(path, "arguments")
		if h.Arguments, err = p.readFields(at, *arguments, maxArguments); err != nil {
			return err
		}
		if err := p.readDefaults(at, h.Arguments); err != nil {
			return err
		}
	}
	if returns != nil && returns.Kind != jsontext.Null {
		t, err := p.readType(memberPath(path, "returns"), *returns, maxTypeDepth)
		if err != nil {
			return err
		}
		h.Returns = &t
	}
	p.schema.Handlers = append(p.schema.Handlers, h)
	return nil
}

// chainOnly reads who may call: anyone, the chain, or a list of OWNER, SELF and addresses.
func chainOnly(path string, n node) (bool, error) {
	if n.Kind == jsontext.Text && (n.Text == "anyone" || n.Text == "chain") {
		return n.Text == "chain", nil
	}
	if n.Kind != jsontext.List {
		return false, &Error{path, `is neither "anyone", "chain" nor a list`}
	}
	return false, readItems(path, n, maxArguments, func(path string, n node) error {
		if n.Kind == jsontext.Text && (n.Text == "OWNER" || n.Text == "SELF") {
			return nil
		}
		_, err := readBinary(path, n, len(types.Address{}))
		return err
	})
}

func (p *parser) readEvent(path string, n node) error {
	name := ""
	if err := textReader(&name, maxName)(path, n); err != nil {
		return err
	}
	if t := p.schema.Type(name); t == nil || t.IsEnum() {
		return &Error{path, fmt.Sprintf("is %q, which is not a record of this schema", clipText(name))}
	}
	p.schema.Events = append(p.schema.Events, name)
	return nil
}

// readType reads a type: a word, or an object of one member.
func (p *parser) readType(path string, n node, depth int) (Type, error) {
	if depth == 0 {
		return Type{}, &Error{path, fmt.Sprintf("nests deeper than %d", maxTypeDepth)}
	}
	if n.Kind == jsontext.Text {
		return p.typeOfWord(path, n.Text)
	}
	if n.Kind != jsontext.Object || len(n.Items) != 1 {
		return Type{}, &Error{path, "is neither a word nor an object of one member"}
	}
	word, inner := n.Names[0], n.Items[0]
	switch path = memberPath(path, word); word {
	case "optional":
		return p.composeType(path, OptionalForm, depth, inner)
	case "list":
		return p.composeType(path, ListForm, depth, inner)
	case "tuple", "dict":
		return p.composeSeveral(path, word, depth, inner)
	case "int", "str":
		return readBounds(path, word, inner)
	}
	return Type{}, &Error{path, "is a form of type that is not known in a schema of version 1"}
}

func (p *parser) typeOfWord(path, word string) (Type, error) {
	for _, t := range atoms {
		if t.Name == word {
			return t, nil
		}
	}
	if t := p.schema.Type(word); t != nil {
		return Type{Form: NamedForm, Name: word}, nil
	}
	return Type{}, &Error{path, fmt.Sprintf("is %q, which is neither a type that every schema has nor one of this", clipText(word))}
}

func (p *parser) composeType(path string, form Form, depth int, inner ...node) (Type, error) {
	t := Type{Form: form}
	for _, n := range inner {
		of, err := p.readType(path, n, depth-1)
		if err != nil {
			return t, err
		}
		t.Of = append(t.Of, of)
	}
	if form == OptionalForm && t.Of[0].Form == OptionalForm {
		return t, &Error{path, "is optional twice"}
	}
	return t, nil
}

func (p *parser) composeSeveral(path, word string, depth int, inner node) (Type, error) {
	if inner.Kind != jsontext.List || len(inner.Items) > maxArguments || len(inner.Items) == 0 {
		return Type{}, &Error{path, fmt.Sprintf("is not a list of 1 to %d types", maxArguments)}
	}
	if word == "tuple" {
		return p.composeType(path, TupleForm, depth, inner.Items...)
	}
	t, err := p.composeType(path, DictForm, depth, inner.Items...)
	if err == nil && (len(t.Of) != 2 || !isKey(&t.Of[0])) {
		err = &Error{path, "has not two types, of which the first is str, int, Address or Hash"}
	}
	return t, err
}

func isKey(t *Type) bool {
	return slices.Contains([]string{"str", "int", "Address", "Hash"}, t.Name) && t.Form != NamedForm && t.Max == 0
}

// readBounds reads the bounds of an integer, or of the length of a text.
func readBounds(path, word string, n node) (Type, error) {
	var both []*big.Int
	err := readItems(path, n, 2, func(path string, n node) error {
		number, err := readInteger(path, n, &Type{Low: atoms[0].Low, High: atoms[0].High})
		both = append(both, number)
		return err
	})
	if err != nil {
		return Type{}, err
	}
	if len(both) != 2 || both[0].Cmp(both[1]) > 0 {
		return Type{}, &Error{path, "is not a pair of bounds, the lower first"}
	}
	if word == "int" {
		return Type{Low: both[0], High: both[1]}, nil
	}
	if both[0].Sign() < 0 || both[1].Sign() == 0 || both[1].Cmp(big.NewInt(MaxPayloadBytes)) > 0 {
		return Type{}, &Error{path, fmt.Sprintf("is outside the lengths of a text, 0 to %d", MaxPayloadBytes)}
	}
	return Type{Form: Text, Min: int(both[0].Int64()), Max: int(both[1].Int64())}, nil
}

// checkDepths finds records within themselves, and types too deep, and then reads the defaults.
func (p *parser) checkDepths() error {
	known := map[string]int{} // depths of records; one that is not known yet is 0
	for i := range p.schema.Types {
		t := &p.schema.Types[i]
		if _, err := p.depthOf(memberPath("types", t.Name), &Type{Form: NamedForm, Name: t.Name}, known, 0); err != nil {
			return err
		}
	}
	for i := range p.schema.Types {
		t := &p.schema.Types[i]
		if err := p.readDefaults(memberPath(memberPath("types", t.Name), "record"), t.Fields); err != nil {
			return err
		}
	}
	return nil
}

// depthOf is how deep a type nests. Each record is measured once, however many name it.
func (p *parser) depthOf(path string, t *Type, known map[string]int, above int) (deepest int, err error) {
	if above > maxTypeDepth {
		return 0, &Error{path, fmt.Sprintf("is within itself, or nests deeper than %d", maxTypeDepth)}
	}
	if t.Form == NamedForm && known[t.Name] > 0 {
		return known[t.Name], nil
	}
	of := t.Of
	if t.Form == NamedForm {
		for _, f := range p.schema.Type(t.Name).Fields {
			of = append(of, f.Type)
		}
	}
	for i := range of {
		inner, err := p.depthOf(path, &of[i], known, above+1)
		if err != nil {
			return 0, err
		}
		deepest = max(deepest, inner)
	}
	if deepest++; deepest > maxTypeDepth {
		return 0, &Error{path, fmt.Sprintf("is within itself, or nests deeper than %d", maxTypeDepth)}
	}
	if t.Form == NamedForm {
		known[t.Name] = deepest
	}
	return deepest, nil
}

// readDefaults reads the values of arguments that a caller may leave out.
func (p *parser) readDefaults(path string, fields []Field) error {
	for i := range fields {
		f := &fields[i]
		given, waits := f.Default.(node)
		if !waits {
			continue
		}
		value, err := p.schema.readValue(memberPath(fmt.Sprintf("%s[%d]", path, i), "default"), &f.Type, given)
		if err != nil {
			return err
		}
		f.Default = value
	}
	return nil
}

// countCharacters is the length of a text, as Python counts it.
func countCharacters(text string) int { return utf8.RuneCountInString(text) }

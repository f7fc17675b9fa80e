// Package compat compares the schemas of two codes of an actor: what the new one breaks
// for callers, for readers of results and events, and in state.
//
// Spec: decision C22.
package compat

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
)

// Verdict is what a change means for others.
type Verdict string

// The verdicts.
const (
	Safe         Verdict = "safe"
	Callers      Verdict = "breaks callers"
	Readers      Verdict = "breaks readers"
	NeedsMigrate Verdict = "state needs migrate"
)

// Change is one difference.
type Change struct {
	Where   string  `json:"where"` // as in: argument note of join
	What    string  `json:"what"`
	Verdict Verdict `json:"verdict"`
}

type field struct {
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	Default json.RawMessage `json:"default"`
}

type named struct {
	Record []field `json:"record"`
	Enum   []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"enum"`
}

type handler struct {
	Name      string          `json:"name"`
	Raw       bool            `json:"raw"`
	Arguments []field         `json:"arguments"`
	Returns   json.RawMessage `json:"returns"`
}

type attribute struct {
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	List    json.RawMessage `json:"list"`
	Key     json.RawMessage `json:"key"`
	Default json.RawMessage `json:"default"`
}

type schema struct {
	Types    map[string]named `json:"types"`
	Handlers []handler        `json:"handlers"`
	Events   []string         `json:"events"`
	State    []attribute      `json:"state"`
}

// comparison is of two schemas.
type comparison struct {
	before, after schema
	changes       []Change
}

// Compare lists all differences of two schemas, as the chain keeps them.
func Compare(before, after []byte) ([]Change, error) {
	c := &comparison{changes: []Change{}}
	if err := json.Unmarshal(before, &c.before); err != nil {
		return nil, fmt.Errorf("the schema of the code that is there: %w", err)
	}
	if err := json.Unmarshal(after, &c.after); err != nil {
		return nil, fmt.Errorf("the schema of the new code: %w", err)
	}
	c.handlers()
	c.events()
	c.state()
	return c.changes, nil
}

func (c *comparison) add(verdict Verdict, where, format string, args ...any) {
	c.changes = append(c.changes, Change{where, fmt.Sprintf(format, args...), verdict})
}

// find is the item of a name.
func find[T any](all []T, name string, of func(T) string) (found T, ok bool) {
	i := slices.IndexFunc(all, func(x T) bool { return of(x) == name })
	if i < 0 {
		return found, false
	}
	return all[i], true
}

func handlerName(h handler) string     { return h.Name }
func fieldName(f field) string         { return f.Name }
func attributeName(a attribute) string { return a.Name }

func (c *comparison) handlers() {
	for _, was := range c.before.Handlers {
		is, there := find(c.after.Handlers, was.Name, handlerName)
		where := "handler " + was.Name
		switch {
		case !there:
			c.add(Callers, where, "is removed")
		case is.Raw != was.Raw:
			c.add(Callers, where, "is %s, and was %s", form(is.Raw), form(was.Raw))
		case !is.Raw:
			c.arguments(was, is)
			c.result(was, is)
		}
	}
	for _, is := range c.after.Handlers {
		if _, there := find(c.before.Handlers, is.Name, handlerName); !there {
			c.add(Safe, "handler "+is.Name, "is new")
		}
	}
}

func form(raw bool) string {
	if raw {
		return "of bytes"
	}
	return "typed"
}

func (c *comparison) arguments(was, is handler) {
	for _, a := range was.Arguments {
		where := fmt.Sprintf("argument %s of %s", a.Name, was.Name)
		b, there := find(is.Arguments, a.Name, fieldName)
		switch {
		case !there:
			c.add(Callers, where, "is removed: unknown names are refused")
		case a.Default != nil && b.Default == nil:
			c.add(Callers, where, "has no default any more")
		default:
			c.argument(where, c.relate(a.Type, b.Type, 0))
		}
	}
	for _, b := range is.Arguments {
		if _, there := find(was.Arguments, b.Name, fieldName); there {
			continue
		}
		where := fmt.Sprintf("argument %s of %s", b.Name, was.Name)
		if b.Default != nil {
			c.add(Safe, where, "is new, with a default")
		} else {
			c.add(Callers, where, "is new, without a default")
		}
	}
}

func (c *comparison) argument(where string, r relation) {
	switch {
	case r.narrower || r.other:
		c.add(Callers, where, "%s", r)
	case r.wider || r.form:
		c.add(Safe, where, "%s", r)
	}
}

func (c *comparison) result(was, is handler) {
	where := "result of " + was.Name
	if was.Returns == nil || is.Returns == nil {
		if was.Returns != nil || is.Returns != nil {
			c.add(Readers, where, "was nothing, or is nothing now")
		}
		return
	}
	c.readers(where, c.relate(was.Returns, is.Returns, 0))
}

func (c *comparison) readers(where string, r relation) {
	switch {
	case r.wider || r.form || r.other:
		c.add(Readers, where, "%s", r)
	case r.narrower:
		c.add(Safe, where, "%s", r)
	}
}

func (c *comparison) events() {
	for _, name := range c.before.Events {
		where := "event " + name
		if !slices.Contains(c.after.Events, name) {
			c.add(Readers, where, "is removed")
			continue
		}
		was, is := c.before.Types[name], c.after.Types[name]
		for _, a := range was.Record {
			b, there := find(is.Record, a.Name, fieldName)
			if !there {
				c.add(Readers, where, "has no field %s any more", a.Name)
				continue
			}
			c.readers(fmt.Sprintf("field %s of event %s", a.Name, name), c.relate(a.Type, b.Type, 0))
		}
		for _, b := range is.Record {
			if _, there := find(was.Record, b.Name, fieldName); !there {
				c.add(Safe, where, "has a new field %s", b.Name)
			}
		}
	}
	for _, name := range c.after.Events {
		if !slices.Contains(c.before.Events, name) {
			c.add(Safe, "event "+name, "is new")
		}
	}
}

func (c *comparison) state() {
	for _, was := range c.before.State {
		where := "state " + was.Name
		is, there := find(c.after.State, was.Name, attributeName)
		switch {
		case !there:
			c.add(NeedsMigrate, where, "is removed: its data would be lost")
		case (was.List == nil) != (is.List == nil) || (was.Key == nil) != (is.Key == nil):
			c.add(NeedsMigrate, where, "is a value, a List or a Map, and was another of them")
		case was.Key != nil && string(was.Key) != string(is.Key):
			c.add(NeedsMigrate, where, "has keys of another type")
		default:
			r := c.relate(either(was.List, was.Type), either(is.List, is.Type), 0)
			if r.narrower || r.other {
				c.add(NeedsMigrate, where, "%s", r)
			} else if r.wider || r.form {
				c.add(Safe, where, "%s", r)
			}
		}
	}
	for _, is := range c.after.State {
		if _, there := find(c.before.State, is.Name, attributeName); there {
			continue
		}
		if is.Default == nil && is.Key == nil && is.List == nil {
			c.add(NeedsMigrate, "state "+is.Name, "is new, without a default")
		} else {
			c.add(Safe, "state "+is.Name, "is new")
		}
	}
}

func either(a, b json.RawMessage) json.RawMessage {
	if a != nil {
		return a
	}
	return b
}

// relation is how a new type relates to an old one.
type relation struct {
	wider, narrower bool // it has values that the old has not; the old has some that it has not
	form            bool // an integer is written in digits, and was a number; or the other way round
	other           bool
}

func (r relation) String() string {
	switch {
	case r.other:
		return "is of another type"
	case r.narrower:
		return "has fewer values"
	case r.wider && r.form:
		return "has more values, in another form of integers"
	case r.wider:
		return "has more values"
	}
	return "has another form of integers"
}

func (r relation) and(s relation) relation {
	return relation{r.wider || s.wider, r.narrower || s.narrower, r.form || s.form, r.other || s.other}
}

const maxDepth = 32 // of types within each other, with the optional of each

// relate compares two types. Their names mean what each schema says.
func (c *comparison) relate(was, is json.RawMessage, depth int) relation {
	if depth > maxDepth {
		return relation{other: true}
	}
	a, b := parse(was), parse(is)
	switch {
	case a.word == "optional" && b.word == "optional":
		return c.relate(a.of[0], b.of[0], depth+1)
	case b.word == "optional":
		return c.relate(was, b.of[0], depth+1).and(relation{wider: true})
	case a.word == "optional":
		return c.relate(a.of[0], is, depth+1).and(relation{narrower: true})
	case a.integer() && b.integer():
		return relateIntegers(a, b)
	case a.word == "str" && b.word == "str":
		return relateBounds(a.lengths(), b.lengths())
	}
	if a.word != b.word || len(a.of) != len(b.of) {
		return relation{other: true}
	}
	if len(a.of) > 0 {
		return c.relateAll(a, b, depth)
	}
	x, known := c.before.Types[a.word]
	y, still := c.after.Types[b.word]
	switch {
	case !known && !still:
		return relation{} // a word that every schema has
	case !known || !still || (x.Record == nil) != (y.Record == nil):
		return relation{other: true}
	case x.Record != nil || y.Record != nil:
		return c.relateRecords(x, y, depth)
	}
	return relateEnums(x, y)
}

func (c *comparison) relateAll(a, b typ, depth int) (r relation) {
	for i := range a.of {
		if a.word == "dict" && i == 0 {
			if string(a.of[0]) != string(b.of[0]) {
				return relation{other: true}
			}
			continue
		}
		r = r.and(c.relate(a.of[i], b.of[i], depth+1))
	}
	return r
}

func (c *comparison) relateRecords(x, y named, depth int) (r relation) {
	for _, f := range x.Record {
		g, there := find(y.Record, f.Name, fieldName)
		if !there || f.Default != nil && g.Default == nil {
			return relation{other: true}
		}
		r = r.and(c.relate(f.Type, g.Type, depth+1))
	}
	for _, g := range y.Record {
		if _, there := find(x.Record, g.Name, fieldName); !there && g.Default == nil {
			return relation{other: true}
		}
	}
	return r
}

func relateEnums(x, y named) (r relation) {
	has := func(of named, value string) bool {
		for _, m := range of.Enum {
			if string(m.Value) == value {
				return true
			}
		}
		return false
	}
	for _, m := range x.Enum {
		r.narrower = r.narrower || !has(y, string(m.Value))
	}
	for _, m := range y.Enum {
		r.wider = r.wider || !has(x, string(m.Value))
	}
	return r
}

// typ is a type as a schema writes it: a word, with the types or bounds within.
type typ struct {
	word string
	of   []json.RawMessage
	both [2]*big.Int // bounds
}

func parse(raw json.RawMessage) (t typ) {
	if json.Unmarshal(raw, &t.word) == nil {
		return t
	}
	var one map[string]json.RawMessage
	if json.Unmarshal(raw, &one) != nil || len(one) != 1 {
		return typ{word: "?"}
	}
	for word, inner := range one {
		t.word = word
		if json.Unmarshal(inner, &t.of) != nil {
			t.of = []json.RawMessage{inner}
		}
	}
	if t.word == "int" || t.word == "str" {
		t.both = bounds(t.of)
		t.of = nil
	}
	return t
}

func bounds(of []json.RawMessage) (both [2]*big.Int) {
	for i := range both {
		both[i] = new(big.Int)
		if i < len(of) {
			text := string(of[i])
			var quoted string
			if json.Unmarshal(of[i], &quoted) == nil {
				text = quoted
			}
			both[i].SetString(text, 10)
		}
	}
	return both
}

func power(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// integers are the bounds of the integers that every schema has.
var integers = func() map[string][2]*big.Int {
	found := map[string][2]*big.Int{"int": {new(big.Int).Neg(power(255)), new(big.Int).Sub(power(255), big.NewInt(1))}}
	for word, bits := range map[string]uint{"u8": 8, "u16": 16, "u32": 32, "u64": 64, "Amount": 256} {
		found[word] = [2]*big.Int{new(big.Int), new(big.Int).Sub(power(bits), big.NewInt(1))}
	}
	return found
}()

func (t typ) integer() bool { return integers[t.word][0] != nil }

func (t typ) values() [2]*big.Int {
	if t.both[0] != nil {
		return t.both
	}
	return integers[t.word]
}

// lengths of a text; a text without bounds has every length.
func (t typ) lengths() [2]*big.Int {
	if t.both[0] != nil {
		return t.both
	}
	return [2]*big.Int{new(big.Int), power(64)}
}

func relateBounds(a, b [2]*big.Int) relation {
	return relation{wider: b[0].Cmp(a[0]) < 0 || b[1].Cmp(a[1]) > 0, narrower: b[0].Cmp(a[0]) > 0 || b[1].Cmp(a[1]) < 0}
}

func relateIntegers(a, b typ) relation {
	r := relateBounds(a.values(), b.values())
	r.form = number(a) != number(b)
	return r
}

// number reports whether an integer is written as a number.
func number(t typ) bool {
	safe := new(big.Int).Sub(power(53), big.NewInt(1))
	both := t.values()
	return both[0].CmpAbs(safe) <= 0 && both[1].CmpAbs(safe) <= 0
}

// Package compat compares the schemas of two codes of an actor. It lists the changes that
// break callers, readers of results and events, and state.
//
// Spec: decision C22.
package compat

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/typed"
)

// Verdict is what a change means for others.
type Verdict string

// The verdicts.
const (
	Safe         Verdict = "safe"
	Callers      Verdict = "breaks callers"
	Readers      Verdict = "breaks readers"
	NeedsMigrate Verdict = "state needs migrate"
	// Timers is of an argument's default: who wrote the argument out, breaks nothing.
	Timers Verdict = "breaks timers that omit it"
)

// Change is one difference.
type Change struct {
	Where   string  `json:"where"` // as in: argument note of join
	What    string  `json:"what"`
	Verdict Verdict `json:"verdict"`

	// Handler is the handler whose callers it concerns; "" for none.
	Handler string `json:"-"`
	// Argument is the argument of a change with the verdict Timers.
	Argument string `json:"-"`
}

// comparison is of two schemas.
type comparison struct {
	before, after *typed.Schema
	handler       string // whose callers are examined
	changes       []Change
	// related remembers the result for two records. Hostile ones name each other in more
	// ways than a machine can follow.
	related map[string]relation
}

// Compare lists all differences of two schemas, as the chain keeps them. A code without
// a schema has none of the things that a schema names.
func Compare(before, after []byte) ([]Change, error) {
	was, err := readSchema(before)
	if err != nil {
		return nil, fmt.Errorf("the present code: %w", err)
	}
	is, err := readSchema(after)
	if err != nil {
		return nil, fmt.Errorf("the new code: %w", err)
	}
	c := &comparison{before: was, after: is, changes: []Change{}, related: map[string]relation{}}
	c.compareHandlers()
	c.compareEvents()
	c.compareState()
	return c.changes, nil
}

func readSchema(schema []byte) (*typed.Schema, error) {
	if len(schema) == 0 {
		return new(typed.Schema), nil
	}
	return typed.Parse(schema)
}

func (c *comparison) addFinding(verdict Verdict, where, format string, args ...any) {
	c.changes = append(c.changes, Change{where, fmt.Sprintf(format, args...), verdict, c.handler, ""})
}

// findByName is the item of a name.
func findByName[T any](all []T, name string, of func(T) string) (found T, ok bool) {
	i := slices.IndexFunc(all, func(x T) bool { return of(x) == name })
	if i < 0 {
		return found, false
	}
	return all[i], true
}

func handlerName(h typed.Handler) string     { return h.Name }
func fieldName(f typed.Field) string         { return f.Name }
func attributeName(a typed.Attribute) string { return a.Name }

func (c *comparison) compareHandlers() {
	for _, was := range c.before.Handlers {
		is, there := findByName(c.after.Handlers, was.Name, handlerName)
		where := "handler " + was.Name
		c.handler = was.Name
		switch {
		case !there:
			c.addFinding(Callers, where, "is removed")
		case is.Raw != was.Raw:
			c.addFinding(Callers, where, "is %s, and was %s", formWords(is.Raw), formWords(was.Raw))
		case !is.Raw:
			c.compareArguments(was, is)
			c.handler = ""
			c.compareResult(was, is)
		}
	}
	c.handler = ""
	for _, is := range c.after.Handlers {
		if _, there := findByName(c.before.Handlers, is.Name, handlerName); !there {
			c.addFinding(Safe, "handler "+is.Name, "is new")
		}
	}
}

func formWords(raw bool) string {
	if raw {
		return "of bytes"
	}
	return "typed"
}

func (c *comparison) compareArguments(was, is typed.Handler) {
	for _, a := range was.Arguments {
		where := fmt.Sprintf("argument %s of %s", a.Name, was.Name)
		b, there := findByName(is.Arguments, a.Name, fieldName)
		switch {
		case !there:
			c.addFinding(Callers, where, "is removed: unknown names are refused")
		case a.Optional && !b.Optional:
			c.addFinding(Callers, where, "has no default any more")
		default:
			c.compareArgument(where, c.relateTypes(&a.Type, &b.Type, 0))
			if a.Optional && a.Begins != b.Begins {
				c.addFinding(Timers, where, "has another default")
				c.changes[len(c.changes)-1].Argument = a.Name
			}
		}
	}
	for _, b := range is.Arguments {
		if _, there := findByName(was.Arguments, b.Name, fieldName); there {
			continue
		}
		where := fmt.Sprintf("argument %s of %s", b.Name, was.Name)
		if b.Optional {
			c.addFinding(Safe, where, "is new, with a default")
		} else {
			c.addFinding(Callers, where, "is new, without a default")
		}
	}
}

func (c *comparison) compareArgument(where string, r relation) {
	switch {
	case r.narrower || r.other || r.defaults:
		c.addFinding(Callers, where, "%s", r)
	case r != relation{}:
		c.addFinding(Safe, where, "%s", r)
	}
}

func (c *comparison) compareResult(was, is typed.Handler) {
	where := "result of " + was.Name
	if was.Returns == nil || is.Returns == nil {
		if was.Returns != nil || is.Returns != nil {
			c.addFinding(Readers, where, "was nothing, or is nothing now")
		}
		return
	}
	c.compareForReaders(where, c.relateTypes(was.Returns, is.Returns, 0))
}

func (c *comparison) compareForReaders(where string, r relation) {
	switch {
	case r.wider || r.form || r.other:
		c.addFinding(Readers, where, "%s", r)
	case r != relation{}:
		c.addFinding(Safe, where, "%s", r)
	}
}

func (c *comparison) compareEvents() {
	for _, name := range c.before.Events {
		where := "event " + name
		if !slices.Contains(c.after.Events, name) {
			c.addFinding(Readers, where, "is removed")
			continue
		}
		was, is := c.before.Type(name), c.after.Type(name)
		for _, a := range was.Fields {
			b, there := findByName(is.Fields, a.Name, fieldName)
			if !there {
				c.addFinding(Readers, where, "has no field %s any more", a.Name)
				continue
			}
			c.compareForReaders(fmt.Sprintf("field %s of event %s", a.Name, name), c.relateTypes(&a.Type, &b.Type, 0))
		}
		for _, b := range is.Fields {
			if _, there := findByName(was.Fields, b.Name, fieldName); !there {
				c.addFinding(Safe, where, "has a new field %s", b.Name)
			}
		}
	}
	for _, name := range c.after.Events {
		if !slices.Contains(c.before.Events, name) {
			c.addFinding(Safe, "event "+name, "is new")
		}
	}
}

func (c *comparison) compareState() {
	for _, was := range c.before.State {
		where := "state " + was.Name
		is, there := findByName(c.after.State, was.Name, attributeName)
		switch {
		case !there:
			c.addFinding(NeedsMigrate, where, "is removed: its data would be lost")
		case was.Kind != is.Kind:
			c.addFinding(NeedsMigrate, where, "is a value, a List or a Map, and was another of them")
		case was.Kind == typed.AMap && c.relateTypes(&was.Key, &is.Key, 0) != relation{}:
			c.addFinding(NeedsMigrate, where, "has keys of another type")
		default:
			r := c.relateTypes(&was.Type, &is.Type, 0)
			switch {
			case r.narrower || r.other || r.defaults:
				c.addFinding(NeedsMigrate, where, "%s", r)
			case was.Default && was.Begins != is.Begins:
				c.addFinding(NeedsMigrate, where, "has another default: what was never written would change")
			case r != relation{}:
				c.addFinding(Safe, where, "%s", r)
			}
		}
	}
	for _, is := range c.after.State {
		if _, there := findByName(c.before.State, is.Name, attributeName); there {
			continue
		}
		if !is.Default && is.Kind == typed.OneValue {
			c.addFinding(NeedsMigrate, "state "+is.Name, "is new, without a default")
		} else {
			c.addFinding(Safe, "state "+is.Name, "is new")
		}
	}
}

// relation is how a new type relates to an old one.
type relation struct {
	wider, narrower bool // it has values that the old has not; the old has some that it has not
	form            bool // an integer is written in digits, and was a number; or the other way round
	fields          bool // a record has a new field, with a default
	defaults        bool // a field of a record has another default
	other           bool
}

func (r relation) String() string {
	switch {
	case r.other:
		return "has another type"
	case r.narrower:
		return "has fewer values"
	case r.defaults:
		return "has a record with another default of a field"
	case r.wider && r.form:
		return "has more values, in another form of integers"
	case r.wider:
		return "has more values"
	case r.form:
		return "has another form of integers"
	}
	return "has a record with a new field, which has a default"
}

func (r relation) andRelation(s relation) relation {
	return relation{r.wider || s.wider, r.narrower || s.narrower, r.form || s.form, r.fields || s.fields, r.defaults || s.defaults,
		r.other || s.other}
}

const maxDepth = 32 // of types within each other, with the optional of each

// relateTypes compares two types. Their names mean what each schema says.
func (c *comparison) relateTypes(a, b *typed.Type, depth int) relation {
	if depth > maxDepth {
		return relation{other: true}
	}
	switch {
	case a.Form == typed.OptionalForm && b.Form == typed.OptionalForm:
		return c.relateTypes(&a.Of[0], &b.Of[0], depth+1)
	case b.Form == typed.OptionalForm:
		return c.relateTypes(a, &b.Of[0], depth+1).andRelation(relation{wider: true})
	case a.Form == typed.OptionalForm:
		return c.relateTypes(&a.Of[0], b, depth+1).andRelation(relation{narrower: true})
	case a.Form != b.Form || len(a.Of) != len(b.Of) || a.Size != b.Size:
		return relation{other: true}
	}
	switch a.Form {
	case typed.Integer:
		r := relateBounds(a.Low, a.High, b.Low, b.High)
		r.form = a.Number() != b.Number()
		return r
	case typed.Text:
		return relateBounds(big.NewInt(int64(a.Min)), longestText(a), big.NewInt(int64(b.Min)), longestText(b))
	case typed.NamedForm:
		return c.relateByName(a.Name, b.Name, depth)
	}
	return c.relateParts(a, b, depth)
}

func relateBounds(low, high, newLow, newHigh *big.Int) relation {
	return relation{wider: newLow.Cmp(low) < 0 || newHigh.Cmp(high) > 0, narrower: newLow.Cmp(low) > 0 || newHigh.Cmp(high) < 0}
}

// longestText is the most characters of a text, which is never longer than a payload.
func longestText(t *typed.Type) *big.Int {
	if t.Max == 0 {
		return big.NewInt(typed.MaxPayloadBytes + 1)
	}
	return big.NewInt(int64(t.Max))
}

func (c *comparison) relateParts(a, b *typed.Type, depth int) (r relation) {
	for i := range a.Of {
		one := c.relateTypes(&a.Of[i], &b.Of[i], depth+1)
		if a.Form == typed.DictForm && i == 0 && one != (relation{}) {
			return relation{other: true}
		}
		r = r.andRelation(one)
	}
	return r
}

func (c *comparison) relateByName(a, b string, depth int) relation {
	pair := a + " " + b
	if r, known := c.related[pair]; known {
		return r
	}
	x, y := c.before.Type(a), c.after.Type(b)
	r := relation{other: true}
	switch {
	case a != b || x.IsEnum() != y.IsEnum():
	case x.IsEnum():
		r = relateEnums(x, y)
	default:
		r = c.relateRecords(x, y, depth)
	}
	c.related[pair] = r
	return r
}

func (c *comparison) relateRecords(x, y *typed.Named, depth int) (r relation) {
	for _, f := range x.Fields {
		g, there := findByName(y.Fields, f.Name, fieldName)
		if !there || f.Optional && !g.Optional {
			return relation{other: true}
		}
		r = r.andRelation(c.relateTypes(&f.Type, &g.Type, depth+1)).andRelation(relation{defaults: f.Optional && f.Begins != g.Begins})
	}
	for _, g := range y.Fields {
		if _, there := findByName(x.Fields, g.Name, fieldName); !there {
			r = r.andRelation(relation{fields: true, other: !g.Optional})
		}
	}
	return r
}

func relateEnums(x, y *typed.Named) (r relation) {
	has := func(of *typed.Named, m typed.Member) bool {
		return slices.ContainsFunc(of.Values, func(o typed.Member) bool {
			return fmt.Sprintf("%T %v", o.Value, o.Value) == fmt.Sprintf("%T %v", m.Value, m.Value)
		})
	}
	for _, m := range x.Values {
		r.narrower = r.narrower || !has(y, m)
	}
	for _, m := range y.Values {
		r.wider = r.wider || !has(x, m)
	}
	return r
}

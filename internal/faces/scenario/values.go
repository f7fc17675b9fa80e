package scenario

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// record is a value with named fields: a block, a receipt, a timer, in the form of
// JSON over HTTP.
type record struct {
	kind   string // block, receipt, …
	names  []string
	fields []starlark.Value
	seen   func() // is told when the script looks into it; may be nil
}

var (
	_ starlark.HasAttrs   = (*record)(nil)
	_ starlark.Comparable = (*record)(nil)
)

func (r *record) Type() string         { return r.kind }
func (r *record) Truth() starlark.Bool { return true }
func (r *record) AttrNames() []string  { return r.names }
func (r *record) Freeze()              {} // its fields never change

func (r *record) Hash() (uint32, error) { return 0, fmt.Errorf("a %s cannot be a key", r.kind) }

func (r *record) String() string {
	r.lookAt()
	var b strings.Builder
	b.WriteString(r.kind + "(")
	for i, name := range r.names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + " = " + showValue(r.fields[i]))
	}
	return b.String() + ")"
}

func (r *record) lookAt() {
	if r.seen != nil {
		r.seen()
	}
}

// showValue writes a value for people: bytes as 0x-hex.
func showValue(v starlark.Value) string {
	if b, ok := v.(starlark.Bytes); ok {
		return "0x" + hex.EncodeToString([]byte(b))
	}
	return v.String()
}

// Attr implements starlark.HasAttrs.
func (r *record) Attr(name string) (starlark.Value, error) {
	r.lookAt()
	for i, known := range r.names {
		if known == name {
			return r.fields[i], nil
		}
	}
	return nil, newMistake("a %s has no field %s%s", r.kind, name, otherFields(name, r.names))
}

func otherFields(name string, known []string) string {
	if near := suggestNames(name, known); near != "" {
		return near
	}
	return "; its fields are " + strings.Join(known, ", ")
}

// CompareSameType implements starlark.Comparable: by all fields.
func (r *record) CompareSameType(op syntaxToken, other starlark.Value, depth int) (bool, error) {
	o := other.(*record)
	r.lookAt()
	o.lookAt()
	same := len(r.fields) == len(o.fields)
	for i := 0; same && i < len(r.fields); i++ {
		equal, err := starlark.EqualDepth(r.fields[i], o.fields[i], depth-1)
		if err != nil {
			return false, err
		}
		same = equal && r.names[i] == o.names[i]
	}
	return compareForEquality(op, same, r.kind)
}

// recordOf makes a record of a struct of package model, by its JSON names.
func recordOf(kind string, v any) *record {
	r := &record{kind: kind}
	r.addFields(reflect.ValueOf(v))
	return r
}

func (r *record) addFields(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			r.addFields(v.Field(i))
			continue
		}
		name := scriptName(f)
		if name == "" {
			continue
		}
		r.names = append(r.names, name)
		r.fields = append(r.fields, valueOf(name, v.Field(i)))
	}
}

// scriptName returns the name of a field in scripts: its JSON name, or "" without one.
// The word from is reserved in Starlark, so that no script could read it.
func scriptName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "-" || !f.IsExported():
		return ""
	case name == "from":
		return "since"
	}
	return name
}

// valueOf converts a value of the model to a script's value: bytes, addresses and
// hashes become bytes, amounts and counts integers, null None.
func valueOf(name string, v reflect.Value) starlark.Value {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return starlark.None
		}
		return valueOf(name, v.Elem())
	}
	switch x := v.Interface().(type) {
	case types.Wei:
		return starlark.MakeBigInt(x.Big())
	case types.Bytes:
		return starlark.Bytes(x)
	case json.RawMessage:
		return fromJSON(x)
	}
	switch v.Kind() {
	case reflect.String:
		return starlark.String(v.String())
	case reflect.Bool:
		return starlark.Bool(v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		return starlark.MakeInt64(v.Int())
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return starlark.MakeUint64(v.Uint())
	case reflect.Array:
		raw := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(raw), v)
		return starlark.Bytes(raw)
	case reflect.Slice:
		list := make([]starlark.Value, v.Len())
		for i := range list {
			list[i] = valueOf(strings.TrimSuffix(name, "s"), v.Index(i))
		}
		return frozenList(list)
	case reflect.Struct:
		return recordOf(name, v.Interface())
	}
	panic(fmt.Sprintf("scenario: a field of the model is a %s", v.Type()))
}

// fromJSON is what json.decode makes of JSON of the model; None of none.
func fromJSON(text json.RawMessage) starlark.Value {
	if text == nil {
		return starlark.None
	}
	v, err := starlark.Call(new(starlark.Thread), starlarkjson.Module.Members["decode"], starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		panic(fmt.Sprintf("scenario: a field of the model is not JSON: %v", err))
	}
	v.Freeze()
	return v
}

// frozenList is a list that scripts only read.
func frozenList(values []starlark.Value) starlark.Value {
	list := starlark.NewList(values)
	list.Freeze()
	return list
}

func weiValue(w types.Wei) starlark.Value { return starlark.MakeBigInt(w.Big()) }

func addressValue(a types.Address) starlark.Value { return starlark.Bytes(a[:]) }

// inCBY writes wei for people.
func inCBY(n *big.Int) string {
	one := big.NewInt(types.CBY)
	whole, part := new(big.Int).QuoRem(n, one, new(big.Int))
	text := strings.TrimRight(fmt.Sprintf("%s.%09d", whole, part), "0")
	return strings.TrimSuffix(text, ".") + " CBY"
}

// linkValue is the value that link(…) returns.
type linkValue struct{ link fault.Link }

func (l *linkValue) String() string        { return fmt.Sprintf("link(%s)", l.link) }
func (l *linkValue) Type() string          { return "link" }
func (l *linkValue) Freeze()               {}
func (l *linkValue) Truth() starlark.Bool  { return true }
func (l *linkValue) Hash() (uint32, error) { return 0, fmt.Errorf("a link cannot be a key") }

// actorValue is a deployed actor.
type actorValue struct {
	code    string // of a file, or the name of a sample
	name    string
	address types.Address
	receipt *record
}

var actorFields = []string{"address", "name", "receipt"}

func (a *actorValue) String() string        { return "actor(" + a.actorLabel() + ")" }
func (a *actorValue) Type() string          { return "actor" }
func (a *actorValue) Freeze()               {}
func (a *actorValue) Truth() starlark.Bool  { return true }
func (a *actorValue) Hash() (uint32, error) { return starlark.Bytes(a.address[:]).Hash() }
func (a *actorValue) AttrNames() []string   { return actorFields }

func (a *actorValue) actorLabel() string {
	if a.name != "" {
		return a.name
	}
	return a.address.String()
}

// Attr implements starlark.HasAttrs.
func (a *actorValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "address":
		return addressValue(a.address), nil
	case "name":
		return starlark.String(a.name), nil
	case "receipt":
		return a.receipt, nil
	}
	return nil, newMistake("an actor has no field %s%s", name, otherFields(name, actorFields))
}

// CompareSameType implements starlark.Comparable.
func (a *actorValue) CompareSameType(op syntaxToken, other starlark.Value, _ int) (bool, error) {
	return compareForEquality(op, a.address == other.(*actorValue).address, "actor")
}

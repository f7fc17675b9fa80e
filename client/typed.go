package client

import (
	"context"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Schema is what an actor's annotations say. Generated clients have it.
type Schema struct {
	schema *typed.Schema
	hash   string
}

// MustSchema reads the schema of a generated client, which has its hash on the chain. It
// panics where the file was edited.
func MustSchema(hash, text string) *Schema {
	s, err := typed.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return &Schema{s, hash}
}

// ArgumentError is a value that does not fit the schema, with its path like
// members[2].paid. Nothing was sent.
type ArgumentError = typed.Error

// None is the value of a handler that returns nothing.
type None struct{}

// Result is the outcome of a typed call, with its returned value.
type Result[T any] struct {
	Receipt
	Value T
}

// CallOption is a term of a call in addition to its arguments.
type CallOption func(*terms)

// terms are the terms of one call.
type terms struct {
	Call
	read bool
}

// From signs as a devnet account; default: alice.
func From(account string) CallOption { return func(t *terms) { t.Call.From = account } }

// WithValue moves an amount to the actor.
func WithValue(amount Wei) CallOption { return func(t *terms) { t.Value = amount } }

// WithSponsor is the most that timers of the actor may cost who calls.
func WithSponsor(amount Wei) CallOption { return func(t *terms) { t.Sponsor = amount } }

// WithLimits are the most cycles and cells that it may use; 0 is the usual limit.
func WithLimits(cycles Cycles, cells Cells) CallOption {
	return func(t *terms) { t.CyclesLimit, t.CellsLimit = cycles, cells }
}

// DryRun executes the call on the latest state, and changes nothing.
func DryRun() CallOption { return func(t *terms) { t.DryRun = true } }

// ReadOnly asks the latest state without a transaction. The receipt has status, output,
// cycles and logs.
func ReadOnly() CallOption { return func(t *terms) { t.read = true } }

// WithSchema returns the actor as a generated client calls it.
func (a *Actor) WithSchema(s *Schema) *Actor {
	with := *a
	with.schema, with.checked = s, &atomic.Bool{}
	return &with
}

// Send calls a handler with bytes.
func (a *Actor) Send(ctx context.Context, handler string, payload []byte, o ...CallOption) (Receipt, error) {
	t := terms{Call: Call{To: a.nameOrAddress(), Handler: handler, Payload: payload}}
	for _, option := range o {
		option(&t)
	}
	if !t.read {
		return a.client.Call(ctx, t.Call)
	}
	r, err := a.client.API.Read(ctx, model.ReadRequest{Actor: t.To, Handler: handler, Payload: Bytes(payload).String(), From: t.Call.From})
	return withReceiptError(Receipt{Handler: handler, To: a.Address, Status: r.Status, Output: r.Output, Cycles: r.Cycles,
		CyclesUsed: r.Cycles,
		Logs:       r.Logs, Error: r.Error}, err)
}

// CallTyped calls a handler by its schema, for generated clients. A wrong argument is an
// *ArgumentError before anything is sent.
func CallTyped[T, A any](ctx context.Context, a *Actor, handler string, arguments A, o ...CallOption) (out Result[T], err error) {
	s, h, err := a.typedHandler(ctx, handler)
	if err != nil {
		return out, err
	}
	given, err := recordOf("", h.Arguments, s.schema, reflect.ValueOf(arguments))
	if err != nil {
		return out, err
	}
	payload, err := s.schema.Encode(h, given)
	if err != nil {
		return out, err
	}
	if out.Receipt, err = a.Send(ctx, handler, payload, o...); err != nil || h.Returns == nil {
		return out, err
	}
	value, err := s.schema.Decode(h.Returns, out.Output)
	if err == nil {
		err = s.assignTo("", h.Returns, value, reflect.ValueOf(&out.Value).Elem())
	}
	if err != nil {
		err = fmt.Errorf("the answer of %s does not fit its schema: %w", handler, err)
	}
	return out, err
}

// typedHandler is a typed handler of the schema, which the actor must still have: the first
// use asks the network.
func (a *Actor) typedHandler(ctx context.Context, name string) (*Schema, *typed.Handler, error) {
	if a.schema == nil {
		return nil, nil, fmt.Errorf("the actor %s has no schema here: make a client of it by devnet actor client", a.nameOrAddress())
	}
	h := a.schema.schema.Handler(name)
	if h == nil || h.Raw {
		return nil, nil, fmt.Errorf("the schema of %s has no typed handler %s", a.nameOrAddress(), name)
	}
	if !a.checked.Load() {
		document, err := a.client.API.Schema(ctx, a.nameOrAddress())
		if err != nil {
			return nil, nil, err
		}
		if types.Keccak(document).String() != a.schema.hash {
			return nil, nil, fmt.Errorf("the schema of %s changed: run devnet actor client %s again", a.nameOrAddress(), a.nameOrAddress())
		}
		a.checked.Store(true)
	}
	return a.schema, h, nil
}

// EventsTyped are the events of a name that the actor emitted in a receipt, in order.
func EventsTyped[T any](a *Actor, name string, of Receipt) (all []T, err error) {
	if a.schema == nil {
		return nil, fmt.Errorf("the actor %s has no schema here: make a client of it by devnet actor client", a.nameOrAddress())
	}
	t := typed.Type{Form: typed.NamedForm, Name: name}
	for _, e := range of.Events {
		if e.Name != name || a.Address != (Address{}) && e.Actor != a.Address {
			continue
		}
		value, err := a.schema.schema.Decode(&t, e.Data)
		var one T
		if err == nil {
			err = a.schema.assignTo("", &t, value, reflect.ValueOf(&one).Elem())
		}
		if err != nil {
			return nil, fmt.Errorf("the event %s does not fit its schema: %w", name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// integer is an integer of the client's own types.
type integer interface{ Big() *big.Int }

// valueOf converts a value of Go to a value of package typed.
func valueOf(path string, t *typed.Type, s *typed.Schema, v reflect.Value) (any, error) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, nil
	}
	if n, ok := v.Interface().(integer); ok {
		return n.Big(), nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if t.Form == typed.OptionalForm && v.Elem().Kind() != reflect.Pointer {
			t = &t.Of[0]
		}
		return valueOf(path, t, s, v.Elem())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return big.NewInt(v.Int()), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return new(big.Int).SetUint64(v.Uint()), nil
	case reflect.Array:
		data := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(data), v)
		return data, nil
	case reflect.Slice:
		if t.Form == typed.Binary {
			return v.Bytes(), nil
		}
		return itemsOf(path, t, s, v.Len(), v.Index)
	case reflect.Map:
		return entriesOf(path, t, s, v)
	case reflect.Struct:
		if t.Form == typed.TupleForm {
			return itemsOf(path, t, s, v.NumField(), v.Field)
		}
		if named := s.Type(t.Name); t.Form == typed.NamedForm && named != nil {
			return recordOf(path, named.Fields, s, v)
		}
	}
	return nil, &typed.Error{Path: path, What: fmt.Sprintf("is %s: this is a %s", t, v.Type())}
}

func itemsOf(path string, t *typed.Type, s *typed.Schema, n int, item func(int) reflect.Value) (any, error) {
	if t.Form != typed.ListForm && t.Form != typed.TupleForm || t.Form == typed.TupleForm && n != len(t.Of) {
		return nil, &typed.Error{Path: path, What: fmt.Sprintf("is %s: this is a list of %d", t, n)}
	}
	all := []any{}
	for i := range n {
		v, err := valueOf(fmt.Sprintf("%s[%d]", path, i), t.Item(i), s, item(i))
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func entriesOf(path string, t *typed.Type, s *typed.Schema, v reflect.Value) (any, error) {
	if t.Form != typed.DictForm {
		return nil, &typed.Error{Path: path, What: fmt.Sprintf("is %s: this is a map", t)}
	}
	all := map[string]any{}
	for entries := v.MapRange(); entries.Next(); {
		key := fmt.Sprint(entries.Key().Interface())
		value, err := valueOf(path+"."+key, &t.Of[1], s, entries.Value())
		if err != nil {
			return nil, err
		}
		all[key] = value
	}
	return all, nil
}

// recordOf are the fields of a struct by the names of their tags. A nil that may be left
// out is left out.
func recordOf(path string, fields []typed.Field, s *typed.Schema, v reflect.Value) (map[string]any, error) {
	all := map[string]any{}
	for i := range v.NumField() {
		name, more, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if more == "omitempty" && v.Field(i).Kind() == reflect.Pointer && v.Field(i).IsNil() {
			continue
		}
		for j := range fields {
			if fields[j].Name != name {
				continue
			}
			value, err := valueOf(strings.TrimPrefix(path+"."+name, "."), &fields[j].Type, s, v.Field(i))
			if err != nil {
				return nil, err
			}
			all[name] = value
		}
	}
	return all, nil
}

// assignTo sets a variable of Go to a value that was read by its type.
func (s *Schema) assignTo(path string, t *typed.Type, value any, into reflect.Value) error {
	if into.Kind() == reflect.Pointer {
		if value == nil {
			return nil
		}
		if t.Form == typed.OptionalForm && into.Type().Elem().Kind() != reflect.Pointer {
			t = &t.Of[0]
		}
		into.Set(reflect.New(into.Type().Elem()))
		return s.assignTo(path, t, value, into.Elem())
	}
	switch v := value.(type) {
	case *big.Int:
		return assignNumber(path, v, into)
	case bool:
		if into.Kind() == reflect.Bool {
			into.SetBool(v)
			return nil
		}
	case string:
		if into.Kind() == reflect.String {
			into.SetString(v)
			return nil
		}
	case []byte:
		if into.Kind() == reflect.Array && into.Len() == len(v) {
			reflect.Copy(into, reflect.ValueOf(v))
			return nil
		}
		if into.Kind() == reflect.Slice && into.Type().Elem().Kind() == reflect.Uint8 {
			into.SetBytes(v)
			return nil
		}
	case []any:
		return s.assignItems(path, t, v, into)
	case map[string]any:
		if into.Kind() == reflect.Map && t.Form == typed.DictForm {
			return s.assignEntries(path, t, v, into)
		}
		if named := s.schema.Type(t.Name); into.Kind() == reflect.Struct && named != nil {
			return s.assignFields(path, named.Fields, v, into)
		}
	}
	return &typed.Error{Path: path, What: fmt.Sprintf("is %s: no %s holds it", t, into.Type())}
}

func assignNumber(path string, v *big.Int, into reflect.Value) error {
	switch n := into.Addr().Interface().(type) {
	case *types.Int:
		i, ok := types.IntFromBig(v)
		*n = i
		if ok {
			return nil
		}
	case *types.Wei:
		w, ok := types.WeiFromBig(v)
		*n = w
		if ok {
			return nil
		}
	default:
		if into.CanUint() && v.IsUint64() && !into.OverflowUint(v.Uint64()) {
			into.SetUint(v.Uint64())
			return nil
		}
		if into.CanInt() && v.IsInt64() && !into.OverflowInt(v.Int64()) {
			into.SetInt(v.Int64())
			return nil
		}
	}
	return &typed.Error{Path: path, What: fmt.Sprintf("is %s: no %s holds it", v, into.Type())}
}

func (s *Schema) assignItems(path string, t *typed.Type, items []any, into reflect.Value) error {
	item := into.Field
	if into.Kind() == reflect.Slice {
		into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
		item = into.Index
	} else if into.Kind() != reflect.Struct || into.NumField() != len(items) {
		return &typed.Error{Path: path, What: fmt.Sprintf("is %s: no %s holds it", t, into.Type())}
	}
	for i, v := range items {
		if err := s.assignTo(fmt.Sprintf("%s[%d]", path, i), t.Item(i), v, item(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) assignEntries(path string, t *typed.Type, entries map[string]any, into reflect.Value) error {
	into.Set(reflect.MakeMap(into.Type()))
	for name, v := range entries {
		read, err := s.schema.Key(t, name)
		if err != nil {
			return err
		}
		key, value := reflect.New(into.Type().Key()).Elem(), reflect.New(into.Type().Elem()).Elem()
		if err := s.assignTo(path, &t.Of[0], read, key); err != nil {
			return err
		}
		if err := s.assignTo(path+"."+name, &t.Of[1], v, value); err != nil {
			return err
		}
		into.SetMapIndex(key, value)
	}
	return nil
}

func (s *Schema) assignFields(path string, fields []typed.Field, given map[string]any, into reflect.Value) error {
	for i := range into.NumField() {
		name, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		for j := range fields {
			value, there := given[name]
			if fields[j].Name != name || !there {
				continue
			}
			if err := s.assignTo(strings.TrimPrefix(path+"."+name, "."), &fields[j].Type, value, into.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/typo"
)

// Named finds the address of a name in arguments; field is its path.
type Named func(name, field string) (types.Address, error)

// Taker finds the typed handler that takes arguments by name, and the schema that it is in.
type Taker func(answers.Reader) (*typed.Schema, *typed.Handler, error)

// HandlerOf is a handler of an actor.
func HandlerOf(actor types.Address, handler string) Taker {
	return func(v answers.Reader) (*typed.Schema, *typed.Handler, error) { return typedHandler(v, actor, handler) }
}

// InitOf is the init of code that is not deployed yet.
func InitOf(code []byte) Taker {
	return func(v answers.Reader) (*typed.Schema, *typed.Handler, error) {
		return typedOf(v, code, "init", "self, NAME: TYPE", (*typed.Schema).Init)
	}
}

// MigrateOf is the migrate of code that an upgrade brings.
func MigrateOf(code []byte) Taker {
	return func(v answers.Reader) (*typed.Schema, *typed.Handler, error) {
		return typedOf(v, code, "migrate", "self, old: Hash, NAME: TYPE", (*typed.Schema).Migrate)
	}
}

// resolvePayload is what a request gives a handler: bytes, or arguments by name. Arguments are
// checked against the schema here, so that a wrong one costs nothing. field is what
// errors call the bytes.
func (s *Server) resolvePayload(v answers.Reader, to Taker, text, field string, args map[string]json.RawMessage) ([]byte, error) {
	if args == nil {
		return decodePayload(text, field)
	}
	if text != "" {
		return nil, Refuse(http.StatusBadRequest, "invalid_request", "args and %s are two forms of one thing", field).At("args").
			Hint("Give args to a typed handler, and %s to one that takes bytes.", field)
	}
	data, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return Arguments(v, to, data, func(name, field string) (types.Address, error) { return s.resolveAddress(v, name, field) })
}

// Arguments is the payload of a typed handler, of arguments by name in JSON. A wrong one is an
// *Error that has its path.
func Arguments(v answers.Reader, to Taker, args []byte, named Named) ([]byte, error) {
	schema, h, err := to(v)
	if err != nil {
		return nil, err
	}
	if args, err = (&addressing{named, schema}).resolveArguments(h, args); err != nil {
		return nil, err
	}
	values, err := schema.Arguments(h, args)
	if err == nil {
		var out []byte
		if out, err = schema.Encode(h, values); err == nil {
			return out, nil
		}
	}
	return nil, badArgument(err)
}

// typedOf is a handler of code that no actor has yet. An error names it, and how it is written.
func typedOf(v answers.Reader, code []byte, name, written string, of func(*typed.Schema) *typed.Handler) (*typed.Schema,
	*typed.Handler, error) {
	doc, err := v.SchemaOf(code)
	if err != nil {
		return nil, nil, err
	}
	if doc == nil {
		return nil, nil, Refuse(http.StatusBadRequest, "no_schema", "the code has no schema: its %s takes bytes", name).At("args").
			Hint("Give %s.", name)
	}
	schema, err := typed.Parse(doc)
	if err != nil {
		return nil, nil, err
	}
	h := of(schema)
	switch {
	case h == nil:
		return nil, nil, Refuse(http.StatusBadRequest, "no_handler", "the code has no %s to take args", name).At("args").
			Hint("Leave args out, or write def %s(%s) in the class.", name, written)
	case h.Raw:
		return nil, nil, rawHandler(h.Name, name)
	}
	return schema, h, nil
}

// codeBadArgument is the code of a wrong argument of a typed handler, in receipts too.
const codeBadArgument = "bad_argument"

func badArgument(err error) error {
	field := "args"
	if wrong := (*typed.Error)(nil); errors.As(err, &wrong) && wrong.Path != "" {
		field += "." + wrong.Path
	}
	return Refuse(http.StatusBadRequest, codeBadArgument, "%v", err).At(field)
}

// SchemaOf is the schema of an actor; nil of an address that has none.
func SchemaOf(v answers.Reader, at types.Address) (*typed.Schema, error) {
	doc, err := v.Schema(at)
	if err != nil || doc == nil {
		return nil, err
	}
	return typed.Parse(doc)
}

func typedHandler(v answers.Reader, to types.Address, handler string) (*typed.Schema, *typed.Handler, error) {
	schema, err := SchemaOf(v, to)
	if err != nil {
		return nil, nil, err
	}
	if schema == nil {
		return nil, nil, Refuse(http.StatusBadRequest, "no_schema", "%s has no schema: its handlers take bytes", to).At("args").
			Hint("Give payload.")
	}
	h := schema.Handler(handler)
	if h == nil {
		return nil, nil, Refuse(http.StatusBadRequest, "no_handler", "the actor has no handler %s%s", clipText(handler),
			typo.Suggestion(handler, handlerNames(schema))).Hint("It has %s.", strings.Join(handlerNames(schema), ", ")).At("handler")
	}
	if h.Raw {
		return nil, nil, rawHandler(handler, "payload")
	}
	return schema, h, nil
}

func rawHandler(name, field string) error {
	return Refuse(http.StatusBadRequest, "raw_handler", "%s takes bytes, and no arguments by name", name).At("args").Hint("Give %s.", field)
}

func handlerNames(s *typed.Schema) (names []string) {
	for _, h := range s.Handlers {
		names = append(names, h.Name)
	}
	return names
}

// addressing replaces names by addresses in arguments that are addresses.
type addressing struct {
	named  Named
	schema *typed.Schema
}

func (a *addressing) resolveArguments(h *typed.Handler, args []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	if err := a.resolveFields("args", h.Arguments, all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

func (a *addressing) resolveFields(path string, fields []typed.Field, all map[string]any) (err error) {
	for i := range fields {
		name := fields[i].Name
		if v, there := all[name]; there {
			if all[name], err = a.resolveValue(path+"."+name, &fields[i].Type, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *addressing) resolveValue(path string, t *typed.Type, v any) (any, error) {
	if t.Form == typed.OptionalForm {
		return a.resolveValue(path, &t.Of[0], v)
	}
	switch v := v.(type) {
	case string:
		if t.Name != "Address" || t.Form != typed.Binary || strings.HasPrefix(v, "0x") {
			return v, nil
		}
		at, err := a.named(strings.TrimPrefix(v, "@"), path)
		return at.String(), err
	case []any:
		return v, a.resolveItems(path, t, v)
	case map[string]any:
		return v, a.resolveObject(path, t, v)
	}
	return v, nil
}

func (a *addressing) resolveItems(path string, t *typed.Type, all []any) (err error) {
	if t.Form != typed.ListForm && t.Form != typed.TupleForm {
		return nil
	}
	for i, v := range all {
		of := &t.Of[0]
		if t.Form == typed.TupleForm {
			if i >= len(t.Of) {
				return nil
			}
			of = &t.Of[i]
		}
		if all[i], err = a.resolveValue(path, of, v); err != nil {
			return err
		}
	}
	return nil
}

func (a *addressing) resolveObject(path string, t *typed.Type, all map[string]any) (err error) {
	if t.Form == typed.DictForm {
		for k, v := range all {
			if all[k], err = a.resolveValue(path+"."+k, &t.Of[1], v); err != nil {
				return err
			}
		}
		return nil
	}
	if named := a.schema.Type(t.Name); t.Form == typed.NamedForm && named != nil {
		return a.resolveFields(path, named.Fields, all)
	}
	return nil
}

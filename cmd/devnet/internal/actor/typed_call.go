package actor

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/typo"
)

// typedHelp says how arguments of typed handlers are given.
const typedHelp = "A typed handler takes NAME=VALUE for each argument: who=bob amount=5. Lists and records are JSON."

// anArgument is NAME=VALUE.
var anArgument = pattern.CompileOnNeed(`^([A-Za-z][A-Za-z0-9_]*)=`)

// handlerInput is what a call gives its handler: bytes as the HTTP API takes them, or arguments.
type handlerInput struct {
	payload string
	args    map[string]json.RawMessage
}

// calledWith reads the arguments after ACTOR and HANDLER: a payload, or NAME=VALUE for a typed
// handler. What the actor's schema shows to be wrong is refused here, since the chain would
// charge for it.
func calledWith(c *cli.Context) (who []string, given handlerInput, err error) {
	all := c.Args().Slice()
	if len(all) < 3 || len(all) == 3 && !anArgument().MatchString(all[2]) {
		if who, err = command.ReadArguments(c, "ACTOR", "HANDLER", "[PAYLOAD]"); err != nil {
			return nil, given, err
		}
	}
	schema, err := SchemaOf(c.Context, command.NewClient(c), all[0])
	if err != nil {
		return nil, given, err
	}
	if c.Command.Name == "read" && schema != nil && schema.Handler(all[1]) == nil {
		if _, state := schema.Ask(all[1]); state && len(all) > 2 && all[2] != "" {
			return nil, given, failure.NewUsage("Leave the rest out.", "%s is state, and takes no arguments", all[1])
		} else if state {
			return all[:2], given, nil
		}
	}
	h, err := handlerOf(schema, all[0], all[1])
	if err != nil {
		return nil, given, err
	}
	if h != nil && !h.Raw && who == nil {
		given.args, err = namedArguments(h, all[2:])
		return all[:2], given, err
	}
	if len(all) > 3 {
		return nil, given, failure.NewUsage("It takes one PAYLOAD.", "%s takes bytes, and no NAME=VALUE", all[1])
	}
	if len(all) < 3 {
		return all, given, refuseMissing(schema, h)
	}
	if given.payload, err = command.ResolveNames(c, all[2]); err != nil {
		return nil, given, err
	}
	return all[:2], given, refuseUntypedPayload(schema, h, given.payload)
}

// handlerOf is a handler of a schema; nil without a schema.
func handlerOf(schema *typed.Schema, actor, name string) (*typed.Handler, error) {
	if schema == nil {
		return nil, nil
	}
	if h := schema.Handler(name); h != nil {
		return h, nil
	}
	if _, state := schema.Ask(name); state {
		return nil, failure.New("Type: devnet actor read "+actor+" "+name, "%s of %s is state, and no handler", name, actor)
	}
	var known, state []string
	for i := range schema.Handlers {
		known = append(known, schema.Handlers[i].Name)
	}
	for i := range schema.State {
		state = append(state, schema.State[i].Name)
	}
	has := "It has " + strings.Join(known, ", ") + "."
	if len(state) > 0 {
		has += " Its state: " + strings.Join(state, ", ") + "."
	}
	return nil, failure.New(has, "%s has no handler %.60s%s", actor, name, typo.Suggestion(name, append(known, state...)))
}

// refuseUntypedPayload refuses a payload that is no JSON object for a typed handler.
func refuseUntypedPayload(schema *typed.Schema, h *typed.Handler, payload string) error {
	if h == nil || h.Raw {
		return nil
	}
	text := []byte(payload)
	var held types.Bytes
	if held.UnmarshalText(text) == nil {
		text = held
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil {
		return nil
	}
	return failure.NewUsage(typedHelp, "%s takes NAME=VALUE for each argument, and no payload: %s", h.Name, HandlerSignature(schema, h))
}

// refuseMissing refuses to run a typed handler without arguments if it needs some. It may be nil.
func refuseMissing(schema *typed.Schema, h *typed.Handler) error {
	if !NeedsArguments(h) {
		return nil
	}
	return failure.NewUsage(typedHelp, "%s takes arguments: %s", h.Name, HandlerSignature(schema, h))
}

// NeedsArguments reports whether a handler is typed, and takes an argument without a default. It may be nil.
func NeedsArguments(h *typed.Handler) bool {
	return h != nil && !h.Raw && slices.ContainsFunc(h.Arguments, func(f typed.Field) bool { return !f.Optional })
}

// ArgumentBlanks is NAME=… for each argument that a handler needs.
func ArgumentBlanks(h *typed.Handler) string {
	var all []string
	for i := range h.Arguments {
		if f := &h.Arguments[i]; !f.Optional {
			all = append(all, f.Name+"=…")
		}
	}
	return strings.Join(all, " ")
}

// deployedWith reads the words after deploy: a file, and NAME=VALUE for each argument of a
// typed init. The payload of an init that takes bytes is in --init.
func deployedWith(c *cli.Context) (file string, given handlerInput, err error) {
	all := c.Args().Slice()
	if len(all) < 2 || !anArgument().MatchString(all[1]) {
		who, err := command.ReadArguments(c, "FILE", "[NAME=VALUE]")
		if err != nil {
			return "", given, err
		}
		if who[1] != "" {
			return "", given, failure.NewUsage("Give --init PAYLOAD, or NAME=VALUE to a typed init.", "%q is not NAME=VALUE", who[1])
		}
		given.payload, err = command.ResolveNames(c, c.String("init"))
		return who[0], given, err
	}
	if c.IsSet("init") {
		return "", given, failure.NewConflict("--init and NAME=VALUE are two forms of one thing")
	}
	code, err := command.ReadActor(all[0])
	if err != nil {
		return "", given, err
	}
	doc, err := SchemaOfCode(code)
	if err != nil {
		return "", given, failure.New("", "%s: %v", all[0], err)
	}
	schema, err := typed.Parse(doc)
	if err != nil {
		return "", given, err
	}
	h := schema.Init()
	switch {
	case h == nil:
		return "", given, failure.NewUsage("Leave NAME=VALUE out, or write def init(self, NAME: TYPE) in the class.", "%s has no init", all[0])
	case h.Raw:
		return "", given, failure.NewUsage("Give --init PAYLOAD.", "%s of %s takes bytes, and no NAME=VALUE", h.Name, all[0])
	}
	given.args, err = namedArguments(h, all[1:])
	return all[0], given, err
}

// SchemaOf is the schema of an actor; nil where its code has none.
func SchemaOf(ctx context.Context, n *client.API, actor string) (*typed.Schema, error) {
	doc, err := n.Schema(ctx, actor)
	if command.RefusedAs(err, "no_schema") || command.RefusedAs(err, "unknown_actor") { // the network refuses the call of none, in its words
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return typed.Parse(doc)
}

// namedArguments are arguments by name, as JSON. The network says which values they may have.
func namedArguments(h *typed.Handler, given []string) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	for _, text := range given {
		name, value, ok := strings.Cut(text, "=")
		if !ok || !anArgument().MatchString(text) {
			return nil, failure.NewUsage(typedHelp, "%q is not NAME=VALUE", text)
		}
		if args[name] != nil {
			return nil, failure.NewUsage("Give each argument once.", "%s is given twice", name)
		}
		var of *typed.Type
		for i := range h.Arguments {
			if h.Arguments[i].Name == name {
				of = &h.Arguments[i].Type
			}
		}
		raw, err := argumentJSON(of, name, value)
		if err != nil {
			return nil, err
		}
		args[name] = raw
	}
	return args, nil
}

// argumentJSON is a value as JSON: a text for a value written in quotes, and JSON for a composed value.
func argumentJSON(t *typed.Type, name, text string) (json.RawMessage, error) {
	quoted, err := json.Marshal(text)
	if err != nil || t == nil {
		return quoted, err
	}
	switch t.Form {
	case typed.OptionalForm:
		if text == "null" {
			return json.RawMessage(text), nil
		}
		return argumentJSON(&t.Of[0], name, text)
	case typed.Bool:
		if text == "true" || text == "false" {
			return json.RawMessage(text), nil
		}
	case typed.ListForm, typed.TupleForm, typed.DictForm, typed.NamedForm:
		if json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
		if t.Form != typed.NamedForm { // the value of an enum is a text
			return nil, failure.NewUsage("Write it as in "+name+`='["0x…","0x…"]'.`, "%s: %s is not JSON for %s", name, text, t)
		}
	}
	return quoted, nil
}

// HandlerSignature is a handler as its author wrote it.
func HandlerSignature(s *typed.Schema, h *typed.Handler) string {
	if h.Raw {
		return h.Name + "(payload)"
	}
	var given []string
	for i := range h.Arguments {
		f := &h.Arguments[i]
		text := f.Name + ": " + f.Type.String()
		if f.Optional {
			if value, err := s.Append(nil, "", &f.Type, f.Default); err == nil {
				text += " = " + string(value)
			}
		}
		given = append(given, text)
	}
	text := h.Name + "(" + strings.Join(given, ", ") + ")"
	if h.Returns != nil {
		text += " -> " + h.Returns.String()
	}
	return text
}

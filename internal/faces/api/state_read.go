package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/typo"
)

// readState answers a read of typed state that a request names.
func (s *Server) readState(v answers.Reader, actor *answers.Actor, schema *typed.Schema, in *model.ReadRequest) (m model.ReadResult,
	is bool, err error) {
	given, err := decodePayload(in.Payload, "payload")
	if err != nil {
		return m, false, err
	}
	return ReadState(v, actor.Address, schema, in.Handler, len(given) > 0 || in.Args != nil,
		func(name, _ string) (types.Address, error) { return s.resolveAddress(v, name, "handler") })
}

// ReadState answers a read of an attribute that is state, as price, members[3], len(members) or
// log[bob]. It is none where the schema has a handler of that name, or no such attribute. given
// is whether the reader gave it arguments. An *Error says what is wrong.
func ReadState(v answers.Reader, actor types.Address, schema *typed.Schema, name string, given bool,
	named Named) (m model.ReadResult, is bool, err error) {
	if schema == nil || schema.Handler(name) != nil {
		return m, false, nil
	}
	asked, is := schema.Ask(name)
	if !is {
		return m, false, nil
	}
	if given {
		return m, true, Refuse(http.StatusBadRequest, "invalid_request", "%s is state, and takes neither payload nor args", asked.Attribute.Name).
			At("handler").Hint("Leave them out, or name one of its handlers: %s.", strings.Join(handlerNames(schema), ", "))
	}
	if whole := asked.Whole(); whole != "" {
		return m, true, Refuse(http.StatusBadRequest, "invalid_request", "%s", whole).At("handler")
	}
	key, of, err := stateKey(schema, &asked, named)
	if err != nil {
		return m, true, err
	}
	text, err := stateText(v, actor, schema, key, of)
	if err != nil {
		return m, true, err
	}
	if text == nil {
		text = schema.Initial(&asked)
	}
	if text == nil {
		return m, true, Refuse(http.StatusNotFound, "not_set", "%s has no value: nothing has set it", clipText(name)).At("handler")
	}
	what, _ := schema.StateKey(key)
	return model.ReadResult{Height: v.Head().Height, Status: string(types.StatusOK), Output: text, Text: string(text), Logs: []string{},
		Typed: &model.Typed{Attribute: what, Value: text}}, true, nil
}

// stateText is the value of a key as JSON; nil where there is none.
func stateText(v answers.Reader, actor types.Address, schema *typed.Schema, key []byte, of *typed.Type) ([]byte, error) {
	entries, err := v.State(actor, key, 0, 1)
	if err != nil || len(entries) == 0 || !bytes.Equal(entries[0].Key, key) {
		return nil, err
	}
	text, fits := schema.Unpack(of, entries[0].Value)
	if !fits {
		return nil, Refuse(http.StatusConflict, "not_typed", "the bytes do not fit the type of the attribute, %s: other code wrote them", of).
			At("handler").Hint("GET /actor/%s/state shows the bytes.", actor)
	}
	return text, nil
}

// stateKey is the key of what is asked for. Names of accounts and actors stand for their addresses.
func stateKey(schema *typed.Schema, asked *typed.Asked, named Named) ([]byte, *typed.Type, error) {
	var key []byte
	if asked.Entry {
		d := json.NewDecoder(bytes.NewReader(asked.KeyJSON()))
		d.UseNumber()
		var held any
		if err := d.Decode(&held); err != nil || d.More() {
			return nil, nil, Refuse(http.StatusBadRequest, codeBadArgument, "%s is not the JSON of %s", clipText(asked.Within), asked.KeyType()).
				At("handler")
		}
		a := &addressing{named, schema}
		held, err := a.resolveValue("handler", asked.KeyType(), held)
		if err != nil {
			return nil, nil, err
		}
		if key, err = json.Marshal(held); err != nil {
			return nil, nil, err
		}
	}
	found, of, err := schema.AskedKey(asked, key)
	if err != nil {
		return nil, nil, Refuse(http.StatusBadRequest, codeBadArgument, "the brackets of %s: %v", asked.Attribute.Name, err).At("handler")
	}
	return found, of, nil
}

// TellState adds to the error of a handler that an actor lacks what its state has instead.
func TellState(f *model.Fault, schema *typed.Schema, handler string) {
	if f == nil || schema == nil || len(schema.State) == 0 {
		return
	}
	names := make([]string, len(schema.State))
	for i := range schema.State {
		names[i] = schema.State[i].Name
	}
	f.Message += "; its state is " + strings.Join(names, ", ") + typo.Suggestion(handler, append(names, handlerNames(schema)...))
}

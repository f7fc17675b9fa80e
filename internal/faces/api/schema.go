package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
)

type schemaInput struct {
	AddressInput
	Form  string `query:"form" enum:"schema,jsonschema" default:"schema" doc:"jsonschema: JSON Schema 2020-12, one schema per handler."`
	Match string `header:"If-None-Match" doc:"An ETag: 304 while the schema has it."`
}

var exampleSchema = json.RawMessage(`{"actor":"Club","doc":"A club: members pay to join.","events":["Joined"],"handlers":[{"arguments":` +
	`[{"name":"who","type":"Address"},{"name":"amount","type":"Amount"}],"callers":"anyone","name":"join","returns":"int"}],"schema":1,` +
	`"types":{"Joined":{"record":[{"name":"who","type":"Address"},{"name":"members","type":"int"}]}}}`)

// registerSchema serves schemas byte for byte: their hash is the ETag, and clients carry it.
func (s *Server) registerSchema() {
	op := operation{id: "actor_schema", path: "/actor/{address}/schema", tag: tagActors,
		summary: "Schema of an actor, from its annotations: handlers, types, events, state",
		description: "The bytes are those on the chain, and the ETag is their keccak256. " +
			"An actor whose code has no schema answers 404 with no_schema.",
		errors: []int{400, 404, 409}, response: exampleSchema}
	h := op.asHuma()
	h.Responses = map[string]*huma.Response{
		"200": describeAnswer("OK", "application/json", huma.TypeObject),
		"304": {Description: "The schema is the one of If-None-Match."}}
	registerRoute(s, op, h, func(ctx context.Context, in *schemaInput) (*huma.StreamResponse, error) {
		doc, moment, err := s.schemaDocument(ctx, in)
		if err != nil {
			return nil, err
		}
		etag := `"` + types.Keccak(doc).String() + `"`
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			ctx.SetHeader("ETag", etag)
			ctx.SetHeader("Devnet-Moment", moment)
			if in.Match == etag {
				ctx.SetStatus(http.StatusNotModified)
				return
			}
			ctx.SetHeader("Content-Type", "application/json")
			_, _ = ctx.BodyWriter().Write(doc)
		}}, nil
	})
}

// schemaDocument is the schema of an actor in the form that is asked for, and the moment that it was read at.
func (s *Server) schemaDocument(ctx context.Context, in *schemaInput) (doc []byte, moment string, err error) {
	v, err := s.readerOf(in.OnNode)
	if err != nil {
		return nil, "", err
	}
	if v, err = s.readerAt(ctx, v, in.At); err != nil {
		return nil, "", err
	}
	doc, err = s.schemaOfActor(v, in)
	return doc, nameMoment(v), err
}

func (s *Server) schemaOfActor(v answers.Reader, in *schemaInput) ([]byte, error) {
	actor, err := s.findActor(v, in.Address, "address")
	if err != nil {
		return nil, err
	}
	doc, err := v.Schema(actor.Address)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return nil, Refuse(http.StatusNotFound, "no_schema", "the code of %s has no schema", in.Address).At("address").
			Hint("Python code has one from its deploy on; Go samples have none.")
	}
	if in.Form != "jsonschema" {
		return doc, nil
	}
	schema, err := typed.Parse(doc)
	if err != nil {
		return nil, err
	}
	return json.Marshal(jsonSchema(schema))
}

// jsonSchema is a schema as JSON Schema 2020-12: a $defs each type, and one schema a typed
// handler, of its arguments.
func jsonSchema(s *typed.Schema) map[string]any {
	defs, handlers := map[string]any{}, map[string]any{}
	for i := range s.Types {
		t := &s.Types[i]
		if !t.IsEnum() {
			defs[t.Name] = objectSchema(t.Doc, t.Fields)
			continue
		}
		values := []any{}
		for _, m := range t.Values {
			values = append(values, m.Value)
		}
		defs[t.Name] = map[string]any{"enum": values, "description": t.Doc}
	}
	for i := range s.Handlers {
		if h := &s.Handlers[i]; !h.Raw {
			handlers[h.Name] = objectSchema(h.Doc, h.Arguments)
		}
	}
	return map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": s.Actor, "description": s.Doc,
		"$defs": defs, "handlers": handlers}
}

func objectSchema(doc string, fields []typed.Field) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range fields {
		f := &fields[i]
		properties[f.Name] = typeSchema(&f.Type)
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	return map[string]any{"type": "object", "description": doc, "properties": properties, "required": required, "additionalProperties": false}
}

func typeSchema(t *typed.Type) map[string]any {
	switch t.Form {
	case typed.Integer:
		if t.Number() {
			return map[string]any{"type": "integer", "minimum": t.Low, "maximum": t.High}
		}
		return map[string]any{"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,77})$"}
	case typed.Bool:
		return map[string]any{"type": "boolean"}
	case typed.Text:
		if t.Max > 0 {
			return map[string]any{"type": "string", "minLength": t.Min, "maxLength": t.Max}
		}
		return map[string]any{"type": "string"}
	case typed.Binary:
		if t.Size > 0 {
			return map[string]any{"type": "string", "pattern": "^0x[0-9a-fA-F]*$", "minLength": 2 + 2*t.Size, "maxLength": 2 + 2*t.Size}
		}
		return map[string]any{"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"}
	case typed.OptionalForm:
		return map[string]any{"anyOf": []any{typeSchema(&t.Of[0]), map[string]any{"type": "null"}}}
	case typed.ListForm:
		return map[string]any{"type": "array", "items": typeSchema(&t.Of[0])}
	case typed.TupleForm:
		items := []any{}
		for i := range t.Of {
			items = append(items, typeSchema(&t.Of[i]))
		}
		return map[string]any{"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
	case typed.DictForm:
		return map[string]any{"type": "object", "additionalProperties": typeSchema(&t.Of[1])}
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name}
}

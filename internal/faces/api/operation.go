package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// operation describes a route for OpenAPI and for a test: a summary, an example,
// the errors.
type operation struct {
	id, path, tag        string
	method               string // GET if empty
	summary, description string
	// client is the operation's method in package client: its name, its parameters for those of the path, then
	// those of the query or of the body, and the rest of its comment. It is empty if the method is written by hand.
	client   string
	errors   []int // besides those of statuses
	request  any   // example of the body; nil without a body
	response any   // example of the answer
}

// bodyOnly is the input or the output of a route that has only a body.
type bodyOnly[B any] struct{ Body B }

// serveRoute registers a route. handle's errors are answered by asError.
func serveRoute[I, O any](s *Server, op operation, handle func(context.Context, *I) (O, error)) {
	serveWhole(s, op, func(ctx context.Context, in *I) (*bodyOnly[O], error) {
		out, err := handle(ctx, in)
		return &bodyOnly[O]{out}, err
	})
}

// onNode is a pointer to the parameters of a read, which name the validator.
type onNode[I any] interface {
	*I
	nodeParameter() OnNode
}

// answerAt is the answer of a read, which says of which moment it is.
type answerAt[B any] struct {
	Moment string `header:"Devnet-Moment" doc:"The moment that the answer is of: h and the height of the last block of the state that was read."`
	Body   B
}

// serveRead registers a route that reads the final state of the validator that the request names.
// That validator may be unknown, or be a runner. If the request names a moment, it reads the state of then.
func serveRead[I, O any, P onNode[I]](s *Server, op operation, handle func(context.Context, answers.Reader, P) (O, error)) {
	op.errors = append([]int{http.StatusNotFound, http.StatusConflict}, op.errors...)
	if _, is := any(P(nil)).(onMoment); is {
		op.errors = append(op.errors, http.StatusBadRequest, http.StatusTooManyRequests, http.StatusInternalServerError)
	}
	serveWhole(s, op, func(ctx context.Context, in *I) (*answerAt[O], error) {
		v, err := s.readerOf(P(in).nodeParameter())
		if err != nil {
			return nil, err
		}
		if at, is := any(P(in)).(onMoment); is {
			if v, err = s.readerAt(ctx, v, at.momentParameter()); err != nil {
				return nil, err
			}
		}
		out, err := handle(ctx, v, in)
		return &answerAt[O]{nameMoment(v), out}, err
	})
}

// serveBody registers a route that takes a body.
func serveBody[B, O any](s *Server, op operation, handle func(context.Context, *B) (O, error)) {
	op.method = http.MethodPost
	serveRoute(s, op, func(ctx context.Context, in *bodyOnly[B]) (O, error) { return handle(ctx, &in.Body) })
}

// serveLatest registers a route that takes a body, and reads the latest final state for it.
func serveLatest[B, O any](s *Server, op operation, handle func(context.Context, answers.Reader, *B) (O, error)) {
	serveBody(s, op, func(ctx context.Context, in *B) (out O, err error) {
		v, err := s.backend.Reader("")
		if err != nil {
			return out, err
		}
		return handle(ctx, v, in)
	})
}

// serveWhole registers a route whose answer sets headers. O has a Body.
func serveWhole[I, O any](s *Server, op operation, handle func(context.Context, *I) (*O, error)) {
	registerRoute(s, op, op.asHuma(), handle)
}

// registerRoute registers a route that h describes to huma.
func registerRoute[I, O any](s *Server, op operation, h huma.Operation, handle func(context.Context, *I) (*O, error)) {
	huma.Register(s.api, h, func(ctx context.Context, in *I) (*O, error) {
		if refused := s.permitPath(op.path); refused != nil { // the page asks without guard
			return nil, refused
		}
		out, err := handle(ctx, in)
		if err != nil {
			return nil, asError(err)
		}
		return out, nil
	})
	s.addExamples(op)
}

// describeAnswer describes an answer that is not of a type of package model.
func describeAnswer(description, media, kind string) *huma.Response {
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{media: {Schema: &huma.Schema{Type: kind}}}}
}

func (op operation) asHuma() huma.Operation {
	h := huma.Operation{
		OperationID: op.id, Method: cmp.Or(op.method, http.MethodGet), Path: op.path, Tags: []string{op.tag},
		Summary: op.summary, Description: op.description, Metadata: map[string]any{"client": op.client},
		Errors:                       op.errorStatuses(),
		MaxBodyBytes:                 MaxBodyBytes + 1, // huma refuses a body that reaches its limit
		BodyReadTimeout:              -1,               // guard has read it
		RejectUnknownQueryParameters: true,
	}
	return h
}

// errorStatuses are the errors of the operation, and those that any may have: a
// foreign host or page, a parameter out of range, a node that does not run, a
// body too long or too slow.
func (op operation) errorStatuses() []int {
	all := append([]int{http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusServiceUnavailable}, op.errors...)
	if op.method == http.MethodPost {
		all = append(all, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// addExamples puts the examples into the description, and one answer of each error for all
// operations: huma makes one for each.
func (s *Server) addExamples(op operation) {
	item := s.api.OpenAPI().Paths[op.path]
	registered := item.Get
	if op.method == http.MethodPost {
		registered = item.Post
	}
	if op.request != nil {
		registered.RequestBody.Content["application/json"].Example = example{op.request}
	}
	for _, media := range registered.Responses["200"].Content {
		media.Example = example{op.response}
	}
	for status, response := range registered.Responses {
		media := response.Content["application/json"]
		if media == nil || status[0] == '2' || media.Example != nil {
			continue
		}
		if s.refusals[status] == nil {
			media.Example = example{model.Error{Error: exampleErrors[status]}}
			s.refusals[status] = response
		}
		registered.Responses[status] = s.refusals[status]
	}
}

// example is a value of the description. It is encoded with the document: decoded JSON of
// all examples would take 1.1 MiB.
type example struct{ of any }

// MarshalJSON sorts the names, as the rest of the document does.
func (e example) MarshalJSON() ([]byte, error) { return json.Marshal(e.plainValue()) }

// plainValue is the value as JSON decodes it.
func (e example) plainValue() (out any) {
	data, err := json.Marshal(e.of)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(err) // an example of ours
	}
	return out
}

// openAPIHead is the head of the OpenAPI document.
func (s *Server) openAPIHead() huma.Config {
	cfg := huma.DefaultConfig("Cowboy devnet", s.info.Version)
	cfg.Formats = map[string]huma.Format{}
	for _, name := range []string{"application/json", "json"} {
		cfg.Formats[name] = huma.Format{Marshal: s.answers.writeJSON, Unmarshal: json.Unmarshal}
	}
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath, cfg.CreateHooks = "", "", "", nil
	cfg.Info.Description = "A Cowboy network on this machine: the chain's own RPC paths, and the devnet's. " +
		"Amounts are decimal strings in wei (1 CBY = 10^9 wei), bytes are 0x-hex, an address may be given by its name. " +
		"Every error is {\"error\": {code, message, hint, field}}."
	cfg.Tags = []*huma.Tag{
		{Name: tagChain, Description: "Blocks, transactions, accounts and prices."},
		{Name: tagActors, Description: "Actors: their code, state, logs, and read-only calls."},
		{Name: tagTimers, Description: "Timers in every state."},
		{Name: tagJobs, Description: "Jobs in every state, with their results and payments."},
		{Name: tagRunners, Description: "Runners, their presence, and what those that poll ask and bring."},
		{Name: tagNetwork, Description: "The nodes and how they do."},
		{Name: tagHeld, Description: "A run of a script in virtual time, held by devnet run --hold: its moment, and ways on and back."},
		{Name: tagDevnet, Description: "Funded keys and orders that only a devnet has. Refused with --strict."},
	}
	return cfg
}

const (
	tagChain   = "chain"
	tagActors  = "actors"
	tagTimers  = "timers"
	tagJobs    = "jobs"
	tagRunners = "runners"
	tagNetwork = "network"
	tagHeld    = "held"
	tagDevnet  = "devnet"
)

// registerDocument serves the description, which is written when it is asked for the
// first time: that takes as long as all else of a server's start.
func (s *Server) registerDocument() {
	document := sync.OnceValue(func() []byte { return mustSucceed(json.MarshalIndent(s.api.OpenAPI(), "", " ")) })
	op := operation{id: "openapi", path: "/openapi.json", tag: tagNetwork,
		summary: "This description, as OpenAPI 3.1", response: map[string]any{"openapi": "3.1.0"}}
	h := op.asHuma()
	h.Responses = map[string]*huma.Response{"200": describeAnswer("OK", "application/json", huma.TypeObject)}
	registerRoute(s, op, h, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			ctx.SetHeader("Content-Type", "application/json")
			_, _ = ctx.BodyWriter().Write(document())
		}}, nil
	})
}

func mustSucceed[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerTransactions() {
	submit := operation{id: "submit", method: http.MethodPost, path: "/submit", tag: tagChain,
		summary: "Hand in a signed transaction; answers its hash once the pool took it",
		description: "The body is the transaction as canonical CBOR, or JSON {\"tx\": \"0x…\"} of the same bytes. " +
			"A refused transaction changes nothing, and its error code names the rule.",
		errors:   []int{409, 429},
		request:  model.SubmitRequest{Tx: types.Bytes{0x8c, 0x19, 0x1f, 0x4b}},
		response: model.Submitted{Hash: exampleHash}}
	serveSubmit(s, submit, func(ctx context.Context, raw []byte) (model.Submitted, error) {
		h, err := s.backend.Submit(ctx, raw)
		return model.Submitted{Hash: h}, err
	})
	wait := submit
	wait.id, wait.path = "submit_wait", "/submit_wait"
	wait.summary = "Hand in a signed transaction; answers its receipt once final"
	wait.description += " 504 with code not_final when it is not final within a minute; it may still become final."
	wait.errors = append([]int{504}, submit.errors...)
	wait.response = exampleReceipt
	serveSubmit(s, wait, func(ctx context.Context, raw []byte) (m model.Receipt, err error) {
		if err := s.requireMoving(); err != nil {
			return m, err
		}
		free, err := s.waiters.takePlace()
		if err != nil {
			return m, err
		}
		defer free()
		h, err := s.backend.Submit(ctx, raw)
		if err != nil {
			return m, err
		}
		answers.TellHandedIn(ctx, h)
		r, err := s.awaitReceipt(ctx, h)
		if err != nil {
			return m, err
		}
		v, err := s.backend.Reader("")
		return TypesOf(v).Receipt(&r.Receipt, r.Logs), err
	})
}

type submitInput struct {
	RawBody []byte `contentType:"application/cbor"`
}

// serveSubmit registers a route that takes a transaction in both forms.
func serveSubmit[O any](s *Server, op operation, handle func(context.Context, []byte) (O, error)) {
	h := op.asHuma()
	h.SkipValidateBody = true
	h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(submitRequestType, true, "")},
	}}
	registerRoute(s, op, h, func(ctx context.Context, in *submitInput) (*bodyOnly[O], error) {
		raw, err := rawTransaction(in.RawBody)
		if err != nil {
			return nil, err
		}
		out, err := handle(ctx, raw)
		return &bodyOnly[O]{out}, err
	})
}

// rawTransaction tells the two forms apart by their first byte: a transaction
// is a CBOR array, which never begins like a JSON object. The result is the
// caller's own.
func rawTransaction(body []byte) ([]byte, error) {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return bytes.Clone(body), nil
	}
	var request struct {
		Tx *types.Bytes `json:"tx"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil || request.Tx == nil {
		if err == nil {
			err = errors.New("tx is missing")
		}
		return nil, Refuse(http.StatusBadRequest, "invalid_request", "the body is no {\"tx\": \"0x…\"}: %v", err).
			Hint("Send the canonical CBOR itself, or as 0x-hex in the field tx.").At("tx")
	}
	return *request.Tx, nil
}

// awaitReceipt returns the receipt of a transaction once it is final.
func (s *Server) awaitReceipt(ctx context.Context, h types.Hash) (*history.Executed, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	r, err := s.backend.Wait(ctx, h)
	if errors.Is(err, context.DeadlineExceeded) {
		why := ""
		if l := s.backend.Liveness(); l.Stalled() {
			why = ": " + l.Message()
		}
		return nil, Refuse(http.StatusGatewayTimeout, "not_final", "the transaction %s is not final after %s%s", h, s.patience, why).
			Hint("It may still become final: ask GET /transaction/%s/receipt. GET /ready shows whether blocks are made, and why not.", h)
	}
	return r, err
}

package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// world is a server over a network in memory.
type world struct {
	t      *testing.T
	chain  *memory
	server *Server
}

func newWorld(t *testing.T, change ...func(*memory)) *world {
	t.Helper()
	return newWorldOf(t, Config{}, change...)
}

func newWorldOf(t *testing.T, config Config, change ...func(*memory)) *world {
	t.Helper()
	w := &world{t: t, chain: newMemory()}
	for _, c := range change {
		c(w.chain)
	}
	w.server = New(w.chain, config)
	t.Cleanup(func() { _ = w.server.Close() })
	return w
}

// call sends a request; body is nil, a string, or what JSON is made of.
func (w *world) call(method, path string, body any, headers ...string) (int, []byte) {
	w.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = bytes.NewReader([]byte(b))
	case []byte:
		reader = bytes.NewReader(b)
	default:
		reader = bytes.NewReader(mustSucceed(json.Marshal(b)))
	}
	r := httptest.NewRequest(method, path, reader)
	r.Host = "127.0.0.1:4000"
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(recorder, r)
	w.documented(r, recorder)
	return recorder.Code, recorder.Body.Bytes()
}

// documented checks an answer against the OpenAPI document.
func (w *world) documented(r *http.Request, got *httptest.ResponseRecorder) {
	w.t.Helper()
	_, route := w.server.mux.Handler(r)
	op := operations(w.server.OpenAPI())[route]
	if op == nil || got.Header().Get("Content-Type") != "application/json" {
		return
	}
	response := op.Responses[strconv.Itoa(got.Code)]
	if response == nil || response.Content["application/json"] == nil {
		w.t.Errorf("%s answers %d, which is not documented: %s", route, got.Code, got.Body)
		return
	}
	var body any
	if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
		w.t.Fatalf("%s: %v in %s", route, err, got.Body)
	}
	result := &huma.ValidateResult{}
	huma.Validate(w.server.OpenAPI().Components.Schemas, response.Content["application/json"].Schema,
		huma.NewPathBuffer([]byte{}, 0), huma.ModeReadFromServer, body, result)
	for _, err := range result.Errors {
		w.t.Errorf("%s answers %d with a body that its schema refuses: %v in %s", route, got.Code, err, got.Body)
	}
}

// get decodes a success.
func get[T any](w *world, path string) (out T) {
	w.t.Helper()
	status, data := w.call(http.MethodGet, path, nil)
	return decode[T](w, path, status, data)
}

func post[T any](w *world, path string, body any) (out T) {
	w.t.Helper()
	status, data := w.call(http.MethodPost, path, body)
	return decode[T](w, path, status, data)
}

func decode[T any](w *world, path string, status int, data []byte) (out T) {
	w.t.Helper()
	if status != http.StatusOK {
		w.t.Fatalf("%s: %d %s", path, status, data)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		w.t.Fatalf("%s: %v in %s", path, err, data)
	}
	return out
}

// refused checks an error's status and code, and that it is whole.
func (w *world) refused(status int, code, method, path string, body any, headers ...string) model.ErrorBody {
	w.t.Helper()
	got, data := w.call(method, path, body, headers...)
	var e model.Error
	if err := json.Unmarshal(data, &e); err != nil {
		w.t.Fatalf("%s %s: %d %s: %v", method, path, got, data, err)
	}
	if got != status || e.Error.Code != code || e.Error.Message == "" {
		w.t.Fatalf("%s %s: %d %+v, want %d %s", method, path, got, e.Error, status, code)
	}
	return e.Error
}

// deploy deploys an actor as alice.
func (w *world) deploy(name string) model.Deployed {
	w.t.Helper()
	return post[model.Deployed](w, "/devnet/deploy", model.DeployRequest{From: "alice", Code: "code of " + name, Name: name})
}

var transferPayload = codec.Marshal(types.Transfer{Kind: types.KindTransfer})

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// maxAnswerBytes bounds an answer: a list of a thousand of the largest entries.
const maxAnswerBytes = 1 << 30

// API has a method for each operation of a network's HTTP API, with requests and answers
// in the API's forms. An id may be shortened. It is safe for concurrent use.
type API struct {
	base string
	http *http.Client
	node string
}

// NewAPI returns the API of the network at a URL, or at HOST:PORT. It sends no request.
func NewAPI(address string) *API {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	return &API{base: strings.TrimSuffix(address, "/"), http: &http.Client{Timeout: 5 * time.Minute}}
}

// OnNode returns the same API; its reads use that validator's state.
func (a *API) OnNode(validator string) *API {
	on := *a
	on.node = validator
	return &on
}

// whole returns the API of all nodes, for requests that no node's state answers.
func (a *API) whole() *API { return a.OnNode("") }

// URL is where the network's HTTP API is.
func (a *API) URL() string { return a.base }

func read[T any](ctx context.Context, a *API, path string, q query) (out T, err error) {
	err = a.do(ctx, http.MethodGet, q.text("node", a.node).below(path), "", nil, &out)
	return out, err
}

func write[T any](ctx context.Context, a *API, path string, body any) (T, error) {
	var out T
	data, err := json.Marshal(body)
	if err == nil {
		err = a.do(ctx, http.MethodPost, path, "application/json", data, &out)
	}
	return out, err
}

func (a *API) do(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	status, data, err := a.exchange(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return refusal(status, data)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s%s answered what is not understood, is it a devnet? %w", a.base, path, err)
	}
	return nil
}

func (a *API) exchange(ctx context.Context, method, path, contentType string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, &Unreachable{a.base, err}
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := a.http.Do(request)
	if err != nil {
		return 0, nil, a.unreachable(ctx, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return 0, nil, a.unreachable(ctx, err)
	}
	return response.StatusCode, data, nil
}

func (a *API) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// The wrapper of the cause repeats method, URL and address.
	if wrapped, is := errors.AsType[*url.Error](err); is {
		err = wrapped.Err
	}
	if dial, is := errors.AsType[*net.OpError](err); is {
		err = dial.Err
	}
	if call, is := errors.AsType[*os.SyscallError](err); is {
		err = call.Err
	}
	return &Unreachable{a.base, err}
}

func refusal(status int, data []byte) error {
	var body model.Error
	if err := json.Unmarshal(data, &body); err != nil || body.Error.Code == "" {
		return &Error{status, ErrorBody{Code: "not_a_devnet",
			Message: fmt.Sprintf("the server answered with HTTP status %d and no error of a devnet", status),
			Hint:    "Is another program listening at that address?"}}
	}
	return &Error{status, body.Error}
}

// onNode returns a path for a request to the node.
func (a *API) onNode(path string) string { return query(nil).text("node", a.node).below(path) }

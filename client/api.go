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
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// maxAnswerBytes bounds an answer: a list of a thousand of the largest entries.
const maxAnswerBytes = 1 << 30

// API has a method for each operation of a network's HTTP API, with requests and answers
// in the API's forms. An id may be shortened. It is safe for concurrent use.
type API struct {
	base string
	http *http.Client
	node string
	at   string // the moment of reads; "": the present
	wait func(context.Context, time.Duration) error
}

// NewAPI returns the API of the network at a URL, or at HOST:PORT, of this machine at :PORT or
// PORT. It sends no request.
func NewAPI(address string) *API {
	if !strings.Contains(address, "://") {
		address = "http://" + ofThisMachine(address)
	}
	return &API{base: strings.TrimSuffix(address, "/"), http: &http.Client{Timeout: 5 * time.Minute}, wait: waitFor}
}

// ofThisMachine is an address with the host of this machine where it has none.
func ofThisMachine(address string) string {
	port, bare := strings.CutPrefix(address, ":")
	if _, err := strconv.ParseUint(port, 10, 16); err == nil || bare {
		return "127.0.0.1:" + port
	}
	return address
}

// OnNode returns the same API; its reads use that validator's state.
func (a *API) OnNode(validator string) *API {
	on := *a
	on.node = validator
	return &on
}

// At returns the same API; its reads are of an earlier moment, such as h12, which is after the block of height 12.
// What is asked of nodes and of no state is of the present all the same: validators, links, views and faults.
// What changes the network is refused.
func (a *API) At(moment string) *API {
	then := *a
	then.at = moment
	return &then
}

// Directly returns the same API, asked without the proxy that the environment names: for the nodes of one
// network, which reach each other.
func (a *API) Directly() *API {
	direct, transport := *a, http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	direct.http = &http.Client{Timeout: a.http.Timeout, Transport: transport}
	return &direct
}

// withoutAnswer says why there was no answer, and names the proxy that was asked instead.
func (a *API) withoutAnswer(cause error) *Unreachable {
	u := &Unreachable{Address: a.base, Cause: cause}
	transport, own := a.http.Transport.(*http.Transport)
	at, err := url.Parse(a.base)
	if err == nil && strings.Trim(at.Host, "0123456789") == "" {
		u.Cause = fmt.Errorf("%s is not a port, which is 1 to 65535", at.Host)
	}
	if err != nil || own && transport.Proxy == nil {
		return u
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: at}); err == nil && proxy != nil {
		u.Proxy = proxy.Redacted()
	}
	return u
}

// wholeNetwork returns the API of all nodes, for requests that no node's state answers.
func (a *API) wholeNetwork() *API { return a.OnNode("").At("") }

// URL is where the network's HTTP API is.
func (a *API) URL() string { return a.base }

func getJSON[T any](ctx context.Context, a *API, path string, q query) (out T, err error) {
	err = a.doRequest(ctx, http.MethodGet, q.withText("node", a.node).withText("at", a.at).pathWithQuery(path), "", nil, &out)
	return out, err
}

// postJSON sends an order, which is of the present: an API of an earlier moment refuses it.
func postJSON[T any](ctx context.Context, a *API, path string, body any) (out T, err error) {
	if err := a.requirePresent(path); err != nil {
		return out, err
	}
	return sendJSON[T](ctx, a, path, body)
}

// requirePresent refuses to send an order to an earlier moment.
func (a *API) requirePresent(path string) error {
	if a.at == "" {
		return nil
	}
	return fmt.Errorf("%s changes the present, and this client reads the moment %s: use the one that At was called on", path, a.at)
}

// readByBody sends a read whose request has a body. It is of the API's node and moment.
func readByBody[T any](ctx context.Context, a *API, path string, body any) (T, error) {
	return sendJSON[T](ctx, a, query(nil).withText("node", a.node).withText("at", a.at).pathWithQuery(path), body)
}

func sendJSON[T any](ctx context.Context, a *API, path string, body any) (out T, err error) {
	data, err := json.Marshal(body)
	if err == nil {
		err = a.doRequest(ctx, http.MethodPost, path, "application/json", data, &out)
	}
	return out, err
}

// maxReadRepeats is how often a read is asked again.
const maxReadRepeats = 5

func (a *API) doRequest(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	status, data, after, err := a.exchangeBytes(ctx, method, path, contentType, body)
	for range maxReadRepeats {
		if err != nil || !mayRepeat(status, refusalCode(data)) {
			break
		}
		if err := a.wait(ctx, max(after, time.Second)); err != nil {
			return err
		}
		status, data, after, err = a.exchangeBytes(ctx, method, path, contentType, body)
	}
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return decodeRefusal(status, data)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s%s answered what is not understood, is it a devnet? %w", a.base, path, err)
	}
	return nil
}

// mayRepeat reports whether a request that was refused did nothing, and may do better later:
// its client had used up its reads, or the machine was too slow for one.
func mayRepeat(status int, code string) bool {
	return status == http.StatusTooManyRequests && code == "too_many_reads" || status == http.StatusServiceUnavailable && code == "host_failed"
}

// waitFor lets a time pass, unless the context ends before.
func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refusalCode is the code of a refusal; "" if it is none of a devnet.
func refusalCode(data []byte) string {
	var body model.Error
	if json.Unmarshal(data, &body) != nil {
		return ""
	}
	return body.Error.Code
}

// exchangeBytes returns status and body of an answer, and after which time it may be asked again; 0
// if the answer does not say.
func (a *API) exchangeBytes(ctx context.Context, method, path, contentType string, body []byte) (
	status int, data []byte, after time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, 0, a.withoutAnswer(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if trace := httptrace.ContextClientTrace(ctx); method == http.MethodPost && trace != nil && trace.Got1xxResponse != nil {
		request.Header.Set(model.InterimHeader, model.InterimWanted)
	}
	response, err := a.http.Do(request)
	if err != nil {
		return 0, nil, 0, a.unreachableError(ctx, err)
	}
	defer response.Body.Close()
	data, err = io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return 0, nil, 0, a.unreachableError(ctx, err)
	}
	if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 8); err == nil {
		after = time.Duration(seconds) * time.Second
	}
	return response.StatusCode, data, after, nil
}

func (a *API) unreachableError(ctx context.Context, err error) error {
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
	return a.withoutAnswer(err)
}

func decodeRefusal(status int, data []byte) error {
	var body model.Error
	if err := json.Unmarshal(data, &body); err != nil || body.Error.Code == "" {
		return &Error{status, ErrorBody{Code: "not_a_devnet",
			Message: fmt.Sprintf("the server answered with HTTP status %d and no error of a devnet", status),
			Hint:    "Is another program listening at that address?"}}
	}
	return &Error{status, body.Error}
}

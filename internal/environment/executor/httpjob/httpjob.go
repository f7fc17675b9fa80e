// Package httpjob does jobs of the kind http (CIP-2): requests to the places that
// a runner offers as domains. Requests are judged before they are sent, and answers
// are bounded; package outbound limits the destinations.
//
// The result is the body of an answer with a status of 200 to 299, or what
// extraction leads to in it: a text as it is, where the job takes bytes or text,
// and everything else as canonical JSON. Any other status is a failure.
package httpjob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/cassette"
	"github.com/cowboyinc/devnet/internal/environment/executor/outbound"
)

// headers are what a job may ask with. Headers that control the connection, name the host
// or ask for a compressed answer are not among them; a header that begins with x- belongs
// to its service.
var headers = []string{
	"accept", "accept-language", "authorization", "cache-control", "content-language", "content-type", "cookie", "idempotency-key",
	"if-match", "if-modified-since", "if-none-match", "if-unmodified-since", "origin", "pragma", "prefer", "range", "referer", "user-agent",
}

// Config is where jobs may go.
type Config struct {
	Domains   []string       // places, in the form of outbound.NewFence
	Addresses []netip.Prefix // that may be dialled though they are not public
	Headers   []string       // allowed besides the usual ones, in lower case
	Cassette  *cassette.Cassette
}

// Kind does http jobs.
type Kind struct {
	config Config
	fence  *outbound.Fence
	client *http.Client
}

var _ executor.Kind = (*Kind)(nil)

// withheld are the headers that steer the connection, name the host or ask for a compressed
// answer: no settings allow them.
var withheld = []string{
	"accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te",
	"trailer", "transfer-encoding", "upgrade",
}

// HeaderError says that the settings allow a header that no job may send.
type HeaderError struct{ Name string }

func (e *HeaderError) Error() string {
	return fmt.Sprintf("no job sends the header %.40q, which steers the connection, names the host or asks for a packed answer: leave it out",
		e.Name)
}

// New makes the kind. A header that no job may send is a *HeaderError.
func New(config Config) (*Kind, error) {
	for _, name := range config.Headers {
		if slices.Contains(withheld, name) {
			return nil, &HeaderError{name}
		}
	}
	fence, err := outbound.NewFence(config.Domains, config.Addresses)
	if err != nil {
		return nil, err
	}
	return &Kind{config, fence, fence.Client()}, nil
}

// Capabilities implements executor.Kind: the hosts, without ports, as a draw compares
// them with a job's; none where every name is allowed (CIP-11 §9.1).
func (k *Kind) Capabilities() (all []string) {
	for _, host := range k.fence.Hosts() {
		all = append(all, "domain:"+host)
	}
	return all
}

// Accepts implements executor.Kind.
func (k *Kind) Accepts(spec *push.JobSpec) *execution.Refusal {
	if wrong := spec.Acceptable(); wrong != nil {
		return execution.Refuse(push.BadSpec, "%v", wrong)
	}
	for _, header := range spec.JobType.Http.Headers {
		if name := strings.ToLower(header[0]); !strings.HasPrefix(name, "x-") && !slices.Contains(headers, name) &&
			!slices.Contains(k.config.Headers, name) {
			return execution.Refuse(push.Unsupported, "this runner sends no header %.40q", header[0])
		}
	}
	_, err := k.fence.Judge(spec.JobType.Http.URL)
	if forbidden := (*outbound.ForbiddenError)(nil); errors.As(err, &forbidden) {
		return execution.Refuse(push.Unsupported, "%v", err)
	}
	if err != nil {
		return execution.Refuse(push.BadSpec, "%v", err)
	}
	return nil
}

// Do implements executor.Kind.
func (k *Kind) Do(ctx context.Context, job *executor.Job) ([]byte, error) {
	spec, asked := job.Spec, job.Spec.JobType.Http
	request := cassette.Request{Method: asked.Method, URL: asked.URL, Headers: asked.Headers}
	if asked.Body != nil {
		request.Body = *asked.Body
	}
	most := executor.AnswerBytes(spec, outbound.MaxBody)
	answer, err := k.config.Cassette.Do(request, func() (cassette.Response, error) { return k.requestURL(ctx, request, most, job.Progress) })
	if long := (*outbound.TooLongError)(nil); errors.As(err, &long) {
		return nil, execution.Refuse(push.Unsupported, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	if answer.Status < 200 || answer.Status > 299 {
		return nil, outbound.Refused("the server", answer.Status, answer.Body, false)
	}
	if asked.Extraction == nil && spec.ResultSchema.DataFormat == push.FormatJSON {
		return outbound.WithoutMark(answer.Body), nil
	}
	if asked.Extraction == nil {
		return answer.Body, nil
	}
	v, err := executor.ParseJSON(outbound.WithoutMark(answer.Body))
	if err != nil {
		return nil, execution.Refuse(push.Unsupported, "cannot extract from the answer, which is not JSON: %v", err)
	}
	if v, err = executor.Extract(v, *asked.Extraction); err != nil {
		return nil, execution.Refuse(push.Unsupported, "%v", err)
	}
	return executor.Render(v, spec.ResultSchema.DataFormat), nil
}

func (k *Kind) requestURL(ctx context.Context, r cassette.Request, most int, tell func(uint8, string)) (cassette.Response, error) {
	answer, err := outbound.Patiently(ctx, slices.Contains(repeatable, r.Method), func() (*http.Response, error) {
		request, err := requestOf(ctx, r)
		if err != nil {
			return nil, err
		}
		return k.client.Do(request)
	})
	if err != nil {
		return cassette.Response{}, err
	}
	outbound.Measure(answer, tell)
	body, err := outbound.ReadBody(answer, most)
	return cassette.Response{Status: answer.StatusCode, Body: body}, err
}

// repeatable are the methods that do the same once and twice (RFC 9110, 9.2.2).
var repeatable = []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete}

// requestOf returns the request that a job makes.
func requestOf(ctx context.Context, r cassette.Request) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", outbound.UserAgent)
	given := map[string]bool{}
	for _, header := range r.Headers {
		name := http.CanonicalHeaderKey(header[0])
		if !given[name] {
			request.Header.Del(name)
		}
		given[name] = true
		request.Header.Add(name, header[1])
	}
	request.Header.Set("Accept-Encoding", "identity")
	return request, nil
}

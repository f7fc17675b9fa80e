package mcpjob

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/outbound"
)

const (
	// versionHeader names the session's protocol version in each request after initialize. The
	// SDK sends it itself only over a transport that nothing wraps.
	versionHeader = "Mcp-Protocol-Version"
	// maxPolls bounds the times that a server closes the stream of a call without a new event:
	// ten a second of the longest job.
	maxPolls = 10 * int(executor.MaxWall/time.Second)
	// maxRefusal bounds what is read of a refusal for its words, in bytes.
	maxRefusal = 4 << 10
	// pollAgain is the time to wait before a poll that found no server is made again.
	pollAgain = time.Second
)

func (k *Kind) overHTTP(ctx context.Context, server Server, job *executor.Job, session *mcp.ClientSessionOptions) ([]byte, error) {
	life, end := context.WithCancel(ctx)
	defer end()
	most := executor.AnswerBytes(job.Spec, outbound.MaxBody)
	client, recorder := *k.client, &recorder{}
	requests := &bounds{inner: k.client.Transport, life: life, headers: server.Headers, most: most, again: k.pollAgain,
		version: recorder.protocolVersion}
	client.Transport = requests
	recorder.Transport = &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &client, MaxRetries: maxPolls,
		MaxEventSize: most, DisableStandaloneSSE: true}
	result, err := callAnd(ctx, recorder, job, session, func() { time.AfterFunc(grace, end) })
	return result, requests.explainRefusal(outbound.WithoutURL(err))
}

// bounds is a transport whose answers are bounded, and end with a context. A GET, by which
// the SDK polls for the rest of an answer, is made again until the server is met.
type bounds struct {
	inner   http.RoundTripper
	life    context.Context
	headers map[string]string
	most    int           // bytes of an answer
	again   time.Duration // before a GET that met no server is made again
	version func() string
	refused atomic.Value // string: what the server said with the last status from 400 on
}

// explainRefusal adds what the server said as it refused: the SDK tells the status of an answer that
// is not JSON-RPC.
func (b *bounds) explainRefusal(err error) error {
	words, _ := b.refused.Load().(string)
	if err == nil || words == "" || strings.Contains(err.Error(), words) {
		return err
	}
	return fmt.Errorf("%w: %s", err, words)
}

func (b *bounds) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(b.life, cancel)
	request = request.Clone(ctx)
	for name, value := range b.headers {
		request.Header.Set(name, value)
	}
	if version := b.version(); version != "" && request.Header.Get(versionHeader) == "" {
		request.Header.Set(versionHeader, version)
	}
	request.Header.Set("Accept-Encoding", "identity")
	answer, err := outbound.Patiently(ctx, false, func() (_ *http.Response, err error) {
		if request.GetBody != nil { // it may be the second time
			if request.Body, err = request.GetBody(); err != nil {
				return nil, err
			}
		}
		return b.inner.RoundTrip(request)
	})
	for err != nil && request.Method == http.MethodGet && ctx.Err() == nil {
		waitFor(ctx, b.again)
		answer, err = b.inner.RoundTrip(request)
	}
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	body := io.LimitReader(answer.Body, int64(b.most))
	if answer.StatusCode >= http.StatusBadRequest && request.Method != http.MethodDelete {
		text, _ := io.ReadAll(io.LimitReader(body, maxRefusal))
		b.refused.Store(outbound.Words(text))
		body = io.MultiReader(bytes.NewReader(text), body)
	}
	if last := request.Header.Get("Last-Event-ID"); last != "" && answer.StatusCode == http.StatusOK {
		// The SDK forgets the id with a stream that ends before its first event.
		body = io.MultiReader(strings.NewReader("id: "+last+"\n\n"), body)
	}
	answer.Body = &boundedBody{body, answer.Body, func() { stop(); cancel() }}
	return answer, nil
}

// waitFor returns after a time, or with the context.
func waitFor(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

type boundedBody struct {
	io.Reader
	io.Closer
	done func()
}

func (b *boundedBody) Close() error {
	defer b.done()
	return b.Closer.Close()
}

package front

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
)

const (
	// chosenFor is how long a validator answers before it is looked whether it keeps up.
	chosenFor = time.Second
	// behind is how many blocks it may be behind another: heights that are asked one
	// after the other differ.
	behind = 2
	// heightPatience is how long it may take to tell its height.
	heightPatience = 500 * time.Millisecond
)

// proxy hands requests on to one validator.
type proxy struct {
	front     *Front
	reverse   *httputil.ReverseProxy
	transport *http.Transport

	mu     sync.Mutex
	chosen string
	until  time.Time // then it is looked again
}

func newProxy(f *Front) *proxy {
	p := &proxy{front: f, transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}}
	p.reverse = &httputil.ReverseProxy{Transport: p, FlushInterval: -1, Rewrite: rewrite, ErrorHandler: unanswered,
		ErrorLog: log.New(io.Discard, "", 0)} // a client that leaves is no error
	return p
}

// rewrite makes a request one of this process: who may call was judged by the guard.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme = "http"
	for _, name := range []string{"Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"} {
		r.Out.Header.Del(name)
	}
}

// named is the key of the validator that a request is for, in its context.
type named struct{}

// ServeHTTP hands a request on: to the validator that it names, else to the chosen one.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name := r.URL.Query().Get("node"); name != "" {
		node, err := p.front.find(name)
		if err == nil && (node.Kind != Validator || !slices.Contains(p.front.validators(), name)) {
			err = api.Refuse(http.StatusServiceUnavailable, "node_stopped", "%s does not answer: %s", name, p.front.why(name)).At("node")
			if node.Kind != Validator {
				err = api.NoState(name)
			}
		}
		if err != nil {
			api.Answer(w, err)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), named{}, name))
	}
	p.reverse.ServeHTTP(w, r)
}

// RoundTrip implements http.RoundTripper. Where a validator cannot be reached, so that it
// has got nothing, another is asked.
func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if name, is := r.Context().Value(named{}).(string); is {
		return p.send(r, name)
	}
	for range p.front.validators() {
		name := p.choose(r.Context())
		if name == "" {
			break
		}
		answer, err := p.send(r, name)
		var dial *net.OpError
		if err == nil || !errors.As(err, &dial) || dial.Op != "dial" {
			return answer, err
		}
		p.leave(name)
	}
	return nil, noValidator()
}

func (p *proxy) send(r *http.Request, name string) (*http.Response, error) {
	at, err := url.Parse(p.front.config.Carrier.Control(name))
	if err != nil || at.Host == "" {
		return nil, api.Refuse(http.StatusServiceUnavailable, "node_stopped", "%s has no address", name)
	}
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = at.Host, at.Host
	return p.transport.RoundTrip(r)
}

// unanswered answers where no validator did.
func unanswered(w http.ResponseWriter, r *http.Request, err error) {
	var own *api.Error
	if !errors.As(err, &own) && r.Context().Err() == nil {
		err = api.Refuse(http.StatusServiceUnavailable, "node_stopped", "the validator that was asked ended before it answered").
			Hint("Ask again: another one answers. A transaction in the request may have become final; check before you send it again.")
	}
	api.Answer(w, err)
}

// leave has the next request choose anew.
func (p *proxy) leave(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chosen == name {
		p.chosen = ""
	}
}

// choose is the validator that answers: the one before, as long as it runs and keeps up;
// "" where there is none.
func (p *proxy) choose(ctx context.Context) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	can := p.front.validators()
	if slices.Contains(can, p.chosen) && time.Now().Before(p.until) {
		return p.chosen
	}
	heights := askAll(ctx, p.front, can, heightPatience, (*client.Client).Height)
	best, most := "", types.Height(0)
	for _, name := range can {
		if h, is := heights[name]; is && (best == "" || h > most) {
			best, most = name, h
		}
	}
	if h, is := heights[p.chosen]; !is || h+behind < most {
		p.chosen = best
	}
	p.until = time.Now().Add(chosenFor)
	if p.chosen == "" && len(can) > 0 {
		return can[0] // it may be coming up: its own refusal says so
	}
	return p.chosen
}

func (p *proxy) close() { p.transport.CloseIdleConnections() }

// askAll asks validators, all at once; of those that do not answer in time there is
// nothing.
func askAll[T any](ctx context.Context, f *Front, names []string, patience time.Duration,
	ask func(*client.Client, context.Context) (T, error)) map[string]T {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	answers := map[string]T{}
	for _, name := range names {
		all.Go(func() {
			answer, err := ask(client.New(f.config.Carrier.Control(name)), ctx)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[name] = answer
		})
	}
	all.Wait()
	return answers
}

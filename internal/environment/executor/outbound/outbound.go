// Package outbound makes HTTP requests for a job: to destinations that another
// party names (Fence), and to those that the runner's owner names (Client).
//
// A fence judges a URL by its text, and each connection by its address, at dial,
// after names were resolved. The owner of a name may answer with a private address,
// or with another address the second time. A redirect is judged like the first
// request.
package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
)

// Limits of requests and answers.
const (
	MaxURL           = 8 << 10          // bytes: what servers take
	MaxBody          = 8 << 20          // bytes of an answer: a few results, of which one is cut out
	maxRedirects     = 5                // what no honest server exceeds
	maxHeader        = 64 << 10         // bytes of an answer's header
	dialTimeout      = 10 * time.Second // of the job's own time
	handshakeTimeout = 10 * time.Second
)

// Fence is where jobs may go.
type Fence struct {
	places    []place
	addresses []netip.Prefix // allowed besides the public ones
	dialer    net.Dialer
}

// NewFence makes a fence of places and of addresses that may be dialled though they
// are not public. A place is a name like example.org, the names below it like
// *.example.org, any name as *, or an address like 192.0.2.1 or [2001:db8::1]. Each
// may have a port other than the scheme's, like example.org:8080.
func NewFence(places []string, addresses []netip.Prefix) (*Fence, error) {
	f := &Fence{addresses: addresses, dialer: net.Dialer{Timeout: dialTimeout}}
	f.dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error { return f.checkDial(address) }
	for _, text := range places {
		p, err := parsePlace(text)
		if err != nil {
			return nil, err
		}
		f.places = append(f.places, p)
	}
	return f, nil
}

// ForbiddenError says that a job may not go somewhere.
type ForbiddenError struct{ Where, Why string }

func (e *ForbiddenError) Error() string { return fmt.Sprintf("%.80q: %s", e.Where, e.Why) }

// Judge reads a URL and returns why no job may use it, with a *ForbiddenError for a
// destination that other runners may allow.
func (f *Fence) Judge(text string) (*url.URL, error) {
	if len(text) > MaxURL {
		return nil, fmt.Errorf("the URL has %d bytes, at most %d", len(text), MaxURL)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return nil, errors.New("the URL has a character that none has: write it as %XX")
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the URL cannot be read")
	}
	return u, f.whyRefused(u)
}

// whyRefused says why a URL is not asked for, or nil.
func (f *Fence) whyRefused(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the URL's scheme is %.20q, and only http and https are requested", u.Scheme)
	case u.User != nil:
		return errors.New("the URL has a user or password in it: they go into a header")
	case u.Opaque != "" || u.Host == "":
		return errors.New("the URL names no host")
	}
	asked, err := hostOf(u)
	if err != nil {
		return err
	}
	for _, p := range f.places {
		if p.coversTarget(asked, u.Scheme) {
			return nil
		}
	}
	return &ForbiddenError{u.Host, "this runner does not go there"}
}

// checkDial judges an address and port that is about to be dialled.
func (f *Fence) checkDial(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &ForbiddenError{address, "invalid address"}
	}
	ip := to.Addr().Unmap()
	if isPublic(ip) || ip.Zone() == "" && slices.ContainsFunc(f.addresses, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return nil
	}
	return &ForbiddenError{ip.String(), "not a public address, and this runner does not allow it"}
}

// UserAgent names a runner to the servers that a job asks, unless the job does.
const UserAgent = "cowboy-runner"

// Client follows redirects inside the fence. A redirect to another host, or from
// https to http, carries none of the job's headers, which may hold a secret for the
// first host, but the runner's own User-Agent; and no redirect carries a Referer.
func (f *Fence) Client() *http.Client {
	return &http.Client{Transport: newTransport(f.dialer.DialContext), CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if len(before) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if len(next.URL.String()) > MaxURL {
			return fmt.Errorf("a redirect to a URL of more than %d bytes", MaxURL)
		}
		if err := f.whyRefused(next.URL); err != nil {
			return fmt.Errorf("a redirect: %w", err)
		}
		next.Header.Del("Referer")
		first := before[0].URL
		if next.URL.Host != first.Host || first.Scheme == "https" && next.URL.Scheme != "https" {
			next.Header = http.Header{"Accept-Encoding": {"identity"}, "User-Agent": {UserAgent}}
			if next.Body != nil && next.Body != http.NoBody {
				return errors.New("a redirect of a body to another host, or out of https")
			}
		}
		return nil
	}}
}

// Client goes where the runner's owner said, and follows no redirect.
func Client() *http.Client {
	dialer := net.Dialer{Timeout: dialTimeout}
	return &http.Client{Transport: newTransport(dialer.DialContext), CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("a redirect, which is not followed: configure where it leads")
	}}
}

// newTransport keeps no connection, for the next job's address is judged again; it
// takes no proxy from the environment, and decompresses nothing.
func newTransport(dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext: dial, TLSHandshakeTimeout: handshakeTimeout, MaxResponseHeaderBytes: maxHeader,
		DisableKeepAlives: true, DisableCompression: true,
	}
}

// TooLongError says that an answer was longer than it may be.
type TooLongError struct{ Most int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes", e.Most)
}

// ReadBody reads and closes an answer's body of at most most bytes. A compressed
// body is refused: its decompressed size is unbounded.
func ReadBody(answer *http.Response, most int) ([]byte, error) {
	defer answer.Body.Close()
	if packed := answer.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return nil, fmt.Errorf("the answer is packed (%.20q), though that was not asked for", packed)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	if len(body) > most {
		return nil, &TooLongError{most}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil, &CutError{len(body)}
	}
	return body, err
}

// CutError says that a connection ended within an answer, after Read bytes of its body.
type CutError struct{ Read int }

func (e *CutError) Error() string {
	return fmt.Sprintf("the answer broke off after %s of its body: the server or a proxy before it ended the connection",
		plural.Of(e.Read, "byte"))
}

// PostJSON posts a body to a place of the runner's owner's and returns what it
// answers, of at most most bytes, with the HTTP status. A busy server is asked again.
func PostJSON(ctx context.Context, client *http.Client, to string, body []byte, headers map[string]string, most int) (int, []byte, error) {
	answer, err := Patiently(ctx, true, func() (*http.Response, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json")
		request.Header.Set("Accept-Encoding", "identity")
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		return client.Do(request)
	})
	if err != nil {
		return 0, nil, WithoutURL(err)
	}
	text, err := ReadBody(answer, most)
	return answer.StatusCode, text, err
}

// WithoutURL returns an error of a request to a place of the runner's owner with
// only its host: many such places have their owner's secret in the path.
func WithoutURL(err error) error {
	failed := (*url.Error)(nil)
	if !errors.As(err, &failed) {
		return err
	}
	host := "it"
	if u, wrong := url.Parse(failed.URL); wrong == nil {
		host = u.Host
	}
	return fmt.Errorf("%s does not answer: %w", host, failed.Err)
}

package httpjob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/cassette"
)

func job(url string, change ...func(*push.Http)) *push.JobSpec {
	h := &push.Http{URL: url, Method: "GET"}
	for _, c := range change {
		c(h)
	}
	return &push.JobSpec{
		JobType: push.JobType{Http: h}, Bounds: push.Bounds{MaxMemoryMB: 1},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 1 << 20, DataFormat: push.FormatBytes},
	}
}

func with(header, value string) func(*push.Http) {
	return func(h *push.Http) { h.Headers = append(h.Headers, [2]string{header, value}) }
}

func extract(pointer string) func(*push.Http) { return func(h *push.Http) { h.Extraction = &pointer } }

func do(t *testing.T, k *Kind, spec *push.JobSpec) (string, error) {
	t.Helper()
	if r := k.Accepts(spec); r != nil {
		t.Fatal(r)
	}
	result, err := k.Do(t.Context(), executor.NewJob(execution.ID{}, spec, nil))
	return string(result), err
}

// local serves, and makes the kind that may go there.
func local(t *testing.T, answer http.HandlerFunc, c *cassette.Cassette) (*Kind, string) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	k, err := New(Config{
		Domains:   []string{strings.TrimPrefix(s.URL, "http://"), strings.Replace(s.URL[7:], "127.0.0.1", "localhost", 1)},
		Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Headers: []string{"metadata"}, Cassette: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	return k, s.URL
}

func TestARequestIsSentAsAsked(t *testing.T) {
	k, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %v %s %s|%s", r.Method, r.URL, body, r.Header["X-Key"], r.Header.Get("User-Agent"),
			r.Header.Get("Accept-Encoding"), r.Host)
	}, nil)
	body := types.Bytes("a body")
	got, err := do(t, k, job(url+"/p?q=1", with("x-key", "1"), with("X-Key", "2"), with("user-agent", "me"),
		func(h *push.Http) { h.Method, h.Body = "POST", &body }))
	if want := "POST /p?q=1 a body [1 2] me identity|" + strings.TrimPrefix(url, "http://"); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := do(t, k, job(url)); err != nil || !strings.HasPrefix(got, "GET /  [] cowboy-runner identity") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestExtraction(t *testing.T) {
	k, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/deep":
			fmt.Fprint(w, strings.Repeat("[", 100_000))
		case "/html":
			fmt.Fprint(w, "<p>")
		default:
			fmt.Fprint(w, ` {"price": {"usd": 42.50, "name":"é"}, "a": [1, 2]} `)
		}
	}, nil)
	for pointer, want := range map[string]string{"/price/usd": "42.50", "/price/name": "é",
		"/price": `{"name":"é","usd":42.50}`, "/a/1": "2", "": `{"a":[1,2],"price":{"name":"é","usd":42.50}}`} {
		if got, err := do(t, k, job(url, extract(pointer))); err != nil || got != want {
			t.Errorf("%s: %q, %v", pointer, got, err)
		}
	}
	for path, pointer := range map[string]string{"/": "/no", "/html": "", "/deep": ""} {
		if got, err := do(t, k, job(url+path, extract(pointer))); err == nil {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestAFailureIsNoResult(t *testing.T) {
	k, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/huge" {
			w.Write(make([]byte, 1<<20+1))
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}, nil)
	for path, want := range map[string]string{"/": "status 404", "/huge": "more than 1048576 bytes"} {
		if got, err := do(t, k, job(url+path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

// RUNNERS.md: only the body of an answer with a status of 200 to 299 is a result.
func TestOnlyAStatusOfSuccessIsAResult(t *testing.T) {
	k, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	}, nil)
	for status, is := range map[int]bool{200: true, 204: true, 299: true, 300: false, 304: false, 399: false, 400: false, 404: false,
		500: false, 599: false} {
		_, err := do(t, k, job(fmt.Sprint(url, "/", status)))
		if (err == nil) != is || err != nil && !strings.Contains(err.Error(), fmt.Sprint("status ", status)) {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

func TestWhatIsRefusedBeforeItIsSent(t *testing.T) {
	k, url := local(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }, nil)
	body := types.Bytes("x")
	for name, c := range map[string]struct {
		spec *push.JobSpec
		want push.RejectReason
	}{
		"another domain":      {job("http://example.org"), push.Unsupported},
		"no URL":              {job("://"), push.BadSpec},
		"a scheme":            {job("file:///etc/passwd"), push.BadSpec},
		"a user":              {job("http://a:b@" + strings.TrimPrefix(url, "http://")), push.BadSpec},
		"a method":            {job(url, func(h *push.Http) { h.Method = "CONNECT" }), push.BadSpec},
		"a method in parts":   {job(url, func(h *push.Http) { h.Method = "GET / HTTP/1.1\r\nX: y" }), push.BadSpec},
		"a body of a GET":     {job(url, func(h *push.Http) { h.Body = &body }), push.BadSpec},
		"a header in parts":   {job(url, with("X-A\r\nX-B", "v")), push.BadSpec},
		"a value in parts":    {job(url, with("X-A", "v\r\nX-B: w")), push.BadSpec},
		"a value with a zero": {job(url, with("X-A", "\x00")), push.BadSpec},
		"a header without":    {job(url, with("", "v")), push.BadSpec},
		"the host":            {job(url, with("Host", "other")), push.Unsupported},
		"the length":          {job(url, with("Content-Length", "5")), push.Unsupported},
		"the transfer":        {job(url, with("Transfer-Encoding", "chunked")), push.Unsupported},
		"the connection":      {job(url, with("connection", "upgrade")), push.Unsupported},
		"the packing":         {job(url, with("accept-encoding", "gzip")), push.Unsupported},
		"a proxy":             {job(url, with("Proxy-Authorization", "x")), push.Unsupported},
		"a cloud's password":  {job(url, with("Metadata-Flavor", "x")), push.Unsupported},
		"a long value":        {job(url, with("X-A", strings.Repeat("a", push.MaxHeaderValue+1))), push.BadSpec},
		"a long name":         {job(url, with("X-"+strings.Repeat("a", push.MaxHeaderName), "a")), push.BadSpec},
		"too many":            {job(url, func(h *push.Http) { h.Headers = make([][2]string, push.MaxHeaders+1) }), push.BadSpec},
	} {
		if r := k.Accepts(c.spec); r == nil || r.Reason != c.want {
			t.Errorf("%s: %v", name, r)
		}
	}
	if r := k.Accepts(job(url, with("Metadata", "configured"))); r != nil {
		t.Error(r)
	}
}

// A runner's registered hosts are compared with a job's host letter by letter, and
// that has no port; a runner that takes every name registers none.
func TestTheHostsOfADraw(t *testing.T) {
	for _, c := range []struct{ domains, want []string }{
		{[]string{"127.0.0.1:8080", "Example.org", "127.0.0.1:8081", "[::1]:80"},
			[]string{"domain:127.0.0.1", "domain:::1", "domain:example.org"}},
		{[]string{"a.test", "*.a.test"}, []string{"domain:*.a.test", "domain:a.test"}},
		{[]string{"a.test", "*"}, nil},
	} {
		k, err := New(Config{Domains: c.domains})
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Capabilities(); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.domains, got, c.want)
		}
	}
}

func TestACassetteNeedsNoNetwork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	record, err := cassette.Open(path, cassette.Record)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	k, url := local(t, func(w http.ResponseWriter, _ *http.Request) { asked++; fmt.Fprint(w, `{"n":1}`) }, record)
	if got, err := do(t, k, job(url, extract("/n"))); err != nil || got != "1" {
		t.Fatalf("%q, %v", got, err)
	}
	replay, err := cassette.Open(path, cassette.Replay)
	if err != nil {
		t.Fatal(err)
	}
	k.config.Cassette = replay
	if got, err := do(t, k, job(url, extract("/n"))); err != nil || got != "1" || asked != 1 {
		t.Errorf("%q, %v, asked %d times", got, err, asked)
	}
	if _, err := do(t, k, job(url+"/other")); err == nil || !strings.Contains(err.Error(), "/other") || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

func TestAServerThatNeverAnswersEndsWithTheJob(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "the beginning")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}, nil)
	if result, err := k.Do(ctx, executor.NewJob(execution.ID{}, job(url), nil)); err == nil {
		t.Errorf("%q", result)
	}
}

// A long body of a known length reports its arrival, and a short one does not.
func TestTheArrivalOfABodyIsTold(t *testing.T) {
	for length, want := range map[int]bool{200_000: true, 1000: false, 0: false} {
		k, url := local(t, func(w http.ResponseWriter, _ *http.Request) {
			if length > 0 {
				w.Header().Set("Content-Length", strconv.Itoa(length))
			}
			body := make([]byte, max(length, 1000))
			w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			w.Write(body[len(body)/2:])
		}, nil)
		var told []uint8
		work := executor.NewJob(execution.ID{}, job(url), func(percent uint8, _ string) { told = append(told, percent) })
		if _, err := k.Do(t.Context(), work); err != nil {
			t.Fatal(err)
		}
		if (len(told) > 0) != want || !slices.IsSorted(told) || len(told) > 99 {
			t.Errorf("a body of %d bytes: %v", length, told)
		}
	}
}

// What a job's own URL, bounds and extraction come to is refused in words, since the job chose
// them; what may pass is a failure.
func TestWhatAJobChoseIsRefused(t *testing.T) {
	k, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/huge":
			w.Write(make([]byte, 1<<20+1))
		case "/html":
			io.WriteString(w, "<html>")
		case "/json":
			io.WriteString(w, "{}")
		default:
			status, _ := strconv.Atoi(r.URL.Path[1:])
			http.Error(w, `{"error":"no such thing"}`, status)
		}
	}, nil)
	for path, want := range map[string]string{"/404": "status 404: no such thing", "/403": "status 403", "/huge": "more than",
		"/html": "not JSON", "/json": "leads nowhere", "/304": "status 304"} {
		spec := job(url+path, extract("/a"))
		_, err := do(t, k, spec)
		var refusal *execution.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Detail, want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	for _, path := range []string{"/500", "/502", "/429", "/408"} {
		_, err := do(t, k, job(url+path))
		if refusal := (*execution.Refusal)(nil); err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), "no such thing") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// JSON may begin with a byte order mark, and a redirect to another host names the runner: some
// hosts refuse requests that name nobody.
func TestJSONWithAMarkBehindARedirect(t *testing.T) {
	k, url := local(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/there":
			http.Redirect(w, r, strings.Replace("http://"+r.Host, "127.0.0.1", "localhost", 1)+"/here", http.StatusFound)
		case r.Header.Get("User-Agent") != "cowboy-runner":
			w.WriteHeader(http.StatusForbidden)
		default:
			io.WriteString(w, "\xef\xbb\xbf"+`{"price":9007199254740993}`)
		}
	}, nil)
	if got, err := do(t, k, job(url+"/there", extract("/price"))); err != nil || got != "9007199254740993" {
		t.Errorf("%q, %v", got, err)
	}
	inJSON := job(url + "/there")
	inJSON.ResultSchema.DataFormat = push.FormatJSON
	if got, err := do(t, k, inJSON); err != nil || got != `{"price":9007199254740993}` {
		t.Errorf("%q, %v", got, err)
	}
}

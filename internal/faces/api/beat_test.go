package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/page"
)

func TestAPageOfAnotherSiteReadsNothingAndFramesNothing(t *testing.T) {
	w := newWorld(t)
	visit := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, path := range []string{"/height", "/ready", "/page/live", "/page/main.js", "/openapi.json"} {
		w.refused(403, "forbidden_origin", "GET", path, nil, visit...)
	}
	for _, how := range [][]string{{"navigate", "iframe"}, {"no-cors", "empty"}, {"cors", "empty"}} {
		w.refused(403, "forbidden_origin", "GET", "/", nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", how[0], "Sec-Fetch-Dest", how[1])
	}
	if status, _ := w.call("GET", "/", nil, visit...); status != http.StatusOK {
		t.Errorf("a link on another site to the page is answered %d", status)
	}
	for _, site := range []string{"same-origin", "none", "same-site"} {
		if status, _ := w.call("GET", "/height", nil, "Sec-Fetch-Site", site); status != http.StatusOK {
			t.Errorf("a request of %s is answered %d", site, status)
		}
	}
	w.refused(403, "forbidden_host", "GET", "/", nil, "Host", "rebound.example")
}

func TestEveryAnswerForbidsToFrameAndToEmbedIt(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/", "/height", "/page/main.js", "/nothing"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost:4000"
		got := httptest.NewRecorder()
		w.server.Handler().ServeHTTP(got, r)
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
			"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
			if value := got.Header().Get(name); value != want {
				t.Errorf("%s: %s is %q, want %q", path, name, value, want)
			}
		}
	}
}

// The beat reports on the network in this process, and ends with its reader.
func TestTheBeatTellsOfTheNetwork(t *testing.T) {
	w := newWorld(t)
	w.chain.mine()
	server := httptest.NewServer(w.server.Handler())
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	first := beatOf(ctx, t, server.URL, "")
	if first.Ready.ChainID == 0 || len(first.Nodes) != len(w.chain.Nodes()) || first.Life == "" {
		t.Fatalf("the beat tells %+v", first)
	}
	w.server.Reverted()
	beatOf(ctx, t, server.URL, first.Life) // a browser drops its rows
	if Endless("/page/main.js") || !Endless(page.LivePath) || !Endless(page.NowPath) || !Endless("/events") {
		t.Error("another path is endless")
	}
}

// sent is a part of a beat.
type sent struct {
	Life  string `json:"g"`
	Ready struct {
		ChainID uint64 `json:"chain_id"`
	} `json:"ready"`
	Nodes []struct{ Name string } `json:"nodes"`
}

// beatOf reads the first beat of a stream that is of another era than the given one.
func beatOf(ctx context.Context, t *testing.T, address, era string) (b sent) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+page.LivePath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "data: "); is {
			if err := json.Unmarshal([]byte(text), &b); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if b.Life != era {
				return b
			}
		}
	}
	t.Fatalf("no beat: %v", lines.Err())
	return b
}

func TestOnlyExactOriginsCanBeNamed(t *testing.T) {
	for text, want := range map[string]string{"http://localhost:5173": "http://localhost:5173",
		"HTTP://LocalHost:5173/":   "http://localhost:5173",
		"https://dapp.example:443": "https://dapp.example", "http://127.0.0.1:80": "http://127.0.0.1", "http://[::1]:3000": "http://[::1]:3000"} {
		if got, err := ParseOrigin(text); err != nil || got != want {
			t.Errorf("%s is read as %q: %v", text, got, err)
		}
	}
	for _, text := range []string{"", "*", "null", "http://*", "http://*.example", "localhost:5173", "//localhost",
		"file:///tmp", "ftp://a", "http://",
		"http://a/b", "http://a?b", "http://a?", "http://a#b", "http://u@a", "http://a:0", "http://a:99999", "http://a:08", "http://a b",
		"http://a:5173,http://b", "http://bücher.example", "http://" + strings.Repeat("a", 300)} {
		if got, err := ParseOrigin(text); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

// named is a server that pages of one more origin may call.
func named(t *testing.T, change ...func(*memory)) (w *world, origin string) {
	t.Helper()
	w = newWorld(t, change...)
	_ = w.server.Close()
	origin = "http://localhost:5173"
	w.server = New(w.chain, Config{Origins: []string{origin}})
	t.Cleanup(func() { _ = w.server.Close() })
	return w, origin
}

// from is a request of a page.
func from(w *world, origin, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:4000"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	r.Header.Set("Origin", origin)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	got := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(got, r)
	return got
}

const allowed = "Access-Control-Allow-Origin"

func TestAPageOfANamedOriginReadsAndActs(t *testing.T) {
	w, origin := named(t)
	for _, site := range []string{"cross-site", "same-site"} {
		got := from(w, origin, "GET", "/height", "", "Sec-Fetch-Site", site, "Sec-Fetch-Mode", "cors")
		if got.Code != http.StatusOK || got.Header().Get(allowed) != origin || got.Header().Get("Vary") != "Origin" {
			t.Errorf("%s: %d %v", site, got.Code, got.Header())
		}
		got = from(w, origin, "POST", "/devnet/pause", "", "Sec-Fetch-Site", site)
		if got.Code != http.StatusOK || got.Header().Get(allowed) != origin {
			t.Errorf("%s: %d %s", site, got.Code, got.Body)
		}
	}
	asks := from(w, origin, "OPTIONS", "/devnet/send", "", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type")
	if asks.Code != http.StatusNoContent || asks.Header().Get(allowed) != origin ||
		asks.Header().Get("Access-Control-Allow-Methods") != "GET, POST" ||
		asks.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%d %v", asks.Code, asks.Header())
	}
	if refused := from(w, origin, "GET", "/nothing", ""); refused.Code != http.StatusNotFound || refused.Header().Get(allowed) != origin {
		t.Errorf("a page cannot read why it is refused: %d %v", refused.Code, refused.Header())
	}
	var ready model.Ready
	_, data := w.call("GET", "/ready", nil) // 503 before the first block
	if err := json.Unmarshal(data, &ready); err != nil || len(ready.Origins) != 1 || ready.Origins[0] != origin {
		t.Errorf("/ready names %q (%v)", ready.Origins, err)
	}
}

// A named origin opens nothing else: no similar origin, no rebound name, no path of the
// supervisor, no cheat of a strict network.
func TestANamedOriginOpensNothingElse(t *testing.T) {
	w, origin := named(t)
	for _, other := range []string{"http://localhost:5174", "https://localhost:5173", "http://localhost",
		"http://evil.example", "null", "*", origin + "/",
		origin + ".evil.example", "HTTP://localhost:5173"} {
		for _, got := range []*httptest.ResponseRecorder{
			from(w, other, "GET", "/height", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"),
			from(w, other, "POST", "/devnet/pause", "", "Sec-Fetch-Site", "same-site"),
			from(w, other, "OPTIONS", "/devnet/pause", "", "Access-Control-Request-Method", "POST"),
			from(w, other, "GET", "/", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"),
		} {
			if got.Code < 400 || got.Header().Get(allowed) != "" || got.Header().Get("X-Frame-Options") != "DENY" {
				t.Errorf("%s: %d %v", other, got.Code, got.Header())
			}
		}
	}
	rebound := from(w, origin, "GET", "/height", "", "Host", "rebound.example")
	driven := from(w, origin, "POST", "/devnet/node/v0", "", "Sec-Fetch-Site", "cross-site")
	for _, got := range []*httptest.ResponseRecorder{rebound, driven} {
		if got.Code != http.StatusForbidden || got.Header().Get(allowed) != "" {
			t.Errorf("%d %v", got.Code, got.Header())
		}
	}
	strict, origin := named(t, func(m *memory) { m.strict = true })
	if got := from(strict, origin, "POST", "/devnet/pause", ""); got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), `"strict"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := from(strict, origin, "GET", "/height", ""); got.Code != http.StatusOK || got.Header().Get(allowed) != origin {
		t.Errorf("%d %v", got.Code, got.Header())
	}
}

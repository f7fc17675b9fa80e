package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	if Endless("/page/main.js") || !Endless(page.LivePath) || !Endless("/events") {
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

package docs

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/devnettest"
)

// curled is a request of the table in RUNNING.md: its URL below the network's, and its body.
var curled = regexp.MustCompile("`curl -s '?http://127\\.0\\.0\\.1:4000([^ '`]+)'?(?: --json '([^']*)')?`")

// Each request of the table is made on a network, in their order.
func TestTheRequestsByCurlAreAnswered(t *testing.T) {
	page, err := os.ReadFile("RUNNING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(page), "<!-- curl: docs/curl_test.go -->")
	table, _, ended := strings.Cut(rest, "<!-- end of curl -->")
	if !begun || !ended {
		t.Fatal("RUNNING.md has no table of requests")
	}
	found := curled.FindAllStringSubmatch(table, -1)
	if len(found) < 20 || len(found) != strings.Count(table, "`curl ") {
		t.Fatalf("%d of %d requests are understood", len(found), strings.Count(table, "`curl "))
	}
	n := devnettest.Start(t, devnettest.Simulated(), devnettest.Auto(), devnettest.Validators(4), devnettest.Actor("../fixtures/dapp/club.py"))
	for _, request := range found {
		method, body := http.MethodGet, request[2]
		if body != "" {
			method = http.MethodPost
		}
		r, err := http.NewRequestWithContext(t.Context(), method, n.URL()+request[1], strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json") // as curl --json says
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode >= 300 || strings.Contains(string(text), `"status":"reverted"`) {
			t.Errorf("%s\n ends with %d: %s (%v)", request[0], answer.StatusCode, text, err)
		}
	}
}

package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// presentOnly are the reads of what no block says, or of what has a time of its own: nodes, links, views, faults, streams, a held run.
var presentOnly = []string{"GET /devnet/faults", "GET /devnet/scenario",
	"GET /events", "GET /find", "GET /health", "GET /hold", "GET /hold/frames", "GET /links", "GET /metrics",
	"GET /nodes/{name}/log", "GET /openapi.json", "GET /ready", "GET /runner/{address}/jobs", "GET /validators", "GET /views"}

// Every read takes a moment, and says of which one its answer is; what shows the present alone refuses one.
func TestEveryReadTakesAMomentOrRefusesIt(t *testing.T) {
	w := newWorld(t)
	for route, op := range operations(w.server.OpenAPI()) { // order: each is judged alone
		method, path, _ := strings.Cut(route, " ")
		takes := slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "at" })
		switch {
		case method != http.MethodGet && route != "POST /actor/read" && route != "POST /actor/bid":
			if takes {
				t.Errorf("%s takes a moment and is no read", route)
			}
		case slices.Contains(presentOnly, route):
			if takes && route != "GET /runner/{address}/jobs" { // there it is the time of a signature
				t.Errorf("%s takes a moment and is of the present", route)
			}
		case !takes:
			t.Errorf("%s takes no moment", route)
		default:
			if answer := op.Responses["200"]; route != "GET /actor/{address}/schema" && answer.Headers["Devnet-Moment"] == nil {
				t.Errorf("%s does not say of which moment it is", route)
			}
		}
		if !slices.Contains(presentOnly, route) || takes || strings.Contains("/events /metrics /openapi.json", path) {
			continue
		}
		query := "?at=h1"
		if path == "/find" {
			query += "&q=heart"
		}
		w.refused(http.StatusUnprocessableEntity, "present_only", method, strings.Replace(path, "{name}", "v0", 1)+query, nil)
	}
}

// A moment that is not one, is not final, or is of a run of a script that is not held here is refused by its name.
func TestAMomentThatIsNotHereIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, at := range []string{"12", "h0", "a.star@3:h1", "a.star@3:7"} {
		w.refused(http.StatusBadRequest, "invalid_moment", http.MethodGet, "/params?at="+at, nil)
	}
	w.refused(http.StatusNotFound, "unknown_block", http.MethodGet, "/params?at=h999999", nil)
}

package api

import (
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// A server holds one description of each error for all operations. It decodes no example
// before the document is asked for. Both cost every network memory.
func TestEachErrorIsDescribedOnce(t *testing.T) {
	w := newWorld(t)
	described := map[string]map[*huma.Response]bool{}
	for route, op := range operations(w.server.OpenAPI()) {
		for status, response := range op.Responses {
			media := response.Content["application/json"]
			if media == nil {
				continue
			}
			if _, ok := media.Example.(example); !ok {
				t.Errorf("%s: the example of %s is a %T", route, status, media.Example)
			}
			if route != "GET /ready" && status[0] != '2' {
				if described[status] == nil {
					described[status] = map[*huma.Response]bool{}
				}
				described[status][response] = true
			}
		}
	}
	for status, all := range described {
		if len(all) != 1 {
			t.Errorf("the error %s is described %d times", status, len(all))
		}
	}
	if len(described) < 10 {
		t.Errorf("%d errors are described", len(described))
	}
}

package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
)

// asker asks the API in this process.
type asker struct {
	api   http.Handler
	world sync.Locker // nil: many may ask at once
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(data []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(data)
}

// Flush has nothing to do: who asks waits for the end.
func (r *recorder) Flush() {}

// askAPI returns the answer of a path as compact JSON, or nil after a refusal. GET /ready
// answers 503 for a network that is not ready: that body counts as an answer.
func (a asker) askAPI(ctx context.Context, path string) (answer json.RawMessage) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody)
	if err != nil {
		return nil
	}
	w := &recorder{header: http.Header{}}
	if !a.serveAPI(w, r) || w.status != http.StatusOK && (w.status != http.StatusServiceUnavailable || r.URL.Path != readyPath) {
		return nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, w.body.Bytes()) != nil {
		return nil
	}
	return compact.Bytes()
}

// serveAPI has the API answer; false where it met a bug, which ends no network.
func (a asker) serveAPI(w http.ResponseWriter, r *http.Request) (ok bool) {
	if a.world != nil {
		a.world.Lock()
		defer a.world.Unlock()
	}
	defer func() {
		if p := recover(); p != nil {
			ok = false
			if p != http.ErrAbortHandler {
				slog.Error("the page's question met a bug", "path", r.URL.Path, "panic", fmt.Sprint(p))
			}
		}
	}()
	a.api.ServeHTTP(w, r)
	return true
}

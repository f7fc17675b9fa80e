package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// BenchmarkAnswer is the cost of a read without sockets: the guard, huma's
// checks, the model and JSON. Its baseline is a bare handler that writes an
// answer as long as that of /height.
func BenchmarkAnswer(b *testing.B) {
	chain := newMemory()
	s := New(chain, Config{})
	defer s.Close()
	for range 3 {
		chain.mine()
	}
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"height":3}` + "\n")) })
	for _, c := range []struct {
		name, path string
		handler    http.Handler
	}{{"baseline", "/height", bare}, {"height", "/height", s.Handler()}, {"account", "/account/alice", s.Handler()},
		{"block", "/block/latest", s.Handler()}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("GET", "http://localhost"+c.path, nil)
				w := httptest.NewRecorder()
				c.handler.ServeHTTP(w, r)
				if w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}

// BenchmarkEvents is what a block with 50 printed lines costs the feed, once for
// all who follow.
func BenchmarkEvents(b *testing.B) {
	chain := newMemory()
	s := New(chain, Config{})
	defer s.Close()
	chain.mine()
	block := chain.blocks[0]
	for i := range 50 {
		block.Logs = append(block.Logs, actors.LogLine{Line: model.EventLog, Cause: [32]byte{byte(i)}})
	}
	b.ReportAllocs()
	for b.Loop() {
		eventsOf(block, TypesOf(nil))
	}
}

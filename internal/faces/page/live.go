package page

import (
	"fmt"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// joinBeat makes a request a reader of the beat, or refuses it.
func (p *Page) joinBeat(w http.ResponseWriter) (after uint64, leave func(), ok bool) {
	if after, leave, ok = p.beats.joinReaders(); !ok {
		writeRefusal(w, http.StatusServiceUnavailable, model.ErrorBody{Code: "too_many_readers",
			Message: fmt.Sprintf("%d pages follow the network already", MaxReaders), Hint: "Close one of them."})
	}
	return after, leave, ok
}

// serveNow sends the newest beat. A browser asks for it together with the page, and draws it
// before it has a worker that follows.
func (p *Page) serveNow(w http.ResponseWriter, r *http.Request) {
	after, leave, ok := p.joinBeat(w)
	if !ok {
		return
	}
	defer leave()
	b := p.beats.nextBeat(r.Context(), after)
	if b == nil { // the server ends, or the client is gone
		writeRefusal(w, http.StatusServiceUnavailable, model.ErrorBody{Code: "closing", Message: "this network is stopping",
			Hint: "Ask again later."})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(b.stateJSON()) // the client may be gone
}

// serveLive sends the beat until the client leaves. Nothing is queued for it: while it
// takes one beat others pass, and it is sent the newest.
func (p *Page) serveLive(w http.ResponseWriter, r *http.Request) {
	after, leave, ok := p.joinBeat(w)
	if !ok {
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx holds back 4,096 bytes otherwise
	out := http.NewResponseController(w)
	send := func(data []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout)) // a recorder in tests has none
		_, err := w.Write(data)
		return err == nil && out.Flush() == nil
	}
	if !send([]byte("retry: 1000\n\n")) {
		return
	}
	for {
		b := p.beats.nextBeat(r.Context(), after)
		if b == nil || !send(b.data) {
			return
		}
		after = b.number
	}
}

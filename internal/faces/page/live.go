package page

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// serveLive sends the beat until the client leaves. Nothing is queued for it: while it
// takes one beat others pass, and it is sent the newest.
func (p *Page) serveLive(w http.ResponseWriter, r *http.Request) {
	after, leave, ok := p.beats.join()
	if !ok {
		refuse(w, http.StatusServiceUnavailable, model.ErrorBody{Code: "too_many_readers",
			Message: fmt.Sprintf("%d pages follow the network already", MaxReaders), Hint: "Close one of them."})
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	send := func(data []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout)) // a recorder in tests has none
		_, err := w.Write(data)
		return err == nil && out.Flush() == nil
	}
	if _, err := io.WriteString(w, "retry: 1000\n\n"); err != nil {
		return
	}
	for {
		b := p.beats.next(r.Context(), after)
		if b == nil || !send(b.data) {
			return
		}
		after = b.number
	}
}

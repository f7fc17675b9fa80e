package front

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

const (
	// maxEventBytes bounds one event: a block's largest receipt in hexadecimal.
	maxEventBytes = 64 << 20
	// streamLooks is how often it is looked whether the validator of a stream can still
	// answer, and how soon another is tried where none does.
	streamLooks = 250 * time.Millisecond
	// streamLives is how often a client is shown that the stream lives, while no
	// validator answers.
	streamLives = 10 * time.Second
)

// serveEvents follows the events of the chosen validator, and goes on with another's
// behind the last one told where that ends.
func (f *Front) serveEvents(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("node") != "" {
		f.proxy.ServeHTTP(w, r)
		return
	}
	s := &stream{front: f, query: r.URL.Query(), last: r.Header.Get("Last-Event-ID"), out: w, control: http.NewResponseController(w)}
	for s.relay(r.Context()) && s.wait(r.Context()) {
	}
}

// stream is one client's.
type stream struct {
	front   *Front
	query   url.Values
	last    string // id of the last event told, or of the one that the client had
	began   bool   // it has an answer
	out     http.ResponseWriter
	control *http.ResponseController
	lived   time.Time // when the client was last shown something
}

// relay hands on what one validator tells, until that ends; another is to go on where it
// returns true.
func (s *stream) relay(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	name := s.front.proxy.choose(ctx)
	if name == "" {
		return s.began || s.refuse()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+name+"/events?"+s.query.Encode(), nil)
	if err != nil {
		return s.began || s.refuse()
	}
	if s.last != "" {
		request.Header.Set("Last-Event-ID", s.last)
	}
	answer, err := s.front.proxy.send(request, name)
	if err != nil {
		s.front.proxy.leave(name)
		return ctx.Err() == nil && (s.began || s.refuse())
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		if !s.began {
			s.out.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
			s.out.WriteHeader(answer.StatusCode)
			_, _ = io.Copy(s.out, answer.Body)
			return false
		}
		return answer.StatusCode >= http.StatusInternalServerError // it may be coming up
	}
	if !s.began {
		s.began = true
		s.out.Header().Set("Content-Type", "text/event-stream")
		s.out.Header().Set("Cache-Control", "no-store")
		s.out.Header().Set(api.NodeHeader, name) // who goes on for it says so in a comment
	}
	go s.leaveWith(ctx, cancel, name)
	again := s.copy(answer.Body)
	s.front.proxy.leave(name)
	return again
}

// refuse answers that there is nobody to follow.
func (s *stream) refuse() bool {
	unanswered(s.out, &http.Request{}, noValidator())
	return false
}

// leaveWith ends a stream whose validator can answer no more: one that is frozen does not
// close it.
func (s *stream) leaveWith(ctx context.Context, cancel context.CancelFunc, name string) {
	tick := time.NewTicker(streamLooks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !slices.Contains(s.front.validators(), name) {
				cancel()
				return
			}
		}
	}
}

// copy hands whole events on; it returns false where the client has gone, or was told
// why the stream ends.
func (s *stream) copy(from io.Reader) (again bool) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxEventBytes)
	var event bytes.Buffer
	id, kind := "", ""
	for lines.Scan() {
		line := lines.Text()
		event.WriteString(line + "\n")
		if event.Len() > maxEventBytes+(1<<10) {
			return false
		}
		switch field, value, _ := strings.Cut(line, ": "); {
		case field == "id":
			id = value
		case field == "event":
			kind = value
		case line == "":
			if kind == model.EventDropped && bytes.Contains(event.Bytes(), []byte(`"stopped"`)) {
				return true // that validator stops, not the network
			}
			if !s.write(event.Bytes()) || kind == model.EventDropped {
				return false
			}
			if id != "" {
				s.last = id
			}
			event.Reset()
			id, kind = "", ""
		}
	}
	return true
}

func (s *stream) write(text []byte) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(streamLives))
	if _, err := s.out.Write(text); err != nil {
		return false
	}
	s.lived = time.Now()
	return s.control.Flush() == nil
}

// wait waits before another validator is asked; it returns false when the client has
// gone.
func (s *stream) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(streamLooks):
	}
	return time.Since(s.lived) < streamLives || s.write([]byte(": devnet events\n\n"))
}

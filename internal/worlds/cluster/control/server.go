package control

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// writeTimeout drops a driver that takes nothing of a stream for so long.
const writeTimeout = 30 * time.Second

// server is what both kinds of node answer.
type server struct {
	secret string
	strict bool // it takes no orders: the network has no cheats
	life   string
	mux    *http.ServeMux
	faults register
	rules  func(map[netip.AddrPort]lossy.Rule)
	mute   func()
	ended  context.Context
	end    context.CancelFunc

	mu   sync.Mutex
	open bool
}

// NewSecret draws a secret of a driver.
func NewSecret() string { return rand.Text() }

func newSeat(secret string, strict bool) *server {
	s := &server{secret: secret, strict: strict, life: rand.Text(), mux: http.NewServeMux()}
	s.ended, s.end = context.WithCancel(context.Background())
	handleRequests(s, "counts", func(context.Context, countsRequest) (countsAnswer, error) {
		return countsAnswer{s.faults.listCounts()}, nil
	})
	handleOrders(s, "rules", func(_ context.Context, r rulesRequest) (empty, error) { return empty{}, s.setRules(r.Rules) })
	handleOrders(s, "mute", func(context.Context, empty) (empty, error) {
		if s.mute != nil {
			s.mute()
		}
		return empty{}, nil
	})
	return s
}

// answerWithCounts answers an order with the counts of the node's faults: its process may end
// because of this order before it is asked.
func (s *server) answerWithCounts(do func(context.Context, orderRequest) error) func(context.Context, orderRequest) (countsAnswer, error) {
	return func(ctx context.Context, r orderRequest) (countsAnswer, error) {
		if err := do(ctx, r); err != nil {
			return countsAnswer{}, err
		}
		return countsAnswer{s.faults.listCounts()}, nil
	}
}

// beginServing lets the server answer: its node exists.
func (s *server) beginServing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = true
}

func (s *server) hasBegun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Close ends the streams.
func (s *server) Close() { s.end() }

// ServeHTTP implements http.Handler. A request without the secret gets no
// information.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case subtle.ConstantTimeCompare([]byte(given), []byte(s.secret)) != 1:
		writeRefusal(w, refusal.New("not_the_driver", "order refused: it does not carry the supervisor's secret").
			Hint("Send the secret in the node's setting driver with each request."))
	case !s.hasBegun():
		writeRefusal(w, refusal.New("starting", "the node is not up yet"))
	default:
		s.mux.ServeHTTP(w, r)
	}
}

func writeRefusal(w http.ResponseWriter, why *refusal.Error) {
	status := answers.StatusOf(why)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(refusedAnswer{status, answers.ShowRefusal(why)})
}

// handleRequests has a server answer requests of a kind. An error that is not made for the
// driver's user is told by its words all the same: who has the secret may know.
func handleRequests[In, Out any](s *server, word string, do func(context.Context, In) (Out, error)) {
	s.mux.HandleFunc("POST "+Path+word, func(w http.ResponseWriter, r *http.Request) {
		var in In
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err == nil {
			err = decodeStrict(body, &in)
		}
		var out Out
		switch _, refused := errors.AsType[*refusal.Error](err); {
		case err == nil:
			out, err = do(r.Context(), in)
		case !refused:
			err = refusal.New("invalid_request", "%s: %v", word, err)
		}
		if err != nil {
			writeRefusal(w, readableRefusal(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	})
}

// handleOrders is answer for orders, which a strict network refuses.
func handleOrders[In, Out any](s *server, word string, do func(context.Context, In) (Out, error)) {
	handleRequests(s, word, func(ctx context.Context, in In) (out Out, err error) {
		if s.strict {
			return out, network.ErrStrict(word)
		}
		return do(ctx, in)
	})
}

// decodeStrict reads one value of JSON, whose fields are all known.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more than one value")
	}
	return nil
}

func readableRefusal(err error) *refusal.Error {
	var refused *refusal.Error
	if errors.As(err, &refused) {
		return refused
	}
	return refusal.New("refused", "%v", err)
}

// setRules replaces what happens to the packets that the node sends.
func (s *server) setRules(given []Rule) error {
	if s.rules == nil {
		return errors.New("the links of this node cannot be ruled")
	}
	if len(given) > MaxRules {
		return fmt.Errorf("%d rules, at most %d", len(given), MaxRules)
	}
	rules := map[netip.AddrPort]lossy.Rule{}
	for _, one := range given {
		to, err := netip.ParseAddrPort(one.To)
		if err != nil {
			return fmt.Errorf("a rule for %.60q: %w", one.To, err)
		}
		if err := one.Link.Check(); err != nil {
			return fmt.Errorf("a rule for %s: %w", to, err)
		}
		link, err := s.faults.entryOf(one.LinkFault)
		if err != nil {
			return err
		}
		cut, err := s.faults.entryOf(one.CutFault)
		if err != nil {
			return err
		}
		rule := lossy.Rule{}
		if link != nil {
			rule.Link, rule.LinkCounts = one.Link, &link.counts
		}
		if cut != nil {
			rule.Cut, rule.CutCounts = true, &cut.counts
		}
		rules[to] = rule
	}
	s.rules(rules)
	return nil
}

// streamLines writes lines until the driver goes, or the server is closed. next returns the
// available lines, and a channel that signals more.
func (s *server) streamLines(w http.ResponseWriter, r *http.Request, next func() (lines []any, more <-chan struct{}, err error)) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	encoder := json.NewEncoder(w)
	for {
		lines, more, err := next()
		if err != nil {
			return // the driver asks again, and is told by an answer if that lasts
		}
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
		for _, line := range lines {
			if encoder.Encode(line) != nil {
				return
			}
		}
		if control.Flush() != nil {
			return
		}
		_ = control.SetWriteDeadline(time.Time{})
		if len(lines) > 0 {
			continue
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		case <-s.ended.Done():
			return
		}
	}
}

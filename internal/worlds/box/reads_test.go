package box

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// readHost is a host of one program. A read of "slow" is late, and one of "held" answers once it is let go.
type readHost struct {
	slow    atomic.Pointer[gate] // waits before it is late; nil: it is late at once
	held    gate
	running atomic.Int64 // reads that began
}

// gate tells that somebody came, and lets him go.
type gate struct{ come, leave chan struct{} }

func newGate() gate { return gate{make(chan struct{}, 64), make(chan struct{})} }

func (h *readHost) Open(program.Purpose) (program.Session, error) { return readSession{h}, nil }

type readSession struct{ *readHost }

func (readSession) Bound(program.Bounds) {}
func (readSession) Close()               {}
func (readSession) Inspect(program.Code) (program.Description, error) {
	return program.Description{}, nil
}

func (s readSession) Handle(_ program.Context, _ program.Code, msg program.Message) (program.Outcome, error) {
	if msg.Kind != program.Read {
		return program.Outcome{Status: types.StatusOK}, nil
	}
	s.running.Add(1)
	switch msg.Handler {
	case "slow":
		if g := s.slow.Load(); g != nil {
			g.come <- struct{}{}
			<-g.leave
		}
		return program.Outcome{}, &program.HostError{Failure: program.Late, During: "a read", Err: errors.New("it is late")}
	case "held":
		s.held.come <- struct{}{}
		<-s.held.leave
	}
	return program.Outcome{Status: types.StatusOK}, nil
}

// readFrom asks for a read over HTTP, as a client at an address.
func readFrom(server *api.Server, address string, actor types.Address, handler, from string) *httptest.ResponseRecorder {
	body := fmt.Sprintf(`{"actor": "%s", "handler": "%s", "from": "%s"}`, actor, handler, from)
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/actor/read", strings.NewReader(body))
	r.RemoteAddr = address
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, r)
	return answer
}

// Decision C18: what was late in a read runs alone of its kind. A late read counts sixteen times its
// limit, so that a stranger has three of them.
func TestC18WhatIsLateInAReadRunsAlone(t *testing.T) {
	host := &readHost{held: newGate()}
	n := up(t, Config{Plan: setup.Plan{Validators: 1, BlockTime: 50 * time.Millisecond}, Ephemeral: true, Programs: host})
	alice := newPayer(n, "alice")
	actor := land(t, n, alice.deploy([]byte("reads"), "r", 0)).To
	server := api.New(n, api.Config{})
	defer func() { _ = server.Close() }()
	expect := func(answer *httptest.ResponseRecorder, status int, code string) {
		t.Helper()
		if answer.Code != status || !strings.Contains(answer.Body.String(), code) {
			t.Errorf("%d %s, want %d %s", answer.Code, answer.Body, status, code)
		}
		if again := answer.Header().Get("Retry-After"); (again != "") != (code == answers.CodeLateBefore || code == "too_many_reads") {
			t.Errorf("Retry-After is %q with %s", again, code)
		}
	}
	const stranger, other = "10.0.0.1:1", "10.0.0.2:1"
	expect(readFrom(server, stranger, actor, "slow", "alice"), 503, answers.CodeHostFailed)
	slow := newGate()
	host.slow.Store(&slow)
	over := make(chan *httptest.ResponseRecorder)
	go func() { over <- readFrom(server, stranger, actor, "slow", "alice") }()
	<-slow.come
	expect(readFrom(server, other, actor, "slow", "bob"), 503, answers.CodeLateBefore)
	expect(readFrom(server, other, actor, "quick", "bob"), 200, "ok")
	close(slow.leave)
	expect(<-over, 503, answers.CodeHostFailed)
	expect(readFrom(server, stranger, actor, "slow", "alice"), 503, answers.CodeHostFailed)
	expect(readFrom(server, stranger, actor, "quick", "alice"), 429, "too_many_reads")
	expect(readFrom(server, other, actor, "quick", "alice"), 200, "ok")
}

// Equal reads of one head run once. Without that each of these would run.
func TestC18EqualReadsOfAHeadRunOnce(t *testing.T) {
	host := &readHost{held: newGate()}
	n := up(t, Config{Plan: setup.Plan{Validators: 1, BlockTime: 50 * time.Millisecond}, Ephemeral: true, Programs: host})
	actor := land(t, n, newPayer(n, "alice").deploy([]byte("reads"), "r", 0)).To
	reader, err := n.Reader("v0")
	if err != nil {
		t.Fatal(err)
	}
	const readers = 100
	var all sync.WaitGroup
	begun := make(chan struct{}, readers)
	read := func(payload string) {
		begun <- struct{}{}
		r, err := reader.Read(t.Context(), ledger.Call{Actor: actor, Handler: "held", Payload: []byte(payload)})
		if err != nil || r.Outcome.Status != types.StatusOK {
			t.Errorf("%+v %v", r, err)
		}
	}
	all.Go(func() { read("equal") })
	<-host.held.come
	for range readers - 1 {
		all.Go(func() { read("equal") })
	}
	for range readers {
		<-begun
	}
	all.Go(func() { read("another") })
	<-host.held.come
	close(host.held.leave)
	all.Wait()
	if ran := host.running.Load(); ran > readers/2 {
		t.Errorf("%d of %d equal reads ran", ran-1, readers)
	}
}

// Decision C18, live: twenty clients of a page repeat a loop. They are refused beyond their budget, an honest
// read is answered meanwhile, and blocks are made.
func TestC18ReadersOfALoopHoldNobodyUp(t *testing.T) {
	pool := pyhost.New(pyhost.Config{})
	t.Cleanup(pool.Close)
	const blockTime = 100 * time.Millisecond
	n := up(t, Config{Plan: setup.Plan{Validators: 4, BlockTime: blockTime}, Ephemeral: true, Programs: pool})
	alice := newPayer(n, "alice")
	actor := land(t, n, alice.limited(alice.deploy([]byte(besieged), "besieged", 0), 1_000_000, 100_000)).To
	const page = "http://page.example"
	server := api.New(n, api.Config{Origins: []string{page}})
	web := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		web.Close()
		_ = server.Close()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := func(from types.Address, handler, payload, origin string) (int, string) {
		body := fmt.Sprintf(`{"actor": "%s", "handler": "%s", "payload": %q, "from": "%s"}`, actor, handler, payload, from)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+"/actor/read", strings.NewReader(body))
		if err != nil {
			return 0, err.Error()
		}
		r.Header.Set("Content-Type", "application/json")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	var answered, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 20 { // each another read than those of all others
		all.Go(func() {
			for ctx.Err() == nil {
				switch status, _ := read(types.Address{19: byte(i)}, "loop", "{}", page); status {
				case http.StatusOK:
					answered.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				}
			}
		})
	}
	first, began := n.Best().finalHeight(), time.Now()
	var waits []time.Duration
	for n.Best().finalHeight() < first+50 {
		at := time.Now()
		if status, body := read(types.Address{}, "quick", `{"payload":"x"}`, ""); status != http.StatusOK {
			t.Fatalf("an honest read: %d %s", status, body)
		}
		waits = append(waits, time.Since(at))
	}
	took := time.Since(began)
	cancel()
	all.Wait()
	slices.Sort(waits)
	t.Logf("50 blocks in %v, %d honest reads, the middle %v, the longest %v; of the loop %d are answered and %d refused", took, len(waits),
		waits[len(waits)/2], waits[len(waits)-1], answered.Load(), refused.Load())
	if refused.Load() == 0 || answered.Load() == 0 || waits[len(waits)/2] > time.Second || took > 4*50*blockTime {
		t.Error("the loop is not refused, or an honest read or the blocks wait for it")
	}
}

package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/runners"
)

// Runner is a runner in its own process, for its server.
type Runner struct {
	Name     string
	Shell    *runners.Runner
	Socket   netip.AddrPort
	SetRules func(map[netip.AddrPort]lossy.Rule)
	Mute     func() // it sends nothing any more
	// Do executes a fault of this node: network.Node defines them.
	Do     func(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error
	Clock  *clock.Clock
	Manual *custom.Manual     // nil: nothing is answered by hand
	Show   func(types.Height) // the driver has seen the blocks up to it; nil: no work waits for that
	Reload func() (added, removed []string, err error)
}

// RunnerServer is the control server of a runner. It answers from Begin on.
type RunnerServer struct {
	*server
	runner atomic.Pointer[Runner]
}

// NewRunnerServer makes the server of a runner whose supervisor sends a secret. With strict
// the driver reads, and gives no orders.
func NewRunnerServer(secret string, strict bool) *RunnerServer {
	s := &RunnerServer{server: newSeat(secret, strict)}
	handleRequests(s.server, "hello", s.serveHello)
	handleRequests(s.server, "status", s.serveStatus)
	handleOrders(s.server, "order", s.server.answerWithCounts(s.serveOrder))
	handleOrders(s.server, "clock", s.serveClock)
	handleOrders(s.server, "answer", s.serveAnswer)
	handleRequests(s.server, "leave", s.serveLeave)
	handleRequests(s.server, "show", s.serveShow)
	handleRequests(s.server, "reload", s.serveReload)
	return s
}

// Begin lets it answer for a runner that runs.
func (s *RunnerServer) Begin(r Runner) {
	s.server.rules, s.server.mute = r.SetRules, r.Mute
	s.Again(r)
	s.beginServing()
}

// Again lets it answer for the next process of that runner.
func (s *RunnerServer) Again(r Runner) { s.runner.Store(&r) }

func (s *RunnerServer) currentRunner() *Runner { return s.runner.Load() }

func (s *RunnerServer) serveHello(context.Context, empty) (Hello, error) {
	return Hello{Life: s.life, Name: s.currentRunner().Name, Address: s.currentRunner().Shell.Status().Address,
		Socket: reachableAddress(s.currentRunner().Socket).String()}, nil
}

func (s *RunnerServer) serveStatus(context.Context, empty) (out RunnerStatus, err error) {
	out.Status = s.currentRunner().Shell.Status()
	if s.currentRunner().Manual != nil {
		out.Waiting = s.currentRunner().Manual.Waiting()
	}
	return out, nil
}

func (s *RunnerServer) serveClock(_ context.Context, r clockRequest) (empty, error) {
	if r.Clock.Abs() > MaxOffset {
		return empty{}, fmt.Errorf("a clock is put ahead by at most %v", MaxOffset)
	}
	s.currentRunner().Clock.SetOffset(r.Clock)
	return empty{}, nil
}

func (s *RunnerServer) serveAnswer(_ context.Context, r answerRequest) (empty, error) {
	if s.currentRunner().Manual == nil {
		return empty{}, errors.New("this runner has no executor manual")
	}
	if err := s.currentRunner().Manual.Answer(r.Job, r.Given); err != nil {
		return empty{}, refusal.New("bad_result", "%v", err).At(r.Given.Field())
	}
	return empty{}, nil
}

func (s *RunnerServer) serveShow(_ context.Context, r showRequest) (empty, error) {
	if show := s.currentRunner().Show; show != nil {
		show(r.Height)
	}
	return empty{}, nil
}

func (s *RunnerServer) serveReload(context.Context, empty) (empty, error) {
	if _, _, err := s.currentRunner().Reload(); err != nil {
		return empty{}, refusal.New("bad_settings", "the settings of %s stay as they were: %v", s.currentRunner().Name, err).
			Hint("Correct the file and reload it again.").At("runner")
	}
	return empty{}, nil
}

// serveLeave answers when the Goodbyes are said, or at once with finish: they are said when
// what the runner accepted is over.
func (s *RunnerServer) serveLeave(ctx context.Context, r leaveRequest) (empty, error) {
	if r.Finish {
		s.currentRunner().Shell.Leave(true, func() {})
		return empty{}, nil
	}
	return awaitAnswer(ctx, func(done func(empty)) { s.currentRunner().Shell.Leave(false, func() { done(empty{}) }) })
}

// serveOrder does a fault of the runner itself.
func (s *RunnerServer) serveOrder(ctx context.Context, r orderRequest) error {
	return s.faults.executeOrder(ctx, r, fault.Runners, s.currentRunner().Do)
}

// Server serves the control server of a runner, which has no other API.
func (s *RunnerServer) Server() *http.Server {
	return &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, MaxHeaderBytes: 16 << 10}
}

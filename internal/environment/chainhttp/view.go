// Package chainhttp is env.ChainView over a devnet's HTTP API, for a runner in a separate
// process (decision J13). It uses GET /height, /subsets, /params, /runner/{address},
// /job/{id} and /job/{id}/results, and the stream of GET /events, which says when to look.
//
// The server is a stranger: every answer is bounded in bytes and time, judged, and
// taken whole or not at all. If an answer is missing, no head is reported, and the
// view asks again. An answer may belong to a later block than the height that was
// asked first, never to an earlier one: the facts about an assignment only end.
package chainhttp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Limits of requests and answers.
const (
	askTime = 5 * time.Second
	// askTimeOfMany is for one of many: the next may answer.
	askTimeOfMany = time.Second
	maxAnswer     = 16 << 20 // of a job and its specification
	maxLine       = 1 << 20  // of the stream of events
	// lookEvery is the interval at which the view looks without an event.
	lookEvery = time.Second
	// retryAfter is the wait after a server that did not answer.
	retryAfter = time.Second
)

// Config is what a view is made of.
type Config struct {
	API string // http:// or https://, host and port
	// Also names further servers of the same devnet: the next is asked if one does
	// not answer, or reports no block for a second.
	Also   []string
	Runner types.PublicKey
	// ChainID and Sign are for signed polls; with a nil Sign polls are not signed.
	ChainID uint64
	Sign    func(types.Hash) types.Signature
	Log     *slog.Logger // for servers that do not answer; nil: none
}

// View is a runner's view of the chain.
type View struct {
	bases   []string // of which one is asked
	key     types.PublicKey
	runner  types.Address
	log     *slog.Logger
	client  *http.Client
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	wakes   chan struct{} // has room for one
	receive func(*chainview.Head)

	mu       sync.Mutex
	followed []execution.ID
	asks     bool               // others are followed since
	asked    int                // the place in bases of the current server
	leave    context.CancelFunc // ends the current server's stream of events; nil before there is one
}

var _ env.ChainView = (*View)(nil)

// New makes a view. It sends no request before Start.
func New(c Config) (*View, error) {
	var bases []string
	for _, api := range append([]string{c.API}, c.Also...) {
		base, err := url.Parse(api)
		if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
			return nil, fmt.Errorf("invalid URL %.100q of a devnet: want one like http://127.0.0.1:4000", api)
		}
		bases = append(bases, strings.TrimSuffix(base.String(), "/"))
	}
	runner, err := crypto.AddressOf(c.Runner)
	if err != nil {
		return nil, err
	}
	v := &View{bases: bases, key: c.Runner, runner: runner, log: c.Log, wakes: make(chan struct{}, 1),
		client: &http.Client{Transport: directTransport(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v, nil
}

// directTransport asks nodes without the proxy that the environment names: engines hand theirs to every container.
func directTransport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	return transport
}

// Start implements env.ChainView.
func (v *View) Start(receive func(*chainview.Head)) error {
	v.receive = receive
	v.wg.Go(v.tellHeads)
	v.wg.Go(v.listenForBlocks)
	return nil
}

// Follow implements env.ChainView.
func (v *View) Follow(ids []execution.ID) {
	v.mu.Lock()
	v.followed, v.asks = ids, true
	v.mu.Unlock()
	v.wakeView()
}

// Close implements env.ChainView.
func (v *View) Close() error {
	v.cancel()
	v.wg.Wait()
	v.client.CloseIdleConnections()
	return nil
}

func (v *View) wakeView() {
	select {
	case v.wakes <- struct{}{}:
	default:
	}
}

// tellHeads tells heads until the end.
func (v *View) tellHeads() {
	told, failing := types.Height(0), false
	for first := true; v.ctx.Err() == nil; first = false {
		v.mu.Lock()
		followed, asks := v.followed, v.asks
		v.asks = false
		v.mu.Unlock()
		head, err := v.fetchHead(told, first || asks, followed)
		switch {
		case v.ctx.Err() != nil:
			return
		case err != nil:
			if !failing {
				v.log.Warn("the devnet does not answer what its chain is", "api", v.currentBase(), "error", err)
			}
			failing = true
			v.mu.Lock()
			v.asks = v.asks || first || asks
			v.mu.Unlock()
			if !v.turnToNext() {
				v.restFor(retryAfter)
			}
			continue
		case head != nil:
			told = head.Height
			v.receive(head)
		}
		if failing {
			failing = false
			v.log.Info("the devnet answers again", "api", v.currentBase())
		}
		select {
		case <-v.wakes:
		case <-v.ctx.Done():
		case <-time.After(lookEvery):
			v.turnToNext()
		}
	}
}

// currentBase returns the current server.
func (v *View) currentBase() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bases[v.asked]
}

// turnToNext has the next be asked, and reports whether that is one that was not asked since
// the first was.
func (v *View) turnToNext() bool {
	if len(v.bases) == 1 {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = (v.asked + 1) % len(v.bases)
	if v.leave != nil {
		v.leave()
	}
	return v.asked != 0
}

// streamContext returns the context of the current server's stream of events.
func (v *View) streamContext() (context.Context, context.CancelFunc) {
	ctx, leave := context.WithCancel(v.ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.leave = leave
	return ctx, leave
}

// restFor lets time pass.
func (v *View) restFor(d time.Duration) {
	select {
	case <-v.ctx.Done():
	case <-time.After(d):
	}
}

// fetchHead fetches the head to report, nil if there is none: the height is at most the last
// one, and no new assignments were named.
func (v *View) fetchHead(told types.Height, asked bool, followed []execution.ID) (*chainview.Head, error) {
	var at struct{ Height types.Height }
	if err := v.getJSON("/height", &at); err != nil {
		return nil, err
	}
	if at.Height < told || at.Height == told && !asked {
		return nil, nil
	}
	h := &chainview.Head{Height: at.Height, Assignments: map[execution.ID]chainview.Standing{}}
	var err error
	if h.Params, err = v.readParams(); err != nil {
		return nil, err
	}
	active, err := v.readRegistration(h)
	if err != nil {
		return nil, err
	}
	if err := v.readServingValidators(h); err != nil {
		return nil, err
	}
	for _, id := range followed {
		if id.Drawn > h.Height {
			continue
		}
		standing, err := v.readStanding(id)
		if err != nil {
			return nil, err
		}
		h.Assignments[id] = standing
	}
	v.findAssignments(h, active)
	return h, nil
}

// readRegistration reads what the registry has of the runner, and how many jobs it has.
func (v *View) readRegistration(h *chainview.Head) (active uint64, err error) {
	var r struct {
		Health        string
		Stake         types.Wei
		LastHeartbeat types.Height `json:"last_heartbeat"`
		ActiveJobs    uint64       `json:"active_jobs"`
	}
	err = v.getJSON("/runner/"+v.runner.String(), &r)
	if isNotFound(err) {
		return 0, nil
	}
	if err == nil && r.Health != "Deregistered" {
		h.Registered, h.Staked, h.Heartbeat = true, r.Stake.Cmp(h.Params.MinStake) >= 0, r.LastHeartbeat
	}
	return r.ActiveJobs, err
}

// readStanding reads the status of an assignment.
func (v *View) readStanding(id execution.ID) (s chainview.Standing, err error) {
	var j job
	if err := v.getJSON("/job/"+id.Job.String(), &j); isNotFound(err) {
		return s, nil
	} else if err != nil {
		return s, err
	}
	if drawn, member := drawnOf(v.runner, j.Committee, j.CommitteeDrawnAt); j.CompletedAt != nil || !member || drawn != id.Drawn {
		return s, nil
	}
	var all []result
	if err := v.getJSON("/job/"+id.Job.String()+"/results?limit=1000&bare=true", &all); err != nil {
		return s, err
	}
	return j.standingOf(v.runner, all), nil
}

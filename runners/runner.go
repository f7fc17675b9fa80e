package runners

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/runners/poller"
	"github.com/cowboyinc/devnet/runners/session"
	"github.com/cowboyinc/devnet/runners/worker"
)

// Config configures a runner, besides its environment.
type Config struct {
	Name    string // r0, r1, …: unique in the process
	ChainID uint64
	MaxJobs uint32 // at once, as registered; at least 1
	// PollEvery is the time between two polls; 0: a block time (decision J11).
	PollEvery time.Duration
	Log       *slog.Logger
	// Tell is told what the runner did, on its loop; it must only hand it on. It may
	// be nil.
	Tell func(name string, report Report)
	// Strategy decides a panic's effect on the runner; OnFailure is called once if the
	// runner stops because of a panic. It may be nil.
	Strategy  roles.Strategy
	OnFailure func(error)
}

// Report is what a runner did: one of the reports of package session, worker or poller,
// or Deregistered.
type Report any

// Runner is one running runner.
type Runner struct {
	config  Config
	node    env.Runner
	group   *roles.Group
	inbox   roles.Inbox[event]
	log     *slog.Logger
	stopped atomic.Bool
	failing sync.Once // guards the report of a failure
	status  atomic.Pointer[Status]

	mu   sync.Mutex
	gone []func() // told when it has left
}

// Status is the status of a runner.
type Status struct {
	Name      string
	Address   types.Address
	PublicKey types.PublicKey
	Height    types.Height    // of the newest final block that its view reported; 0 before
	Connected []types.Address // of validators, sorted
	Running   uint32          // jobs that the executor works on
	MaxJobs   uint32
	Accepting bool           // it takes new jobs
	Open      []execution.ID // what it accepted and is not over yet, as they came
	Done      uint64         // results that it has sent
	Polled    types.Height   // its height when a validator answered a poll last; 0: none has
	// DeadLetters is how many events its role was told when it had stopped.
	DeadLetters uint64
}

// Start brings a runner up on its environment. The environment's connections, view
// and executor belong only to this run: Stop closes them, and so does a start that
// fails.
func Start(rt *roles.Runtime, cfg Config, node env.Runner) (*Runner, error) {
	cfg.MaxJobs = max(cfg.MaxJobs, 1)
	r := &Runner{config: cfg, node: node, log: cfg.Log.With("node", cfg.Name)}
	r.group = roles.NewGroup(rt, r.supervisionOf())
	r.status.Store(&Status{Name: cfg.Name, Address: node.Signer.Address(), PublicKey: node.Signer.PublicKey(), MaxJobs: cfg.MaxJobs,
		Accepting: true})
	if err := r.group.Start(cfg.Name, node.Loops.Loop, []roles.Part{roles.As("runner", &r.inbox, r.newRole)}); err != nil {
		return nil, r.failStart(err)
	}
	if err := node.Connections.Start(func(e connection.Event) { r.inbox.Post(connectionEvent{e}) }); err != nil {
		return nil, r.failStart(err)
	}
	if node.Polls != nil {
		if err := node.Polls.Start(func(a polling.Answer) { r.inbox.Post(polled{a}) }); err != nil {
			return nil, r.failStart(err)
		}
	}
	if err := node.Chain.Start(func(h *chainview.Head) { r.inbox.Post(headTold{h}) }); err != nil {
		return nil, r.failStart(err)
	}
	return r, nil
}

// supervisionOf is how its role is treated when it panics: it holds the connections, and
// takes its node along (decision C21).
func (r *Runner) supervisionOf() roles.Supervision {
	return roles.Supervision{Strategy: r.config.Strategy, Now: r.node.Clock.Now,
		After: func(d time.Duration, do func()) { r.node.Clock.NewAlarm(do).Set(r.node.Clock.Now().Add(d)) },
		Along: func(f *roles.Failure) {
			r.failing.Do(func() {
				failure := fmt.Errorf("%s stops: %w", r.config.Name, f)
				r.log.Error("the runner stops", "error", f)
				if r.config.OnFailure != nil {
					r.config.OnFailure(failure)
				}
			})
		}}
}

// Upset has the role panic, as ordered, or with a duration handle no event for so long
// (roles.Group says more).
func (r *Runner) Upset(role string, hang time.Duration, order *roles.Ordered) error {
	return r.group.Upset(role, hang, order)
}

// failStart stops a runner that does not come up, for the reason given.
func (r *Runner) failStart(why error) error {
	r.Stop()
	return fmt.Errorf("%s: %w", r.config.Name, why)
}

// Drain stops the runner from taking new jobs, for a reason that validators are
// sent, or lets it take them again.
func (r *Runner) Drain(on bool, reason string) { r.inbox.Post(drain{on, reason}) }

// Change makes the runner send its validators a CapabilityDelta: it offers the names added,
// and no longer the names removed. A name with fault.PoolPrefix is an entitlement. Each new
// connection gets the delta too. Nothing changes on chain.
//
// Spec: CIP-11 §6.5.
func (r *Runner) Change(added, removed []string) {
	var c session.Changed
	c.AddedCapabilities, c.AddedEntitlements = splitOffers(added)
	c.RemovedCapabilities, c.RemovedEntitlements = splitOffers(removed)
	r.inbox.Post(offers{c})
}

// splitOffers are the capabilities and the entitlements among offers.
func splitOffers(offers []string) (capabilities, entitlements []string) {
	for _, name := range offers {
		if pool, is := strings.CutPrefix(name, fault.PoolPrefix); is {
			entitlements = append(entitlements, pool)
		} else {
			capabilities = append(capabilities, name)
		}
	}
	return capabilities, entitlements
}

// Leave says Goodbye to all validators, and tells gone when the last connection is
// over, on the runner's loop, or when it is stopped before. With finish it takes no
// new jobs from now on, and says Goodbye when what it accepted is over on chain.
func (r *Runner) Leave(finish bool, gone func()) {
	r.mu.Lock()
	if r.stopped.Load() {
		r.mu.Unlock()
		gone()
		return
	}
	r.gone = append(r.gone, gone)
	r.mu.Unlock()
	r.inbox.Post(leave{finish})
}

// notifyEnd tells those who wait for the end.
func (r *Runner) notifyEnd() {
	r.mu.Lock()
	gone := r.gone
	r.gone = nil
	r.mu.Unlock()
	for _, tell := range gone {
		tell()
	}
}

// Stop ends the runner at once, without Goodbye: its view and connections are closed,
// the role stops after its present step, and all work ends. A second Stop does
// nothing.
func (r *Runner) Stop() {
	if r.stopped.Swap(true) {
		return
	}
	r.closePart("its view of the chain", r.node.Chain.Close)
	r.closePart("its connections", r.node.Connections.Close)
	if r.node.Polls != nil {
		r.closePart("its polls", r.node.Polls.Close)
	}
	r.group.Stop()
	r.node.Executor.Close()
	r.changeStatus(func(s *Status) { s.Connected, s.Open, s.Running, s.Accepting = nil, nil, 0, false })
	r.notifyEnd()
}

func (r *Runner) closePart(what string, close func() error) {
	if err := close(); err != nil {
		r.log.Warn(what+" did not close cleanly", "error", err)
	}
}

// Status returns the runner's status, or its last one if it was stopped. It must
// not be changed.
func (r *Runner) Status() Status {
	s := *r.status.Load()
	s.DeadLetters = r.group.DeadLetters()
	return s
}

// changeStatus lets others see a change of the status.
func (r *Runner) changeStatus(change func(*Status)) {
	s := *r.status.Load()
	change(&s)
	r.status.Store(&s)
}

// logReport logs a report of the cores and passes it to the configured Tell.
func (r *Runner) logReport(report Report) {
	switch report := report.(type) {
	case session.Arrived:
		r.log.Info("connected with a validator", "validator", report.Validator)
	case session.Left:
		r.logLeft(report)
	case worker.Answered:
		log := r.log.Info
		if report.Status.Duplicate {
			log = r.log.Debug
		}
		log("a job came", "job", report.ID.Job, "drawn", report.ID.Drawn, "answer", ackWords(report.Status), "why", report.Why)
	case worker.Fetched:
		r.log.Info("a poll brought a job", "job", report.ID.Job, "drawn", report.ID.Drawn, "refused", report.Why)
	case poller.Brought:
		r.log.Info("an answer to a job is brought", "job", report.ID.Job, "drawn", report.ID.Drawn, "validator", report.Validator,
			"refused", report.Refused)
	case worker.Sent:
		r.log.Info("a result is sent", "job", report.ID.Job, "drawn", report.ID.Drawn, "try", report.Try)
	case Deregistered:
		r.log.Info("it is in the registry no more")
	case worker.Over:
		if report.Failed {
			r.log.Warn("a job failed", "job", report.ID.Job, "drawn", report.ID.Drawn, "why", report.Why)
			break
		}
		r.log.Info("a job is over", "job", report.ID.Job, "drawn", report.ID.Drawn, "why", report.Why)
	case worker.Conflict:
		r.log.Warn("two validators signed other specs for one job", "job", report.ID.Job, "drawn", report.ID.Drawn)
	}
	if r.config.Tell != nil {
		r.config.Tell(r.config.Name, report)
	}
}

// logLeft logs the end of a connection; the end of an attempt, which recurs, only
// at debug level.
func (r *Runner) logLeft(report session.Left) {
	log := r.log.Debug
	if report.Live {
		log = r.log.Info
	}
	log("a connection is over", "validator", report.Validator, "why", report.Reason, "ours", report.Ours)
}

// ackWords is an ack, for people.
func ackWords(s push.AckStatus) string {
	switch {
	case s.Accepted:
		return "accepted"
	case s.Duplicate:
		return "duplicate"
	}
	return "rejected: " + string(*s.Reject)
}

package runners

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/runners/poller"
	"github.com/cowboyinc/devnet/runners/session"
	"github.com/cowboyinc/devnet/runners/worker"
)

// event is what the role is told: plain data.
type event interface{ forRunner() }

// The events.
type (
	// connectionEvent is what happened on a connection.
	connectionEvent struct{ event connection.Event }
	// headTold is what the view told.
	headTold struct{ head *chainview.Head }
	// worked is a report of the executor on the execution with a number.
	worked struct {
		number uint64
		report execution.Report
	}
	// polled is a validator's answer to a question without a connection.
	polled struct{ answer polling.Answer }
	// alarmFired says that the alarm is due.
	alarmFired struct{}
	// offers, drain and leave are Change, Drain and Leave.
	offers struct{ changed session.Changed }
	drain  struct {
		on     bool
		reason string
	}
	leave struct{ finish bool }
)

func (connectionEvent) forRunner() {}
func (headTold) forRunner()        {}
func (worked) forRunner()          {}
func (polled) forRunner()          {}
func (alarmFired) forRunner()      {}
func (offers) forRunner()          {}
func (drain) forRunner()           {}
func (leave) forRunner()           {}

// role is the one role of a runner.
type role struct {
	r       *Runner
	session *session.Machine
	worker  *worker.Machine
	poller  *poller.Machine // of one that cannot poll, it is stopped
	alarm   env.Alarm
	height  types.Height

	executions uint64                  // begun so far
	current    map[execution.ID]uint64 // the number of each under way

	missing    poller.Missing // as the poller was told
	registered bool           // at the last head
	finishing  bool           // it leaves when nothing is open any more
	leaving    bool
}

// Deregistered is a Report: the runner was in the registry, and is there no more.
type Deregistered struct{}

func (r *Runner) newRole() (roles.Steps[event], error) {
	verifier := working{r.node.Verifier, r.node.Work}
	one := &role{r: r, current: map[execution.ID]uint64{},
		session: session.New(session.Config{ChainID: r.config.ChainID, Signer: r.node.Signer, Verifier: verifier, Chance: r.newRand()}),
		worker: worker.New(worker.Config{ChainID: r.config.ChainID, Signer: r.node.Signer, Verifier: verifier,
			Accepts: r.node.Executor.Accepts, MaxJobs: r.config.MaxJobs, Polls: r.node.Polls != nil}),
		poller: poller.New(poller.Config{ChainID: r.config.ChainID, Signer: r.node.Signer, Every: r.config.PollEvery}),
	}
	if r.node.Polls == nil {
		one.poller.Step(r.node.Clock.Now(), poller.Stop{})
	}
	one.alarm = r.node.Clock.NewAlarm(func() { r.inbox.Post(alarmFired{}) })
	return roles.Steps[event]{Each: one.receiveEvent, Last: func() { one.alarm.Set(types.Never) }}, nil
}

// newRand makes the nonces that validators sign, and spreads attempts to dial. It
// follows from a signature that this runner never sends, so no outsider can predict
// it, and no two starts have the same.
func (r *Runner) newRand() *rand.Rand {
	now := r.node.Clock.Now()
	seed := r.node.Signer.Sign(types.Keccak([]byte("cowboy-runner/1"), binary.BigEndian.AppendUint64(nil, uint64(now))))
	return rand.New(rand.NewChaCha8([32]byte(types.Keccak(seed[:]))))
}

// working is a verifier whose work takes time.
type working struct {
	env.Verifier
	work env.Work
}

// Recover implements env.Verifier.
func (v working) Recover(digest types.Hash, sig types.Signature) (types.Address, bool) {
	if v.work != nil {
		v.work.Did(env.Recoveries, 1)
	}
	return v.Verifier.Recover(digest, sig)
}

func (o *role) receiveEvent(e event) {
	switch e := e.(type) {
	case connectionEvent:
		o.readWork(e.event)
		o.stepSession(session.Connection{Event: e.event})
	case headTold:
		o.onHead(e.head)
	case worked:
		o.onWorked(e)
	case polled:
		o.stepPoller(poller.Answer{Answer: e.answer})
	case alarmFired:
		o.stepSession(session.Tick{})
		o.stepPoller(poller.Tick{})
	case offers:
		o.stepSession(e.changed)
	case drain:
		o.stepWorker(worker.Drain{On: e.on, Reason: e.reason})
	case leave:
		o.finishing, o.leaving = o.finishing || e.finish, o.leaving || !e.finish
		o.stepWorker(worker.Drain{On: true, Reason: "leaving"})
		if o.leaving {
			o.stopRole()
		}
	default:
		panic(fmt.Sprintf("runners: the role does not know what to do with a %T", e))
	}
	o.concludeStep()
}

// concludeStep ends a step: it leaves if it may, sets the alarm, and publishes the
// runner's status.
func (o *role) concludeStep() {
	load := o.worker.Load()
	if open := o.r.status.Load().Open; o.finishing && !o.leaving && len(open) == 0 {
		o.leaving = true
		o.stopRole()
	}
	if o.leaving && o.session.Open() == 0 {
		o.r.notifyEnd()
	}
	o.alarm.Set(min(o.session.Deadline(), o.poller.Deadline()))
	answered := o.poller.Answered()
	if s := o.r.status.Load(); s.Height != o.height || s.Running != load.ActiveJobs || s.Accepting != load.AcceptingNew ||
		s.Polled != answered {
		o.r.changeStatus(func(s *Status) {
			s.Height, s.Running, s.Accepting, s.Polled = o.height, load.ActiveJobs, load.AcceptingNew, answered
		})
	}
}

// stopRole leaves all validators, and asks none any more.
func (o *role) stopRole() {
	o.stepPoller(poller.Stop{})
	o.stepSession(session.Stop{})
}

// readWork reports the work in a frame.
func (o *role) readWork(e connection.Event) {
	if came, is := e.(connection.Came); is && o.r.node.Work != nil {
		o.r.node.Work.Did(env.BytesRead, uint64(len(came.Frame)))
	}
}

// onHead takes a head. A view whose heights fall breaks its promise, and is not
// listened to until they have risen again.
func (o *role) onHead(h *chainview.Head) {
	if h.Height < o.height {
		return
	}
	o.height = h.Height
	if o.registered && !h.Registered {
		o.r.logReport(Deregistered{})
	}
	o.registered = h.Registered
	o.stepSession(session.Head{Head: h})
	o.stepWorker(worker.Head{Head: h})
	o.stepPoller(poller.Head{Head: h})
}

// stepSession steps the core of the connections, and does what it asks.
func (o *role) stepSession(e session.Event) {
	out := o.session.Step(o.r.node.Clock.Now(), e)
	for _, v := range out.Do {
		o.r.node.Connections.Do(v)
	}
	for _, report := range out.Report {
		o.noteValidators(report)
		o.r.logReport(report)
	}
	for _, s := range out.Jobs {
		o.stepWorker(worker.Stream{Validator: s.Validator, Event: s.Event})
	}
}

// noteValidators records the validators that the runner is connected with.
func (o *role) noteValidators(report session.Report) {
	switch report := report.(type) {
	case session.Arrived:
		o.r.changeStatus(func(s *Status) {
			at, _ := slices.BinarySearchFunc(s.Connected, report.Validator, types.Address.Compare)
			s.Connected = slices.Insert(slices.Clone(s.Connected), at, report.Validator)
		})
	case session.Left:
		if report.Live {
			o.r.changeStatus(func(s *Status) {
				s.Connected = slices.DeleteFunc(slices.Clone(s.Connected), func(a types.Address) bool { return a == report.Validator })
			})
		}
	}
}

// stepWorker steps the core of the jobs, and does what it asks, in its order.
func (o *role) stepWorker(e worker.Event) {
	out := o.worker.Step(o.r.node.Clock.Now(), e)
	if len(out.Do) > 0 {
		o.stepSession(session.Answers{Do: out.Do})
	}
	for _, f := range out.Faults {
		o.stepSession(session.Fault{ID: f.ID, Reason: f.Reason})
	}
	for _, ask := range out.Ask {
		o.askExecutor(ask)
	}
	if out.Follow != nil {
		o.r.node.Chain.Follow(out.Follow)
		o.r.changeStatus(func(s *Status) { s.Open = out.Follow })
	}
	if out.Load != nil {
		o.stepSession(session.Load{Signal: *out.Load})
	}
	for _, report := range out.Report {
		switch report := report.(type) {
		case worker.Sent:
			o.r.changeStatus(func(s *Status) { s.Done++ })
		case worker.Over:
			o.stepPoller(poller.Over{ID: report.ID})
		}
		o.r.logReport(report)
	}
	for _, b := range out.Bring {
		o.stepPoller(poller.Bring{ID: b.ID, Result: b.Result, Refusal: b.Refusal})
	}
	if since, is := o.worker.Missing(); is != o.missing.Is || since != o.missing.Since {
		o.missing = poller.Missing{Is: is, Since: since}
		o.stepPoller(o.missing)
	}
}

// stepPoller steps the core that asks without a connection, and asks its questions.
func (o *role) stepPoller(e poller.Event) {
	out := o.poller.Step(o.r.node.Clock.Now(), e)
	for _, q := range out.Ask {
		o.r.node.Polls.Ask(q)
	}
	for _, report := range out.Report {
		o.r.logReport(report)
	}
	for _, j := range out.Jobs {
		o.stepWorker(worker.Polled{Validator: j.Validator, Job: j.Job})
	}
}

// askExecutor asks the executor. Its reports carry the number of the execution, so that
// those of an abandoned execution do not count for the next of the same assignment.
func (o *role) askExecutor(a worker.Ask) {
	switch a := a.(type) {
	case worker.Execute:
		o.executions++
		number := o.executions
		o.current[a.ID] = number
		o.r.node.Executor.Execute(a.ID, a.Spec, func(report execution.Report) { o.r.inbox.Post(worked{number, report}) })
	case worker.Abandon:
		delete(o.current, a.ID)
		o.r.node.Executor.Cancel(a.ID)
	}
}

// onWorked takes what the executor tells.
func (o *role) onWorked(e worked) {
	id := e.report.ID
	if o.current[id] != e.number {
		return
	}
	switch e.report.What {
	case execution.Progress:
		o.stepWorker(worker.Advanced{ID: id, Fraction: e.report.Fraction, Detail: e.report.Detail})
	case execution.Done:
		delete(o.current, id)
		o.stepWorker(worker.Finished{ID: id, Result: e.report.Result})
	case execution.Failed:
		delete(o.current, id)
		o.stepWorker(worker.Broke{ID: id, Why: e.report.Detail, Refusal: e.report.Refusal})
	}
}

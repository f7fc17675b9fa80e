package runners

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

const chainID = 8011

var signatures = crypto.NewKeyedHash(types.Hash{1})

func signerOf(name string) crypto.Signer { return signatures.Signer(crypto.DeriveKey(1, name)) }

// world is a runner, run in place, and all that it is given.
type world struct {
	*testing.T
	*Runner
	now      types.Time
	alarm    types.Time
	ring     func()
	receive  func(connection.Event)
	told     func(*chainview.Head)
	followed []execution.ID
	head     chainview.Head
	dials    []connection.Dial
	sent     map[connection.ID][]push.Frame
	executed []func(execution.Report) // what each Execute tells
	canceled []execution.ID
	ended    []connection.End
	closed   []string
	polls    *asks // nil: it has none
}

type (
	loops struct{}
	links struct{ *world }
	view  struct{ *world }
	does  struct{ *world }
)

func (loops) Loop(string) actor.Dispatcher { return roles.InPlace }

func (w *world) Now() types.Time { return w.now }
func (w *world) NewAlarm(ring func()) env.Alarm {
	w.ring = ring
	return w
}
func (w *world) Set(at types.Time) { w.alarm = at }

func (l links) Start(receive func(connection.Event)) error {
	l.receive = receive
	return nil
}
func (l links) Do(v connection.Verb) {
	switch v := v.(type) {
	case connection.Dial:
		l.dials = append(l.dials, v)
	case connection.Send:
		f, err := push.Decode(push.Raw{Type: push.Type(v.Frame[0]), Payload: v.Frame[1:]})
		if err != nil {
			l.Fatal(err)
		}
		l.sent[v.ID] = append(l.sent[v.ID], f)
	case connection.End:
		l.ended = append(l.ended, v)
	}
}
func (l links) Close() error {
	l.closed = append(l.closed, "connections")
	return nil
}

func (v view) Start(receive func(*chainview.Head)) error {
	v.told = receive
	return nil
}
func (v view) Follow(ids []execution.ID) { v.followed = ids }
func (v view) Close() error {
	v.closed = append(v.closed, "view")
	return nil
}

func (does) Capabilities() []string                   { return []string{"custom"} }
func (does) Entitlements() []string                   { return nil }
func (does) Accepts(*push.JobSpec) *execution.Refusal { return nil }
func (d does) Cancel(id execution.ID)                 { d.canceled = append(d.canceled, id) }
func (d does) Close()                                 { d.closed = append(d.closed, "executor") }
func (d does) Execute(_ execution.ID, _ *push.JobSpec, tell func(execution.Report)) {
	d.executed = append(d.executed, tell)
}

// newWorld has a runner that belongs to two validators.
func newWorld(t *testing.T) *world { return worldOf(t, false) }

// newWorldWithPolls has one that can poll them.
func newWorldWithPolls(t *testing.T) *world { return worldOf(t, true) }

func worldOf(t *testing.T, polls bool) *world {
	w := &world{T: t, sent: map[connection.ID][]push.Frame{}}
	p := params.Defaults()
	w.head = chainview.Head{Height: 100, Registered: true, Staked: true, Assignments: map[execution.ID]chainview.Standing{}, Params: &p}
	for _, name := range []string{"v0", "v1"} {
		s := signerOf(name)
		w.head.Validators = append(w.head.Validators, types.Validator{Address: s.Address(), PublicKey: s.PublicKey(), Endpoint: name})
	}
	runtime := roles.New(slog.New(slog.DiscardHandler))
	t.Cleanup(runtime.Close)
	runtime.OnPanic = func(role string, value any, stack []byte) { t.Fatalf("%s: %v\n%s", role, value, stack) }
	given := env.Runner{Base: env.Base{Clock: w, Loops: loops{}, Signer: signerOf("r0"), Verifier: signatures},
		Connections: links{w}, Chain: view{w}, Executor: does{w}}
	if polls {
		w.polls = &asks{world: w}
		given.Polls = w.polls
	}
	r, err := Start(runtime, Config{Name: "r0", ChainID: chainID, MaxJobs: 4, Log: slog.New(slog.DiscardHandler)}, given)
	if err != nil {
		t.Fatal(err)
	}
	w.Runner = r
	return w
}

func (w *world) tell(height types.Height) {
	h := w.head
	h.Height = height
	w.told(&h)
}

func (w *world) say(id connection.ID, stream connection.Stream, f push.Frame) {
	w.Helper()
	frame, err := push.Encode(f)
	if err != nil {
		w.Fatal(err)
	}
	w.receive(connection.Came{ID: id, Stream: stream, Frame: frame[4:]})
}

func last[F push.Frame](w *world, id connection.ID) F {
	w.Helper()
	sent := w.sent[id]
	if len(sent) == 0 {
		w.Fatal("nothing was sent")
	}
	f, is := sent[len(sent)-1].(F)
	if !is {
		w.Fatalf("%T was sent last", sent[len(sent)-1])
	}
	return f
}

// greet makes the connection with a validator live.
func (w *world) greet(dial connection.Dial) {
	w.Helper()
	s := signerOf(dial.Endpoint)
	w.receive(connection.Up{ID: dial.ID, Peer: s.PublicKey()})
	hello := last[*push.Hello](w, dial.ID)
	w.say(dial.ID, 0, &push.Hello{Version: push.Version, PartyPubkey: s.PublicKey(), PartyRole: push.Validator})
	ack := &push.HelloAck{Version: push.Version, PartyPubkey: s.PublicKey(), PartyRole: push.Validator}
	ack.SignedChallenge = s.Sign(ack.Digest(chainID, hello.ChallengeNonce, signerOf("r0").PublicKey()))
	w.say(dial.ID, 0, ack)
}

func (w *world) live() {
	w.Helper()
	w.tell(100)
	for _, dial := range w.dials {
		w.greet(dial)
	}
}

func spec(params string) push.JobSpec {
	return push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte(params)}},
		Bounds:   push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 1},
		MaxPrice: types.WeiOf(1), TimeoutBlocks: 10, Verification: push.Verification{Mode: push.None, Runners: 1},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes}}
}

// job is the one of these tests, drawn in the block above the first head.
var job = execution.ID{Job: types.Hash{7}, Drawn: 101}

// deliver has a validator deliver the job.
func (w *world) deliver(dial connection.Dial, params string) {
	w.Helper()
	w.receive(connection.Opened{ID: dial.ID, Stream: connection.Job(0)})
	f := &push.JobAssignment{JobID: job.Job, JobSpec: spec(params), BlockHeight: job.Drawn, DeadlineBlock: 120}
	f.ValidatorSigned = signerOf(dial.Endpoint).Sign(f.Digest(chainID))
	w.say(dial.ID, connection.Job(0), f)
	if ack := last[*push.JobAck](w, dial.ID); ack.Status.Reject != nil {
		w.Fatalf("rejected: %+v", ack)
	}
}

func TestARunnerDoesWhatItIsGiven(t *testing.T) {
	w := newWorld(t)
	w.live()
	if got := w.Status(); len(got.Connected) != 2 || got.Height != 100 || !got.Accepting {
		t.Fatalf("its status is %+v", got)
	}
	w.deliver(w.dials[0], "hello")
	if len(w.executed) != 0 {
		t.Fatal("it works for one validator of two")
	}
	w.deliver(w.dials[1], "hello")
	if got := w.Status(); !slices.Equal(got.Open, []execution.ID{job}) || got.Running != 1 || !slices.Equal(w.followed, got.Open) {
		t.Fatalf("its status is %+v, and it follows %v", got, w.followed)
	}
	w.executed[0](execution.Report{ID: job, What: execution.Progress, Fraction: 50})
	if f := last[*push.JobProgress](w, w.dials[0].ID); f.Fraction != 50 {
		t.Fatalf("told %+v", f)
	}
	w.executed[0](execution.Report{ID: job, What: execution.Done, Result: []byte("done")})
	if f := last[*push.JobResult](w, w.dials[0].ID); string(f.ResultData) != "done" {
		t.Fatalf("sent %+v", f)
	}
	w.head.Assignments[job] = chainview.Standing{}
	w.tell(103)
	if got := w.Status(); len(got.Open) != 0 || got.Running != 0 || got.Done != 1 {
		t.Fatalf("its status is %+v", got)
	}
	w.receive(connection.Down{ID: w.dials[0].ID, Reason: "gone"})
	if got := w.Status(); len(got.Connected) != 1 || got.Connected[0] != signerOf(w.dials[1].Endpoint).Address() {
		t.Fatalf("connected with %v", got.Connected)
	}
}

// Reports of an abandoned execution do not count for the next one of the same
// assignment. A stream's slot is free when this side has ended too (RFC 9000 §3.4).
// This holds for a stream that a validator broke off, before the runner was done with
// its job and after.
func TestABrokenOffStreamIsEnded(t *testing.T) {
	for _, done := range []bool{false, true} {
		w := newWorld(t)
		w.live()
		dial := w.dials[0]
		w.deliver(dial, "hello")
		w.deliver(w.dials[1], "hello")
		if done {
			w.executed[0](execution.Report{ID: job, What: execution.Done, Result: []byte("hello")})
		}
		w.receive(connection.Cut{ID: dial.ID, Stream: connection.Job(0)})
		if want := (connection.End{ID: dial.ID, Stream: connection.Job(0)}); !slices.Equal(w.ended, []connection.End{want}) {
			t.Errorf("done %v: it ended %v", done, w.ended)
		}
	}
}

func TestWhatWasGivenUpTellsNothing(t *testing.T) {
	w := newWorld(t)
	w.live()
	w.deliver(w.dials[0], "forged")
	w.deliver(w.dials[1], "true")
	for i, params := range []string{"forged", "true"} { // the validator that the view asked first lied as well
		f := spec(params)
		w.head.Assignments[job] = chainview.Standing{Open: true, SpecHash: f.Hash(), Deadline: 120, Alone: true}
		w.tell(types.Height(101 + i))
	}
	if len(w.executed) != 2 || len(w.canceled) != 1 {
		t.Fatalf("%d executions, %d given up", len(w.executed), len(w.canceled))
	}
	w.executed[0](execution.Report{ID: job, What: execution.Done, Result: []byte("of the forged one")})
	for _, dial := range w.dials {
		for _, f := range w.sent[dial.ID] {
			if _, is := f.(*push.JobResult); is {
				t.Fatal("the result of the forged one was sent")
			}
		}
	}
	w.executed[1](execution.Report{ID: job, What: execution.Done, Result: []byte("of the true one")})
	if f := last[*push.JobResult](w, w.dials[1].ID); string(f.ResultData) != "of the true one" {
		t.Fatalf("sent %s", f.ResultData)
	}
	w.executed[1](execution.Report{ID: job, What: execution.Failed}) // after its end
}

func TestAFallingHeadIsNotListenedTo(t *testing.T) {
	w := newWorld(t)
	w.live()
	w.head.Validators = nil
	w.tell(99)
	if got := w.Status(); len(got.Connected) != 2 || got.Height != 100 {
		t.Fatalf("its status is %+v", got)
	}
}

// A runner that leaves in good order takes nothing new, ends its open jobs, and then
// says Goodbye.
func TestLeavingWaitsForWhatIsOpen(t *testing.T) {
	w := newWorld(t)
	w.live()
	w.deliver(w.dials[0], "hello")
	w.deliver(w.dials[1], "hello")
	gone := 0
	w.Leave(true, func() { gone++ })
	if got := w.Status(); got.Accepting {
		t.Fatalf("its status is %+v", got)
	}
	w.now = w.now.Add(time.Second)
	w.ring()
	if load := last[*push.BackpressureSignal](w, w.dials[1].ID); load.AcceptingNew || gone != 0 {
		t.Fatalf("said %+v, gone %d", load, gone)
	}
	w.executed[0](execution.Report{ID: job, What: execution.Done, Result: []byte("done")})
	w.head.Assignments[job] = chainview.Standing{}
	w.tell(103)
	for _, dial := range w.dials {
		if f := last[*push.Goodbye](w, dial.ID); f.Reason != push.Shutdown || gone != 0 {
			t.Fatalf("said %+v, gone %d", f, gone)
		}
		w.receive(connection.Down{ID: dial.ID, Closed: true})
	}
	if gone != 1 {
		t.Fatalf("told %d times that it has left", gone)
	}
	w.Stop()
	w.Stop()
	if !slices.Equal(w.closed, []string{"view", "connections", "executor"}) || gone != 1 {
		t.Fatalf("closed %v, gone %d", w.closed, gone)
	}
	w.Leave(false, func() { gone++ })
	if gone != 2 {
		t.Fatal("who has stopped has left")
	}
}

func TestADrainedRunnerTakesNothingUntilItDoesAgain(t *testing.T) {
	w := newWorld(t)
	w.live()
	for i, on := range []bool{true, false} {
		w.Drain(on, "a fault")
		w.now = w.now.Add(100 * time.Millisecond)
		w.ring()
		if f := last[*push.BackpressureSignal](w, w.dials[0].ID); f.AcceptingNew == on || w.Status().Accepting == on {
			t.Fatalf("%d: said %+v", i, f)
		}
	}
}

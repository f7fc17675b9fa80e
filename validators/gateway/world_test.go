package gateway

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

const chainID = 8011

// signatures stand for real ones: a test of a thousand steps makes no thousand of
// those.
var signatures = crypto.NewKeyedHash([32]byte{1})

func signerOf(name string) crypto.Signer { return signatures.Signer(crypto.DeriveKey(1, name)) }

func defaults() *params.Params {
	p := params.Defaults()
	p.MinStake = types.WeiOf(100)
	return &p
}

// world is a machine under test, the chain it reads and the runners it serves.
type world struct {
	testing.TB
	*Machine
	attested Attested
	now      types.Time
	head     *Head
	runners  map[types.Address]*Registration
	open     map[types.Address][]Assignment
	before   map[types.Address][]Assignment // at the last head
	changed  []types.Hash
	endings  map[AssignmentID]Ending

	reports []Report
	submits []Submission
	ends    map[connection.ID]*end
	lastID  connection.ID
}

func (w *world) Runner(a types.Address) *Registration { return w.runners[a] }
func (w *world) Assignment(a types.Address, id AssignmentID) *Assignment {
	all := w.Assignments(a)
	if i := slices.IndexFunc(all, func(one Assignment) bool { return one.AssignmentID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

func (w *world) Assignments(a types.Address) []Assignment {
	return w.open[a]
}
func (w *world) Changed() ([]types.Hash, bool)                 { return w.changed, true }
func (w *world) Spec(types.Hash) *push.JobSpec                 { return spec() }
func (w *world) Ending(_ types.Address, a AssignmentID) Ending { return w.endings[a] }

// newWorld has only validator v0, so that it is in every runner's subset.
func newWorld(t testing.TB, change func(*params.Params)) *world {
	w := &world{TB: t, runners: map[types.Address]*Registration{}, open: map[types.Address][]Assignment{},
		before: map[types.Address][]Assignment{}, endings: map[AssignmentID]Ending{}, ends: map[connection.ID]*end{}}
	p := defaults()
	if change != nil {
		change(p)
	}
	v := signerOf("v0")
	w.head = &Head{Height: 100, Params: p, Reader: w, Pace: selection.Pace{EpochBlocks: 1000, OverlapBlocks: 32},
		Rotation: &selection.Rotation{Current: selection.Assignment{Constants: selection.Constants{MinSubset: 3, MaxSubset: 8,
			Rule: selection.Quorum},
			Members: []types.Validator{{Address: v.Address(), PublicKey: v.PublicKey()}}}}}
	var out Output
	w.Machine, out = New(Config{ChainID: chainID, Signer: v, Verifier: signatures, Chance: rand.New(rand.NewPCG(1, 2))}, w.head)
	w.take(out)
	return w
}

// end is a runner's end of a connection, which says what the test wants.
type end struct {
	*world
	id     connection.ID
	signer crypto.Signer
	sent   map[connection.Stream][]push.Frame // by the machine, not looked at yet
	done   map[connection.Stream]bool         // ended by the machine
	reset  map[connection.Stream]bool
	closed *connection.Close
	admit  bool
	taken  int
	nonce  uint64
	hello  push.Hello // the machine's
}

// register puts a runner into the registry.
func (w *world) register(name string) crypto.Signer {
	s := signerOf(name)
	if w.runners[s.Address()] == nil {
		w.runners[s.Address()] = &Registration{Index: len(w.runners), Stake: types.WeiOf(100), MaxJobs: 4, LastHeartbeat: w.head.Height}
	}
	return s
}

// connect brings a connection up, without a word.
func (w *world) connect(name string, address byte) *end {
	w.lastID++
	e := &end{world: w, id: w.lastID, signer: signerOf(name), sent: map[connection.Stream][]push.Frame{},
		done: map[connection.Stream]bool{}, reset: map[connection.Stream]bool{}}
	w.ends[e.id] = e
	w.step(Connection{connection.Up{ID: e.id, Peer: e.signer.PublicKey(), Remote: connection.Address{15: address}}})
	return e
}

// step gives the machine an event and plays the connections' part of its output.
func (w *world) step(event Event) {
	w.Helper()
	w.take(w.Step(w.now, event))
	if err := w.Check(); err != nil {
		w.Fatal(err)
	}
}

func (w *world) take(out Output) {
	w.Helper()
	w.submits = append(w.submits, out.Submit...)
	w.attested.Take(out.Attest)
	w.reports = append(w.reports, out.Report...)
	for _, v := range out.Do {
		switch v := v.(type) {
		case connection.Send:
			e := w.ends[v.ID]
			if e.closed != nil || e.done[v.Stream] || e.reset[v.Stream] {
				w.Fatalf("a frame after the end of stream %d", v.Stream)
			}
			f, err := push.Decode(push.Raw{Type: push.Type(v.Frame[0]), Payload: v.Frame[1:]})
			if err != nil {
				w.Fatal(err)
			}
			e.sent[v.Stream] = append(e.sent[v.Stream], f)
		case connection.End:
			w.ends[v.ID].done[v.Stream] = true
		case connection.Reset:
			w.ends[v.ID].reset[v.Stream] = true
		case connection.Close:
			w.ends[v.ID].closed = &v
		case connection.Admit:
			w.ends[v.ID].admit = true
		case connection.Taken:
			w.ends[v.ID].taken++
		case connection.Open, connection.Patience:
		default:
			w.Fatalf("a verb %T", v)
		}
	}
}

// pass lets time pass, with every tick that falls into it.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for until := w.now.Add(d); ; {
		next := w.Deadline()
		if next > until {
			w.now = until
			return
		}
		w.now = max(w.now, next)
		w.step(Tick{})
	}
}

// block makes a new head.
func (w *world) block(change func(*Head)) {
	w.Helper()
	next := *w.head
	next.Height++
	next.Skipped = 0
	p := *next.Params
	next.Params = &p
	if change != nil {
		change(&next)
	}
	w.head = &next
	w.compare()
	w.step(&next)
}

// compare finds the jobs whose assignments differ from those of the last head.
func (w *world) compare() {
	w.changed = nil
	for runner := range w.runners {
		for _, a := range append(slices.Clone(w.before[runner]), w.open[runner]...) {
			same := func(b Assignment) bool { return reflect.DeepEqual(a, b) }
			if !slices.ContainsFunc(w.before[runner], same) || !slices.ContainsFunc(w.open[runner], same) {
				w.changed = append(w.changed, a.Job)
			}
		}
		w.before[runner] = slices.Clone(w.open[runner])
		for i := range w.before[runner] {
			w.before[runner][i].Commitments = slices.Clone(w.before[runner][i].Commitments)
		}
	}
}

// blocks makes some, a second apart.
func (w *world) blocks(n int) {
	for range n {
		w.pass(time.Second)
		w.block(nil)
	}
}

// openControl opens the control stream, if it is not open.
func (e *end) openControl() *end {
	e.step(Connection{connection.Opened{ID: e.id, Stream: connection.Control}})
	return e
}

// say sends a frame of any content.
func (e *end) raw(stream connection.Stream, frame ...byte) {
	e.Helper()
	e.step(Connection{connection.Came{ID: e.id, Stream: stream, Frame: frame}})
}

func (e *end) say(stream connection.Stream, f push.Frame) {
	e.Helper()
	frame, err := push.Encode(f)
	if err != nil {
		e.Fatal(err)
	}
	e.raw(stream, frame[4:]...)
}

// helloOf is the Hello of an honest runner.
func (e *end) helloOf() *push.Hello {
	return &push.Hello{Version: push.Version, PartyPubkey: e.signer.PublicKey(), PartyRole: push.Runner, ChallengeNonce: types.Hash{1}}
}

// greet says Hello and takes the answers.
func (e *end) greet() *end {
	e.Helper()
	e.openControl()
	e.say(connection.Control, e.helloOf())
	e.hello = *expect[*push.Hello](e, connection.Control)
	return e
}

// ackOf is the HelloAck of an honest runner.
func (e *end) ackOf() *push.HelloAck {
	f := &push.HelloAck{Version: push.Version, PartyPubkey: e.signer.PublicKey(), PartyRole: push.Runner}
	f.SignedChallenge = e.signer.Sign(f.Digest(chainID, e.hello.ChallengeNonce, signerOf("v0").PublicKey()))
	return f
}

// live goes through the whole exchange of Hellos.
func (w *world) live(name string) *end {
	w.Helper()
	w.register(name)
	e := w.connect(name, 1).greet()
	expect[*push.HelloAck](e, connection.Control)
	e.say(connection.Control, e.ackOf())
	if e.closed != nil || len(e.sent[connection.Control]) != 0 || !e.admit {
		w.Fatalf("%s is not live: %v, %v", name, e.closed, e.sent)
	}
	return e
}

func (e *end) pingOf() *push.HeartbeatPing {
	e.nonce++
	f := &push.HeartbeatPing{BlockHeight: e.head.Height, Nonce: e.nonce}
	f.Signed = e.signer.Sign(f.Digest(chainID))
	return f
}

func (e *end) ping() {
	e.Helper()
	e.say(connection.Control, e.pingOf())
	expect[*push.HeartbeatPong](e, connection.Control)
}

// expect takes the next frame that the machine sent on a stream.
func expect[F push.Frame](e *end, stream connection.Stream) F {
	e.Helper()
	if len(e.sent[stream]) == 0 {
		e.Fatalf("nothing was sent on stream %d; closed: %v", stream, e.closed)
	}
	f, is := e.sent[stream][0].(F)
	if !is {
		e.Fatalf("%v was sent on stream %d", e.sent[stream][0], stream)
	}
	e.sent[stream] = e.sent[stream][1:]
	return f
}

// goodbye takes the Goodbye, and returns the reason.
func (e *end) goodbye() push.Reason {
	e.Helper()
	e.sent[connection.Control] = slices.DeleteFunc(e.sent[connection.Control], func(f push.Frame) bool {
		_, pong := f.(*push.HeartbeatPong)
		return pong
	})
	why := expect[*push.Goodbye](e, connection.Control).Reason
	if len(e.sent[connection.Control]) != 0 || !e.done[connection.Control] || e.closed != nil {
		e.Fatalf("behind Goodbye: %v, %v", e.sent, e.closed)
	}
	return why
}

// left takes the Goodbye and the close after its grace, and returns the reason.
func (e *end) left() push.Reason {
	e.Helper()
	why := e.goodbye()
	e.pass(e.head.Params.GoodbyeGraceMS.Duration())
	if e.closed == nil || e.closed.Reason != string(why) || e.closed.Code != why.Code() {
		e.Fatalf("closed %+v behind %s", e.closed, why)
	}
	return why
}

// bits are the names of the runners whose bit is set.
func (w *world) bits() string {
	bitmap, text := w.attested.Bitmap(w.now, len(w.runners), heldAll(len(w.runners))), ""
	for i := range bitmap.Len() {
		if bitmap.Has(i) {
			text += fmt.Sprint(i)
		}
	}
	return text
}

// reported takes the reports of one kind.
func reported[R Report](w *world) (found []R) {
	w.reports = slices.DeleteFunc(w.reports, func(r Report) bool {
		one, is := r.(R)
		if is {
			found = append(found, one)
		}
		return is
	})
	return found
}

// spec is a job that any runner can do.
func spec() *push.JobSpec {
	return &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:   push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 1},
		MaxPrice: types.WeiOf(1), TimeoutBlocks: 10, Verification: push.Verification{Mode: push.None, Runners: 1},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes}}
}

// assign draws a runner for a job at the head.
func (w *world) assign(to crypto.Signer, job byte, committee int) AssignmentID {
	id := AssignmentID{Job: types.Hash{job}, Drawn: w.head.Height}
	one := Assignment{AssignmentID: id, Spec: spec().Hash(), MaxReturn: 100, Committee: committee,
		Deadline: w.head.Height + 10, CommitEnd: w.head.Height + 6}
	w.open[to.Address()] = append(w.open[to.Address()], one)
	w.before[to.Address()] = append(w.before[to.Address()], one)
	return id
}

// at finds an open assignment to change it.
func (w *world) at(to crypto.Signer, id AssignmentID) *Assignment {
	return w.chain.findAssignment(to.Address(), id)
}

// finish ends an assignment.
func (w *world) finish(to crypto.Signer, id AssignmentID, how Ending) {
	w.open[to.Address()] = slices.DeleteFunc(w.open[to.Address()], func(a Assignment) bool { return a.AssignmentID == id })
	w.endings[id] = how
}

func (e *end) ackJob(stream connection.Stream, job types.Hash, status push.AckStatus) {
	e.Helper()
	f := &push.JobAck{JobID: job, Status: status}
	f.Signed = e.signer.Sign(f.Digest(chainID))
	e.say(stream, f)
}

// resultOf is the result of a runner for the open assignment of a job, or for none.
func (e *end) resultOf(job types.Hash, data string) *push.JobResult {
	f := &push.JobResult{JobID: job, ResultData: []byte(data)}
	f.RunnerSigned = e.signer.Sign(f.Digest(chainID))
	for _, a := range e.open[e.signer.Address()] {
		if a.Job == job && a.Committee > 1 {
			signed := e.signer.Sign(push.CommitmentDigest(chainID, job, a.Drawn, push.Commitment(f.ResultData, f.RunnerSigned)))
			f.CommitSigned = &signed
		}
	}
	return f
}

var (
	accepted  = push.AckStatus{Accepted: true}
	duplicate = push.AckStatus{Duplicate: true}
)

func rejected() push.AckStatus {
	why := push.Capacity
	return push.AckStatus{Reject: &why}
}

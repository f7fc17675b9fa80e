package worker

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

const chainID = 8011

var signatures = crypto.NewKeyedHash(types.Hash{1})

func signerOf(name string) crypto.Signer { return signatures.Signer(crypto.DeriveKey(1, name)) }

// world is a machine under test, the chain that it reads, and the validators, vN
// with connection N.
type world struct {
	testing.TB
	*Machine
	now      types.Time
	head     *chainview.Head
	chain    map[ID]Standing
	sent     map[line][]push.Frame
	ended    map[line]bool
	reset    map[line]bool
	faults   []Fault
	asks     []Ask
	loads    []push.BackpressureSignal
	reports  []Report
	opens    map[connection.ID]uint64
	followed []ID
	// validators are those that the runner belongs to.
	validators []types.Validator
}

// line is a stream by its connection and number.
type line struct {
	id     connection.ID
	stream connection.Stream
}

// accepts takes what a runner with some words can do.
func accepts(spec *push.JobSpec) *execution.Refusal {
	if err := spec.Check(); err != nil {
		return execution.Refuse(push.BadSpec, "%v", err)
	}
	if spec.JobType.Custom == nil {
		return execution.Refuse(push.Unsupported, "no custom job")
	}
	return nil
}

func newWorld(t testing.TB) *world {
	w := &world{TB: t, chain: map[ID]Standing{}, sent: map[line][]push.Frame{}, ended: map[line]bool{}, reset: map[line]bool{},
		opens: map[connection.ID]uint64{}}
	w.Machine = New(Config{ChainID: chainID, Signer: signerOf("r0"), Verifier: signatures, MaxJobs: 4, Accepts: accepts})
	w.tell(100)
	return w
}

// tell sends a head, which reports missing followed assignments as over. Tests
// change its assignments afterwards, as a view that reports the same again.
func (w *world) tell(height types.Height) {
	w.Helper()
	for _, id := range w.followed {
		if _, told := w.chain[id]; !told {
			w.chain[id] = Standing{}
		}
	}
	w.head = &chainview.Head{Height: height, Assignments: w.chain, Validators: w.validators}
	w.step(Head{w.head})
}

func (w *world) step(e Event) {
	w.Helper()
	out := w.Step(w.now, e)
	w.faults = append(w.faults, out.Faults...)
	w.asks = append(w.asks, out.Ask...)
	w.reports = append(w.reports, out.Report...)
	if out.Follow != nil {
		w.followed = out.Follow
	}
	if out.Load != nil {
		w.loads = append(w.loads, *out.Load)
	}
	for _, v := range out.Do {
		switch v := v.(type) {
		case connection.Send:
			l := line{v.ID, v.Stream}
			if w.ended[l] || w.reset[l] {
				w.Fatalf("a frame after the end of %v", l)
			}
			f, err := push.Decode(push.Raw{Type: push.Type(v.Frame[0]), Payload: v.Frame[1:]})
			if err != nil {
				w.Fatal(err)
			}
			w.sent[l] = append(w.sent[l], f)
		case connection.End:
			w.ended[line{v.ID, v.Stream}] = true
		case connection.Reset:
			w.reset[line{v.ID, v.Stream}] = true
		default:
			w.Fatalf("a verb %T", v)
		}
	}
	if n := len(w.streams); n > MaxStreams || len(w.jobs) != len(w.order) || len(w.order) > MaxAssignments ||
		w.countBusy() > w.config.MaxJobs {
		w.Fatalf("%d streams, %d and %d assignments, %d busy", n, len(w.jobs), len(w.order), w.countBusy())
	}
}

func (w *world) block() {
	w.Helper()
	w.tell(w.head.Height + 1)
}

func (w *world) blocks(n int) {
	for range n {
		w.block()
	}
}

// open opens a stream of a validator's.
func (w *world) open(validator int) line {
	l := line{connection.ID(validator), connection.Job(w.opens[connection.ID(validator)])}
	w.opens[l.id]++
	w.event(l, connection.Opened{ID: l.id, Stream: l.stream})
	return l
}

func nameOf(id connection.ID) string { return "v" + string(rune('0'+id)) }

func (w *world) event(l line, e connection.Event) {
	w.Helper()
	w.step(Stream{signerOf(nameOf(l.id)).PublicKey(), e})
}

func (w *world) say(l line, f push.Frame) {
	w.Helper()
	frame, err := push.Encode(f)
	if err != nil {
		w.Fatal(err)
	}
	w.raw(l, frame[4:]...)
}

func (w *world) raw(l line, frame ...byte) {
	w.Helper()
	w.event(l, connection.Came{ID: l.id, Stream: l.stream, Frame: frame})
}

// spec is a job that the runner can do.
func spec() push.JobSpec {
	return push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:   push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 1},
		MaxPrice: types.WeiOf(1), TimeoutBlocks: 10, Verification: push.Verification{Mode: push.None, Runners: 1},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes}}
}

// assignmentOf is what an honest validator delivers.
func (w *world) assignmentOf(l line, id ID, change func(*push.JobAssignment)) *push.JobAssignment {
	f := &push.JobAssignment{JobID: id.Job, JobSpec: spec(), BlockHeight: id.Drawn, DeadlineBlock: id.Drawn + 20}
	if change != nil {
		change(f)
	}
	f.ValidatorSigned = signerOf(nameOf(l.id)).Sign(f.Digest(chainID))
	return f
}

// drawn puts an assignment on chain, as the honest deliver it.
func (w *world) drawn(job byte) ID {
	id := ID{Job: types.Hash{job}, Drawn: w.head.Height}
	f := spec()
	w.chain[id] = Standing{Open: true, SpecHash: f.Hash(), Deadline: id.Drawn + 20, Alone: true}
	return id
}

// deliver delivers an assignment on a new stream, and takes the ack.
func (w *world) deliver(validator int, id ID, change func(*push.JobAssignment)) (line, push.AckStatus) {
	w.Helper()
	l := w.open(validator)
	w.say(l, w.assignmentOf(l, id, change))
	f := expect[*push.JobAck](w, l)
	signer, ok := signatures.Recover(f.Digest(chainID), f.Signed)
	if f.JobID != id.Job || !ok || signer != signerOf("r0").Address() {
		w.Fatalf("the ack is %+v", f)
	}
	return l, f.Status
}

func expect[F push.Frame](w *world, l line) F {
	w.Helper()
	if len(w.sent[l]) == 0 {
		w.Fatalf("nothing was sent on %v; faults %v", l, w.faults)
	}
	f, is := w.sent[l][0].(F)
	if !is {
		w.Fatalf("%T was sent on %v", w.sent[l][0], l)
	}
	w.sent[l] = w.sent[l][1:]
	return f
}

// asked returns the requests to the executor, as text.
func (w *world) asked() string {
	text := ""
	for _, a := range w.asks {
		switch a := a.(type) {
		case Execute:
			text += "execute " + string(rune('0'+a.ID.Job[0])) + " "
		case Abandon:
			text += "abandon " + string(rune('0'+a.ID.Job[0])) + " "
		}
	}
	w.asks = nil
	return text
}

func (w *world) fault() push.Reason {
	w.Helper()
	if len(w.faults) != 1 {
		w.Fatalf("faults %v", w.faults)
	}
	why := w.faults[0].Reason
	w.faults = nil
	return why
}

func (w *world) later(d time.Duration) { w.now = w.now.Add(d) }

package runners

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// asks is a world's polls.
type asks struct {
	*world
	questions []polling.Question
	answer    func(polling.Answer)
}

func (a *asks) Start(receive func(polling.Answer)) error {
	a.answer = receive
	return nil
}
func (a *asks) Ask(q polling.Question) { a.questions = append(a.questions, q) }
func (a *asks) Close() error {
	a.closed = append(a.closed, "polls")
	return nil
}

// shows makes the view show the job of these tests.
func (w *world) shows() {
	s := spec("p")
	w.head.Assignments = map[execution.ID]chainview.Standing{job: {Open: true, SpecHash: s.Hash(), Deadline: 120, Alone: true}}
	w.head.Params.Push = "shadow"
}

// J11: in shadow a runner polls for its jobs, does those that its view shows too,
// and brings the result. After its end it sends nothing more.
func TestJ11ARunnerDoesWhatItPolled(t *testing.T) {
	w := newWorldWithPolls(t)
	w.shows()
	w.tell(102)
	if len(w.polls.questions) != 1 || w.polls.questions[0].Result != nil {
		t.Fatalf("asked %+v", w.polls.questions)
	}
	s := spec("p")
	w.polls.answer(polling.Answer{ID: w.polls.questions[0].ID, Jobs: []polling.Job{{ID: job, Spec: &s, Deadline: 120}}})
	if len(w.executed) != 1 || !slices.Equal(w.Status().Open, []execution.ID{job}) || w.Status().Polled != 102 {
		t.Fatalf("%d are executed, %+v", len(w.executed), w.Status())
	}
	w.executed[0](execution.Report{ID: job, What: execution.Done, Result: []byte("r")})
	last := w.polls.questions[len(w.polls.questions)-1]
	if last.Result == nil || last.Result.JobID != job.Job || string(last.Result.ResultData) != "r" {
		t.Fatalf("asked %+v", last)
	}
	asked := len(w.polls.questions)
	w.polls.answer(polling.Answer{ID: last.ID})
	if w.now = w.now.Add(time.Second); w.alarm > w.now {
		t.Fatalf("the alarm is at %v", w.alarm)
	}
	w.ring()
	if len(w.polls.questions) != asked+1 {
		t.Errorf("a block time later it has asked %+v", w.polls.questions[asked:])
	}
	w.Stop()
	if !slices.Contains(w.closed, "polls") {
		t.Errorf("closed %v", w.closed)
	}
}

// A runner that cannot poll waits for streams, as it is.
func TestARunnerWithoutPollsWaitsForStreams(t *testing.T) {
	w := newWorld(t)
	w.shows()
	w.tell(102)
	w.now = w.now.Add(time.Minute)
	w.ring()
	if len(w.executed) != 0 {
		t.Error("it does a job that was not assigned to it")
	}
}

// CIP-11 §6.5: a runner announces changes of its offer to each validator, on each
// connection again, pools as entitlements.
func TestSection65ARunnerSaysWhatItOffers(t *testing.T) {
	w := newWorld(t)
	w.live()
	w.Change([]string{"model:small", "entitlement:eu"}, []string{"llm"})
	for range 40 {
		w.now = w.now.Add(100 * time.Millisecond)
		w.ring()
	}
	for _, dial := range w.dials {
		at := slices.IndexFunc(w.sent[dial.ID], func(f push.Frame) bool { _, is := f.(*push.CapabilityDelta); return is })
		if at < 0 {
			t.Fatalf("nothing is said to %s", dial.Endpoint)
		}
		f := w.sent[dial.ID][at].(*push.CapabilityDelta)
		signer, ok := signatures.Recover(f.Digest(chainID), f.Signed)
		if !slices.Equal(f.AddedCapabilities, []string{"model:small"}) || !slices.Equal(f.RemovedCapabilities, []string{"llm"}) ||
			!slices.Equal(f.AddedEntitlements, []string{"eu"}) || len(f.RemovedEntitlements) != 0 || !ok || signer != signerOf("r0").Address() {
			t.Errorf("said %+v", f)
		}
	}
	first := w.dials[0]
	w.receive(connection.Down{ID: first.ID, Reason: "lost"})
	dials := len(w.dials)
	for i := 0; len(w.dials) == dials && i < 100; i++ {
		w.now = w.now.Add(100 * time.Millisecond)
		w.ring()
	}
	again := w.dials[dials]
	w.greet(again)
	for range 40 {
		w.now = w.now.Add(100 * time.Millisecond)
		w.ring()
	}
	if !slices.ContainsFunc(w.sent[again.ID], func(f push.Frame) bool { _, is := f.(*push.CapabilityDelta); return is }) {
		t.Error("it is not sent again")
	}
}

package gateway

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

const refusalText = "no such executor"

// refusalOf is the ack by which a runner refuses an open assignment.
func (e *end) refusalOf(id AssignmentID) *push.JobAck {
	why, text := push.Unsupported, refusalText
	said := push.Refusal{JobID: id.Job, Drawn: id.Drawn, Spec: spec().Hash(), Reason: why, Text: text}
	signed := e.signer.Sign(said.Digest(chainID))
	return &push.JobAck{JobID: id.Job, Status: push.AckStatus{Reject: &why}, Reason: &text, RefusalSigned: &signed}
}

// J21: a refusal that the runner signed for this draw and spec goes to the chain, until the
// commit deadline.
func TestJ21ARefusalGoesToTheChain(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*push.JobAck, *world, AssignmentID)
		taken  bool
		left   push.Reason
	}{
		"signed":                 {func(*push.JobAck, *world, AssignmentID) {}, true, ""},
		"unsigned":               {func(f *push.JobAck, _ *world, _ AssignmentID) { f.RefusalSigned = nil }, false, ""},
		"signed for another job": {func(f *push.JobAck, _ *world, _ AssignmentID) { f.RefusalSigned[0] ^= 1 }, false, push.BadSignature},
		"with another text": {func(f *push.JobAck, _ *world, _ AssignmentID) { other := "other"; f.Reason = &other }, false,
			push.BadSignature},
		"with a text that does not count": {func(f *push.JobAck, _ *world, _ AssignmentID) { other := "a\nb"; f.Reason = &other }, false, ""},
		"that it is over": {func(f *push.JobAck, _ *world, _ AssignmentID) { why := push.PastDeadline; f.Status.Reject = &why }, false,
			""},
	} {
		t.Run(name, func(t *testing.T) {
			w, e, id := pushed(t, 3)
			f := e.refusalOf(id)
			test.change(f, w, id)
			f.Signed = e.signer.Sign(f.Digest(chainID))
			e.say(job0, f)
			if len(w.submits) > 0 != test.taken {
				t.Errorf("submitted %v", w.submits)
			}
			if test.left != "" {
				if why := e.goodbye(); why != test.left {
					t.Errorf("left for %s", why)
				}
			}
		})
	}
	w, e, id := pushed(t, 3)
	w.at(e.signer, id).CommitEnd = w.head.Height
	f := e.refusalOf(id)
	f.Signed = e.signer.Sign(f.Digest(chainID))
	e.say(job0, f)
	if len(w.submits) > 0 {
		t.Errorf("submitted %v after the commit deadline", w.submits)
	}
}

// J11, J21: a refusal that came without a connection goes to the chain as a pushed one does.
// Why it is not taken is answered, and its signature is judged last.
func TestJ21ARefusalThatWasPolled(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*push.JobAck, *Assignment)
		why    string // begins with
		judged int
	}{
		"signed":            {func(*push.JobAck, *Assignment) {}, "", 1},
		"of no job":         {func(f *push.JobAck, _ *Assignment) { f.JobID[0]++ }, "its assignment is over", 0},
		"that accepts":      {func(f *push.JobAck, _ *Assignment) { f.Status = accepted }, "its status is not Reject", 0},
		"unsigned":          {func(f *push.JobAck, _ *Assignment) { f.RefusalSigned = nil }, "refusal_signed is null", 0},
		"signed by another": {func(f *push.JobAck, _ *Assignment) { f.RefusalSigned[0] ^= 1 }, "the runner did not sign", 1},
		"of another spec":   {func(_ *push.JobAck, a *Assignment) { a.Spec[0]++ }, "the runner did not sign", 1},
		"for no counted reason": {func(f *push.JobAck, _ *Assignment) { why := push.PastDeadline; f.Status.Reject = &why },
			"its reason is none", 0},
		"that comes late": {func(_ *push.JobAck, a *Assignment) { a.CommitEnd = 100 }, "the time to refuse is over", 0},
		"after a commitment": {func(_ *push.JobAck, a *Assignment) { a.Commitments = []types.Hash{{1}} },
			"the runner committed to a result", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			e := w.live("r0")
			id := w.assign(e.signer, 1, 3)
			f := e.refusalOf(id)
			test.change(f, &w.open[e.signer.Address()][0])
			judged := &recovering{Verifier: w.config.Verifier}
			w.config.Verifier = judged
			w.step(Polled{Runner: e.signer.Address(), Ack: f})
			told := reported[NotTaken](w)
			if (len(told) == 0) != (test.why == "") || len(told) > 0 && !(strings.HasPrefix(told[0].Why, test.why) && told[0].Polled) ||
				(len(w.submits) == 1) != (test.why == "") || judged.times != test.judged {
				t.Errorf("told %+v, submitted %v, %d signatures judged", told, w.submits, judged.times)
			}
		})
	}
}

// J21, J24: a refusal that was submitted and is kept no more is submitted again at the next
// head, until the chain has it, the time is over, or the runner committed.
func TestJ24ARefusalThatIsNotKeptIsSubmittedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world, *end, AssignmentID)
		again  bool
	}{
		"lost":      {func(*world, *end, AssignmentID) {}, true},
		"on chain":  {func(w *world, e *end, id AssignmentID) { w.finish(e.signer, id, Failed) }, false},
		"too late":  {func(w *world, e *end, id AssignmentID) { w.at(e.signer, id).CommitEnd = w.head.Height + 1 }, false},
		"committed": {func(w *world, e *end, id AssignmentID) { w.at(e.signer, id).Commitments = []types.Hash{{1}} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, e, id := pushed(t, 3)
			f := e.refusalOf(id)
			f.Signed = e.signer.Sign(f.Digest(chainID))
			e.say(job0, f)
			if len(w.submits) != 1 {
				t.Fatalf("submitted %v", w.submits)
			}
			w.submits = nil
			w.step(Polled{Runner: e.signer.Address(), Ack: f})
			if told := reported[NotTaken](w); len(told) != 1 || len(w.submits) != 0 {
				t.Errorf("a second refusal: told %v, submitted %v", told, w.submits)
			}
			test.change(w, e, id)
			w.step(Unkept{Runner: e.signer.Address(), Job: id.Job})
			w.block(nil)
			w.block(nil)
			if (len(w.submits) == 1) != test.again {
				t.Errorf("submitted %v", w.submits)
			}
			w.finish(e.signer, id, Failed)
			w.block(nil)
			if len(w.results.index.all) != 0 || w.results.bytes != 0 {
				t.Errorf("%d are held after the end", len(w.results.index.all))
			}
		})
	}
}

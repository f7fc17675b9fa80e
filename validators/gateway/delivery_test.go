package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

var job0, job1 = connection.Job(0), connection.Job(1)

// pushed has a live, present runner with one job on its first job stream.
func pushed(t testing.TB, committee int) (*world, *end, AssignmentID) {
	t.Helper()
	w := newWorld(t, nil)
	e := w.live("r0")
	e.ping()
	id := w.assign(e.signer, 1, committee)
	w.block(nil)
	e.sent[0] = nil
	f := expect[*push.JobAssignment](e, job0)
	signer, ok := signatures.Recover(f.Digest(chainID), f.ValidatorSigned)
	if f.JobID != id.Job || f.BlockHeight != id.Drawn || f.DeadlineBlock != w.at(e.signer, id).Deadline || !ok ||
		signer != signerOf("v0").Address() {
		t.Fatalf("pushed %+v", f)
	}
	return w, e, id
}

// outcome takes the one outcome that was told, or -1.
func outcome(w *world) int {
	w.Helper()
	all := reported[Classified](w)
	if len(all) > 1 {
		w.Fatalf("outcomes %v", all)
	}
	if len(all) == 0 {
		return -1
	}
	return int(all[0].Outcome)
}

// TestSection106Outcomes: what is recorded of one push, and what it does to the bit.
func TestSection106Outcomes(t *testing.T) {
	for _, c := range []struct {
		name string
		says func(e *end, id AssignmentID)
		want int
		bits string
		left push.Reason
	}{
		{"accepted", func(e *end, id AssignmentID) { e.ackJob(job0, id.Job, accepted) }, -1, "0", ""},
		{"accepted, and the result", func(e *end, id AssignmentID) {
			e.ackJob(job0, id.Job, accepted)
			e.say(job0, e.resultOf(id.Job, "done"))
		}, int(Success), "0", ""},
		{"duplicate", func(e *end, id AssignmentID) { e.ackJob(job0, id.Job, duplicate) }, int(Duplicate), "0", ""},
		{"duplicate, and a result all the same", func(e *end, id AssignmentID) {
			e.ackJob(job0, id.Job, duplicate)
			e.say(job0, e.resultOf(id.Job, "done"))
		}, int(Duplicate), "0", ""},
		{"rejected", func(e *end, id AssignmentID) { e.ackJob(job0, id.Job, rejected()) }, int(SoftFailure), "0", ""},
		{"an unknown type", func(e *end, id AssignmentID) { e.raw(job0, 0x77, 0xff) }, int(SoftFailure), "0", ""},
		{"an unknown type, then accepted", func(e *end, id AssignmentID) {
			e.raw(job0, 0x77)
			e.ackJob(job0, id.Job, accepted)
			e.say(job0, e.resultOf(id.Job, "done"))
		}, int(SoftFailure), "0", ""},
		{"nothing", func(e *end, id AssignmentID) {}, int(HardFailure), "", ""},
		{"an ended stream", func(e *end, id AssignmentID) { e.step(Connection{connection.Ended{ID: e.id, Stream: job0}}) }, int(HardFailure), "",
			""},
		{"a result before the ack", func(e *end, id AssignmentID) { e.say(job0, e.resultOf(id.Job, "")) }, int(SoftFailure), "",
			push.UnexpectedFrame},
		{"a frame of the control stream", func(e *end, id AssignmentID) { e.say(job0, &push.Goodbye{}) }, int(SoftFailure), "",
			push.UnexpectedFrame},
		{"a frame of validators", func(e *end, id AssignmentID) { e.raw(job0, byte(push.TypeJobCancel)) }, int(SoftFailure), "",
			push.UnexpectedFrame},
		{"rubbish", func(e *end, id AssignmentID) { e.raw(job0, byte(push.TypeJobAck), 0xff) }, int(SoftFailure), "", push.Malformed},
		{"another job's ack", func(e *end, id AssignmentID) { e.ackJob(job0, types.Hash{9}, accepted) }, int(SoftFailure), "",
			push.UnexpectedFrame},
		{"an unsigned ack", func(e *end, id AssignmentID) { e.say(job0, &push.JobAck{JobID: id.Job, Status: accepted}) }, int(SoftFailure), "",
			push.BadSignature},
		{"a torn frame", func(e *end, id AssignmentID) {
			e.step(Connection{connection.Ended{ID: e.id, Stream: job0, Torn: true}})
		}, -1, "", push.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, e, id := pushed(t, 1)
			c.says(e, id)
			if c.left != "" {
				if why := e.goodbye(); why != c.left {
					t.Fatalf("left for %s, want %s", why, c.left)
				}
			}
			// The time of an ack passes, with pings but for the last: they would
			// restore what a hard failure clears.
			for i := range 3 {
				w.pass(time.Second)
				w.block(nil)
				if e.sent[0] = nil; i < 2 && c.left == "" {
					e.ping()
				}
			}
			if got := outcome(w); got != c.want || w.bits() != c.bits {
				t.Fatalf("outcome %d, bits %q; want %d, %q", got, w.bits(), c.want, c.bits)
			}
			hard := c.want == int(HardFailure)
			if e.reset[job0] != hard {
				t.Fatalf("reset: %v", e.reset)
			}
			if !hard || c.left != "" {
				return
			}
			// The presence floor: a ping restores the bit at once.
			e.sent[0] = nil
			e.ping()
			if w.bits() != "0" {
				t.Fatal("a ping does not restore the bit")
			}
			// It is not pushed again on this connection, but on the next.
			w.blocks(2)
			if len(e.sent[job1]) != 0 {
				t.Fatal("pushed again on the same connection")
			}
			again := w.reconnect("r0")
			expect[*push.JobAssignment](again, job0)
		})
	}
}

// reconnect is a runner's next connection.
func (w *world) reconnect(name string) *end {
	w.Helper()
	e := w.connect(name, 1).greet()
	expect[*push.HelloAck](e, connection.Control)
	e.say(connection.Control, e.ackOf())
	return e
}

func TestAnAckMayTakeItsBlocksAndItsTime(t *testing.T) {
	w, e, id := pushed(t, 1)
	for range 9 {
		w.block(nil) // at once
	}
	w.pass(300*time.Millisecond - 1)
	if outcome(w) != -1 {
		t.Fatal("only blocks made it a hard failure")
	}
	e.ackJob(job0, id.Job, accepted)
	w.pass(time.Minute)
	w.blocks(0)
	if outcome(w) != -1 || e.reset[job0] {
		t.Fatal("an accepted job is a hard failure")
	}
	w, e, _ = pushed(t, 1)
	w.pass(time.Hour)
	w.block(nil)
	w.block(nil)
	if outcome(w) != -1 {
		t.Fatal("only time made it a hard failure")
	}
	w.block(nil)
	if outcome(w) != int(HardFailure) || !e.reset[job0] {
		t.Fatal("no hard failure when blocks and time are over")
	}
}

// TestBehindTheAckComeProgressAndOneResult, and each of the others ends the
// connection.
func TestBehindTheAckComeProgressAndOneResult(t *testing.T) {
	for name, c := range map[string]struct {
		status push.AckStatus
		says   func(e *end, id AssignmentID)
		want   push.Reason
	}{
		"a second ack": {accepted, func(e *end, id AssignmentID) { e.ackJob(job0, id.Job, duplicate) }, push.UnexpectedFrame},
		"a second result": {accepted, func(e *end, id AssignmentID) {
			e.say(job0, e.resultOf(id.Job, "1"))
			e.say(job0, e.resultOf(id.Job, "1"))
		}, push.UnexpectedFrame},
		"progress after the result": {duplicate, func(e *end, id AssignmentID) {
			e.say(job0, e.resultOf(id.Job, "1"))
			e.say(job0, &push.JobProgress{JobID: id.Job})
		}, push.UnexpectedFrame},
		"progress after a rejection": {rejected(), func(e *end, id AssignmentID) { e.say(job0, &push.JobProgress{JobID: id.Job}) },
			push.UnexpectedFrame},
		"another job's progress": {accepted, func(e *end, id AssignmentID) { e.say(job0, &push.JobProgress{}) }, push.UnexpectedFrame},
		"another job's result":   {accepted, func(e *end, id AssignmentID) { e.say(job0, e.resultOf(types.Hash{9}, "")) }, push.UnexpectedFrame},
		"a result without an assignment": {accepted, func(e *end, id AssignmentID) {
			f := e.resultOf(id.Job, "1")
			f.ResultData = []byte("2")
			e.say(job0, f)
		}, push.BadSignature},
		"more than the whole": {accepted, func(e *end, id AssignmentID) {
			e.raw(job0, append([]byte{byte(push.TypeJobProgress)},
				"\xa3\x66detail\xf6\x66job_id\x58\x20"+string(id.Job[:])+"\x68fraction\x18\x65"...)...)
		}, push.Malformed},
		"a storm of progress": {accepted, func(e *end, id AssignmentID) {
			for range 20 {
				e.say(job0, &push.JobProgress{JobID: id.Job})
			}
		}, push.RateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			_, e, id := pushed(t, 1)
			e.ackJob(job0, id.Job, c.status)
			c.says(e, id)
			if why := e.goodbye(); why != c.want {
				t.Fatalf("left for %s, want %s", why, c.want)
			}
		})
	}
	w, e, id := pushed(t, 1)
	e.ackJob(job0, id.Job, accepted)
	detail := "half"
	e.say(job0, &push.JobProgress{JobID: id.Job, Fraction: 50, Detail: &detail})
	if got := reported[Progressed](w); len(got) != 1 || got[0].Fraction != 50 || *got[0].Detail != "half" || got[0].Assignment != id {
		t.Fatalf("told %v", got)
	}
}

// TestSection105TheEndOfAnAssignmentIsToldOnItsStream, and where the runner knows it,
// our side just ends.
func TestSection105TheEndOfAnAssignmentIsToldOnItsStream(t *testing.T) {
	for _, c := range []struct {
		how    Ending
		status push.AckStatus
		want   push.CancelReason
	}{
		{Reassigned, accepted, push.Reassigned}, {Expired, accepted, push.Expired}, {Failed, duplicate, push.Failed},
		{Landed, accepted, ""}, {Expired, rejected(), ""},
	} {
		w, e, id := pushed(t, 1)
		e.ackJob(job0, id.Job, c.status)
		w.finish(e.signer, id, c.how)
		w.block(nil)
		if c.want != "" {
			f := expect[*push.JobCancel](e, job0)
			signer, ok := signatures.Recover(f.Digest(chainID), f.ValidatorSigned)
			if f.Reason != c.want || f.JobID != id.Job || !ok || signer != signerOf("v0").Address() {
				t.Fatalf("cancelled with %+v, want %s", f, c.want)
			}
		}
		if len(e.sent[job0]) != 0 || !e.done[job0] {
			t.Fatalf("after the end: %v, ended %v", e.sent[job0], e.done)
		}
		// Crossing frames are dropped.
		e.raw(job0, 0x77)
		e.raw(job0, byte(push.TypeJobResult), 0xff)
		if len(e.done) != 1 {
			t.Fatalf("a frame that crossed ended the connection: %v", e.done)
		}
		// The runner may end its side a while later.
		w.pass(linger - 1)
		if e.reset[job0] {
			t.Fatal("broken off too soon")
		}
		w.pass(1)
		if !e.reset[job0] || len(w.peerOf(e).deliveries) != 0 {
			t.Fatalf("not broken off: %v, %d deliveries", e.reset, len(w.peerOf(e).deliveries))
		}
	}
}

func TestAStreamWhoseSidesHaveEndedIsForgotten(t *testing.T) {
	for _, first := range []bool{true, false} {
		w, e, id := pushed(t, 1)
		e.ackJob(job0, id.Job, accepted)
		ends := func() { w.step(Connection{connection.Ended{ID: e.id, Stream: job0}}) }
		if first {
			ends()
		}
		w.finish(e.signer, id, Landed)
		w.block(nil)
		if !first {
			ends()
		}
		if n := len(w.peerOf(e).deliveries); n != 0 {
			t.Fatalf("%d deliveries are remembered", n)
		}
	}
}

// TestOpenAssignmentsArePushedAgainBehindTheNextHello (decision J13).
func TestOpenAssignmentsArePushedAgainBehindTheNextHello(t *testing.T) {
	w, e, id := pushed(t, 1)
	e.ackJob(job0, id.Job, accepted)
	w.step(Connection{connection.Down{ID: e.id}})
	again := w.reconnect("r0")
	if f := expect[*push.JobAssignment](again, job0); f.JobID != id.Job {
		t.Fatalf("pushed %v", f)
	}
	w.finish(e.signer, id, Landed)
	w.block(nil)
	third := w.reconnect("r0")
	if len(third.sent[job0]) != 0 {
		t.Fatal("a landed job was pushed again")
	}
}

func TestALaterDrawOfAJobIsAnotherAssignment(t *testing.T) {
	w, e, id := pushed(t, 1)
	e.ackJob(job0, id.Job, accepted)
	w.finish(e.signer, id, Reassigned)
	w.assign(e.signer, 1, 1)
	w.block(nil)
	if f := expect[*push.JobAssignment](e, job1); f.JobID != id.Job || f.BlockHeight == id.Drawn {
		t.Fatalf("pushed %v", f)
	}
}

// TestNoMoreStreamsThanARunnerAllows: what is beyond is pushed when a stream ended.
func TestNoMoreStreamsThanARunnerAllows(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	var ids []AssignmentID
	for job := range minJobStreams + 2 {
		ids = append(ids, w.assign(e.signer, byte(job+1), 1))
	}
	w.block(nil)
	p := w.peerOf(e)
	if p.opens != minJobStreams {
		t.Fatalf("%d streams", p.opens)
	}
	e.ackJob(job0, ids[0].Job, accepted)
	w.finish(e.signer, ids[0], Landed)
	w.block(nil)
	if p.opens != minJobStreams {
		t.Fatal("a stream that ended on one side does not free its place")
	}
	w.step(Connection{connection.Ended{ID: e.id, Stream: job0}})
	if p.opens != minJobStreams+1 {
		t.Fatalf("%d streams, when one ended", p.opens)
	}
	w.runners[e.signer.Address()].MaxJobs = 1000
	w.block(nil)
	if p.opens != minJobStreams+2 {
		t.Fatalf("%d streams, when the runner registered more", p.opens)
	}
}

func TestOnlyHotAndSunsetPush(t *testing.T) {
	for _, phase := range []selection.Phase{selection.Shadow, selection.Hot, selection.Sunset} {
		w := newWorld(t, func(p *params.Params) { p.Push = string(phase) })
		e := w.live("r0")
		e.ping()
		w.assign(e.signer, 1, 1)
		w.block(nil)
		if got := len(e.sent[job0]) == 1; got != (phase != selection.Shadow) || w.bits() != "0" {
			t.Errorf("%s: pushed %v, bits %q", phase, got, w.bits())
		}
	}
}

func TestWhatCannotLandAnyMoreIsNotPushed(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	id := w.assign(e.signer, 1, 1)
	w.at(e.signer, id).Deadline = w.head.Height + 1
	w.block(nil)
	if len(e.sent[job0]) != 0 {
		t.Fatal("pushed at its deadline")
	}
}

// TestJ15TheCommitmentAtOnceAndThenTheReveal walks each way of a result to the chain.
func TestJ15TheCommitmentAtOnceAndThenTheReveal(t *testing.T) {
	result := func(e *end, id AssignmentID) types.Hash {
		e.ackJob(job0, id.Job, accepted)
		f := e.resultOf(id.Job, "done")
		e.say(job0, f)
		return push.Commitment(f.ResultData, f.RunnerSigned)
	}
	submitted := func(w *world) string {
		text := ""
		for _, s := range w.submits {
			switch s := s.(type) {
			case Commit:
				text += "commit "
			case Reveal:
				text += fmt.Sprintf("reveal %s alone=%v ", s.Result.ResultData, s.Alone)
			}
		}
		w.submits = nil
		return text
	}
	t.Run("a committee of one", func(t *testing.T) {
		w, e, id := pushed(t, 1)
		result(e, id)
		w.blocks(3)
		if got := submitted(w); got != "reveal done alone=true " {
			t.Fatalf("submitted %q", got)
		}
	})
	t.Run("after the time to commit", func(t *testing.T) {
		w, e, id := pushed(t, 3)
		commitment := result(e, id)
		if len(w.submits) != 1 || w.submits[0] != (Commit{Runner: e.signer.Address(), Assignment: id, Commitment: commitment,
			Signed: e.signer.Sign(push.CommitmentDigest(chainID, id.Job, id.Drawn, commitment))}) {
			t.Fatalf("submitted %v", w.submits)
		}
		submitted(w)
		w.at(e.signer, id).Commitments = []types.Hash{{1}, commitment}
		for w.head.Height < w.at(e.signer, id).CommitEnd-1 {
			w.block(nil)
		}
		if got := submitted(w); got != "" {
			t.Fatalf("submitted %q in the time to commit", got)
		}
		w.block(nil) // the last that takes commitments is final
		if got := submitted(w); got != "reveal done alone=false " {
			t.Fatalf("submitted %q", got)
		}
		w.blocks(3)
		if got := submitted(w); got != "" {
			t.Fatalf("submitted %q again", got)
		}
	})
	t.Run("when all have committed", func(t *testing.T) {
		w, e, id := pushed(t, 3)
		commitment := result(e, id)
		submitted(w)
		w.at(e.signer, id).AllCommitted = true
		w.block(nil)
		if got := submitted(w); got != "" {
			t.Fatalf("submitted %q by others' commitments", got)
		}
		w.at(e.signer, id).Commitments = []types.Hash{commitment}
		w.step(Connection{connection.Down{ID: e.id}}) // what was taken outlives it
		w.block(nil)
		if got := submitted(w); got != "reveal done alone=false " {
			t.Fatalf("submitted %q", got)
		}
	})
	t.Run("a commitment that another validator brought", func(t *testing.T) {
		w, e, id := pushed(t, 3)
		f := e.resultOf(id.Job, "done")
		w.at(e.signer, id).Commitments = []types.Hash{push.Commitment(f.ResultData, f.RunnerSigned)}
		result(e, id)
		if got := submitted(w); got != "" {
			t.Fatalf("submitted %q", got)
		}
	})
	t.Run("too late to commit", func(t *testing.T) {
		w, e, id := pushed(t, 3)
		w.at(e.signer, id).CommitEnd = w.head.Height
		result(e, id)
		w.blocks(2)
		if got := submitted(w); got != "" {
			t.Fatalf("submitted %q", got)
		}
	})
}

// J24: what was submitted and is kept no more is submitted again at the next head, and at
// no other.
func TestJ24WhatIsNotKeptIsSubmittedAgain(t *testing.T) {
	for _, committee := range []int{1, 3} {
		w, e, id := pushed(t, committee)
		e.ackJob(job0, id.Job, accepted)
		e.say(job0, e.resultOf(id.Job, "done"))
		first := w.submits
		if w.submits = nil; len(first) != 1 {
			t.Fatalf("submitted %v", first)
		}
		w.block(nil)
		w.step(Unkept{Runner: e.signer.Address(), Job: types.Hash{99}})
		w.step(Unkept{Runner: types.Address{99}, Job: id.Job})
		w.block(nil)
		if len(w.submits) != 0 {
			t.Errorf("submitted again without need: %v", w.submits)
		}
		w.step(Unkept{Runner: e.signer.Address(), Job: id.Job})
		if len(w.submits) != 0 {
			t.Errorf("submitted again before the next head: %v", w.submits)
		}
		w.block(nil)
		w.block(nil)
		if len(w.submits) != 1 || fmt.Sprint(w.submits) != fmt.Sprint(first) {
			t.Errorf("a committee of %d: %v was not kept; then submitted: %v", committee, first, w.submits)
		}
	}
}

func TestAResultThatIsNotTaken(t *testing.T) {
	w, e, id := pushed(t, 1)
	e.ackJob(job0, id.Job, accepted)
	e.say(job0, e.resultOf(id.Job, string(make([]byte, 101))))
	if got := reported[NotTaken](w); len(got) != 1 || len(w.submits) != 0 || len(e.done) != 0 {
		t.Fatalf("told %v, submitted %v", got, w.submits)
	}
	// An equivocal runner's first result counts.
	w, e, id = pushed(t, 3)
	e.ackJob(job0, id.Job, accepted)
	e.say(job0, e.resultOf(id.Job, "one"))
	again := w.reconnect("r0")
	again.ackJob(job0, id.Job, duplicate)
	again.say(job0, again.resultOf(id.Job, "two"))
	if got := reported[NotTaken](w); len(got) != 1 || len(w.submits) != 1 {
		t.Fatalf("told %v, submitted %v", got, w.submits)
	}
	// A result that landed through another validator is dropped.
	w.finish(e.signer, id, Landed)
	w.block(nil)
	if len(w.results.index.all) != 0 || w.results.bytes != 0 {
		t.Fatalf("%d results are held", len(w.results.index.all))
	}
}

// A runner that lets its results wait until the end of long jobs leaves room for those
// of others: as much as it holds itself.
func TestResultsThatWaitAreBounded(t *testing.T) {
	const size = push.MaxFrame - 1024
	w := newWorld(t, nil)
	bring := func(e *end, first byte, jobs int) {
		w.runners[e.signer.Address()].MaxJobs = 100
		var ids []AssignmentID
		for job := range byte(jobs) {
			id := w.assign(e.signer, first+job, 3)
			w.at(e.signer, id).MaxReturn = size
			ids = append(ids, id)
		}
		w.block(nil)
		for i, id := range ids {
			e.ackJob(connection.Job(uint64(i)), id.Job, accepted)
			e.say(connection.Job(uint64(i)), e.resultOf(id.Job, string(make([]byte, size))))
		}
	}
	const all = MaxHeldBytes / size
	bring(w.live("r0"), 1, all)
	if got := reported[NotTaken](w); len(got) != all-all/2 || w.results.bytes != all/2*(size+heldOverhead) {
		t.Fatalf("of one runner %d results are not taken, %d bytes held", len(got), w.results.bytes)
	}
	bring(w.live("r1"), 1+all, all)
	if got := reported[NotTaken](w); len(got) != all-all/4 || w.results.bytes != (all/2+all/4)*(size+heldOverhead) {
		t.Fatalf("of the other %d results are not taken, %d bytes held", len(got), w.results.bytes)
	}
}

// recovering counts the signatures that are judged.
type recovering struct {
	Verifier
	times int
}

func (r *recovering) Recover(digest types.Hash, sig types.Signature) (types.Address, bool) {
	r.times++
	return r.Verifier.Recover(digest, sig)
}

// Anybody may bring a result by HTTP.
func TestJ11WhatIsNotTakenAnywayIsNotJudgedByItsSignature(t *testing.T) {
	w := newWorld(t, nil)
	e := w.live("r0")
	id := w.assign(e.signer, 1, 3)
	w.at(e.signer, id).MaxReturn = 5
	w.block(nil)
	judged := &recovering{Verifier: w.config.Verifier}
	w.config.Verifier = judged
	bring := func(job types.Hash, data string, want string, times int) {
		t.Helper()
		w.step(Polled{Runner: e.signer.Address(), Result: e.resultOf(job, data)})
		got := reported[NotTaken](w)
		if judged.times != times || (len(got) == 0) != (want == "") || want != "" && got[0].Why != want {
			t.Errorf("told %v, %d signatures judged", got, judged.times)
		}
	}
	bring(types.Hash{9}, "one", "its assignment is over", 0)
	bring(id.Job, "longer", "it is longer than the job's max_return_bytes", 0)
	bring(id.Job, "one", "", 2)
	bring(id.Job, "two", "the runner's result is held already", 2)
}

package worker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// counting counts signatures.
type counting struct {
	crypto.Signer
	made int
}

func (c *counting) Sign(digest types.Hash) types.Signature {
	c.made++
	return c.Signer.Sign(digest)
}

// TestOneSignatureAnswersAllWhoPushWhatIsThere: they push at the same time, and each
// would wait for those before it.
func TestOneSignatureAnswersAllWhoPushWhatIsThere(t *testing.T) {
	w := newWorld(t)
	signer := &counting{Signer: w.config.Signer}
	w.config.Signer = signer
	for job := range 2 {
		id := w.drawn(byte(job + 1))
		for validator := range 5 {
			_, ack := w.deliver(validator+1, id, nil)
			if ack.Accepted != (validator == 0) || ack.Duplicate != (validator > 0) {
				t.Fatalf("delivery %d is answered by %+v", validator, ack)
			}
		}
		if want := 2 * (job + 1); signer.made != want {
			t.Fatalf("%d signatures answer five deliveries of %d jobs, want %d", signer.made, job+1, want)
		}
	}
}

// TestSection101TheSameAssignmentIsExecutedOnce, whichever validator delivers it,
// also after a reconnect.
func TestSection101TheSameAssignmentIsExecutedOnce(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	first, status := w.deliver(1, id, nil)
	if !status.Accepted {
		t.Fatalf("the first is %+v", status)
	}
	for _, validator := range []int{2, 3, 1} {
		if _, status := w.deliver(validator, id, nil); !status.Duplicate {
			t.Fatalf("another is %+v", status)
		}
	}
	w.event(first, connection.Down{ID: 1})
	if _, status := w.deliver(1, id, nil); !status.Duplicate {
		t.Fatalf("after a reconnect it is %+v", status)
	}
	if got := w.asked(); got != "execute 1 " {
		t.Fatalf("asked %q", got)
	}
	// A later draw of the same job is another.
	w.block()
	again := w.drawn(1)
	if _, status := w.deliver(2, again, nil); !status.Accepted {
		t.Fatalf("a later draw is %+v", status)
	}
}

// TestSection102WhyAJobIsRejected, each reason by a job that is fine but for it.
func TestSection102WhyAJobIsRejected(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *world, id ID, f *push.JobAssignment)
		want   push.RejectReason
	}{
		{"another kind", func(_ *world, _ ID, f *push.JobAssignment) {
			f.JobSpec.JobType = push.JobType{Mcp: &push.Mcp{Server: "s", Arguments: "{}"}}
		}, push.Unsupported},
		{"no spec", func(_ *world, _ ID, f *push.JobAssignment) { f.JobSpec.Verification.Runners = 7 }, push.BadSpec},
		{"its deadline is the head", func(w *world, id ID, f *push.JobAssignment) { f.DeadlineBlock = w.head.Height }, push.PastDeadline},
		{"the chain does not know it", func(w *world, id ID, f *push.JobAssignment) { w.chain[id] = Standing{} }, push.PastDeadline},
		{"the view does not show it, and it is late", func(w *world, id ID, f *push.JobAssignment) {
			delete(w.chain, id)
			f.DeadlineBlock = w.head.Height
		}, push.PastDeadline},
		{"far above the head", func(w *world, id ID, f *push.JobAssignment) {
			f.BlockHeight, f.DeadlineBlock = w.head.Height+maxAhead+1, w.head.Height+1000
		}, push.BadSpec},
		{"draining", func(w *world, id ID, f *push.JobAssignment) { w.step(Drain{On: true, Reason: "update"}) }, push.Capacity},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			id := w.drawn(1)
			l, status := w.deliver(1, id, func(f *push.JobAssignment) { c.change(w, id, f) })
			if status.Reject == nil || *status.Reject != c.want || !w.ended[l] || w.asked() != "" {
				t.Fatalf("%+v, ended %v", status, w.ended[l])
			}
			// Frames after the end of a rejection are not a fault.
			w.event(l, connection.Ended{ID: l.id, Stream: l.stream})
			if len(w.streams) != 0 || len(w.faults) != 0 || len(w.jobs) != 0 {
				t.Fatalf("%d streams, faults %v", len(w.streams), w.faults)
			}
		})
	}
}

func TestSection64CapacityAndItsSignal(t *testing.T) {
	w := newWorld(t)
	var ids []ID
	for job := range byte(4) {
		ids = append(ids, w.drawn(job+1))
		w.deliver(1, ids[job], nil)
		if full := job == 3; (len(w.loads) == 1) != full {
			t.Fatalf("after %d jobs it sent %v", job+1, w.loads)
		}
	}
	if l := w.loads[0]; l.AcceptingNew || l.ActiveJobs != 4 || l.MaxConcurrent != 4 || l.Reason == nil {
		t.Fatalf("said %+v", l)
	}
	over := w.drawn(9)
	if _, status := w.deliver(1, over, nil); status.Reject == nil || *status.Reject != push.Capacity {
		t.Fatalf("the fifth is %+v", status)
	}
	w.step(Finished{ID: ids[0], Result: []byte("done")})
	if len(w.loads) != 2 || !w.loads[1].AcceptingNew {
		t.Fatalf("said %+v", w.loads)
	}
	if _, status := w.deliver(2, over, nil); !status.Accepted {
		t.Fatalf("a rejected job is taken again: %+v", status)
	}
}

func TestSection103TheResultGoesToTheValidatorThatWasAccepted(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	first, _ := w.deliver(1, id, nil)
	second, _ := w.deliver(2, id, nil)
	w.step(Finished{ID: id, Result: []byte("done")})
	f := expect[*push.JobResult](w, first)
	signer, ok := signatures.Recover(f.Digest(chainID), f.RunnerSigned)
	if string(f.ResultData) != "done" || f.JobID != id.Job || !ok || signer != signerOf("r0").Address() {
		t.Fatalf("the result is %+v", f)
	}
	if !w.ended[first] || w.ended[second] || len(w.sent[second]) != 0 {
		t.Fatal("the stream continues, or the other validator got it as well")
	}
	w.step(Finished{ID: id, Result: []byte("another")}) // an executor that answers twice
	if len(w.sent[second]) != 0 {
		t.Fatal("a second result")
	}
}

// TestJ15AResultThatDoesNotLandGoesToAnotherValidator: the same frame, four blocks
// behind the last try, while there is another stream of it.
func TestJ15AResultThatDoesNotLandGoesToAnotherValidator(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	standing := w.chain[id]
	standing.Alone = false
	w.chain[id] = standing
	var lines []line
	for _, validator := range []int{1, 2, 3} {
		l, _ := w.deliver(validator, id, nil)
		lines = append(lines, l)
	}
	w.step(Finished{ID: id, Result: []byte("done")})
	first := expect[*push.JobResult](w, lines[0])
	w.blocks(3)
	if len(w.sent[lines[1]]) != 0 {
		t.Fatal("handed over too soon")
	}
	w.block()
	if f := expect[*push.JobResult](w, lines[1]); f.RunnerSigned != first.RunnerSigned || string(f.ResultData) != "done" {
		t.Fatalf("handed over %+v", f)
	}
	// Its commitment lands: the reveal has its own time.
	standing.Commitments = []types.Hash{push.Commitment([]byte("done"), first.RunnerSigned)}
	w.chain[id] = standing
	w.blocks(6)
	standing.Reveals = w.head.Height + 1
	w.chain[id] = standing
	w.blocks(4)
	if len(w.sent[lines[2]]) != 0 {
		t.Fatal("handed over while the reveal may be on its way")
	}
	w.block()
	expect[*push.JobResult](w, lines[2])
	w.blocks(4)
	// There is no stream left: the next that comes will do, once it is time.
	late, status := w.deliver(2, id, nil)
	if !status.Duplicate {
		t.Fatalf("it is %+v", status)
	}
	expect[*push.JobResult](w, late)
	w.chain[id] = Standing{}
	w.block()
	if len(w.jobs) != 0 {
		t.Fatal("what landed is remembered")
	}
}

func TestAResultWithoutAStreamWaitsForOne(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	l, _ := w.deliver(1, id, nil)
	w.event(l, connection.Down{ID: 1})
	w.step(Finished{ID: id, Result: []byte("done")})
	again, status := w.deliver(2, id, nil)
	if !status.Duplicate {
		t.Fatalf("it is %+v", status)
	}
	expect[*push.JobResult](w, again)
}

func TestSection104ProgressIsNotToldTooOften(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	first, _ := w.deliver(1, id, nil)
	second, _ := w.deliver(2, id, nil)
	for i := range uint8(100) {
		w.step(Advanced{ID: id, Fraction: i + 100, Detail: strings.Repeat("ä", 1000)})
		w.later(10 * time.Millisecond)
	}
	if len(w.sent[first]) != 10 || len(w.sent[second]) != 0 {
		t.Fatalf("%d and %d frames of progress in a second", len(w.sent[first]), len(w.sent[second]))
	}
	if f := expect[*push.JobProgress](w, first); f.Fraction != 100 || *f.Detail != strings.Repeat("ä", 512) {
		t.Fatalf("told %d of %d bytes", f.Fraction, len(*f.Detail))
	}
}

// The newest progress is told even if it came too soon after the one before, or while no
// stream was open.
func TestSection104TheNewestProgressIsTold(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	first, _ := w.deliver(1, id, nil)
	for _, fraction := range []uint8{10, 20, 30} {
		w.step(Advanced{ID: id, Fraction: fraction})
	}
	if f := expect[*push.JobProgress](w, first); f.Fraction != 10 {
		t.Fatalf("the first frame tells %d percent, want 10", f.Fraction)
	}
	w.block()
	if len(w.sent[first]) != 0 {
		t.Fatal("progress was told within the gap")
	}
	w.later(progressGap)
	w.block()
	if f := expect[*push.JobProgress](w, first); f.Fraction != 30 {
		t.Fatalf("the next frame tells %d percent, want 30", f.Fraction)
	}
	w.block()
	w.event(first, connection.Down{ID: 1})
	w.step(Advanced{ID: id, Fraction: 40})
	second, _ := w.deliver(2, id, nil)
	w.block()
	if f := expect[*push.JobProgress](w, second); f.Fraction != 40 {
		t.Fatalf("the stream that took over tells %d percent, want 40", f.Fraction)
	}
	w.block()
	if len(w.sent[second]) != 0 {
		t.Fatal("progress was told twice")
	}
}

// cancel says JobCancel.
func (w *world) cancel(l line, job types.Hash) {
	f := &push.JobCancel{JobID: job, Reason: push.Reassigned}
	f.ValidatorSigned = signerOf(nameOf(l.id)).Sign(f.Digest(chainID))
	w.say(l, f)
}

// TestSection105ACancelEndsItsStreamAndWhatIsOverOnChain, and no more: the job of a
// liar's JobCancel continues.
func TestSection105ACancelEndsItsStreamAndWhatIsOverOnChain(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	liar, _ := w.deliver(1, id, nil)
	honest, _ := w.deliver(2, id, nil)
	w.asked()
	w.cancel(liar, id.Job)
	if !w.ended[liar] || w.ended[honest] || w.asked() != "" {
		t.Fatal("a false JobCancel stopped a job")
	}
	w.step(Finished{ID: id, Result: []byte("done")})
	expect[*push.JobResult](w, honest)

	id = w.drawn(2)
	l, _ := w.deliver(1, id, nil)
	other, _ := w.deliver(2, id, nil)
	w.asked()
	w.chain[id] = Standing{}
	w.cancel(l, id.Job)
	if got := w.asked(); got != "abandon 2 " || !w.ended[l] || !w.ended[other] {
		t.Fatalf("asked %q, ended %v", got, w.ended)
	}
	for _, l := range []line{l, other, liar, honest} {
		w.event(l, connection.Ended{ID: l.id, Stream: l.stream})
	}
	if len(w.streams) != 0 {
		t.Fatalf("%d streams are held", len(w.streams))
	}
}

func TestWhatIsOverOnChainIsStoppedWithoutAWord(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	l, _ := w.deliver(1, id, nil)
	w.asked()
	w.blocks(2)
	if w.asked() != "" {
		t.Fatal("an open job was stopped")
	}
	w.chain[id] = Standing{}
	w.block()
	if got := w.asked(); got != "abandon 1 " || !w.ended[l] {
		t.Fatalf("asked %q", got)
	}
	w.step(Finished{ID: id, Result: []byte("late")}) // what crosses is ignored
	if len(w.sent[l]) != 0 {
		t.Fatal("a result after the end")
	}
}

// TestWhatIsAcceptedIsFollowedUntilItIsOver: the view is asked for exactly these,
// and reports each for a while longer.
func TestWhatIsAcceptedIsFollowedUntilItIsOver(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	delete(w.chain, id) // not told yet
	l, status := w.deliver(1, id, nil)
	if !status.Accepted || !slices.Equal(w.followed, []ID{id}) {
		t.Fatalf("%+v, followed %v", status, w.followed)
	}
	w.followed = nil
	w.deliver(2, id, nil)
	if w.followed != nil {
		t.Fatal("another delivery changes nothing that is followed")
	}
	w.followed = []ID{id}
	w.block() // the view reports that there is no such assignment
	if !w.ended[l] || len(w.jobs) != 0 || w.followed == nil || len(w.followed) != 0 {
		t.Fatalf("ended %v, followed %v", w.ended[l], w.followed)
	}
}

// TestALiarsJobsFillAPartAndForAWhile: what the chain does not show yet may be a
// late view's, and is bounded for each validator.
func TestALiarsJobsFillAPartAndForAWhile(t *testing.T) {
	w := newWorld(t)
	ahead := func(job byte) ID { return ID{Job: types.Hash{job}, Drawn: w.head.Height + 2} }
	if _, status := w.deliver(1, ahead(1), nil); !status.Accepted {
		t.Fatalf("what a late view does not show is %+v", status)
	}
	if _, status := w.deliver(1, ahead(2), nil); status.Reject == nil || *status.Reject != push.Capacity {
		t.Fatalf("a liar's second is %+v", status)
	}
	honest := w.drawn(3)
	if _, status := w.deliver(2, honest, nil); !status.Accepted {
		t.Fatalf("an honest job is %+v", status)
	}
	w.asked()
	w.blocks(2)
	if got := w.asked(); got != "" || w.countBusy() != 1 {
		t.Fatalf("asked %q, and %d are busy", got, w.countBusy())
	}
}

// TestALiarsJobKeepsNoOtherOut: neither does a runner of one job refuse the chain's for it,
// nor say that it takes none.
func TestALiarsJobKeepsNoOtherOut(t *testing.T) {
	w := newWorld(t)
	w.config.MaxJobs = 1
	if _, status := w.deliver(1, ID{Job: types.Hash{1}, Drawn: w.head.Height + 2}, nil); !status.Accepted || len(w.loads) != 0 {
		t.Fatalf("what a late view does not show is %+v, and the runner said %v", status, w.loads)
	}
	if _, status := w.deliver(2, w.drawn(2), nil); !status.Accepted || w.asked() != "execute 2 " {
		t.Fatalf("the chain's job is %+v", status)
	}
	if _, status := w.deliver(2, w.drawn(3), nil); status.Reject == nil || len(w.loads) != 1 || w.loads[0].AcceptingNew {
		t.Fatalf("one beyond it is %+v, and the runner said %v", status, w.loads)
	}
}

// TestWhatTheExecutorHasNoPlaceForWaits: two validators may deliver one each before the view
// shows either.
func TestWhatTheExecutorHasNoPlaceForWaits(t *testing.T) {
	w := newWorld(t)
	w.config.MaxJobs = 1
	first, second := w.late(1), w.late(2)
	later := func(f *push.JobAssignment) { f.DeadlineBlock = w.chain[first].Deadline }
	w.deliver(1, first, later)
	w.deliver(2, second, later)
	w.block()
	if got := w.asked(); got != "execute 1 " {
		t.Fatalf("asked %q", got)
	}
	w.step(Finished{ID: first, Result: []byte("done")})
	w.block()
	if got := w.asked(); got != "execute 2 " {
		t.Fatalf("asked %q when there was a place", got)
	}
}

// forged is the assignment of another spec, which a liar signs.
func forged(f *push.JobAssignment) { f.JobSpec.JobType.Custom.Params = []byte("forged") }

// late draws a job that the view shows a block later.
func (w *world) late(job byte) ID {
	id := w.drawn(job)
	s := w.chain[id]
	s.Deadline++
	id.Drawn++
	w.chain[id] = s
	return id
}

// TestOneValidatorAloneHasARunnerDoNothing: what a minority of the runner's validators
// delivers may be made up, and what is done for it cannot be undone.
func TestOneValidatorAloneHasARunnerDoNothing(t *testing.T) {
	w := newWorld(t)
	for v := range 4 {
		w.validators = append(w.validators, types.Validator{PublicKey: signerOf(nameOf(connection.ID(v + 1))).PublicKey()})
	}
	w.tell(100)
	id := w.late(1)
	if _, status := w.deliver(1, id, forged); !status.Accepted {
		t.Fatalf("the liar's is %+v", status)
	}
	if _, status := w.deliver(1, id, nil); status.Reject == nil || *status.Reject != push.BadSpec {
		t.Fatalf("its second is %+v", status)
	}
	for range 3 {
		w.deliver(1, id, forged) // it says the same again, which makes it no more than one
		w.deliver(9, id, forged) // and so does one that the runner does not belong to
	}
	w.deliver(2, id, nil)
	w.deliver(3, id, nil)
	if got := w.asked(); got != "" || w.countBusy() != 0 || len(w.jobs) != 1 {
		t.Fatalf("two of four have it asked %q, and %d busy", got, w.countBusy())
	}
	w.deliver(4, id, nil)
	if len(w.asks) != 1 || string(w.asks[0].(Execute).Spec.JobType.Custom.Params) != "hello" {
		t.Fatalf("asked %v", w.asks)
	}
	w.asked()
	w.block()
	if got := w.asked(); got != "" {
		t.Fatalf("what the chain shows as well is asked again: %q", got)
	}
}

// TestOfTwoSpecsTheChainsIsWorkedBy: one of two validators that sign other specs for
// an assignment lies, and may come first.
func TestOfTwoSpecsTheChainsIsWorkedBy(t *testing.T) {
	w := newWorld(t)
	id := w.late(1)
	first, _ := w.deliver(1, id, forged)
	second, status := w.deliver(2, id, nil)
	if !status.Duplicate {
		t.Fatalf("the honest one's is %+v", status)
	}
	w.block()
	if len(w.asks) != 1 || string(w.asks[0].(Execute).Spec.JobType.Custom.Params) != "hello" {
		t.Fatalf("asked %v", w.asks)
	}
	w.step(Finished{ID: id, Result: []byte("done")})
	if f := expect[*push.JobResult](w, second); string(f.ResultData) != "done" || len(w.sent[first]) != 0 {
		t.Fatalf("the result is %s, and the liar got %v", f.ResultData, w.sent[first])
	}
	// If most of the runner's validators lie, the work that was begun is given up,
	// without a result.
	w = newWorld(t)
	w.validators = []types.Validator{{PublicKey: signerOf("v1").PublicKey()}}
	w.tell(100)
	id = w.late(2)
	w.deliver(1, id, forged)
	honest, _ := w.deliver(2, id, nil)
	w.step(Finished{ID: id, Result: []byte("of the forged one")})
	w.block()
	if got := w.asked(); got != "execute 2 execute 2 " {
		t.Fatalf("asked %q", got)
	}
	w.step(Finished{ID: id, Result: []byte("of the true one")})
	if f := expect[*push.JobResult](w, honest); string(f.ResultData) != "of the true one" {
		t.Fatalf("the result is %s", f.ResultData)
	}
}

// TestLiarsDoNotFillAnAssignmentsSpecs: there is room for the chain's, however many
// were told before it.
func TestLiarsDoNotFillAnAssignmentsSpecs(t *testing.T) {
	w := newWorld(t)
	id := w.late(5)
	for n := range byte(2 * MaxSpecs) {
		_, status := w.deliver(int(n), id, func(f *push.JobAssignment) { f.JobSpec.JobType.Custom.Params = []byte{n} })
		if status.Reject != nil || len(w.jobs[id].specs) > MaxSpecs {
			t.Fatalf("spec %d is %+v, and there are %d", n, status, len(w.jobs[id].specs))
		}
	}
	w.deliver(20, id, nil)
	w.deliver(21, id, nil)
	w.deliver(22, id, forged)
	w.block()
	if len(w.asks) != 1 || string(w.asks[0].(Execute).Spec.JobType.Custom.Params) != "hello" {
		t.Fatalf("asked %v", w.asks)
	}
	// A job without a delivery cannot be done.
	id = w.late(6)
	w.deliver(1, id, forged)
	w.asked()
	w.block()
	if got := w.asked(); got != "" || w.jobs[id] != nil {
		t.Fatalf("asked %q", got)
	}
}

func TestAnExecutorThatFailsOrSaysTooMuch(t *testing.T) {
	w := newWorld(t)
	for job, end := range []func(ID){
		func(id ID) { w.step(Broke{ID: id, Why: "no network"}) },
		func(id ID) { w.step(Finished{ID: id, Result: make([]byte, 101)}) },
	} {
		id := w.drawn(byte(job + 1))
		l, _ := w.deliver(1, id, nil)
		end(id)
		if !w.ended[l] || len(w.sent[l]) != 0 {
			t.Fatal("its stream continues")
		}
		w.asked()
		again, status := w.deliver(2, id, nil)
		if !status.Duplicate || !w.ended[again] || w.asked() != "" {
			t.Fatalf("delivered again it is %+v", status)
		}
	}
}

// TestFaultsOnAJobsStream are for the session to leave for.
func TestFaultsOnAJobsStream(t *testing.T) {
	for name, c := range map[string]struct {
		says func(w *world, l line, id ID)
		want push.Reason
	}{
		"a cancel first":         {func(w *world, l line, id ID) { w.cancel(l, id.Job) }, push.UnexpectedFrame},
		"a frame of runners":     {func(w *world, l line, id ID) { w.say(l, &push.JobProgress{}) }, push.UnexpectedFrame},
		"a frame of the control": {func(w *world, l line, id ID) { w.say(l, &push.Goodbye{}) }, push.UnexpectedFrame},
		"rubbish":                {func(w *world, l line, id ID) { w.raw(l, byte(push.TypeJobAssignment), 0xff) }, push.Malformed},
		"another's signature": {func(w *world, l line, id ID) {
			f := w.assignmentOf(l, id, nil)
			f.ValidatorSigned = signerOf("v9").Sign(f.Digest(chainID))
			w.say(l, f)
		}, push.BadSignature},
		"another spec than signed": {func(w *world, l line, id ID) {
			f := w.assignmentOf(l, id, nil)
			f.JobSpec.JobType.Custom.Params = []byte("forged")
			w.say(l, f)
		}, push.BadSignature},
		"twice": {func(w *world, l line, id ID) {
			w.say(l, w.assignmentOf(l, id, nil))
			w.say(l, w.assignmentOf(l, id, nil))
		}, push.UnexpectedFrame},
		"twice, of a job whose id is zero": {func(w *world, l line, _ ID) {
			w.say(l, w.assignmentOf(l, ID{Drawn: w.head.Height}, nil))
			w.say(l, w.assignmentOf(l, ID{Drawn: w.head.Height}, nil))
		}, push.UnexpectedFrame},
		"another job's cancel": {func(w *world, l line, id ID) {
			w.say(l, w.assignmentOf(l, id, nil))
			w.cancel(l, types.Hash{9})
		}, push.UnexpectedFrame},
		"an unsigned cancel": {func(w *world, l line, id ID) {
			w.say(l, w.assignmentOf(l, id, nil))
			w.say(l, &push.JobCancel{JobID: id.Job, Reason: push.Failed})
		}, push.BadSignature},
	} {
		w := newWorld(t)
		id := w.drawn(1)
		l := w.open(1)
		w.raw(l, 0x77) // of an unknown type, which is skipped
		c.says(w, l, id)
		if why := w.fault(); why != c.want {
			t.Errorf("%s: %s, want %s", name, why, c.want)
		}
	}
}

func TestAStreamThatTheValidatorEndsIsEndedAndForgotten(t *testing.T) {
	w := newWorld(t)
	id := w.drawn(1)
	l, _ := w.deliver(1, id, nil)
	w.event(l, connection.Ended{ID: l.id, Stream: l.stream})
	if len(w.streams) != 0 || !w.ended[l] {
		t.Fatalf("%d streams, ended %v", len(w.streams), w.ended)
	}
	if _, status := w.deliver(1, id, nil); !status.Duplicate {
		t.Fatalf("delivered again it is %+v", status)
	}
}

// J21: a runner signs its refusal for this draw and for the spec that it was told. It signs
// none where it only finds that the assignment is over, or works by another spec.
func TestJ21ARefusalIsOfTheSpecThatWasDelivered(t *testing.T) {
	w := newWorld(t)
	w.step(Drain{On: true, Reason: "up\ndate"})
	id := w.drawn(1)
	refusal := func(validator int, change func(*push.JobAssignment)) (*push.JobAck, *push.JobAssignment) {
		l := w.open(validator)
		said := w.assignmentOf(l, id, change)
		w.say(l, said)
		return expect[*push.JobAck](w, l), said
	}
	f, said := refusal(1, func(f *push.JobAssignment) { f.JobSpec.Tip = types.WeiOf(9) })
	if f.RefusalSigned == nil || f.Reason == nil {
		t.Fatalf("the refusal is %+v", f)
	}
	signed := push.Refusal{JobID: id.Job, Drawn: id.Drawn, Spec: said.JobSpec.Hash(), Reason: push.Capacity, Text: *f.Reason}
	if signer, ok := signatures.Recover(signed.Digest(chainID), *f.RefusalSigned); !ok || signer != signerOf("r0").Address() {
		t.Errorf("the refusal is signed by %s", signer)
	}
	if why := signed.Counts(); why != "" {
		t.Errorf("the refusal does not count: %s", why)
	}
	if f, _ := refusal(2, func(f *push.JobAssignment) { f.DeadlineBlock = w.head.Height }); f.Status.Reject == nil || f.RefusalSigned != nil {
		t.Errorf("of an assignment that is over it says %+v", f)
	}
	w.step(Drain{})
	w.deliver(1, id, nil)
	if f, _ := refusal(1, func(f *push.JobAssignment) { f.JobSpec.Tip = types.WeiOf(9) }); f.Status.Reject == nil || f.RefusalSigned != nil {
		t.Errorf("of another spec for its job it says %+v", f)
	}
}

// J5: the first commitment of a draw counts. A runner that restarted signs no other one when
// its view shows it, and gives a result up whose commitment came second.
func TestJ5ARunnerSignsNoSecondCommitment(t *testing.T) {
	for _, when := range []string{"before the result", "after the result"} {
		w := newWorld(t)
		id := w.drawn(1)
		two, asked := push.Verification{Mode: push.Deterministic, Runners: 2}, spec()
		asked.Verification = two
		standing := w.chain[id]
		standing.Alone, standing.SpecHash = false, asked.Hash()
		w.chain[id] = standing
		w.tell(101)
		l, _ := w.deliver(1, id, func(f *push.JobAssignment) { f.JobSpec.Verification = two })
		stands := func() {
			standing.Commitments = []types.Hash{{1}}
			w.chain[id] = standing
			w.tell(102)
		}
		if when == "before the result" {
			stands()
		}
		w.step(Finished{ID: id, Result: []byte("done")})
		if when == "after the result" {
			expect[*push.JobResult](w, l)
			stands()
		}
		if len(w.sent[l]) != 0 || w.jobs[id].state != failed {
			t.Errorf("%s: sent %v", when, w.sent[l])
		}
	}
}

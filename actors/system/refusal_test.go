package system

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// failure is the error of the job that failed in the last block.
func (w *world) failure() string {
	for _, e := range w.past {
		var event JobEvent
		if e.Name == "job.failed" && codec.Unmarshal(e.Data, 10_000, &event) == nil {
			return *event.Error
		}
	}
	return ""
}

// J21: six jobs that no runner can do, such as jobs with a typo in the executor's name,
// end as soon as all runners refused, and take no reputation.
func TestJ21AJobThatAllRunnersRefuseEndsAndCostsNoReputation(t *testing.T) {
	w := newWorld(t)
	names := []string{"r0", "r1", "r2", "r3"}
	w.register(names...)
	for range 6 {
		id := w.drawn(spec(1))
		for range names {
			one := w.committee(id)[0]
			w.must(w.refuse("v0", id, one))
			w.end()
		}
		if w.job(id) != nil || w.failure() != ErrorRefused {
			t.Fatalf("the job is %+v; the failure %q", w.job(id), w.failure())
		}
	}
	for _, name := range names {
		if r := w.runner(name); r.Reputation != 75 || r.ActiveJobs != 0 || r.Refusals != 6 {
			t.Errorf("%s: reputation %d, %d jobs, %d refusals", name, r.Reputation, r.ActiveJobs, r.Refusals)
		}
	}
}

// J21: the submitter reads why.
func TestJ21TheFailureNamesTheLastReason(t *testing.T) {
	j := &Job{Why: "Unsupported: no such executor"}
	if got := j.failureMessage(ErrorRefused); !strings.HasSuffix(got, "Unsupported: no such executor") {
		t.Error(got)
	}
	if got := j.failureMessage(ErrorTimeout); strings.Contains(got, "executor") {
		t.Error(got)
	}
}

// J21: a refusal empties one place of a committee. Another runner takes it at once, and
// loses no reputation if its time is too short.
func TestJ21OneRefusalOfACommitteeIsOnePlace(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2", "r3")
	id := w.drawn(spec(3))
	names := w.committee(id)
	w.must(w.commit("v0", id, names[1], "work"))
	if code := w.refuse("v0", id, names[1]); code != "committed" {
		t.Errorf("a refusal after a commitment: %q", code)
	}
	w.must(w.refuse("v0", id, names[0]))
	if code := w.commit("v0", id, names[0], "work"); code != "excluded" {
		t.Errorf("a commitment after a refusal: %q", code)
	}
	if code := w.refuse("v1", id, names[0]); code != "excluded" {
		t.Errorf("a second refusal: %q", code)
	}
	since := w.job(id).Since
	w.end()
	j, now := w.job(id), w.committee(id)
	if !w.happened("job.drawn") {
		t.Error("the place is taken, and no draw is told in its block")
	}
	kept := j.memberOf(w.address(names[1]))
	if len(now) != 3 || j.memberOf(w.address(names[0])) != nil || j.Attempts != 1 || j.Since != since || kept.Committed == 0 {
		t.Fatalf("attempt %d of height %d, committee %v", j.Attempts, j.Since, now)
	}
	w.must(w.commit("v0", id, names[2], "work"))
	for w.block.Height <= j.CommitDeadline() {
		w.end()
	}
	w.must(w.reveal(OpReveal, id, names[1], "work"))
	w.must(w.reveal(OpReveal, id, names[2], "work"))
	w.end()
	if !w.happened("job.completed") {
		t.Fatal("the two others do not settle the job")
	}
	for _, name := range []string{"r0", "r1", "r2", "r3"} {
		want := uint64(75)
		if name == names[1] || name == names[2] {
			want = 76
		}
		if got := w.runner(name).Reputation; got != want {
			t.Errorf("%s has a reputation of %d, want %d", name, got, want)
		}
	}
}

// J21: a place that no other runner takes stays empty, and costs the refuser nothing.
func TestJ21AnEmptyPlaceCostsTheRefuserNothing(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	id := w.drawn(spec(3))
	names := w.committee(id)
	w.must(w.refuse("v0", id, names[0]))
	for _, name := range names[1:] {
		w.must(w.commit("v0", id, name, "work"))
	}
	for deadline := w.job(id).CommitDeadline(); w.block.Height <= deadline; {
		w.end()
	}
	for _, name := range names[1:] {
		w.must(w.reveal(OpReveal, id, name, "work"))
	}
	w.end()
	if r := w.runner(names[0]); !w.happened("job.completed") || r.Reputation != 75 || r.ActiveJobs != 0 {
		t.Errorf("the refuser has a reputation of %d and %d jobs", r.Reputation, r.ActiveJobs)
	}
}

// J21: no validator makes up a refusal, nor one of a spec that it made up.
func TestJ21ARefusalIsItsRunners(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1")
	id := w.drawn(spec(1))
	one := w.committee(id)[0]
	right := func(r *Refusal) {}
	for what, test := range map[string]struct {
		runner string
		change func(*Refusal)
		code   string
	}{
		"signed by another":                  {"r9", func(r *Refusal) { r.Runner = w.address(one) }, "malformed"},
		"of another spec":                    {one, func(r *Refusal) { r.Spec[0]++ }, "other_spec"},
		"of another draw":                    {one, func(r *Refusal) { r.Drawn-- }, "other_draw"},
		"because it is over":                 {one, func(r *Refusal) { r.Reason = push.PastDeadline }, "malformed"},
		"for no reason":                      {one, func(r *Refusal) { r.Reason = "Mood" }, "malformed"},
		"with a text that is too long":       {one, func(r *Refusal) { r.Text = strings.Repeat("x", push.MaxRefusalText+1) }, "malformed"},
		"with a text that cannot be printed": {one, func(r *Refusal) { r.Text = "a\x1b[2J" }, "malformed"},
		"of a runner that is not drawn":      {"r9", right, "not_of_committee"},
	} {
		if code := w.refuse("v0", id, test.runner, test.change); code != test.code {
			t.Errorf("a refusal %s: %q, want %q", what, code, test.code)
		}
	}
	for w.block.Height <= w.job(id).CommitDeadline() {
		w.end()
	}
	if code := w.refuse("v0", id, one); code != "late" {
		t.Errorf("a late refusal: %q", code)
	}
}

// J21: refusals do not use up retries, and a job whose other runners are busy waits.
func TestJ21ARefusedJobWaitsForWhoIsBusy(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.MaxRetries = 0 })
	w.register("r0", "r1")
	w.absent["r1"] = true
	w.end()
	id := w.drawn(spec(1))
	w.must(w.refuse("v0", id, "r0"))
	w.end()
	if j := w.job(id); j == nil || j.Status != Pending {
		t.Fatalf("the job is %+v", j)
	}
	w.absent["r1"] = false
	w.end()
	if got := w.committee(id); len(got) != 1 || got[0] != "r1" {
		t.Fatalf("the committee is %v", got)
	}
	for w.job(id) != nil {
		w.end()
	}
	if w.failure() != ErrorTimeout {
		t.Errorf("it ends with %q", w.failure())
	}
}

// J21: each refusal of the window halves a runner's weight, four times at most.
func TestJ21RefusalsLowerTheWeight(t *testing.T) {
	p := params.Defaults()
	f := &selection.Filter{Height: 1000, Limits: selection.LimitsOf(&p)}
	all := []selection.Runner{{Stake: p.MinStake.Mul(3)}, {Stake: p.MinStake.Mul(3)}}
	for refusals, want := range map[uint64]uint64{0: 3, 1: 24, 2: 12, 4: 3, 9: 3} {
		all[1].Refusals, all[1].RefusedAt = refusals, 1000
		got := f.Weights(all)
		if first := want * 1; refusals == 0 && (got[0] != 3 || got[1] != first) || refusals > 0 && (got[0] != 48 || got[1] != want) {
			t.Errorf("%d refusals: %v", refusals, got)
		}
	}
	all[1].RefusedAt = 1000 - types.Height(p.RefusalWindow)
	if got := f.Weights(all); got[1] != 3 {
		t.Errorf("after the window: %v", got)
	}
}

// J21: time gives reputation back, a point each 256 blocks up to what a draw asks for.
func TestJ21ReputationComesBackWithTime(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.TimeoutPenalty = 30; p.MaxRetries = 0; p.RecoveryBlocks = 10 })
	w.register("r0")
	id := w.drawn(spec(1))
	for w.job(id) != nil {
		w.end()
	}
	w.end()
	if r := w.runner("r0"); r.Reputation != 45 {
		t.Fatalf("reputation %d", r.Reputation)
	}
	held := spec(1)
	held.TimeoutBlocks = 1000
	id, _ = w.submit("bob", held)
	written := w.runner("r0").ReputedAt
	for w.job(id).Status == Pending {
		if w.block.Height > 200 {
			t.Fatal("the runner is never drawn again")
		}
		w.end()
	}
	if drawn := w.job(id).Since; drawn != written/10*10+50 {
		t.Errorf("it is drawn in block %d; its reputation of 45 dates from block %d", drawn, written)
	}
	w.must(w.reveal(OpResult, id, "r0", "done"))
	if r := w.runner("r0"); r.Reputation != 51 {
		t.Errorf("a success makes 50 to %d", r.Reputation)
	}
	w.end()
}

// J21: a runner that names executors takes only jobs for these.
func TestJ21ExecutorsAreCapabilities(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	w.must(w.registry("alice", "update", Amendment{Runner: w.address("r0"), Offer: offer("custom", "executor:mine")}))
	w.end()
	s := spec(1)
	s.JobType.Custom.ExecutorHash = types.Keccak([]byte("mine"))
	w.drawn(s)
	s.JobType.Custom.ExecutorHash = types.Keccak([]byte("yours"))
	id, _ := w.submit("bob", s)
	w.end()
	if w.job(id).Status != Pending {
		t.Error("a runner is drawn for an executor that it does not name")
	}
}

// wait ends blocks until one of a height is under way.
func (w *world) wait(height types.Height) {
	w.t.Helper()
	for w.block.Height < height {
		w.end()
	}
}

// J21: a refusal is free until the ack is due and its way to the chain is over. Later it costs
// what silence costs.
func TestJ21ARefusalIsQuickOrItIsSilence(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2", "r3")
	for _, test := range []struct {
		after types.Height // the draw
		want  uint64
	}{{1, 75}, {4, 75}, {5, 70}, {12, 70}} {
		s := spec(1)
		s.TimeoutBlocks = 20
		id := w.drawn(s)
		one := w.committee(id)[0]
		w.runnerIs(one, func(s *Standing) { s.Reputation = 75 })
		w.wait(w.job(id).Since + test.after)
		w.must(w.refuse("v0", id, one))
		if got := w.runner(one).Reputation; got != test.want {
			t.Errorf("a refusal %d blocks after the draw leaves a reputation of %d, want %d", test.after, got, test.want)
		}
		w.call("bob", types.DispatcherAddress, "cancel", id[:])
		w.end(300)
	}
}

// runnerIs changes a runner's standing by hand.
func (w *world) runnerIs(name string, change func(*Standing)) {
	s := standingOf(w.state, w.address(name))
	change(s)
	w.block.setStanding(w.address(name), s)
}

// J21: a place is filled again only while half of the time to commit is left. Its runner signs
// the block that drew it.
func TestJ21APlaceIsFilledWhileThereIsTime(t *testing.T) {
	for _, test := range []struct {
		after  types.Height
		filled bool
	}{{1, true}, {5, true}, {6, true}, {7, false}, {12, false}} {
		w := newWorld(t)
		w.register("r0", "r1", "r2")
		s := spec(2)
		s.TimeoutBlocks = 20 // 12 to commit
		id := w.drawn(s)
		names, since := w.committee(id), w.job(id).Since
		w.must(w.commit("v0", id, names[0], "work"))
		w.wait(since + test.after)
		w.must(w.refuse("v0", id, names[1]))
		w.end()
		j := w.job(id)
		if filled := len(j.MemberAddresses()) == 2; filled != test.filled {
			t.Fatalf("%d blocks after the draw: %v", test.after, w.committee(id))
		}
		if !test.filled {
			w.must(w.reveal(OpReveal, id, names[0], "work"))
			continue
		}
		for i := range j.Committee {
			m := &j.Committee[i]
			if name := w.name(m.Runner); name != names[0] && m.Drawn != since+test.after {
				t.Errorf("%s took the place in block %d, and has a draw of block %d", name, since+test.after, m.Drawn)
			} else if name != names[0] {
				if code := w.report("v0", OpCommit, w.committing(name, id, types.Hash{1}, since)); code != "other_draw" {
					t.Errorf("a commitment for the first draw: %q", code)
				}
				w.must(w.commit("v0", id, name, "work"))
			}
		}
	}
}

// J15, J21: a member that refused holds no other's reveal up.
func TestJ15ARefusalHoldsNoRevealUp(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	s := spec(3)
	s.TimeoutBlocks = 50
	id := w.drawn(s)
	names, since := w.committee(id), w.job(id).Since
	w.must(w.commit("v0", id, names[0], "work"))
	w.must(w.commit("v0", id, names[1], "work"))
	w.must(w.refuse("v0", id, names[2]))
	if code := w.reveal(OpReveal, id, names[0], "work"); code != "too_soon" {
		t.Errorf("a reveal while the place is to be drawn: %q", code)
	}
	w.end()
	w.must(w.reveal(OpReveal, id, names[0], "work"))
	w.must(w.reveal(OpReveal, id, names[1], "work"))
	w.end()
	if !w.happened("job.completed") || w.block.Height > since+4 {
		t.Errorf("height %d, drawn at %d: %v", w.block.Height, since, w.past)
	}
}

// J21: who took a place late and did not answer is neither punished nor excluded.
func TestJ21WhoTookAPlaceLateMayBeDrawnAgain(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	id := w.drawn(spec(2))
	names := w.committee(id)
	w.must(w.commit("v0", id, names[0], "work"))
	w.must(w.refuse("v0", id, names[1]))
	w.end()
	var late string
	for _, name := range w.committee(id) {
		if name != names[0] {
			late = name
		}
	}
	w.wait(w.job(id).CommitDeadline() + 1)
	w.must(w.reveal(OpReveal, id, names[0], "work"))
	w.end()
	second := w.job(id)
	if second == nil || second.Attempts != 2 || second.memberOf(w.address(late)) == nil || second.memberOf(w.address(names[0])) == nil {
		t.Fatalf("the second draw is %+v", second)
	}
	w.finish(id, "work", "work")
	if !w.happened("job.completed") || w.runner(names[1]).Reputation != 75 || w.runner(late).Reputation != 76 {
		t.Errorf("the refuser has %d, the late one %d", w.runner(names[1]).Reputation, w.runner(late).Reputation)
	}
}

// J21: an attacker that refuses in the last block to commit gains nothing over silence. The
// honest member is drawn again with another, and the attacker pays.
func TestJ21ARefusalInTheLastBlockFailsNoJob(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	s := spec(2)
	s.Bounds.MaxRetries = 1
	id := w.drawn(s)
	names := w.committee(id)
	w.must(w.commit("v0", id, names[0], "work"))
	w.wait(w.job(id).CommitDeadline())
	w.must(w.refuse("v0", id, names[1]))
	w.end()
	w.must(w.reveal(OpReveal, id, names[0], "work"))
	w.end()
	w.finish(id, "work", "work")
	if !w.happened("job.completed") || w.runner(names[1]).Reputation != 70 || w.runner(names[0]).Reputation != 76 {
		t.Errorf("%v; the attacker has %d", w.past, w.runner(names[1]).Reputation)
	}
}

// J6, J21: max_retries counts draws. Single refusals, and late ones of all, add none; a quick
// refusal of a whole committee adds one. A job that ends by silence has the code timeout.
func TestJ6AndJ21MaxRetriesCountsDraws(t *testing.T) {
	for what, test := range map[string]struct {
		refuse func(w *world, id types.Hash, names []string) // in the first draw, and in each if every
		every  bool
		draws  uint32
		code   string
	}{
		"one refuses in each draw": {func(w *world, id types.Hash, names []string) {
			w.must(w.refuse("v0", id, names[0]))
		}, true, 2, ErrorTimeout},
		"all refuse at once": {func(w *world, id types.Hash, names []string) {
			w.must(w.refuse("v0", id, names[0]))
			w.must(w.refuse("v0", id, names[1]))
		}, false, 3, ErrorTimeout},
		"all refuse late": {func(w *world, id types.Hash, names []string) {
			w.wait(w.job(id).CommitDeadline())
			w.must(w.refuse("v0", id, names[0]))
			w.must(w.refuse("v0", id, names[1]))
		}, true, 2, ErrorRefused},
	} {
		w := newWorld(t)
		for i := range 12 {
			w.register(fmt.Sprintf("r%d", i))
		}
		s := spec(2)
		s.Bounds.MaxRetries, s.TimeoutBlocks = 1, 20
		id := w.drawn(s)
		draws := uint32(0)
		for j := w.job(id); j != nil; j = w.job(id) {
			if j.Attempts > draws && (draws == 0 || test.every) {
				test.refuse(w, id, w.committee(id))
			}
			draws = j.Attempts
			w.end()
		}
		if draws != test.draws || w.failure() != test.code {
			t.Errorf("%s: %d draws, and %q; want %d, and %q", what, draws, w.failure(), test.draws, test.code)
		}
	}
}

// J21: of three runners one refuses in the last block to commit, in 60 jobs of two runners. Each
// job completes, and the refuser pays for each of its draws.
func TestJ21ALateRefuserStopsNoJob(t *testing.T) {
	w := newWorld(t, func(p *params.Params) {
		p.MinReputation, p.StaleHeartbeatBlocks, p.TimeoutPenalty, p.MRUWeightMultiplier = 0, 100_000, 1, 1
	})
	const attacker = "r2"
	w.register("r0", "r1", attacker)
	const jobs = 60
	completed, drawn, blocks := 0, uint64(0), 0
	for range jobs {
		s := spec(2)
		s.TimeoutBlocks, s.Bounds.MaxRetries = 20, 1 // 12 to commit
		id := w.drawn(s)
		attempt := uint32(0)
		for ; w.job(id) != nil; blocks++ {
			j := w.job(id)
			if j.memberOf(w.address(attacker)) != nil && attempt != j.Attempts {
				attempt = j.Attempts
				drawn++
			}
			for _, name := range w.committee(id) {
				switch {
				case w.job(id) == nil:
				case name == attacker && w.block.Height == j.CommitDeadline():
					w.must(w.refuse("v0", id, name))
				case name != attacker && j.memberOf(w.address(name)).Committed == 0:
					w.commit("v0", id, name, "work")
				case name != attacker:
					w.reveal(OpReveal, id, name, "work")
				}
			}
			w.end()
		}
		if w.happened("job.completed") {
			completed++
		}
	}
	t.Logf("%d of %d jobs completed in %d blocks; %d draws of the refuser", completed, jobs, blocks, drawn)
	if completed != jobs || drawn == 0 || w.runner(attacker).Reputation != 75-drawn {
		t.Errorf("%d jobs completed of %d, the refuser has %d after %d draws", completed, jobs, w.runner(attacker).Reputation, drawn)
	}
}

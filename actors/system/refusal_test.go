package system

import (
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
	if got := j.failure(ErrorRefused); !strings.HasSuffix(got, "Unsupported: no such executor") {
		t.Error(got)
	}
	if got := j.failure(ErrorTimeout); strings.Contains(got, "executor") {
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
	kept := j.member(w.address(names[1]))
	if len(now) != 3 || j.member(w.address(names[0])) != nil || j.Attempts != 1 || j.Since != since || kept.Committed == 0 {
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

package system

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// J7, J16, J19: a single runner's result completes the job in its own block. The
// price follows its card, 99 % of it goes to the runner, the tip too, and the rest
// is refunded.
func TestJ7ASingleRunnersJobIsPaidToTheWei(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	before := w.balance(w.address("bob"))
	id := w.drawn(spec(1))
	if paid := before.Sub(w.balance(w.address("bob"))); paid != types.WeiOf(1_000_077) || w.balance(types.DispatcherAddress) != paid {
		t.Fatalf("the escrow is %s", paid)
	}
	w.must(w.reveal(OpResult, id, "r0", "done"))
	// two seconds of 100 wei; 198 for the runner, 2 for the treasury.
	for who, want := range map[types.Address]uint64{w.address("r0"): 198 + 77, types.TreasuryAddress: 2, types.DispatcherAddress: 0} {
		if got := w.balance(who); got != types.WeiOf(want) {
			t.Errorf("%s holds %s, want %d", w.name(who), got, want)
		}
	}
	if got := before.Sub(w.balance(w.address("bob"))); got != types.WeiOf(277) {
		t.Errorf("bob paid %s", got)
	}
	if r := w.runner("r0"); r.Reputation != 76 || r.ActiveJobs != 0 || w.job(id) != nil || !w.happened("job.completed") {
		t.Errorf("%+v, %+v", r, w.past)
	}
	w.end()
}

// J7: what agreeing runners ask together never exceeds max_price, however much it
// is, and remainders go to the treasury.
func TestJ7ThePriceIsAtMostMaxPrice(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	for _, name := range []string{"r0", "r1", "r2"} {
		dear := offer()
		dear.RateCard.MemoryMB = types.MaxWei
		w.must(w.registry("alice", "update", Amendment{Runner: w.address(name), Offer: dear}))
	}
	w.end()
	s := spec(3)
	s.MaxPrice = types.WeiOf(1001)
	w.finish(w.drawn(s), "same", "same", "same")
	for _, name := range []string{"r0", "r1", "r2"} {
		if got, want := w.balance(w.address(name)), uint64(330); got != types.WeiOf(want) && got != types.WeiOf(want+77) {
			t.Errorf("%s got %s", name, got)
		}
	}
	if got := w.balance(types.TreasuryAddress); got != types.WeiOf(1001-990) {
		t.Errorf("the treasury got %s", got)
	}
}

// finish has a committee commit and reveal, in the order of its addresses; "" is
// silent.
func (w *world) finish(id types.Hash, results ...string) {
	w.t.Helper()
	names := w.committee(id)
	for i, result := range results {
		if result != "" {
			w.must(w.commit("v0", id, names[i], result))
		}
	}
	for all := w.job(id).CommitDeadline(); w.block.Height <= all && !w.job(id).takesReveals(w.block.Height); {
		w.end()
	}
	for i, result := range results {
		if result != "" {
			w.must(w.reveal(OpReveal, id, names[i], result))
		}
	}
	w.end()
}

// J5: two of three that agree complete the job. The lowest keccak256(seed of the draw ‖
// address) of the two wins, and the third is not paid.
func TestJ5TheLowestLotOfThoseThatAgreeWins(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	id := w.drawn(spec(3))
	names, seed := w.committee(id), w.job(id).Seed
	w.finish(id, "other", "same", "same")
	if !w.happened("job.completed") {
		t.Fatalf("%+v", w.past)
	}
	if other := w.runner(names[0]); !w.balance(other.Address).IsZero() {
		t.Errorf("who disagrees has %s wei", w.balance(other.Address))
	}
	lot := func(name string) string { a := w.address(name); return types.Keccak(seed[:], a[:]).String() }
	first, second := names[1], names[2]
	if lot(second) < lot(first) {
		first, second = second, first
	}
	if winner, other := w.balance(w.address(first)), w.balance(w.address(second)); winner != other.Add(types.WeiOf(77)) {
		t.Errorf("the winner has %s, the second %s", winner, other)
	}
	mru := loadRecord[selection.MRU](w.state, types.DispatcherAddress, keyMRU(w.address("bob"), push.JobCustom))
	if mru == nil || mru.Runner != w.address(first) {
		t.Errorf("the MRU record is %+v", mru)
	}
}

// J5: the tips of many jobs do not go by address. Six honest runners win a sixth each. In a
// retry the lots are those of the retry's draw.
func TestJ5NoAddressIsWorthSearchingFor(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.MRUWeightMultiplier, p.StaleHeartbeatBlocks = 1, 100_000 })
	runners := []string{"r0", "r1", "r2", "r3", "r4", "r5"}
	w.register(runners...)
	const jobs = 600
	won := map[types.Address]int{}
	for range jobs {
		w.finish(w.drawn(spec(3)), "same", "same", "same")
		won[loadRecord[selection.MRU](w.state, types.DispatcherAddress, keyMRU(w.address("bob"), push.JobCustom)).Runner]++
	}
	for _, name := range runners {
		n := won[w.address(name)]
		t.Logf("%s won %d tips of %d", w.address(name), n, jobs)
		if n < jobs/6-30 || n > jobs/6+30 {
			t.Errorf("%s won %d tips of %d", name, n, jobs)
		}
	}
	first, retried := &Job{Seed: types.Hash{1}, Attempts: 1}, &Job{Seed: types.Hash{1}, Attempts: 3}
	if first.drawSeed() != first.Seed || retried.drawSeed() != selection.RetrySeed(first.Seed, 2) {
		t.Error("the lots are not those of the last draw")
	}
}

// J19: when all revealed and too few agree, the job fails, and the escrow returns.
func TestJ19DisagreementFailsTheJob(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	before := w.balance(w.address("bob"))
	w.finish(w.drawn(spec(3)), "a", "b", "c")
	if !w.happened("job.failed") || w.balance(w.address("bob")) != before {
		t.Errorf("%+v; bob has %s of %s", w.events, w.balance(w.address("bob")), before)
	}
	for _, name := range []string{"r0", "r1", "r2"} {
		if r := w.runner(name); r.Reputation != 75 {
			t.Errorf("%s has reputation %d", name, r.Reputation)
		}
	}
}

// rating lists the reputations of runners.
func (w *world) rating(names ...string) (all []uint64) {
	for _, name := range names {
		all = append(all, w.runner(name).Reputation)
	}
	return all
}

// J19: rubbish is as dear as silence. A job whose committee disagreed is drawn again without it;
// once it completes, each result that differs loses what silence loses.
func TestJ19RubbishIsNoBetterThanSilence(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2", "r3")
	id := w.drawn(spec(2))
	first := w.committee(id)
	w.finish(id, "right", "rubbish")
	second := w.job(id)
	if second == nil || second.Attempts != 2 || !slices.Equal(w.rating(first...), []uint64{75, 75}) {
		t.Fatalf("the job is %+v, %v", second, w.past)
	}
	for _, m := range second.Committee {
		if slices.Contains(first, w.name(m.Runner)) {
			t.Errorf("%s is drawn again", w.name(m.Runner))
		}
	}
	w.finish(id, "right", "right")
	if !w.happened("job.completed") || !slices.Equal(w.rating(first...), []uint64{75, 70}) {
		t.Errorf("%v has %v", first, w.rating(first...))
	}
	if CommitmentOf(w.state, id, w.address(first[0])) != nil || loadRecord[[]Revealed](w.state, types.VerifierAddress, keyEarlier(id)) != nil {
		t.Error("something of the job stays in state")
	}
	id = w.drawn(spec(3))
	names := w.committee(id)
	before := w.rating(names...)
	w.finish(id, "same", "other", "same")
	if after := w.rating(names...); after[0] != before[0]+1 || after[1] != before[1]-5 || after[2] != before[2]+1 {
		t.Errorf("beyond a majority: %v was %v", after, before)
	}
}

// F115: two runners that agree on rubbish are a majority of three, and the honest one loses.
func TestFindingJ19AMajorityOfLiarsIsBelieved(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	id := w.drawn(spec(3))
	names := w.committee(id)
	w.finish(id, "rubbish", "right", "rubbish")
	if !w.happened("job.completed") || !slices.Equal(w.rating(names...), []uint64{76, 70, 76}) {
		t.Errorf("%v", w.rating(names...))
	}
}

// J19: while no result completes the job, it is unknown which is wrong, and no runner loses.
func TestJ19WithoutACompletionNoResultIsWrong(t *testing.T) {
	w := newWorld(t)
	names := []string{"r0", "r1", "r2", "r3", "r4", "r5"}
	w.register(names...)
	s := spec(2)
	s.Bounds.MaxRetries = 1
	id := w.drawn(s)
	w.finish(id, "a", "b")
	w.finish(id, "c", "d")
	if w.failure() != ErrorDisagreement || w.job(id) != nil {
		t.Fatalf("%+v, the failure %q", w.job(id), w.failure())
	}
	for i, rating := range w.rating(names...) {
		if rating != 75 {
			t.Errorf("%s has a reputation of %d", names[i], rating)
		}
	}
}

// J19: a result that came before an attempt ended in silence is judged too, and what one runner
// revealed twice counts twice.
func TestJ19EachResultOfAnAttemptIsJudged(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	s := spec(2)
	s.Verification.Threshold = nil
	id := w.drawn(s)
	first := w.committee(id)
	w.finish(id, "rubbish", "")
	for w.job(id).Attempts == 1 {
		w.end()
	}
	w.finish(id, "right", "right")
	want := map[string]uint64{first[0]: 75 - 5, first[1]: 75 - 5}
	if !w.happened("job.completed") {
		t.Fatalf("%v", w.past)
	}
	for name, rating := range want {
		if got := w.runner(name).Reputation; got != rating && got != rating+1 {
			t.Errorf("%s has %d, want %d", name, got, rating)
		}
	}
}

// J15, J19: the silent member costs itself 5 and no one else anything: the others
// settle when the commit phase is over.
func TestJ19TwoOfThreeSettleWithoutTheSilent(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	id := w.drawn(spec(3))
	names, deadline := w.committee(id), w.job(id).Deadline()
	w.finish(id, "same", "", "same")
	if !w.happened("job.completed") || w.block.Height > deadline {
		t.Fatalf("height %d: %+v", w.block.Height, w.past)
	}
	if r := w.runner(names[1]); r.Reputation != 70 || r.ActiveJobs != 0 {
		t.Errorf("the silent one is %+v", r.Standing)
	}
}

// J6: the deadline's own block takes results; the block after punishes, and draws
// without the silent by the retry's seed, which goes back to the first draw's.
func TestJ6TimeoutsDrawAnewWithoutTheSilent(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2", "r3")
	id := w.drawn(spec(1))
	first := w.job(id)
	for w.block.Height <= first.Deadline() {
		w.end()
	}
	if w.happened("job.retried") {
		t.Error("the deadline's own block gave the job up")
	}
	if code := w.reveal(OpResult, id, w.name(first.Committee[0].Runner), "late"); code != "late" {
		t.Errorf("a result after the deadline: %q", code)
	}
	w.end()
	second := w.job(id)
	if !w.happened("job.retried") || !w.happened("job.drawn") || second.Attempts != 2 || second.Seed != first.Seed {
		t.Fatalf("%+v, %+v", second, w.past)
	}
	silent := w.runner(w.name(first.Committee[0].Runner))
	if silent.Reputation != 70 || silent.ActiveJobs != 0 || second.Committee[0].Runner == silent.Address {
		t.Errorf("the silent one is %+v, the committee %v", silent, second.MemberAddresses())
	}
	var candidates []selection.Candidate
	for _, r := range slices.Concat(w.roster.pages...) {
		if r.Address != silent.Address {
			candidates = append(candidates, selection.Candidate{Address: r.Address, Weight: 2})
		}
	}
	want, _ := selection.Draw(selection.RetrySeed(first.Seed, 1), candidates, 1, selection.Favour{})
	if second.Committee[0].Runner != want[0] {
		t.Errorf("the retry drew %s, want %s", second.Committee[0].Runner, want[0])
	}
	for w.job(id) != nil {
		w.end()
	}
	if !w.happened("job.failed") || w.runner("r0").Reputation+w.runner("r1").Reputation+w.runner("r2").Reputation+
		w.runner("r3").Reputation != 300-20 {
		t.Errorf("after three retries: %+v", w.past)
	}
}

// J6: bounds.max_retries makes them fewer.
func TestJ6FewerRetriesByTheSpec(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2", "r3")
	s := spec(1)
	s.Bounds.MaxRetries = 1
	id := w.drawn(s)
	for w.job(id) != nil {
		w.end()
	}
	if r := w.params.InitialReputation*4 - 10; w.runner("r0").Reputation+w.runner("r1").Reputation+w.runner("r2").Reputation+
		w.runner("r3").Reputation != r {
		t.Error("there was more than one retry")
	}
}

// J4: a job without candidates waits, and is drawn when there are some, by the
// parent's hash of that block; otherwise it fails a timeout after it began to wait.
func TestJ4TooFewCandidatesWait(t *testing.T) {
	w := newWorld(t)
	id, _ := w.submit("bob", spec(1))
	lost, _ := w.submit("bob", spec(3))
	w.end()
	if j := w.job(id); j.Status != Pending || len(j.Committee) != 0 {
		t.Fatalf("%+v", j)
	}
	w.end()
	w.register("r0")
	parent, height := w.block.Parent, w.block.Height
	w.end()
	if j := w.job(id); j.Status != Assigned || j.Since != height || j.Seed != selection.Seed(parent, id, 1) {
		t.Errorf("%+v", j)
	}
	for w.block.Height <= w.job(lost).Deadline() {
		w.end()
	}
	if w.job(lost) == nil {
		t.Fatal("it was given up at its deadline's own height")
	}
	w.end()
	if w.job(lost) != nil || !w.happened("job.failed") || w.failure() != ErrorNoCandidates {
		t.Errorf("%q, %+v", w.failure(), w.past)
	}
}

// J4, J19: a job whose runners were drawn and failed it ends with what they did, also if it then
// waits for others in vain.
func TestJ4AJobThatWasDrawnEndsWithTheCodeOfItsDraw(t *testing.T) {
	for code, end := range map[string]func(w *world, id types.Hash){
		ErrorTimeout: func(w *world, id types.Hash) { w.wait(w.job(id).Deadline() + 1) },
		ErrorRefused: func(w *world, id types.Hash) {
			w.register("r9")
			w.absent["r9"] = true
			w.must(w.refuse("v0", id, "r0"))
		},
	} {
		w := newWorld(t)
		w.register("r0")
		id := w.drawn(spec(1))
		end(w, id)
		w.end()
		if j := w.job(id); j == nil || j.Status != Pending || j.Ended != code {
			t.Fatalf("%s: %+v", code, j)
		}
		for w.job(id) != nil {
			w.end()
		}
		if w.failure() != code {
			t.Errorf("it ends with %q, want %q", w.failure(), code)
		}
	}
}

// waitFor submits jobs of a submitter that ask for the given number of runners, each for
// another price.
func (w *world) waitFor(from string, jobs, runners uint64) (ids []types.Hash) {
	w.t.Helper()
	for i := range jobs {
		s := spec(runners)
		s.TimeoutBlocks, s.MaxPrice = 1000, types.WeiOf(1000+i)
		id, code := w.submit(from, s)
		w.must(code)
		ids = append(ids, id)
	}
	return ids
}

// J2: a new job is drawn in its own block, however many jobs wait that no runner can
// do.
func TestJ2ANewJobIsDrawnBeforeThousandsThatWait(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	for range 4 {
		w.waitFor("carol", 1000, 3)
		w.end()
	}
	for range 3 {
		w.drawn(spec(1))
		w.must(w.registry("alice", "update", Amendment{Runner: w.address("r0"), Offer: offer()})) // a round begins
	}
}

// J2, J4: of the jobs that one block submits beyond its draws, each is tried in its turn,
// and a job that waits is tried again as soon as a runner comes.
func TestJ4EachWaitingJobHasItsTurn(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.MaxDraws = 4 })
	w.register("r0")
	w.waitFor("carol", 11, 2)
	last, _ := w.submit("bob", spec(1))
	for range 3 {
		w.end()
	}
	if w.job(last).Status != Assigned {
		t.Error("the twelfth job of a block is not drawn in the third block of four draws each")
	}
	for range 3 {
		w.end()
	}
	if left := JobsOf(w.state).Left; left != 0 {
		t.Errorf("the round continues with %d draws left, though nothing changed", left)
	}
	w.register("r1")
	for range 3 {
		w.end()
	}
	assigned := 0
	OpenJobs(w.state, func(j *Job) bool {
		if j.Status == Assigned {
			assigned++
		}
		return true
	})
	if most := 1 + 3; assigned != most { // r0 takes four jobs at once
		t.Errorf("%d jobs are assigned, want %d", assigned, most)
	}
}

// J4: a demand that found too few runners costs no draw until the registry or P changes.
func TestJ4WhatFoundTooFewWaitsForAChange(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1")
	w.absent["r1"] = true
	w.end()
	id := w.waitFor("carol", 1, 2)[0]
	w.end()
	for range 2 {
		if left := JobsOf(w.state).Left; left != 0 {
			t.Fatalf("%d draws are left of the round without a change", left)
		}
		w.end()
	}
	w.absent["r1"] = false
	w.end()
	if w.job(id).Status != Assigned {
		t.Error("the job is not drawn in the block whose P has its runners")
	}
}

// J5: a commitment counts if its runner signed it for this chain, job and attempt. So no
// validator opens the reveals by commitments in others' names.
func TestJ5ACommitmentIsItsRunners(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	id := w.drawn(spec(3))
	names := w.committee(id)
	right := w.committing(names[0], id, types.Hash{1})
	signedBy := func(name string, chain uint64, c Commit) Commit {
		c.CommitSigned = w.verifier.Signer(w.key(name)).Sign(push.CommitmentDigest(chain, c.JobID, c.Drawn, c.Commitment))
		return c
	}
	changed := func(change func(*Commit)) Commit {
		c := right
		change(&c)
		return c
	}
	earlier := changed(func(c *Commit) { c.Drawn-- })
	for what, test := range map[string]struct {
		commit Commit
		code   string
	}{
		"unsigned":                       {changed(func(c *Commit) { c.CommitSigned = types.Signature{} }), "malformed"},
		"signed by a validator":          {signedBy("v3", testChain, right), "malformed"},
		"signed by another member":       {signedBy(names[1], testChain, right), "malformed"},
		"of another chain":               {signedBy(names[0], testChain+1, right), "malformed"},
		"of another job":                 {changed(func(c *Commit) { c.JobID[0]++ }), "malformed"},
		"to another result":              {changed(func(c *Commit) { c.Commitment[0]++ }), "malformed"},
		"of another attempt, not signed": {earlier, "malformed"},
		"of another attempt, signed":     {signedBy(names[0], testChain, earlier), "other_draw"},
	} {
		if code := w.report("v3", OpCommit, test.commit); code != test.code {
			t.Errorf("a commitment %s: %q, want %q", what, code, test.code)
		}
	}
	w.must(w.commit("v0", id, names[0], "same"))
	for _, validator := range []string{"v0", "v1"} {
		if code := w.commit(validator, id, names[0], "other"); code != "committed" {
			t.Errorf("a second commitment, by %s: %q", validator, code)
		}
	}
	for _, name := range names[1:] {
		w.must(w.commit("v1", id, name, "same"))
	}
	if code := w.reveal(OpReveal, id, names[0], "same"); code != "too_soon" {
		t.Errorf("a reveal in its commitment's own block: %q", code)
	}
	w.end()
	for _, name := range names {
		w.must(w.reveal(OpReveal, id, name, "same"))
	}
	if w.job(id) != nil || !w.happened("job.completed") {
		t.Error("the job did not settle with its last reveal")
	}
	w.end()
}

// J5: commitments end before the first reveal. A runner without work commits to
// nothing it has read, neither as its first commitment nor as a replacement.
func TestJ5NobodyCommitsToWhatItRead(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	id := w.drawn(spec(3))
	names := w.committee(id)
	lazy := names[0]
	w.must(w.commit("v0", id, names[1], "work"))
	w.must(w.commit("v0", id, names[2], "work"))
	w.end()
	if code := w.reveal(OpReveal, id, names[1], "work"); code != "too_soon" {
		t.Fatalf("a reveal before all committed: %q", code)
	}
	w.must(w.commit("v0", id, lazy, "guess"))
	w.end()
	if code := w.commit("v1", id, lazy, "work"); code != "late" {
		t.Errorf("a commitment in the first block that takes reveals: %q", code)
	}
	w.must(w.reveal(OpReveal, id, names[1], "work"))
	if code := w.commit("v1", id, lazy, "work"); code != "late" {
		t.Errorf("a commitment after a reveal: %q", code)
	}
	if code := w.reveal(OpReveal, id, lazy, "work"); code != "not_committed" {
		t.Errorf("a copied result: %q", code)
	}
	w.end()
}

// J5: the first of several commitments of a runner counts. A validator that replays an
// older one, which the runner signed before it restarted, makes no reveal mismatch, and a
// runner that hedges reveals the first only.
func TestJ5OfSeveralCommitmentsTheFirstStands(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1")
	id := w.drawn(spec(2))
	names := w.committee(id)
	w.must(w.commit("v0", id, names[0], "now"))
	w.end()
	if code := w.commit("v3", id, names[0], "before the restart"); code != "committed" {
		t.Errorf("a replayed commitment: %q", code)
	}
	w.must(w.commit("v0", id, names[1], "now"))
	w.end()
	if code := w.reveal(OpReveal, id, names[0], "before the restart"); code != "not_committed" {
		t.Errorf("a reveal of a refused commitment: %q", code)
	}
	w.must(w.reveal(OpReveal, id, names[0], "now"))
	w.must(w.reveal(OpReveal, id, names[1], "now"))
	if w.job(id) != nil {
		t.Error("the job is open")
	}
	w.end()
}

// A result that a member revealed in a failed attempt stays on chain, and a member of the
// next committee can commit to it without work (finding F81).
func TestFindingARetryMayCopyWhatAFailedAttemptRevealed(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2", "r3")
	id := w.drawn(spec(2))
	honest := w.committee(id)[0]
	w.must(w.commit("v0", id, honest, "work"))
	for w.block.Height <= w.job(id).CommitDeadline() {
		w.end()
	}
	w.must(w.reveal(OpReveal, id, honest, "work"))
	w.end()
	again := w.committee(id)
	if w.job(id).Attempts != 2 {
		t.Fatalf("attempt %d", w.job(id).Attempts)
	}
	for _, name := range again {
		w.must(w.commit("v0", id, name, "work"))
	}
	w.end()
	for _, name := range again {
		w.must(w.reveal(OpReveal, id, name, "work"))
	}
	for _, name := range again {
		if name != honest && w.balance(w.address(name)).IsZero() {
			t.Errorf("%s was not paid for a copy", name)
		}
	}
	w.end()
}

// J15: wrong, early, late, doubled and overlong results are refused, and leave no
// trace.
func TestJ15WhatNoBlockTakesOfResults(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2", "r3")
	single, id := w.drawn(spec(1)), w.drawn(spec(2))
	names, one := w.committee(id), w.committee(single)[0]
	outsider := ""
	for _, name := range []string{"r0", "r1", "r2", "r3"} {
		if w.job(id).memberOf(w.address(name)) == nil {
			outsider = name
		}
	}
	root := func() types.Hash { tree, _ := w.state.Seal(); return tree.Root() }
	before := root()
	long := make([]byte, 1001)
	for what, got := range map[string][2]string{
		"a commitment from outside the committee": {w.commit("v0", id, outsider, "x"), "not_of_committee"},
		"a commitment for a single runner":        {w.commit("v0", single, one, "x"), "no_commitment"},
		"a reveal before all committed":           {w.reveal(OpReveal, id, names[0], "x"), "too_soon"},
		"a reveal of a single runner":             {w.reveal(OpReveal, single, one, "x"), "wrong_op"},
		"a single result of a committee":          {w.reveal(OpResult, id, names[0], "x"), "wrong_op"},
		"a result that is too long":               {w.reveal(OpResult, single, one, string(long)), "result_too_long"},
		"a result of no job":                      {w.reveal(OpResult, types.Hash{5}, one, "x"), "no_job"},
		"a result that another runner signed": {w.report("v0", OpResult, Reveal{JobID: single, Runner: w.address(one), Result: []byte("x"),
			RunnerSigned: w.signed("stranger", single, "x")}), "malformed"},
		"a result that is not the signed one": {w.report("v0", OpResult, Reveal{JobID: single, Runner: w.address(one), Result: []byte("y"),
			RunnerSigned: w.signed(one, single, "x")}), "malformed"},
		"a result signed for another job": {w.report("v0", OpResult, Reveal{JobID: single, Runner: w.address(one), Result: []byte("x"),
			RunnerSigned: w.signed(one, id, "x")}), "malformed"},
		"no result": {w.report("v0", OpResult, Reveal{JobID: single, Runner: w.address(one)}), "malformed"},
		"no op":     {w.report("v0", "guess", Commit{}), "malformed"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	if root() != before {
		t.Fatal("what was refused changed the state")
	}
	w.must(w.commit("v0", id, names[0], "x"))
	if code := w.commit("v1", id, names[0], "equivocal"); code != "committed" {
		t.Errorf("a second commitment: %q", code)
	}
	for w.block.Height <= w.job(id).CommitDeadline() {
		w.end()
	}
	if code := w.commit("v0", id, names[1], "x"); code != "late" {
		t.Errorf("a late commitment: %q", code)
	}
	if code := w.reveal(OpReveal, id, names[0], "equivocal"); code != "not_committed" {
		t.Errorf("another result than the first that it committed to: %q", code)
	}
	w.must(w.reveal(OpReveal, id, names[0], "x"))
	if code := w.reveal(OpReveal, id, names[0], "x"); code != "not_of_committee" && code != "revealed" && code != "no_job" {
		t.Errorf("a second result of one runner: %q", code)
	}
	w.end()
}

// J18: a ping is a heartbeat at most once in a fixed number of blocks, never from
// the future, never twice, and never from a key that signed something different.
func TestJ18HeartbeatsOnceInAHundredBlocks(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	ping := func(height types.Height, nonce uint64) Heartbeat {
		digest := (&push.HeartbeatPing{BlockHeight: height, Nonce: nonce}).Digest(testChain)
		return Heartbeat{Runner: w.address("r0"), BlockHeight: height, Nonce: nonce, Signed: w.verifier.Signer(w.key("r0")).Sign(digest)}
	}
	w.end(199) // registered in 1, this is 201
	for _, c := range []struct {
		beat Heartbeat
		want string
	}{{ping(100, 1), "not_due"}, {ping(202, 1), "from_the_future"}, {ping(101, 1), ""}, {ping(101, 1), "not_due"},
		{ping(200, 2), "not_due"}, {ping(201, 3), ""}} {
		if got := w.report("v0", OpHeartbeat, c.beat); got != c.want {
			t.Errorf("a ping of height %d in block %d: %q, want %q", c.beat.BlockHeight, w.block.Height, got, c.want)
		}
	}
	forged := ping(201, 9)
	forged.Nonce = 10
	if got := w.report("v0", OpHeartbeat, forged); got != "malformed" {
		t.Errorf("a ping with another nonce: %q", got)
	}
	stranger := ping(201, 9)
	stranger.Runner = w.address("r9")
	if got := w.report("v0", OpHeartbeat, stranger); got != "malformed" {
		t.Errorf("a ping of another runner: %q", got)
	}
	if w.runner("r0").LastHeartbeat != 201 {
		t.Error(w.runner("r0").LastHeartbeat)
	}
	w.end(1024)
	id, _ := w.submit("bob", spec(1))
	w.end()
	if w.job(id).Status != Pending {
		t.Error("a runner was drawn that is stale")
	}
}

// J20: only the owner changes a runner, and a key registers once. A stake returns two
// epochs after its runner left, or when its last job ended if that is later.
func TestJ20OwnersAndStakes(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.EpochBlocks = 2 })
	w.register("r0")
	with := func(change func(*Registration)) Registration {
		in := w.registration("alice", "r1")
		change(&in)
		return in
	}
	naming := Naming{Runner: w.address("r0")}
	for what, got := range map[string][2]string{
		"again":              {w.registry("alice", "register", w.registration("alice", "r0")), "already_registered"},
		"a stranger's pause": {w.registry("bob", "pause", naming), "not_owner"},
		"the runner's own":   {w.registry("r0", "pause", naming), "not_owner"},
		"a resume of none":   {w.registry("alice", "resume", naming), "no_change"},
		"nobody's":           {w.registry("alice", "pause", Naming{Runner: w.address("r9")}), "not_registered"},
		"too little": {w.registry("alice", "register", with(func(in *Registration) { in.Stake = in.Stake.Sub(types.WeiOf(1)) })),
			"stake_too_low"},
		"no key": {w.registry("alice", "register", with(func(in *Registration) { in.PublicKey = types.PublicKey{} })),
			"bad_public_key"},
		"more than she has":  {w.registry("alice", "register", with(func(in *Registration) { in.Stake = types.MaxWei })), "insufficient_funds"},
		"no stake more":      {w.registry("alice", "add_stake", Addition{Runner: w.address("r0")}), "no_change"},
		"words out of order": {w.registry("alice", "update", Amendment{Runner: w.address("r0"), Offer: offer("llm", "custom")}), "bad_word"},
		"an unknown word":    {w.registry("alice", "update", Amendment{Runner: w.address("r0"), Offer: offer("magic")}), "unknown_capability"},
		"no such handler":    {w.registry("alice", "steal", naming), CodeNoHandler},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	w.must(w.registry("alice", "add_stake", Addition{Runner: w.address("r0"), Amount: types.WeiOf(5)}))
	id := w.drawn(spec(1))
	before := w.balance(w.address("alice"))
	w.must(w.registry("alice", "deregister", naming)) // in block 2: 4 blocks are two epochs
	for w.block.Height <= 7 {
		w.end()
	}
	if w.balance(w.address("alice")) != before {
		t.Error("a stake returned while the runner has a job")
	}
	w.must(w.reveal(OpResult, id, "r0", "done"))
	w.end()
	if got := w.balance(w.address("alice")).Sub(before); got != w.params.MinStake.Add(types.WeiOf(5)) || !w.happened("runner.stake_returned") {
		t.Errorf("%s wei returned", got)
	}
	if code := w.registry("alice", "resume", naming); code != "deregistered" {
		t.Errorf("a resume of a deregistered runner: %q", code)
	}
	if code := w.registry("alice", "register", w.registration("alice", "r0")); code != "already_registered" {
		t.Errorf("a key registers again: %q", code)
	}
}

// J20: the stake of a runner without a job returns two epochs after the block in which it
// left, in no block before.
func TestJ20AStakeReturnsTwoEpochsAfterLeaving(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.EpochBlocks = 3 })
	w.register("r0")
	before := w.balance(w.address("alice"))
	w.must(w.registry("alice", "deregister", Naming{Runner: w.address("r0")})) // in block 1
	for w.block.Height < 7 {
		if w.end(); w.balance(w.address("alice")) != before {
			t.Fatalf("the stake returned before block 7, in block %d", w.block.Height-1)
		}
		if r := w.runner("r0"); r.ReturnsAt != 7 || r.Stake != w.params.MinStake {
			t.Fatalf("it is said to return in block %d: %+v", r.ReturnsAt, r)
		}
	}
	w.end()
	if w.balance(w.address("alice")) != before.Add(w.params.MinStake) || !w.runner("r0").Stake.IsZero() {
		t.Error("the stake did not return in block 7")
	}
}

// J12: a place is given again once the stake of its runner returned, the lowest free one
// first. The runner that held it at a height stays known. The registry ends at the
// last place that is held.
func TestJ12APlaceIsHeldAndNotUsedUp(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.EpochBlocks, p.MaxRunners = 2, 3 })
	w.register("r0", "r1", "r2")
	if code := w.registry("alice", "register", w.registration("alice", "r3")); code != "registry_full" {
		t.Errorf("a fourth place of three: %q", code)
	}
	w.must(w.registry("alice", "deregister", Naming{Runner: w.address("r1")}))
	for w.block.Height <= 5 {
		if code := w.registry("alice", "register", w.registration("alice", "r3")); code != "registry_full" {
			t.Errorf("a place was given again in block %d, while the stake waits: %q", w.block.Height, code)
		}
		w.end()
	}
	w.register("r3") // in block 6
	if got := w.runner("r3"); got.Index != 1 || got.Former != w.address("r1") {
		t.Errorf("the next runner: %+v", got.Profile)
	}
	w.end()
	for height, want := range map[types.Height]string{1: "", 2: "r1", 5: "r1", 6: "", 7: "r3", 8: "r3"} {
		at, ok := HolderAt(w.state, 1, height)
		if ok != (want != "") || ok && w.name(at) != want {
			t.Errorf("place 1 in votes on block %d belongs to %s, %t; want %q", height, w.name(at), ok, want)
		}
	}
	for _, name := range []string{"r0", "r2", "r3"} {
		w.must(w.registry("alice", "deregister", Naming{Runner: w.address(name)}))
	}
	for w.block.Height <= 11 {
		w.end()
	}
	if size := Registered(w.state); size.Count != 0 || len(w.roster.pages) != 0 {
		t.Errorf("all left, and the registry has %d places, the roster %d pages", size.Count, len(w.roster.pages))
	}
}

// J20 (F52): a registration needs the signature of its key, for its sender and its chain.
func TestJ20ARegistrationIsSignedByItsKey(t *testing.T) {
	w := newWorld(t)
	key := w.key("r0")
	for what, signed := range map[string]types.Signature{
		"no signature":     {},
		"another's key":    w.key("carol").Sign(types.RegistrationDigest(testChain, w.address("carol"), key.PublicKey())),
		"another owner":    key.Sign(types.RegistrationDigest(testChain, w.address("alice"), key.PublicKey())),
		"another chain":    key.Sign(types.RegistrationDigest(testChain+1, w.address("carol"), key.PublicKey())),
		"another runner's": key.Sign(types.RegistrationDigest(testChain, w.address("carol"), w.key("r1").PublicKey())),
	} {
		in := w.registration("carol", "r0")
		in.Signed = signed
		if code := w.registry("carol", "register", in); code != "bad_signature" {
			t.Errorf("%s: %q", what, code)
		}
	}
	w.must(w.registry("alice", "register", w.registration("alice", "r0")))
}

// J19: only the submitter cancels, until the job settles, and all of the escrow is
// refunded, with the callback's limits.
func TestJ19CancelReturnsAllOfTheEscrow(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	before := w.balance(w.address("bob"))
	s := spec(1)
	s.Callback = &push.Callback{Actor: types.Address{9}, Handler: "done", CorrelationID: []byte{}, Context: []byte{}}
	id := w.drawn(s)
	if _, code := w.call("carol", types.DispatcherAddress, "cancel", id[:]); code != "not_submitter" {
		t.Errorf("a stranger's cancel: %q", code)
	}
	_, code := w.call("bob", types.DispatcherAddress, "cancel", id[:])
	w.must(code)
	if w.balance(w.address("bob")) != before || w.runner("r0").ActiveJobs != 0 || w.runner("r0").Reputation != 75 || w.job(id) != nil {
		t.Errorf("bob has %s of %s", w.balance(w.address("bob")), before)
	}
	if _, code := w.call("bob", types.DispatcherAddress, "cancel", id[:]); code != "no_job" {
		t.Errorf("a second cancel: %q", code)
	}
	if code := w.reveal(OpResult, id, "r0", "done"); code != "no_job" {
		t.Errorf("a result after a cancel: %q", code)
	}
	w.end()
}

// J16, J19: a callback is a message of 0x02 with the paid limits, and the map of
// J19; its unused part goes to the submitter.
func TestJ16TheCallbackIsAMessageOfTheDispatcher(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	s := spec(1)
	s.Callback = &push.Callback{Actor: types.Address{9}, Handler: "done", CorrelationID: []byte("c"), Context: []byte("x")}
	id := w.drawn(s)
	if escrow := w.job(id).Terms.escrowAmount(); escrow != types.WeiOf(1_000_077+500_000*2+20_000*3) {
		t.Errorf("the escrow is %s", escrow)
	}
	w.must(w.reveal(OpResult, id, "r0", "done"))
	var found *actors.Message
	actors.ScanMessages(w.state, func(m *actors.Message) bool { found = m; return false })
	if found == nil || found.From != types.DispatcherAddress || found.To != s.Callback.Actor || found.Handler != "done" ||
		found.SentAt != w.block.Height ||
		found.Prepaid() != types.WeiOf(500_000*2+20_000*3) {
		t.Fatalf("%+v", found)
	}
	var answer Answer
	if err := codec.Unmarshal(found.Payload, 1000, &answer); err != nil || answer.Status != Completed || string(answer.Result) != "done" ||
		answer.Error != nil || string(answer.CorrelationID) != "c" || string(answer.Context) != "x" || answer.JobID != id {
		t.Errorf("%+v, %v", answer, err)
	}
	if who := found.Payer; who != w.address("bob") {
		t.Errorf("the rest goes to %s", w.name(who))
	}
	w.end()
}

// J1: ids follow from submitter, nonce and height; the first nonce is 0, and a
// refused job counts none.
func TestJ1IDsCountASubmittersJobs(t *testing.T) {
	w := newWorld(t)
	bad := spec(1)
	bad.MaxPrice = types.MaxWei
	if _, code := w.submit("bob", bad); code != "insufficient_funds" {
		t.Errorf("a job that its payer cannot afford: %q", code)
	}
	for nonce := range uint64(3) {
		id, code := w.submit("bob", spec(1))
		w.must(code)
		if want := push.JobID(w.address("bob"), nonce, 1); id != want {
			t.Errorf("job %d is %s, want %s", nonce, id, want)
		}
	}
	w.end()
}

// CIP-2: a spec beyond a limit is refused, and what it says is wrong with it.
func TestSpecsBeyondTheLimits(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.MaxOpenJobs = 1; p.MaxSpecBytes = 2000 })
	pointer := "/" + string(make([]byte, 1100))
	badSchema := `{"type":"object","format":"email"}`
	for what, c := range map[string]struct {
		change func(*push.JobSpec)
		want   string
	}{
		"a timeout of 0":        {func(s *push.JobSpec) { s.TimeoutBlocks = 0 }, "bad_spec"},
		"a timeout too long":    {func(s *push.JobSpec) { s.TimeoutBlocks = 100_001 }, "bad_spec"},
		"too large a committee": {func(s *push.JobSpec) { s.Verification.Mode, s.Verification.Runners = push.Deterministic, 32 }, "bad_spec"},
		"no room for a result":  {func(s *push.JobSpec) { s.ResultSchema.MaxReturnBytes = 0 }, "bad_spec"},
		"too long a result":     {func(s *push.JobSpec) { s.ResultSchema.MaxReturnBytes = 262_145 }, "bad_spec"},
		"a nameless handler":    {func(s *push.JobSpec) { s.Callback = &push.Callback{} }, "bad_spec"},
		"a url without a host":  {func(s *push.JobSpec) { s.JobType = push.JobType{Http: &push.Http{URL: "mailto:x"}} }, "bad_spec"},
		"too long a pointer": {func(s *push.JobSpec) {
			s.Verification = push.Verification{Mode: push.MajorityVote, Runners: 3, Field: &pointer}
		}, "bad_spec"},
		"a schema that we mistake": {func(s *push.JobSpec) {
			s.Verification = push.Verification{Mode: push.StructuredMatch, Runners: 2, Checks: []push.Check{{Schema: &badSchema}}}
		}, "bad_spec"},
		"a bond that no draft describes": {func(s *push.JobSpec) { s.Verification.Mode = push.EconomicBond }, "unsupported_mode"},
		"too many bytes":                 {func(s *push.JobSpec) { s.JobType.Custom.Params = make([]byte, 2000) }, "spec_too_long"},
	} {
		s := spec(1)
		c.change(s)
		if _, got := w.submit("bob", s); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	if _, code := w.call("bob", types.DispatcherAddress, "submit", []byte{0xa0}); code != "malformed" {
		t.Errorf("an empty map: %q", code)
	}
	_, code := w.submit("bob", spec(1))
	w.must(code)
	if _, code := w.submit("bob", spec(1)); code != "too_many_jobs" {
		t.Errorf("one job too many: %q", code)
	}
	w.end()
}

// A place for an open job is free while the job is open. A submitter that fills all places
// with jobs that no runner can do blocks all others for the maximum timeout, and gets every
// wei of the escrow back in the end (finding F60).
func TestFindingJ19OneSubmitterMayTakeAllPlaces(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.MaxOpenJobs, p.MaxTimeoutBlocks = 3, 1000 })
	w.register("r0")
	nobody, before := "no such pool", w.balance(w.address("bob"))
	for range w.params.MaxOpenJobs {
		held := spec(1)
		held.RequiredRunnerPool, held.TimeoutBlocks = &nobody, w.params.MaxTimeoutBlocks
		held.MaxPrice, held.Tip, held.Callback = types.WeiOf(1), types.Wei{}, nil
		_, code := w.submit("bob", held)
		w.must(code)
	}
	refused := uint64(0)
	for _, code := w.submit("carol", spec(1)); code != ""; _, code = w.submit("carol", spec(1)) {
		if code != "too_many_jobs" || w.balance(w.address("bob")) == before {
			t.Fatalf("carol's job is answered %q, and bob has %s", code, w.balance(w.address("bob")))
		}
		refused++
		w.end()
	}
	if refused < w.params.MaxTimeoutBlocks || w.balance(w.address("bob")) != before {
		t.Errorf("carol is refused for %d blocks, and then bob has %s of %s", refused, w.balance(w.address("bob")), before)
	}
	w.end()
}

// CIP-11 §9.3, §9.4: the runner of the last completed job weighs more in the first
// step, for a fixed number of blocks; then its record is deleted.
func TestSection94RecordsExpireWhenTheyAreRead(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	w.must(w.reveal(OpResult, w.drawn(spec(1)), "r0", "done"))
	key := keyMRU(w.address("bob"), push.JobCustom)
	w.end()
	if favour := w.block.favourOf(&Job{Submitter: w.address("bob"), Kind: push.JobCustom}); favour.Runner != w.address("r0") ||
		favour.Multiplier != 4 {
		t.Errorf("%+v", favour)
	}
	w.end(256)
	if favour := w.block.favourOf(&Job{Submitter: w.address("bob"), Kind: push.JobCustom}); favour != (selection.Favour{}) {
		t.Errorf("%+v", favour)
	}
	if loadRecord[selection.MRU](w.state, types.DispatcherAddress, key) != nil {
		t.Error("an expired record was kept")
	}
}

// CIP-11 §9.5: a record belongs to one submitter and one kind, whatever model or server
// a job names.
func TestSection95ARecordIsOfItsSubmitterAndKind(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	w.must(w.reveal(OpResult, w.drawn(spec(1)), "r0", "done"))
	w.end()
	for _, c := range []struct {
		submitter string
		kind      push.JobKind
		favoured  bool
	}{{"bob", push.JobCustom, true}, {"bob", push.JobLLM, false}, {"carol", push.JobCustom, false}} {
		favour := w.block.favourOf(&Job{Submitter: w.address(c.submitter), Kind: c.kind})
		if (favour.Runner == w.address("r0")) != c.favoured {
			t.Errorf("for a job of %s's of the kind %s the draw favours %+v", c.submitter, c.kind, favour)
		}
	}
}

// CIP-11 §9.1, filter 6: a runner that jobs of the same block fill is drawn no more.
func TestSection91ABlocksOwnDrawsMakeARunnerBusy(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	for range 5 { // it takes four at once
		_, code := w.submit("bob", spec(1))
		w.must(code)
	}
	w.end()
	waiting := 0
	OpenJobs(w.state, func(j *Job) bool {
		if j.Status == Pending {
			waiting++
		}
		return true
	})
	if r := w.runner("r0"); r.ActiveJobs != 4 || waiting != 1 {
		t.Errorf("r0 has %d jobs, %d wait", r.ActiveJobs, waiting)
	}
}

// CIP-2 has runners begin with a reputation of 50, and draws them from 50 on: who was
// silent once is never drawn again, and nothing brings it back but work (finding F54).
func TestFindingJ6FromFiftyOneTimeoutIsFinal(t *testing.T) {
	for _, c := range []struct {
		initial uint64
		final   bool
	}{{50, true}, {75, false}} {
		w := newWorld(t, func(p *params.Params) { p.InitialReputation = c.initial })
		w.register("r0")
		w.end()
		w.drawn(spec(1))
		w.end(20) // it is silent, and no other runner is present
		for range 8 {
			w.end(100)
		}
		id, code := w.submit("bob", spec(1))
		w.must(code)
		w.end()
		if j := w.job(id); (j.Status == Pending) != c.final {
			t.Errorf("from %d, with a reputation of %d after a timeout, a job is %v", c.initial, w.runner("r0").Reputation, j.Status)
		}
	}
}

// A submitter need not pay for any result, and may cost runners their reputation: the
// escrow is refunded if a job fails, and the revealed results are on chain by then
// (finding F59).
func TestFindingJ19WhoSubmitsNeedNotPay(t *testing.T) {
	w := newWorld(t)
	w.register("r0", "r1", "r2")
	before := w.balance(w.address("bob"))
	free := func(how string) {
		t.Helper()
		if w.balance(w.address("bob")) != before || JobsOf(w.state).Open != 0 {
			t.Errorf("%s: bob has %s of %s, and %d jobs are open", how, w.balance(w.address("bob")), before, JobsOf(w.state).Open)
		}
	}

	id := w.drawn(spec(3))
	names := w.committee(id)
	for _, name := range names {
		w.must(w.commit("v0", id, name, "work"))
	}
	w.end()
	w.must(w.reveal(OpReveal, id, names[0], "work"))
	_, code := w.call("bob", types.DispatcherAddress, "cancel", id[:])
	w.must(code)
	w.end()
	free("cancelled after a reveal")

	nothing := spec(3)
	nothing.Verification = push.Verification{Mode: push.StructuredMatch, Runners: 3, Checks: []push.Check{{Schema: text(`{"enum":[]}`)}}}
	w.finish(w.drawn(nothing), `"work"`, `"work"`, `"work"`)
	free("by a check that nothing passes")

	impossible := spec(1)
	impossible.JobType = push.JobType{Http: &push.Http{URL: "https://example.org", Method: "NONE", Headers: [][2]string{}}}
	if wrong := CheckSpec(impossible, &w.params); wrong != nil {
		t.Errorf("what no runner accepts is refused at once: %v", wrong)
	}
	for id = w.drawn(spec(1)); w.job(id) != nil; { // these runners do custom jobs; they are silent
		w.end()
	}
	free("a job without capable runners")
	for _, name := range names {
		if r := w.runner(name); r.Reputation != 70 {
			t.Errorf("%s has a reputation of %d", name, r.Reputation)
		}
	}
}

// C8, J20: time travel stops at the next deadline, which is the earliest of all open jobs: the block
// of its draw and its timeout later.
func TestC8TheNextDeadlineIsTheEarliest(t *testing.T) {
	w := newWorld(t)
	w.register("r0")
	if at, is := NextDeadline(w.state); is {
		t.Fatalf("there is a deadline at %d without a job", at)
	}
	var ids []types.Hash
	timeouts := []uint64{7, 3, 9}
	for _, timeout := range timeouts {
		s := spec(1)
		s.TimeoutBlocks = timeout
		id, code := w.submit("bob", s)
		w.must(code)
		ids = append(ids, id)
	}
	drawn := w.block.Height
	w.end()
	for _, next := range []int{1, 0, 2} { // each is done, and the next one is the earliest
		if at, is := NextDeadline(w.state); !is || at != drawn+types.Height(timeouts[next]) {
			t.Errorf("the next deadline is %d, %v; want %d", at, is, drawn+types.Height(timeouts[next]))
		}
		w.must(w.reveal(OpResult, ids[next], "r0", "done"))
	}
	if at, is := NextDeadline(w.state); is {
		t.Errorf("there is a deadline at %d after the last job", at)
	}
}

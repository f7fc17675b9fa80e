package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// newRunnerWorld is a world with runners r0, r1, … in its genesis, whose votes show
// all of them.
func newRunnerWorld(t testing.TB, runners int, overrides params.Overrides) *world {
	w := newWorld(t, overrides)
	for i := range runners {
		key := w.key(runnerName(i))
		w.genesis.Runners = append(w.genesis.Runners, system.Enrolment{PublicKey: key.PublicKey(), Owner: key.Address(),
			Stake: types.WeiOf(20_000 * types.CBY), Offer: system.Offer{Capabilities: []string{"custom"}, Entitlements: []string{},
				MaxConcurrentJobs: 4,
				RateCard:          system.RateCard{ComputeSecond: types.WeiOf(100)}}})
	}
	state, _, err := w.genesis.State()
	if err != nil {
		t.Fatal(err)
	}
	w.head = state
	return w
}

func runnerName(i int) string { return "r" + string(rune('0'+i)) }

// shown is the next proposal, with votes on the head that show every runner but
// some.
func (w *world) shown(absent ...int) Proposal {
	proposal := w.proposal()
	bitmap := selection.NewBitmap(w.head.VoteBits())
	for i := range bitmap.Len() {
		bitmap.Set(i, !slices.Contains(absent, i))
	}
	proposal.Parent = &types.Certificate{Kind: types.Notarize, View: w.head.header.View, Height: w.head.Height(), Block: w.head.Hash()}
	for _, v := range w.head.set.Members {
		proposal.Parent.Votes = append(proposal.Parent.Votes, types.CertificateVote{Validator: v.Address, Bitmap: bitmap.Bytes()})
	}
	return proposal
}

func (w *world) step(txs ...*Checked) *Result {
	w.t.Helper()
	return w.propose(w.shown(), txs...)
}

func jobSpec(runners uint64) *push.JobSpec {
	mode := push.Deterministic
	if runners == 1 {
		mode = push.None
	}
	return &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:       push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 3},
		Verification: push.Verification{Mode: mode, Runners: runners}, MaxPrice: types.WeiOf(1_000_000), Tip: types.WeiOf(77),
		TimeoutBlocks: 10, ResultSchema: push.ResultSchema{MaxReturnBytes: 1000, ExpectedExecutionMS: 1500, DataFormat: push.FormatBytes}}
}

func (w *world) submit(from string, s *push.JobSpec) *Checked {
	to := types.DispatcherAddress
	return w.checked(from, w.tx(from, &to, &types.Execute{Kind: types.KindExecute, Handler: "submit", Payload: s.Order()}))
}

// reporting is a runner transaction of a validator.
func (w *world) reporting(validator, op string, args any) *Checked {
	tx := &types.Transaction{ChainID: 8011, Payload: codec.Marshal(&types.Report{Kind: types.KindRunner, Op: op, Args: codec.Marshal(args)})}
	return w.checked(validator, tx)
}

func (w *world) signedResult(runner types.Address, id types.Hash, result string) types.Signature {
	return w.key(w.name(runner)).Sign((&push.JobResult{JobID: id, ResultData: []byte(result)}).Digest(8011))
}

func (w *world) result(validator, op string, id types.Hash, runner types.Address, result string) *Checked {
	return w.reporting(validator, op, system.Reveal{JobID: id, Runner: runner, Result: []byte(result),
		RunnerSigned: w.signedResult(runner, id, result)})
}

func (w *world) commitment(validator string, id types.Hash, runner types.Address, result string) *Checked {
	commitment, drawn := push.Commitment([]byte(result), w.signedResult(runner, id, result)), types.Height(0)
	if j := w.head.Job(id); j != nil {
		drawn = j.Since
	}
	return w.reporting(validator, system.OpCommit, system.Commit{JobID: id, Drawn: drawn, Runner: runner, Commitment: commitment,
		CommitSigned: w.key(w.name(runner)).Sign(push.CommitmentDigest(8011, id, drawn, commitment))})
}

// onlyJob is the one that is open.
func (w *world) onlyJob() (job *system.Job) {
	w.head.Jobs(func(j *system.Job) bool { job = j; return false })
	return job
}

// J16: a job of one runner: submitted and drawn in H, its result in H+1, the actor
// called in H+2; the callback's unused limits go to the submitter.
func TestJ16TheBlocksOfAJobOfOneRunner(t *testing.T) {
	w := newRunnerWorld(t, 2, nil)
	w.step(w.deploy("alice", "counter", "c", 1000))
	w.ok()
	s := jobSpec(1)
	s.Callback = &push.Callback{Actor: w.address("c"), Handler: "increment", CorrelationID: []byte{}, Context: []byte{}}
	w.step(w.submit("bob", s))
	w.ok()
	job := w.onlyJob()
	if job == nil || job.Status != system.Assigned || job.Since != w.head.Height() ||
		!w.head.HasWork() == (job.Deadline() <= w.head.Height()) {
		t.Fatalf("%+v", job)
	}
	before := w.balance("bob")
	supplied := w.balance("v0")
	w.step(w.result("v0", system.OpResult, job.ID, job.Committee[0].Runner, "done"))
	w.ok()
	if len(w.last.Receipts) != 1 || w.last.Receipts[0].Handler != system.OpResult || !w.last.Receipts[0].Fee.IsZero() ||
		w.head.OpenJobs() != 0 {
		t.Fatalf("%+v", w.last.Receipts)
	}
	if w.balance("v0") != supplied {
		t.Error("a validator paid for a runner transaction")
	}
	back := w.balance("bob").Sub(before)
	if !w.head.HasWork() || back != types.WeiOf(1_000_000-200) {
		t.Errorf("bob got %s back", back)
	}
	w.step()
	w.ok()
	receipt := w.last.Receipts[0]
	if receipt.Origin != types.OriginMessage || receipt.Sender != types.DispatcherAddress || receipt.To != w.address("c") {
		t.Fatalf("%+v", receipt)
	}
	if rest := w.balance("bob").Sub(before).Sub(back); rest.IsZero() || !w.head.Account(types.DispatcherAddress).Balance.IsZero() {
		t.Errorf("of the callback's limits %s were refunded, %s stayed", rest, w.head.Account(types.DispatcherAddress).Balance)
	}
}

// J15, J16: a committee takes one block more; commitments and reveals are free, any
// validator's, in the runner lane.
func TestJ15ACommitteeCommitsAndReveals(t *testing.T) {
	w := newRunnerWorld(t, 3, nil)
	w.step()
	w.step(w.submit("bob", jobSpec(3)))
	job := w.onlyJob()
	var commits, reveals []*Checked
	for i, m := range job.Committee {
		commits = append(commits, w.commitment("v1", job.ID, m.Runner, "same"))
		reveals = append(reveals, w.result([]string{"v0", "v2", "v3"}[i], system.OpReveal, job.ID, m.Runner, "same"))
	}
	w.step(append(commits, reveals...)...)
	if len(w.last.Receipts) != 3 || w.onlyJob().Status != system.Executing || len(w.dropped) != 0 {
		t.Fatalf("%+v, %v", w.last.Receipts, w.dropped)
	}
	if cycles := w.last.Block.Header.CyclesUsed; cycles == 0 || cycles != 3*(w.head.params.CostTransaction+w.head.params.CostVerify+
		2*w.head.params.CostStorageWrite) {
		t.Errorf("%d cycles", cycles)
	}
	w.step(reveals...)
	w.ok()
	if w.head.OpenJobs() != 0 {
		t.Errorf("%+v", w.onlyJob())
	}
}

// J15: no block has a runner transaction from outside the set, with a payment, with
// a refusal, or a second time.
func TestJ15RunnerTransactionsAreTheValidatorsAlone(t *testing.T) {
	w := newRunnerWorld(t, 1, nil)
	w.step()
	w.step(w.submit("bob", jobSpec(1)))
	job := w.onlyJob()
	good := w.result("v0", system.OpResult, job.ID, job.Committee[0].Runner, "done")
	for what, c := range map[string]struct {
		tx   *Checked
		want string
	}{
		"by alice":     {w.result("alice", system.OpResult, job.ID, job.Committee[0].Runner, "done"), CodeNotValidator},
		"of no job":    {w.result("v0", system.OpResult, types.Hash{1}, job.Committee[0].Runner, "done"), CodeEarlyReport},
		"of wrong op":  {w.result("v0", system.OpReveal, job.ID, job.Committee[0].Runner, "done"), CodeRefusedReport},
		"as it should": {good, ""},
	} {
		got := ""
		if refusal := w.head.precheckReport(c.tx); refusal != nil {
			got = codeOf(t, refusal)
		}
		if got != c.want {
			t.Errorf("a result %s: %q, want %q", what, got, c.want)
		}
	}
	for what, change := range map[string]func(*types.Transaction){
		"a nonce": func(tx *types.Transaction) { tx.Nonce = 1 }, "a far nonce": func(tx *types.Transaction) { tx.Nonce = 1<<64 - 1 },
		"a value":    func(tx *types.Transaction) { tx.Value = types.WeiOf(1) },
		"a limit":    func(tx *types.Transaction) { tx.CellsLimit = 1 },
		"a fee":      func(tx *types.Transaction) { tx.MaxPriorityFeePerCell = types.WeiOf(1) },
		"an address": func(tx *types.Transaction) { tx.To = &types.VerifierAddress },
	} {
		tx := *good.Tx
		change(&tx)
		w.sign("v0", &tx)
		if _, err := w.executor.Admit(w.head, tx.Encode()); err == nil || codeOf(t, err) != CodeMalformed {
			t.Errorf("a runner transaction with %s: %v", what, err)
		}
	}
	w.step(good, good)
	if len(w.last.Receipts) != 1 {
		t.Errorf("%d receipts", len(w.last.Receipts))
	}
	if n := w.head.Account(w.address("v0")).Nonce; n != 0 {
		t.Errorf("a runner transaction took nonce %d of its validator", n)
	}
}

// C3, J12: a header holds the hash of P(parent), as long as the registry at the
// parent's parent; other votes than those it was made from are another block.
func TestC3TheHeaderHoldsPresence(t *testing.T) {
	w := newRunnerWorld(t, 3, nil)
	w.step() // P(0) is empty
	if got := w.head.header.Presence; got != selection.NewBitmap(0).Hash() {
		t.Error("P(0) is not empty")
	}
	w.propose(w.shown(1))
	want := selection.NewBitmap(3)
	want.Set(0, true)
	want.Set(2, true)
	if w.head.header.Presence != want.Hash() {
		t.Error("the header does not hold P(1)")
	}
	block := *w.last.Block
	parent := *block.Parent
	parent.Votes = nil
	block.Parent = &parent
	w2 := newRunnerWorld(t, 3, nil)
	w2.step()
	if _, err := w2.executor.Apply(w2.head, &block); err == nil || codeOf(t, err) != CodeBadPresence {
		t.Errorf("a block without its votes: %v", err)
	}
	parent.Votes = []types.CertificateVote{{Bitmap: []byte{1}}}
	if _, err := w2.executor.Apply(w2.head, &block); err == nil || codeOf(t, err) != CodeBadCertificate {
		t.Errorf("a misshapen bitmap: %v", err)
	}
}

// shownBy is the next proposal, with a quorum of a set's votes on the head. The first show
// votes have every runner's bit.
func (w *world) shownBy(voters *types.ValidatorSet, show int) Proposal {
	proposal := w.shown()
	proposal.Parent.Votes = nil
	for i, v := range voters.Members[:voters.Quorum()] {
		bitmap := selection.NewBitmap(w.head.VoteBits())
		for j := range bitmap.Len() {
			bitmap.Set(j, i < show)
		}
		proposal.Parent.Votes = append(proposal.Parent.Votes, types.CertificateVote{Validator: v.Address, Bitmap: bitmap.Bytes()})
	}
	return proposal
}

// register registers a runner for its own key, which is funded for it.
func (w *world) register(name string) *Checked {
	to, key := types.RegistryAddress, w.key(name)
	in := &system.Registration{PublicKey: key.PublicKey(), Stake: types.WeiOf(20_000 * types.CBY),
		Signed: key.Sign(types.RegistrationDigest(8011, key.Address(), key.PublicKey())),
		Offer:  system.Offer{Capabilities: []string{"custom"}, Entitlements: []string{}, MaxConcurrentJobs: 4}}
	return w.checked(name, w.tx(name, &to, &types.Execute{Kind: types.KindExecute, Handler: "register", Payload: codec.Marshal(in)}))
}

func (w *world) deregister(name string) *Checked {
	to := types.RegistryAddress
	payload := codec.Marshal(&system.Naming{Runner: w.key(name).Address()})
	return w.checked(name, w.tx(name, &to, &types.Execute{Kind: types.KindExecute, Handler: "deregister", Payload: payload}))
}

// J12: no vote on the former runner of a place makes the next one present. Here all votes
// set every bit, as validators that lag or lie would.
func TestJ12VotesOnAFormerHolderMakeNobodyPresent(t *testing.T) {
	w := newRunnerWorld(t, 2, params.Overrides{"chain.epoch_blocks": "2"})
	w.step(w.transfer("alice", "r0", 1_000*types.CBY), w.transfer("alice", "late", 21_000*types.CBY))
	w.step(w.deregister("r0")) // block 2; its stake returns in block 6
	for w.head.Height() < 6 {
		if r := w.head.Runner(w.key("r0").Address()); r.Stake.IsZero() {
			t.Fatalf("the stake returned in block %d", w.head.Height())
		}
		w.step()
	}
	if r := w.head.Runner(w.key("r0").Address()); !r.Stake.IsZero() {
		t.Fatal("the stake did not return in block 6")
	}
	if got := w.step(w.register("late")); got.Presence.Bitmap.Has(0) || !got.Presence.Bitmap.Has(1) { // block 7 tells P(6)
		t.Error("P(6) shows a place that is free")
	}
	if r := w.head.Runner(w.key("late").Address()); r == nil || r.Index != 0 {
		t.Fatalf("it did not get the free place: %+v", r)
	}
	if got := w.step(); got.Presence.Bitmap.Has(0) || !got.Presence.Bitmap.Has(1) {
		t.Error("P(7) shows the runner that registered in block 7")
	}
	if got := w.step(); !got.Presence.Bitmap.Has(0) {
		t.Error("P(8) does not show the new runner")
	}
	for height, name := range map[types.Height]string{1: "r0", 6: "r0", 8: "late"} {
		if got := w.head.RunnerAt(0, height); got != w.key(name).Address() {
			t.Errorf("place 0 in votes on block %d is %s's, want %s", height, w.name(got), name)
		}
	}
	restored, err := Restore(contentOf(w.head), &types.Block{Header: w.head.header})
	if err != nil {
		t.Fatal(err)
	}
	for place := range 3 {
		since, held := restored.Places().Since(place)
		if at, is := w.head.Places().Since(place); at != since || is != held {
			t.Errorf("place %d: a restored state has it since %d, %t; the carried one %d, %t", place, since, held, at, is)
		}
	}
}

// C8, J20: travel stops at the height at which a stake returns. Skipped heights before it
// are empty blocks.
func TestC8TravelStopsAtReturns(t *testing.T) {
	start := func() *world {
		w := newRunnerWorld(t, 2, params.Overrides{"chain.epoch_blocks": "20"})
		w.step(w.transfer("alice", "r1", 1_000*types.CBY))
		w.step(w.deregister("r1"))
		return w
	}
	walked, leapt := start(), start()
	returns := leapt.head.Runner(leapt.key("r1").Address()).ReturnsAt
	if got, want := leapt.head.SkipTo(1000), uint64(returns-3); returns != 42 || got != want {
		t.Fatalf("%d heights may be skipped before the stake returns in block %d, want %d before block 42", got, returns, want)
	}
	proposal := leapt.shown()
	proposal.Skipped = leapt.head.Skippable() + 1
	if _, err := leapt.executor.Build(leapt.head, proposal, slices.Values([]*Checked(nil)), nil); codeOf(t, err) != CodeBadSkip {
		t.Errorf("a leap over the return: %v", err)
	}
	proposal.Skipped--
	leapt.propose(proposal)
	for walked.head.Height() < returns {
		walked.step()
	}
	for name, w := range map[string]*world{"walked": walked, "leapt": leapt} {
		r := w.head.Runner(w.key("r1").Address())
		if !r.Stake.IsZero() || r.ReturnsAt != returns || w.head.Registered() != 1 {
			t.Errorf("%s: at height %d the registry has %d places and the runner is %+v", name, w.head.Height(), w.head.Registered(), r)
		}
	}
	if walked.head.Root() != leapt.head.Root() {
		t.Error("a leap to the return is not what empty blocks are")
	}
	if got := leapt.head.SkipTo(1000); got != 1000-43 {
		t.Errorf("%d heights may be skipped after the return, want %d", got, 1000-43)
	}
}

// CIP-11 §8.2, J9: under validator-set and safe the threshold is f + 1 of the set that
// voted. On a border's own block that is the former set, and not the one that begins.
func TestJ9TheThresholdOfABorderIsOfTheSetThatVotedOnIt(t *testing.T) {
	for _, rule := range []string{"validator-set", "safe"} {
		w := newRunnerWorld(t, 1, params.Overrides{"chain.epoch_blocks": "4", "cip11.presence_rule": rule})
		former := w.head.set
		w.step()
		var joins []*Checked
		for i := range 3 { // from four validators, f = 1, to seven, f = 2
			joins = append(joins, w.instruct(governance.OpJoinValidator,
				&governance.JoinValidator{PublicKey: w.key(fmt.Sprint("v", 7+i)).PublicKey()}))
		}
		w.step(joins...)
		w.step()
		w.step()
		if !w.head.header.Border() || len(w.head.set.Members) != 7 || len(former.Members) != 4 {
			t.Fatalf("at height %d the set does not change from 4 to 7 validators: %+v", w.head.Height(), w.head.set)
		}
		for _, c := range []struct {
			voters  *types.ValidatorSet
			show    int
			present bool
		}{{former, 1, false}, {former, 2, true}} {
			w := *w
			w.propose(w.shownBy(c.voters, c.show))
			if got := w.last.Presence.Bitmap.Has(0); got != c.present {
				t.Errorf("%s: %d votes of the former set on the border make the runner present: %v", rule, c.show, got)
			}
		}
		w.propose(w.shownBy(former, 2))
		for _, c := range []struct {
			show    int
			present bool
		}{{2, false}, {3, true}} {
			w := *w
			w.propose(w.shownBy(w.head.set, c.show))
			if got := w.last.Presence.Bitmap.Has(0); got != c.present {
				t.Errorf("%s: %d votes of the new set on its first block make the runner present: %v", rule, c.show, got)
			}
		}
	}
}

// J15, CIP-3: runner transactions take half of a block's cells at most. The rest
// waits for the next block, and the other half is left to transactions that pay.
func TestJ15FreeTransactionsTakeHalfOfTheCells(t *testing.T) {
	w := newRunnerWorld(t, 3, params.Overrides{"cip3.block_cells_limit": "50000", "cip5.max_cells_per_fire": "50000"})
	w.step()
	s := jobSpec(3)
	s.ResultSchema.MaxReturnBytes = 10_000
	w.step(w.submit("bob", s))
	w.ok()
	job := w.onlyJob()
	long := strings.Repeat("x", 9000)
	var commits, reveals []*Checked
	for _, m := range job.Committee {
		commits = append(commits, w.commitment("v1", job.ID, m.Runner, long))
		reveals = append(reveals, w.result("v0", system.OpReveal, job.ID, m.Runner, long))
	}
	w.step(commits...)
	w.ok()
	w.step(append(reveals, w.transfer("alice", "bob", 5))...)
	w.ok()
	if n := len(w.last.Receipts); n != 3 || w.last.Receipts[2].Sender != w.address("alice") || w.onlyJob() == nil {
		t.Fatalf("of three results of 9,000 bytes and a transfer %d are in a block of 50,000 cells: %+v", n, w.last.Receipts)
	}
	if w.step(reveals[2]); len(w.last.Receipts) != 1 || w.onlyJob() != nil {
		t.Errorf("the third result is not in the next block: %+v", w.last.Receipts)
	}
}

// CIP-11 §9.1: who is not in P(parent) is not drawn in hot and sunset, and is in
// shadow.
func TestSection91PresenceFiltersInHotAlone(t *testing.T) {
	for phase, drawn := range map[string]bool{"off": true, "shadow": true, "hot": false, "sunset": false} {
		w := newRunnerWorld(t, 2, params.Overrides{"cip11.push": phase})
		w.step()
		w.propose(w.shown(0, 1), w.submit("bob", jobSpec(1)))
		if got := w.onlyJob().Status == system.Assigned; got != drawn {
			t.Errorf("%s: drawn is %t", phase, got)
		}
	}
}

// C8, J20: travel goes to a job's deadline, to the block after it, and no further.
func TestC8TravelStopsAtDeadlines(t *testing.T) {
	w := newRunnerWorld(t, 1, nil)
	w.step()
	w.step(w.submit("bob", jobSpec(1)))
	deadline := w.onlyJob().Deadline()
	proposal := w.shown()
	proposal.Skipped = w.head.Skippable()
	w.propose(proposal)
	if w.head.Height() != deadline || w.head.Skippable() != 0 || !w.head.HasWork() {
		t.Fatalf("height %d, deadline %d, %d skippable, work %t", w.head.Height(), deadline, w.head.Skippable(), w.head.HasWork())
	}
	w.step()
	if job := w.onlyJob(); job.Attempts != 1 || job.Status != system.Pending || w.head.Runner(w.key("r0").Address()).Reputation != 70 {
		t.Errorf("%+v", job)
	}
}

// J10: the subset epoch is in the header, and its set in state, through rotations
// by time.
func TestJ10TheSubsetEpochIsInTheHeader(t *testing.T) {
	w := newRunnerWorld(t, 1, params.Overrides{"cip11.subset_epoch_blocks": "3"})
	for height := 1; height <= 7; height++ {
		w.step()
		if got := w.head.header.SubsetEpoch; got != uint64(height/3) || w.head.Rotation().Epoch != got {
			t.Errorf("height %d belongs to subset epoch %d", height, got)
		}
	}
	if restored, err := Restore(contentOf(w.head), w.last.Block); err != nil || restored.Rotation().Epoch != 2 {
		t.Errorf("%v", err)
	}
}

func contentOf(s *State) (content []Change) {
	s.Scan(nil, nil, func(key, value []byte) bool {
		content = append(content, Change{Key: key, Value: value})
		return true
	})
	return content
}

// An actor may call the dispatcher, and a transaction may not pay it by value.
func TestSystemActorsTakeNoValue(t *testing.T) {
	w := newRunnerWorld(t, 1, nil)
	to := types.DispatcherAddress
	tx := w.tx("bob", &to, &types.Execute{Kind: types.KindExecute, Handler: "submit", Payload: jobSpec(1).Order()})
	tx.Value = types.WeiOf(5)
	w.step(w.checked("bob", tx))
	if r := w.last.Receipts[0]; r.Status != types.StatusReverted || r.Error.Code != "no_value" {
		t.Errorf("%+v", r)
	}
	w.step(w.call("bob", "nobody", "x", nil), w.checked("bob", w.tx("bob", &to, &types.Execute{Kind: types.KindExecute, Handler: "destroy"})))
	if r := w.last.Receipts[1]; r.Status != types.StatusNoHandler {
		t.Errorf("%+v", r)
	}
}

// A genesis with invalid runners is refused, and the error names the runner.
func TestGenesisRefusesRunners(t *testing.T) {
	for what, change := range map[string]func(*system.Enrolment){
		"without a stake": func(e *system.Enrolment) { e.Stake = types.Wei{} },
		"without a key":   func(e *system.Enrolment) { e.PublicKey = types.PublicKey{} },
		"twice":           func(e *system.Enrolment) { e.PublicKey = crypto0(t) },
		"of no jobs":      func(e *system.Enrolment) { e.Offer.MaxConcurrentJobs = 0 },
	} {
		w := newRunnerWorld(t, 2, nil)
		change(&w.genesis.Runners[1])
		if _, _, err := w.genesis.State(); err == nil {
			t.Errorf("a runner %s is in genesis", what)
		}
	}
}

func crypto0(t testing.TB) types.PublicKey { return newWorld(t, nil).key("r0").PublicKey() }

// If two states of one chain have the same Registrations, Listed returns the same for
// each runner; a validator reads its runners again only if it differs.
func TestRegistrationsChangeWithARunner(t *testing.T) {
	if none := newWorld(t, nil).head.Registrations(); none != nil {
		t.Errorf("a chain without runners has %v", none)
	}
	w := newRunnerWorld(t, 2, nil)
	changed := func(txs ...*Checked) bool {
		before := w.head.Registrations()
		w.step(txs...)
		w.ok()
		return w.head.Registrations() != before
	}
	if changed() {
		t.Error("an empty block changed runners")
	}
	if !changed(w.submit("bob", jobSpec(1))) {
		t.Error("a runner is drawn, and nothing changed")
	}
	job := w.onlyJob()
	winner := job.Committee[0].Runner
	before := w.head.Listed(winner).Reputation
	if !changed(w.result("v0", system.OpResult, job.ID, winner, "done")) || w.head.Listed(winner).Reputation == before {
		t.Errorf("the winner has a reputation of %d, and nothing changed", w.head.Listed(winner).Reputation)
	}
	if changed() {
		t.Error("an empty block changed runners")
	}
}

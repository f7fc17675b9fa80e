package validators

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// jobChain is a chain of one validator, whose votes show every runner, and jobs on it.
type jobChain struct {
	testing.TB
	scheme    *crypto.KeyedHash
	executor  ledger.Executor
	validator crypto.Signer
	alice     crypto.Signer
	runners   map[types.Address]crypto.Signer
	state     *ledger.State
	nonce     types.Nonce
}

func newJobChain(t testing.TB, runners int, overrides params.Overrides) *jobChain {
	c := &jobChain{TB: t, scheme: crypto.NewKeyedHash(types.Hash{1}), runners: map[types.Address]crypto.Signer{}}
	signer := func(name string) crypto.Signer { return c.scheme.Signer(crypto.DeriveKey(1, name)) }
	c.validator, c.alice = signer("v0"), signer("alice")
	c.executor = ledger.Executor{Programs: samples.Host{}, Verifier: c.scheme}
	g := ledger.Genesis{ChainID: 8011, Timestamp: 1_000_000, Params: overrides,
		Accounts: []ledger.Funding{{Address: c.alice.Address(), Balance: types.WeiOf(1 << 62)}},
		Validators: types.ValidatorSet{Members: []types.Validator{{Address: c.validator.Address(),
			PublicKey: c.validator.PublicKey()}}}}
	for i := range runners {
		r := signer(fmt.Sprint("r", i))
		c.runners[r.Address()] = r
		g.Runners = append(g.Runners, system.Enrolment{PublicKey: r.PublicKey(), Owner: r.Address(), Stake: types.WeiOf(20_000 * types.CBY),
			Offer: system.Offer{Capabilities: []string{"custom"}, Entitlements: []string{}, MaxConcurrentJobs: 1000}})
	}
	state, _, err := g.State()
	if err != nil {
		t.Fatal(err)
	}
	c.state = state
	c.block()
	return c
}

// block makes the next block, with as many of the transactions as it can hold.
func (c *jobChain) block(txs ...*ledger.Checked) *ledger.Result {
	c.Helper()
	bitmap := selection.NewBitmap(c.state.VoteBits())
	for i := range bitmap.Len() {
		bitmap.Set(i, true)
	}
	h := c.state.Header()
	proposal := ledger.Proposal{View: h.View + 1, Proposer: c.validator.Address(), Timestamp: h.Timestamp + 1000,
		Parent: &types.Certificate{Kind: types.Notarize, View: h.View, Height: h.Height, Block: c.state.Hash(),
			Votes: []types.CertificateVote{{Validator: c.validator.Address(), Bitmap: bitmap.Bytes()}}}}
	built, err := c.executor.Build(c.state, proposal, slices.Values(txs), nil)
	if err != nil {
		c.Fatal(err)
	}
	c.state = built.Result.State
	return built.Result
}

func (c *jobChain) checked(by crypto.Signer, tx *types.Transaction) *ledger.Checked {
	c.Helper()
	signature := by.Sign(tx.SigningDigest())
	tx.Signature = &signature
	checked, err := c.executor.Admit(c.state, tx.Encode())
	if err != nil {
		c.Fatal(err)
	}
	return checked
}

func (c *jobChain) call(handler string, payload []byte) *ledger.Checked {
	c.Helper()
	to := types.DispatcherAddress
	c.nonce++
	return c.checked(c.alice, &types.Transaction{ChainID: 8011, Nonce: c.nonce - 1, To: &to, CyclesLimit: 1_000_000, CellsLimit: 20_000,
		MaxFeePerCycle: types.WeiOf(1_000_000), MaxFeePerCell: types.WeiOf(1_000_000),
		Payload: codec.Marshal(&types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload})})
}

func (c *jobChain) submit(runners, timeout uint64) *ledger.Checked {
	s := &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:       push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 1},
		Verification: push.Verification{Mode: push.None, Runners: runners}, MaxPrice: types.WeiOf(1), TimeoutBlocks: timeout,
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes}}
	if runners > 1 {
		s.Verification.Mode = push.Deterministic
	}
	return c.call("submit", s.Order())
}

// report is a runner transaction, where the chain has nothing against it.
func (c *jobChain) report(op string, args any) []*ledger.Checked {
	tx := &types.Transaction{ChainID: 8011, Payload: codec.Marshal(&types.Report{Kind: types.KindRunner, Op: op, Args: codec.Marshal(args)})}
	signature := c.validator.Sign(tx.SigningDigest())
	tx.Signature = &signature
	if checked, err := c.executor.Admit(c.state, tx.Encode()); err == nil {
		return []*ledger.Checked{checked}
	}
	return nil
}

// bring is a result on its way: what its runner and the chain are ready for.
func (c *jobChain) bring(j *system.Job, runner types.Address, result string) []*ledger.Checked {
	f := &push.JobResult{JobID: j.ID, ResultData: []byte(result)}
	f.RunnerSigned = c.runners[runner].Sign(f.Digest(8011))
	reveal := system.Reveal{JobID: j.ID, Runner: runner, Result: f.ResultData, RunnerSigned: f.RunnerSigned}
	if len(j.Committee) == 1 {
		return c.report(system.OpResult, reveal)
	}
	commitment := push.Commitment(f.ResultData, f.RunnerSigned)
	return append(c.report(system.OpReveal, reveal), c.report(system.OpCommit, system.Commit{JobID: j.ID, Drawn: j.Since, Runner: runner,
		Commitment: commitment, CommitSigned: c.runners[runner].Sign(push.CommitmentDigest(8011, j.ID, j.Since, commitment))})...)
}

func (c *jobChain) open() (jobs []*system.Job) {
	c.state.Jobs(func(j *system.Job) bool { jobs = append(jobs, j); return true })
	return jobs
}

// TestADocketIsItsState: followed from block to block it equals one read from the
// state, and reports for each ended assignment how it ended, under random jobs,
// results that agree or not, cancellations and silence.
func TestADocketIsItsState(t *testing.T) {
	const seeds, blocks = 20, 60
	endings := map[gateway.Ending]int{}
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := newJobChain(t, 5, params.Overrides{"cip2.max_retries": "1", "cip2.timeout_penalty": "0"})
		d := newJobIndex(c.state)
		for range blocks {
			var txs []*ledger.Checked
			for _, j := range c.open() {
				if random.IntN(12) == 0 {
					txs = append(txs, c.call("cancel", j.ID[:]))
				}
				for i := range j.Committee {
					if random.IntN(3) == 0 {
						txs = append(txs, c.bring(j, j.Committee[i].Runner, []string{"same", "same", "other"}[random.IntN(3)])...)
					}
				}
			}
			for range random.IntN(3) {
				txs = append(txs, c.submit(1+uint64(random.IntN(3)), 2+uint64(random.IntN(8))))
			}
			before := jobIndex{of: map[types.Address][]gateway.Assignment{}}
			for runner, all := range d.of {
				before.of[runner] = slices.Clone(all)
			}
			results := []*ledger.Result{c.block(txs...)}
			for range random.IntN(3) {
				results = append(results, c.block())
			}
			c.nonce = c.state.Account(c.alice.Address()).Nonce
			d.followBlocks(results)
			if missing := unlisted(before.of, d); missing != "" {
				t.Fatalf("seed %d, height %d: %s, and Changed does not list its job", seed, c.state.Height(), missing)
			}
			if fresh := newJobIndex(c.state); !sameOpen(d, fresh) || len(d.jobs) != len(fresh.jobs) {
				t.Fatalf("seed %d, height %d: the index has\n%+v, read again it has\n%+v", seed, c.state.Height(), d.of, fresh.of)
			}
			for id := range d.specs {
				if c.state.Job(id) == nil {
					t.Fatalf("seed %d, height %d: the index keeps the hash of a spec whose job is over", seed, c.state.Height())
				}
			}
			for runner, all := range d.of {
				for _, a := range all {
					if want := d.Spec(a.Job).Hash(); a.Spec != want {
						t.Fatalf("seed %d, height %d: %s has an assignment of the spec %s, want %s", seed, c.state.Height(), runner, a.Spec, want)
					}
				}
			}
			for runner, all := range before.of {
				for _, a := range all {
					if !slices.ContainsFunc(d.of[runner], func(now gateway.Assignment) bool { return now.AssignmentID == a.AssignmentID }) {
						got := d.Ending(runner, a.AssignmentID)
						if want := endingOf(results, runner, a); got != want {
							t.Fatalf("seed %d, height %d: the assignment ended as %d, want %d", seed, c.state.Height(), got, want)
						}
						endings[got]++
					}
				}
			}
		}
	}
	for _, how := range []gateway.Ending{gateway.Landed, gateway.Reassigned, gateway.Expired, gateway.Failed} {
		if endings[how] == 0 {
			t.Errorf("no assignment ended as %d: %v", how, endings)
		}
	}
}

// unlisted names an assignment that ended, began or changed, whose job Changed does not
// list; "" if there is none. No job is listed twice.
func unlisted(before map[types.Address][]gateway.Assignment, now *jobIndex) string {
	changed, known := now.Changed()
	listed := map[types.Hash]bool{}
	for _, job := range changed {
		if listed[job] || !known {
			return fmt.Sprintf("job %s is listed twice", job)
		}
		listed[job] = true
	}
	for _, pair := range [2][2]map[types.Address][]gateway.Assignment{{before, now.of}, {now.of, before}} {
		for runner, all := range pair[0] { // order: any will do
			for _, a := range all {
				same := func(b gateway.Assignment) bool { return reflect.DeepEqual(a, b) }
				if !listed[a.Job] && !slices.ContainsFunc(pair[1][runner], same) {
					return fmt.Sprintf("an assignment of %s changed", runner)
				}
			}
		}
	}
	return ""
}

// sameOpen compares the open jobs; jobs drawn in one block may be in any order.
func sameOpen(a, b *jobIndex) bool {
	order := func(of map[types.Address][]gateway.Assignment) map[types.Address][]gateway.Assignment {
		sorted := map[types.Address][]gateway.Assignment{}
		for runner, all := range of {
			sorted[runner] = slices.Clone(all)
			if !slices.IsSortedFunc(all, func(a, b gateway.Assignment) int { return int(a.Drawn) - int(b.Drawn) }) {
				return nil
			}
			slices.SortFunc(sorted[runner], func(a, b gateway.Assignment) int { return slices.Compare(a.Job[:], b.Job[:]) })
		}
		return sorted
	}
	first := order(a.of)
	for runner, all := range a.of { // order: each is looked up by itself
		for _, one := range all {
			if found := a.Assignment(runner, one.AssignmentID); found == nil || !reflect.DeepEqual(*found, one) {
				return false
			}
		}
	}
	return first != nil && reflect.DeepEqual(first, order(b.of)) && len(a.open) == len(b.open)
}

// endingOf works the ending out from the events of blocks, told apart by nothing else.
func endingOf(results []*ledger.Result, runner types.Address, a gateway.Assignment) gateway.Ending {
	for _, result := range results {
		events := slices.Clone(result.Events)
		for i := len(result.Receipts) - 1; i >= 0; i-- {
			events = append(slices.Clone(result.Receipts[i].Events), events...)
		}
		for _, e := range events {
			var of system.JobEvent
			if codec.Unmarshal(e.Data, 1<<20, &of) != nil || of.ID != a.Job {
				continue
			}
			switch {
			case e.Name == "job.revealed" && *of.Runner == runner:
				return gateway.Landed
			case e.Name == "job.retried":
				return gateway.Reassigned
			case e.Name == "job.completed", e.Name == "job.failed" && *of.Error == system.ErrorTimeout:
				return gateway.Expired
			case e.Name == "job.cancelled", e.Name == "job.failed":
				return gateway.Failed
			}
		}
	}
	return 99
}

// BenchmarkDocket is a head with ten thousand runners and as many open jobs as there
// may be: to follow it to a block in which sixteen jobs changed, and to ask it of every
// runner what a machine asks.
func BenchmarkDocket(b *testing.B) {
	const runners, jobs, changed = 10_000, 4096, 16
	c := newJobChain(b, runners, params.Overrides{"cip2.max_draws_per_block": "4096", "cip3.block_cycles_limit": "1000000000",
		"cip3.lane_user_cycles": "500000000", "cip3.block_cells_limit": "1000000000"})
	var txs []*ledger.Checked
	for range jobs {
		txs = append(txs, c.submit(3, 1000))
	}
	for len(c.open()) < jobs {
		before := len(c.open())
		c.block(txs[before:]...)
		if len(c.open()) == before {
			b.Fatalf("%d jobs are open, and no more come", before)
		}
	}
	for slices.ContainsFunc(c.open(), func(j *system.Job) bool { return j.Status == system.Pending }) {
		c.block()
	}
	d := newJobIndex(c.state)
	txs = nil
	for _, j := range c.open()[:changed] {
		txs = append(txs, c.bring(j, j.Committee[0].Runner, "same")...)
	}
	results := []*ledger.Result{c.block(txs...)}
	b.Run("follow", func(b *testing.B) {
		for b.Loop() {
			d.followBlocks(results)
		}
	})
	b.Run("ask", func(b *testing.B) {
		for b.Loop() {
			for runner := range c.runners {
				if d.Runner(runner) == nil || len(d.Assignments(runner)) > jobs {
					b.Fatal("a runner is missing")
				}
			}
		}
	})
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			newJobIndex(c.state)
		}
	})
}

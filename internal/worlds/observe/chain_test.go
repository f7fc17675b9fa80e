package observe

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// chain is a chain of four validators and six runners without a network, of which
// the oracles are shown every block.
type chain struct {
	t       testing.TB
	genesis ledger.Genesis
	rules   oracle.Rules
	x       ledger.Executor
	keys    map[string]crypto.Signer
	head    *ledger.State
	last    *ledger.Result
	told    []oracle.Observation
	absent  []int // runners without a bit in the votes on the next block
	waiting []*ledger.Checked
	nonces  map[string]types.Nonce
	jobs    map[string]uint64 // submitted
}

const (
	chainID       = 8011
	runnersNumber = 6
)

func newChain(t testing.TB, overrides params.Overrides, change ...func(*ledger.Genesis)) *chain {
	verifier := crypto.NewVerifier(true)
	c := &chain{t: t, x: ledger.Executor{Programs: samples.Host{}, Verifier: verifier}, keys: map[string]crypto.Signer{},
		nonces: map[string]types.Nonce{}, jobs: map[string]uint64{}}
	for _, name := range []string{"v0", "v1", "v2", "v3", "r0", "r1", "r2", "r3", "r4", "r5", "late", "next", "alice", "bob", "system"} {
		c.keys[name] = verifier.Signer(crypto.DeriveKey(7, name))
	}
	c.genesis = ledger.Genesis{ChainID: chainID, Timestamp: 1_000_000, Params: overrides}
	for i := range 4 {
		key := c.keys[fmt.Sprint("v", i)]
		c.genesis.Validators.Members = append(c.genesis.Validators.Members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey()})
	}
	for _, name := range []string{"alice", "bob", "r0"} {
		c.genesis.Accounts = append(c.genesis.Accounts, ledger.Funding{Address: c.keys[name].Address(),
			Balance: types.WeiOf(1_000_000 * types.CBY)})
	}
	slices.SortFunc(c.genesis.Accounts, func(a, b ledger.Funding) int { return a.Address.Compare(b.Address) })
	slices.SortFunc(c.genesis.Validators.Members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	for i := range runnersNumber {
		key := c.keys[fmt.Sprint("r", i)]
		c.genesis.Runners = append(c.genesis.Runners, system.Enrolment{PublicKey: key.PublicKey(), Owner: key.Address(),
			Stake: types.WeiOf(uint64(20_000*(i+1)) * types.CBY), Offer: offer(uint64(100 + i))})
	}
	for _, f := range change {
		f(&c.genesis)
	}
	state, block, err := c.genesis.State()
	if err != nil {
		t.Fatal(err)
	}
	c.head = state
	c.rules = RulesOf(&c.genesis, state, block, verifier.Recover)
	return c
}

func offer(price uint64) system.Offer {
	return system.Offer{Capabilities: []string{"custom", "llm"}, Entitlements: []string{}, MaxConcurrentJobs: 4,
		RateCard: system.RateCard{ComputeSecond: types.WeiOf(price), LLMOutputToken: types.WeiOf(7), MemoryMB: types.WeiOf(3)}}
}

// add has a transaction be in the next block.
func (c *chain) add(from string, tx *types.Transaction) {
	c.t.Helper()
	sig := c.keys[from].Sign(tx.SigningDigest())
	tx.Signature = &sig
	checked, err := c.x.Admit(c.head, tx.Encode())
	if err != nil {
		c.t.Fatal(err)
	}
	c.waiting = append(c.waiting, checked)
}

func (c *chain) send(from string, d wallet.Draft) {
	nonce, known := c.nonces[from]
	if !known {
		nonce = c.head.Account(c.keys[from].Address()).Nonce
	}
	c.nonces[from] = nonce + 1
	c.add(from, d.Sign(wallet.Times(100, chainID, types.WeiOf(10_000), types.WeiOf(10_000)), c.keys[from], nonce))
}

func (c *chain) execute(from string, to types.Address, handler string, payload []byte) {
	c.send(from, wallet.Draft{To: &to, Payload: types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload}})
}

// submit has a job be submitted in the next block, and returns its id.
func (c *chain) submit(from string, s *push.JobSpec) types.Hash {
	c.execute(from, types.DispatcherAddress, "submit", s.Order())
	c.jobs[from]++
	return push.JobID(c.keys[from].Address(), c.jobs[from]-1, c.head.Height()+1)
}

// report submits a validator's report about a runner, if the chain lets it.
func (c *chain) report(validator, op string, args any) {
	c.add(validator, &types.Transaction{ChainID: chainID,
		Payload: codec.Marshal(&types.Report{Kind: types.KindRunner, Op: op, Args: codec.Marshal(args)})})
}

func (c *chain) nameOf(a types.Address) string {
	for name, key := range c.keys { // order: one is it
		if key.Address() == a {
			return name
		}
	}
	c.t.Fatalf("%s is nobody", a)
	return ""
}

func (c *chain) signed(runner types.Address, job types.Hash, result string) types.Signature {
	return c.keys[c.nameOf(runner)].Sign((&push.JobResult{JobID: job, ResultData: []byte(result)}).Digest(chainID))
}

func (c *chain) commit(validator string, job types.Hash, runner types.Address, result string) {
	commitment, drawn := push.Commitment([]byte(result), c.signed(runner, job, result)), types.Height(0)
	if j := c.head.Job(job); j != nil {
		drawn = j.Since
	}
	c.report(validator, system.OpCommit, system.Commit{JobID: job, Drawn: drawn, Runner: runner, Commitment: commitment,
		CommitSigned: c.keys[c.nameOf(runner)].Sign(push.CommitmentDigest(chainID, job, drawn, commitment))})
}

func (c *chain) result(validator, op string, job types.Hash, runner types.Address, result string) {
	c.report(validator, op, system.Reveal{JobID: job, Runner: runner, Result: []byte(result), RunnerSigned: c.signed(runner, job, result)})
}

// certificate has votes of all validators but one, on the head.
func (c *chain) certificate(kind types.VoteKind, h *types.Header, hash types.Hash) *types.Certificate {
	cert := &types.Certificate{Kind: kind, View: h.View, Height: h.Height, Block: hash}
	for _, v := range c.genesis.Validators.Members[:3] {
		vote := types.Vote{Kind: kind, View: h.View, Height: h.Height, Block: hash, Validator: v.Address}
		if kind == types.Notarize {
			seen := selection.NewBitmap(c.head.VoteBits())
			for i := range seen.Len() {
				seen.Set(i, !slices.Contains(c.absent, i))
			}
			vote.Bitmap = seen.Bytes()
		}
		cert.Votes = append(cert.Votes, types.CertificateVote{Validator: v.Address, Bitmap: vote.Bitmap,
			Signature: c.keys[c.nameOf(v.Address)].Sign(vote.Digest(chainID))})
	}
	return cert
}

// block makes the next block, of all that waits for it, and shows it.
func (c *chain) block() {
	c.t.Helper()
	h := c.head.Header()
	proposal := ledger.Proposal{View: h.View + 1, Proposer: c.genesis.Validators.Leader(h.View + 1), Timestamp: h.Timestamp + 1000}
	if h.Height > 0 {
		proposal.Parent = c.certificate(types.Notarize, &h, c.head.Hash())
	}
	built, err := c.x.Build(c.head, proposal, slices.Values(c.waiting), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, d := range built.Dropped {
		c.t.Fatal(d.Err)
	}
	if n := len(built.Result.Block.Transactions); n != len(c.waiting) {
		c.t.Fatalf("%d transactions in the block, of %d", n, len(c.waiting))
	}
	c.waiting, c.nonces = nil, map[string]types.Nonce{}
	c.last, c.head = built.Result, built.Result.State
	for i := range c.last.Receipts {
		if r := &c.last.Receipts[i]; r.Status != types.StatusOK {
			c.t.Fatalf("%s: %s %+v", r.Handler, r.Status, r.Error)
		}
	}
	now := c.head.Header()
	final := validators.FinalBlocks{Results: []*ledger.Result{c.last}, Finalization: c.certificate(types.Finalize, &now, c.head.Hash())}
	c.told = append(c.told, Every(2).Observations(final, c.genesis.Validators.Members[0].Address)...)
}

func (c *chain) blocks(n int) {
	for range n {
		c.block()
	}
}

// judged shows the oracles all blocks, after something was done to them.
func (c *chain) judged(spoil func([]oracle.Observation)) *oracle.Judge {
	told := slices.Clone(c.told)
	for i := range told {
		o := &told[i]
		o.Receipts, o.Events, o.Runners = slices.Clone(o.Receipts), slices.Clone(o.Events), slices.Clone(o.Runners)
		o.Sent, o.Specs, o.Accounts = slices.Clone(o.Sent), slices.Clone(o.Specs), slices.Clone(o.Accounts)
		for k := range o.Receipts {
			o.Receipts[k].Events = slices.Clone(o.Receipts[k].Events)
		}
	}
	if spoil != nil {
		spoil(told)
	}
	j := oracle.New(c.rules)
	for _, o := range told {
		j.Observe(o)
	}
	return j
}

func custom(runners uint64, mode push.Mode) *push.JobSpec {
	return &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:       push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 2, MaxRetries: 2},
		Verification: push.Verification{Mode: mode, Runners: runners}, MaxPrice: types.WeiOf(1_000_000), Tip: types.WeiOf(77),
		TimeoutBlocks: 5, ResultSchema: push.ResultSchema{MaxReturnBytes: 1000, ExpectedExecutionMS: 1500, DataFormat: push.FormatBytes}}
}

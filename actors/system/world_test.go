package system

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// world is a chain of only the system actors: blocks of tests' actions, with every
// runner present, audited at each end.
type world struct {
	t        testing.TB
	params   params.Params
	state    *actors.State
	block    *InBlock
	roster   *Roster
	verifier *crypto.Verifier
	keys     map[string]*crypto.Key
	absent   map[string]bool
	events   []types.Event // of the block under way
	past     []types.Event // of the one before
	supply   types.Wei
}

const testChain = 8011

func newWorld(t testing.TB, change ...func(*params.Params)) *world {
	w := &world{t: t, params: params.Defaults(), verifier: crypto.NewVerifier(true), keys: map[string]*crypto.Key{}, absent: map[string]bool{}}
	w.params.ChainID = testChain
	for _, c := range change {
		c(&w.params)
	}
	w.state = actors.NewState(trie.Empty)
	for _, name := range []string{"alice", "bob", "carol"} {
		w.mint(w.address(name), types.WeiOf(100_000_000*types.CBY))
	}
	w.open(1)
	return w
}

func (w *world) mint(to types.Address, amount types.Wei) {
	w.state.Credit(to, amount)
	w.supply = w.supply.Add(amount)
}

func (w *world) key(name string) *crypto.Key {
	if w.keys[name] == nil {
		w.keys[name] = crypto.DeriveKey(1, name)
	}
	return w.keys[name]
}

func (w *world) address(name string) types.Address { return w.key(name).Address() }

// name returns the name of an address, or its hex.
func (w *world) name(a types.Address) string {
	for name, key := range w.keys {
		if key.Address() == a {
			return name
		}
	}
	return a.String()
}

func (w *world) open(height types.Height) {
	w.events = nil
	w.block = &InBlock{Params: &w.params, State: w.state, Height: height, Parent: types.Keccak([]byte(fmt.Sprint(height - 1))),
		Recover: w.verifier.Recover,
		Roster:  w.roster, BaseFeeCycle: types.WeiOf(2), BaseFeeCell: types.WeiOf(3)}
}

// end attends to jobs, audits, and opens the next block, by default one height on.
func (w *world) end(heights ...types.Height) {
	w.t.Helper()
	w.block.Presence = selection.NewBitmap(int(Registered(w.state).Count))
	Runners(w.state, func(r *Runner) bool {
		w.block.Presence.Set(int(r.Index), !w.absent[w.name(r.Address)])
		return true
	})
	w.events = append(w.events, w.block.Advance().Events...)
	height, events := w.block.Height, w.events
	if w.roster == nil && Registered(w.state).Count > 0 {
		w.roster = NewRoster(w.state)
	} else if w.roster != nil {
		w.roster = w.roster.After(w.state)
	}
	tree, _ := w.state.Seal()
	w.state = w.stateOf(tree)
	w.audit(height)
	next := height + 1
	for _, h := range heights {
		next += h
	}
	w.open(next)
	w.past = events
}

func (w *world) stateOf(tree *trie.Tree) *actors.State { return actors.NewState(tree) }

// audit checks the books, the roster, and that no wei came or went.
func (w *world) audit(height types.Height) {
	w.t.Helper()
	if err := Audit(w.state, height); err != nil {
		w.t.Fatal(err)
	}
	var held types.Wei
	actors.ScanAccounts(w.state, func(_ types.Address, a actors.Account) bool { held = held.Add(a.Balance); return true })
	actors.ScanMessages(w.state, func(m *actors.Message) bool { held = held.Add(m.Prepaid()); return true })
	if held != w.supply {
		w.t.Fatalf("height %d: balances and messages hold %s wei, there are %s", height, held, w.supply)
	}
	if w.roster != nil {
		w.auditRoster(height)
	}
}

// auditRoster holds the roster that was carried against that of the state, place by place.
func (w *world) auditRoster(height types.Height) {
	w.t.Helper()
	read := NewRoster(w.state)
	if carried := fmt.Sprint(slices.Concat(w.roster.pages...)); carried != fmt.Sprint(slices.Concat(read.pages...)) {
		w.t.Fatalf("height %d: the roster that was carried is not that of the state:\n%s", height, carried)
	}
	for place := range int(Registered(w.state).Count) + 2 {
		since, held := w.roster.places.Since(place)
		if at, is := read.places.Since(place); at != since || is != held {
			t := "the carried roster has place %d held since %d: %t; the state %d: %t"
			w.t.Fatalf(t, place, since, held, at, is)
		}
	}
}

// registration registers a runner for an owner, signed by the runner's key.
func (w *world) registration(owner, name string) Registration {
	key := w.key(name)
	return Registration{PublicKey: key.PublicKey(), Stake: w.params.MinStake, Offer: offer(),
		Signed: key.Sign(types.RegistrationDigest(testChain, w.address(owner), key.PublicKey()))}
}

// call runs a handler as an execution does, and returns the fault's code.
func (w *world) call(from string, to types.Address, handler string, payload []byte) ([]byte, string) {
	before := w.state.Snapshot()
	effect, fault := w.block.Handle(program.Message{Kind: program.Call, Sender: w.address(from), Self: to, Handler: handler, Payload: payload})
	if fault != nil {
		w.state.Revert(before)
		return nil, fault.Code
	}
	w.events = append(w.events, effect.Events...)
	return effect.Output, ""
}

func (w *world) registry(from, handler string, payload any) string {
	_, code := w.call(from, types.RegistryAddress, handler, codec.Marshal(payload))
	return code
}

func offer(words ...string) Offer {
	if words == nil {
		words = []string{"custom", "llm"}
	}
	return Offer{Capabilities: words, Entitlements: []string{}, MaxConcurrentJobs: 4, RateCard: RateCard{ComputeSecond: types.WeiOf(100)}}
}

// register enters runners r0, r1, … that alice owns.
func (w *world) register(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if code := w.registry("alice", "register", w.registration("alice", name)); code != "" {
			w.t.Fatalf("%s: %s", name, code)
		}
	}
}

func (w *world) runner(name string) *Runner { return RunnerOf(w.state, w.address(name)) }

// spec is a job for the given number of runners that all of them can do.
func spec(runners uint64) *push.JobSpec {
	mode := push.Deterministic
	if runners == 1 {
		mode = push.None
	}
	return &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:       push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 3},
		Verification: push.Verification{Mode: mode, Runners: runners, Checks: []push.Check{}}, MaxPrice: types.WeiOf(1_000_000),
		Tip:           types.WeiOf(77),
		TimeoutBlocks: 10, ResultSchema: push.ResultSchema{MaxReturnBytes: 1000, ExpectedExecutionMS: 1500, DataFormat: push.FormatBytes}}
}

func (w *world) submit(from string, s *push.JobSpec) (types.Hash, string) {
	output, code := w.call(from, types.DispatcherAddress, "submit", s.Order())
	if code != "" {
		return types.Hash{}, code
	}
	return types.Hash(output), ""
}

// drawn submits a job and ends the block, in which it is drawn.
func (w *world) drawn(s *push.JobSpec) types.Hash {
	w.t.Helper()
	id, code := w.submit("bob", s)
	if code != "" {
		w.t.Fatal(code)
	}
	w.end()
	if j := w.job(id); j == nil || j.Status != Assigned {
		w.t.Fatalf("the job was not drawn: %+v", j)
	}
	return id
}

func (w *world) job(id types.Hash) *Job { return JobOf(w.state, id) }

// committee is the names of a job's committee, sorted by address.
func (w *world) committee(id types.Hash) (names []string) {
	members := w.job(id).MemberAddresses()
	slices.SortFunc(members, types.Address.Compare)
	for _, a := range members {
		names = append(names, w.name(a))
	}
	return names
}

// signed is a runner's signature of a result.
func (w *world) signed(runner string, id types.Hash, result string) types.Signature {
	digest := (&push.JobResult{JobID: id, ResultData: []byte(result)}).Digest(testChain)
	return w.verifier.Signer(w.key(runner)).Sign(digest)
}

// report performs a validator's runner transaction, and returns the code of its
// refusal.
func (w *world) report(validator, op string, args any) string {
	report, err := DecodeReport(op, codec.Marshal(args), testChain, w.verifier.Recover)
	if err != nil {
		return "malformed"
	}
	if fault := report.Precheck(w.block, w.address(validator)); fault != nil {
		return fault.Code
	}
	w.events = append(w.events, report.Perform(w.block, w.address(validator)).Events...)
	return ""
}

func (w *world) commit(validator string, id types.Hash, runner, result string) string {
	return w.report(validator, OpCommit, w.committing(runner, id, push.Commitment([]byte(result), w.signed(runner, id, result))))
}

// committing is a commitment as a runner signs it for its draw of a job, or for another one.
func (w *world) committing(runner string, id types.Hash, commitment types.Hash, drawn ...types.Height) Commit {
	c := Commit{JobID: id, Runner: w.address(runner), Commitment: commitment}
	if j := w.job(id); j != nil {
		c.Drawn = j.DrawnOf(c.Runner)
	}
	for _, other := range drawn {
		c.Drawn = other
	}
	c.CommitSigned = w.verifier.Signer(w.key(runner)).Sign(push.CommitmentDigest(testChain, id, c.Drawn, commitment))
	return c
}

func (w *world) reveal(op string, id types.Hash, runner, result string) string {
	return w.report("v0", op, Reveal{JobID: id, Runner: w.address(runner), Result: []byte(result), RunnerSigned: w.signed(runner, id, result)})
}

// refuse lets a runner refuse the last draw of a job, through a validator.
func (w *world) refuse(validator string, id types.Hash, runner string, change ...func(*Refusal)) string {
	r := Refusal{JobID: id, Runner: w.address(runner), Reason: push.Unsupported, Text: "no such executor",
		Spec: types.Keccak(RawSpecOf(w.state, id))}
	if j := w.job(id); j != nil {
		r.Drawn = j.DrawnOf(r.Runner)
	}
	for _, c := range change {
		c(&r)
	}
	r.RefusalSigned = w.verifier.Signer(w.key(runner)).Sign(r.asPushRefusal().Digest(testChain))
	return w.report(validator, OpRefuse, r)
}

func (w *world) must(code string) {
	w.t.Helper()
	if code != "" {
		w.t.Fatal(code)
	}
}

func (w *world) balance(a types.Address) types.Wei { return actors.AccountOf(w.state, a).Balance }

// happened is whether this block, or the one before, has an event of a name.
func (w *world) happened(name string) bool {
	return slices.ContainsFunc(append(w.past[:len(w.past):len(w.past)], w.events...), func(e types.Event) bool { return e.Name == name })
}

package box

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators"
)

// docket keeps what blocks said of jobs, as the first validator that told of each said.
type docket struct {
	mu      sync.Mutex
	height  types.Height
	changes []types.JobChange
	told    chan struct{}
}

func newDocket() *docket { return &docket{told: make(chan struct{}, 1)} }

func (b *docket) observe(f validators.FinalBlocks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range f.Results {
		if h := r.Block.Header.Height; h > b.height {
			b.height = h
			b.changes = append(b.changes, r.Jobs...)
		}
	}
	select {
	case b.told <- struct{}{}:
	default:
	}
}

// await waits until what blocks said of a job satisfies.
func (b *docket) await(t testing.TB, job types.Hash, what string, enough func([]types.JobChange) bool) []types.JobChange {
	t.Helper()
	late := time.After(patience)
	for {
		b.mu.Lock()
		var of []types.JobChange
		for _, c := range b.changes {
			if c.ID == job {
				of = append(of, c)
			}
		}
		height := b.height
		b.mu.Unlock()
		if enough(of) {
			return of
		}
		select {
		case <-b.told:
		case <-late:
			t.Fatalf("at height %d the job is not %s: %+v", height, what, of)
		}
	}
}

// ready waits until everybody is there.
func ready(t testing.TB, n *Network) {
	t.Helper()
	late := time.After(patience)
	missing := map[string][]string{}
	for {
		clear(missing)
		for _, r := range n.RunnerNodes() {
			if len(r.Missing) > 0 {
				missing[r.Name] = r.Missing
			}
		}
		if len(missing) == 0 && n.Best().finalHeight() > 0 {
			return
		}
		select {
		case <-late:
			t.Fatalf("not ready: %v", missing)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func customJob(executor string, params string, committee uint64, callback types.Address) *push.JobSpec {
	mode := push.Deterministic
	if committee == 1 {
		mode = push.None
	}
	return &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{ExecutorHash: custom.Hash(executor), Params: []byte(params)}},
		Bounds:       push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 60, MaxMemoryMB: 1, MaxRetries: 3},
		Verification: push.Verification{Mode: mode, Runners: committee}, MaxPrice: types.WeiOf(1_000_000),
		TimeoutBlocks: 100, ResultSchema: push.ResultSchema{MaxReturnBytes: 1000, ExpectedExecutionMS: 1000, DataFormat: push.FormatBytes},
		Callback: &push.Callback{Actor: callback, Handler: "increment", CorrelationID: []byte{}, Context: []byte{}}}
}

func (w *payer) submit(t testing.TB, spec *push.JobSpec) (job types.Hash) {
	t.Helper()
	tx := w.limited(w.execute(types.DispatcherAddress, "submit", spec.Order()), 1_000_000, 100_000)
	r := land(t, w.n, tx)
	if r.Status != types.StatusOK {
		t.Fatalf("submit: %s %+v", r.Status, r.Error)
	}
	return types.Hash(r.Output)
}

// A job of three runners, from a transaction to the actor's state: over real QUIC, by
// the runners that the network starts.
func TestRunnersDoAJob(t *testing.T) {
	b := newDocket()
	n := up(t, Config{Plan: setup.Plan{Runners: 4, BlockTime: 100 * time.Millisecond}, Ephemeral: true, Observe: b.observe})
	ready(t, n)
	alice := newPayer(n, "alice")
	counter := deploySample(t, alice, "counter", "counter", 0)
	job := alice.submit(t, customJob("echo", "hello", 3, counter))
	b.await(t, job, "called back", func(of []types.JobChange) bool {
		return len(of) > 0 && of[len(of)-1].Kind == types.JobChangeCalledBack
	})
	if value, _ := n.Best().Validator().Head().State.Storage(counter, []byte("n")); len(value) == 0 {
		t.Error("the callback wrote nothing")
	}
}

func kindIs(kind types.JobChangeKind) func([]types.JobChange) bool {
	return func(of []types.JobChange) bool {
		for _, c := range of {
			if c.Kind == kind {
				return true
			}
		}
		return false
	}
}

// drawn waits until a job was drawn so many times, and returns its last committee.
func (b *docket) drawn(t testing.TB, n *Network, job types.Hash, times uint32) (committee []*Runner) {
	t.Helper()
	of := b.await(t, job, "drawn", func(of []types.JobChange) bool {
		return len(of) > 0 && of[len(of)-1].Attempts >= times && len(of[len(of)-1].Committee) > 0
	})
	for _, a := range of[len(of)-1].Committee {
		for _, r := range n.RunnerList() {
			if r.Address == a {
				committee = append(committee, r)
			}
		}
	}
	return committee
}

// answer gives the result of a manual job, when the runner works on it.
func (r *Runner) answer(t testing.TB, job types.Hash, result string) {
	t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err := r.Answer(job, execution.Given{Result: []byte(result)})
		if err == nil {
			return
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
	}
}

func orderOf(t testing.TB, n *Network, o fault.Order) fault.Effect {
	t.Helper()
	effect, err := n.Do(o)
	if err != nil {
		t.Fatal(err)
	}
	return effect
}

// A runner that dies while it works is replaced when its time is over; one that comes
// back is drawn again.
func TestARunnerThatDiesAtWorkIsReplaced(t *testing.T) {
	b := newDocket()
	n := up(t, Config{Plan: setup.Plan{Runners: 2, BlockTime: 100 * time.Millisecond}, Ephemeral: true, Observe: b.observe})
	ready(t, n)
	alice := newPayer(n, "alice")
	counter := deploySample(t, alice, "counter", "counter", 0)
	spec := customJob("manual", "", 1, counter)
	spec.TimeoutBlocks = 12
	job := alice.submit(t, spec)
	first := b.drawn(t, n, job, 1)[0]
	if effect := orderOf(t, n, fault.Order{Verb: fault.Drop, Node: first.Name}); effect.Idle || first.Running() {
		t.Fatalf("%+v", effect)
	}
	second := b.drawn(t, n, job, 2)[0]
	if second == first {
		t.Fatal("the dead runner was drawn again")
	}
	second.answer(t, job, "done")
	b.await(t, job, "called back", kindIs(types.JobChangeCalledBack))
	orderOf(t, n, fault.Order{Verb: fault.Restart, Node: first.Name})
	ready(t, n)
}

// A validator that is killed between commit and reveal leaves nobody without a result.
func TestAValidatorThatDiesBetweenCommitAndReveal(t *testing.T) {
	b := newDocket()
	n := up(t, Config{Plan: setup.Plan{Runners: 3, BlockTime: 100 * time.Millisecond}, Ephemeral: true, Observe: b.observe})
	ready(t, n)
	alice := newPayer(n, "alice")
	counter := deploySample(t, alice, "counter", "counter", 0)
	job := alice.submit(t, customJob("manual", "", 3, counter))
	committee := b.drawn(t, n, job, 1)
	committee[0].answer(t, job, "done")
	of := b.await(t, job, "committed", kindIs(types.JobChangeCommitted))
	for _, c := range of {
		for _, node := range n.List() {
			if c.Kind == types.JobChangeCommitted && *c.Validator == node.Address && node.Running() {
				orderOf(t, n, fault.Order{Verb: fault.Crash, Node: node.Name})
			}
		}
	}
	committee[1].answer(t, job, "done")
	committee[2].answer(t, job, "done")
	of = b.await(t, job, "called back", kindIs(types.JobChangeCalledBack))
	for _, c := range of {
		if c.Kind == types.JobChangeCompleted && len(c.Agreed) != 3 {
			t.Errorf("%d agreed", len(c.Agreed))
		}
		if c.Kind == types.JobChangeFailed || c.Kind == types.JobChangeRetried {
			t.Errorf("it is %s: %+v", c.Kind, c.Error)
		}
	}
}

// leaves waits until a runner is out of P: its last ping is old by blocks, and by time.
func leaves(t *testing.T, n *Network, index int) {
	t.Helper()
	for blocks := 0; n.presence.hasRunner(index); blocks++ {
		if blocks == 100 {
			t.Fatalf("r%d is present 100 blocks later", index)
		}
		await(t, n, n.Best().finalHeight()+1)
	}
}

// Each fault of a runner that has an effect on its connections, and what ends it.
func TestRunnersFalter(t *testing.T) {
	b := newDocket()
	n := up(t, Config{Plan: setup.Plan{Runners: 2, BlockTime: 100 * time.Millisecond}, Ephemeral: true, Observe: b.observe})
	ready(t, n)
	for _, o := range []fault.Order{{Verb: fault.Crash, Node: "r0"}, {Verb: fault.Drop, Node: "v0"},
		{Verb: fault.Misbehave, Node: "r0", Kind: "forge"}, {Verb: fault.Thaw, Node: "r0"}, {Verb: fault.Drop, Node: "r7"}} {
		if _, err := n.Do(o); err == nil {
			t.Errorf("%v is taken", o.String())
		}
	}
	orderOf(t, n, fault.Order{Verb: fault.Freeze, Node: "r0"})
	if leaves(t, n, 0); !n.presence.hasRunner(1) {
		t.Error("r1 left with r0, which is frozen")
	}
	orderOf(t, n, fault.Order{Verb: fault.Thaw, Node: "r0"})
	ready(t, n)
	orderOf(t, n, fault.Order{Verb: fault.Saturate, Node: "r0", On: true})
	leaves(t, n, 0)
	if effect := orderOf(t, n, fault.Order{Verb: fault.Saturate, Node: "r0"}); effect.Idle || !effect.Ended {
		t.Errorf("%+v", effect)
	}
	ready(t, n)
	before := n.findRunner("r0").Address
	orderOf(t, n, fault.Order{Verb: fault.Rejoin, Node: "r0", AfterBlocks: 2, NewIdentity: true})
	for late := time.Now().Add(patience); n.findRunner("r0").Address == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it did not come again")
		}
	}
	ready(t, n)
}

// A runner joins a network that runs, does work, leaves, and is known when the network
// goes on from its home.
func TestRunnersJoinAndLeaveAndComeBack(t *testing.T) {
	home := t.TempDir() + "/home"
	config := Config{Plan: setup.Plan{Runners: 1, BlockTime: 100 * time.Millisecond, Seed: testSeed()}, Home: home}
	n, err := Up(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ready(t, n)
	if _, err := n.JoinRunner(t.Context(), "r5", setup.UsualTerms); err == nil {
		t.Error("a name that is not the next is taken")
	}
	name, err := n.JoinRunner(t.Context(), "", setup.UsualTerms)
	if err != nil || name != "r1" {
		t.Fatal(name, err)
	}
	ready(t, n)
	if err := n.LeaveRunner(t.Context(), "r0"); err != nil {
		t.Fatal(err)
	}
	if err := n.LeaveRunner(t.Context(), "r0"); err == nil {
		t.Error("it leaves twice")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := up(t, Config{Plan: setup.Plan{BlockTime: 100 * time.Millisecond, Seed: testSeed()}, Home: home})
	ready(t, again)
	list := again.RunnerNodes()
	if len(list) != 2 || !list[0].Left || list[0].Running || !list[1].Running {
		t.Errorf("they are %+v", list)
	}
}

// Who knows the seed registers the key of the next runner as their own. The devnet passes over that key, whether it
// registers the next runner itself or prepares it for an owner, and goes on with its own after a stop.
func TestAStrangerWhoTakesTheNextKeyKeepsNobodyOut(t *testing.T) {
	home, seed := t.TempDir()+"/home", testSeed()
	n, err := Up(t.Context(), Config{Plan: setup.Plan{Runners: 1, BlockTime: 100 * time.Millisecond, Seed: seed}, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, n)
	stranger := newPayer(n, "carol")
	take := func(key *crypto.Key) {
		signed := key.Sign(types.RegistrationDigest(n.genesis.ChainID, stranger.key.Address(), key.PublicKey()))
		in := &system.Registration{PublicKey: key.PublicKey(), Stake: types.WeiOf(20_000 * types.CBY), Offer: node.OwnOffer(), Signed: signed}
		if r := land(t, n, stranger.execute(types.RegistryAddress, "register", codec.Marshal(in))); r.Status != types.StatusOK {
			t.Fatalf("%+v", r)
		}
	}
	for _, name := range []string{"r1", "r2"} {
		take(wallet.RunnerKey(*seed, name))
	}
	if name, err := n.JoinRunner(t.Context(), "", setup.UsualTerms); err != nil || name != "r1" {
		t.Fatal(name, err)
	}
	owner := stranger.key.Address()
	name, prepared, err := n.PrepareRunner("", owner)
	if err != nil || name != "r2" || prepared.PublicKey == wallet.RunnerKey(*seed, "r2").PublicKey() {
		t.Fatalf("%+v, %v", prepared, err)
	}
	ready(t, n)
	own := n.findRunner("r1").Address
	if is := n.bestState().Runner(own); is == nil || is.Owner != own {
		t.Errorf("r1 is registered as %+v", is)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := up(t, Config{Plan: setup.Plan{BlockTime: 100 * time.Millisecond, Seed: seed}, Home: home})
	ready(t, again)
	if r := again.findRunner("r1"); r == nil || r.Address != own {
		t.Errorf("r1 goes on as %+v", r)
	}
}

// A network with runners leaves no goroutine behind.
func TestRunnersLeaveNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	n, err := Up(t.Context(), Config{Plan: setup.Plan{Runners: 3, BlockTime: 100 * time.Millisecond, Seed: testSeed()}, Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, n)
	orderOf(t, n, fault.Order{Verb: fault.Freeze, Node: "r0"})
	orderOf(t, n, fault.Order{Verb: fault.Rejoin, Node: "r1", AfterBlocks: 1_000})
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, and %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

package box

import (
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
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
		if len(missing) == 0 && n.Best().height() > 0 {
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
	tx := w.limited(w.execute(types.DispatcherAddress, "submit", spec.Order()), 2_000_000, 100_000)
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
	n := up(t, Config{Ephemeral: true, Runners: 4, BlockTime: 100 * time.Millisecond, Observe: b.observe})
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

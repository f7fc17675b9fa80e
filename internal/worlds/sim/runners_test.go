package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// TestRunnersHearOfTheChain, from another validator where one does not answer.
func TestRunnersHearOfTheChain(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(1), Runners: 3})
	if err := n.RunToHeight(4, time.Minute); err != nil {
		t.Fatal(err)
	}
	behind := func(want types.Height) {
		t.Helper()
		for _, name := range n.Runners() {
			if got := n.Runner(name).Status().Height; got+1 < want {
				t.Errorf("%s knows of height %d, want %d", name, got, want)
			}
		}
	}
	behind(4)
	n.Crash("v1")
	n.Partition([]string{"v0"})
	n.Freeze("v2")
	if err := n.RunFor(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	n.Heal()
	if err := n.Thaw("v2"); err != nil {
		t.Fatal(err)
	}
	if err := n.RunToHeight(12, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := n.RunFor(viewPatience); err != nil {
		t.Fatal(err)
	}
	behind(n.Tip())
}

// echo is a job for so many runners, whose result is its parameters.
func echo(runners uint64, mode push.Mode) *push.JobSpec {
	return &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{ExecutorHash: custom.Hash("echo"), Params: []byte("hello")}},
		Bounds:       push.Bounds{MaxInputTokens: 16, MaxOutputTokens: 16, MaxWallTimeSeconds: 30, MaxMemoryMB: 16, MaxRetries: 3},
		Verification: push.Verification{Mode: mode, Runners: runners},
		MaxPrice:     types.WeiOf(1).Mul(types.CBY), TimeoutBlocks: 12,
		ResultSchema: push.ResultSchema{MaxReturnBytes: 1024, ExpectedExecutionMS: 50, DataFormat: push.FormatBytes}}
}

// labour is a network with runners, and what its blocks did to jobs and presence.
type labour struct {
	*testing.T
	*Network
	changes  []types.JobChange
	presence map[types.Height]*ledger.Presence // of the block before
}

func labouring(t *testing.T, c NetworkConfig) *labour {
	t.Helper()
	l := &labour{T: t, presence: map[types.Height]*ledger.Presence{}}
	final := c.Final
	c.Final = func(at types.Time, r *ledger.Result) {
		if final != nil {
			final(at, r)
		}
		if h := r.Block.Header.Height; l.presence[h] == nil {
			l.presence[h] = &r.Presence
			l.changes = append(l.changes, r.Jobs...)
			for _, receipt := range r.Receipts {
				if receipt.Status != types.StatusOK && receipt.Error != nil {
					l.Logf("block %d: %s", h, receipt.Error)
				}
			}
		}
	}
	l.Network = aNetwork(t, c)
	return l
}

// reach runs to so many blocks from now.
func (l *labour) blocks(count types.Height) {
	l.Helper()
	if err := l.RunToHeight(l.Tip()+count, time.Duration(count+20)*10*time.Second); err != nil {
		l.Fatal(err)
	}
}

// submit hands a job in.
func (l *labour) submit(spec *push.JobSpec) {
	l.Submit("v0", l.Execute("alice", types.DispatcherAddress, "submit", spec.Order()), func(_ types.Hash, err error) {
		if err != nil {
			l.Errorf("the job is refused: %v", err)
		}
	})
}

// present counts the runners that the newest P shows.
func (l *labour) present() (n int) {
	p := l.presence[l.Tip()]
	for i := range l.runners {
		if p.Bitmap.Has(i) {
			n++
		}
	}
	return n
}

// did counts the changes of a kind.
func (l *labour) did(kind types.JobChangeKind) (n int) {
	for _, c := range l.changes {
		if c.Kind == kind {
			n++
		}
	}
	return n
}

func TestRunnersArePresentAndDoJobs(t *testing.T) {
	loose := Link{Latency: 20 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02, Reorder: 0.1, Duplicate: 0.1}
	for _, link := range []Link{{}, loose} {
		l := labouring(t, NetworkConfig{World: Config{Seed: 1, Link: link}, Runners: 6})
		l.blocks(6)
		if got := l.present(); got != 6 {
			t.Fatalf("%d of 6 runners are present", got)
		}
		l.submit(echo(1, push.None))
		l.submit(echo(3, push.Deterministic))
		l.blocks(12)
		if got := l.did(types.JobChangeCompleted); got != 2 {
			t.Fatalf("%d of 2 jobs are completed: %+v", got, l.changes)
		}
		if l.did(types.JobChangeRetried) != 0 {
			t.Error("a committee was silent")
		}
	}
}

// J16: a result is final in the block behind the draw at the earliest, the callback is
// delivered in the next; a committee takes one block more. Through whole validators and
// runners, over links: none of it takes a block that it need not take.
func TestJ16TheBlocksOfACallback(t *testing.T) {
	link := Link{Latency: 20 * time.Millisecond, Jitter: 20 * time.Millisecond}
	l := labouring(t, NetworkConfig{World: Config{Seed: 1, Link: link}, Runners: 6})
	deploy, counter := l.Deploy("alice", samples.Code("counter"), types.Wei{})
	l.Submit("v0", deploy, func(_ types.Hash, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	l.blocks(6)
	for _, c := range []struct {
		runners uint64
		mode    push.Mode
		blocks  types.Height
	}{{1, push.None, 2}, {3, push.Deterministic, 3}} {
		l.changes = nil
		spec := echo(c.runners, c.mode)
		spec.Callback = &push.Callback{Actor: counter, Handler: "increment", CorrelationID: []byte{}, Context: []byte{}}
		l.submit(spec)
		l.blocks(8)
		at := map[types.JobChangeKind]types.Height{}
		for _, change := range l.changes {
			at[change.Kind] = change.At
		}
		drawn := at[types.JobChangeDrawn]
		if drawn == 0 || at[types.JobChangeCompleted] != drawn+c.blocks-1 || at[types.JobChangeCalledBack] != drawn+c.blocks {
			t.Errorf("of %d runners: %v", c.runners, at)
		}
	}
}

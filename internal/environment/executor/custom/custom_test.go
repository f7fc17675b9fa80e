package custom

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
)

func job(name, params string) *push.JobSpec {
	return &push.JobSpec{
		JobType:       push.JobType{Custom: &push.Custom{ExecutorHash: Hash(name), Params: []byte(params)}},
		Bounds:        push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 60, MaxMemoryMB: 256, MaxRetries: 1},
		Verification:  push.Verification{Mode: push.None, Runners: 1},
		MaxPrice:      types.WeiOf(1),
		TimeoutBlocks: 1,
		ResultSchema:  push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes},
	}
}

func idOf(n byte) execution.ID { return execution.ID{Job: types.Hash{n}} }

// do accepts a job and does it.
func do(t *testing.T, k *Kind, spec *push.JobSpec) ([]byte, error) {
	t.Helper()
	if r := k.Accepts(spec); r != nil {
		t.Fatal(r)
	}
	return k.Do(t.Context(), executor.NewJob(idOf(7), spec, nil))
}

func TestTheBuiltInExecutors(t *testing.T) {
	k := New(map[string]Executor{"echo": Echo, "sha256": Sha256})
	if result, err := do(t, k, job("echo", "hello")); err != nil || string(result) != "hello" {
		t.Errorf("%q, %v", result, err)
	}
	want := sha256.Sum256([]byte("hello"))
	if result, err := do(t, k, job("sha256", "hello")); err != nil || !bytes.Equal(result, want[:]) {
		t.Errorf("%x, %v", result, err)
	}
	if r := k.Accepts(job("/bin/sh", "hello")); r == nil || r.Reason != push.Unsupported {
		t.Errorf("an executor that is not configured: %v", r)
	}
}

func TestAProgramGetsItsParametersAsInputAlone(t *testing.T) {
	count, err := Command([]string{"wc", "-c"}, []string{"A=B"}, 64)
	if err != nil {
		t.Fatal(err)
	}
	k := New(map[string]Executor{"count": count})
	if result, err := do(t, k, job("count", "-l; $(touch x)\x00")); err != nil || strings.TrimSpace(string(result)) != "15" {
		t.Errorf("%q, %v", result, err)
	}
	for _, argv := range [][]string{nil, {""}, {"no-such-program-anywhere"}} {
		if _, err := Command(argv, nil, 0); err == nil {
			t.Errorf("%q passed as a program", argv)
		}
	}
}

func TestAJobWaitsForItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManual()
		set := executor.New(executor.Config{Kinds: map[push.JobKind]executor.Kind{push.JobCustom: New(map[string]Executor{"manual": m})}})
		defer set.Close()
		spec := job("manual", "what is the answer?")
		spec.ResultSchema.DataFormat = push.FormatJSON
		told := make(chan execution.Report, 9)
		tell := func(r execution.Report) { told <- r }
		first, again := execution.ID{Job: types.Hash{1}, Drawn: 3}, execution.ID{Job: types.Hash{1}, Drawn: 9}
		other := execution.ID{Job: types.Hash{2}}
		for _, id := range []execution.ID{first, again, other} {
			set.Execute(id, spec, tell)
		}
		synctest.Wait()
		if got := m.Waiting(); !slices.Equal(got, []types.Hash{{1}, {2}}) {
			t.Fatalf("waiting: %v", got)
		}
		for _, wrong := range []string{"no JSON", strings.Repeat("1", 101)} {
			if err := m.Answer(types.Hash{1}, execution.Given{Result: []byte(wrong)}); err == nil {
				t.Errorf("%q was taken", wrong)
			}
		}
		if err := m.Answer(types.Hash{3}, execution.Given{}); err == nil {
			t.Error("nothing waits for this answer")
		}
		if err := m.Answer(types.Hash{1}, execution.Given{Result: []byte("42")}); err != nil {
			t.Error(err)
		}
		for range 2 {
			if r := <-told; r.What != execution.Done || string(r.Result) != "42" || r.ID.Job != first.Job {
				t.Errorf("%+v", r)
			}
		}
		begun := time.Now()
		if r := <-told; r.What != execution.Failed || r.ID != other || time.Since(begun) != time.Minute {
			t.Errorf("after %v: %+v", time.Since(begun), r)
		}
		if got := m.Waiting(); len(got) != 0 {
			t.Errorf("still waiting: %v", got)
		}
	})
}

func TestACancelledJobWaitsNoMore(t *testing.T) {
	m := NewManual()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.doJob(ctx, executor.NewJob(idOf(1), job("manual", ""), nil)); err == nil || len(m.Waiting()) != 0 {
		t.Errorf("%v, %v", err, m.Waiting())
	}
}

// Progress by hand reaches each draw that waits, rises, and is words of one line.
func TestAJobByHandTellsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManual()
		set := executor.New(executor.Config{Kinds: map[push.JobKind]executor.Kind{push.JobCustom: New(map[string]Executor{"manual": m})}})
		defer set.Close()
		told := make(chan execution.Report, 9)
		set.Execute(idOf(1), job("manual", ""), func(r execution.Report) { told <- r })
		synctest.Wait()
		for _, given := range []execution.Given{{Percent: 40, Detail: "a\x1b[31m\nb\xff"}, {Percent: 100}} {
			if err := m.Answer(types.Hash{1}, given); err != nil {
				t.Error(err)
			}
			if r := <-told; r.What != execution.Progress || r.Fraction != given.Percent || given.Detail != "" && r.Detail != "a [31m b?" {
				t.Errorf("%+v", r)
			}
			for _, again := range []uint8{given.Percent, given.Percent - 1, 101} {
				if err := m.Answer(types.Hash{1}, execution.Given{Percent: again}); err == nil {
					t.Errorf("%d was taken after %d", again, given.Percent)
				}
			}
		}
		if err := m.Answer(types.Hash{2}, execution.Given{Percent: 1}); err == nil {
			t.Error("nothing waits for this progress")
		}
		if err := m.Answer(types.Hash{1}, execution.Given{Result: []byte("x")}); err != nil {
			t.Error(err)
		}
		if r := <-told; r.What != execution.Done {
			t.Errorf("%+v", r)
		}
	})
}

package executor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// spec is a sound custom job.
func spec() *push.JobSpec {
	return &push.JobSpec{
		JobType:       push.JobType{Custom: &push.Custom{}},
		Bounds:        push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 30, MaxMemoryMB: 1, MaxRetries: 1},
		Verification:  push.Verification{Mode: push.None, Runners: 1},
		MaxPrice:      types.WeiOf(1),
		TimeoutBlocks: 1,
		ResultSchema:  push.ResultSchema{MaxReturnBytes: 8, DataFormat: push.FormatBytes},
	}
}

// scripted is a kind that does what it is told.
type scripted struct {
	does    func(context.Context, *Job) ([]byte, error)
	refuses *execution.Refusal
}

func (scripted) Capabilities() []string                           { return []string{"region:eu", "custom"} }
func (s scripted) Accepts(*push.JobSpec) *execution.Refusal       { return s.refuses }
func (s scripted) Do(ctx context.Context, j *Job) ([]byte, error) { return s.does(ctx, j) }
func customs(kind Kind) map[push.JobKind]Kind                     { return map[push.JobKind]Kind{push.JobCustom: kind} }
func gives(result string) func(context.Context, *Job) ([]byte, error) {
	return func(context.Context, *Job) ([]byte, error) { return []byte(result), nil }
}

func untilTheEnd(ctx context.Context, _ *Job) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

var work = execution.ID{Job: types.Hash{1}, Drawn: 5}

// reports collects the reports on one job, until its end.
func reports(s *Set, spec *push.JobSpec) (all []execution.Report) {
	told := make(chan execution.Report, 200)
	s.Execute(work, spec, func(r execution.Report) { told <- r })
	for {
		r := <-told
		all = append(all, r)
		if r.What != execution.Progress {
			return all
		}
	}
}

func TestAJobIsDoneAndToldOnce(t *testing.T) {
	s := New(Config{Kinds: customs(scripted{does: func(_ context.Context, j *Job) ([]byte, error) {
		for _, fraction := range []uint8{10, 10, 5, 60, 255} {
			j.Progress(fraction, "at work")
		}
		return []byte("a result"), nil
	}})})
	defer s.Close()
	var fractions []uint8
	all := reports(s, spec())
	for _, r := range all[:len(all)-1] {
		fractions = append(fractions, r.Fraction)
	}
	if last := all[len(all)-1]; last.What != execution.Done || string(last.Result) != "a result" || last.ID != work {
		t.Errorf("it ended with %+v", last)
	}
	if !slices.Equal(fractions, []uint8{10, 60, 100}) {
		t.Errorf("progress was %v: what does not exceed the last is not told, and nothing is more than all", fractions)
	}
}

func TestBoundsEndAJob(t *testing.T) {
	for _, c := range []struct {
		name   string
		does   func(context.Context, *Job) ([]byte, error)
		change func(*push.JobSpec)
		want   string
	}{
		{"a result that is too long", gives("123456789"), nil, "the result has 9 bytes, and the job takes 8"},
		{"no text", gives("\xff"), func(s *push.JobSpec) { s.ResultSchema.DataFormat = push.FormatText }, "not valid UTF-8"},
		{"no JSON", gives("{"), func(s *push.JobSpec) { s.ResultSchema.DataFormat = push.FormatJSON }, "not valid JSON"},
		{"its own time", untilTheEnd, nil, "not done within 30s"},
		{"its runner's time", untilTheEnd, func(s *push.JobSpec) { s.Bounds.MaxWallTimeSeconds = 1 << 63 }, "not done within 5m0s"},
		{"a late result", func(ctx context.Context, _ *Job) ([]byte, error) {
			<-ctx.Done()
			return []byte("late"), nil
		}, nil, "not done within 30s"},
		{"a failure", func(context.Context, *Job) ([]byte, error) { return nil, errors.New(strings.Repeat("no ", 2000)) }, nil, "no no"},
		{"a refused job", gives("x"), func(s *push.JobSpec) { s.TimeoutBlocks = 0 }, "BadSpec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Config{Kinds: customs(scripted{does: c.does}), MaxWall: 5 * time.Minute})
				defer s.Close()
				job := spec()
				if c.change != nil {
					c.change(job)
				}
				all := reports(s, job)
				last := all[len(all)-1]
				if last.What != execution.Failed || !strings.Contains(last.Detail, c.want) ||
					len(last.Detail) > execution.MaxDetail || last.Result != nil {
					t.Errorf("it ended with %+v, want %q", last, c.want)
				}
			})
		})
	}
}

func TestWhatIsCancelledIsToldNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Kinds: customs(scripted{does: untilTheEnd})})
		told := 0
		count := func(execution.Report) { told++ }
		s.Execute(work, spec(), count)
		s.Execute(work, spec(), count) // under way already
		synctest.Wait()
		s.Cancel(work)
		s.Cancel(work)
		s.Execute(work, spec(), count) // asked for again: the end of the first is not its end
		synctest.Wait()
		if told != 0 || len(s.running) != 1 {
			t.Errorf("%d reports, %d running", told, len(s.running))
		}
		s.Close()
		s.Execute(work, spec(), count)
		synctest.Wait()
		if told != 0 || len(s.running) != 0 {
			t.Errorf("after Close: %d reports, %d running", told, len(s.running))
		}
	})
}

func TestJobsAreRefusedByReason(t *testing.T) {
	pool := "eu"
	own := execution.Refuse(push.Capacity, "its own")
	s := New(Config{Kinds: customs(scripted{refuses: own}), Entitlements: []string{"us", "asia", "us"}})
	defer s.Close()
	for _, c := range []struct {
		change func(*push.JobSpec)
		want   push.RejectReason
	}{
		{func(s *push.JobSpec) { s.Bounds.MaxMemoryMB = 0 }, push.BadSpec},
		{func(s *push.JobSpec) { s.JobType = push.JobType{} }, push.BadSpec},
		{func(s *push.JobSpec) { s.JobType = push.JobType{Mcp: &push.Mcp{}} }, push.Unsupported},
		{func(s *push.JobSpec) { s.RequiredRunnerPool = &pool }, push.MissingEntitlement},
		{func(s *push.JobSpec) {}, push.Capacity},
	} {
		job := spec()
		c.change(job)
		if r := s.Accepts(job); r == nil || r.Reason != c.want {
			t.Errorf("%v, want %s", r, c.want)
		}
	}
	if got := s.Capabilities(); !slices.Equal(got, []string{"custom", "region:eu"}) {
		t.Errorf("capabilities %v", got)
	}
	if got := s.Entitlements(); !slices.Equal(got, []string{"asia", "us"}) {
		t.Errorf("entitlements %v", got)
	}
}

func TestBoundsOfAnySize(t *testing.T) {
	job := spec()
	job.ResultSchema.MaxReturnBytes, job.Bounds.MaxMemoryMB = 1<<63, 1<<63
	if ReturnBytes(job) != MaxResultBytes || MemoryBytes(job) != MaxMemory || AnswerBytes(job, 5) != 5 {
		t.Errorf("%d, %d, %d", ReturnBytes(job), MemoryBytes(job), AnswerBytes(job, 5))
	}
}

// The end of a job's time has the last words of its work, and not that its context ended.
func TestTheEndOfTheTimeHasTheLastWordsOfTheWork(t *testing.T) {
	late := &lateError{time.Second}
	for last, want := range map[error]string{nil: late.Error(), context.DeadlineExceeded: late.Error(), late: late.Error(),
		errors.New("the node refuses"): late.Error() + "; at last: the node refuses"} {
		if got := late.withCause(last); got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

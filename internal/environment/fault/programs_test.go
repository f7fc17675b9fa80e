package fault

import (
	"errors"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// sound is a host whose sessions run all well.
type sound struct{}

func (sound) Open(program.Purpose) (program.Session, error) { return &soundSession{}, nil }

type soundSession struct{ program.Session }

func (*soundSession) Bound(program.Bounds) {}
func (*soundSession) Handle(program.Context, program.Code, program.Message) (program.Outcome, error) {
	return program.Outcome{Status: types.StatusOK}, nil
}

// limited is a message with a limit of cycles.
type limited struct {
	program.Context
	cycles types.Cycles
}

func (l limited) Remaining() (types.Cycles, types.Cells) { return l.cycles, 0 }

// A host fails on the selected actors, in the selected way, for as long as it is
// asked to wait; and it counts the failed messages.
func TestAHostFailsOverWhomItIsTold(t *testing.T) {
	bad, good := types.Address{1}, types.Address{2}
	var waited time.Duration
	p, c := &Programs{Host: sound{}, Wait: func(d time.Duration) { waited += d }}, new(Counts)
	limit := types.Cycles(1_000_000)
	run := func(actor types.Address, by program.Bounds) error {
		session, err := p.Open(program.ForBlock)
		if err != nil {
			t.Fatal(err)
		}
		session.Bound(by)
		_, err = session.Handle(limited{cycles: limit}, program.Code{}, program.Message{Self: actor})
		return err
	}
	share := func() time.Duration { return time.Second }
	for _, one := range []struct {
		how    string
		by     program.Bounds
		want   program.Failure
		waited time.Duration
	}{
		{HostCrashes, program.Bounds{}, program.Crashed, 0},
		{HostHangs, program.Bounds{Left: share}, program.Stopped, time.Second},
		{HostHangs, program.Bounds{Left: share, Strict: true}, program.Late, program.LateCredit},
		{HostCrawls, program.Bounds{Left: share, Strict: true}, program.Stopped, time.Second},
		{HostCrawls, program.Bounds{Strict: true}, program.Late, hangLimit},
		{HostHangs, program.Bounds{}, program.Late, hangLimit},
		{HostHangs, program.Bounds{Left: func() time.Duration { return time.Hour }}, program.Late, hangLimit},
	} {
		waited = 0
		p.Fail(bad, one.how, c)
		var failed *program.HostError
		if err := run(bad, one.by); !errors.As(err, &failed) || failed.Failure != one.want || waited != one.waited {
			t.Errorf("%s: %v after %v", one.how, err, waited)
		}
		if err := run(good, one.by); err != nil {
			t.Errorf("%s: over another: %v", one.how, err)
		}
	}
	// Decision C18, 1: a limit of few cycles buys less CPU time, and a hang charges none.
	limit, waited = 100_000, 0
	p.Fail(bad, HostHangs, new(Counts))
	if want := 100 * program.LateCreditTimes * program.UsualRate; run(bad, program.Bounds{Strict: true}) == nil || waited != want {
		t.Errorf("with a limit of %d cycles it hangs for %v, not %v", limit, waited, want)
	}
	if n := c.Failed.Load(); n != 7 || c.Text(HostFail, Simulated) != "7 programs failed" {
		t.Errorf("%d counted: %s", n, c.Text(HostFail, Simulated))
	}
	if err := run(bad, program.Bounds{Left: func() time.Duration { return 0 }}); err != nil {
		t.Errorf("what has no time left is not begun, and is its host's to say: %v", err)
	}
	if p.Fail(bad, HostWorks, nil); run(bad, program.Bounds{}) != nil {
		t.Error("it fails without end")
	}
	if CheckHost(HostHangs) != nil || CheckHost("melts") == nil {
		t.Error("a way to fail is judged wrongly")
	}
}

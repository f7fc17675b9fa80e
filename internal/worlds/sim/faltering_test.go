package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// order does an order, and returns its receipt.
func (l *labour) order(o fault.Order) *Effect {
	l.Helper()
	r, err := l.ordered(o)
	if err != nil {
		l.Fatalf("%s: %v", o.String(), err)
	}
	return r
}

// done submits a job and returns its end: who agreed, nil where it failed.
func (l *labour) done(spec *push.JobSpec) (agreed []types.Address, over bool) {
	l.Helper()
	l.submit(spec)
	seen := len(l.changes)
	for range 40 {
		l.blocks(1)
		for _, c := range l.changes[seen:] {
			switch c.Kind {
			case types.JobChangeCompleted:
				return c.Agreed, true
			case types.JobChangeFailed:
				return nil, true
			}
		}
		seen = len(l.changes)
	}
	return nil, false
}

// crewOfSix is a network whose six runners are present.
func crewOfSix(t *testing.T) *labour {
	l := labouring(t, NetworkConfig{World: quick(1), Runners: 6})
	l.blocks(5)
	if l.present() != 6 {
		t.Fatalf("%d of 6 runners are present", l.present())
	}
	return l
}

// A job for all six runners is completed by the five that are sound, whatever the
// sixth does; when that is over it is served as they are.
func TestOneRunnerOfSixFalters(t *testing.T) {
	misbehave := func(kind string) fault.Order { return fault.Order{Verb: fault.Misbehave, Node: "r0", Kind: kind} }
	for _, c := range []struct {
		order  fault.Order
		agrees bool
		did    string
	}{
		{fault.Order{Verb: fault.Blackhole, Node: "r0", On: true}, false, "withheld"},
		{fault.Order{Verb: fault.Slow, Node: "r0", Delay: time.Second}, true, "1 result delayed"},
		{fault.Order{Verb: fault.Slow, Node: "r0", Delay: time.Minute}, false, ""},
		{misbehave("wrong_result"), false, "forged"},
		{misbehave("late_result"), false, "held"},
		{misbehave("duplicate_result"), true, "forged"},
		{misbehave("no_reveal"), false, "withheld"},
		{misbehave("bad_signature"), false, "forged"},
		{misbehave("reject"), false, "forged"},
	} {
		t.Run(c.order.String(), func(t *testing.T) {
			l := crewOfSix(t)
			r := l.order(c.order)
			if !r.Idle() {
				t.Errorf("before any job it did %v", r)
			}
			agreed, over := l.done(echo(6, push.Deterministic))
			if !over || len(agreed) < 5 {
				t.Fatalf("over: %v, %d agreed", over, len(agreed))
			}
			if got := slices.Contains(agreed, l.findNode("r0").address); got != c.agrees {
				t.Errorf("its result is among those that agree: %v", got)
			}
			l.blocks(14) // whatever comes late
			if !strings.Contains(r.String(), c.did) {
				t.Errorf("%v, want %q", r, c.did)
			}
			over6 := c.order
			over6.On, over6.Delay = false, 0
			if over6.Kind != "" {
				over6.Kind = fault.Honest
			}
			l.order(over6)
			if !r.Over() {
				t.Error("it lasts")
			}
			l.blocks(3)
			if agreed, _ := l.done(echo(6, push.Deterministic)); len(agreed) != 6 {
				t.Errorf("behind it %d of 6 agree", len(agreed))
			}
		})
	}
}

// What takes a runner's presence takes it out of draws, and gives it back.
func TestARunnerComesAndGoes(t *testing.T) {
	gone := func(l *labour, r *Effect) {
		l.Helper()
		if l.present() != 5 || r.Idle() {
			l.Errorf("%d are present; %v", l.present(), r)
		}
		agreed, _ := l.done(echo(5, push.Deterministic))
		if len(agreed) != 5 || slices.Contains(agreed, l.findNode("r0").address) {
			l.Errorf("without it %d agree", len(agreed))
		}
	}
	back := func(l *labour) {
		l.Helper()
		l.blocks(6)
		if agreed, _ := l.done(echo(6, push.Deterministic)); len(agreed) != 6 {
			l.Errorf("with it %d agree, %d are present", len(agreed), l.present())
		}
	}
	t.Run("drop", func(t *testing.T) {
		l := crewOfSix(t)
		r := l.order(fault.Order{Verb: fault.Drop, Node: "r0"})
		l.blocks(2)
		gone(l, r)
		if err := l.Restart("r0"); err != nil {
			t.Fatal(err)
		}
		back(l)
	})
	t.Run("saturate", func(t *testing.T) {
		l := crewOfSix(t)
		r := l.order(fault.Order{Verb: fault.Saturate, Node: "r0", On: true})
		l.blocks(3)
		gone(l, r)
		l.order(fault.Order{Verb: fault.Saturate, Node: "r0"})
		back(l)
	})
	t.Run("replay_nonce", func(t *testing.T) {
		l := crewOfSix(t)
		r := l.order(fault.Order{Verb: fault.Misbehave, Node: "r0", Kind: "replay_nonce"})
		l.blocks(8)
		gone(l, r)
		l.order(fault.Order{Verb: fault.Misbehave, Node: "r0", Kind: fault.Honest})
		l.blocks(30) // it dials as late as every 30 s by now
		back(l)
	})
	t.Run("freeze", func(t *testing.T) {
		l := crewOfSix(t)
		r := l.order(fault.Order{Verb: fault.Freeze, Node: "r0"})
		l.blocks(6)
		gone(l, r)
		l.order(fault.Order{Verb: fault.Thaw, Node: "r0"})
		l.blocks(10)
		back(l)
	})
	t.Run("flap", func(t *testing.T) {
		l := crewOfSix(t)
		r := l.order(fault.Order{Verb: fault.Flap, Node: "r0", Up: 2 * time.Second, Down: 5 * time.Second, Times: 2})
		seen := map[int]bool{}
		for range 16 {
			l.blocks(1)
			seen[l.present()] = true
		}
		if !seen[5] || !seen[6] || r.Idle() || !r.Over() {
			t.Errorf("%v were present; %v", seen, r)
		}
		l.blocks(6)
		back(l)
	})
	for _, fresh := range []bool{false, true} {
		t.Run("rejoin", func(t *testing.T) {
			l := crewOfSix(t)
			before := l.findNode("r0").address
			r := l.order(fault.Order{Verb: fault.Rejoin, Node: "r0", AfterBlocks: 14, NewIdentity: fresh})
			l.blocks(3)
			gone(l, r)
			l.blocks(20)
			back(l)
			want := before
			if fresh {
				want = wallet.RunnerIdentity(1, "r0", 1).Address()
			}
			if got := l.findNode("r0").address; got != want {
				t.Errorf("it came back as %s, not as %s", got, want)
			}
			l.owns("r0")
		})
	}
}

// A runner whose new key is refused at first, by a paused network, rejoins after the pause.
func TestARunnerRejoinsAfterAPause(t *testing.T) {
	l := crewOfSix(t)
	l.Pause()
	l.order(fault.Order{Verb: fault.Rejoin, Node: "r0", NewIdentity: true})
	if err := l.RunFor(time.Minute); err != nil || l.Running("r0") {
		t.Fatalf("r0 runs amid the pause: %v, %v", l.Running("r0"), err)
	}
	l.Resume()
	l.blocks(20)
	if got, want := l.findNode("r0").address, wallet.RunnerIdentity(1, "r0", 1).Address(); got != want || !l.Running("r0") {
		t.Errorf("r0 is %s, want %s; it runs: %v", got, want, l.Running("r0"))
	}
	l.owns("r0")
}

// owns checks that a runner is its own owner, as in every world (decision J20).
func (l *labour) owns(name string) {
	l.Helper()
	at := l.findNode(name).address
	if r := l.bestValidator().Head().State.Runner(at); r == nil || r.Owner != at {
		l.Errorf("%s is registered as %+v", name, r)
	}
}

// Runners join and leave a network that runs.
func TestRunnersJoinAndLeave(t *testing.T) {
	l := labouring(t, NetworkConfig{World: quick(1), Open: true})
	l.blocks(2)
	for _, c := range []struct {
		name  string
		joins bool
	}{{"", true}, {"r5", false}, {"r1", true}, {"r1", false}} {
		if _, err := l.JoinRunner(t.Context(), c.name, setup.UsualTerms); (err == nil) != c.joins {
			t.Fatalf("%q joined: %v", c.name, err)
		}
	}
	l.blocks(8)
	if got := l.Runners(); l.present() != 2 || !slices.Equal(got, []string{"r0", "r1"}) {
		t.Fatalf("%d are present of %v", l.present(), got)
	}
	l.owns("r0")
	if agreed, _ := l.done(echo(2, push.Deterministic)); len(agreed) != 2 {
		t.Errorf("%d agree", len(agreed))
	}
	if err := l.LeaveRunner(t.Context(), "r0"); err != nil {
		t.Fatal(err)
	}
	l.blocks(6)
	if l.Running("r0") || l.present() != 1 || l.LeaveRunner(t.Context(), "r0") == nil {
		t.Errorf("who left runs: %v; %d are present", l.Running("r0"), l.present())
	}
	closed := aNetwork(t, NetworkConfig{World: quick(1)})
	if _, err := closed.JoinRunner(t.Context(), "", setup.UsualTerms); err == nil {
		t.Error("a network that lets nobody in was joined")
	}
}

// A job of the executor manual waits for who answers it.
func TestAManualJobIsAnsweredByHand(t *testing.T) {
	l := crewOfSix(t)
	spec := echo(3, push.Deterministic)
	spec.JobType.Custom.ExecutorHash = manual
	l.submit(spec)
	l.blocks(4)
	if l.did(types.JobChangeCompleted) != 0 || l.Answer(types.Hash{1}, execution.Given{Result: []byte("x")}) == nil {
		t.Fatal("it is completed, or another job was answered")
	}
	if err := l.Answer(l.changes[0].ID, execution.Given{Result: make([]byte, 1025)}); err == nil {
		t.Error("an answer that is too long was taken")
	}
	if err := l.Answer(l.changes[0].ID, execution.Given{Result: []byte("by hand")}); err != nil {
		t.Fatal(err)
	}
	l.blocks(6)
	if l.did(types.JobChangeCompleted) != 1 {
		t.Errorf("%+v", l.changes)
	}
	if _, err := l.Do(fault.Order{Verb: fault.Drop, Node: "v0"}); err == nil {
		t.Error("a validator was dropped")
	}
	if _, err := l.Do(fault.Order{Verb: fault.Crash, Node: wallet.RunnerName(0)}); err == nil {
		t.Error("a runner crashed")
	}
}

// A runner that dies when it is drawn, before its work, is replaced by one draw for all
// validators; one that dies behind its result is not missed. Either way one result is
// accepted, and the oracle of jobs judges the escrow to the wei.
func TestARunnerDiesBeforeAndAfterItsWork(t *testing.T) {
	for _, c := range []struct {
		name    string
		at      types.JobChangeKind
		retried int
	}{{"before", types.JobChangeDrawn, 1}, {"after", types.JobChangeRevealed, 0}} {
		t.Run(c.name, func(t *testing.T) {
			var l *labour
			var drawn, died types.Address
			l = labouring(t, NetworkConfig{World: quick(1), Runners: 6, Final: func(_ types.Time, r *ledger.Result) {
				for _, change := range r.Jobs {
					if change.Kind == types.JobChangeDrawn {
						drawn = change.Committee[0]
					}
					if change.Kind == c.at && died.IsZero() {
						died = drawn
						l.After(0, func() { l.order(fault.Order{Verb: fault.Drop, Node: l.nameOf(died)}) })
					}
				}
			}})
			l.blocks(5)
			agreed, over := l.done(echo(1, push.None))
			if !over || len(agreed) != 1 || (agreed[0] == died) != (c.retried == 0) {
				t.Errorf("%s died, and %v agreed", died, agreed)
			}
			l.blocks(14) // whatever comes late
			if l.did(types.JobChangeCompleted) != 1 || l.did(types.JobChangeRevealed) != 1 || l.did(types.JobChangeRetried) != c.retried {
				t.Errorf("the job went %+v", l.changes)
			}
			if died.IsZero() || l.present() != 5 {
				t.Errorf("%d of 5 are present", l.present())
			}
		})
	}
}

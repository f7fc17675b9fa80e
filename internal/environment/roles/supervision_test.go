package roles

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// watched is a group of two roles, a of which may be made again separately, and its
// reports.
type watched struct {
	*Group
	a, b   Inbox[string]
	told   []string
	failed []*Failure
	later  func() // what After was given last
	now    types.Time
}

func watch(t *testing.T, by Strategy) (*watched, *Runtime) {
	t.Helper()
	r := New(quiet())
	t.Cleanup(r.Close)
	w := &watched{}
	w.Group = NewGroup(r, Supervision{Strategy: by, Now: func() types.Time { return w.now },
		After:     func(_ time.Duration, do func()) { w.later = do },
		Restarted: func(role string) { w.told = append(w.told, role+" again") },
		Along:     func(f *Failure) { w.failed = append(w.failed, f) }})
	part := func(name string, inbox *Inbox[string]) Part {
		return As(name, inbox, func() (Steps[string], error) {
			count := 0
			return Steps[string]{Each: func(event string) {
				if event == "bug" {
					panic("a bug")
				}
				count++
				w.told = append(w.told, name+" "+event+" "+string(rune('0'+count)))
			}}, nil
		})
	}
	if err := w.Start("n0", func(string) actor.Dispatcher { return InPlace }, []Part{part("a", &w.a).Alone(), part("b", &w.b)}); err != nil {
		t.Fatal(err)
	}
	return w, r
}

// Under restart a role that may be is made again separately: its state is gone, its
// queue stays. Any other takes its node along.
func TestAPanickingRoleIsMadeAgainOrTakesItsNodeAlong(t *testing.T) {
	w, r := watch(t, Restart)
	var reported []string
	r.OnPanic = func(name string, value any, _ []byte) { reported = append(reported, name) }
	w.a.Post("x")
	w.a.Post("bug")
	w.a.Post("y")
	if want := []string{"a x 1", "a again", "a y 1"}; !slices.Equal(w.told, want) || len(w.failed) != 0 {
		t.Errorf("%q, want %q; %v", w.told, want, w.failed)
	}
	w.b.Post("bug")
	if len(w.failed) != 1 || w.failed[0].Role != "b" || w.failed[0].Strategy != Restart || OrderOf(w.failed[0].Reason) != nil {
		t.Errorf("%+v", w.failed)
	}
	if !slices.Equal(reported, []string{"n0/a", "n0/b"}) {
		t.Errorf("reported are %q", reported)
	}
}

// Under stop no role is restarted.
func TestUnderStopEveryRoleTakesItsNodeAlong(t *testing.T) {
	w, _ := watch(t, Stop)
	w.a.Post("bug")
	if len(w.failed) != 1 || w.failed[0].Role != "a" || w.a.Offer("late") {
		t.Errorf("%+v", w.failed)
	}
}

// A role is made again so often within the window, and no more.
func TestRestartsAreBounded(t *testing.T) {
	w, _ := watch(t, Restart)
	for range MaxRestarts {
		w.a.Post("bug")
	}
	if len(w.failed) != 0 {
		t.Fatal("it was given up early")
	}
	w.a.Post("bug")
	if len(w.failed) != 1 {
		t.Error("it is made again without end")
	}
	var r Restarts
	for range MaxRestarts {
		if !r.Allow(0) {
			t.Fatal("too few are allowed")
		}
	}
	if r.Allow(types.Time(RestartWindow)-1) || !r.Allow(types.Time(RestartWindow)) || len(r) != 1 {
		t.Errorf("the window is another: %v", r)
	}
}

// An ordered panic is not a bug, and its order gets the outcome.
func TestAnOrderedPanicIsNoBug(t *testing.T) {
	w, r := watch(t, Restart)
	r.OnPanic = func(name string, value any, _ []byte) { t.Errorf("%s: %v is reported", name, value) }
	var fates []Fate
	order := func() *Ordered { return &Ordered{Then: func(f Fate) { fates = append(fates, f) }} }
	for _, role := range []string{"a", "b", Parent} {
		if err := w.Upset(role, 0, order()); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	if !slices.Equal(fates, []Fate{MadeAgain, TakenAlong, TakenAlong}) || len(w.failed) != 2 || w.failed[1].Role != Parent {
		t.Errorf("%v, %v", fates, w.failed)
	}
	if !strings.Contains(w.failed[0].Error(), "as it was told") {
		t.Error(w.failed[0])
	}
	for _, role := range []string{"a", Parent, "c"} {
		if err := w.Upset(role, 0, order()); err == nil {
			t.Errorf("%s, which does not exist, is upset", role)
		}
	}
	w.Stop()
	if OrderOf("a bug") != nil || OrderOf(errors.New("a bug")) != nil {
		t.Error("a bug passes as an order")
	}
}

// A role that hangs handles nothing until its time is over, and may be stopped meanwhile.
func TestARoleHangsForItsTime(t *testing.T) {
	w, _ := watch(t, Restart)
	if err := w.Upset("a", time.Second, nil); err != nil {
		t.Fatal(err)
	}
	w.a.Post("x")
	if len(w.told) != 0 || w.a.Waiting() != 1 {
		t.Fatalf("a role that hangs handles %q", w.told)
	}
	w.later()
	if !slices.Equal(w.told, []string{"a x 1"}) {
		t.Errorf("%q", w.told)
	}
	if err := w.Upset("b", time.Second, nil); err != nil {
		t.Fatal(err)
	}
	w.b.Post("y")
	w.Stop()
	if w.DeadLetters() != 1 {
		t.Errorf("%d dead letters, want the one that waited", w.DeadLetters())
	}
}

// A parent that hangs decides when it hangs no more, and the role waits for that.
func TestAHangingParentDecidesLater(t *testing.T) {
	w, _ := watch(t, Restart)
	if err := w.Upset(Parent, time.Second, nil); err != nil {
		t.Fatal(err)
	}
	w.a.Post("bug")
	w.a.Post("x")
	if len(w.told) != 0 {
		t.Fatalf("%q", w.told)
	}
	w.later()
	if !slices.Equal(w.told, []string{"a again", "a x 1"}) {
		t.Errorf("%q", w.told)
	}
}

// An event for a stopped role is counted.
func TestDeadLettersAreCounted(t *testing.T) {
	w, _ := watch(t, Restart)
	w.b.Stop()
	w.b.Post("one")
	if w.b.Offer("two") || w.DeadLetters() != 2 {
		t.Errorf("%d letters", w.DeadLetters())
	}
}

// The names of a group are free again once it has stopped, however it did.
func TestANodeStartsAgainUnderItsName(t *testing.T) {
	w, r := watch(t, Stop)
	w.b.Post("bug")
	w.Stop()
	again := NewGroup(r, Supervision{})
	var inbox Inbox[string]
	var seen []string
	if err := again.Start("n0", func(string) actor.Dispatcher { return InPlace }, []Part{hand(&seen, "a", &inbox, nil)}); err != nil {
		t.Fatal(err)
	}
	again.Stop()
	empty := NewGroup(r, Supervision{})
	if err := empty.Start("n0", nil, nil); err != nil {
		t.Fatal(err)
	}
	empty.Stop()
}

func TestAStrategyIsReadAsItIsWritten(t *testing.T) {
	for _, s := range []Strategy{Restart, Stop} {
		if got, err := ParseStrategy(s.String()); got != s || err != nil {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if got, err := ParseStrategy(""); got != Restart || err != nil {
		t.Error(got, err)
	}
	if _, err := ParseStrategy("pray"); err == nil || !strings.Contains(err.Error(), `"pray" is neither restart nor stop`) {
		t.Error(err)
	}
}

package roles

import (
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// scripted is an Inline dispatcher whose functions run when the test runs them.
type scripted struct{ waiting []func() }

func (s *scripted) Schedule(fn func()) { s.waiting = append(s.waiting, fn) }
func (s *scripted) Throughput() int    { return 1 }
func (s *scripted) Inline()            {}

func (s *scripted) step() {
	fn := s.waiting[0]
	s.waiting = s.waiting[1:]
	fn()
}

func (s *scripted) drain() {
	for len(s.waiting) > 0 {
		s.step()
	}
}

// events returns a receive function that keeps what it is told, lifecycle
// included as the type's name.
func events(into *[]string) func(actor.Context) {
	return func(ctx actor.Context) {
		switch message := ctx.Message().(type) {
		case string:
			*into = append(*into, message)
		default:
			*into = append(*into, fmt.Sprintf("%T", message))
		}
	}
}

func wantEvents(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("the role was told\n %q, want\n %q", got, want)
	}
}

func spawn(t *testing.T, r *Runtime, name string, d actor.Dispatcher, receive func(actor.Context)) *role {
	t.Helper()
	one, err := r.spawnRole(name, d, receive)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

func TestOneEventARun(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	d := new(scripted)
	var got []string
	one := spawn(t, r, "a", d, events(&got))
	r.postEvent(one, "1")
	r.postEvent(one, "2")
	if len(d.waiting) != 1 {
		t.Fatalf("%d runs are scheduled for one mailbox, want 1", len(d.waiting))
	}
	d.step()
	wantEvents(t, got, "*actor.Started", "1")
	if r.countWaiting(one) != 1 {
		t.Fatalf("%d events wait, want 1", r.countWaiting(one))
	}
	d.step()
	wantEvents(t, got, "*actor.Started", "1", "2")
	if len(d.waiting) != 0 {
		t.Fatalf("an empty mailbox has %d runs scheduled", len(d.waiting))
	}
}

type batch []any

func (b batch) GetMessages() []any { return b }

// Proto-actor's own mailbox delivers the parts and then the batch as well.
func TestABatchIsOneEvent(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	d := new(scripted)
	var got []string
	one := spawn(t, r, "a", d, events(&got))
	r.postEvent(one, batch{"1", "2"})
	d.drain()
	wantEvents(t, got, "*actor.Started", "roles.batch")
}

func TestEventsPostedBeforeTheHandlersAreRegisteredWait(t *testing.T) {
	m := newMailbox(nil)
	m.PostUserMessage("early")
	m.PostSystemMessage("started")
	d := new(scripted)
	var got []string
	m.RegisterHandlers(&recorder{&got}, d)
	m.PostSystemMessage("again")
	d.drain()
	wantEvents(t, got, "system started", "system again", "early")
}

type recorder struct{ got *[]string }

func (r *recorder) InvokeSystemMessage(m any) { *r.got = append(*r.got, fmt.Sprint("system ", m)) }
func (r *recorder) InvokeUserMessage(m any)   { *r.got = append(*r.got, fmt.Sprint(m)) }
func (r *recorder) EscalateFailure(_, _ any)  {}

func TestAPanicIsReportedAndEndsTheRole(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	var reported []string
	r.OnPanic = func(name string, value any, stack []byte) {
		reported = append(reported, fmt.Sprint(name, ": ", value))
		if !strings.Contains(string(stack), "TestAPanicIsReportedAndEndsTheRole") {
			t.Errorf("the stack does not lead to the panic:\n%s", stack)
		}
	}
	d := new(scripted)
	var got []string
	note := events(&got)
	one := spawn(t, r, "v0/consensus", d, func(ctx actor.Context) {
		note(ctx)
		if ctx.Message() == "bad" {
			panic("a bug")
		}
	})
	r.postEvent(one, "bad")
	r.postEvent(one, "later")
	d.drain()
	wantEvents(t, got, "*actor.Started", "bad", "*actor.Stopping", "*actor.Stopped")
	wantEvents(t, reported, "v0/consensus: a bug")
	r.postEvent(one, "too late")
	if r.offerEvent(one, "too late") {
		t.Error("a stopped role took an event")
	}
	d.drain()
	spawn(t, r, "v0/consensus", d, events(&got)) // the name is free again
}

func TestAPanicWhileStoppingDoesNotKeepTheRole(t *testing.T) {
	r := New(quiet())
	var reported int
	r.OnPanic = func(string, any, []byte) { reported++ }
	loop := NewLoop()
	one := spawn(t, r, "a", loop, func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Stopping, *actor.Stopped:
			panic("a bug")
		}
	})
	r.stopRoles(one)
	r.Close()
	loop.Close()
	if reported != 2 {
		t.Errorf("%d panics were reported, want 2", reported)
	}
}

func TestKilledEndsARoleWithoutAReport(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	r.OnPanic = func(name string, value any, _ []byte) { t.Errorf("%s reported %v", name, value) }
	d := new(scripted)
	var got []string
	note := events(&got)
	one := spawn(t, r, "a", d, func(ctx actor.Context) {
		note(ctx)
		if ctx.Message() == "kill" {
			panic(Killed{})
		}
	})
	r.postEvent(one, "kill")
	r.postEvent(one, "dropped")
	d.drain()
	r.postEvent(one, "never")
	d.drain()
	wantEvents(t, got, "*actor.Started", "kill")
	r.stopRoles(one)
	wantEvents(t, got, "*actor.Started", "kill", "*actor.Stopping", "*actor.Stopped")
}

func TestStopInlineStepsNoOtherRole(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	d := new(scripted)
	var a, b []string
	first := spawn(t, r, "a", d, events(&a))
	second := spawn(t, r, "b", d, events(&b))
	d.drain()
	r.postEvent(first, "dropped")
	r.postEvent(second, "waits")
	r.stopRoles(first)
	wantEvents(t, a, "*actor.Started", "*actor.Stopping", "*actor.Stopped")
	wantEvents(t, b, "*actor.Started")
	d.drain()
	wantEvents(t, a, "*actor.Started", "*actor.Stopping", "*actor.Stopped")
	wantEvents(t, b, "*actor.Started", "waits")
}

func TestADismissedRoleStopsAfterItsStep(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	d := new(scripted)
	var got []string
	note := events(&got)
	var one *role
	one = spawn(t, r, "a", d, func(ctx actor.Context) {
		note(ctx)
		if ctx.Message() == "enough" {
			r.dismissRole(one)
			note(ctx)
		}
	})
	r.postEvent(one, "enough")
	r.postEvent(one, "dropped")
	d.drain()
	wantEvents(t, got, "*actor.Started", "enough", "enough", "*actor.Stopping", "*actor.Stopped")
}

func TestANameIsUnique(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	d := new(scripted)
	var got []string
	spawn(t, r, "a", d, events(&got))
	if _, err := r.spawnRole("a", d, events(&got)); err == nil || !strings.Contains(err.Error(), "roles: a: ") {
		t.Fatalf("a second role of one name: %v", err)
	}
}

func TestOfferRefusesBeforePost(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	var reported int
	r.OnPanic = func(string, any, []byte) { reported++ }
	d := new(scripted)
	var got []string
	one := spawn(t, r, "a", d, events(&got))
	for i := range MaxOffered {
		if !r.offerEvent(one, "frame") {
			t.Fatalf("event %d was refused", i)
		}
	}
	if r.offerEvent(one, "frame") {
		t.Fatalf("more than %d events from outside were taken", MaxOffered)
	}
	for range MaxQueued - MaxOffered {
		r.postEvent(one, "own")
	}
	if reported != 0 || r.countWaiting(one) != MaxQueued {
		t.Fatalf("%d wait, %d reports", r.countWaiting(one), reported)
	}
	r.postEvent(one, "one too many")
	if reported != 1 || r.countWaiting(one) != MaxQueued {
		t.Fatalf("past the limit %d wait, %d reports", r.countWaiting(one), reported)
	}
	d.drain()
	if len(got) != 1+MaxQueued {
		t.Fatalf("%d events were handled, want %d", len(got), 1+MaxQueued)
	}
}

func TestLiveLoopKeepsTheOrderOfEachPoster(t *testing.T) {
	const posters, each = 4, 2000
	r := New(quiet())
	loop := NewLoop()
	var next [posters]int
	finished := make(chan struct{})
	total := 0
	one := spawn(t, r, "sink", loop, func(ctx actor.Context) {
		event, ok := ctx.Message().([2]int)
		if !ok {
			return
		}
		if next[event[0]] != event[1] {
			t.Errorf("poster %d: event %d after %d", event[0], event[1], next[event[0]])
		}
		next[event[0]] = event[1] + 1
		if total++; total == posters*each {
			close(finished)
		}
	})
	var wait sync.WaitGroup
	for p := range posters {
		wait.Go(func() {
			for i := range each {
				r.postEvent(one, [2]int{p, i})
			}
		})
	}
	wait.Wait()
	<-finished
	r.Close()
	r.Close() // does nothing
	loop.Close()
	if _, err := r.spawnRole("late", loop, func(actor.Context) {}); err == nil {
		t.Error("a closed runtime spawned a role")
	}
}

func TestRolesSpawnAndStopFromManyGoroutines(t *testing.T) {
	r := New(quiet())
	loop := NewLoop()
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 50 {
				got := make(chan struct{}, 1)
				one, err := r.spawnRole(fmt.Sprintf("v%d/%d", g, i), loop, func(ctx actor.Context) {
					if ctx.Message() == "ping" {
						got <- struct{}{}
					}
				})
				if err != nil {
					t.Error(err)
					return
				}
				r.postEvent(one, "ping")
				<-got
				r.stopRoles(one)
			}
		})
	}
	wait.Wait()
	r.Close()
	loop.Close()
}

func TestStopDoesNotWaitForAClosedLoop(t *testing.T) {
	r := New(quiet())
	loop := NewLoop()
	one := spawn(t, r, "a", loop, func(actor.Context) {})
	loop.Close()
	r.stopRoles(one)
}

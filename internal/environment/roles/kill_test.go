package roles

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// A frozen loop ends the step it is in, and takes up the others when it thaws.
func TestAFrozenLoopRunsNothingUntilItThaws(t *testing.T) {
	loop := NewLoop()
	started, proceed, ran := make(chan struct{}), make(chan struct{}), make(chan int, 3)
	loop.Schedule(func() { close(started); <-proceed; ran <- 1 })
	loop.Schedule(func() { ran <- 2 })
	<-started
	loop.Freeze()
	loop.Schedule(func() { ran <- 3 })
	close(proceed)
	if first := <-ran; first != 1 {
		t.Fatalf("%d ran first", first)
	}
	select {
	case n := <-ran:
		t.Fatalf("%d ran while the loop was frozen", n)
	default:
	}
	loop.Thaw()
	if a, b := <-ran, <-ran; a != 2 || b != 3 {
		t.Errorf("%d and %d ran after the thaw", a, b)
	}
	loop.Close()
}

func TestAFrozenLoopCloses(t *testing.T) {
	loop := NewLoop()
	loop.Freeze()
	ran := false
	loop.Schedule(func() { ran = true })
	loop.Close()
	if !ran {
		t.Error("what was scheduled before Close did not run")
	}
}

// A killed loop drops what waits, its roles hear nothing of their end, and their
// names are free again.
func TestAKilledLoopEndsItsRolesUnawares(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		r := New(quiet())
		loop := NewLoop()
		var got []string
		note := events(&got)
		in, proceed := make(chan struct{}), make(chan struct{})
		one := spawn(t, r, "v0/archive", loop, func(ctx actor.Context) {
			note(ctx)
			if ctx.Message() == "step" {
				close(in)
				<-proceed
			}
		})
		r.postEvent(one, "step")
		<-in
		r.postEvent(one, "dropped")
		if frozen {
			loop.Freeze()
		}
		killed := make(chan struct{})
		go func() { loop.Kill(); close(killed) }()
		for !loop.isDead() {
		}
		close(proceed)
		<-killed
		r.stopRoles(one)
		wantEvents(t, got, "*actor.Started", "step")
		if r.offerEvent(one, "late") {
			t.Error("the dead take events")
		}
		next := NewLoop()
		again := spawn(t, r, "v0/archive", next, func(actor.Context) {})
		r.stopRoles(again)
		r.Close()
		next.Close()
	}
}

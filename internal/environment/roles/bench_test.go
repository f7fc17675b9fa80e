package roles

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// BenchmarkRole posts to a role from outside its loop; BenchmarkBareChannel is
// the same over a channel and a goroutine.
func BenchmarkRole(b *testing.B) {
	r := New(quiet())
	loop := NewLoop()
	done := make(chan struct{})
	left := b.N
	one, err := r.spawnRole("sink", loop, func(ctx actor.Context) {
		if _, ok := ctx.Message().(*int); ok {
			if left--; left == 0 {
				close(done)
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	event := new(int)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		for i%1024 == 0 && r.countWaiting(one) > MaxOffered {
		}
		r.postEvent(one, event)
	}
	<-done
	b.StopTimer()
	r.Close()
	loop.Close()
}

func BenchmarkBareChannel(b *testing.B) {
	events := make(chan any, 1024)
	done := make(chan struct{})
	go func() {
		for range b.N {
			<-events
		}
		close(done)
	}()
	event := new(int)
	b.ReportAllocs()
	for range b.N {
		events <- event
	}
	<-done
}

// BenchmarkPingPong is two roles on one loop that answer each other.
func BenchmarkPingPong(b *testing.B) {
	r := New(quiet())
	loop := NewLoop()
	done := make(chan struct{})
	left := b.N
	var both [2]*role
	for i, name := range []string{"a", "b"} {
		one, err := r.spawnRole(name, loop, func(ctx actor.Context) {
			if event, ok := ctx.Message().(*int); ok {
				if left--; left == 0 {
					close(done)
				} else if left > 0 {
					r.postEvent(both[1-i], event)
				}
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		both[i] = one
	}
	b.ReportAllocs()
	b.ResetTimer()
	r.postEvent(both[0], new(int))
	<-done
	b.StopTimer()
	r.Close()
	loop.Close()
}

// BenchmarkAsk is a message to an on-chain actor and its reply.
func BenchmarkAsk(b *testing.B) {
	r := New(quiet())
	d := new(scripted)
	one, err := r.spawnRole("execution", d, func(ctx actor.Context) {
		if ctx.Message() != "go" {
			return
		}
		c, err := r.NewActorPool(ctx, 16, func(string) func(any) any { return func(m any) any { return m } })
		if err != nil {
			b.Fatal(err)
		}
		event := new(int)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := c.Ask("a", event); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
	})
	if err != nil {
		b.Fatal(err)
	}
	r.postEvent(one, "go")
	d.drain()
	r.Close()
}

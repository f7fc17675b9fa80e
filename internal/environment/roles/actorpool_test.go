package roles

import (
	"errors"
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// withActors runs body in a step of a role that has a pool of actors.
func withActors(t *testing.T, limit int, make func(c **ActorPool) func(string) func(any) any, body func(*ActorPool)) {
	t.Helper()
	r := New(quiet())
	r.OnPanic = func(name string, value any, stack []byte) { t.Errorf("%s: %v\n%s", name, value, stack) }
	d := new(scripted)
	one := spawn(t, r, "execution", d, func(ctx actor.Context) {
		if ctx.Message() != "go" {
			return
		}
		var c *ActorPool
		made, err := r.NewActorPool(ctx, limit, make(&c))
		if err != nil {
			t.Error(err)
			return
		}
		c = made
		body(c)
	})
	r.postEvent(one, "go")
	d.drain()
	r.Close()
	if left := r.system.ProcessRegistry; left != nil {
		if _, found := left.GetLocal(supervisorName + "/execution/actors/a"); found {
			t.Error("an on-chain actor outlived its role")
		}
	}
}

func counters(*ActorPool) func(string) func(any) any { return nil }

func TestAskAnswersInPlaceAndKeepsTheActor(t *testing.T) {
	made := 0
	behaviour := func(**ActorPool) func(string) func(any) any {
		return func(name string) func(any) any {
			made++
			count := 0
			return func(message any) any { count++; return fmt.Sprint(name, " ", message, " ", count) }
		}
	}
	withActors(t, 10, behaviour, func(c *ActorPool) {
		for _, want := range []string{"a x 1", "a x 2"} {
			if got, err := c.Ask("a", "x"); err != nil || got != want {
				t.Errorf("%v %v, want %s", got, err, want)
			}
		}
		if made != 1 || c.Len() != 1 {
			t.Errorf("%d were made, %d are in use", made, c.Len())
		}
	})
}

func TestActorsCallOneAnotherButNoneOnTheStack(t *testing.T) {
	behaviour := func(c **ActorPool) func(string) func(any) any {
		return func(name string) func(any) any {
			return func(message any) any {
				path := message.([]string)
				if len(path) == 0 {
					return name
				}
				inner, err := (*c).Ask(path[0], path[1:])
				if err != nil {
					return fmt.Sprint(name, "(", err, ")")
				}
				return fmt.Sprint(name, "(", inner, ")")
			}
		}
	}
	withActors(t, 10, behaviour, func(c *ActorPool) {
		for _, test := range []struct {
			path []string
			want string
		}{
			{[]string{"b", "c", "d"}, "a(b(c(d)))"},
			{[]string{"b", "a"}, "a(b(" + ErrOnStack.Error() + "))"},
			{[]string{"a"}, "a(" + ErrOnStack.Error() + ")"},
			{nil, "a"},
		} {
			if got, err := c.Ask("a", test.path); err != nil || got != test.want {
				t.Errorf("%v: %v %v, want %s", test.path, got, err, test.want)
			}
		}
	})
}

func TestAPanickingActorIsRestartedAndItsMessageFails(t *testing.T) {
	made := 0
	behaviour := func(c **ActorPool) func(string) func(any) any {
		return func(name string) func(any) any {
			made++
			count := 0
			return func(message any) any {
				count++
				switch message {
				case "bad":
					panic("its bug")
				case "outer":
					_, err := (*c).Ask("inner", "bad")
					return err
				}
				return count
			}
		}
	}
	withActors(t, 10, behaviour, func(c *ActorPool) {
		c.Ask("a", "good")
		var failure *ActorPanic
		if _, err := c.Ask("a", "bad"); !errors.As(err, &failure) || failure.Value != "its bug" || len(failure.Stack) == 0 {
			t.Errorf("%v, want an ActorPanic", err)
		}
		if got, err := c.Ask("a", "good"); err != nil || got != 1 || made != 2 {
			t.Errorf("after the restart %v %v, made %d times", got, err, made)
		}
		inner, err := c.Ask("a", "outer")
		if err != nil || !errors.As(inner.(error), &failure) {
			t.Errorf("the caller of a panicking actor got %v %v", inner, err)
		}
	})
}

func TestIdleActorsArePassivated(t *testing.T) {
	made := 0
	behaviour := func(**ActorPool) func(string) func(any) any {
		return func(string) func(any) any { made++; return func(any) any { return nil } }
	}
	withActors(t, 2, behaviour, func(c *ActorPool) {
		c.Ask("a", 1)
		c.Ask("b", 1)
		c.Ask("a", 1)
		c.Ask("c", 1) // b leaves, idle for longest
		if c.Len() != 2 || made != 3 {
			t.Errorf("%d in use, %d made", c.Len(), made)
		}
		c.Ask("a", 1)
		if made != 3 {
			t.Error("the wrong actor left")
		}
		c.EndRound(1)
		c.Ask("a", 1)
		c.EndRound(1)
		if c.Len() != 1 {
			t.Errorf("%d in use after two rounds, want only a", c.Len())
		}
		c.Ask("c", 1)
		if made != 4 {
			t.Errorf("c was made %d times in all, want a new one", made)
		}
	})
}

func TestACastHoldsAnActor(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	if _, err := r.NewActorPool(nil, 0, counters(nil)); err == nil {
		t.Error("a pool of none was made")
	}
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// waits is one wait of the network's operator code.
func waits(w *World, s *network.Signal, patience time.Duration) error {
	return w.Wait(context.Background(), s, patience)
}

func TestATaskGoesOnAtTheTimeOfItsSignal(t *testing.T) {
	w := New(Config{Seed: 1})
	defer w.Close()
	s, late := new(network.Signal), new(network.Signal)
	var said []string
	say := func(what string, err error) {
		said = append(said, fmt.Sprint(what, " ", w.Now().Sub(firstInstant), " ", err))
	}
	w.Go("a", func() error {
		say("a", waits(w, s, time.Minute))
		say("a", waits(w, s, time.Minute)) // it has fired
		say("a", waits(w, late, time.Second))
		return nil
	})
	w.Go("b", func() error { say("b", nil); return nil })
	w.After(3*time.Second, s.Fire)
	if err := w.RunFor(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	want := []string{"b 0s <nil>", "a 3s <nil>", "a 3s <nil>", "a 4s the wait took too long"}
	if !slices.Equal(said, want) || len(w.tasks.open) != 0 {
		t.Errorf("%q, %d open", said, len(w.tasks.open))
	}
}

func TestAWaitOfAScriptRunsTheWorld(t *testing.T) {
	w := New(Config{Seed: 1})
	defer w.Close()
	s := new(network.Signal)
	w.After(2*time.Second, s.Fire)
	if err := waits(w, s, time.Minute); err != nil || w.Now().Sub(firstInstant) != 2*time.Second {
		t.Errorf("%v at %v", err, w.Now().Sub(firstInstant))
	}
	if err := waits(w, new(network.Signal), time.Minute); !errors.Is(err, network.ErrLate) {
		t.Error(err)
	}
}

func TestAWaitWithinAnEventIsABug(t *testing.T) {
	w := New(Config{Seed: 1})
	defer w.Close()
	w.After(time.Second, func() { _ = waits(w, new(network.Signal), time.Second) })
	err := w.RunFor(time.Minute)
	if bug := new(Bug); !errors.As(err, &bug) || !strings.Contains(err.Error(), "by Go") {
		t.Error(err)
	}
}

func TestTheEndOfAWorldEndsItsTasks(t *testing.T) {
	w := New(Config{Seed: 1})
	var ended []error
	w.tasks.failed = func(_ string, err error) { ended = append(ended, err) }
	for range 3 {
		w.Go("a task", func() error {
			_ = waits(w, new(network.Signal), network.Forever)
			return waits(w, new(network.Signal), time.Second) // it asks once more
		})
	}
	if err := w.RunFor(time.Second); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil || len(ended) != 3 || !errors.Is(ended[0], network.ErrClosed) {
		t.Errorf("%v: %v", err, ended)
	}
}

func TestATurnIsPassedInTheOrderOfAsking(t *testing.T) {
	w := New(Config{Seed: 1})
	defer w.Close()
	turn, said := network.NewTurn(w), ""
	for i, name := range []string{"a", "b", "c", "d"} {
		w.After(time.Duration(i), func() {
			w.Go(name, func() error {
				return turn.Do(context.Background(), func() error {
					said += name
					_ = waits(w, new(network.Signal), time.Second) // others ask meanwhile
					said += name
					return nil
				})
			})
		})
	}
	w.After(1500*time.Millisecond, func() {
		w.Go("end", func() error { return turn.Close(func() error { said += "."; return nil }) })
	})
	w.After(10*time.Second, func() {
		w.Go("late", func() error {
			if err := turn.Do(context.Background(), nil); errors.Is(err, network.ErrClosed) {
				said += "!"
			}
			return nil
		})
	})
	if err := w.RunFor(time.Minute); err != nil || said != "aabbccdd.!" {
		t.Errorf("%v: %s", err, said)
	}
}

// A runner that is started while its return is waited for is started once.
func TestARunnerThatWasStartedMeanwhileDoesNotComeBackTwice(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		n := aNetwork(t, NetworkConfig{World: quick(1), Runners: 2})
		if err := n.RunToHeight(3, time.Minute); err != nil {
			t.Fatal(err)
		}
		order := fault.Order{Verb: fault.Rejoin, Node: "r0", AfterBlocks: 4, NewIdentity: fresh}
		if _, err := n.Do(order); err != nil {
			t.Fatal(err)
		}
		if err := n.RunToHeight(5, time.Minute); err != nil || n.Running("r0") {
			t.Fatalf("%v, it runs: %v", err, n.Running("r0"))
		}
		if err := n.Restart("r0"); err != nil {
			t.Fatal(err)
		}
		before := n.Runner("r0")
		if err := n.RunToHeight(12, time.Minute); err != nil || n.Runner("r0") != before || len(n.tasks.open) > 0 {
			t.Errorf("%v: %d tasks are open", err, len(n.tasks.open))
		}
	}
}

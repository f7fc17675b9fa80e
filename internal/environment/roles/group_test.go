package roles

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// hand is a role that notes what happens to it.
func hand(seen *[]string, name string, inbox *Inbox[string], err error) Part {
	note := func(what string) { *seen = append(*seen, name+" "+what) }
	return As(name, inbox, func() (Steps[string], error) {
		note("made")
		return Steps[string]{First: func(actor.Context) { note("first") }, Each: note, Last: func() { note("last") }}, err
	})
}

// The list of a node's roles is the order in which they start; they stop the other
// way round.
func TestACrewStartsByItsListAndStopsBackwards(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	var seen []string
	var a, b Inbox[string]
	a.Post("lost") // to no role
	c := NewGroup(r, Supervision{})
	loop := func(string) actor.Dispatcher { return InPlace }
	if err := c.Start("n0", loop, []Part{hand(&seen, "a", &a, nil), hand(&seen, "b", &b, nil)}); err != nil {
		t.Fatal(err)
	}
	a.Post("one")
	if !b.Offer("two") || b.Waiting() != 0 {
		t.Error("an event was refused")
	}
	c.Stop()
	if b.Offer("late") {
		t.Error("a role that has stopped takes an event")
	}
	want := []string{"a made", "b made", "a first", "b first", "a one", "b two", "b last", "a last"}
	if !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

// A group whose roles cannot all be made or started leaves none.
func TestACrewThatDoesNotStartLeavesNoRole(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	loop := func(string) actor.Dispatcher { return InPlace }
	var seen []string
	var a, b Inbox[string]
	broken := errors.New("no log")
	parts := []Part{hand(&seen, "a", &a, nil), hand(&seen, "b", &b, broken)}
	if err := NewGroup(r, Supervision{}).Start("n0", loop, parts); err != broken || len(seen) != 2 {
		t.Errorf("%v, %q", err, seen)
	}
	seen = nil
	err := NewGroup(r, Supervision{}).Start("n0", loop, []Part{hand(&seen, "a", &a, nil), hand(&seen, "a", &b, nil)})
	if err == nil || !strings.Contains(err.Error(), "n0/a") || !slices.Contains(seen, "a last") || a.Offer("late") {
		t.Errorf("two roles of one name: %v, %q", err, seen)
	}
}

// A role may dismiss its whole group.
func TestARoleMayDismissItsCrew(t *testing.T) {
	r := New(quiet())
	defer r.Close()
	var seen []string
	var a, b Inbox[string]
	c := NewGroup(r, Supervision{})
	enough := As("b", &b, func() (Steps[string], error) {
		return Steps[string]{Each: func(string) { c.Dismiss() }, Last: func() { seen = append(seen, "b last") }}, nil
	})
	if err := c.Start("n0", func(string) actor.Dispatcher { return InPlace }, []Part{hand(&seen, "a", &a, nil), enough}); err != nil {
		t.Fatal(err)
	}
	b.Post("enough")
	if a.Offer("late") || b.Offer("late") || !slices.Equal(seen[2:], []string{"a last", "b last"}) {
		t.Errorf("%q", seen)
	}
}

package executor

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// counted is an executor whose work ends when the test ends it.
type counted struct {
	name     string
	begun    map[execution.ID]func(execution.Report)
	canceled []execution.ID
	closed   chan struct{}
}

func newCounted(name string) *counted {
	return &counted{name: name, begun: map[execution.ID]func(execution.Report){}, closed: make(chan struct{}, 10)}
}

func (c *counted) Capabilities() []string { return []string{c.name} }
func (c *counted) Entitlements() []string { return nil }
func (c *counted) Accepts(*push.JobSpec) *execution.Refusal {
	return execution.Refuse(push.Unsupported, "%s", c.name)
}
func (c *counted) Execute(id execution.ID, _ *push.JobSpec, tell func(execution.Report)) {
	c.begun[id] = tell
}
func (c *counted) Cancel(id execution.ID) { c.canceled = append(c.canceled, id) }
func (c *counted) Close()                 { c.closed <- struct{}{} }

// Work ends where it began, what begins later is the next one's, and the former is closed
// when it has no work left, and not before.
func TestASwapEndsWorkWhereItBegan(t *testing.T) {
	first, second := newCounted("first"), newCounted("second")
	s := NewSwap(first)
	one, two, three := execution.ID{Job: types.Hash{1}}, execution.ID{Job: types.Hash{2}}, execution.ID{Job: types.Hash{3}}
	var told []execution.ID
	tell := func(r execution.Report) { told = append(told, r.ID) }
	s.Execute(one, nil, tell)
	s.Execute(two, nil, tell)
	s.Replace(second)
	if !slices.Equal(s.Capabilities(), []string{"second"}) || s.Accepts(nil).Detail != "second" {
		t.Error("its offer comes from the former")
	}
	s.Execute(one, nil, tell) // it is under way
	s.Execute(three, nil, tell)
	if len(first.begun) != 2 || len(second.begun) != 1 {
		t.Fatalf("%d and %d are begun", len(first.begun), len(second.begun))
	}
	first.begun[one](execution.Report{ID: one, What: execution.Progress})
	first.begun[one](execution.Report{ID: one, What: execution.Done})
	select {
	case <-first.closed:
		t.Fatal("it is closed with work under way")
	default:
	}
	s.Cancel(two)
	<-first.closed
	if !slices.Equal(first.canceled, []execution.ID{two}) || len(second.canceled) != 0 || !slices.Equal(told, []execution.ID{one, one}) {
		t.Errorf("canceled %v and %v, told %v", first.canceled, second.canceled, told)
	}
	s.Execute(one, nil, tell)
	if second.begun[one] == nil {
		t.Error("work that ended is not begun again")
	}
	s.Replace(newCounted("third"))
	s.Close()
	<-second.closed
}

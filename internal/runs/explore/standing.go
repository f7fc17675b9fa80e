package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// standing is how a validator stands in its view, by what it reported: a fault can make it contradict that.
type standing struct {
	view   types.View
	did    []string // in the view, in order, each once
	before []string // what it did in the same view before it entered it again
}

// noteView notes that a validator enters a view, or enters it again, as after a restart.
func (t *tester) noteView(node string, view types.View) {
	s := t.stand[node]
	switch {
	case s == nil || view > s.view:
		t.stand[node] = &standing{view: view}
	case view == s.view && len(s.did) > 0:
		*s = standing{view: view, before: s.did}
		t.noteReach("again in a view that it " + strings.Join(s.before, ", "))
	case view < s.view:
		t.noteReach("in an earlier view")
	}
}

// noteDeed notes what a validator does in its view.
func (t *tester) noteDeed(node, deed string) {
	s := t.stand[node]
	if s == nil || slices.Contains(s.did, deed) {
		return
	}
	s.did = append(s.did, deed)
	if len(s.before) > 0 {
		t.noteReach(deed + " in a view that it " + strings.Join(s.before, ", ") + " before")
	}
}

// noteMeeting notes what an order meets: how its validator stands, how many others are down, which faults, and whether they are of its
// node.
func (t *tester) noteMeeting(o *fault.Order) {
	if t.stage == nil {
		return
	}
	what := describeFault(o.Verb.Name, o)
	t.out.reached[what] = true
	if s := t.stand[o.Node]; s != nil {
		t.out.reached[what+" of one whose view it "+strings.Join(s.did, ", ")] = true
	}
	down := 0
	for _, name := range t.stage.Names() {
		if !t.stage.Running(name) {
			down++
		}
	}
	t.out.reached[fmt.Sprintf("%s while %d are down", what, down)] = true
	for _, f := range t.stage.Faults() {
		if f.Ended {
			continue
		}
		what := o.Verb.Name + " during " + f.Verb
		if f.Order != nil && o.Node != "" && f.Order.Node == o.Node {
			what += " of the same node"
		}
		t.out.reached[what] = true
	}
}

// describeFault is the verb of an order and its kind, of those that have kinds.
func describeFault(verb string, o *fault.Order) string {
	if o == nil {
		return verb
	}
	return strings.TrimSpace(strings.Join([]string{verb, o.Kind, o.How, o.Role, o.Contract, o.Instant}, " "))
}

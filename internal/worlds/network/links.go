package network

import (
	"context"
	"maps"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// LinkRules say what happens on the links between nodes. They do not change: an order of
// links makes others.
type LinkRules struct {
	By    *fault.Order // the order that made them; nil without an order
	usual *ruledLink   // the links that no order has set; nil: they are sound
	set   map[pair]*ruledLink
	cut   *Fault // the partition or bridge in force, or nil
	apart func(from, to string) bool
}

// pair is a link from one node to another.
type pair struct{ from, to string }

// ruledLink is how a link is, and the fault that set it.
type ruledLink struct {
	link fault.Link
	by   *Fault
}

// Rule is what happens to what one node sends another.
type Rule struct {
	Link   fault.Link
	Counts *fault.Counts // of the link's effects; nil: no rule is in force
	Cut    *fault.Counts // of frames lost because the link is cut; nil: it is open
}

// Between is the rule for frames from one node to another, by their names.
func (r *LinkRules) Between(from, to string) (rule Rule) {
	set := r.set[pair{from, to}]
	if set == nil {
		set = r.usual
	}
	if set != nil {
		rule.Link, rule.Counts = set.link, &set.by.Counts
	}
	if r.cut != nil && r.apart(from, to) {
		rule.Cut = &r.cut.Counts
	}
	return rule
}

// Sound reports whether no rule is in force.
func (r *LinkRules) Sound() bool { return r.usual == nil && r.cut == nil && len(r.set) == 0 }

// SameCut reports whether others cut the same links, by the same fault.
func (r *LinkRules) SameCut(other *LinkRules) bool { return r.cut == other.cut }

// apartBy is which links an order cuts.
func (w *Orders) apartBy(o *fault.Order) func(from, to string) bool {
	if o.Verb == fault.Partition {
		return fault.Separated(w.isRunner(), o.Groups...)
	}
	side := fault.SideOf(o.Left, o.Right)
	return func(a, b string) bool { return a != o.Node && b != o.Node && side(a)*side(b) == 2 }
}

// isRunner tells runners by their names: those that there are, and those that join later.
func (w *Orders) isRunner() func(name string) bool {
	kinds := map[string]fault.Whose{}
	for _, node := range w.backend.Nodes() {
		kinds[node.Who().Name] = node.Who().Kind
	}
	return func(name string) bool {
		kind, exists := kinds[name]
		return kind == fault.Runners || !exists && wallet.IsRunnerName(name)
	}
}

// cutLinks cuts the links between the pairs that an order names, both ways, in place of those
// that were cut before.
func (w *Orders) cutLinks(o *fault.Order) *Fault {
	f, apart := newFault(o, w.backend.Now()), w.apartBy(o)
	f.Counts.Cut.Add(w.countCuts(apart))
	w.ruleLinks(o, func(r *LinkRules) {
		w.endLink(r.cut)
		r.cut, r.apart = f, apart
	})
	return f
}

// countCuts counts the connections that there are over links that are to be cut.
func (w *Orders) countCuts(apart func(a, b string) bool) (n int64) {
	nodes := w.backend.Nodes()
	known := make(map[types.Address]Identity, len(nodes))
	for _, node := range nodes {
		known[node.Who().Address] = node.Who()
	}
	for _, node := range nodes {
		if node.Phase() == Stopped || node.Phase() == Failed {
			continue
		}
		for _, address := range node.Peers() {
			if a, b := node.Who(), known[address]; isCountedAsFirst(a, b) && apart(a.Name, b.Name) {
				n++
			}
		}
	}
	return n
}

// isCountedAsFirst reports whether a connection of a with b is counted as a's. A runner counts its connections. Of two validators
// the one with the lesser name does.
func isCountedAsFirst(a, b Identity) bool {
	switch {
	case b.Name == "":
		return false
	case a.Kind != b.Kind:
		return a.Kind == fault.Runners
	}
	return a.Name < b.Name
}

// setLink sets the link between two nodes, or with OneWay that from a to b.
func (w *Orders) setLink(o *fault.Order) *Fault {
	f := newFault(o, w.backend.Now())
	w.ruleLinks(o, func(r *LinkRules) {
		pairs := []pair{{o.A, o.B}, {o.B, o.A}}
		if o.Link.OneWay {
			pairs = pairs[:1]
		}
		for _, p := range pairs {
			before := r.set[p]
			if r.set[p] = (&ruledLink{o.Link, f}); before != nil && !r.stillRules(before.by) {
				w.endLink(before.by)
			}
		}
	})
	return f
}

// stillRules reports whether a fault still sets a link.
func (r *LinkRules) stillRules(f *Fault) bool {
	for _, set := range r.set { // order: whether any does
		if set.by == f {
			return true
		}
	}
	return false
}

// restoreLinks restores every link to its usual state.
func (w *Orders) restoreLinks(o *fault.Order) {
	w.ruleLinks(o, func(r *LinkRules) {
		w.endLink(r.cut)
		for _, set := range r.set { // order: each is ended alike
			w.endLink(set.by)
		}
		r.cut, r.apart = nil, nil
		clear(r.set)
	})
}

// SetUsualLink sets how all links are that no order has set, also those of nodes that join
// later. It is not a fault: no event reports it, and heal leaves it.
func (w *Orders) SetUsualLink(to fault.Link) error {
	if err := to.Check(); err != nil {
		return err
	}
	return w.linking.Do(context.Background(), func() error {
		w.ruleLinks(nil, func(r *LinkRules) { r.usual = &ruledLink{to, newFault(&fault.Order{}, w.backend.Now())} })
		return nil
	})
}

// endLink ends a fault of links; nil is allowed and changes nothing.
func (w *Orders) endLink(f *Fault) {
	if f != nil {
		f.endAt(w.backend.Now())
	}
}

// ruleLinks changes the rules in force, and gives them to the backend. It is
// called in the turn of links.
func (w *Orders) ruleLinks(by *fault.Order, change func(*LinkRules)) {
	next := *w.rules
	next.By, next.set = by, maps.Clone(next.set)
	if next.set == nil {
		next.set = map[pair]*ruledLink{}
	}
	change(&next)
	w.rules = &next
	w.backend.SetLinks(&next)
}

// onLinks does an order of links.
func (w *Orders) onLinks(o *fault.Order) (f *Fault, err error) {
	err = w.linking.Do(context.Background(), func() error {
		switch o.Verb {
		case fault.Partition, fault.Bridge:
			f = w.cutLinks(o)
		case fault.SetLink:
			f = w.setLink(o)
		case fault.Heal:
			w.restoreLinks(o)
			return nil
		default:
			return refusal.New("unsupported", "%s: no link has it", o.Verb.Name).At("verb")
		}
		w.record.withValue(func(r *record) { r.addFault(f) })
		return nil
	})
	return f, err
}

// LinksInForce lists the faults of links in force, the oldest first.
func (w *Orders) LinksInForce() []*Fault {
	return slices.DeleteFunc(w.Standing(), func(f *Fault) bool {
		return f.Order.Verb == nil || f.Order.Verb.OfNode()
	})
}

// Standing lists the faults in force, also those of links, the oldest first.
func (w *Orders) Standing() (all []*Fault) {
	now := w.backend.Now()
	w.record.withValue(func(r *record) { all = slices.Clone(r.all) })
	return slices.DeleteFunc(all, func(f *Fault) bool { return f.Ended(now) })
}

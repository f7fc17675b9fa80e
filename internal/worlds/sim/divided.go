package sim

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Partition lets nodes reach only nodes of their group. Nodes that are not named
// form one more group. It replaces the partition or bridge before.
func (n *links) Partition(groups ...[]string) *Effect {
	n.machines.known(slices.Concat(groups...)...)
	side := fault.SideOf(groups...)
	r := n.effects.receipt("partition", fault.Divided(groups...))
	n.cut(r, func(a, b *node) bool { return side(a.name) != side(b.name) })
	return r
}

// Bridge cuts left from right; the node, and those that are not named, reach
// both. It replaces the partition or bridge before.
func (n *links) Bridge(name string, left, right []string) *Effect {
	n.machines.known(append(slices.Concat(left, right), name)...)
	side := fault.SideOf(left, right)
	r := n.effects.receipt("bridge", name+" "+fault.Divided(left, right))
	n.cut(r, func(a, b *node) bool { return a.name != name && b.name != name && side(a.name)*side(b.name) == 2 })
	return r
}

// divided is the partition or bridge in force: it holds for nodes to come as well.
type divided struct {
	by    *Effect
	apart func(a, b *node) bool
}

// cut cuts the links between the pairs that apart selects, and restores all others.
func (n *links) cut(r *Effect, apart func(a, b *node) bool) {
	if before := n.divided.by; before != nil {
		before.Until = min(before.Until, n.loop.now)
	}
	for _, a := range n.machines.nodes {
		if a.process == nil {
			continue
		}
		for _, b := range a.process.peers {
			if a.index < b.index && apart(a, b) && a.process.connected(b) {
				r.Cut++
			}
		}
	}
	n.machines.eachSide(func(s *side) {
		if s.dialed && s.up && s.out.cut == nil && apart(s.host.process.node, s.far) {
			r.Cut++
		}
	})
	n.divided, n.troubled = divided{r, apart}, true
	for _, link := range n.made {
		was := link.cut != nil
		if link.cut = nil; apart(link.from, link.to) {
			link.cut = r
			if !was {
				link.since = n.loop.now
			}
		}
	}
	n.silence()
	n.mend()
}

// Link sets the link between two nodes, or with OneWay that from a to b.
func (n *links) Link(a, b string, to Link) *Effect {
	r := n.effects.receipt("link", fmt.Sprintf("%s %s %s", a, b, to))
	n.setLink(n.link(n.machines.find(a), n.machines.find(b)), to, r)
	if !to.OneWay {
		n.setLink(n.link(n.machines.find(b), n.machines.find(a)), to, r)
	}
	return r
}

// LinkAll sets every link.
func (n *links) LinkAll(to Link) *Effect {
	r := n.effects.receipt("link", fmt.Sprintf("all %s", to))
	n.setAll(to, r)
	return r
}

// setAll sets every link, including unused ones.
func (n *links) setAll(to Link, r *Effect) {
	for _, link := range n.made {
		n.setLink(link, to, r)
	}
	n.setLink(&n.fresh, to, r)
}

func (n *links) setLink(link *linkState, to Link, r *Effect) {
	if link.receipt != n.defaults.receipt {
		link.receipt.Until = min(link.receipt.Until, n.loop.now)
	}
	link.Link, link.receipt = to, r
}

// Heal restores the network: no partition, all links as configured. Nodes that are
// down or frozen stay so.
func (n *links) Heal() {
	n.loop.trace.fault(n.loop.now, "heal")
	n.cut(&Effect{}, func(a, b *node) bool { return false })
	n.setAll(n.defaults.Link, n.defaults.receipt)
}

// silence ends, in time, the connections over links that were cut just now.
func (n *links) silence() {
	var cut []*side
	n.machines.eachSide(func(s *side) {
		if s.out.cut != nil && s.out.since == n.loop.now {
			cut = append(cut, s)
		}
	})
	if len(cut) > 0 {
		n.loop.After(connection.IdleTime, func() {
			for _, s := range cut {
				if s.out.cut != nil && s.out.since <= n.loop.now.Add(-connection.IdleTime) {
					s.lost()
				}
			}
		})
	}
}

// mend delivers the frames that waited for cut links.
func (n *links) mend() {
	n.machines.eachSide(func(s *side) {
		if s.peer == nil || s.peer.out.cut != nil {
			return
		}
		if len(s.stalled) > 0 {
			s.unstall()
		}
		if s.dialed && len(s.peer.stalled) > 0 { // its side may not be up yet
			s.peer.unstall()
		}
	})
}

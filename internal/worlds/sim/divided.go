package sim

import (
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// applyRules applies rules to all links, also to those not used yet.
func (n *links) applyRules(rules *network.LinkRules) {
	before := n.rules
	n.rules = rules
	switch by := rules.By; {
	case by == nil:
	case by.Verb == fault.Heal:
		n.loop.trace.traceFault(n.loop.now, "heal")
	default:
		n.loop.trace.traceFault(n.loop.now, by.String())
	}
	for _, link := range n.made {
		was := link.cut != nil
		link.applyRule(rules)
		if link.cut != nil && !was {
			link.since = n.loop.now
		}
	}
	if !rules.SameCut(before) {
		n.troubled = true
		n.silenceCutLinks()
		n.deliverDelayedFrames()
	}
}

// applyRule applies rules to a link.
func (l *linkState) applyRule(rules *network.LinkRules) {
	rule := rules.Between(l.from.name, l.to.name)
	l.Link, l.counts, l.cut = rule.Link, rule.Counts, rule.Cut
}

// silenceCutLinks ends, in time, the connections over links that were cut just now.
func (n *links) silenceCutLinks() {
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
					s.endByTimeout()
				}
			}
		})
	}
}

// deliverDelayedFrames delivers the frames that cut links delayed.
func (n *links) deliverDelayedFrames() {
	n.machines.eachSide(func(s *side) {
		if s.peer == nil || s.peer.out.cut != nil {
			return
		}
		if len(s.stalled) > 0 {
			s.resumeDelivery()
		}
		if s.dialed && len(s.peer.stalled) > 0 { // its side may not be up yet
			s.peer.resumeDelivery()
		}
	})
}

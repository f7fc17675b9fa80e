package sim

import (
	"bytes"
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// links are those between the nodes of a world, and what happens on them.
type links struct {
	loop     *loop
	machines *machines
	rand     *rand.Rand         // what links and crashing disks do
	rules    *network.LinkRules // in force
	usual    Link               // as configured, which no order changed
	made     []*linkState       // all that were used
	troubled bool               // nodes were divided, or a process died, at some time
	sent     []byte             // the frame sent last: one goes to many
	sentHash uint64
	tap      func(from types.Address, frame []byte)
}

// Tap shows see every frame as it leaves its node, before the links have their
// way.
func (n *links) Tap(see func(from types.Address, frame []byte)) { n.tap = see }

// hashFrame returns the hash of a frame. The hash of a frame sent to many, one after the
// other, is computed once: sent frames never change, nor do arriving ones, which are
// the same slice (env.Mesh).
func (n *links) hashFrame(frame []byte) uint64 {
	if n.sent == nil || !bytes.Equal(n.sent, frame) { // fast if they are one slice
		n.sent, n.sentHash = frame, xxhash.Sum64(frame)
	}
	return n.sentHash
}

// sendFrame puts a frame on its way, or loses it.
func (n *links) sendFrame(from *process, peer *node, frame []byte) {
	hash := n.hashFrame(frame)
	n.loop.trace.traceFrame(n.loop.now, kindSend, from.node, peer, hash, frame)
	departs := from.timeAfterWork()
	n.showTap(from, departs, frame)
	link := n.findOrAddLink(from.node, peer)
	if n.loop.positions != nil {
		n.sendObserved(&flight{from: from, departs: departs, frame: frame, hash: hash, link: link})
		return
	}
	if link.cut != nil {
		link.cut.Dropped.Add(1)
		n.loop.trace.traceDrop(n.loop.now, from.node, peer, &flight{frame: frame, hash: hash}, "cut")
		return
	}
	if !from.canReach(peer) {
		n.loop.trace.traceDrop(n.loop.now, from.node, peer, &flight{frame: frame, hash: hash}, "not connected")
		return
	}
	f := &flight{from: from, to: peer.process, departs: departs, frame: frame, hash: hash, link: link}
	if n.drawChance(link.Loss) || !link.takeBandwidth(f) {
		link.counts.Dropped.Add(1)
		n.loop.trace.traceDrop(n.loop.now, from.node, peer, f, "lost")
		return
	}
	n.loop.enterEvent(event{at: n.drawArrival(f), what: f})
	if n.drawChance(link.Duplicate) {
		link.counts.Duplicated.Add(1)
		n.loop.enterEvent(event{at: n.drawArrival(f).Add(n.upTo(link.Latency + link.Jitter)), what: f})
	}
}

// showTap lets the tap see a frame when it leaves its node, if it does: one that
// waits for a disk is gone with a crash.
func (n *links) showTap(from *process, departs types.Time, frame []byte) {
	switch {
	case n.tap == nil:
	case departs <= n.loop.now:
		n.tap(from.node.address, frame)
	default:
		n.loop.At(departs, func() {
			if !from.dead || departs <= from.diedAt { // as what arrives is judged (flight.happen)
				n.tap(from.node.address, frame)
			}
		})
	}
}

// drawTear draws how many of n records a disk keeps, less than all.
func (n *links) drawTear(of *node, records int) int {
	if n.loop.positions != nil {
		n.loop.positions.tear(of)
	}
	return n.rand.IntN(records)
}

// drawArrival draws when a frame arrives: in order, unless it is to be overtaken.
func (n *links) drawArrival(f *flight) types.Time {
	l := f.link
	at := max(f.departs, l.free).Add(l.Latency + n.upTo(l.Jitter))
	if l.Latency > 0 || l.Jitter > 0 {
		l.counts.Delayed.Add(1)
	}
	if n.drawChance(l.Reorder) {
		l.counts.Reordered.Add(1)
		return max(at, l.last).Add(n.upTo(l.Latency + l.Jitter))
	}
	l.last = max(at, l.last)
	return l.last
}

// drawChance is true with probability p. It draws nothing where p is 0.
func (n *links) drawChance(p float64) bool { return p > 0 && n.rand.Float64() < p }

// upTo draws a duration from 0 to d.
func (n *links) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(n.rand.Int64N(int64(d) + 1))
}

// Standing returns the present state of the link from one node to another. Its rule is zero where the link is as configured.
func (w *World) Standing(from, to string) (up, cut bool, rule Link) {
	a, b := w.findNode(from), w.findNode(to)
	l := w.findOrAddLink(a, b)
	if rule = l.Link; rule == w.usual {
		rule = Link{}
	}
	return a.process != nil && a.process.canReach(b), l.cut != nil, rule
}

// findOrAddLink returns the link from one node to another, made on first use.
func (n *links) findOrAddLink(from, to *node) *linkState {
	link := from.links[to]
	if link == nil {
		link = &linkState{from: from, to: to}
		if link.applyRule(n.rules); link.cut != nil {
			link.since = n.loop.now
		}
		from.links[to] = link
		n.made = append(n.made, link)
	}
	return link
}

package sim

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Link says what happens to frames from one node to another. A copy, and a frame
// that is overtaken, comes up to Latency + Jitter later. OneWay is World.Link's.
type Link = fault.Link

// MaxBacklogBytes bounds the bytes that wait on a link of limited bandwidth;
// further frames are lost, as in a real node's queue for one peer.
const MaxBacklogBytes = 16 << 20

// linkState is the current state of the link from one node to another.
type linkState struct {
	cut    *fault.Counts // of the partition that cuts it, or nil
	counts *fault.Counts // of the order that set it, or of the configuration
	Link
	from, to *node
	since    types.Time // when the cut began
	free     types.Time // when its bandwidth is free again
	last     types.Time // latest arrival so far, of frames in order
}

// flight is a frame under way.
type flight struct {
	from, to *process
	departs  types.Time
	frame    []byte
	hash     uint64
	link     *linkState
}

// transport implements env.Mesh for one process.
type transport struct{ process *process }

// Start implements env.Mesh.
func (t *transport) Start(receive func(from types.Address, frame []byte)) error {
	if t.process.dead {
		return ErrCrashed
	}
	if t.process.receive != nil {
		return fmt.Errorf("sim: the transport of %s was started twice", t.process.node.name)
	}
	t.process.receive = receive
	return nil
}

// SetPeers implements env.Mesh. Two nodes are connected if each lists the other; an
// unknown address is ignored.
func (t *transport) SetPeers(set []types.Validator) {
	w := t.process.node.world
	var peers []*node
	for _, v := range set {
		if n := w.byAddress[v.Address]; n != nil && n != t.process.node {
			peers = append(peers, n)
		}
	}
	slices.SortFunc(peers, func(a, b *node) int { return bytes.Compare(a.address[:], b.address[:]) })
	t.process.peers = slices.Compact(peers)
}

// Connected implements env.Mesh.
func (t *transport) Connected() []types.Address {
	var up []types.Address
	for _, peer := range t.process.peers {
		if t.process.canReach(peer) {
			up = append(up, peer.address)
		}
	}
	return up
}

// canReach says whether frames can pass both ways.
func (l *process) canReach(peer *node) bool {
	w, other := l.node.world, peer.process
	return !l.dead && l.receive != nil && other != nil && other.receive != nil &&
		slices.Contains(l.peers, peer) && slices.Contains(other.peers, l.node) &&
		w.findOrAddLink(l.node, peer).cut == nil && w.findOrAddLink(peer, l.node).cut == nil
}

// Send implements env.Mesh.
func (t *transport) Send(to types.Address, frame []byte) {
	l := t.process
	if l.dead {
		return
	}
	w := l.node.world
	l.crashIfDue(BeforeSend)
	if peer := w.byAddress[to]; peer != nil && len(frame) <= env.MaxFrameBytes {
		w.sendFrame(l, peer, frame)
	}
	l.crashIfDue(AfterSend)
}

// Close implements env.Mesh.
func (t *transport) Close() error {
	t.process.receive, t.process.peers = nil, nil
	return nil
}

// takeBandwidth takes the link's bandwidth for a frame. It is false where too much waits
// for the link already.
func (l *linkState) takeBandwidth(f *flight) bool {
	if l.Bandwidth <= 0 {
		return true
	}
	start := max(f.departs, l.free)
	if int64(start.Sub(f.departs).Seconds()*float64(l.Bandwidth))+int64(len(f.frame)) > MaxBacklogBytes {
		return false
	}
	if start > f.departs {
		l.counts.Delayed.Add(1)
	}
	l.free = start.Add(time.Duration(int64(len(f.frame)) * int64(time.Second) / l.Bandwidth))
	return true
}

// happenAt delivers a frame to the process it was sent to, if that still lives
// and the link was not cut meanwhile.
func (f *flight) happenAt(e event) {
	to := f.to.node
	w := to.world
	switch {
	case f.link.cut != nil:
		f.link.cut.Dropped.Add(1)
		w.trace.traceDrop(w.now, to, f.from.node, f, "cut")
	case f.to.dead || f.to.receive == nil || (f.from.dead && f.departs > f.from.diedAt):
		if to.death != nil {
			to.death.Dropped.Add(1)
		}
		w.trace.traceDrop(w.now, to, f.from.node, f, "its process, or its sender's, is gone")
	case to.frozen != nil:
		to.holdEvent(e)
	default:
		w.trace.traceFrame(w.now, kindFrame, to, f.from.node, f.hash, f.frame)
		f.to.receive(f.from.node.address, f.frame)
	}
}

package gateway

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// connections holds the connections with runners, from Up to their end: all of
// them, the live ones, and their due times.
type connections struct {
	*step
	chain  *chain
	peers  map[connection.ID]*peer
	order  []*peer                   // as they came up; some may be over
	live   map[types.PublicKey]*peer // whose exchange of Hellos is done
	alarms alarms
}

// onUp begins to wait for a runner's Hello.
func (c *connections) onUp(e connection.Up) {
	address, err := crypto.AddressOf(e.Peer)
	if err != nil || c.peers[e.ID] != nil {
		panic(fmt.Sprintf("gateway: connection %d is up twice, or without a key: %v", e.ID, err))
	}
	p := &peer{id: e.ID, key: e.Peer, address: address, remote: e.Remote, accepting: true}
	switch {
	case !c.chain.headPhase().Connects():
		c.addVerb(connection.Close{ID: e.ID, Code: connection.CodeDone, Reason: string(push.Shutdown)})
		return
	case len(c.peers) >= MaxConnections:
		c.addVerb(connection.Close{ID: e.ID, Code: connection.CodeRefused, Reason: string(push.RateLimited)})
		return
	}
	c.peers[e.ID] = p
	c.order = append(c.order, p)
	c.alarms.addAlarm(alarm{at: c.now.Add(c.chain.headParams().HelloTimeoutMS.Duration()), id: e.ID, why: helloDue})
}

// onDown forgets a connection. Its runner is not present from now on (CIP-11 §11.3).
func (c *connections) onDown(p *peer, e connection.Down) {
	c.notLive(p, e.Reason)
	c.forgetPeer(p)
}

// forgetPeer drops the state of a connection.
func (c *connections) forgetPeer(p *peer) {
	p.stage = over
	delete(c.peers, p.id)
}

// sweepOrder clears the order when half of it is over, so that it costs nothing much for
// each connection.
func (c *connections) sweepOrder() {
	if len(c.order) > 2*len(c.peers) {
		c.order = slices.DeleteFunc(c.order, func(p *peer) bool { return p.stage == over })
	}
}

// servedRunners are the runners that are live here and belong here.
func (c *connections) servedRunners() map[types.Address]bool {
	all := make(map[types.Address]bool, len(c.live))
	for _, p := range c.order {
		if p.stage == live && p.isServedHere() {
			all[p.address] = true
		}
	}
	return all
}

// sendFrame queues a frame of ours.
func (c *connections) sendFrame(p *peer, s connection.Stream, f push.Frame) {
	c.addVerb(connection.Send{ID: p.id, Stream: s, Frame: push.Write(f)})
}

// attestPeer reports a change of a runner's bit.
func (c *connections) attestPeer(p *peer) {
	if until := c.chain.attestsUntil(p); until != p.attested {
		p.attested = until
		c.out.Attest = append(c.out.Attest, Attests{p.index, p.enlisted, until})
	}
}

// leaveIfIdle lets go of a runner that does not belong here any more, when none of
// its jobs is open here (CIP-11 §11.4).
func (c *connections) leaveIfIdle(p *peer) {
	if p.stage == live && !p.isServedHere() && p.openStreams() == 0 {
		c.leavePeer(p, p.misses)
	}
}

// leavePeer says Goodbye, and waits for the runner to close for the grace. Without a
// stream to say it on, closing is enough.
func (c *connections) leavePeer(p *peer, why push.Reason) {
	if p.stage >= leaving {
		return
	}
	if !p.opened {
		c.leaveWithout(p, why)
		return
	}
	c.reportLeft(p, why)
	p.stage, p.reason = leaving, why
	c.sendFrame(p, connection.Control, &push.Goodbye{Reason: why})
	c.addVerb(connection.End{ID: p.id, Stream: connection.Control})
	c.alarms.addAlarm(alarm{at: c.now.Add(c.chain.headParams().GoodbyeGraceMS.Duration()), id: p.id, why: goodbyeDone})
}

// leaveWithout closes at once: nothing could be written any more.
func (c *connections) leaveWithout(p *peer, why push.Reason) {
	if p.stage < leaving {
		c.reportLeft(p, why)
	}
	c.closePeer(p, why.Code(), string(why))
}

// reportLeft reports why a connection is left.
func (c *connections) reportLeft(p *peer, why push.Reason) {
	if p.stage < live {
		c.addReport(Refused{Peer: p.address, Registered: p.registered != nil, Remote: p.remote, Reason: why})
		return
	}
	c.notLive(p, string(why))
}

// notLive removes a runner from the live ones.
func (c *connections) notLive(p *peer, why string) {
	if c.live[p.key] == p {
		delete(c.live, p.key)
		c.addReport(Left{Runner: p.address, Reason: why})
	}
}

// closePeer ends a connection for us.
func (c *connections) closePeer(p *peer, code uint64, why string) {
	c.notLive(p, why)
	c.addVerb(connection.Close{ID: p.id, Code: code, Reason: why})
	c.forgetPeer(p)
}

// leaveAll says Goodbye to everybody.
func (c *connections) leaveAll() {
	for _, p := range c.order {
		c.leavePeer(p, push.Shutdown)
		c.attestPeer(p)
	}
}

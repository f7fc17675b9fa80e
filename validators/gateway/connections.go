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

// up begins to wait for a runner's Hello.
func (c *connections) up(e connection.Up) {
	address, err := crypto.AddressOf(e.Peer)
	if err != nil || c.peers[e.ID] != nil {
		panic(fmt.Sprintf("gateway: connection %d is up twice, or without a key: %v", e.ID, err))
	}
	p := &peer{id: e.ID, key: e.Peer, address: address, remote: e.Remote, accepting: true}
	switch {
	case !c.chain.phase().Connects():
		c.do(connection.Close{ID: e.ID, Code: connection.CodeDone, Reason: string(push.Shutdown)})
		return
	case len(c.peers) >= MaxConnections:
		c.do(connection.Close{ID: e.ID, Code: connection.CodeRefused, Reason: string(push.RateLimited)})
		return
	}
	c.peers[e.ID] = p
	c.order = append(c.order, p)
	c.alarms.set(alarm{at: c.now.Add(c.chain.params().HelloTimeoutMS.Duration()), id: e.ID, why: helloDue})
}

// down forgets a connection. Its runner is not present from now on (CIP-11 §11.3).
func (c *connections) down(p *peer, e connection.Down) {
	c.notLive(p, e.Reason)
	c.forget(p)
}

// forget drops the state of a connection.
func (c *connections) forget(p *peer) {
	p.stage = over
	delete(c.peers, p.id)
}

// sweep clears the order when half of it is over, so that it costs nothing much for
// each connection.
func (c *connections) sweep() {
	if len(c.order) > 2*len(c.peers) {
		c.order = slices.DeleteFunc(c.order, func(p *peer) bool { return p.stage == over })
	}
}

// served are the runners that are live here and belong here.
func (c *connections) served() map[types.Address]bool {
	all := make(map[types.Address]bool, len(c.live))
	for _, p := range c.order {
		if p.stage == live && p.serves() {
			all[p.address] = true
		}
	}
	return all
}

// send queues a frame of ours.
func (c *connections) send(p *peer, s connection.Stream, f push.Frame) {
	c.do(connection.Send{ID: p.id, Stream: s, Frame: push.Write(f)})
}

// attest reports a change of a runner's bit.
func (c *connections) attest(p *peer) {
	if until := c.chain.attestsUntil(p); until != p.attested {
		p.attested = until
		c.out.Attest = append(c.out.Attest, Attests{p.index, p.enlisted, until})
	}
}

// leaveDrained lets go of a runner that does not belong here any more, when none of
// its jobs is open here (CIP-11 §11.4).
func (c *connections) leaveDrained(p *peer) {
	if p.stage == live && !p.serves() && p.openStreams() == 0 {
		c.leave(p, p.misses)
	}
}

// leave says Goodbye, and waits for the runner to close for the grace. Without a
// stream to say it on, closing is enough.
func (c *connections) leave(p *peer, why push.Reason) {
	if p.stage >= leaving {
		return
	}
	if !p.opened {
		c.leaveWithout(p, why)
		return
	}
	c.tell(p, why)
	p.stage, p.reason = leaving, why
	c.send(p, connection.Control, &push.Goodbye{Reason: why})
	c.do(connection.End{ID: p.id, Stream: connection.Control})
	c.alarms.set(alarm{at: c.now.Add(c.chain.params().GoodbyeGraceMS.Duration()), id: p.id, why: goodbyeDone})
}

// leaveWithout closes at once: nothing could be written any more.
func (c *connections) leaveWithout(p *peer, why push.Reason) {
	if p.stage < leaving {
		c.tell(p, why)
	}
	c.close(p, why.Code(), string(why))
}

// tell reports why a connection is left.
func (c *connections) tell(p *peer, why push.Reason) {
	if p.stage < live {
		c.report(Refused{Peer: p.address, Registered: p.registered != nil, Remote: p.remote, Reason: why})
		return
	}
	c.notLive(p, string(why))
}

// notLive removes a runner from the live ones.
func (c *connections) notLive(p *peer, why string) {
	if c.live[p.key] == p {
		delete(c.live, p.key)
		c.report(Left{Runner: p.address, Reason: why})
	}
}

// close ends a connection for us.
func (c *connections) close(p *peer, code uint64, why string) {
	c.notLive(p, why)
	c.do(connection.Close{ID: p.id, Code: code, Reason: why})
	c.forget(p)
}

// shutdown says Goodbye to everybody.
func (c *connections) shutdown() {
	for _, p := range c.order {
		c.leave(p, push.Shutdown)
		c.attest(p)
	}
}

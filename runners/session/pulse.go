package session

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// gap is the time between two frames of the runner after the exchange of Hellos:
// three quarters of the validator's limit (wire, Heartbeat). The rest covers
// changes of this time by the network.
func (m *Machine) gap() time.Duration {
	frames := time.Duration(max(m.head.Params.ControlFramesPerSecond, 1))
	return (4*time.Second + 3*frames - 1) / (3 * frames)
}

// rhythm is the longest time between two pings: a block time more than the number of
// blocks for which the chain asks for a ping. Without that block time, most pings
// would come from this limit and not from a new height, and twice per height if blocks
// are late.
func (m *Machine) rhythm() time.Duration {
	each := m.head.Params.BlockTime()
	if each <= 0 {
		return onDemand * time.Duration(min(m.heights(), uint64(time.Hour/onDemand)))
	}
	return each * time.Duration(min(m.heights(), uint64(time.Hour/each)+1)+1)
}

// height returns the highest height known to the runner, by its view or by this
// validator's pongs. Others' pongs do not count: a liar only makes the runner ping the
// liar.
func (m *Machine) height(p *peer) types.Height { return max(m.head.Height, p.heard) }

// rise advances to a head of the view. Validators for which it is new are pinged
// together, by one signature.
func (m *Machine) rise(h *chainview.Head) {
	before := m.head
	m.head = h
	if before == nil || h.Height == before.Height {
		return
	}
	at := m.now.Add(m.hush())
	for _, p := range m.peers {
		if h.Height > p.heard && uint64(max(before.Height, p.heard)-p.pinged) < m.heights() {
			p.ripe = at
		}
	}
}

// hush returns the random time for which a runner keeps a new height to itself. All
// runners learn the height of a final block at once, and validators' pushes go first.
func (m *Machine) hush() time.Duration {
	most := m.head.Params.PingSpread()
	if most <= 0 {
		return 0
	}
	return time.Duration(m.config.Chance.Int64N(int64(most) + 1))
}

// speaks is when something is to be said next.
func (m *Machine) speaks(p *peer) types.Time {
	soonest := p.lived // nothing was said yet
	if p.said {
		soonest = p.spoke.Add(m.gap())
	}
	if p.loads != m.loads || p.nonce == 0 {
		return soonest
	}
	due := p.beat.Add(m.rhythm())
	if p.told != m.changes.version {
		due = min(due, p.tells)
	}
	if m.news(p) {
		due = min(due, p.ripe)
	}
	return max(soonest, due)
}

// news reports whether a new height asks for a ping.
func (m *Machine) news(p *peer) bool {
	return uint64(m.height(p)-p.pinged) >= m.heights()
}

// heights is how many new heights ask for a ping.
func (m *Machine) heights() uint64 { return max(m.head.Params.HeartbeatBlocks, 1) }

// speak sends the due frame: first a change of the runner's bit, then its
// capabilities, then a ping.
func (m *Machine) speak(p *peer) {
	if m.now < m.speaks(p) {
		return
	}
	switch {
	case p.loads != m.loads:
		p.loads = m.loads
		m.send(p, &m.load)
	case p.told != m.changes.version && m.now >= p.tells:
		p.told = m.changes.version
		f := m.delta()
		long := push.Long(len(push.Write(f)))
		p.tells = m.now.Add(time.Second * time.Duration(long) / push.LongBytesPerSecond)
		m.send(p, f)
	default:
		m.ping(p)
	}
	p.spoke, p.said = m.now, true
}

// ping reports the runner's presence. The height comes from its own view, since the
// chain may take the ping as its heartbeat (decision J18). It names no validator, so
// that one signature does for all: signing for each is what many connections cost most.
//
// Spec: CIP-11 §6.3.
func (m *Machine) ping(p *peer) {
	if m.pinged.BlockHeight != m.head.Height || m.pinged.Nonce <= p.nonce {
		m.pinged = push.HeartbeatPing{BlockHeight: m.head.Height, Nonce: m.pinged.Nonce + 1}
		m.pinged.Signed = m.config.Signer.Sign(m.pinged.Digest(m.config.ChainID))
		m.beating = push.Write(&m.pinged)
	}
	p.nonce, p.pinged, p.beat = m.pinged.Nonce, m.height(p), m.now
	m.do(connection.Send{ID: p.id, Stream: connection.Control, Frame: m.beating})
}

// onPong takes note of the validator's head, and reports whether the pong is good.
func (m *Machine) onPong(p *peer, f *push.HeartbeatPong) bool {
	if !m.signed(p, m.digestOf(f), f.ValidatorSigned) {
		m.leave(p, push.BadSignature)
		return false
	}
	if f.BlockHeight > m.height(p) && !m.news(p) {
		p.ripe = m.now.Add(m.hush())
	}
	p.heard = max(p.heard, f.BlockHeight)
	return true
}

// told is what validators sign of a head for this runner: one for all of them.
type told struct {
	height types.Height
	digest types.Hash // zero before the first
}

// digestOf is what a pong's sender signed.
func (m *Machine) digestOf(f *push.HeartbeatPong) types.Hash {
	if m.told.digest.IsZero() || m.told.height != f.BlockHeight {
		m.told = told{f.BlockHeight, f.Digest(m.config.ChainID, m.config.Signer.PublicKey())}
	}
	return m.told.digest
}

// delta is all that changed since the runner started: what was said on a connection
// is forgotten with it.
func (m *Machine) delta() *push.CapabilityDelta {
	f := &push.CapabilityDelta{BlockHeight: m.head.Height,
		AddedCapabilities: m.changes.capabilities.list(true), RemovedCapabilities: m.changes.capabilities.list(false),
		AddedEntitlements: m.changes.entitlements.list(true), RemovedEntitlements: m.changes.entitlements.list(false)}
	f.Signed = m.config.Signer.Sign(f.Digest(m.config.ChainID))
	return f
}

// changes is what came and went.
type changes struct {
	version      uint64
	capabilities named
	entitlements named
}

// named stores whether names are present, in the order of their first mention.
type named []struct {
	name  string
	there bool
}

func (c *changes) apply(e *Changed) {
	c.version++
	c.capabilities.note(e.AddedCapabilities, true)
	c.capabilities.note(e.RemovedCapabilities, false)
	c.entitlements.note(e.AddedEntitlements, true)
	c.entitlements.note(e.RemovedEntitlements, false)
}

func (n *named) note(names []string, there bool) {
next:
	for _, name := range names {
		for i := range *n {
			if (*n)[i].name == name {
				(*n)[i].there = there
				continue next
			}
		}
		if len(*n) < MaxChanges {
			*n = append(*n, struct {
				name  string
				there bool
			}{name, there})
		}
	}
}

func (n named) list(there bool) []string {
	names := []string{}
	for _, each := range n {
		if each.there == there {
			names = append(names, each.name)
		}
	}
	return names
}

package session

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// frameGap is the time between two frames of the runner after the exchange of Hellos:
// three quarters of the validator's limit (wire, Heartbeat). The rest covers
// changes of this time by the network.
func (m *Machine) frameGap() time.Duration {
	frames := time.Duration(max(m.head.Params.ControlFramesPerSecond, 1))
	return (4*time.Second + 3*frames - 1) / (3 * frames)
}

// pingRhythm is the longest time between two pings: a block time more than the number of
// blocks for which the chain asks for a ping. Without that block time, most pings
// would come from this limit and not from a new height, and twice per height if blocks
// are late.
func (m *Machine) pingRhythm() time.Duration {
	each := m.head.Params.BlockTime()
	if each <= 0 {
		return onDemand * time.Duration(min(m.heightsPerPing(), uint64(time.Hour/onDemand)))
	}
	return each * time.Duration(min(m.heightsPerPing(), uint64(time.Hour/each)+1)+1)
}

// highestHeight returns the highest height known to the runner, by its view or by this
// validator's pongs. Others' pongs do not count: a liar only makes the runner ping the
// liar.
func (m *Machine) highestHeight(p *peer) types.Height { return max(m.head.Height, p.heard) }

// riseTo advances to a head of the view. Validators for which it is new are pinged
// together, by one signature.
func (m *Machine) riseTo(h *chainview.Head) {
	before := m.head
	m.head = h
	if before == nil || h.Height == before.Height {
		return
	}
	at := m.now.Add(m.randomHush())
	for _, p := range m.peers {
		if h.Height > p.heard && uint64(max(before.Height, p.heard)-p.pinged) < m.heightsPerPing() {
			p.ripe = at
		}
	}
}

// randomHush returns the random time for which a runner keeps a new height to itself. All
// runners learn the height of a final block at once, and validators' pushes go first.
func (m *Machine) randomHush() time.Duration {
	most := m.head.Params.PingSpread()
	if most <= 0 {
		return 0
	}
	return time.Duration(m.config.Chance.Int64N(int64(most) + 1))
}

// nextSpeakTime is when something is to be said next.
func (m *Machine) nextSpeakTime(p *peer) types.Time {
	soonest := p.lived // nothing was said yet
	if p.said {
		soonest = p.spoke.Add(m.frameGap())
	}
	if p.loads != m.loads || p.nonce == 0 {
		return soonest
	}
	due := p.beat.Add(m.pingRhythm())
	if p.told != m.changes.version {
		due = min(due, p.tells)
	}
	if m.hasNews(p) {
		due = min(due, p.ripe)
	}
	return max(soonest, due)
}

// hasNews reports whether a new height asks for a ping.
func (m *Machine) hasNews(p *peer) bool {
	return uint64(m.highestHeight(p)-p.pinged) >= m.heightsPerPing()
}

// heightsPerPing is how many new heights ask for a ping.
func (m *Machine) heightsPerPing() uint64 { return max(m.head.Params.HeartbeatBlocks, 1) }

// sendDueFrame sends the due frame: first a change of the runner's bit, then its
// capabilities, then a ping.
func (m *Machine) sendDueFrame(p *peer) {
	if m.now < m.nextSpeakTime(p) {
		return
	}
	switch {
	case p.loads != m.loads:
		p.loads = m.loads
		m.sendFrame(p, &m.load)
	case p.told != m.changes.version && m.now >= p.tells:
		p.told = m.changes.version
		f := m.wholeDelta()
		long := push.Long(len(push.Write(f)))
		p.tells = m.now.Add(time.Second * time.Duration(long) / push.LongBytesPerSecond)
		m.sendFrame(p, f)
	default:
		m.sendPing(p)
	}
	p.spoke, p.said = m.now, true
}

// sendPing reports the runner's presence. The height comes from its own view, since the
// chain may take the ping as its heartbeat (decision J18). It names no validator, so
// that one signature does for all: signing for each is what many connections cost most.
//
// Spec: CIP-11 §6.3.
func (m *Machine) sendPing(p *peer) {
	if m.pinged.BlockHeight != m.head.Height || m.pinged.Nonce <= p.nonce {
		m.pinged = push.HeartbeatPing{BlockHeight: m.head.Height, Nonce: m.pinged.Nonce + 1}
		m.pinged.Signed = m.config.Signer.Sign(m.pinged.Digest(m.config.ChainID))
		m.beating = push.Write(&m.pinged)
	}
	p.nonce, p.pinged, p.beat = m.pinged.Nonce, m.highestHeight(p), m.now
	m.addVerb(connection.Send{ID: p.id, Stream: connection.Control, Frame: m.beating})
}

// onPong takes note of the validator's head, and reports whether the pong is good.
func (m *Machine) onPong(p *peer, f *push.HeartbeatPong) bool {
	if !m.isSignedBy(p, m.digestOf(f), f.ValidatorSigned) {
		m.leavePeer(p, push.BadSignature)
		return false
	}
	if f.BlockHeight > m.highestHeight(p) && !m.hasNews(p) {
		p.ripe = m.now.Add(m.randomHush())
	}
	p.heard = max(p.heard, f.BlockHeight)
	return true
}

// signedHead is what validators sign of a head for this runner: one for all of them.
type signedHead struct {
	height types.Height
	digest types.Hash // zero before the first
}

// digestOf is what a pong's sender signed.
func (m *Machine) digestOf(f *push.HeartbeatPong) types.Hash {
	if m.told.digest.IsZero() || m.told.height != f.BlockHeight {
		m.told = signedHead{f.BlockHeight, f.Digest(m.config.ChainID, m.config.Signer.PublicKey())}
	}
	return m.told.digest
}

// wholeDelta is all that changed since the runner started: what was said on a connection
// is forgotten with it.
func (m *Machine) wholeDelta() *push.CapabilityDelta {
	f := &push.CapabilityDelta{BlockHeight: m.head.Height,
		AddedCapabilities: m.changes.capabilities.listNames(true), RemovedCapabilities: m.changes.capabilities.listNames(false),
		AddedEntitlements: m.changes.entitlements.listNames(true), RemovedEntitlements: m.changes.entitlements.listNames(false)}
	f.Signed = m.config.Signer.Sign(f.Digest(m.config.ChainID))
	return f
}

// changes is what came and went.
type changes struct {
	version      uint64
	capabilities namedPresence
	entitlements namedPresence
}

// namedPresence stores whether names are present, in the order of their first mention.
type namedPresence []struct {
	name  string
	there bool
}

func (c *changes) applyChange(e *Changed) {
	c.version++
	c.capabilities.noteNames(e.AddedCapabilities, true)
	c.capabilities.noteNames(e.RemovedCapabilities, false)
	c.entitlements.noteNames(e.AddedEntitlements, true)
	c.entitlements.noteNames(e.RemovedEntitlements, false)
}

func (n *namedPresence) noteNames(names []string, there bool) {
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

func (n namedPresence) listNames(there bool) []string {
	names := []string{}
	for _, each := range n {
		if each.there == there {
			names = append(names, each.name)
		}
	}
	return names
}

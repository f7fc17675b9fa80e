package gateway

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// onHead takes the newest final block: everybody is told of it, and what it changed
// is done.
func (m *Machine) onHead(h *Head) {
	if h.Height < m.head.Height {
		panic(fmt.Sprintf("gateway: the head falls from height %d to %d", m.head.Height, h.Height))
	}
	rose := uint64(h.Height - m.head.Height)
	m.blocks += rose - min(rose, h.Skipped)
	if h.Params.WriteTimeout != m.head.Params.WriteTimeout {
		m.do(connection.Patience{Write: h.Params.WriteTimeout})
	}
	m.head = h
	if !h.Params.connects() {
		m.shutdown()
	}
	for _, p := range m.order {
		if p.stage == live {
			m.place(p)
			m.settle(p)
			m.deliver(p)
			m.leaveDrained(p)
		}
		if p.stage == live {
			m.herald.add(m.now, p)
		}
		m.attest(p)
	}
	m.advanceAll()
}

// membership is what a runner's place in the subsets follows from, besides its key.
type membership struct {
	epoch    uint64
	overlaps bool
	known    bool
}

// place looks up whether a runner belongs to this validator: it is registered, has
// the stake, and this validator is in its subset, or during the overlap in its
// former one.
//
// Spec: CIP-11 §§5.2, 5.3, 6.2, decision J10.
func (m *Machine) place(p *peer) {
	rotation := m.head.Rotation
	now := membership{rotation.Epoch, rotation.Overlaps(m.head.Height, m.head.Pace), true}
	if p.membership != now { // a hash for each validator of the set
		p.membership = now
		p.member = rotation.Attests(p.key, m.config.Signer.Address(), m.head.Height, m.head.Pace)
		p.turn = m.turnOf(p)
	}
	registered := m.head.Reader.Runner(p.address)
	standing := push.Standing{InSubset: p.member}
	if registered != nil {
		standing.Registered = !registered.Deregistered
		standing.Staked = registered.Stake.Cmp(m.params().MinStake) >= 0
		p.index, p.mostJobs = registered.Index, registered.MaxJobs
	}
	p.misses = ""
	if err := standing.Check(); err != nil {
		p.misses = push.ReasonOf(err)
	}
}

// turnOf is this validator's place in a runner's subset; behind the last where it is
// in the former one alone.
func (m *Machine) turnOf(p *peer) int {
	subset := m.head.Rotation.Current.Subset(p.key)
	for i, at := range subset {
		if m.head.Rotation.Current.Members[at].Address == m.config.Signer.Address() {
			return i
		}
	}
	return len(subset)
}

// serves reports whether the runner belonged to this validator at the last look.
func (p *peer) serves() bool { return p.misses == "" }

// leaveDrained lets go of a runner that does not belong here any more, when none of
// its jobs is open here (CIP-11 §11.4).
func (m *Machine) leaveDrained(p *peer) {
	if p.stage == live && !p.serves() && p.openStreams() == 0 {
		m.leave(p, p.misses)
	}
}

// pong tells a runner the head. One of each head is signed.
//
// Spec: CIP-11 §6.3, decision J13.
func (m *Machine) pong(p *peer) {
	if p.ponged == nil || p.pongedAt != m.head.Height {
		f := &push.HeartbeatPong{BlockHeight: m.head.Height}
		f.ValidatorSigned = m.sign(f.Digest(m.config.ChainID, p.key))
		p.ponged, p.pongedAt = push.Write(f), m.head.Height
	}
	m.do(connection.Send{ID: p.id, Stream: connection.Control, Frame: p.ponged})
}

// assignment finds an open assignment of a runner.
func (m *Machine) assignment(runner types.Address, id AssignmentID) *Assignment {
	all := m.head.Reader.Assignments(runner)
	for i := range all {
		if all[i].AssignmentID == id {
			return &all[i]
		}
	}
	return nil
}

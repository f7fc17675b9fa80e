package catchup

import (
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Config is what a machine is made of.
type Config struct {
	Self    types.Address
	Timeout time.Duration // how long an answer may take, above 0
	Root    Root
}

// Machine is one validator's catch-up. Only Step drives it.
type Machine struct {
	cfg    Config
	root   Root
	active bool
	now    types.Time
	out    *Output

	pollAt types.Time   // when a follower asks again for more
	proven types.Height // a certificate names a final block this high
	peers  []peer       // who can be asked, in the order they became known
	turn   int

	fetching *fetch // the range that is fetched, one ahead of working
	working  *work
	lastID   uint64
}

// peer is a validator that can be asked for blocks.
type peer struct {
	address types.Address
	claim   types.Height // how far it says to be
	until   types.Time   // the peer is left out until then
}

// fetch is a request, and its answer once that came.
type fetch struct {
	peer   types.Address
	from   types.Height
	expiry types.Time
	poll   bool // no peer said that it has more
	batch  *Batch
}

// work is a batch that is verified and applied.
type work struct {
	id       uint64
	peer     types.Address
	verified *VerifiedBatch
}

// New returns a machine that has nothing to do yet.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg, root: cfg.Root}
	m.addMembers(&cfg.Root.Set)
	return m
}

// Step takes one event at the time now and returns what has to be done.
func (m *Machine) Step(now types.Time, event Event) Output {
	var out Output
	m.out, m.now = &out, max(now, m.now)
	switch e := event.(type) {
	case Behind:
		m.handleBehind(e)
	case Answer:
		m.handleAnswer(e)
	case Verified:
		m.handleVerified(e)
	case Refused:
		m.dropFailedBatch(e.ID)
	case Applied:
		m.handleApplied(e)
	case Rejected:
		m.dropFailedBatch(e.ID)
	case Finalized:
		m.handleFinalized(e.Root)
	}
	m.goOn()
	m.out = nil
	return out
}

// Deadline is when Step wants a Tick, or types.Never.
func (m *Machine) Deadline() types.Time {
	if !m.active {
		if m.isOutsideSet() {
			return m.pollAt
		}
		return types.Never
	}
	if m.fetching != nil {
		if m.fetching.batch != nil {
			return types.Never
		}
		return m.fetching.expiry
	}
	if m.working != nil && m.working.verified == nil || !m.hasPeerClaiming(m.nextHeight()) {
		return types.Never
	}
	at := types.Never
	for i := range m.peers {
		if m.peers[i].until > m.now {
			at = min(at, m.peers[i].until)
		}
	}
	return at
}

// goOn does the steps that the state allows: it gives up late peers, hands on a
// received batch, asks for the next, and ends if no peer has more.
func (m *Machine) goOn() {
	if m.isOutsideSet() && m.now >= m.pollAt && m.fetching == nil && m.working == nil && !m.hasPeerClaiming(m.nextHeight()) {
		m.pollNextPeer()
	}
	if !m.active {
		return
	}
	if f := m.fetching; f != nil && f.batch == nil && m.now >= f.expiry {
		m.leaveOutFor(f.peer, lateTimeouts)
		m.fetching = nil
	}
	if f := m.fetching; f != nil && f.batch != nil && m.working == nil {
		m.fetching = nil
		m.lastID++
		m.working = &work{id: m.lastID, peer: f.peer}
		m.out.Ask = append(m.out.Ask, Verify{ID: m.lastID, Batch: f.batch, Root: m.root})
	}
	m.requestNextRange()
	if m.fetching == nil && m.working == nil && !m.hasPeerClaiming(m.root.Block.Header.Height+1) {
		m.active = false
		m.out.Report = append(m.out.Report, Done{m.root})
	}
}

// isOutsideSet reports whether this validator is not in the set that decides on the next
// block. No peer sends it news of blocks then: it has to ask.
func (m *Machine) isOutsideSet() bool { return m.root.Set.Index(m.cfg.Self) < 0 }

// pollNextPeer asks the next peer in turn whether there are more blocks.
func (m *Machine) pollNextPeer() {
	m.pollAt = m.now.Add(m.cfg.Timeout)
	for i := range m.peers {
		at := (m.turn + i) % len(m.peers)
		if p := &m.peers[at]; p.until <= m.now {
			m.turn, m.active = at+1, true
			m.sendRequest(p.address, true)
			return
		}
	}
}

// nextHeight is the height after all that is held.
func (m *Machine) nextHeight() types.Height {
	if m.working != nil && m.working.verified != nil {
		blocks := m.working.verified.blocks
		return blocks[len(blocks)-1].Header.Height + 1
	}
	return m.root.Block.Header.Height + 1
}

// hasPeerClaiming reports whether a peer is known to have, or claims, the block at h.
func (m *Machine) hasPeerClaiming(h types.Height) bool {
	if m.proven >= h {
		return true
	}
	for i := range m.peers {
		if m.peers[i].claim >= h {
			return true
		}
	}
	return false
}

// requestNextRange asks for the range after the held blocks, unless a request is out or the
// batch before it is not verified yet.
func (m *Machine) requestNextRange() {
	if m.fetching != nil || m.working != nil && m.working.verified == nil {
		return
	}
	if p := m.choosePeerFor(m.nextHeight()); p != nil {
		m.sendRequest(p.address, false)
	}
}

func (m *Machine) sendRequest(peer types.Address, poll bool) {
	from := m.nextHeight()
	m.fetching = &fetch{peer: peer, from: from, expiry: m.now.Add(m.cfg.Timeout), poll: poll}
	m.out.Send = append(m.out.Send, Send{To: peer, Request: &RangeRequest{From: from, To: from + MaxBatchBlocks - 1}})
}

// choosePeerFor returns the next peer in turn that claims to have the block at h or, if
// that is proven to be final, the next peer; nil when all are left out.
func (m *Machine) choosePeerFor(h types.Height) *peer {
	for _, claimed := range []bool{true, false} {
		if !claimed && m.proven < h {
			return nil
		}
		for i := range m.peers {
			at := (m.turn + i) % len(m.peers)
			if p := &m.peers[at]; p.until <= m.now && (!claimed || p.claim >= h) {
				m.turn = at + 1
				return p
			}
		}
	}
	return nil
}

// handleBehind takes a claim of a peer, or a proof. The proof may come from this
// validator, which can complete the finalization of a block that it lacks.
func (m *Machine) handleBehind(e Behind) {
	if e.Height <= m.root.Block.Header.Height {
		return
	}
	p := m.findOrAddPeer(e.Peer) // nil for itself
	if p != nil {
		p.claim = max(p.claim, e.Height)
	}
	if e.Proven {
		m.proven = max(m.proven, e.Height)
	}
	m.active = m.active || p != nil || e.Proven
}

// findOrAddPeer finds or adds a peer. A full list forgets the first peer that is not in the
// set; nil if all are members.
func (m *Machine) findOrAddPeer(a types.Address) *peer {
	for i := range m.peers {
		if m.peers[i].address == a {
			return &m.peers[i]
		}
	}
	if a == m.cfg.Self || len(m.peers) >= MaxPeers && !m.forgetOne() {
		return nil
	}
	m.peers = append(m.peers, peer{address: a})
	return &m.peers[len(m.peers)-1]
}

// forgetOne makes room for a peer: a peer that left the set serves blocks only for
// a while.
func (m *Machine) forgetOne() bool {
	for i := range m.peers {
		if a := m.peers[i].address; m.root.Set.Index(a) < 0 && (m.fetching == nil || m.fetching.peer != a) {
			m.peers = slices.Delete(m.peers, i, i+1)
			return true
		}
	}
	return false
}

func (m *Machine) addMembers(set *types.ValidatorSet) {
	for i := range set.Members {
		m.findOrAddPeer(set.Members[i].Address)
	}
}

// handleAnswer takes the batch that a peer was asked for, only from that peer.
func (m *Machine) handleAnswer(e Answer) {
	f := m.fetching
	if f == nil || f.peer != e.From || f.batch != nil || e.Batch == nil || e.Batch.From != f.from {
		return // the late answer to another request, or one that earns a timeout
	}
	if len(e.Batch.Blocks) == 0 {
		m.fetching = nil
		if f.poll {
			m.active = m.hasPeerClaiming(m.nextHeight())
		} else {
			m.leaveOutFor(f.peer, lateTimeouts)
		}
		return
	}
	f.batch = e.Batch
}

func (m *Machine) handleVerified(e Verified) {
	if w := m.working; w != nil && w.id == e.ID && w.verified == nil && len(e.Batch.blocks) > 0 {
		w.verified = &e.Batch
		m.out.Ask = append(m.out.Ask, Apply{ID: w.id, Batch: e.Batch})
	}
}

// dropFailedBatch drops a batch that was refused or rejected, and what was fetched ahead
// of it.
func (m *Machine) dropFailedBatch(id uint64) {
	w := m.working
	if w == nil || w.id != id {
		return
	}
	m.working, m.fetching = nil, nil
	m.punishLiar(w.peer)
}

func (m *Machine) punishLiar(a types.Address) {
	m.leaveOutFor(a, lyingTimeouts)
	m.out.Report = append(m.out.Report, Lied{a})
}

// leaveOutFor leaves a peer out for a number of timeouts and forgets its claim.
func (m *Machine) leaveOutFor(a types.Address, timeouts time.Duration) {
	if p := m.findOrAddPeer(a); p != nil {
		p.claim = 0
		p.until = m.now.Add(timeouts * m.cfg.Timeout)
	}
}

func (m *Machine) handleApplied(e Applied) {
	w := m.working
	if w == nil || w.id != e.ID || w.verified == nil {
		return
	}
	m.working = nil
	last := len(w.verified.blocks) - 1
	block := w.verified.blocks[last]
	if block.Header.Height <= m.root.Block.Header.Height {
		return
	}
	root := Root{Block: block, Hash: w.verified.hashes[last], Finalization: w.verified.finalization, Set: m.root.Set}
	if block.Header.Border() {
		if e.Next == nil || !block.Header.Precedes(e.Next) {
			return
		}
		previous := root.Set
		root.Set, root.Previous = *e.Next, &previous
		m.addMembers(&root.Set)
	}
	m.root = root
	m.pollAt = m.now // there may be more
	if root.Finalization != nil {
		m.out.Report = append(m.out.Report, Moved{root})
	}
}

// handleFinalized takes a root that consensus reached; blocks fetched for lower heights
// are dropped.
func (m *Machine) handleFinalized(root Root) {
	if root.Block == nil || root.Block.Header.Height <= m.root.Block.Header.Height {
		return
	}
	m.root = root
	m.addMembers(&root.Set)
	m.working, m.fetching = nil, nil
}

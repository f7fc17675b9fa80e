package session

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Verifier judges signatures (decision C10).
type Verifier interface {
	Recover(digest types.Hash, sig types.Signature) (signer types.Address, ok bool)
}

// Config is what a machine is made of.
type Config struct {
	ChainID  uint64
	Signer   crypto.Signer // of the runner
	Verifier Verifier
	// Chance makes the nonces that validators sign, and spreads attempts to dial.
	// No outsider may predict it.
	Chance *rand.Rand
}

// Machine is all connections of one runner.
type Machine struct {
	config   Config
	head     *chainview.Head // nil before the first
	standing standing
	stopped  bool

	peers  []*peer            // sorted by address
	due    []types.Time       // when each of peers needs attention next, as of the last step
	opened []openedConnection // the connections that are begun and not over
	lastID connection.ID

	load    push.BackpressureSignal
	loads   uint64 // versions of it; 0: nothing was said
	changes changes
	pinged  push.HeartbeatPing // the last one, of all connections
	beating []byte             // its frame
	told    signedHead         // of the pong that came last

	now types.Time
	out Output
}

// openedConnection is a connection under its name. A runner has so few that a list finds one
// sooner than a map.
type openedConnection struct {
	id   connection.ID
	peer *peer
}

// findPeer returns the validator at the other end of a connection, nil if the connection
// is over.
func (m *Machine) findPeer(id connection.ID) *peer {
	for i := range m.opened {
		if m.opened[i].id == id {
			return m.opened[i].peer
		}
	}
	return nil
}

// New returns a machine without a head of the chain.
func New(config Config) *Machine {
	return &Machine{config: config}
}

// Step takes an event; times never decrease.
func (m *Machine) Step(now types.Time, e Event) Output {
	m.now = now
	if c, is := e.(Connection); is {
		m.onConnection(c.Event)
		return m.takeOutput()
	}
	switch e := e.(type) {
	case Head:
		m.onHead(e.Head)
	case Fault:
		if p := m.findPeer(e.ID); p != nil {
			m.leavePeer(p, e.Reason)
		}
	case Load:
		m.load = e.Signal
		m.loads++
	case Changed:
		m.changes.applyChange(&e)
	case Stop:
		m.leaveAll()
	case Answers:
		m.performVerbs(e.Do)
	case Tick:
	default:
		panic(fmt.Sprintf("session: an event of type %T", e))
	}
	m.attendAll()
	return m.takeOutput()
}

// onConnection takes what happens on a connection. It changes the due time only for
// its validator; the others get attention when their time has come.
func (m *Machine) onConnection(e connection.Event) {
	p := m.findPeer(e.Of())
	if p == nil {
		return // it is over for us
	}
	m.handleConnection(p, e)
	m.attendPeer(p)
	m.settleDeadline(p)
	if m.now >= m.Deadline() {
		m.attendAll()
	}
}

func (m *Machine) attendAll() {
	for _, p := range slices.Clone(m.peers) {
		m.attendPeer(p)
	}
	m.settleAll()
}

// settleDeadline notes when a validator needs attention next. The state of the others is
// unchanged: a step on a connection reads only its own validator, since those of
// thousands of runners do not fit into a fast cache.
func (m *Machine) settleDeadline(p *peer) {
	if i := slices.Index(m.peers, p); i >= 0 && len(m.due) == len(m.peers) {
		m.due[i] = m.deadlineOf(p)
		return
	}
	m.settleAll() // it is gone
}

func (m *Machine) settleAll() {
	m.due = m.due[:0]
	for _, p := range m.peers {
		m.due = append(m.due, m.deadlineOf(p))
	}
}

func (m *Machine) takeOutput() Output {
	out := m.out
	m.out = Output{}
	return out
}

// Deadline is when a Tick is due, or types.Never.
func (m *Machine) Deadline() types.Time {
	at := types.Never
	for _, due := range m.due {
		at = min(at, due)
	}
	return at
}

// Open is how many connections are begun and not over.
func (m *Machine) Open() int { return len(m.opened) }

func (m *Machine) addReport(r Report) { m.out.Report = append(m.out.Report, r) }

func (m *Machine) addVerb(v connection.Verb) {
	if m.out.Do == nil {
		m.out.Do = make([]connection.Verb, 0, mostlyDone)
	}
	m.out.Do = append(m.out.Do, v)
}

// mostlyDone is how many verbs have room from the first on: more than most steps have.
const mostlyDone = 4

// onHead records the validators that the runner belongs to.
func (m *Machine) onHead(h *chainview.Head) {
	first := m.head == nil
	if !first && h.Height < m.head.Height {
		panic(fmt.Sprintf("session: the head falls from height %d to %d", m.head.Height, h.Height))
	}
	if first || h.Params.WriteTimeoutMS != m.head.Params.WriteTimeoutMS {
		m.addVerb(connection.Patience{Write: h.Params.WriteTimeoutMS.Duration()})
	}
	m.riseTo(h)
	was := m.standing
	m.standing = standingOf(h)
	if m.stopped {
		return
	}
	for _, p := range m.peers {
		p.wanted = false
		if m.standing != was && p.refused {
			p.refused, p.failures, p.next = false, 0, m.now
		}
	}
	for _, v := range wantedValidators(h) {
		m.wantValidator(v)
	}
}

// wantValidator takes note that the runner belongs to a validator.
func (m *Machine) wantValidator(v types.Validator) {
	at, known := slices.BinarySearchFunc(m.peers, v.Address, func(p *peer, want types.Address) int {
		return p.Address.Compare(want)
	})
	if !known {
		m.peers = slices.Insert(m.peers, at, &peer{Validator: v, next: m.now})
	}
	p := m.peers[at]
	p.wanted, p.Endpoint = true, v.Endpoint
}

// leaveAll leaves everybody.
func (m *Machine) leaveAll() {
	m.stopped = true
	for _, p := range m.peers {
		p.wanted = false
		m.leavePeer(p, push.Shutdown)
	}
}

// attendPeer does what is due for a validator: dials it, leaves it, pings it.
func (m *Machine) attendPeer(p *peer) {
	switch {
	case p.stage == apart && !p.wanted:
		m.peers = slices.DeleteFunc(m.peers, func(other *peer) bool { return other == p })
	case p.stage == apart:
		if m.now >= p.next && p.Endpoint != "" {
			m.dialPeer(p)
		}
	case p.stage == greeting && m.now >= p.due:
		m.leavePeer(p, push.Timeout)
	case p.stage == leaving && m.now >= p.due:
		m.closePeer(p, p.reason.Code(), p.reason)
	case p.stage == live && !p.wanted && len(p.streams) == 0:
		m.leavePeer(p, push.Shutdown)
	case p.stage == live:
		m.sendDueFrame(p)
	}
}

// deadlineOf returns the time at which a validator needs attention next.
func (m *Machine) deadlineOf(p *peer) types.Time {
	switch {
	case p.stage == apart && p.Endpoint != "":
		return p.next
	case p.stage == greeting, p.stage == leaving:
		return p.due
	case p.stage == live:
		return m.nextSpeakTime(p)
	}
	return types.Never
}

// dialPeer begins a connection.
func (m *Machine) dialPeer(p *peer) {
	m.lastID++
	p.connectionState = connectionState{id: m.lastID, streams: map[connection.Stream]*sides{}}
	p.stage = dialling
	m.opened = append(m.opened, openedConnection{p.id, p})
	m.addVerb(connection.Dial{ID: p.id, Endpoint: p.Endpoint})
}

// handleOver takes note that a connection ended, and when to dial again.
func (m *Machine) handleOver(p *peer, why string, ours bool) {
	m.addReport(Left{Validator: p.Address, Live: p.arrived, Reason: why, Ours: ours})
	if p.arrived {
		m.out.Jobs = append(m.out.Jobs, Stream{p.PublicKey, connection.Down{ID: p.id, Reason: why}})
	}
	if p.arrived && m.now >= p.lived.Add(steady) {
		p.failures = 0
	}
	m.opened = slices.DeleteFunc(m.opened, func(o openedConnection) bool { return o.id == p.id })
	p.stage = apart
	wait := min(firstWait<<min(p.failures, 16), maxWait)
	p.failures++
	if !ours && noPlace(why) {
		p.refused = true
		if !p.wanted || !hasPlace(m.head) || push.Reason(why) == push.UnsupportedVersion {
			wait = maxWait
		}
	}
	p.next = m.now.Add(m.spreadWait(wait))
}

// spreadWait returns a wait more or less a quarter of it, so that runners that lost a
// validator together do not reconnect together.
func (m *Machine) spreadWait(wait time.Duration) time.Duration {
	return wait*3/4 + time.Duration(m.config.Chance.Int64N(int64(wait/2)+1))
}

// noPlace reports whether a validator said that the chain has no place for this
// runner there, or that it speaks another version: nothing that another try soon
// would change, unless the validator's chain is behind this runner's view.
func noPlace(why string) bool {
	switch push.Reason(why) {
	case push.NotRegistered, push.InsufficientStake, push.NotInSubset, push.UnsupportedVersion:
		return true
	}
	return false
}

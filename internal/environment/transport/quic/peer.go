package quic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// errTooMany says that a peer has maxPending connections that said no hello.
var errTooMany = errors.New("quic: too many connections without a hello")

// peer is one validator to be connected with: its queues, its session and the
// loop that dials it.
type peer struct {
	types.Validator // Endpoint is the one it was made with
	transport       *Transport
	counters        counters
	gone            context.Context // ends when it is a peer no more
	leave           context.CancelFunc

	mu       sync.Mutex
	endpoint string
	resolved netip.AddrPort // what endpoint named when it was last looked up, or where it came from before; zero: nothing
	lane                    // of the process that is connected, or was last
	newer    lane           // of another process with the same key, while the first one's connection lasts
	pending  int            // connections without a hello
	vain     int            // attempts to dial since the peer was last heard
	changed  chan struct{}  // signals the loop: session or endpoint changed
}

// lane is what waits for one process of a peer, and its connection.
type lane struct {
	queues  [2]queue // by kind
	session *session // nil without a connection
}

func newLane() (l lane) {
	l.queues[prompt] = queue{maxFrames: queueFrames, maxBytes: promptQueueBytes}
	l.queues[bulk] = queue{maxFrames: queueFrames, maxBytes: bulkQueueBytes}
	return l
}

func newPeer(t *Transport, v types.Validator) *peer {
	p := &peer{Validator: v, transport: t, changed: make(chan struct{}, 1), lane: newLane(), newer: newLane()}
	p.gone, p.leave = context.WithCancel(t.ctx)
	return p
}

// wakeReceiver wakes the receiver of a channel of capacity one.
func wakeReceiver(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

func (p *peer) setEndpoint(endpoint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endpoint != endpoint {
		p.endpoint = endpoint
		p.resolved, _ = netip.ParseAddrPort(endpoint) // a host name has no address before the look-up
		p.resolved = plainAddress(p.resolved)
		wakeReceiver(p.changed)
	}
}

// lookUp finds out where an endpoint is now: a host that moves keeps its name.
func (p *peer) lookUp(endpoint string) (*net.UDPAddr, error) {
	address, err := net.ResolveUDPAddr("udp", endpoint)
	if err != nil {
		return nil, fmt.Errorf("quic: endpoint %q of %v: %w", endpoint, p.Address, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endpoint == endpoint {
		p.resolved = plainAddress(address.AddrPort())
	}
	return address, nil
}

// isAt reports whether the peer's endpoint is an address, as far as is known.
func (p *peer) isAt(address netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resolved == address
}

// liveSession returns the session, or nil.
func (p *peer) liveSession() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// dialsFirst reports whether this side dials the pair's connection.
func (p *peer) dialsFirst() bool { return p.transport.signer.Address().Compare(p.Address) < 0 }

// queueFrame queues a frame. Without a connection it waits at most patience for one:
// a connection that is about to come up, at a start above all, loses nothing.
func (p *peer) queueFrame(frame []byte) {
	kind := kindOf(frame)
	if len(frame) == 0 || len(frame) > bulkBytes {
		p.counters.framesDropped.Add(1)
		return
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putInLane(&p.lane, kind, frame, now)
	if p.newer.session != nil {
		p.putInLane(&p.newer, kind, frame, now)
	}
}

// putInLane queues a frame in a lane.
func (p *peer) putInLane(l *lane, kind kind, frame []byte, now time.Time) {
	q := &l.queues[kind]
	if l.session == nil {
		p.counters.framesDropped.Add(q.dropOlderThan(now.Add(-patience)))
	}
	if !q.pushFrame(frame, now) {
		p.counters.framesDropped.Add(1)
		return
	}
	if l.session != nil {
		wakeReceiver(l.session.wake[kind])
	}
}

// takeFrames gives a session's writer its next frames, or none when there is none or
// the session is not the peer's any more.
func (p *peer) takeFrames(s *session, kind kind, batch [][]byte) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch s {
	case p.session:
		return p.queues[kind].takeBatch(batch, coalesceBytes)
	case p.newer.session:
		return p.newer.queues[kind].takeBatch(batch, coalesceBytes)
	}
	return batch
}

// admitSession makes a session that both sides said hello on the peer's, unless the
// one it has is to stay. It returns the one it replaced. A session that is over, which a
// reader may learn late, is ignored: its end was handled.
//
// A session of another process with the peer's key replaces none of the first process.
// Both get all frames, so that the first one can say that it lives (decision C5).
func (p *peer) admitSession(s *session) (replaced *session, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone.Err() != nil || s.over {
		return nil, false
	}
	l := &p.lane
	if p.session != nil && p.session.process != s.process {
		l = &p.newer
	}
	if l.session != nil && l.session.process == s.process && p.dialledByLower(l.session) && !p.dialledByLower(s) {
		return nil, false
	}
	replaced, l.session, p.vain = l.session, s, 0
	p.counters.connects.Add(1)
	expired := time.Now().Add(-patience)
	for kind := range l.queues {
		p.counters.framesDropped.Add(l.queues[kind].dropOlderThan(expired))
		wakeReceiver(s.wake[kind])
	}
	wakeReceiver(p.changed)
	return replaced, true
}

func (p *peer) dialledByLower(s *session) bool { return s.dialled == p.dialsFirst() }

// endSession takes a session that is over from the peer.
func (p *peer) endSession(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.over = true
	switch {
	case p.newer.session == s:
		p.newer = newLane()
	case p.session == s && p.newer.session != nil:
		p.lane, p.newer = p.newer, newLane()
	case p.session == s:
		p.session = nil
		wakeReceiver(p.changed)
	}
}

// maintainConnection keeps the peer connected until it is one no more.
func (p *peer) maintainConnection() {
	wait := newBackoff(p.dialsFirst())
	for p.gone.Err() == nil {
		p.mu.Lock()
		endpoint, connected := p.endpoint, p.session != nil
		p.mu.Unlock()
		switch {
		case connected:
			wait = newBackoff(p.dialsFirst())
			p.pauseFor(-1)
		case endpoint == "":
			p.pauseFor(-1)
		case wait.first > 0: // give the other side time to dial, and know it by its address
			if _, err := p.lookUp(endpoint); err != nil {
				p.transport.log.Debug("not found", "peer", p.Address, "error", err)
			}
			if p.pauseFor(wait.first) {
				wait.first = 0
			}
		default:
			p.attemptOnce(endpoint, &wait)
		}
	}
}

// attemptOnce dials once, stays while the connection lasts, and then waits.
func (p *peer) attemptOnce(endpoint string, wait *backoff) {
	lasted, err := p.dialOnce(endpoint, wait.timeout)
	if lasted >= steady {
		*wait = newBackoff(p.dialsFirst())
		return
	}
	p.transport.log.Debug("dialled in vain", "peer", p.Address, "endpoint", endpoint, "error", err)
	p.pauseFor(wait.nextWait())
}

// pauseFor waits for d, without end if d is negative, and reports whether all of it
// passed; a change of the peer ends it early.
func (p *peer) pauseFor(d time.Duration) (whole bool) {
	var passed <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-passed:
		return true
	case <-p.changed:
	case <-p.gone.Done():
	}
	return false
}

// dialOnce makes one connection and stays with it until it ends. It returns for how
// long it was up, 0 if never, and why it is not any more.
func (p *peer) dialOnce(endpoint string, timeout time.Duration) (time.Duration, error) {
	address, err := p.lookUp(endpoint)
	if err != nil {
		return 0, err
	}
	tlsConfig := identity.Accepting(p.transport.client, p.expectKey)
	done, err := p.awaitTurn()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(p.gone, timeout)
	conn, err := p.transport.quic.Dial(ctx, address, tlsConfig, p.transport.config)
	cancel()
	done()
	if err != nil {
		return 0, fmt.Errorf("quic: dial %v at %s: %w", p.Address, endpoint, err)
	}
	return p.openSession(conn, true)
}

// awaitTurn waits until the peer may be dialled, which done ends. A peer that is down takes no
// turn: its dials cost next to nothing, and would hold up others.
func (p *peer) awaitTurn() (done func(), err error) {
	p.mu.Lock()
	p.vain++
	down := p.vain > vainAttempts
	p.mu.Unlock()
	if down {
		return func() {}, nil
	}
	return p.transport.turns.Take(p.gone)
}

// noteUp notes that the peer is up: it dialled, or a connection with it began.
func (p *peer) noteUp() {
	p.mu.Lock()
	p.vain = 0
	p.mu.Unlock()
}

// expectKey agrees only to the peer's key.
func (p *peer) expectKey(key types.PublicKey) error {
	if key != p.PublicKey {
		return fmt.Errorf("%w: %v", ErrNotPeer, key)
	}
	return nil
}

// openSession runs a connection to its end, and returns what dial does.
func (p *peer) openSession(conn *quic.Conn, dialled bool) (time.Duration, error) {
	p.mu.Lock()
	tooMany := p.pending >= maxPending
	if !tooMany {
		p.pending++
	}
	if from, is := conn.RemoteAddr().(*net.UDPAddr); is && !p.resolved.IsValid() {
		p.resolved = plainAddress(from.AddrPort()) // who comes before its name was looked up has shown its key from there
	}
	p.mu.Unlock()
	if tooMany {
		return 0, errors.Join(errTooMany, conn.CloseWithError(codeTooMany, "too many connections"))
	}
	s := newSession(p, conn, dialled)
	s.process = identity.Process(conn.ConnectionState().TLS)
	return s.runSession()
}

// endHelloWait ends the wait for a connection's hello.
func (p *peer) endHelloWait() {
	p.mu.Lock()
	p.pending--
	p.mu.Unlock()
}

// backoff is how long to wait between attempts, and for one.
type backoff struct {
	first   time.Duration // before the first attempt
	wait    time.Duration
	timeout time.Duration
}

func newBackoff(dialsFirst bool) backoff {
	b := backoff{wait: firstBackoff, timeout: dialTimeout}
	if !dialsFirst {
		b.first = fallbackDial
	}
	return b
}

// nextWait returns the wait after a failed attempt.
func (b *backoff) nextWait() time.Duration {
	wait := b.wait
	b.wait = min(2*b.wait, maxBackoff)
	b.timeout = min(2*b.timeout, maxDialTimeout)
	return wait
}

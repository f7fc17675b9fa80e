// Package lossy puts faults of links under real QUIC. A Conn wraps the UDP socket
// of a transport (quic.Config.WrapPacketConn) and delays, loses, doubles, reorders
// or cuts off the packets that it sends, by rules for each peer's address. It needs
// no privileges, since it is in the process.
//
// Rules apply to sent packets, so a fault in both directions is a rule at both
// ends, and a fault in one direction is one rule. Chance comes from a seed; the
// times do not, so that no run is like another.
//
// Invariants: without a rule for its address a packet goes straight to the socket,
// at the price of one atomic load. WriteTo never blocks on a rule. At most
// MaxPackets packets and MaxBytes bytes wait, and further packets are lost and
// counted. A packet that waits for a link that is cut meanwhile is lost. After
// Close no goroutine is left.
package lossy

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Limits of the packets that wait in one Conn.
const (
	MaxPackets = 16 << 10
	MaxBytes   = 16 << 20
)

// Rule is what happens to the packets for one address.
type Rule struct {
	Link       fault.Link
	LinkCounts *fault.Counts // effects of Link; nil if Link is the zero Link
	Cut        bool          // everything is lost
	CutCounts  *fault.Counts // effects of the cut; nil without one
}

// Conn is a net.PacketConn with faults.
type Conn struct {
	net.PacketConn
	rules atomic.Pointer[map[netip.AddrPort]*link] // nil while there is none; replaced, never changed
	dead  atomic.Bool

	mu     sync.Mutex
	told   map[netip.AddrPort]*tally // of the addresses that had a rule, at most maxTallies
	random *rand.Rand
	queue  waiting
	bytes  int
	number uint64
	closed bool
	wake   chan struct{} // of the sender; nil until it runs
	done   chan struct{}
}

// maxTallies bounds the addresses whose losses are counted: a peer that reconnects may
// have another one.
const maxTallies = 1 << 12

// tally counts what rules did to the packets for one address, whichever rule it was.
type tally struct{ dropped, delayed atomic.Uint64 }

// link is a rule, and the current state of the link.
type link struct {
	Rule
	*tally
	free time.Time // when its bandwidth is
	last time.Time // latest departure so far, of packets in order
}

// Wrap returns a Conn over a socket, without rules.
func Wrap(socket net.PacketConn, seed uint64) *Conn {
	return &Conn{PacketConn: socket, random: rand.New(rand.NewPCG(seed, 3))}
}

// SetRules replaces all rules. A link keeps the state of its bandwidth and order.
func (c *Conn) SetRules(rules map[netip.AddrPort]Rule) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(rules) == 0 {
		c.rules.Store(nil)
		return
	}
	before := c.rules.Load()
	links := make(map[netip.AddrPort]*link, len(rules))
	for to, rule := range rules {
		one := &link{Rule: rule, tally: c.tallyOf(plainAddress(to))}
		if before != nil {
			if old := (*before)[plainAddress(to)]; old != nil {
				one.free, one.last = old.free, old.last
			}
		}
		links[plainAddress(to)] = one
	}
	c.rules.Store(&links)
}

// tallyOf is the tally of an address. It is called with the lock held.
func (c *Conn) tallyOf(to netip.AddrPort) *tally {
	if t := c.told[to]; t != nil {
		return t
	}
	if c.told == nil || len(c.told) == maxTallies {
		c.told = map[netip.AddrPort]*tally{}
	}
	t := &tally{}
	c.told[to] = t
	return t
}

// Tally is how many packets for an address rules dropped and delayed, since the socket
// opened.
func (c *Conn) Tally(to netip.AddrPort) (dropped, delayed uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.told[plainAddress(to)]; t != nil {
		return t.dropped.Load(), t.delayed.Load()
	}
	return 0, 0
}

// Kill loses all that is sent from now on, what waits included, as the end of a
// process does: a transport that is closed afterwards says no goodbye.
func (c *Conn) Kill() {
	c.dead.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue, c.bytes = nil, 0
}

// plainAddress is an address as rules are looked up by: IPv4 in IPv6 is IPv4.
func plainAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// findLink returns the link to an address, or nil without a rule for it.
func (c *Conn) findLink(to net.Addr) *link {
	rules := c.rules.Load()
	if rules == nil {
		return nil
	}
	udp, ok := to.(*net.UDPAddr)
	if !ok {
		return nil
	}
	return (*rules)[plainAddress(udp.AddrPort())]
}

// WriteTo implements net.PacketConn. A packet that a rule loses counts as
// written, as on any network.
func (c *Conn) WriteTo(packet []byte, to net.Addr) (int, error) {
	if c.dead.Load() {
		return len(packet), nil
	}
	if l := c.findLink(to); l != nil {
		return c.applyRule(l, packet, to)
	}
	return c.PacketConn.WriteTo(packet, to)
}

// applyRule does with a packet what its link's rule says.
func (c *Conn) applyRule(l *link, packet []byte, to net.Addr) (int, error) {
	if l.Cut {
		l.dropped.Add(1)
		l.CutCounts.Dropped.Add(1)
		return len(packet), nil
	}
	if l.Link == (fault.Link{OneWay: l.Link.OneWay}) {
		return c.PacketConn.WriteTo(packet, to)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	now := time.Now()
	if c.drawChance(l.Link.Loss) {
		l.dropped.Add(1)
		l.LinkCounts.Dropped.Add(1)
		return len(packet), nil
	}
	c.enterWaiting(l, c.drawDeparture(l, len(packet), now), now, packet, to)
	if c.drawChance(l.Link.Duplicate) {
		l.LinkCounts.Duplicated.Add(1)
		c.enterWaiting(l, c.drawDeparture(l, 0, now).Add(c.upTo(l.Link.Latency+l.Link.Jitter)), now, packet, to)
	}
	return len(packet), nil
}

// drawDeparture draws when a packet leaves: in order, unless it is to be overtaken.
func (c *Conn) drawDeparture(l *link, size int, now time.Time) time.Time {
	at := now
	if l.Link.Bandwidth > 0 {
		if l.free.After(now) {
			at = l.free
		}
		at = at.Add(time.Duration(float64(size) / float64(l.Link.Bandwidth) * float64(time.Second)))
		l.free = at
	}
	at = at.Add(l.Link.Latency + c.upTo(l.Link.Jitter))
	if l.last.After(at) {
		at = l.last
	}
	if c.drawChance(l.Link.Reorder) {
		l.LinkCounts.Reordered.Add(1)
		return at.Add(c.upTo(l.Link.Latency + l.Link.Jitter + minOvertaken))
	}
	l.last = at
	return at
}

// minOvertaken is how late a reordered packet may be on a link without delay.
const minOvertaken = 2 * time.Millisecond

func (c *Conn) drawChance(p float64) bool { return p > 0 && c.random.Float64() < p }

func (c *Conn) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(c.random.Int64N(int64(d) + 1))
}

// enterWaiting lets a packet wait, or loses it where too much does.
func (c *Conn) enterWaiting(l *link, at, now time.Time, packet []byte, to net.Addr) {
	if len(c.queue) >= MaxPackets || c.bytes+len(packet) > MaxBytes {
		l.dropped.Add(1)
		l.LinkCounts.Dropped.Add(1)
		return
	}
	if at.After(now) {
		l.delayed.Add(1)
		l.LinkCounts.Delayed.Add(1)
	}
	c.number++
	c.bytes += len(packet)
	c.queue.pushWaiter(waiter{at, c.number, bytes.Clone(packet), to, l.LinkCounts})
	if c.wake == nil {
		c.wake, c.done = make(chan struct{}, 1), make(chan struct{})
		go c.sendDue(c.wake, c.done)
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// sendDue writes what waits when its time has come.
func (c *Conn) sendDue(wake, done chan struct{}) {
	defer close(done)
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		due, next, closed := c.takeDue(time.Now())
		if closed {
			return
		}
		for _, w := range due {
			c.sendPacket(w)
		}
		if len(due) > 0 {
			continue
		}
		timer.Reset(next)
		select {
		case <-timer.C:
		case <-wake:
		}
	}
}

// idle is how long the sender sleeps when nothing waits; a packet wakes it.
const idle = time.Hour

// takeDue takes the packets whose time has come, and says how far off the next is.
func (c *Conn) takeDue(now time.Time) (due []waiter, next time.Duration, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, 0, true
	}
	for len(c.queue) > 0 {
		if wait := c.queue[0].at.Sub(now); wait > 0 {
			return due, wait, false
		}
		w := c.queue.popWaiter()
		c.bytes -= len(w.packet)
		due = append(due, w)
	}
	return due, idle, false
}

// sendPacket writes a packet, unless its link was cut while it waited.
func (c *Conn) sendPacket(w waiter) {
	if c.dead.Load() {
		return
	}
	if l := c.findLink(w.to); l != nil && l.Cut {
		l.dropped.Add(1)
		l.CutCounts.Dropped.Add(1)
		return
	}
	if _, err := c.PacketConn.WriteTo(w.packet, w.to); err != nil {
		w.counts.Dropped.Add(1) // as a network would; the socket may be closed
	}
}

// Close closes the socket; waiting packets are lost.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	wake, done := c.wake, c.done
	c.mu.Unlock()
	err := c.PacketConn.Close()
	if wake != nil {
		select {
		case wake <- struct{}{}:
		default:
		}
		<-done
	}
	return err
}

// errNoSocket is that the connection below has not got what quic-go asks a
// socket for; it then does without.
var errNoSocket = errors.New("lossy: not a socket of the system")

// SetReadBuffer lets QUIC size the socket's buffer.
func (c *Conn) SetReadBuffer(bytes int) error {
	if s, ok := c.PacketConn.(interface{ SetReadBuffer(int) error }); ok {
		return s.SetReadBuffer(bytes)
	}
	return errNoSocket
}

// SetWriteBuffer lets QUIC size the socket's buffer.
func (c *Conn) SetWriteBuffer(bytes int) error {
	if s, ok := c.PacketConn.(interface{ SetWriteBuffer(int) error }); ok {
		return s.SetWriteBuffer(bytes)
	}
	return errNoSocket
}

// SyscallConn lets QUIC read back what it has set, and forbid fragments.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.PacketConn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errNoSocket
}

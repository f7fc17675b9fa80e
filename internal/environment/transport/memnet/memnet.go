// Package memnet is a network of packet sockets in memory, for tests of transports: in
// virtual time under testing/synctest, so that ten seconds take none.
package memnet

import (
	"net"
	"os"
	"sync"
	"time"
)

// Net is such a network.
type Net struct {
	mu    sync.Mutex
	next  int // port
	conns map[string]*Conn
	fate  Fate
}

// Fate says how long a packet travels, and whether it is lost; nil: a millisecond, none
// lost.
type Fate func(from, to string, size int) (delay time.Duration, lost bool)

// New returns a network without sockets.
func New() *Net { return &Net{next: 1000, conns: map[string]*Conn{}} }

// Listen opens a socket on a free port, or on the one it had before.
func (n *Net) Listen(port int) *Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == 0 {
		n.next++
		port = n.next
	}
	c := &Conn{net: n, addr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port},
		packets: make(chan packet, 4096), closed: make(chan struct{}), expired: make(chan struct{})}
	n.conns[c.addr.String()] = c
	return c
}

// SetFate decides on packets from now on.
func (n *Net) SetFate(fate Fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fate = fate
}

func (n *Net) sendTo(from *Conn, to string, data []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delay, lost := time.Millisecond, false
	if n.fate != nil {
		delay, lost = n.fate(from.addr.String(), to, len(data))
	}
	target := n.conns[to]
	if lost || target == nil {
		return
	}
	p := packet{from.addr, append([]byte{}, data...)}
	time.AfterFunc(delay, func() {
		select {
		case target.packets <- p:
		default: // its buffer is full
		}
	})
}

// packet is one under way.
type packet struct {
	from net.Addr
	data []byte
}

// Conn is a socket.
type Conn struct {
	net     *Net
	addr    *net.UDPAddr
	packets chan packet
	closed  chan struct{}
	once    sync.Once

	mu      sync.Mutex
	expired chan struct{} // closed while a read deadline has passed
}

// ReadFrom implements net.PacketConn.
func (c *Conn) ReadFrom(p []byte) (int, net.Addr, error) {
	c.mu.Lock()
	expired := c.expired
	c.mu.Unlock()
	select {
	case packet := <-c.packets:
		return copy(p, packet.data), packet.from, nil
	case <-expired:
		return 0, nil, os.ErrDeadlineExceeded
	case <-c.closed:
		return 0, nil, net.ErrClosed
	}
}

// WriteTo implements net.PacketConn.
func (c *Conn) WriteTo(p []byte, to net.Addr) (int, error) {
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	default:
	}
	c.net.sendTo(c, to.String(), p)
	return len(p), nil
}

// SetReadDeadline knows the two uses that quic-go has: now, and never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.expired:
		if t.IsZero() {
			c.expired = make(chan struct{})
		}
	default:
		if !t.IsZero() {
			close(c.expired)
		}
	}
	return nil
}

// Close implements net.PacketConn.
func (c *Conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.net.mu.Lock()
		defer c.net.mu.Unlock()
		if c.net.conns[c.addr.String()] == c {
			delete(c.net.conns, c.addr.String())
		}
	})
	return nil
}

// LocalAddr implements net.PacketConn.
func (c *Conn) LocalAddr() net.Addr { return c.addr }

// SetDeadline implements net.PacketConn.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements net.PacketConn.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// Move gives a socket another port: what is sent to the one it had is lost.
func (n *Net) Move(c *Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c.addr.String())
	n.next++
	c.addr = &net.UDPAddr{IP: c.addr.IP, Port: n.next}
	n.conns[c.addr.String()] = c
}

// Port returns the port of the address.
func (c *Conn) Port() int { return c.addr.Port }

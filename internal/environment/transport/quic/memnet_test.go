package quic

import (
	"net"
	"os"
	"sync"
	"time"
)

// memNet is a network of packet sockets in memory, in virtual time under
// testing/synctest.
type memNet struct {
	mu    sync.Mutex
	next  int // port
	conns map[string]*memConn
	// judge says how long a packet travels, and whether it is lost; nil: a
	// millisecond, none lost.
	judge func(from, to string, size int) (delay time.Duration, lost bool)
}

func newMemNet() *memNet { return &memNet{next: 1000, conns: map[string]*memConn{}} }

// listen opens a socket on a free port, or on the one it had before.
func (n *memNet) listen(port int) *memConn {
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == 0 {
		n.next++
		port = n.next
	}
	c := &memConn{net: n, addr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port},
		packets: make(chan memPacket, 4096), closed: make(chan struct{}), expired: make(chan struct{})}
	n.conns[c.addr.String()] = c
	return c
}

func (n *memNet) setJudge(judge func(from, to string, size int) (time.Duration, bool)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.judge = judge
}

func (n *memNet) send(from *memConn, to string, data []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delay, lost := time.Millisecond, false
	if n.judge != nil {
		delay, lost = n.judge(from.addr.String(), to, len(data))
	}
	target := n.conns[to]
	if lost || target == nil {
		return
	}
	p := memPacket{from.addr, append([]byte{}, data...)}
	time.AfterFunc(delay, func() {
		select {
		case target.packets <- p:
		default: // its buffer is full
		}
	})
}

type memPacket struct {
	from net.Addr
	data []byte
}

type memConn struct {
	net     *memNet
	addr    *net.UDPAddr
	packets chan memPacket
	closed  chan struct{}
	once    sync.Once

	mu      sync.Mutex
	expired chan struct{} // closed while a read deadline has passed
}

func (c *memConn) ReadFrom(p []byte) (int, net.Addr, error) {
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

func (c *memConn) WriteTo(p []byte, to net.Addr) (int, error) {
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	default:
	}
	c.net.send(c, to.String(), p)
	return len(p), nil
}

// SetReadDeadline knows the two uses that quic-go has: now, and never.
func (c *memConn) SetReadDeadline(t time.Time) error {
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

func (c *memConn) Close() error {
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

func (c *memConn) LocalAddr() net.Addr              { return c.addr }
func (c *memConn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *memConn) SetWriteDeadline(time.Time) error { return nil }

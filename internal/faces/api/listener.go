package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// limitedListener is a listener with at most cap(slots) open connections; further ones
// wait in the system's queue. It has at most each from one address, and refuses further
// ones at once: they would wait in the queue of all.
type limitedListener struct {
	net.Listener
	slots  chan struct{}
	each   int
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[netip.Prefix]int // at most cap(slots) entries
}

func limitListener(l net.Listener, n, each int) net.Listener {
	return &limitedListener{Listener: l, slots: make(chan struct{}, n), each: each, closed: make(chan struct{}), open: map[netip.Prefix]int{}}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		conn, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		from := originOf(conn.RemoteAddr())
		if l.admitConnection(from) {
			return &slot{Conn: conn, free: sync.OnceFunc(func() { l.releaseConnection(from) })}, nil
		}
		refuseConnection(conn, l.each)
		<-l.slots
	}
}

// admitConnection counts one more connection of an address.
func (l *limitedListener) admitConnection(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from] >= l.each {
		return false
	}
	l.open[from]++
	return true
}

func (l *limitedListener) releaseConnection(from netip.Prefix) {
	l.mu.Lock()
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
	l.mu.Unlock()
	<-l.slots
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// originOf is whose connection it is: an IPv4 address, or an IPv6 network of 64 bits, all
// of which one machine may have. All other addresses together are one origin.
func originOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// refuseConnection answers a connection without reading its request, and closes it. Its answer
// fits into the socket's buffer, so that it waits for no client.
func refuseConnection(c net.Conn, most int) {
	body, err := json.Marshal(model.Error{Error: model.ErrorBody{Code: "too_many_connections",
		Message: fmt.Sprintf("%d connections of this address are open already", most), Hint: "Close some of them."}})
	if err == nil {
		err = c.SetDeadline(time.Now().Add(refusalTimeout))
	}
	if err == nil {
		_, err = c.Write(answerOf(http.StatusServiceUnavailable, body))
	}
	_ = errors.Join(err, c.Close()) // the client is gone, which is as good
}

// refusalTimeout bounds what should take no time at all.
const refusalTimeout = 100 * time.Millisecond

type slot struct {
	net.Conn
	free func() // once
}

func (c *slot) Close() error {
	c.free()
	return c.Conn.Close()
}

package connections

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// end is what both ends have in common: their connections by name.
type end struct {
	log      *slog.Logger
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	wg       sync.WaitGroup // every goroutine
	large    chan struct{}  // a token for each large frame
	patience atomic.Int64   // time.Duration: how long a write may be blocked

	mu      sync.Mutex
	receive func(connection.Event) // nil before Start
	conns   map[connection.ID]*conn
	closed  bool
}

func (e *end) init(log *slog.Logger) {
	if e.log = log; log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.large = make(chan struct{}, largeFrames)
	e.conns = map[connection.ID]*conn{}
	e.patience.Store(int64(2 * time.Second)) // until Patience says otherwise
}

// startTelling begins to tell events.
func (e *end) startTelling(receive func(connection.Event)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.receive != nil {
		return fmt.Errorf("connections: started twice, or after its end")
	}
	e.receive = receive
	return nil
}

func (e *end) findConn(id connection.ID) *conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.conns[id]
}

// serveConn reports the events of a connection from Up to its end.
func (e *end) serveConn(c *conn, q *quic.Conn, peer types.PublicKey) {
	c.telling.Lock() // the receiver of Up may send, and no event precedes it
	if c.attachQUIC(q) {
		e.receive(connection.Up{ID: c.id, Peer: peer, Remote: addressOf(q.RemoteAddr())})
	}
	c.telling.Unlock()
	<-q.Context().Done()
	c.endWith(context.Cause(q.Context()))
}

// forgetConn takes a connection that is over from those that are known.
func (e *end) forgetConn(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, c.id)
}

// Do implements env.Connections. The Dialer handles Dial.
func (e *end) Do(v connection.Verb) {
	switch v := v.(type) {
	case connection.Patience:
		e.patience.Store(int64(v.Write))
	case connection.Admit:
		e.withConn(v.ID, func(c *conn) { c.admitted.Store(true) })
	case connection.Open:
		e.withConn(v.ID, func(c *conn) { c.openStream(v.Stream) })
	case connection.Send:
		e.withConn(v.ID, func(c *conn) { c.queueFrame(v.Stream, v.Frame) })
	case connection.End:
		e.withConn(v.ID, func(c *conn) { c.endStream(v.Stream) })
	case connection.Reset:
		e.withConn(v.ID, func(c *conn) { c.resetStream(v.Stream, v.Code) })
	case connection.Close:
		e.withConn(v.ID, func(c *conn) { c.closeNow(v.Code, v.Reason) })
	case connection.Taken:
		e.withConn(v.ID, (*conn).releaseFrameRoom)
	default:
		panic(fmt.Sprintf("connections: this end does no %T", v))
	}
}

func (e *end) withConn(id connection.ID, do func(*conn)) {
	if c := e.findConn(id); c != nil {
		do(c)
	}
}

// closeAll ends all connections and waits for every goroutine.
func (e *end) closeAll() {
	e.mu.Lock()
	e.closed = true
	conns := make([]*conn, 0, len(e.conns))
	for _, c := range e.conns {
		conns = append(conns, c)
	}
	e.mu.Unlock()
	e.cancel()
	for _, c := range conns {
		c.closeNow(connection.CodeDone, "shutdown")
	}
	e.wg.Wait()
}

// writeTime is how long a write may be blocked.
func (e *end) writeTime() time.Duration { return time.Duration(e.patience.Load()) }

// releaseLarge gives a large frame's token back.
func (e *end) releaseLarge(large bool) {
	if large {
		<-e.large
	}
}

// addressOf is the IP address of a peer, without its port.
func addressOf(a net.Addr) (address connection.Address) {
	if udp, is := a.(*net.UDPAddr); is {
		address = udp.AddrPort().Addr().As16()
	}
	return address
}

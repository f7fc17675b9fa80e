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

// start begins to tell events.
func (e *end) start(receive func(connection.Event)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.receive != nil {
		return fmt.Errorf("connections: started twice, or after its end")
	}
	e.receive = receive
	return nil
}

func (e *end) find(id connection.ID) *conn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.conns[id]
}

// serve reports the events of a connection from Up to its end.
func (e *end) serve(c *conn, q *quic.Conn, peer types.PublicKey) {
	c.telling.Lock() // the receiver of Up may send, and no event precedes it
	if c.attach(q) {
		e.receive(connection.Up{ID: c.id, Peer: peer, Remote: addressOf(q.RemoteAddr())})
	}
	c.telling.Unlock()
	<-q.Context().Done()
	c.down(context.Cause(q.Context()))
}

// forget takes a connection that is over from those that are known.
func (e *end) forget(c *conn) {
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
		e.with(v.ID, func(c *conn) { c.admitted.Store(true) })
	case connection.Open:
		e.with(v.ID, func(c *conn) { c.open(v.Stream) })
	case connection.Send:
		e.with(v.ID, func(c *conn) { c.send(v.Stream, v.Frame) })
	case connection.End:
		e.with(v.ID, func(c *conn) { c.end(v.Stream) })
	case connection.Reset:
		e.with(v.ID, func(c *conn) { c.reset(v.Stream, v.Code) })
	case connection.Close:
		e.with(v.ID, func(c *conn) { c.close(v.Code, v.Reason) })
	case connection.Taken:
		e.with(v.ID, (*conn).taken)
	default:
		panic(fmt.Sprintf("connections: this end does no %T", v))
	}
}

func (e *end) with(id connection.ID, do func(*conn)) {
	if c := e.find(id); c != nil {
		do(c)
	}
}

// shut ends all connections and waits for every goroutine.
func (e *end) shut() {
	e.mu.Lock()
	e.closed = true
	conns := make([]*conn, 0, len(e.conns))
	for _, c := range e.conns {
		conns = append(conns, c)
	}
	e.mu.Unlock()
	e.cancel()
	for _, c := range conns {
		c.close(connection.CodeDone, "shutdown")
	}
	e.wg.Wait()
}

// writeTime is how long a write may be blocked.
func (e *end) writeTime() time.Duration { return time.Duration(e.patience.Load()) }

// release gives a large frame's token back.
func (e *end) release(large bool) {
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

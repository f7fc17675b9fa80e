package connections

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// Gateway is a validator's end. It shares the socket of its mesh: package quic
// calls Refuses for each handshake, and hands over connections of the runners'
// protocol.
type Gateway struct {
	end

	counting sync.Mutex
	lastID   connection.ID
	under    int // handshakes and connections under way
	served   int // of them the connections
	since    time.Time
	began    map[connection.Address]int // handshakes since then
}

var _ env.Connections = (*Gateway)(nil)

// Why a connection is refused before it is one.
var (
	errFull  = errors.New("connections: there are too many")
	errStorm = errors.New("connections: too many handshakes of one address")
)

// NewGateway returns a validator's end, which accepts no connection before Start.
func NewGateway(log *slog.Logger) *Gateway {
	g := &Gateway{began: map[connection.Address]int{}}
	g.init(log)
	return g
}

// Start implements env.Connections.
func (g *Gateway) Start(receive func(connection.Event)) error { return g.startTelling(receive) }

// Close implements env.Connections.
func (g *Gateway) Close() error {
	g.closeAll()
	return nil
}

// TLS returns the configuration for the runners' protocol, with the certificate that
// config has. Any key is accepted: the peer is judged after its Hello.
func (g *Gateway) TLS(config *tls.Config) *tls.Config {
	return identity.Listening(config, push.ALPN, func(types.PublicKey) error { return nil })
}

// QUIC returns the configuration for a connection whose protocol is not known yet.
func (g *Gateway) QUIC() *quic.Config {
	return quicConfig(connection.MaxPeerStreams, connection.MaxPeerStreams)
}

// Refuses counts a handshake that begins, until ctx ends with its connection, and
// returns why it is refused, nil if it is not.
func (g *Gateway) Refuses(ctx context.Context, remote net.Addr) error {
	g.counting.Lock()
	defer g.counting.Unlock()
	if now := time.Now(); now.Sub(g.since) >= time.Second {
		g.since = now
		clear(g.began)
	}
	address := addressOf(remote)
	switch {
	case g.under >= connection.MaxConnections:
		return errFull
	case g.began[address] >= maxPerAddress, g.began[address] == 0 && len(g.began) >= maxAddresses:
		return errStorm
	}
	g.began[address]++
	g.under++
	context.AfterFunc(ctx, func() {
		g.counting.Lock()
		defer g.counting.Unlock()
		g.under--
	})
	return nil
}

// Strained reports whether addresses have to prove themselves before a handshake.
func (g *Gateway) Strained() bool {
	g.counting.Lock()
	defer g.counting.Unlock()
	return g.under-g.served > maxHandshakes
}

// Serve runs a connection that came up, to its end.
func (g *Gateway) Serve(q *quic.Conn) {
	key, err := identity.Of(q.ConnectionState().TLS)
	g.counting.Lock()
	g.lastID++
	g.served++
	id := g.lastID
	g.counting.Unlock()
	defer func() {
		g.counting.Lock()
		defer g.counting.Unlock()
		g.served--
	}()
	c := g.addConn(id, nil)
	if c == nil || err != nil {
		q.CloseWithError(quic.ApplicationErrorCode(connection.CodeDone), string(push.Shutdown))
		return
	}
	g.serveConn(c, q, key)
}

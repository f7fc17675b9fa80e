package connections

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// DialerConfig is what a Dialer is made of.
type DialerConfig struct {
	Signer env.Signer // of the runner
	// JobStreams is how many jobs' streams a validator may have open; 16 are
	// always allowed.
	JobStreams int
	// Listen is host:port of the UDP socket; port 0 takes a free one.
	Listen string
	// PacketConn is used instead of a socket on Listen if it is given, and closed
	// by Close.
	PacketConn net.PacketConn
	// WrapPacketConn may put itself between QUIC and the socket, to lose, delay
	// or count packets. Close closes its result, and with it the socket.
	WrapPacketConn func(net.PacketConn) net.PacketConn
	// Turns bounds the handshakes under way of all dialers that share it; nil: there is
	// no bound.
	Turns   *Turns
	Capture *Capture     // writes qlog files and secrets; nil: none
	Logger  *slog.Logger // of connections, at level debug; nil: none
}

// Dialer is a runner's end: one socket for all its validators.
type Dialer struct {
	end
	socket net.PacketConn
	quic   *quic.Transport
	tls    *tls.Config
	config *quic.Config
	turns  *Turns
}

var _ env.Connections = (*Dialer)(nil)

// NewDialer opens the socket.
func NewDialer(config DialerConfig) (*Dialer, error) {
	client, err := identity.ClientConfig(config.Signer, push.ALPN, func(types.PublicKey) error { return nil })
	if err != nil {
		return nil, err
	}
	socket := config.PacketConn
	if socket == nil {
		if socket, err = Socket(config.Listen); err != nil {
			return nil, fmt.Errorf("connections: %w", err)
		}
	}
	if config.WrapPacketConn != nil {
		socket = config.WrapPacketConn(socket)
	}
	d := &Dialer{socket: socket, quic: &quic.Transport{Conn: socket}, tls: client, turns: config.Turns,
		config: quicConfig(int64(max(config.JobStreams, connection.LeastJobStreams)), 1)}
	d.config.KeepAlivePeriod = keepAlive
	config.Capture.QUIC(d.config)
	config.Capture.TLS(d.tls)
	d.init(config.Logger)
	return d, nil
}

// Addr is the address of the socket.
func (d *Dialer) Addr() net.Addr { return d.socket.LocalAddr() }

// Start implements env.Connections.
func (d *Dialer) Start(receive func(connection.Event)) error { return d.startTelling(receive) }

// Do implements env.Connections.
func (d *Dialer) Do(v connection.Verb) {
	dial, is := v.(connection.Dial)
	if !is {
		d.end.Do(v)
		return
	}
	ctx, cancel := context.WithCancel(d.ctx)
	c := d.addConn(dial.ID, cancel)
	if c == nil {
		cancel()
		return
	}
	d.wg.Go(func() {
		defer cancel()
		d.dialAndServe(ctx, c, dial.Endpoint)
	})
}

// dialAndServe makes a connection, and stays with it until its end.
func (d *Dialer) dialAndServe(ctx context.Context, c *conn, endpoint string) {
	q, err := d.shakeHands(ctx, endpoint)
	if err != nil {
		d.log.Debug("dialled in vain", "endpoint", endpoint, "error", err)
		c.endWith(err)
		return
	}
	key, err := identity.Of(q.ConnectionState().TLS)
	if err != nil {
		q.CloseWithError(quic.ApplicationErrorCode(connection.CodeRefused), string(push.IdentityMismatch))
		c.endWith(err)
		return
	}
	d.serveConn(c, q, key)
}

func (d *Dialer) shakeHands(ctx context.Context, endpoint string) (*quic.Conn, error) {
	address, err := net.ResolveUDPAddr("udp", endpoint)
	if err != nil {
		return nil, fmt.Errorf("connections: the endpoint %q: %w", endpoint, err)
	}
	done, err := d.turns.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, connection.HandshakeTime)
	defer cancel()
	return d.quic.Dial(ctx, address, d.tls, d.config)
}

// Close tells the validators, closes the socket and waits for every goroutine, so
// that receive is not called afterwards.
func (d *Dialer) Close() error {
	d.closeAll()
	err := d.quic.Close()
	if closeErr := d.socket.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	return err
}

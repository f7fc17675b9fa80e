package quic

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
)

// guests are the runners that come to the mesh's socket: quic-go has one listener a
// socket, and asks in three places who it is that comes.
type guests struct {
	transport *Transport
	runners   *connections.Gateway
	config    *tls.Config
}

// newGuests prepares a transport for runners, before it listens.
func newGuests(t *Transport, runners *connections.Gateway) *guests {
	g := &guests{t, runners, runners.TLS(t.client)}
	t.quic.ConnContext = g.admitClient
	t.quic.VerifySourceAddress = func(from net.Addr) bool { return !t.isPeers(from) && runners.Strained() }
	return g
}

// admitClient counts who comes from elsewhere than a peer's endpoint, so that a storm of
// handshakes takes nothing from the mesh.
func (g *guests) admitClient(ctx context.Context, from *quic.ClientInfo) (context.Context, error) {
	if p := g.transport.peerAt(from.RemoteAddr); p != nil {
		p.noteUp()
		return ctx, nil
	}
	return ctx, g.runners.Refuses(ctx, from.RemoteAddr)
}

// pickTLS picks the configuration by the client's protocol. Nil guests leave it.
func (g *guests) pickTLS(mesh *tls.Config) *tls.Config {
	if g == nil {
		return mesh
	}
	both := mesh.Clone()
	both.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if slices.Contains(hello.SupportedProtos, push.ALPN) && !slices.Contains(hello.SupportedProtos, g.transport.alpn) {
			return g.config, nil
		}
		return mesh, nil
	}
	return both
}

// pickQUIC picks the limits by where the client is. Nil guests leave them.
func (g *guests) pickQUIC(mesh *quic.Config) *quic.Config {
	if g == nil {
		return mesh
	}
	both := mesh.Clone()
	both.GetConfigForClient = func(from *quic.ClientInfo) (*quic.Config, error) {
		if g.transport.isPeers(from.RemoteAddr) {
			return mesh, nil
		}
		given := g.runners.QUIC()
		given.Tracer = mesh.Tracer
		return given, nil
	}
	return both
}

// isGuest reports whether a connection belongs to a runner.
func (g *guests) isGuest(conn *quic.Conn) bool {
	return g != nil && conn.ConnectionState().TLS.NegotiatedProtocol == push.ALPN
}

// isPeers reports whether an address is the endpoint of a peer. It proves nothing,
// but that the limits for runners need not be.
func (t *Transport) isPeers(address net.Addr) bool { return t.peerAt(address) != nil }

// peerAt returns the peer whose endpoint an address is, or nil.
func (t *Transport) peerAt(address net.Addr) *peer {
	udp, is := address.(*net.UDPAddr)
	if !is {
		return nil
	}
	from := plainAddress(udp.AddrPort())
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, p := range t.byAddress {
		if p.isAt(from) {
			return p
		}
	}
	return nil
}

// plainAddress is an address as endpoints are compared: IPv4 in IPv6 is IPv4.
func plainAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Package quic is env.Mesh over real QUIC: every pair of validators has one
// connection, authenticated by their secp256k1 keys (package identity, decision
// J8).
//
// A Transport owns one UDP socket, on which it listens and from which it dials.
// Each peer has a queue of small and one of large frames, which outlive its
// connection, and at most one session: a connection that both sides have said
// hello on. While that lasts, another process with the peer's key has a second one.
// Within a pair the lower address dials; both accept. Among two
// connections of one process, the one dialled by the lower address stays. If one side dialled
// both, the newer stays, since a side dials only when it has none.
//
// On a connection each side opens two unidirectional streams, prompt and bulk,
// and begins each with a byte that names it: that is the hello. Then follow
// frames: u32 big-endian length and that many bytes. Frames up to 32 KiB go by
// the prompt stream, which has priority, so a block in transfer holds up no
// vote.
//
// Runners may dial the same socket, by another protocol (ALPN): their connections
// are package connections', and no frame of theirs comes here. QUIC's limits of
// streams are promised before the protocol is known. So a connection from the
// endpoint of a peer has the mesh's, and any other those of a runner, under which a
// peer that opens a stream too many is cut off (guests.go).
//
// Invariants: only peers named by SetPeers are connected, each under the key it is
// named with. Frames of one kind arrive in the order they were sent, at most once
// each; the two kinds overtake each other. Send never blocks; every queue, wait and
// buffer has a limit in limits.go. One peer's actions, or its refusal to read,
// delay no other. After Close no goroutine is left.
//
// The receiver interprets a frame, which is hostile input.
package quic

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// Config is what a Transport is made of.
type Config struct {
	Signer  env.Signer // identity of the transport
	Genesis types.Hash // of the chain: it connects only with validators of the same genesis
	// Listen is host:port of the UDP socket; port 0 takes a free one.
	Listen string
	// PacketConn is used instead of a socket on Listen if it is given, and closed
	// by Close.
	PacketConn net.PacketConn
	// WrapPacketConn may put itself between QUIC and the socket, to lose, delay
	// or count packets. Close closes its result, and with it the socket.
	WrapPacketConn func(net.PacketConn) net.PacketConn
	Runners        *connections.Gateway // of the runners that dial this socket; nil: they are refused
	// Turns bounds the handshakes under way of all transports that share it; nil: there is
	// no bound.
	Turns   *connections.Turns
	Capture *connections.Capture // writes qlog files and secrets; nil: none
	Logger  *slog.Logger         // of connections, at level debug; nil: none
}

// Transport is one validator's end of the mesh.
type Transport struct {
	signer env.Signer
	alpn   string
	log    *slog.Logger
	socket net.PacketConn
	quic   *quic.Transport
	config *quic.Config
	client *tls.Config // base of every dial's configuration, without the accepted key; its certificate is also the listener's
	guests *guests     // nil: only validators are accepted
	turns  *connections.Turns

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // every goroutine of the transport's

	mu        sync.RWMutex
	receive   func(types.Address, []byte)
	listener  *quic.Listener
	closed    bool
	byAddress map[types.Address]*peer
	byKey     map[types.PublicKey]*peer
}

var _ env.Mesh = (*Transport)(nil)

// Errors of use.
var (
	ErrClosed   = errors.New("quic: the transport is closed")
	ErrStarted  = errors.New("quic: the transport is started already")
	ErrStranger = errors.New("quic: not a peer")
	ErrNotPeer  = errors.New("quic: another validator answers at the peer's endpoint")
)

// New opens the socket, so that Addr is known and packets wait in it; nothing
// is answered before Start.
func New(config Config) (*Transport, error) {
	quietBufferWarning()
	client, err := identity.ClientConfig(config.Signer, alpnOf(config.Genesis), func(types.PublicKey) error { return ErrNotPeer })
	if err != nil {
		return nil, err
	}
	socket := config.PacketConn
	if socket == nil {
		if socket, err = connections.Socket(config.Listen); err != nil {
			return nil, fmt.Errorf("quic: %w", err)
		}
	}
	if config.WrapPacketConn != nil {
		socket = config.WrapPacketConn(socket)
	}
	t := &Transport{
		signer: config.Signer, alpn: alpnOf(config.Genesis), log: config.Logger, socket: socket, config: connectionConfig(), client: client,
		turns:     config.Turns,
		quic:      &quic.Transport{Conn: socket, StatelessResetKey: resetKey(config.Signer)},
		byAddress: map[types.Address]*peer{}, byKey: map[types.PublicKey]*peer{},
	}
	config.Capture.QUIC(t.config)
	config.Capture.TLS(t.client)
	if config.Runners != nil {
		t.guests = newGuests(t, config.Runners)
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.log = t.log.With("validator", t.signer.Address())
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

// quietBufferWarning keeps quic-go from printing about the UDP buffers of the
// system, which do not matter at a devnet's rates. A setting of the user's is left
// alone.
func quietBufferWarning() {
	const variable = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"
	if _, set := os.LookupEnv(variable); !set {
		os.Setenv(variable, "true")
	}
}

// resetKey is the same whenever the validator starts, so that its peers detect a
// restart from the answer to their next packet. It is a function of a signature
// that is never shown.
func resetKey(signer env.Signer) *quic.StatelessResetKey {
	signature := signer.Sign(types.Keccak([]byte("cowboy-p2p/1 stateless reset")))
	key := quic.StatelessResetKey(types.Keccak(signature[:]))
	return &key
}

func connectionConfig() *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:           maxDialTimeout,
		MaxIdleTimeout:                 idleTimeout,
		KeepAlivePeriod:                keepAlive,
		MaxIncomingStreams:             -1,
		MaxIncomingUniStreams:          streamsEach, // one that ends ends the connection, so no third comes after
		InitialStreamReceiveWindow:     streamWindow,
		MaxStreamReceiveWindow:         maxStreamWindow,
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     maxConnectionWindow,
	}
}

// Addr is the address of the socket.
func (t *Transport) Addr() net.Addr { return t.socket.LocalAddr() }

// Start begins to listen and to dial. receive is called by several goroutines, one
// frame of a kind and peer at a time, and delays only that peer; it owns the frame.
func (t *Transport) Start(receive func(from types.Address, frame []byte)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrClosed
	}
	if t.receive != nil {
		return ErrStarted
	}
	mesh := identity.Listening(t.client, t.alpn, t.acceptKey)
	listener, err := t.quic.Listen(t.guests.pickTLS(mesh), t.guests.pickQUIC(t.config))
	if err != nil {
		return fmt.Errorf("quic: listen on %v: %w", t.Addr(), err)
	}
	t.receive, t.listener = receive, listener
	t.wg.Go(t.acceptAll)
	for _, p := range t.byAddress {
		t.wg.Go(p.maintainConnection)
	}
	return nil
}

// acceptKey agrees to the keys of peers.
func (t *Transport) acceptKey(key types.PublicKey) error {
	if t.peerOf(key) == nil {
		return fmt.Errorf("%w: %v", ErrStranger, key)
	}
	return nil
}

func (t *Transport) peerOf(key types.PublicKey) *peer {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[key]
}

// acceptAll only accepts, since the queue before it is short.
func (t *Transport) acceptAll() {
	for {
		conn, err := t.listener.Accept(t.ctx)
		if err != nil {
			return // closed
		}
		t.wg.Go(func() { t.welcomeConn(conn) })
	}
}

// welcomeConn gives an accepted connection to its peer, if it still is one, or to the
// runners' gateway.
func (t *Transport) welcomeConn(conn *quic.Conn) {
	if t.guests.isGuest(conn) {
		t.guests.runners.Serve(conn)
		return
	}
	key, err := identity.Of(conn.ConnectionState().TLS)
	p := t.peerOf(key)
	if err != nil || p == nil {
		conn.CloseWithError(codeNotPeer, "not a peer")
		return
	}
	p.openSession(conn, false)
}

// SetPeers names the validators to be connected with. Peers that were named before
// keep connection and counters; a changed endpoint applies to the next dial.
func (t *Transport) SetPeers(validators []types.Validator) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	byAddress := make(map[types.Address]*peer, len(validators))
	byKey := make(map[types.PublicKey]*peer, len(validators))
	for _, v := range validators {
		if v.Address == t.signer.Address() {
			continue
		}
		p := t.byAddress[v.Address]
		if p == nil || p.PublicKey != v.PublicKey {
			p = newPeer(t, v)
			if t.receive != nil {
				t.wg.Go(p.maintainConnection)
			}
		}
		p.setEndpoint(v.Endpoint)
		byAddress[v.Address], byKey[v.PublicKey] = p, p
	}
	for a, p := range t.byAddress {
		if byAddress[a] != p {
			p.leave()
		}
	}
	t.byAddress, t.byKey = byAddress, byKey
}

// Send queues a frame for a peer. The frame must not be changed afterwards.
func (t *Transport) Send(to types.Address, frame []byte) {
	t.mu.RLock()
	p := t.byAddress[to]
	t.mu.RUnlock()
	if p != nil {
		p.queueFrame(frame)
	}
}

// Connected lists the peers with a live connection, sorted.
func (t *Transport) Connected() []types.Address {
	var connected []types.Address
	for _, s := range t.Stats() {
		if s.Connected {
			connected = append(connected, s.Address)
		}
	}
	return connected
}

// Stats returns the counters of every peer, sorted by address.
func (t *Transport) Stats() []PeerStats {
	t.mu.RLock()
	defer t.mu.RUnlock()
	stats := make([]PeerStats, 0, len(t.byAddress))
	for _, p := range t.byAddress {
		stats = append(stats, p.counters.peerStats(p.Address, p.liveSession()))
	}
	slices.SortFunc(stats, func(a, b PeerStats) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	return stats
}

// Close tells the peers, closes the socket and waits for every goroutine, so
// receive is not called afterwards. Queued frames are lost.
func (t *Transport) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	for _, p := range t.byAddress {
		p.leave()
	}
	listener := t.listener
	t.mu.Unlock()

	t.cancel()
	if listener != nil {
		listener.Close()
	}
	if t.guests != nil {
		t.guests.runners.Close()
	}
	t.wg.Wait() // sessions have said goodbye by now
	err := t.quic.Close()
	if closeErr := t.socket.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	return err
}

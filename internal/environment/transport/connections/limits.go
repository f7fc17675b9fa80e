package connections

import (
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// Limits of what peers can make one end hold.
const (
	// MaxConnections bounds those of a gateway, with those that shake hands: the ten
	// thousand runners that it may serve, and as many that come anew.
	MaxConnections = 20_000
	// maxPerAddress bounds the handshakes that one address begins in a second: as
	// many as it may say Hello (cip11.hello_per_address).
	maxPerAddress = 1_000
	// maxHandshakes bounds those under way together, before addresses have to prove
	// themselves by a further round trip (RFC 9000 §8.1.2): so that a storm under
	// forged addresses costs a packet for each packet.
	maxHandshakes = 256
	// maxAddresses bounds the addresses whose handshakes are counted.
	maxAddresses = 65_536

	// queueFrames and queueBytes bound what waits to be written to one peer. A
	// validator says a pong a block and a runner's open jobs; what is more is not
	// read. One frame of the greatest fits always.
	queueFrames = 1_024
	queueBytes  = 4 * connection.MaxFrameBytes

	// largeFrames bounds the frames above smallBytes that are being read or were not
	// taken, of all connections of one end: with maxReading the memory that frames
	// have. Those beyond wait, and their streams with them.
	largeFrames = 256
	smallBytes  = 4 << 10
	// frameTime is how long a frame may take to come whole: 1 MiB at 100 KiB/s.
	frameTime = 10 * time.Second

	readBuffer = 1 << 10 // of one stream
	chunkBytes = 64 << 10

	// maxPeerStreams is what a runner may open of each kind: the control stream, and
	// one more of each kind, so that it can be told that it may not.
	maxPeerStreams = 2
	// leastJobStreams is what every runner allows its validators (docs/WIRE.md).
	leastJobStreams = 16
)

// Windows: what a peer may have sent and is not read yet. They begin small, since
// thousands of connections mostly say nothing but a ping, and grow with what is
// read.
const (
	streamWindow        = 16 << 10
	connectionWindow    = 48 << 10
	maxStreamWindow     = 512 << 10
	maxConnectionWindow = 1 << 20
)

// Times of a connection. A peer that pings keeps it alive; a dialer does so where
// blocks, and with them pings, are rare.
const (
	handshakeTimeout = 5 * time.Second
	idleTimeout      = 10 * time.Second
	keepAlive        = 3 * time.Second
)

// quicConfig is that of a connection at either end.
func quicConfig(bidirectional, unidirectional int64) *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:           handshakeTimeout,
		MaxIdleTimeout:                 idleTimeout,
		MaxIncomingStreams:             bidirectional,
		MaxIncomingUniStreams:          unidirectional,
		InitialStreamReceiveWindow:     streamWindow,
		MaxStreamReceiveWindow:         maxStreamWindow,
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     maxConnectionWindow,
	}
}

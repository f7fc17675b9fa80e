package connections

import (
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// Limits of the memory that peers can make one end use.
const (
	// maxPerAddress bounds the handshakes that one address begins in a second: as
	// many as it may say Hello (cip11.hello_per_address).
	maxPerAddress = 1_000
	// maxHandshakes bounds those under way together, before addresses have to prove
	// themselves by a further round trip (RFC 9000 §8.1.2): so that a storm under
	// forged addresses costs a packet for each packet.
	maxHandshakes = 256
	// maxAddresses bounds the addresses whose handshakes are counted.
	maxAddresses = 65_536

	// largeFrames bounds the frames above smallBytes that are being read or were not
	// taken, of all connections of one end: with MaxFrameBytes the memory that frames
	// have. Those beyond wait, and their streams with them.
	largeFrames = 256
	// largeReading bounds the large frames of one connection that are being read: a peer that
	// begins many and lets them wait does not block others for the time that a frame may
	// take.
	largeReading = 4
	smallBytes   = 4 << 10
	readBuffer   = 1 << 10 // of one stream
	chunkBytes   = 64 << 10
	// joinedBytes bounds the small frames that one write joins: a pong that was asked for
	// and one that was not go out in one packet.
	joinedBytes = 16 << 10
	// directBytes bounds the bytes that QUIC gets of a stream without a waiting
	// goroutine: no more than it takes from a blocked write too, so that a peer that
	// reads nothing is noticed as soon.
	directBytes = 1 << 10
)

// Windows grow with the bytes read, from those of package connection.
const (
	maxStreamWindow     = 512 << 10
	maxConnectionWindow = 1 << 20
)

// keepAlive is how often a dialer keeps a connection alive where blocks, and with
// them pings, are rare.
const keepAlive = 3 * time.Second

// quicConfig returns the configuration of a connection at either end.
func quicConfig(bidirectional, unidirectional int64) *quic.Config {
	return &quic.Config{
		HandshakeIdleTimeout:           connection.HandshakeTime,
		MaxIdleTimeout:                 connection.IdleTime,
		MaxIncomingStreams:             bidirectional,
		MaxIncomingUniStreams:          unidirectional,
		InitialStreamReceiveWindow:     connection.StreamWindow,
		MaxStreamReceiveWindow:         maxStreamWindow,
		InitialConnectionReceiveWindow: connection.ConnectionWindow,
		MaxConnectionReceiveWindow:     maxConnectionWindow,
	}
}

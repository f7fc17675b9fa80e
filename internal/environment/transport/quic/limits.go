package quic

import (
	"encoding/hex"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// ALPN is the protocol between validators, before the name of their chain.
const ALPN = "cowboy-p2p/1"

// alpnOf is the protocol between the validators of one chain: those of another,
// whose keys may be the same, do not get beyond the TLS handshake.
func alpnOf(genesis types.Hash) string { return ALPN + "/" + hex.EncodeToString(genesis[:16]) }

// Limits of frames. A frame up to promptBytes travels on the prompt stream, so
// that no block in transfer holds up a vote.
const (
	promptBytes   = 32 << 10
	bulkBytes     = env.MaxFrameBytes
	coalesceBytes = 32 << 10 // queued frames are joined into writes of about this
	chunkBytes    = 64 << 10 // a frame is read and written in steps of this: memory follows the bytes, not the claim
)

// Limits of the queues, one of each kind a peer. Frames beyond them are lost, the
// newest first: the older frames of a core's output lead to the newer.
const (
	queueFrames      = 4096    // a view is some ten frames a peer; this is seconds of the fastest chain
	promptQueueBytes = 4 << 20 // 128 of the maximum size
	bulkQueueBytes   = 4 * env.MaxFrameBytes
)

// Times. The peer's death is noticed within idleTimeout; a restarted peer's
// much earlier, by a stateless reset.
const (
	patience       = time.Second     // a frame waits so long for a connection, then it is lost
	writeTimeout   = 2 * time.Second // a write blocked for longer ends the connection
	idleTimeout    = 3 * time.Second
	keepAlive      = time.Second
	helloTimeout   = 2 * time.Second        // from a connection to the peer's first bytes on it
	dialTimeout    = 100 * time.Millisecond // of the first attempt, on loopback a handshake takes 2 ms; doubles up to maxDialTimeout
	maxDialTimeout = 2 * time.Second
	firstBackoff   = 5 * time.Millisecond // between attempts; doubles up to maxBackoff
	steady         = time.Second          // a connection that lasted so long takes the backoff back to the first
	maxBackoff     = time.Second
	// The greater address dials too, when the lower one did not come: it may be
	// that only one of the two can be reached.
	fallbackDial = 500 * time.Millisecond
	// vainAttempts is after how many a peer that was not heard meanwhile counts as down. A
	// peer that is up dials as well.
	vainAttempts = 5
)

// Limits of the memory that a peer may make a transport use.
const (
	readBuffer      = 4 << 10   // of one stream
	maxPending      = 4         // connections of one peer that have not said hello
	streamsEach     = 2         // prompt and bulk, one each way
	streamWindow    = 512 << 10 // unread bytes of one stream, at first
	maxStreamWindow = 1 << 20
	// Both streams fit, so that an unread block never keeps votes out.
	connectionWindow    = 1280 << 10
	maxConnectionWindow = 2560 << 10
)

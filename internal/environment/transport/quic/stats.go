package quic

import (
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// PeerStats is what happened with one peer since it was named. Bytes are the bytes
// of frames, without their lengths.
type PeerStats struct {
	Address        types.Address
	Connected      bool
	Connects       uint64 // connections that came up
	FramesSent     uint64 // handed to QUIC
	BytesSent      uint64
	FramesReceived uint64
	BytesReceived  uint64
	FramesDropped  uint64        // queue full, too long without a connection, or of no valid size
	RTT            time.Duration // smoothed, of the connection; 0 without one, or before the first
}

type counters struct {
	connects, framesSent, bytesSent, framesReceived, bytesReceived, framesDropped atomic.Uint64
}

func (c *counters) peerStats(a types.Address, live *session) PeerStats {
	var rtt time.Duration
	if live != nil {
		rtt = live.conn.ConnectionStats().SmoothedRTT
	}
	return PeerStats{
		Address: a, Connected: live != nil, RTT: rtt, Connects: c.connects.Load(),
		FramesSent: c.framesSent.Load(), BytesSent: c.bytesSent.Load(),
		FramesReceived: c.framesReceived.Load(), BytesReceived: c.bytesReceived.Load(),
		FramesDropped: c.framesDropped.Load(),
	}
}

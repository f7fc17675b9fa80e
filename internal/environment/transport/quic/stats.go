package quic

import (
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// PeerStats is what happened with one peer since it was named. Bytes are those
// of frames, without their lengths.
type PeerStats struct {
	Address        types.Address
	Connected      bool
	Connects       uint64 // connections that came up
	FramesSent     uint64 // handed to QUIC
	BytesSent      uint64
	FramesReceived uint64
	BytesReceived  uint64
	FramesDropped  uint64 // queue full, too long without a connection, or of no valid size
}

type counters struct {
	connects, framesSent, bytesSent, framesReceived, bytesReceived, framesDropped atomic.Uint64
}

func (c *counters) stats(a types.Address, connected bool) PeerStats {
	return PeerStats{
		Address: a, Connected: connected, Connects: c.connects.Load(),
		FramesSent: c.framesSent.Load(), BytesSent: c.bytesSent.Load(),
		FramesReceived: c.framesReceived.Load(), BytesReceived: c.bytesReceived.Load(),
		FramesDropped: c.framesDropped.Load(),
	}
}

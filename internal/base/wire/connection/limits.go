package connection

import "time"

// Limits that every environment keeps.
const (
	// MaxConnections bounds the connections of a validator, including those in a
	// handshake: the ten thousand runners that it may serve, and as many that
	// reconnect.
	MaxConnections = 20_000
	// QueueFrames and QueueBytes bound what waits to be written to one peer. A
	// validator sends one pong per block and a runner's open jobs; a peer that does
	// not read gets no more. One frame of the maximum size always fits.
	QueueFrames = 1_024
	QueueBytes  = 4 * MaxFrameBytes
	// MaxPeerStreams is the number of streams of each kind that a runner may open:
	// the control stream, and one more of each kind, so that a refusal can be sent.
	MaxPeerStreams = 2
	// LeastJobStreams is what every runner allows its validators (docs/WIRE.md).
	LeastJobStreams = 16
	// StreamWindow and ConnectionWindow bound what a peer may have sent that is not
	// read yet. They are small, since thousands of connections mostly carry only
	// pings; an environment may let them grow with the bytes read.
	StreamWindow     = 16 << 10
	ConnectionWindow = 48 << 10
)

// Times of a connection.
const (
	// FrameTime is how long a frame may take to come whole: 1 MiB at 100 KiB/s.
	FrameTime = 10 * time.Second
	// HandshakeTime is the maximum time of dialling.
	HandshakeTime = 5 * time.Second
	// IdleTime is the longest silence of a peer. Pings end a silence.
	IdleTime = 10 * time.Second
)

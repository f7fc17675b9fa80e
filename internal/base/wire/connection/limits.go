package connection

import "time"

// Limits that every environment keeps.
const (
	// MaxConnections bounds those of a validator, with those that shake hands: the ten
	// thousand runners that it may serve, and as many that come anew.
	MaxConnections = 20_000
	// QueueFrames and QueueBytes bound what waits to be written to one peer. A
	// validator says a pong a block and a runner's open jobs; what is more is not
	// read. One frame of the greatest fits always.
	QueueFrames = 1_024
	QueueBytes  = 4 * MaxFrameBytes
	// MaxPeerStreams is what a runner may open of each kind: the control stream, and
	// one more of each kind, so that it can be told that it may not.
	MaxPeerStreams = 2
	// LeastJobStreams is what every runner allows its validators (docs/WIRE.md).
	LeastJobStreams = 16
	// StreamWindow and ConnectionWindow bound what a peer may have sent that is not
	// read yet. They are small, since thousands of connections mostly say nothing but
	// a ping; an environment may let them grow with what is read.
	StreamWindow     = 16 << 10
	ConnectionWindow = 48 << 10
)

// Times of a connection.
const (
	// FrameTime is how long a frame may take to come whole: 1 MiB at 100 KiB/s.
	FrameTime = 10 * time.Second
	// HandshakeTime is how long dialling takes at most.
	HandshakeTime = 5 * time.Second
	// IdleTime is for how long nothing may be heard of a peer. One that pings is
	// heard.
	IdleTime = 10 * time.Second
)

package session

import "time"

// Limits of the memory that validators can make a runner use.
const (
	// MaxStreams bounds the streams of jobs of one connection, open at both ends or
	// at one. The environment lets a validator open as many.
	MaxStreams = 256
	// maxEarly bounds what waits on the streams of jobs for a HelloAck that they
	// overtook: a frame on each of the streams that every runner allows, with the
	// stream's opening.
	maxEarly = 32
	// MaxChanges bounds the capabilities and entitlements that are said to have
	// changed, so that one frame holds them.
	MaxChanges = 256
)

// Times of dialling (CIP-11 §11.3).
const (
	firstWait = 100 * time.Millisecond // before the second attempt; doubles up to maxWait
	maxWait   = 30 * time.Second
	// steady is the minimum life of a connection that resets the wait to the first:
	// a connection that is accepted and dropped at once is not a success.
	steady = time.Second
	// onDemand is the time between pings where blocks are made on demand.
	onDemand = time.Second
)

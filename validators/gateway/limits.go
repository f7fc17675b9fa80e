package gateway

import "time"

// Limits of the memory that the peers of a validator can make it use.
const (
	// MaxConnections bounds the connections, live or not: those of the ten thousand
	// runners that a validator may serve, and as many that reconnect.
	MaxConnections = 20_000
	// MaxJobStreams bounds the streams of one connection that are not over, and the
	// deliveries that are remembered of it. It is far more than a runner does at
	// once; assignments beyond it are pushed when a stream ended.
	MaxJobStreams = 256
	// minJobStreams is what every runner allows, whatever it registered.
	minJobStreams = 16
	// MaxHellos bounds the Hellos of the last second that are remembered: of 64
	// addresses at their limit.
	MaxHellos = 65_536
	// MaxHeldBytes bounds the results that wait to be revealed: 256 of the largest. One
	// runner may hold at most as many bytes as are left to others. A runner that lets its
	// results wait until the end of long jobs thus blocks no other: one such runner has a
	// half, each of n has one part in n + 1, and as much stays free. One beyond it is not
	// taken, and its runner hands it to another validator.
	MaxHeldBytes = 64 << 20
	// heldOverhead is what a held result counts besides its bytes, so that empty results
	// are bounded too.
	heldOverhead = 512
	// maxDrafts bounds the assignments that are signed ahead, or for more than one
	// runner: as many as a runner may do at once. Further assignments are signed when
	// they are pushed.
	maxDrafts = 256
	// MaxRuntimeChanges bounds the capabilities and entitlements added or removed
	// that are stored per connection, for display. Further changes are dropped.
	MaxRuntimeChanges = 256
)

const (
	// second is over what rates are counted: the last one, sliding.
	second = time.Second
	// linger is how long a stream waits for the runner to end its side, when ours
	// has ended: a runner may look at the chain first whether the job is over.
	linger = 30 * time.Second
	// heraldLeast is the minimum number of runners to which a head is announced in one
	// turn, and heraldTurns the maximum number of turns for all. Each announcement is a
	// signature, and pushes and pongs wait for one turn only. heraldTurn is the time
	// between two turns, and before the first, so that all but the first are informed
	// within 80 ms after the pings.
	heraldLeast = 32
	heraldTurns = 16
	heraldTurn  = 5 * time.Millisecond
	// heartbeatSpread is over how many blocks more the heartbeats of many runners are
	// spread, at most; heartbeatTurn how many blocks each validator of a subset leaves
	// to the one before it.
	heartbeatSpread = 31
	heartbeatTurn   = 4
	// heartbeatAgainBlocks is after how many blocks a heartbeat is submitted again
	// that is not on chain.
	heartbeatAgainBlocks = 8
)

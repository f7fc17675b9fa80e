package rations

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Class is how soon a frame is attended to.
type Class uint8

// The classes, the most urgent first.
const (
	Votes    Class = iota // votes and certificates: views end by them
	Blocks                // proposals, bodies, and requests of the consensus
	Bulk                  // transactions and finalized ranges
	classes  = 3
	maxTurns = 8 // frames of more urgent classes before one of a less urgent that waits
)

// Resource is what a ration is of.
type Resource uint8

// The resources.
const (
	Frames       Resource = iota // frames taken
	Bytes                        // bytes of them
	Recoveries                   // signatures of the consensus to be recovered
	Transactions                 // transactions to be checked, each with a signature
	Ranges                       // requests for finalized blocks
	Served                       // bytes of the answers to those
	patience                     // what faults take from
	resources    = 7
)

// ration says how a resource fills, and up to what.
type ration struct{ second, view, most int64 }

// table is what one peer has. A view of four validators takes some ten frames of
// each, with some twenty signatures; proposals and certificates of a hundred
// validators hold a hundred, and their views take a second and more. A process
// that stood still finds minutes of frames before it, all at once.
var table = [resources]ration{
	Frames:       {second: 1_000, view: 64, most: 32_768},
	Bytes:        {second: 8 << 20, view: 256 << 10, most: 32 << 20},
	Recoveries:   {second: 2_000, view: 96, most: 8_192},
	Transactions: {second: 8_192, view: 0, most: 32_768},
	Ranges:       {second: 16, view: 0, most: 64},
	Served:       {second: 8 << 20, view: 0, most: 32 << 20},
	patience:     {second: 32, view: 0, most: 4_096},
}

// What faults take of a peer's patience.
const (
	invalidCost = 128 // 32 frames that no honest validator sends, and one every four seconds beyond
	unaskedCost = 32  // an answer that was not asked for; a late one happens
	excessCost  = 1   // a frame beyond the rations, and again for each excessBytes of it
	excessBytes = 16 << 10
)

// Limits of what waits.
const (
	// MaxWaitingFrames bounds one peer's frames: seconds of the fastest chain.
	MaxWaitingFrames = 4_096
	// MaxWaitingBytes bounds the bytes of all peers together, except that each
	// may have minShare waiting: a frame of the greatest and small ones. A peer
	// has at most a quarter of it.
	MaxWaitingBytes = 64 << 20
	minShare        = types.MaxBlockBytes + 1<<20
	// MaxExpected bounds the answers of one kind that a peer may owe.
	MaxExpected = 256
)

// How long a peer is shut out: at first, at most, doubled each time, and anew
// when it gave no cause for so long.
const (
	firstShut = 2 * time.Second
	maxShut   = 2 * time.Minute
	forgiven  = 10 * time.Minute
)

package rations

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Class is the urgency of a frame.
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
	Frames       Resource = iota // frames of the consensus (Votes, Blocks) that are taken
	Bytes                        // bytes of them
	BulkFrames                   // other frames that are taken
	BulkBytes                    // bytes of them
	Recoveries                   // signatures of the consensus to be recovered
	heard                        // the same, of a peer that is muted
	Transactions                 // transactions to be checked, each with a signature
	Ranges                       // requests for finalized blocks
	Served                       // bytes of the answers to those
	patience                     // what faults take from
	pressure                     // what frames that are dropped take from
	resources    = 11
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
	BulkFrames:   {second: 1_000, view: 64, most: 32_768},
	BulkBytes:    {second: 8 << 20, view: 256 << 10, most: 32 << 20},
	Recoveries:   {second: 2_000, view: 96, most: 8_192},
	heard:        {second: 32, view: 64, most: 1_024}, // a view's votes, three times, and a certificate of a hundred in two views
	Transactions: {second: 8_192, view: 0, most: 32_768},
	Ranges:       {second: 16, view: 0, most: 64},
	Served:       {second: 8 << 20, view: 0, most: 32 << 20},
	patience:     {second: 32, view: 0, most: 4_096},
	pressure:     {second: 2_048, view: 0, most: 65_536}, // dropping 2,048 frames of 16 KiB per second takes a hundredth of a core
}

// Amounts that faults take from a peer's patience, and dropped frames from its pressure.
const (
	invalidCost = 128 // 32 frames that no honest validator sends, and one every four seconds beyond
	unaskedCost = 32  // an answer that was not asked for; a late one happens
	excessCost  = 1   // what is beyond a ration; of a frame that is dropped, again for each excessBytes of it
	excessBytes = 16 << 10
)

// Limits of the queue.
const (
	// MaxWaitingFrames bounds one peer's frames: seconds of the fastest chain.
	MaxWaitingFrames = 4_096
	// MaxWaitingBytes bounds the bytes of all peers together, except that each may
	// have minShare waiting: a frame of the maximum size and small ones. A peer has
	// at most a quarter of it.
	MaxWaitingBytes = 64 << 20
	minShare        = types.MaxBlockBytes + 1<<20
	// MaxExpected bounds the answers of one kind that a peer may owe.
	MaxExpected = 256
)

// How long a peer is muted or shut out: at first and at most. It is doubled each
// time, until the peer gives no cause for a while.
const (
	firstBan = 2 * time.Second
	maxBan   = 2 * time.Minute
	forgiven = 10 * time.Minute
)

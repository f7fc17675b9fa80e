package catchup

import "github.com/cowboyinc/devnet/internal/base/types"

// Event is what happens to a machine.
type Event interface{ isEvent() }

// The events.
type (
	// Behind reports that a peer claims, or a verified certificate proves, that the
	// block at Height is final.
	Behind struct {
		Peer   types.Address
		Height types.Height
		Proven bool
	}
	// Answer is a batch as it came.
	Answer struct {
		From  types.Address
		Batch *Batch
	}
	// Verified and Refused answer Verify.
	Verified struct {
		ID    uint64
		Batch VerifiedBatch
	}
	Refused struct{ ID uint64 }
	// Applied says that all blocks of Apply are executed and stored. Next is the
	// set after the border, if the last block is before one.
	Applied struct {
		ID   uint64
		Next *types.ValidatorSet
	}
	// Rejected says that a block of Apply is not what its header says.
	Rejected struct{ ID uint64 }
	// Finalized says that finality moved by consensus. Older roots are ignored.
	Finalized struct{ Root Root }
	// Tick says that the deadline has passed.
	Tick struct{}
)

func (Behind) isEvent()    {}
func (Answer) isEvent()    {}
func (Verified) isEvent()  {}
func (Refused) isEvent()   {}
func (Applied) isEvent()   {}
func (Rejected) isEvent()  {}
func (Finalized) isEvent() {}
func (Tick) isEvent()      {}

// Output is what has to be done, in this order.
type Output struct {
	Send   []Send
	Ask    []Ask
	Report []Report
}

// Send is a request to a peer.
type Send struct {
	To      types.Address
	Request *RangeRequest
}

// Ask is a question to the shell or the application.
type Ask interface{ isAsk() }

// The asks.
type (
	// Verify asks to Check a batch against Root, certificates against the sets of
	// Root. Verified or Refused answers.
	Verify struct {
		ID    uint64
		Batch *Batch
		Root  Root
	}
	// Apply asks to execute and store blocks, except those that are stored already.
	// Applied or Rejected answers.
	Apply struct {
		ID    uint64
		Batch VerifiedBatch
	}
)

func (Verify) isAsk() {}
func (Apply) isAsk()  {}

// Report is what others may want to know.
type Report interface{ isReport() }

// The reports.
type (
	// Moved says that finality moved to Root by a batch.
	Moved struct{ Root Root }
	// Done says that nothing more is known to be missing.
	Done struct{ Root Root }
	// Lied names a peer whose batch was bad.
	Lied struct{ Peer types.Address }
)

func (Moved) isReport() {}
func (Done) isReport()  {}
func (Lied) isReport()  {}

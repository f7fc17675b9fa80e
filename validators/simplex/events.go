package simplex

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Event is what happens to a machine.
type Event interface{ isEvent() }

// The events.
type (
	// Start begins or resumes. Nothing is done before it.
	Start struct{}
	// Tick says that the deadline has passed.
	Tick struct{}
	// Received is a message of a peer, which the transport authenticated.
	Received struct {
		From    types.Address
		Message Verified
	}
	// Built answers Build. Block is nil when the application could not.
	Built struct {
		Epoch types.Epoch
		View  types.View
		Block *types.Block
	}
	// Executed answers Execute. A block is not valid when anything in it, its
	// carried votes included, disagrees with its header; another body with the
	// same hash may be. Failed is neither: this validator's environment could not
	// tell, and may be asked again (decision C18).
	Executed struct {
		Hash    types.Hash
		Valid   bool
		Failed  bool
		Late    bool                // it failed since a program used more CPU time than it may
		Reason  string              // why it is not valid
		Runners int                 // how many votes on it have a bit for (CIP-11 §8.4)
		Places  selection.Places    // the places of the registry after it (decision J12)
		Gap     time.Duration       // the block time in force in the block after it
		Next    *types.ValidatorSet // the next epoch's set, where the block is its epoch's last
	}
	// Abstain says that this validator executes otherwise than a quorum: it takes no part
	// in views from now on, and still follows certificates (decision C2).
	Abstain struct{}
	// Work says whether the application has something to put into a block.
	// Only machines with Timing.Auto need to be told.
	Work struct{ Pending bool }
	// Timing holds the durations that the parameters set. As an event it replaces
	// that of the configuration, from now on.
	Timing struct {
		BlockTime time.Duration // the time from one block to the next; 0: none
		LinkDelay time.Duration // Δ of decision C4, above 0
		Auto      bool          // make blocks only when there is work (decision C7)
	}
	// Hold stops the making of blocks until it is revoked: views do not advance,
	// and none is nullified because a proposal is missing. A block in progress is
	// completed.
	Hold struct{ On bool }
	// Goal asks for blocks up to a height, whether or not there is work, and in
	// spite of Hold. Only up to it does the validator vote for blocks that skip
	// heights (decision C8), and for none that does if every height is to be made.
	Goal struct {
		Height types.Height
		Every  bool
	}
	// CaughtUp says that finality moved to Root by other means.
	CaughtUp struct {
		Root     Root
		Set      types.ValidatorSet  // the set that decides on the block after Root
		Previous *types.ValidatorSet // the set of Root's own epoch, if that is another
	}
)

// TimingOf returns the durations that parameters set.
func TimingOf(p *params.Params) Timing {
	return Timing{BlockTime: p.BlockTime(), LinkDelay: p.LinkDelayMS.Duration(), Auto: p.BlockTimeAuto}
}

// LongestLeader is the longest timeout of a leader: that of a view after many that were
// nullified (decision C4).
func (t Timing) LongestLeader() time.Duration {
	return (t.BlockTime + leaderDelays*t.LinkDelay) << maxDoublings
}

// Drift is how far ahead of a voter's clock a timestamp may lie (decision C7).
func (t Timing) Drift() time.Duration { return max(t.BlockTime, driftDelays*t.LinkDelay) }

func (Start) isEvent()    {}
func (Tick) isEvent()     {}
func (Received) isEvent() {}
func (Built) isEvent()    {}
func (Executed) isEvent() {}
func (Abstain) isEvent()  {}
func (Work) isEvent()     {}
func (Timing) isEvent()   {}
func (Hold) isEvent()     {}
func (Goal) isEvent()     {}
func (CaughtUp) isEvent() {}

// Output is what has to be done, in this order.
type Output struct {
	Persist [][]byte // records for the log, before anything is sent (decision C5)
	Send    []Send
	Ask     []Ask
	Report  []Report
	Forget  []types.Hash // blocks built or executed that the machine holds no longer: nothing that it asks needs them
}

// Send is a message for one peer, or for all validators where To is nil.
type Send struct {
	To      *types.Address
	Message Message
}

// Ask is a question to the application.
type Ask interface{ isAsk() }

// The asks.
type (
	// Build asks for a block to propose; Built answers. The block's Parent and
	// Finalization are the certificates given here.
	Build struct {
		Epoch        types.Epoch
		View         types.View
		Parent       *types.Block // a header is enough: the block that a machine started on has no more
		ParentHash   types.Hash
		Notarization *types.Certificate // every notarize vote held for the parent; nil for genesis
		Finalization *types.Certificate // the parent's, for an epoch's first block but the first's
		By           types.Time         // when to stop filling it (decision C4)
		Ahead        time.Duration      // this validator's clock is so far ahead of the others': stamp it by theirs (decision C7)
	}
	// Execute asks for a block to be executed on its parent, which was executed
	// before or is finalized; Executed answers.
	Execute struct {
		Block      *types.Block
		Hash       types.Hash
		ParentHash types.Hash
		Notarized  bool // others could execute it: however long it takes, this validator must have the result
	}
)

func (Build) isAsk()   {}
func (Execute) isAsk() {}

// Report is what others may want to know.
type Report interface{ isReport() }

// The reports.
type (
	// Entered says that a view began here.
	Entered struct {
		Epoch  types.Epoch
		View   types.View
		Leader types.Address
	}
	// Notarized says that a view has a notarization.
	Notarized struct{ Certificate *types.Certificate }
	// GaveUp says that this validator votes nullify in a view, and why. Detail
	// names the missing item, in words, if the cause does not.
	GaveUp struct {
		Epoch  types.Epoch
		View   types.View
		Leader types.Address
		Cause  Cause
		Detail string
	}
	// Nullified says that a view has a nullification.
	Nullified struct{ Certificate *types.Certificate }
	// Finalized gives blocks that are final, the oldest first; the first one's
	// parent is the block reported last, or the root. All were executed.
	Finalized struct {
		Blocks       []*types.Block
		Hashes       []types.Hash
		Finalization *types.Certificate // that of the last one
		Notarization *types.Certificate // the last block's notarization; nil when the finalization came without it
	}
	// Behind reports a gap: a certificate names a block too far above the finalized
	// one to ask for block by block. Peers that did not give the blocks between are
	// a gap as well. From has them: catch up. From is this validator where its own
	// vote completed the certificate.
	Behind struct {
		Certificate *types.Certificate
		From        types.Address
	}
	// Rejected says why this validator does not vote for a proposal.
	Rejected struct {
		View   types.View
		Hash   types.Hash
		Reason string
	}
	// ClockOff says that a validator's clock is off as far as this one can tell (decision
	// C7). It is ahead of the others', or slow if By is negative. Whose is this validator
	// if more than f others show it by their stamps. Otherwise it is the leader whose
	// proposal is stamped too far ahead.
	ClockOff struct {
		Whose types.Address
		By    time.Duration
	}
	// SitsOut says that this validator votes for nothing until a block stamped
	// later is final, since it may have forgotten votes; ComesBack, that one is.
	SitsOut   struct{ Until types.Millis }
	ComesBack struct{}
	// Waits says that an older life of this validator's key answers that number of others.
	// This life votes for nothing until the older one ends. Settled says that it takes part.
	Waits   struct{ Answers int }
	Settled struct{}
	// Stranger is a vote of this validator's key that it did not cast. Halts says that it
	// votes for nothing until no other was seen for StrangerBlocks blocks. It does not if
	// no validator may be missing.
	Stranger struct {
		Vote  *types.Vote
		Halts bool
	}
	// Evidence is two messages of which an honest validator signs only one:
	// two *types.Vote or two *types.Proposal.
	Evidence struct {
		Offender types.Address
		First    Message
		Second   Message
	}
	// Conflict is a finalization that contradicts what is final here: more than
	// f validators are faulty, or lost what they had persisted.
	Conflict struct{ Certificate *types.Certificate }
)

func (Entered) isReport()   {}
func (Notarized) isReport() {}
func (GaveUp) isReport()    {}
func (Nullified) isReport() {}
func (Finalized) isReport() {}
func (Behind) isReport()    {}
func (Rejected) isReport()  {}
func (ClockOff) isReport()  {}
func (SitsOut) isReport()   {}
func (ComesBack) isReport() {}
func (Waits) isReport()     {}
func (Settled) isReport()   {}
func (Stranger) isReport()  {}
func (Evidence) isReport()  {}
func (Conflict) isReport()  {}

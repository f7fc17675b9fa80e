package types

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

// MaxPassed bounds each list of Passed: what a proposer without any host names
// at most, some 50 KB of a block. Items beyond it are not begun.
const MaxPassed = 1024

// Passed lists the items that the proposer of a block skipped because its
// environment failed, or because its time was over (decision C18). Every validator
// leaves it where it is, whether it could run it or not.
type Passed struct {
	_         struct{} `cbor:",toarray"`
	Questions PassedQuestions
	Fires     PassedFires
	Messages  PassedMessages
	Late      []LateTransaction // nil if none
}

// MaxLate bounds the late transactions that a block lists: each took its proposer some
// milliseconds at least, and one in eight of its blocks.
const MaxLate = 16

// LateTransaction says that a transaction took more CPU time at the proposer than its cycles
// may, or that its host crashed over it. If more validators listed the nonce than can be
// faulty, the block holds the transaction, which ends as host_failed (decision C18).
type LateTransaction struct {
	_      struct{} `cbor:",toarray"`
	Sender Address
	Nonce  Nonce
	CPU    uint64 // microseconds, as the proposer says; 0: the host crashed
}

// PassedQuestions lists gas bidding agents, in the order of asking.
type PassedQuestions = PassedList[AgentQuestion]

// PassedFires lists timers, in the order of their turns.
type PassedFires = PassedList[TimerID]

// PassedMessages lists deferred messages, by sequence number.
type PassedMessages = PassedList[Seq]

// PassedList lists the skipped items of one kind: failed items, each of which was
// begun, by name, and the others as a number.
type PassedList[T any] struct {
	_      struct{} `cbor:",toarray"`
	Failed []T      // in the order they came; nil without failures
	Begun  *uint64  // how many were begun when the proposer's time was over; nil: all that came
	// Skipped is the items that the proposer left for another of its blocks, by numbers, in
	// the order they came. They were cut off in an earlier block, or their party was late.
	// nil if none.
	Skipped []Skip
}

// Skip is a number of items in a row that the block left in place.
type Skip struct {
	_     struct{} `cbor:",toarray" json:"-"`
	Begun uint64   `json:"begun"` // how many of the kind were begun before them
	Count uint64   `json:"count"` // at least 1
}

// AgentQuestion names a question to a gas bidding agent: each is asked once a
// block (decision T15).
type AgentQuestion struct {
	_       struct{} `cbor:",toarray" json:"-"`
	Bidder  Address  `json:"bidder"`
	Actor   Address  `json:"actor"`
	Trigger Height   `json:"trigger_height"` // of the timers it is asked for
}

// Empty reports whether no item of the kind was skipped.
func (l *PassedList[T]) Empty() bool {
	return len(l.Failed) == 0 && l.Begun == nil && len(l.Skipped) == 0
}

// Empty reports whether no item was skipped: a block then has no Passed.
func (p *Passed) Empty() bool {
	return p == nil || p.Questions.Empty() && p.Fires.Empty() && p.Messages.Empty() && len(p.Late) == 0
}

// TooLong reports whether one of the lists is longer than MaxPassed or MaxLate.
func (p *Passed) TooLong() bool {
	return p != nil && max(len(p.Questions.Failed), len(p.Fires.Failed), len(p.Messages.Failed),
		len(p.Questions.Skipped), len(p.Fires.Skipped), len(p.Messages.Skipped)) > MaxPassed || p != nil && len(p.Late) > MaxLate
}

// nothingPassed is the commitment of a block that skipped nothing.
var nothingPassed = Keccak()

// PassedHash is the header's commitment to the skipped items: keccak256 of its
// encoding, or of nothing without skipped items.
func PassedHash(p *Passed) Hash {
	if p == nil {
		return nothingPassed
	}
	return Keccak(codec.Marshal(p))
}

// Blame adds a validator to those on which an item failed, sorted, and removes
// those outside the set, which bounds the list. enough reports that there are more
// of them than can be faulty, so that at least one is right (decision C18).
func (s *ValidatorSet) Blame(before []Address, by Address) (after []Address, enough bool) {
	for _, a := range append(slices.Clone(before), by) {
		at, found := slices.BinarySearchFunc(after, a, Address.Compare)
		if !found && s.Index(a) >= 0 {
			after = slices.Insert(after, at, a)
		}
	}
	return after, len(after) > s.MaxFaulty()
}

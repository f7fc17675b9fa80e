// Package mempool is the core of a validator's pool of transactions that are not
// yet final. It decides which transactions it takes and drops, and their order in a
// proposal (CIP-3's tips; decision C14).
//
// A Pool keeps a queue per sender in the order of nonces, which may have gaps.
// Nothing in it is consensus: each validator's differs. But it is a function of
// the calls made to it, so that a simulated world replays.
//
// A transaction leaves by Confirmed, when its nonce is used up in a final block;
// by Drop, when no block can hold it; by Expire, a number of blocks after it
// came; or displaced by a better one, when the pool or its sender's share is
// full. Only the last of a sender's queue is ever displaced, so that making room
// opens no gap; and when the pool is full, only by one that bids more.
//
// A transaction's bid is its stated tip per cycle, min(max_priority_fee_per_cycle,
// max_fee_per_cycle): its payment to the proposer when the base fee is low. It is
// proposed by its effective tip at the base fees of the block.
//
// Always true, and checked by Check: the queues, the index by hash and the sums
// of bytes agree, and no limit is exceeded.
//
// The caller judges form, signature, chain id and balance before a transaction gets
// here.
package mempool

import (
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits bound a pool. They are a node's own, not the chain's.
type Limits struct {
	Count       int    // transactions
	Bytes       int    // the sum of their encodings
	SenderCount int    // transactions of one sender
	SenderBytes int    // the sum of the encodings of one sender's
	NonceAhead  uint64 // how far a nonce may be from its account's
	// One that came is given up once AgeBlocks blocks and AgeTime are over: a network that makes
	// blocks as fast as it can has thousands while a large transaction waits for its turn.
	AgeBlocks uint64
	AgeTime   time.Duration
}

// DefaultLimits holds a few blocks of the maximum size and some hundred of ordinary
// ones. One sender gets at most a quarter of the bytes, and a share of the count
// that lets a load generator with one account fill a block.
var DefaultLimits = Limits{
	Count:       16_384,
	Bytes:       64 << 20,
	SenderCount: 2_048,
	SenderBytes: 16 << 20,
	NonceAhead:  2_048,
	AgeBlocks:   3_600,
	AgeTime:     2 * time.Minute,
}

// MaxDisplaced bounds how many transactions one newcomer may displace, so that
// admitting costs a bounded time and a large one cannot sweep the pool.
const MaxDisplaced = 64

// ReplacePercent is by how much a transaction must raise the fees of the one
// whose nonce it takes.
const ReplacePercent = 10

// Entry is a transaction as the pool sees it. T is what the caller wants back.
type Entry[T any] struct {
	Hash                   types.Hash
	Sender                 types.Address
	Nonce                  types.Nonce
	MaxFeePerCycle         types.Wei
	MaxFeePerCell          types.Wei
	MaxPriorityFeePerCycle types.Wei
	MaxPriorityFeePerCell  types.Wei
	Size                   int        // bytes of the encoding
	Came                   types.Time // when it came, by the clock of Expire
	Value                  T
}

// EntryOf returns the entry of a checked transaction.
func EntryOf[T any](tx *types.Transaction, hash types.Hash, sender types.Address, size int, value T) Entry[T] {
	return Entry[T]{
		Hash: hash, Sender: sender, Nonce: tx.Nonce, Size: size, Value: value,
		MaxFeePerCycle: tx.MaxFeePerCycle, MaxPriorityFeePerCycle: tx.MaxPriorityFeePerCycle,
		MaxFeePerCell: tx.MaxFeePerCell, MaxPriorityFeePerCell: tx.MaxPriorityFeePerCell,
	}
}

// statedTip is the stated tip, in wei per cycle.
func (e *Entry[T]) statedTip() types.Wei { return e.MaxPriorityFeePerCycle.Min(e.MaxFeePerCycle) }

// Error is a refusal: the sender's fault, or too much of a crowd. The pool is as
// it was.
type Error struct {
	Code    string // one of the Code constants
	Message string // what is wrong and what would be right
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// The codes of refusals, in the order Add looks for them.
const (
	CodeAlreadyKnown = "already_known"
	CodeNonceTooLow  = "nonce_too_low"
	CodeNonceGap     = "nonce_gap"
	CodeUnderpriced  = "underpriced_replacement"
	CodeSenderFull   = "sender_full"
	CodePoolFull     = "pool_full"
)

func newError(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

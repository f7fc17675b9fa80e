package client

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Words of the chain. Text forms are the forms of the HTTP API: 0x and hexadecimal
// digits.
type (
	Address   = types.Address
	Hash      = types.Hash
	TimerID   = types.TimerID
	PublicKey = types.PublicKey
	Bytes     = types.Bytes
	Height    = types.Height
	Cycles    = types.Cycles
	Cells     = types.Cells
	Wei       = types.Wei
	Int       = types.Int
	Epoch     = types.Epoch
	View      = types.View
	Nonce     = types.Nonce
	Seq       = types.Seq
	Millis    = types.Millis
	Time      = types.Time
	Signature = types.Signature
)

// Answers and requests that have another name than in the API, or a word about them.
type (
	ActorInfo        = model.Actor
	AnnouncedUpgrade = model.AnnouncedUpgrade // waits for its height
	ChainEvent       = model.Event            // of a receipt or a block
	FaucetReceipt    = model.Faucet
	Fault            = model.Fault // why something failed
	FaultEffect      = model.FaultReceipt
	FaultOrder       = model.FaultRequest
	Handler          = model.ActorHandler
	NamedNode        = model.NamedValidator
	TimerCalendar    = model.Calendar
	ViewOutcome      = model.View
)

// StatusOK is the status of a receipt that did not fail.
const StatusOK = "ok"

// The states of a timer.
const (
	TimerPending           = "pending"
	TimerFired             = "fired"
	TimerExpired           = "expired"
	TimerInsufficientFunds = "insufficient_funds"
	TimerCancelled         = "cancelled"
)

// The states of a job.
const (
	JobPending   = "Pending"
	JobAssigned  = "Assigned"
	JobExecuting = "Executing"
	JobCompleted = "Completed"
	JobFailed    = "Failed"
)

// The healths of a runner.
const (
	RunnerHealthy      = model.RunnerHealthy
	RunnerUnhealthy    = model.RunnerUnhealthy
	RunnerPaused       = model.RunnerPaused
	RunnerDeregistered = model.RunnerDeregistered
)

// WeiOf is an amount of n wei.
func WeiOf(n uint64) Wei { return types.WeiOf(n) }

// IntOf is the integer n.
func IntOf(n int64) Int { return types.IntOf(n) }

// IntFromBig is a big integer; ok is false where it does not fit.
func IntFromBig(b *big.Int) (i Int, ok bool) { return types.IntFromBig(b) }

// ParseInt reads an integer, as decimal digits.
func ParseInt(s string) (Int, error) { return types.ParseInt(s) }

// CBY is an amount of n coins, of 10^9 wei each.
func CBY(n uint64) Wei { return types.WeiOf(n).Mul(types.CBY) }

// ParseWei reads an amount in wei, as decimal digits.
func ParseWei(s string) (Wei, error) { return types.ParseWei(s) }

// ParseAddress reads an address: 0x and 40 hexadecimal digits.
func ParseAddress(s string) (a Address, err error) { return types.ParseAddress(s) }

// ParseHash reads a hash or a timer's id: 0x and 64 hexadecimal digits.
func ParseHash(s string) (Hash, error) { return types.ParseHash(s) }

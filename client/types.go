package client

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
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

// Answers of the network, with the field names of its JSON forms.
type (
	Ready          = model.Ready
	DevnetAccount  = model.DevnetAccount
	Account        = model.Account
	Block          = model.Block
	Transaction    = model.Transaction
	Receipt        = model.Receipt
	Upgraded       = model.Upgraded
	ChainEvent     = model.Event // of a receipt or a block
	Fault          = model.Fault // why something failed
	BaseFee        = model.BaseFee
	Param          = model.Param
	ParamChange    = model.ParamChange
	ActorInfo      = model.Actor
	ActorUpgrades  = model.ActorUpgrades
	UpgradeTerms   = model.UpgradeTerms
	StateEntry     = model.StateEntry
	Typed          = model.Typed
	LogLine        = model.LogLine
	ReadResult     = model.ReadResult
	Timer          = model.Timer
	TimerDetail    = model.TimerDetail
	TimerStory     = model.TimerStory
	TimerOrder     = model.TimerOrder
	LaneBlock      = model.LaneBlock
	Job            = model.Job
	JobRequest     = model.JobRequest
	JobStory       = model.JobStory
	JobRunner      = model.JobRunner
	JobDraw        = model.JobDraw
	JobResult      = model.JobResult
	Runner         = model.Runner
	RunnerRequest  = model.RunnerRequest
	RunnerChanges  = model.RunnerChanges
	Presence       = model.Presence
	Validator      = model.Validator
	Columns        = model.Columns
	Views          = model.Views
	Links          = model.Links
	TimerCalendar  = model.Calendar
	PresenceRange  = model.PresenceRange
	NodeLog        = model.NodeLog
	Move           = model.Move
	Pace           = model.Pace
	Advance        = model.Advance
	FaultOrder     = model.FaultRequest
	FaultEffect    = model.FaultReceipt
	ViewEvent      = model.ViewEvent
	TimerEvent     = model.TimerEvent
	JobEvent       = model.JobEvent
	RunnerEvent    = model.RunnerEvent
	PresenceEvent  = model.PresenceEvent
	FaucetReceipt  = model.Faucet
	RunnerPresence = model.RunnerPresence
)

// The parts of these.
type (
	ErrorBody     = model.ErrorBody
	ReadyNode     = model.ReadyNode
	Handler       = model.Handler
	NamedNode     = model.NamedValidator
	ViewOutcome   = model.View
	GaveUp        = model.GaveUp
	ViewLost      = model.ViewLost
	LinkNode      = model.LinkNode
	Link          = model.Link
	LinkRule      = model.LinkRule
	CalendarTier  = model.CalendarTier
	PresenceAt    = model.PresenceAt
	PresenceVote  = model.PresenceVote
	NodeLogLine   = model.NodeLogLine
	ActorTimers   = model.ActorTimers
	AdvanceTimer  = model.AdvanceTimer
	Split         = model.Split
	Tips          = model.Tips
	Vote          = model.Vote
	Passed        = model.Passed
	Late          = model.Late
	Asked         = model.Asked
	Watch         = model.Watch
	StoryEntry    = model.StoryEntry
	FeeRange      = model.FeeRange
	Settlement    = model.Settlement
	LaneDeferral  = model.LaneDeferral
	JobCallback   = model.JobCallback
	JobCommitment = model.JobCommitment
	JobPool       = model.JobPool
	JobLeftOut    = model.JobLeftOut
	DrawCandidate = model.DrawCandidate
	DrawStep      = model.DrawStep
	RateCard      = model.RateCard
)

// Requests of API, and answers that only its methods return.
type (
	AdvanceRequest      = model.AdvanceRequest
	AnswerRequest       = model.AnswerRequest
	ApplyUpgradeRequest = model.ApplyUpgradeRequest
	BalanceRequest      = model.BalanceRequest
	BalanceSet          = model.BalanceSet
	BidRequest          = model.BidRequest
	BidTrial            = model.BidTrial
	DeployRequest       = model.DeployRequest
	Deployed            = model.Deployed
	ExtendRequest       = model.ExtendRequest
	Health              = model.Health
	HeartbeatRequest    = model.HeartbeatRequest
	JobState            = model.JobState
	JobVerified         = model.JobVerified
	ParamRequest        = model.ParamRequest
	PolledJob           = model.PolledJob
	ProgressRequest     = model.ProgressRequest
	ReadRequest         = model.ReadRequest
	RefusalRequest      = model.RefusalRequest
	Reported            = model.Reported
	ResultRequest       = model.ResultRequest
	SendRequest         = model.SendRequest
	Sent                = model.Sent
	StateRequest        = model.StateRequest
	StateSet            = model.StateSet
	SubsetBasis         = model.SubsetBasis
	SubsetMember        = model.SubsetMember
	Subsets             = model.Subsets
	Trace               = model.Trace
	TraceBlock          = model.TraceBlock
	TraceCall           = model.TraceCall
	TraceChange         = model.TraceChange
	TraceFee            = model.TraceFee
	TraceLine           = model.TraceLine
	TracePlace          = model.TracePlace
	TraceSent           = model.TraceSent
	TraceSource         = model.TraceSource
	TraceStep           = model.TraceStep
	UpgradeRequest      = model.UpgradeRequest
	UpgradeTermsRequest = model.UpgradeTermsRequest
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

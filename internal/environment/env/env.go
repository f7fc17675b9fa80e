// Package env is the whole outside world of a node, on one page. Each
// interface has a real implementation and a simulated one; cores and shells
// see nothing else of the world.
package env

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Clock is a node's time.
type Clock interface {
	Now() types.Time
	// NewAlarm returns an alarm that calls ring when it is due. ring runs on a
	// goroutine of the clock's and must only hand an event on.
	NewAlarm(ring func()) Alarm
}

// Alarm rings once at or after the time it is set to. Setting it again
// replaces that time; types.Never stops it.
type Alarm interface {
	Set(types.Time)
}

// Mesh carries frames between validators, at most once each. Large frames
// and small ones may overtake each other; those of one kind come in order while
// a connection lasts. It authenticates the peer (decision J8) and nothing more: a
// frame is hostile until it is verified. Only validators are in it: the connections
// of runners are separate interfaces (CIP-11), so that none of their frames can
// reach consensus.
type Mesh interface {
	// Start delivers what arrives to receive, which must only hand it on. Frames
	// must not be changed: other receivers may share them.
	Start(receive func(from types.Address, frame []byte)) error
	// Send queues a frame, which is not to be changed any more. It never blocks; when
	// the queue of that peer is full or there is no connection the frame is lost, as on
	// any network.
	Send(to types.Address, frame []byte)
	// SetPeers names the validators to be connected with, oneself excluded.
	SetPeers([]types.Validator)
	// Connected lists the peers with a live connection, sorted.
	Connected() []types.Address
	Close() error
}

// MaxFrameBytes bounds a frame between validators: a block and its framing.
const MaxFrameBytes = types.MaxBlockBytes + 64<<10

// Connections holds one end of the connections between runners and validators: the
// end of a runner, which dials, or of a validator, which its peers dial. It
// authenticates the peer (decision J8) and nothing more: anybody may connect, and
// what comes is hostile until it is verified. Package connection has the promises.
type Connections interface {
	// Start begins to report events. receive must only hand it on; it is called
	// from several goroutines, and from one at a time for each connection.
	Start(receive func(connection.Event)) error
	// Do never blocks. Verbs of one connection are done in the order of the calls.
	Do(connection.Verb)
	Close() error
}

// Log is an append-only file of records with checksums: votes and block bodies
// (decision C5). A torn tail is cut off at Replay; damage before it is an
// error.
type Log interface {
	// Replay calls each with every record, oldest first; a record is each's to keep.
	Replay(each func(record []byte) error) error
	// Append writes records so that they survive what the durability promises
	// before it returns. The caller gives them up: they must not change any more.
	Append(records ...[]byte) error
	// Rewrite replaces the whole log by records, atomically, which are given over.
	Rewrite(records [][]byte) error
	// Size is the bytes the log takes.
	Size() int64
	Close() error
}

// Bucket is a table of a Store.
type Bucket string

// Write is one change to a Store: a put, or a delete where Value is nil.
type Write struct {
	Bucket Bucket
	Key    []byte
	Value  []byte
}

// Store is a durable ordered key-value store: finalized state and what is
// derived from finalized blocks. Reads may run concurrently with a Commit, and see
// all of it or nothing.
type Store interface {
	// Commit applies all writes or none.
	Commit([]Write) error
	// Get returns a copy of the value, or nil.
	Get(b Bucket, key []byte) ([]byte, error)
	// Scan calls each for keys in [from, to) in order, or backwards, until it
	// returns false. A nil to means the end. Slices are valid during the call
	// only, and each must not use the store: a reader inside a reader can wait for
	// a Commit that waits for the outer one.
	Scan(b Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) error
	Close() error
}

// WriteBack is a Store whose commits are durable only after the next Flush. Readers see them before.
type WriteBack interface {
	Store
	// Flush makes all commits so far as durable as the store promises. Where it fails, the store takes no more.
	Flush() error
}

// Signer holds one secp256k1 key.
type Signer interface {
	Address() types.Address
	PublicKey() types.PublicKey
	Sign(digest types.Hash) types.Signature
}

// Verifier judges signatures. It is safe for concurrent use.
type Verifier interface {
	// Recover returns the address that signed digest; ok is false for an invalid
	// signature (decision C10: low s, v 0 or 1).
	Recover(digest types.Hash, sig types.Signature) (signer types.Address, ok bool)
}

// Loops gives each role of a node the dispatcher that runs it. In the simulator
// that is one seeded loop for the whole world; live, each role has its own loop, so
// that neither checking nor programs nor disks delay a vote.
type Loops interface {
	Loop(role string) actor.Dispatcher
}

// Labour is a kind of work that takes time.
type Labour uint8

// The kinds of work that a validator reports.
const (
	Cycles       Labour = iota // of programs, and of the chain on their behalf
	Recoveries                 // of signers
	Signatures                 // made
	BytesRead                  // of frames
	BytesWritten               // of the log and the store
)

// Work is told what a role has done, in its step. Live it is nil: time has passed
// by then, and the clock shows it. In the simulator, time passes by a model: the
// role's clock shows it from there on, and the role's further actions are later.
type Work interface {
	Did(what Labour, n uint64)
}

// Executor does the work of a runner's jobs, apart from everything that is
// deterministic. A job comes from a stranger: what it asks for is hostile until
// Accepts has judged it, and bounded by its own bounds and the runner's after that.
type Executor interface {
	// Capabilities and Entitlements are what the runner may say it has, each sorted,
	// in the words of a CapabilityDelta.
	Capabilities() []string
	Entitlements() []string
	// Accepts returns why a job is not taken, nil if it is. It starts no work.
	Accepts(*push.JobSpec) *execution.Refusal
	// Execute begins work and returns at once. tell gets the reports on it, from
	// other goroutines, one call after the other, Done or Failed last; it must only
	// hand them on. A job that is not accepted is told as Failed. Work that is
	// under way is not begun again.
	Execute(id execution.ID, spec *push.JobSpec, tell func(execution.Report))
	// Cancel ends work. Later reports on it were already being sent.
	Cancel(execution.ID)
	// Close ends all work, and waits until nothing of it is left.
	Close()
}

// ChainView is a runner's view of the chain, in addition to validators' messages on
// its connections (decision J13). It works over HTTP if the runner is a separate
// process, from the final state of a validator in the same process, and over frames in
// the simulator. It is made for one runner. Its reports come from a stranger: bounded
// by package chainview's limits, and worth no more than one validator's word.
type ChainView interface {
	// Start begins to tell heads: soon the first, then each newer one, and the same
	// again where what it says has changed. Heights never fall. Where heads come
	// faster than they can be fetched, those between are left out. receive must only
	// hand it on; it is called from one goroutine at a time. Without an answer
	// nothing is reported, and the view continues to ask, other servers too if it
	// knows any.
	Start(receive func(*chainview.Head)) error
	// Follow names the assignments that heads are to report from now on, instead of
	// those named before, at most chainview.MaxFollowed. It never blocks. A head that
	// has them comes soon, also where its height is no other.
	Follow([]execution.ID)
	// Close ends it; nothing is told afterwards.
	Close() error
}

// Polls asks validators without a connection (decision J11): over HTTP from a separate
// process, at their gateways in their own process, over links in the simulator. An answer
// comes from a stranger, and is bounded as package polling says.
type Polls interface {
	// Start begins to tell answers. receive must only hand one on; it is called from
	// several goroutines.
	Start(receive func(polling.Answer)) error
	// Ask never blocks. A question has at most one answer. If none comes in time, the
	// runner asks another validator.
	Ask(polling.Question)
	Close() error
}

// Base is what a node of any kind is given. Another kind is a struct like
// Validator: its Base, and its other parts.
type Base struct {
	Work     Work // nil: time passes by itself
	Clock    Clock
	Loops    Loops
	Signer   Signer
	Verifier Verifier
	Log      Log
}

// Validator is everything one validator is given.
type Validator struct {
	Base
	Mesh Mesh
	Life types.Life // drawn for this start; zero: it is its key's only one by its owner's word
	// Lied reports whether a fault had the node send votes of its key that it did not cast:
	// those are no other process's. Nil: none did.
	Lied        func() bool
	Connections Connections // with runners; nil: it lets none in
	Store       Store
	Programs    program.Host
	Contracts   Contracts // nil: contracts do what they do
}

// Contracts intercepts the contracts of one node, whose code is the chain's own.
type Contracts interface {
	// Begin is called in the actor of a contract before it handles a message. It may
	// take time, or panic: the contract then fails on that message.
	Begin(contract types.Address)
}

// Runner is everything one runner is given. It stores only its key: after a restart
// it has lost its jobs, gets them again from the validators, and repeats them. So
// it has no log.
type Runner struct {
	Base        // Log is nil
	Connections Connections
	Chain       ChainView
	Executor    Executor
	Polls       Polls // nil: it is given jobs on connections only
}

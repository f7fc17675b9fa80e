package answers

import (
	"context"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Reader is one node's latest final state and the blocks before it. It does not
// change while it is held, except its history, which grows, and loses its oldest
// blocks if it is bounded.
type Reader interface {
	Head() Head
	// At is the same node when the block of an earlier height, or the last block before it, was its latest: blocks are
	// executed again for it, as for Trace. What no block says is not there: connections of runners, and pools.
	At(ctx context.Context, h types.Height) (Reader, error)
	Kept() (history.Kept, error)
	Block(types.Height) (*Block, error) // genesis for 0; nil when there is none; not_kept when it was dropped
	// Heads lists the blocks of a range of heights, oldest first: the first limit blocks, or
	// with newest the last.
	Heads(from, to types.Height, newest bool, limit int) ([]history.Head, error)
	HeightOf(block types.Hash) (types.Height, bool, error) // of a final block
	Transaction(types.Hash) (*types.Transaction, types.Height, error)
	Receipt(types.Hash) (*history.Executed, error)
	Account(types.Address) (actors.Account, error)
	Actor(types.Address) (*Actor, error)       // nil when there is none
	Actors(offset, limit int) ([]Actor, error) // by address
	Schema(types.Address) ([]byte, error)      // as JSON; nil for an actor without a schema
	// SchemaOf returns the schema that a deploy of code would keep, as JSON.
	SchemaOf(code []byte) ([]byte, error)
	Named(name string) ([]types.Address, error) // the actors deployed under a name
	// Addresses lists the addresses of actors from first to last.
	Addresses(first, last types.Address) ([]types.Address, error)
	State(actor types.Address, prefix []byte, offset, limit int) ([]actors.Entry, error)
	Logs(actor types.Address, page history.Page) ([]history.LogLine, error)
	Timer(types.TimerID) (*Timer, error)
	Timers(history.TimerFilter) ([]Timer, error)
	// Story returns the life of a timer, with at most the given number of the
	// blocks that deferred it, from a height on. It is nil if there is no such
	// timer.
	Story(id types.TimerID, from types.Height, blocks int) (*Story, error)
	// Lane lists the records of the timer lane of the last blocks, newest last.
	Lane(last int) ([]model.LaneBlock, error)
	// Tally counts the pending timers by tier and bins of width heights; it reads at most
	// limit of them.
	Tally(from, to, width types.Height, limit int) scheduler.Tally
	Params() ([]model.Param, error)
	// Runner returns a registered runner, nil if there is none. The chain does not
	// know its name and its connections: callers that know the nodes add these, here
	// and in all other answers on runners.
	Runner(types.Address) (*model.Runner, error)
	// RunnerAddresses lists the addresses of runners from first to last.
	RunnerAddresses(first, last types.Address) []types.Address
	// Runners lists them in the order of the registry.
	Runners(RunnerFilter) ([]model.Runner, error)
	Subsets() model.Subsets
	// Presence returns P(H), nil if no block after H is final, or H has none.
	Presence(types.Height) (*model.Presence, error)
	// Attested is the same as bitmaps.
	Attested(types.Height) (*history.Presence, error)
	Job(types.Hash) (*model.Job, error)          // nil if there is none
	Jobs(history.JobFilter) ([]model.Job, error) // in the order of submission
	JobRunners(types.Hash) ([]model.JobRunner, error)
	JobDraws(types.Hash) ([]model.JobDraw, error) // in their order
	JobResults(of types.Hash, p history.Page, bare bool) ([]model.JobResult, error)
	JobStory(types.Hash, history.Page) ([]model.JobEvent, error)
	// Phase is cip11.push (decision J11).
	Phase() string
	// Assignments lists a page of a runner's open assignments, after a cursor, and returns
	// the cursor of the next page (polling.Page); an unregistered runner has none.
	Assignments(runner types.Address, after polling.Cursor) ([]model.PolledJob, polling.Cursor)
	// Read runs a handler read-only on this state.
	Read(ctx context.Context, call ledger.Call) (ledger.ReadResult, error)
	// Simulate executes a transaction on this state and forgets it. It returns its trace too.
	Simulate(ctx context.Context, tx *types.Transaction) (*history.Executed, *model.Trace, error)
	// Trace executes a final execution again and returns its trace; nil if there is
	// none. It stops when ctx ends, and continues from there when it is asked again.
	Trace(ctx context.Context, hash types.Hash, ask TraceRequest) (*model.Trace, error)
	// TryBid asks a gas bidding agent for the price of a hypothetical timer.
	TryBid(ctx context.Context, trial ledger.BidTrial) (ledger.BidTried, error)
	// Hashes calls each for the hashes of a kind from first to last, in order,
	// until it returns false.
	Hashes(of history.HashKind, first, last types.Hash, each func(types.Hash) bool) error
}

// RunnerFilter selects runners; zero fields select all.
type RunnerFilter struct {
	Health    string // one of model's
	Available bool   // who a draw would look at
	Offset    int
	Limit     int
}

// Head is the latest final block and what the next one starts from.
type Head struct {
	Height           types.Height
	Hash             types.Hash
	Timestamp        types.Millis
	TimersPending    uint64
	JobsOpen         uint64 // that have not ended
	NextBaseFeeCycle types.Wei
	NextBaseFeeCell  types.Wei
	NextBaseFeeLane  types.Wei
}

// Block is a final block with all that executing it gave.
type Block struct {
	history.Stored
	Deferred []history.TimerMark // the timers that it examined and left
	Events   []types.Event       // the chain's own that belong to no receipt
	// Jobs holds its changes of jobs, and then validators' sightings of jobs outside
	// the chain since the block before.
	Jobs     []model.JobEvent
	Presence []model.PresenceEvent
	// Runners holds validators' sightings of runners outside the chain since the block
	// before.
	Runners []model.RunnerEvent
}

// TraceRequest chooses the optional parts of a trace.
type TraceRequest struct {
	Profile bool // what each line of code took
	Sources bool // the code
}

// Actor is a deployed actor.
type Actor struct {
	Address       types.Address
	Name          string
	Owner         types.Address
	CodeHash      types.Hash
	DeployedAt    types.Height
	Handlers      []program.Handler
	Undescribed   string // why the handlers are unknown; "" if they are known
	TimersPending uint64
	Upgrades      *actors.Upgradable // nil: deployed without
}

// Timer is a timer in any state.
type Timer struct {
	history.TimerRecord
	Tier string // "" once it ended
}

// Story is the life of a timer. The names of proposers are left out: who knows
// the nodes adds them.
type Story struct {
	Timer   Timer
	Entries []model.StoryEntry
	Next    types.Height // 0 where all is told
}

package validators

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Config configures a validator, besides its environment.
type Config struct {
	Name    string // v0, v1, …: unique in the process
	Genesis *ledger.Genesis
	Memo    *Memo // shared by the validators of a process; nil: this one executes every block itself
	Log     *slog.Logger
	// RewriteBytes is the size of the log of votes at which records that the store
	// holds are dropped from it; 0: DefaultRewriteBytes.
	RewriteBytes int64
	// FlushDelay is how long a block waits at most in a store that gathers commits (env.WriteBack) before it is flushed; 0:
	// DefaultFlushDelay.
	FlushDelay time.Duration
	// History is how many blocks the archive keeps; 0: all.
	History uint64
	// Bootstrap are validators that it also connects with while it is not a member of the
	// set that it has. It does so too while it has no final block that was made after its
	// start. All members of an old set may have left.
	Bootstrap []types.Validator
	// Lost says that a validator of this key has run before: an empty log was
	// lost. A store, if present, shows this as well.
	Lost bool
	// Unfit is why this validator cannot execute blocks as the network does, in words: it
	// neither proposes nor votes (decision C20). "": it can.
	Unfit string
	// Python is the version of the interpreter that runs programs here, for people; "": unknown.
	Python string
	// Head is what the store holds, where its owner has it in memory, so that it is not
	// read from there; nil: it is read.
	Head *Head
	// Observe is called with blocks that are final and in the store, on the archive
	// role's loop; it must only hand them on. It may be nil.
	Observe func(FinalBlocks)
	// Booted is told what the validator begins with, before it finalizes anything.
	// It may be nil.
	Booted func(*Head)
	// Tell is called with the reports of consensus, on its loop and before they
	// take effect; it must only hand them on. It may be nil.
	Tell func(name string, report simplex.Report)
	// TellRunners is told what the gateway reports of runners, on its loop; it must only
	// hand it on. It may be nil.
	TellRunners func(name string, report gateway.Report)
	// Dropped is told, on the execution role's loop, of transactions that no block can
	// hold any more, and why; it must only hand them on. Transactions that do not fit
	// into one mempool are not reported: another validator's pool may have them. It
	// may be nil.
	Dropped func(hash types.Hash, why string)
	// Strategy decides the effect of a panic in one of the validator's roles.
	Strategy roles.Strategy
	// OnFailure is told once when the validator stops by itself: its disk
	// failed, or it found a bug of ours, or a role took it along, by a *roles.Failure.
	// It may be nil.
	OnFailure func(error)
}

// FinalBlocks are blocks that became final together, oldest first.
type FinalBlocks struct {
	Validator    string
	Results      []*ledger.Result
	Finalization *types.Certificate
}

// Head is the highest finalized block and the state after it. It is never
// changed.
type Head struct {
	State        *ledger.State
	Block        *types.Block
	Hash         types.Hash
	Finalization *types.Certificate // nil at genesis
	Notarization *types.Certificate // nil at genesis, and where only the finalization came
}

// Validator is one running validator.
type Validator struct {
	name     string
	genesis  *ledger.Genesis
	node     env.Validator
	runtime  *roles.Runtime
	group    *roles.Group
	memo     *Memo
	life     *life // this run, as memo knows it
	log      *slog.Logger
	config   Config
	history  *history.Archive
	admitter *ledger.Executor // admits transactions; executes nothing

	gateway   roles.Inbox[gatewayEvent]
	intake    roles.Inbox[intakeEvent]
	consensus roles.Inbox[consensusEvent]
	execution roles.Inbox[executionEvent]
	// findPooled looks into the mempool of execution, whose loop alone may call it while it runs.
	findPooled func(types.Hash) *ledger.Checked
	archive    roles.Inbox[archiveEvent]

	ingress  *ingress
	known    knownVotes
	requests requests
	peers    []types.Validator // what setPeers made its last list of
	began    types.Millis      // when it started, by its clock

	sets        atomic.Pointer[simplex.Sets]
	head        atomic.Pointer[Head] // final
	shown       atomic.Pointer[Head] // final, and in the store: what readers see
	round       atomic.Pointer[Round]
	pool        atomic.Int64 // transactions in the mempool
	connections atomic.Pointer[[]gateway.Live]
	checking    uint64       // the batch that intake checks, its own; 0: none
	since       atomic.Int64 // when the last block became final here, types.Time
	count       counters

	lost     atomic.Bool            // its log of votes was lost, or its end, when it started
	twin     atomic.Pointer[string] // what another process with its key keeps it from; nil: nothing
	trouble  troubles
	diverged atomic.Pointer[Divergence] // nil: it executes as the others do
	pythons  peerPythons
	replay   replay
	gaveUp   atomic.Pointer[GivenUp] // the last view that it gave up
	once     sync.Once               // guards fail, which acts once
}

// Round is the current view of consensus.
type Round struct {
	Epoch  types.Epoch
	View   types.View
	Leader types.Address
}

// counters count what the outside did wrong and what failed here.
type counters struct {
	refusedFrames, refusedTransactions, refusedBlocks atomic.Uint64
	buildFailures, hostFailures                       atomic.Uint64
	nullified, evidence, mutedPeers, shutPeers        atomic.Uint64
	restarted, contracts                              atomic.Uint64
	gaveUp                                            [simplex.Causes]atomic.Uint64
	runners                                           runnerCounters
}

// GivenUp is a view for which a validator voted nullify, and why.
type GivenUp struct {
	At     types.Time
	View   types.View
	Leader types.Address
	Cause  simplex.Cause
	Detail string // what it waited for, in words; may be ""
}

// Status is the status of a validator.
type Status struct {
	Name      string        `json:"name"`
	Address   types.Address `json:"address"`
	Height    types.Height  `json:"height"` // finalized
	Round     Round         `json:"-"`
	Pool      int           `json:"mempool"`
	Connected []types.Address
	Refused   Refused
	LastBlock types.Time             // when a block became final here last, by the node's clock; when it started, before the first
	Lost      bool                   `json:"-"` // its log of votes was lost, or its end, when it started (decision C5)
	Twin      string                 // why it does not vote while another process has its key; "": it votes, as far as that goes
	Trouble   *Trouble               // what went wrong last; nil: nothing yet
	Unfit     string                 // why it neither proposes nor votes; "": it does
	Diverged  *Divergence            // it executes otherwise than the others (decision C2); nil: it does not
	Behind    time.Duration          // how much its clock is earlier than the newest final stamp, if voters do not allow it; otherwise 0
	GaveUp    *GivenUp               // the last view that it gave up; nil: none yet
	Runners   Runners                // what happened to runners here
	Roles     Roles                  // what happened to its actors
	GivenUp   [simplex.Causes]uint64 // views that it gave up since it started, by cause
}

// Roles counts what happened to the actors of a validator since it started.
type Roles struct {
	DeadLetters uint64 // events for roles that had stopped
	Restarted   uint64 // roles that panicked, and were restarted separately
	Contracts   uint64 // the same of contracts
}

// Refused counts what came from outside and was turned away.
type Refused struct {
	Frames, Transactions, Blocks, Builds, Nullified, Evidence uint64
	Hosts                                                     uint64 // executions over which the host of programs failed
	Peers                                                     uint64 // muted or shut out for their frames
}

// StoreError says that what the store holds cannot be used: it is damaged, or not
// of this chain. The other validators have it as well.
type StoreError struct {
	Name  string
	Cause error
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("%s: its store cannot be read: %v", e.Name, e.Cause)
}

func (e *StoreError) Unwrap() error { return e.Cause }

// Start starts a validator on its environment: from its store and its log if these
// hold something, otherwise from genesis.
func Start(rt *roles.Runtime, cfg Config, node env.Validator) (*Validator, error) {
	if cfg.RewriteBytes <= 0 {
		cfg.RewriteBytes = DefaultRewriteBytes
	}
	if cfg.FlushDelay <= 0 {
		cfg.FlushDelay = DefaultFlushDelay
	}
	if cfg.Memo == nil {
		cfg.Memo = new(Memo)
	}
	v := &Validator{name: cfg.Name, genesis: cfg.Genesis, node: node, runtime: rt, memo: cfg.Memo, life: &life{},
		config: cfg, replay: replay{done: make(chan struct{})},
		log: cfg.Log.With("node", cfg.Name), history: history.Of(node.Store), admitter: &ledger.Executor{Verifier: node.Verifier}}
	v.group = roles.NewGroup(rt, v.supervisionOf())
	head, err := v.restoreHead()
	if err != nil {
		return nil, &StoreError{cfg.Name, err}
	}
	v.ingress = newIngress(v)
	v.head.Store(head)
	v.shown.Store(head)
	if cfg.Booted != nil {
		cfg.Booted(head)
	}
	v.since.Store(int64(node.Clock.Now()))
	v.began = node.Clock.Now().Millis()
	if err := v.group.Start(cfg.Name, node.Loops.Loop, v.listRoles()); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	v.replay.endAtHeight(head.Block.Header.Height)
	v.setPeers(head.State)
	if err := node.Mesh.Start(v.ingress.receiveFrame); err != nil {
		v.Stop()
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	v.execution.Post(begin{})
	v.consensus.Post(begin{})
	if v.node.Connections != nil {
		v.gateway.Post(begin{})
		if err := v.node.Connections.Start(func(e connection.Event) { v.gateway.Post(connected{e}) }); err != nil {
			v.Stop()
			return nil, fmt.Errorf("%s: %w", cfg.Name, err)
		}
	}
	return v, nil
}

// begin is the first event of a role, once all others exist.
type begin struct{}

// listRoles lists the roles in the order in which they start; they stop the other way
// round, the archive last, so that nothing finalized is lost. Only intake holds nothing
// that the others rely on. The archive's input is stored only there, execution has the
// states of consensus, consensus would lose its open requests, and the gateway has
// connections: a panic in each of these restarts the node (decision C21).
func (v *Validator) listRoles() []roles.Part {
	return []roles.Part{
		roles.As("archive", &v.archive, v.newArchive),
		roles.As("execution", &v.execution, v.newExecution),
		roles.As("consensus", &v.consensus, v.newConsensus),
		roles.As("intake", &v.intake, v.newIntake).Alone(),
		roles.As("gateway", &v.gateway, v.newGateway),
	}
}

// unknownEvent is what a role panics with that is told what it does not know: a bug.
func unknownEvent(role string, event any) string {
	return fmt.Sprintf("validators: %s does not know what to do with a %T", role, event)
}

// Stop ends the roles, the gateway's first, which says Goodbye to runners. The
// environment is left to its owner, but for the mesh and the connections with
// runners, which are closed.
func (v *Validator) Stop() {
	v.gateway.Stop()
	if v.node.Connections != nil {
		if err := v.node.Connections.Close(); err != nil {
			v.log.Warn("the connections with runners did not close cleanly", "error", err)
		}
	}
	if err := v.node.Mesh.Close(); err != nil {
		v.log.Warn("the transport did not close cleanly", "error", err)
	}
	v.group.Stop()
	v.requests.refuseAll()
	v.memo.endLife(v.life) // if the roles were killed, they were not notified
}

// supervisionOf is how its roles are treated that panic.
func (v *Validator) supervisionOf() roles.Supervision {
	return roles.Supervision{Strategy: v.config.Strategy, Now: v.node.Clock.Now,
		After: func(d time.Duration, do func()) { v.node.Clock.NewAlarm(do).Set(v.node.Clock.Now().Add(d)) },
		Restarted: func(role string) {
			v.count.restarted.Add(1)
			v.trouble.noteTrouble(v.node.Clock.Now(), "its role "+role+" panicked, and was made again")
			v.log.Warn("a role panicked, and was made again", "role", role)
		},
		Along: func(f *roles.Failure) { v.failWith("a role takes it along", f) }}
}

// Upset has a role panic, as ordered, or with a duration handle no event for so long
// (roles.Group says more).
func (v *Validator) Upset(role string, hang time.Duration, order *roles.Ordered) error {
	return v.group.Upset(role, hang, order)
}

// failWith stops a validator that cannot continue.
func (v *Validator) failWith(what string, err error) {
	v.once.Do(func() {
		failure := fmt.Errorf("%s stops: %s: %w", v.name, what, err)
		v.log.Error("the validator stops", "what", what, "error", err)
		v.group.Dismiss()
		v.replay.end()
		if v.config.OnFailure != nil {
			v.config.OnFailure(failure)
		}
	})
}

// restoreHead reads the last finalized block and its state from the store.
func (v *Validator) restoreHead() (*Head, error) {
	if v.config.Head != nil {
		return v.config.Head, nil
	}
	if head, err := Restore(v.node.Store); err != nil || head != nil {
		return head, err
	}
	made := v.memo.makeGenesis(v.genesis)
	if made.err != nil {
		return nil, made.err
	}
	return &Head{State: made.state, Block: made.block, Hash: made.block.Hash()}, v.node.Store.Commit(made.writes)
}

// Restore reads the last finalized block and its state from a store, nil if it has
// none.
func Restore(store env.Store) (*Head, error) {
	stored, err := history.Of(store).Tip()
	if err != nil || stored == nil {
		return nil, err
	}
	var changes []ledger.Change
	err = history.ScanState(store, func(key, value []byte) {
		changes = append(changes, ledger.Change{Key: bytes.Clone(key), Value: bytes.Clone(value)})
	})
	if err != nil {
		return nil, err
	}
	state, err := ledger.Restore(changes, stored.Block)
	if err != nil {
		return nil, err
	}
	return &Head{State: state, Block: stored.Block, Hash: stored.Hash, Finalization: stored.Finalization, Notarization: stored.Notarization},
		nil
}

// Head returns the highest block that is final and in the store, and its state.
func (v *Validator) Head() *Head { return v.shown.Load() }

// Archive returns the finalized history.
func (v *Validator) Archive() *history.Archive { return v.history }

// Name is the validator's name in this network.
func (v *Validator) Name() string { return v.name }

// ErrBusy refuses a transaction while too much from outside is waiting.
var ErrBusy = errors.New("busy: too many transactions are waiting to be checked; send it again in a moment")

// Status returns the validator's status.
func (v *Validator) Status() Status {
	s := Status{Name: v.name, Address: v.node.Signer.Address(), Height: v.Head().Block.Header.Height,
		Pool: int(v.pool.Load()), Connected: v.node.Mesh.Connected()}
	if round := v.round.Load(); round != nil {
		s.Round = *round
	}
	s.Refused = Refused{Frames: v.count.refusedFrames.Load(), Transactions: v.count.refusedTransactions.Load(),
		Blocks: v.count.refusedBlocks.Load(), Builds: v.count.buildFailures.Load(),
		Nullified: v.count.nullified.Load(), Evidence: v.count.evidence.Load(), Hosts: v.count.hostFailures.Load(),
		Peers: v.count.mutedPeers.Load() + v.count.shutPeers.Load()}
	s.Roles = Roles{DeadLetters: v.group.DeadLetters(), Restarted: v.count.restarted.Load(), Contracts: v.count.contracts.Load()}
	s.Lost = v.lost.Load()
	s.LastBlock, s.Trouble, s.GaveUp = types.Time(v.since.Load()), v.trouble.last.Load(), v.gaveUp.Load()
	s.Unfit = v.config.Unfit
	if s.Diverged = v.diverged.Load(); s.Diverged != nil {
		s.Unfit = s.Diverged.String()
	}
	if twin := v.twin.Load(); twin != nil {
		s.Twin = *twin
	}
	s.Behind = v.clockBehind()
	s.Runners = v.count.runners.readCounts()
	for c := range s.GivenUp {
		s.GivenUp[c] = v.count.gaveUp[c].Load()
	}
	return s
}

// reportWork reports work that takes time.
func (v *Validator) reportWork(what env.Labour, n uint64) {
	if v.node.Work != nil {
		v.node.Work.Did(what, n)
	}
}

// setPeers connects with the validators of the state's set, with those of the
// set before, who may lack the last block they decided on, and with those that
// join next, who have to catch up first. A state that may be old has Config.Bootstrap
// in addition.
func (v *Validator) setPeers(state *ledger.State) {
	self := v.node.Signer.Address()
	all := slices.Clone(state.Validators().Members)
	if former := state.FormerValidators(); former != nil {
		all = append(all, former.Members...)
	}
	for _, move := range state.Moves() {
		if move.Join != nil {
			all = append(all, *move.Join)
		}
	}
	if state.Validators().Index(self) < 0 || v.lost.Load() || state.Timestamp() < v.began {
		all = append(all, v.config.Bootstrap...)
	}
	if v.peers != nil && slices.Equal(all, v.peers) {
		return
	}
	v.peers = all
	var peers []types.Validator
	for _, one := range all {
		if one.Address != self && !slices.ContainsFunc(peers, func(p types.Validator) bool { return p.Address == one.Address }) {
			peers = append(peers, one)
		}
	}
	v.ingress.connectMembers(peers)
}

// showStoredBlocks lets readers see what is in the store now.
func (v *Validator) showStoredBlocks(event *archiveRequest) {
	v.shown.Store(event.lastHead())
	v.replay.endAtHeight(event.Tip().Block.Header.Height)
	if v.config.Observe != nil {
		v.config.Observe(FinalBlocks{Validator: v.name, Results: event.Results, Finalization: event.Finalization})
	}
}

package validators

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// executionEvent is an event of the execution role.
type executionEvent interface{ forExecution() }

// Events of the execution role.
type (
	build          struct{ ask simplex.Build }
	execute        struct{ ask simplex.Execute }
	finalizeReport struct{ report simplex.Finalized }
	catchUp        struct{ ask catchup.Apply }   // finalized blocks from a peer
	forget         struct{ blocks []types.Hash } // blocks whose results are no longer needed
	admission      struct {                      // transactions whose form and signature were checked
		txs     []*ledger.Checked
		here    bool      // the transactions came in at this validator
		request requestID // of an admitted, for a transaction that came in here; otherwise 0
	}
	// skipTo says that the blocks after from, up to a height, skip what they may, or
	// that every height gets a block.
	skipTo struct {
		from, height types.Height
		every        bool
	}
	// lookAtJobs rings when an open job may need a block.
	lookAtJobs struct{}
	// again says that what was put off may be tried.
	again struct{}
)

func (begin) forExecution()          {}
func (build) forExecution()          {}
func (execute) forExecution()        {}
func (finalizeReport) forExecution() {}
func (catchUp) forExecution()        {}
func (forget) forExecution()         {}
func (admission) forExecution()      {}
func (skipTo) forExecution()         {}
func (lookAtJobs) forExecution()     {}
func (again) forExecution()          {}

// execution is the role that owns the states of blocks not yet final, and the
// mempool.
type execution struct {
	v        *Validator
	onchain  *onchain
	executor *ledger.Executor
	pool     *pool
	results  map[types.Hash]*ledger.Result // executed, not final: of blocks that consensus holds, or was just handed
	working  bool                          // what consensus was told last
	target   skipTo
	tries    *ledger.Tries // what it gave up as a proposer
	retries  retries
	proposed *ownProposal // its newest block, until it is known what became of it
	attended types.Time   // when a block was executed here last
	jobs     env.Alarm    // rings for lookAtJobs; nil until it was needed
}

func (v *Validator) newExecution() (roles.Steps[executionEvent], error) {
	e := &execution{v: v, pool: newPool(v.node.Clock.Now, v.config.Dropped), results: map[types.Hash]*ledger.Result{},
		tries: ledger.NewTries()}
	v.findPooled = func(hash types.Hash) *ledger.Checked { return e.pool.findTransaction(hash) }
	return roles.Steps[executionEvent]{First: e.startRole, Each: e.receiveEvent, Last: e.stopRole}, nil
}

var errUnknownParent = errors.New("the block's parent was not executed here")

func (e *execution) receiveEvent(event executionEvent) {
	switch event := event.(type) {
	case begin, lookAtJobs:
		e.tellWork()
	case admission:
		e.admitTransactions(event)
	case askNonce:
		e.v.requests.answerRequest(event.request, e.pool.NextNonce(event.account, event.final))
	case askWaiting:
		e.v.requests.answerRequest(event.request, e.pool.findTransaction(event.hash))
	case askCaughtOn:
		e.v.requests.answerRequest(event.request, nil)
	case build:
		e.buildBlock(event.ask)
	case execute:
		e.executeBlock(event.ask)
	case finalizeReport:
		e.finalizeBlocks(event)
	case catchUp:
		if e.catchUp(event) {
			e.tryAgain() // what waited for these blocks
		}
	case forget:
		e.forgetResults(event)
	case again:
		e.tryAgain()
	case skipTo:
		e.target = event
	default:
		panic(unknownEvent("execution", event))
	}
}

func (e *execution) stopRole() {
	e.v.memo.endLife(e.v.life)
	for _, alarm := range []env.Alarm{e.retries.alarm, e.jobs} {
		if alarm != nil {
			alarm.Set(types.Never)
		}
	}
}

func (e *execution) startRole(ctx actor.Context) {
	onchain, err := newOnchain(e.v, ctx)
	if err != nil {
		e.v.failWith("the on-chain actors cannot be started", err)
		return
	}
	e.onchain = onchain
	e.executor = &ledger.Executor{Programs: e.v.node.Programs, Verifier: e.v.node.Verifier, Deliverer: onchain,
		Worked: func(cycles types.Cycles) { e.v.reportWork(env.Cycles, uint64(cycles)) }}
}

// parentState returns the state of a block's parent, or nil.
func (e *execution) parentState(hash types.Hash) *ledger.State {
	if head := e.v.head.Load(); head.Hash == hash {
		return head.State
	}
	if result := e.results[hash]; result != nil {
		return result.State
	}
	return nil
}

func (e *execution) buildBlock(ask simplex.Build) {
	built := simplex.Built{Epoch: ask.Epoch, View: ask.View}
	defer func() { e.v.consensus.Post(asSimplexEvent(built)) }()
	parent := e.parentState(ask.ParentHash)
	if parent == nil {
		e.v.log.Error("asked to build on a block that was not executed", "parent", ask.ParentHash)
		return
	}
	now := e.v.node.Clock.Now().Add(-ask.Ahead).Millis()
	proposal := ledger.Proposal{View: ask.View, Proposer: e.v.node.Signer.Address(), Timestamp: ledger.Stamp(parent, now),
		Parent: ask.Notarization, Finalization: ask.Finalization}
	if parent.Height() < e.target.height {
		if !e.target.every && (parent.Height() > e.target.from || !e.hasPending()) {
			proposal.Skipped = parent.SkipTo(e.target.height)
		}
		proposal.Timestamp = ledger.StampSkipping(parent, proposal.Skipped, now)
	}
	e.judgeOwnProposals(ask.ParentHash, parent)
	made, err := e.executor.Build(parent, proposal, e.pendingFor(parent), e.proposerPace(ask, parent))
	e.onchain.pool.EndRound(idleBlocks)
	if made != nil {
		for i := range made.Dropped {
			e.dropTransaction(made.Dropped[i].Transaction.Hash, reasonOf(&made.Dropped[i]))
		}
		e.tellFailures(made.Failures)
		for _, failure := range made.Failures {
			e.pool.light.noteSlow(e.pool.findTransaction(failure.Item))
		}
	}
	if err != nil {
		e.v.count.buildFailures.Add(1)
		e.v.trouble.noteTrouble(e.v.node.Clock.Now(), "no block could be built: "+err.Error())
		e.v.log.Warn("no block could be built", "height", parent.Height()+1, "error", err)
		return
	}
	e.v.memo.putResult(e.v.life, parent.Root(), made.Result)
	e.results[made.Result.Hash] = made.Result
	e.proposed = &ownProposal{made.Result.Hash, parent.Hash(), made.Result.Block.Header.Height, itemsOf(made.Result)}
	e.attendToJobs()
	built.Block = made.Result.Block
}

// proposerPace is the time of a proposer: a quarter of the leader timeout from when it was
// asked (decision C4), and at least chain.least_execution_ms from now, however
// short the timeouts are or late the role was asked: below that no interpreter
// would ever answer on a busy machine. Where views end before, timeouts grow: what a slow
// machine starves may have the longest of a leader.
func (e *execution) proposerPace(ask simplex.Build, parent *ledger.State) *ledger.Pace {
	now := e.v.node.Clock.Now()
	least := parent.NextParams().LeastExecMS.Duration()
	end := max(ask.By, now.Add(least))
	return &ledger.Pace{Share: end.Sub(now), Longest: simplex.TimingOf(parent.NextParams()).LongestLeader(),
		Left:  func() time.Duration { return end.Sub(e.v.node.Clock.Now()) },
		Begun: now.Sub(0), Tries: e.tries}
}

// reasonOf is why a transaction is forgotten, for its sender.
func reasonOf(drop *ledger.Dropped) error {
	if environment := (*ledger.EnvironmentError)(nil); errors.As(drop.Err, &environment) {
		return errors.New("host_failed: " + environment.Ended())
	}
	return drop.Err
}

// maxTold bounds the failures of one block that are logged.
const maxTold = 4

// tellFailures logs the items on which the environment failed, and which the block
// skips.
func (e *execution) tellFailures(failures []*ledger.EnvironmentError) {
	for i, failure := range failures {
		if i == maxTold {
			e.v.log.Warn("the host of programs failed more often than is logged", "of", len(failures))
			break
		}
		e.v.log.Warn("the host of programs failed; the block continues without the item", "what", failure.What, "error", failure.Err)
	}
	if len(failures) > 0 {
		e.v.count.hostFailures.Add(uint64(len(failures)))
		e.v.trouble.noteTrouble(e.v.node.Clock.Now(), failures[len(failures)-1].Brief())
	}
}

func (e *execution) executeBlock(ask simplex.Execute) {
	answer := simplex.Executed{Hash: ask.Hash}
	defer func() {
		e.v.consensus.Post(asSimplexEvent(answer))
		e.tellGatewayOfDraws(e.results[ask.Hash])
	}()
	if e.v.diverged.Load() != nil {
		answer.Failed, answer.Reason = true, "it executes otherwise than the others"
		return
	}
	if result := e.results[ask.Hash]; result != nil && result.Block == ask.Block { // its own
		answer.Valid, answer.Next, answer.Runners, answer.Places = true, result.NextSet, result.State.VoteBits(), result.State.Places()
		answer.Gap = result.State.NextParams().BlockTime()
		return
	}
	parent := e.parentState(ask.ParentHash)
	if parent == nil {
		answer.Reason = errUnknownParent.Error()
		return
	}
	execute := e.executor.Judge
	if ask.Notarized { // others could: this validator must have the result
		execute = e.executor.Apply
	}
	result, err := e.applyBlock(parent, ask.Block, execute)
	if err != nil && ask.Notarized {
		var told bool
		if result, told, err = e.executeAgain(parent, ask.Block, err); told {
			answer.Failed, answer.Reason = true, err.Error()
			return
		}
	}
	if err != nil {
		answer.Reason = err.Error()
		if environment := (*ledger.EnvironmentError)(nil); errors.As(err, &environment) {
			answer.Failed, answer.Late = true, environment.Late
			e.v.count.hostFailures.Add(1)
			e.v.trouble.noteTrouble(e.v.node.Clock.Now(), "a proposal cannot be judged here: "+environment.Brief())
			e.v.log.Warn("a proposal cannot be judged here: the host of programs fails", "height", ask.Block.Header.Height, "error", err)
			return
		}
		e.v.count.refusedBlocks.Add(1)
		e.v.log.Warn("a proposal does not execute", "height", ask.Block.Header.Height, "proposer", ask.Block.Header.Proposer, "error", err)
		return
	}
	e.results[result.Hash] = result
	e.attendToJobs()
	answer.Valid, answer.Next, answer.Runners, answer.Places = true, result.NextSet, result.State.VoteBits(), result.State.Places()
	answer.Gap = result.State.NextParams().BlockTime()
}

// tellGatewayOfDraws informs the gateway of a block that draws runners, after consensus is
// informed, so that it delays no vote.
func (e *execution) tellGatewayOfDraws(result *ledger.Result) {
	if result != nil && e.v.node.Connections != nil && result.Draws() {
		e.v.gateway.Post(foreseen{result})
	}
}

func (e *execution) applyBlock(parent *ledger.State, block *types.Block,
	execute func(*ledger.State, *types.Block) (*ledger.Result, error)) (*ledger.Result, error) {
	own := false // another validator of the process may have done it; it takes as long
	result, err := e.v.memo.applyOnce(e.v.life, parent.Root(), block, func() (*ledger.Result, error) {
		own = true
		defer e.onchain.pool.EndRound(idleBlocks)
		return execute(parent, block)
	})
	if err != nil {
		return nil, err
	}
	if !own {
		e.v.reportWork(env.Cycles, uint64(block.Header.CyclesUsed))
	}
	return result, nil
}

// finalizeBlocks makes executed blocks final, oldest first: all of them or none, since
// the finalization names the last. It returns false if it is put off, because the
// environment fails or blocks before these are missing.
func (e *execution) finalizeBlocks(event finalizeReport) bool {
	if e.v.diverged.Load() != nil {
		return true
	}
	if len(e.retries.waiting) > 0 || e.lacksBlocks() {
		e.putOff(event)
		return false
	}
	report := event.report
	done := archiveRequest{Final: history.Final{Finalization: report.Finalization, Notarization: report.Notarization}}
	for i, block := range report.Blocks {
		if block.Header.Height <= e.v.head.Load().Block.Header.Height {
			continue // catch-up brought it
		}
		result, err := e.finalResult(block, report.Hashes[i])
		if e.mustWait(event, err) {
			return false
		}
		if e.v.diverged.Load() != nil {
			return true
		}
		if err != nil {
			e.v.failWith("a finalized block does not execute", err)
			return true
		}
		done.Results = append(done.Results, result)
	}
	if len(done.Results) > 0 {
		e.v.head.Store(done.lastHead())
		e.handOver(done)
	}
	return true
}

// finalResult returns the result of a finalized block, which was usually executed
// before.
func (e *execution) finalResult(block *types.Block, hash types.Hash) (*ledger.Result, error) {
	if result := e.results[hash]; result != nil {
		return result, nil
	}
	parent := e.parentState(block.Header.Parent)
	if parent == nil {
		return nil, errUnknownParent
	}
	result, err := e.applyBlock(parent, block, e.executor.Apply)
	if err != nil {
		result, _, err = e.executeAgain(parent, block, err)
	}
	if err == nil {
		e.results[hash] = result
	}
	return result, err
}

// handOver hands finalized blocks on and forgets the results that they make
// obsolete.
func (e *execution) handOver(done archiveRequest) {
	height := done.Tip().Block.Header.Height
	e.retries.wait = 0
	e.v.since.Store(int64(e.v.node.Clock.Now()))
	for _, result := range done.Results {
		e.confirmBlock(result)
		e.tries.Ended(itemsOf(result))
		if e.proposed != nil && e.proposed.hash == result.Hash {
			e.noteQuorum()
		}
	}
	for hash, result := range e.results {
		if result.Block.Header.Height <= height {
			delete(e.results, hash)
		}
	}
	e.resendWaiting(height)
	e.tellWork()
	e.v.archive.Post(done)
	// Runners wait for it, but no reader waits for the store. If the processor has no
	// spare thread, the role that is notified last steps next; the others queue after all
	// that waits.
	if e.v.node.Connections != nil {
		e.v.gateway.Post(newHead{done.Results})
	}
}

// forgetResults lets go the results of blocks that consensus holds no longer. Where it comes
// to hold one again, it asks for its execution again.
func (e *execution) forgetResults(event forget) {
	for _, hash := range event.blocks {
		delete(e.results, hash)
	}
}

// catchUp executes and finalizes blocks that a peer had: all of a batch or
// none, since its finalization names the last. It returns false if it is put off,
// because the environment fails.
func (e *execution) catchUp(event catchUp) bool {
	if e.v.diverged.Load() != nil {
		return true // its peers are right, and it has no result
	}
	if e.retries.failing {
		e.putOff(event)
		return false
	}
	batch := event.ask.Batch
	done := archiveRequest{Final: history.Final{Finalization: batch.Finalization()}, batch: event.ask.ID}
	for i, block := range batch.Blocks() {
		if block.Header.Height <= e.v.head.Load().Block.Header.Height {
			continue
		}
		result, err := e.finalResult(block, batch.Hashes()[i])
		if e.mustWait(event, err) {
			return false
		}
		if e.v.diverged.Load() != nil {
			return true
		}
		if err != nil {
			e.v.log.Warn("a finalized block does not execute", "height", block.Header.Height, "error", err)
			e.v.consensus.Post(asCatchupEvent(catchup.Rejected{ID: event.ask.ID}))
			return true
		}
		done.Results = append(done.Results, result)
	}
	if len(done.Results) == 0 {
		e.v.consensus.Post(asCatchupEvent(catchup.Finalized{Root: e.v.head.Load().syncRoot()}))
		return true
	}
	e.v.head.Store(done.lastHead())
	e.handOver(done)
	return true
}

// tellWork tells consensus when there begins or ceases to be something to make
// a block for.
func (e *execution) tellWork() {
	e.v.pool.Store(int64(e.pool.Len()))
	state := e.v.head.Load().State
	working := state.HasWork() || e.hasPending() || e.jobsDue(state)
	if working != e.working {
		e.working = working
		e.v.consensus.Post(asSimplexEvent(simplex.Work{Pending: working}))
	}
}

// jobPace is how often an open job is something to do where blocks wait for work
// (decision J19).
const jobPace = time.Second

// attendToJobs takes note that a block is under way: open jobs ask for no other before
// it is final.
func (e *execution) attendToJobs() {
	e.attended = e.v.node.Clock.Now()
	if e.jobs != nil {
		e.tellWork()
	}
}

// jobsDue reports whether it is time for the block that an open job needs; before
// that it sets the alarm to check again.
func (e *execution) jobsDue(state *ledger.State) bool {
	if state.OpenJobs() == 0 || !state.NextParams().BlockTimeAuto {
		return false
	}
	due := max(types.Time(e.v.since.Load()), e.attended).Add(jobPace)
	if e.v.node.Clock.Now() >= due {
		return true
	}
	if e.jobs == nil {
		e.jobs = e.v.node.Clock.NewAlarm(func() { e.v.execution.Post(lookAtJobs{}) })
	}
	e.jobs.Set(due)
	return false
}

func isInvalid(err error) bool {
	var invalid *ledger.Invalid
	return errors.As(err, &invalid)
}

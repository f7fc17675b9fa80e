package validators

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// DefaultRewriteBytes is the log size at which records that the store already has
// are dropped from it, unless Config sets another: some 270 empty blocks of four validators. A
// rewrite reads the whole log and keeps about a dozen blocks, so that its cost a block hardly depends on the size.
const DefaultRewriteBytes = 512 << 10

// answerDelays is how many link delays a peer has to answer a request for
// blocks: two for the way, the others for reading and for the size.
const answerDelays = 8

// consensusEvent is an event of the consensus role.
type consensusEvent interface{ forConsensus() }

// Events of the consensus role.
type (
	// received is a message that was checked; simplexEvent is what else the Simplex
	// machine is told, catchupEvent what that of catch-up is.
	received     simplex.Received
	simplexEvent struct{ event simplex.Event }
	catchupEvent struct{ event catchup.Event }
	// alarmFired says that the alarm is due.
	alarmFired struct{}
	// peerAhead says that a peer is in an epoch unknown here.
	peerAhead struct {
		from  types.Address
		epoch types.Epoch
	}
	// attested holds changes of the gateway's attestations of runners.
	attested struct{ changes []gateway.Attests }
	// archived tells up to where the store holds the chain.
	archived struct {
		head  *Head
		batch uint64              // of catch-up; 0 for blocks that consensus finalized
		next  *types.ValidatorSet // where the block is its epoch's last
	}
)

func (received) forConsensus()     {}
func (simplexEvent) forConsensus() {}
func (catchupEvent) forConsensus() {}
func (begin) forConsensus()        {}
func (alarmFired) forConsensus()   {}
func (peerAhead) forConsensus()    {}
func (attested) forConsensus()     {}
func (archived) forConsensus()     {}

// asSimplexEvent is an event for the Simplex machine, synchronize one for that of catch-up.
func asSimplexEvent(event simplex.Event) consensusEvent { return simplexEvent{event} }
func asCatchupEvent(event catchup.Event) consensusEvent { return catchupEvent{event} }

// consensus is the role that owns the Simplex machine, the catch-up machine
// and the log.
type consensus struct {
	v       *Validator
	machine *simplex.Machine
	sync    *catchup.Machine
	runners gateway.Attested // the gateway's last report on runners
	alarm   env.Alarm
	timing  simplex.Timing // the timing that the parameters had last
	limit   int64          // bytes of the log from which on it is rewritten
}

func (v *Validator) newConsensus() (roles.Steps[consensusEvent], error) {
	c, err := resumeConsensus(v)
	if err != nil {
		return roles.Steps[consensusEvent]{}, fmt.Errorf("cannot resume consensus: %w", err)
	}
	return roles.Steps[consensusEvent]{Each: c.receiveEvent, Last: c.stopRole}, nil
}

// resumeConsensus makes the role from its log.
func resumeConsensus(v *Validator) (*consensus, error) {
	head := v.head.Load()
	records, lost, err := v.judgeLog(head)
	if err != nil {
		return nil, err
	}
	params := head.State.NextParams()
	timing := simplex.TimingOf(params)
	c := &consensus{v: v, timing: timing, limit: v.config.RewriteBytes}
	c.machine, err = simplex.New(simplex.Config{
		ChainID:  v.genesis.ChainID,
		Signer:   v.node.Signer,
		Timing:   timing,
		Set:      *head.State.Validators(),
		Previous: head.State.PreviousValidators(),
		Root:     head.asRoot(),
		Lost:     lost,
		Life:     v.node.Life,
		Python:   v.config.Python,
		Lied:     v.node.Lied,
		Follows:  v.config.Unfit != "",
		Presence: c.attestPresence,
	}, records)
	if err != nil {
		return nil, err
	}
	v.known.machine = c.machine
	c.sync = catchup.New(catchup.Config{Self: v.node.Signer.Address(),
		Timeout: answerDelays * timing.LinkDelay, Root: head.syncRoot()})
	c.publishSets()
	return c, nil
}

// judgeLog reads the log, and reports whether it is lost, or its end is (decision C5). A
// log of a former version is written again, so that the loss of its end shows later.
func (v *Validator) judgeLog(head *Head) (records [][]byte, lost bool, err error) {
	if records, err = v.readRecords(); err != nil {
		return nil, false, err
	}
	reach, err := simplex.ReachOf(records, head.asRoot())
	if err == nil {
		err = v.planReplay(records, head.asRoot())
	}
	if err != nil {
		return nil, false, err
	}
	if reach == simplex.Former {
		if records, err = simplex.Adopt(records, head.asRoot()); err == nil {
			err = v.node.Log.Rewrite(records)
		}
		return records, false, err
	}
	if lost = reach.Lost(v.config.Lost || head.Block.Header.Height > 0); lost {
		v.lost.Store(true)
		v.log.Warn(reach.String())
	}
	return records, lost, nil
}

// attestPresence returns the gateway's attestation in the form of a vote.
func (c *consensus) attestPresence(now types.Time, runners int, places selection.Places) []byte {
	return c.runners.Bitmap(now, runners, places).Bytes()
}

// readRecords reads the log, oldest first.
func (v *Validator) readRecords() (records [][]byte, err error) {
	err = v.node.Log.Replay(func(record []byte) error {
		records = append(records, record)
		return nil
	})
	if plant.Planted == plant.LosesLastWrite && len(records) > 0 {
		records = records[:len(records)-1]
	}
	return records, err
}

func (head *Head) asRoot() simplex.Root {
	return simplex.Root{Block: head.Block, Hash: head.Hash, Finalization: head.Finalization, Notarization: head.Notarization}
}

func (head *Head) syncRoot() catchup.Root {
	return catchup.Root{Block: head.Block, Hash: head.Hash, Finalization: head.Finalization,
		Set: *head.State.Validators(), Previous: head.State.PreviousValidators()}
}

func (c *consensus) receiveEvent(event consensusEvent) {
	if _, begins := event.(begin); !begins && c.alarm == nil {
		return // the mesh was a moment earlier: what comes before the beginning is as if it was lost
	}
	switch event := event.(type) {
	case begin:
		c.alarm = c.v.node.Clock.NewAlarm(func() { c.v.consensus.Post(alarmFired{}) })
		c.stepMachine(simplex.Start{})
	case alarmFired:
		c.onAlarm()
	case received:
		c.v.pythons.noteVersion(event.From, event.Message)
		c.stepMachine(simplex.Received(event))
	case simplexEvent:
		c.stepMachine(event.event)
	case catchupEvent:
		c.stepSync(event.event)
		if is, moved := event.event.(catchup.Finalized); moved {
			c.followRoot(is.Root) // only this reports blocks of catch-up that no caller waited for any longer
		}
	case attested:
		c.runners.Take(event.changes)
	case peerAhead:
		last := types.Height(uint64(event.epoch) * c.v.head.Load().State.NextParams().EpochBlocks)
		c.stepSync(catchup.Behind{Peer: event.from, Height: last})
	case archived:
		c.continueFromStore(event)
	default:
		panic(unknownEvent("consensus", event))
	}
}

func (c *consensus) stopRole() {
	if c.alarm != nil {
		c.alarm.Set(types.Never)
	}
}

func (c *consensus) onAlarm() {
	now := c.v.node.Clock.Now()
	if c.machine.Deadline() <= now {
		c.stepMachine(simplex.Tick{})
	}
	if c.sync.Deadline() <= now {
		c.stepSync(catchup.Tick{})
	}
	c.setAlarm()
}

func (c *consensus) setAlarm() { c.alarm.Set(min(c.machine.Deadline(), c.sync.Deadline())) }

func (c *consensus) stepMachine(event simplex.Event) {
	now := c.v.node.Clock.Now()
	c.v.known.mu.Lock()
	out := c.machine.Step(now, event)
	c.v.known.mu.Unlock()
	c.performOutput(out)
	c.setAlarm()
}

// performOutput does what the machine asks, in the order it must be done. A vote is
// on disk before it leaves: when the log fails, nothing leaves any more.
func (c *consensus) performOutput(out simplex.Output) {
	if plant.Planted == plant.SendsBeforeLog {
		for _, send := range out.Send {
			c.sendMessage(send.To, send.Message)
		}
		out.Send = nil
	}
	if len(out.Persist) > 0 {
		if err := c.v.node.Log.Append(out.Persist...); err != nil {
			c.v.failWith("the log of votes cannot be written", err)
			return
		}
	}
	for _, send := range out.Send {
		c.sendMessage(send.To, send.Message)
	}
	for _, ask := range out.Ask {
		switch ask := ask.(type) {
		case simplex.Build:
			c.v.execution.Post(build{ask})
		case simplex.Execute:
			c.v.execution.Post(execute{ask})
		}
	}
	for _, report := range out.Report {
		c.handleReport(report)
	}
	if len(out.Forget) > 0 {
		c.v.execution.Post(forget{out.Forget})
	}
}

// sendMessage sends a message to one peer, or to all where to is nil.
func (c *consensus) sendMessage(to *types.Address, message any) {
	frame := encodeFrame(message)
	c.v.memo.keepSentFrame(frame, message)
	if to != nil {
		c.v.ingress.noteRequest(*to, message)
		c.v.node.Mesh.Send(*to, frame)
		return
	}
	c.v.sendAll(frame, c.machine.Sets()[0].Members)
}

func (c *consensus) handleReport(report simplex.Report) {
	if c.v.config.Tell != nil {
		c.v.config.Tell(c.v.name, report)
	}
	switch report := report.(type) {
	case simplex.Entered:
		c.v.round.Store(&Round{Epoch: report.Epoch, View: report.View, Leader: report.Leader})
		c.publishSets()
	case simplex.GaveUp:
		c.v.count.gaveUp[report.Cause].Add(1)
		c.v.gaveUp.Store(&GivenUp{At: c.v.node.Clock.Now(), View: report.View, Leader: report.Leader, Cause: report.Cause, Detail: report.Detail})
		c.v.log.Info("it gives a view up", "view", report.View, "leader", report.Leader, "cause", report.Cause.String(), "detail", report.Detail)
	case simplex.Nullified:
		c.v.count.nullified.Add(1)
		c.v.log.Info("a view was nullified", "view", report.Certificate.View)
	case simplex.Finalized:
		c.v.execution.Post(finalizeReport{report})
		c.publishSets()
	case simplex.Behind:
		c.stepSync(catchup.Behind{Peer: report.From, Height: report.Certificate.Height, Proven: true})
	case simplex.Rejected:
		c.v.log.Warn("no vote for a proposal", "view", report.View, "reason", report.Reason)
	case simplex.ClockOff:
		c.v.tellClock(report)
	case simplex.SitsOut:
		c.v.log.Warn("it sits out: it votes for nothing until a block made from now on is final", "until_ms", report.Until)
	case simplex.ComesBack:
		c.v.twin.Store(nil)
		c.v.log.Info("it votes again")
	case simplex.Waits:
		c.v.tellTwin("waits: another process that has its key answers %d of its peers; stop one of the two", report.Answers)
	case simplex.Settled:
		c.v.twin.Store(nil)
	case simplex.Stranger:
		c.v.tellStranger(report)
	case simplex.Evidence:
		c.v.count.evidence.Add(1)
		c.v.log.Warn("a validator signed two messages that contradict each other", "offender", report.Offender)
	case simplex.Conflict:
		c.v.failWith("a finalization contradicts what is final here",
			fmt.Errorf("view %d, height %d, block %s", report.Certificate.View, report.Certificate.Height, report.Certificate.Block))
	}
}

// tellTwin lets status and log say that another process has this validator's key.
func (v *Validator) tellTwin(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	v.twin.Store(&sentence)
	v.log.Warn("another process has its key: it votes for nothing", "why", sentence)
}

// tellStranger reports a vote with this validator's key that it did not cast.
func (v *Validator) tellStranger(s simplex.Stranger) {
	if s.Halts {
		v.tellTwin("votes for nothing until %d blocks: in view %d another process voted with its key; stop one of the two",
			simplex.StrangerBlocks, s.Vote.View)
		return
	}
	v.log.Warn("another process voted with its key; it votes on, since no validator may be missing", "view", s.Vote.View)
}

// publishSets shows intake the validator sets to check messages by, when they have
// changed.
func (c *consensus) publishSets() {
	sets := c.machine.Sets()
	if before := c.v.sets.Load(); before != nil && (*before)[0].Epoch == sets[0].Epoch {
		return
	}
	sets = c.v.memo.shareSets(sets)
	c.v.sets.Store(&sets)
	c.v.intake.Post(newSets{}) // which does not exist yet while consensus is made: it begins with the sets
}

// shortenLog drops from a log that has grown long what the store holds already.
func (c *consensus) shortenLog(stored *Head) {
	if c.v.node.Log.Size() < c.limit {
		return
	}
	if store, ok := c.v.node.Store.(env.WriteBack); ok {
		if err := store.Flush(); err != nil { // until then the log alone has what it is to lose
			c.v.failWith("the store cannot be written", err)
			return
		}
	}
	records, err := c.v.readRecords()
	if err == nil {
		records, err = simplex.Compact(records, stored.asRoot())
	}
	if err == nil {
		err = c.v.node.Log.Rewrite(records)
	}
	if err != nil {
		c.v.failWith("the log of votes cannot be rewritten", err)
		return
	}
	c.limit = 2*c.v.node.Log.Size() + c.v.config.RewriteBytes
}

// continueFromStore continues from the blocks that the store holds. If catch-up brought
// them, the Simplex machine must be informed too.
func (c *consensus) continueFromStore(event archived) {
	if timing := simplex.TimingOf(event.head.State.NextParams()); timing != c.timing {
		c.timing = timing
		c.stepMachine(timing)
	}
	c.v.setPeers(event.head.State)
	if event.batch == 0 {
		c.stepSync(catchup.Finalized{Root: event.head.syncRoot()})
	} else {
		c.stepSync(catchup.Applied{ID: event.batch, Next: event.next})
	}
	c.shortenLog(event.head)
}

// followRoot moves the Simplex machine to a root that it may not have reached itself.
func (c *consensus) followRoot(root catchup.Root) {
	c.stepMachine(simplex.CaughtUp{Root: simplex.Root{Block: root.Block, Hash: root.Hash, Finalization: root.Finalization}, Set: root.Set,
		Previous: root.Previous})
	c.publishSets()
}

func (c *consensus) stepSync(event catchup.Event) {
	out := c.sync.Step(c.v.node.Clock.Now(), event)
	for _, send := range out.Send {
		c.sendMessage(&send.To, send.Request)
	}
	for _, ask := range out.Ask {
		switch ask := ask.(type) {
		case catchup.Verify:
			c.v.intake.Post(verify{ask})
		case catchup.Apply:
			if err := c.v.node.Log.Append(simplex.CaughtUpRecord(ask.Batch.Proof())); err != nil {
				c.v.failWith("the log of votes cannot be written", err)
				return
			}
			c.v.execution.Post(catchUp{ask})
		}
	}
	for _, report := range out.Report {
		switch report := report.(type) {
		case catchup.Moved:
			c.followRoot(report.Root)
		case catchup.Lied:
			c.v.log.Warn("a peer sent blocks as finalized that are not", "peer", report.Peer)
		case catchup.Done:
			c.v.log.Info("caught up", "height", report.Root.Block.Header.Height)
		}
	}
	c.setAlarm()
}

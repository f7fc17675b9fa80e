package live

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/internal/runs/stage"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/observe"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/mempool"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// sampleEvery is the heights between full audits. Scenarios are short, and their
// states small; each sample reads a whole state, on the loop of the validator that
// made the block final.
const sampleEvery = 4

// maxEarly bounds what validators make final before the judge knows the genesis,
// which is a matter of milliseconds.
const maxEarly = 1024

var poolLimit = mempool.DefaultLimits.Count

// judge shows the oracles what the validators make final, and writes a line of
// trace for each block. It is safe for concurrent use.
type judge struct {
	votes    tap
	links    linkReports
	mu       sync.Mutex
	oracles  *oracle.Judge // nil until begin
	network  *box.Network  // nil until begin
	seen     types.Height  // the highest final block that the oracles were shown, or a validator began with
	byName   map[string]types.Address
	recover  func(types.Hash, types.Signature) (types.Address, bool)
	early    []validators.FinalBlocks
	boots    []boot        // before begin
	trace    *json.Encoder // nil: none
	timeline *scenario.Timeline
	wrote    error
}

func newJudge(trace io.Writer, told *scenario.Timeline) *judge {
	j := &judge{timeline: told, byName: map[string]types.Address{}, recover: crypto.NewVerifier(true).Recover}
	if trace != nil {
		j.trace = json.NewEncoder(trace)
	}
	return j
}

// beginChain gives the chain's beginning to the oracles.
func (j *judge) beginChain(n *box.Network) error {
	genesis := n.Genesis()
	state, block, err := genesis.State()
	if err != nil {
		return err
	}
	rules := observe.RulesOf(genesis, state, block, j.recover)
	rules.Connects = true
	j.mu.Lock()
	defer j.mu.Unlock()
	j.oracles = oracle.New(rules)
	j.network = n
	for _, b := range j.boots { // each precedes its validator's finalized blocks
		j.showBoot(b)
	}
	for _, f := range j.early {
		j.showFinal(f)
	}
	j.early, j.boots = nil, nil
	return nil
}

// addressOf returns a validator's address; a validator that joined is looked up when
// it is first seen.
func (j *judge) addressOf(name string) types.Address {
	known, ok := j.byName[name]
	if !ok {
		for _, node := range j.network.List() {
			if node.Name == name {
				known = node.Address
			}
		}
		j.byName[name] = known
	}
	return known
}

// boot is what a validator began with.
type boot struct {
	validator types.Address
	begins    remote.Boot
}

// onBooted implements box.Config.Booted.
func (j *judge) onBooted(validator types.Address, begins remote.Boot) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.oracles == nil {
		j.boots = append(j.boots, boot{validator, begins})
		return
	}
	j.showBoot(boot{validator, begins})
}

// showBoot shows the oracles what a validator begins with.
func (j *judge) showBoot(b boot) {
	j.oracles.Booted(b.validator, b.begins.Header, b.begins.Hash, b.begins.Root)
	j.seen = max(j.seen, b.begins.Header.Height)
}

// highestFinal is that of the highest final block that the oracles know.
func (j *judge) highestFinal() types.Height {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen
}

// queueFinal implements box.Config.Observe.
func (j *judge) queueFinal(f validators.FinalBlocks) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.oracles == nil {
		if len(j.early) < maxEarly {
			j.early = append(j.early, f)
		}
		return
	}
	j.showFinal(f)
}

func (j *judge) showFinal(f validators.FinalBlocks) {
	j.showVotes()
	for _, r := range f.Results {
		j.timeline.Final(j.network.Now(), r.Block.Header.Height, r.Receipts)
	}
	for _, o := range observe.Every(sampleEvery).Observations(f, j.addressOf(f.Validator)) {
		j.oracles.Observe(o)
		j.oracles.Showed(o.Validator, o.Block.Header.Height, o.Hash, nil)
		j.noteLine(traceLine{Kind: "final", Node: f.Validator, Height: o.Block.Header.Height, Hash: &o.Hash,
			Time: uint64(o.Block.Header.Timestamp)})
		j.seen = max(j.seen, o.Block.Header.Height)
	}
}

// traceLine is a line of the trace of a live run: what became final where, the views
// that were given up and why, and the faults between.
type traceLine struct {
	Time   uint64         `json:"time_ms"` // of the block, or of giving up; of faults, none
	Kind   string         `json:"kind"`
	Node   string         `json:"node,omitempty"`
	Height types.Height   `json:"height,omitempty"`
	Hash   *types.Hash    `json:"hash,omitempty"`
	What   string         `json:"what,omitempty"`
	View   types.View     `json:"view,omitempty"`
	Leader *types.Address `json:"leader,omitempty"`
	Detail string         `json:"detail,omitempty"`
}

func (j *judge) noteLine(line traceLine) {
	if j.trace != nil && j.wrote == nil {
		j.wrote = j.trace.Encode(line)
	}
}

// traceReport implements box.Config.Tell. The trace of a live run has the views that were
// given up, which blocks that became final do not show.
func (j *judge) traceReport(at types.Time, name string, report simplex.Report) {
	j.timeline.Tell(at, name, report)
	if r, gaveUp := report.(simplex.GaveUp); gaveUp {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.noteLine(traceLine{Time: uint64(at.Millis()), Kind: "gave_up", Node: name, View: r.View, Leader: &r.Leader, What: r.Cause.String(),
			Detail: r.Detail})
	}
}

// traceFault writes a fault to the trace.
func (j *judge) traceFault(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.noteLine(traceLine{Kind: "fault", What: what})
}

func (j *judge) firstError() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.showVotes()
	return j.oracles.Err()
}

// showVotes shows the oracles every vote that was sent since its last call, including
// votes that no certificate will hold, and the changes of runners' connections. It
// is called with the lock held.
func (j *judge) showVotes() {
	for _, r := range j.links.takeReports() {
		observe.Connection(j.oracles, r.validator, r.report)
	}
	for _, s := range j.votes.takeFrames() {
		if vote := observe.VoteIn(s.frame, s.from, j.network.Genesis().ChainID, j.recover); vote != nil {
			j.oracles.Vote(*vote)
		}
	}
}

// excuseValidator tells the oracles that a validator may vote against itself from here on:
// it is about to lie.
func (j *judge) excuseValidator(node string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.oracles.Excuse(j.addressOf(node))
}

// listenTo has a network that is to be brought up tell the judge what it does.
func (j *judge) listenTo(c *box.Config) {
	c.Observe, c.Tell, c.Booted, c.Overhear, c.Gateway = j.queueFinal, j.traceReport, j.onBooted, j.votes.keepFrame, j.links.queueReport
}

// applyOrder does an order of a fault. The oracles are told before a validator lies, or loses its
// votes.
func (j *judge) applyOrder(o fault.Order, n *box.Network) (fault.Effect, error) {
	if err := o.Check(); err != nil {
		return fault.Effect{}, err
	}
	j.excuseOrder(o, n)
	return n.Do(o)
}

// excuseOrder tells the oracles what a fault excuses that is about to be made.
func (j *judge) excuseOrder(o fault.Order, n *box.Network) {
	switch {
	case o.Verb == fault.Wipe:
		j.tellDiskLoss(o.Node)
	case o.Verb == fault.Misbehave && o.Kind != fault.Honest &&
		slices.ContainsFunc(n.List(), func(of *box.Node) bool { return of.Name == o.Node }):
		j.excuseValidator(o.Node)
	}
}

// tellDiskLoss tells the oracles that a validator's disk is emptied.
func (j *judge) tellDiskLoss(node string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.oracles.Lost(j.addressOf(node))
}

// checkOracle is what one oracle says. It fails as well where the oracle judged
// nothing: then nothing is known.
func (j *judge) checkOracle(name string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.showVotes()
	verdict := stage.Verdict(j.oracles, name)
	if _, found := verdict.(oracle.Violation); !found && name == "certificates" && j.votes.hasOverflowed() {
		return fmt.Errorf("the oracle %s missed votes: more than %d were sent between two looks of the script", name, maxHeard)
	}
	return verdict
}

// flushTrace returns what went wrong with the trace.
func (j *judge) flushTrace() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.wrote
}

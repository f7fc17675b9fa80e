package validators

import (
	"math/rand/v2"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// gatewayEvent is an event of the gateway role.
type gatewayEvent interface{ forGateway() }

// Events of the gateway role.
type (
	// connected is what happens on a connection with a runner. Its content is hostile.
	// Each connection has only few of them under way (connection.MaxUntaken).
	connected struct{ event connection.Event }
	// newHead hands over blocks that became final, oldest first.
	newHead struct{ results []*ledger.Result }
	// foreseen is a block that was executed here and is not final.
	foreseen struct{ result *ledger.Result }
	// polled is a result or a refusal that a runner brought without a connection.
	polled struct {
		runner  types.Address
		result  *push.JobResult
		ack     *push.JobAck // in place of a result
		request requestID    // of an error, or nil
	}
	// unkept says that a report of a runner's job waits for a block no more, and is in none.
	unkept struct {
		runner types.Address
		job    types.Hash
	}
	// overdue says that the machine's deadline is due.
	overdue struct{}
)

func (begin) forGateway()     {}
func (connected) forGateway() {}
func (newHead) forGateway()   {}
func (foreseen) forGateway()  {}
func (polled) forGateway()    {}
func (unkept) forGateway()    {}
func (overdue) forGateway()   {}

// connecting is the role that owns the connections with runners.
type connecting struct {
	v       *Validator
	machine *gateway.Machine // nil if this validator does not accept runners
	jobs    *jobIndex
	first   gateway.Output // of making the machine
	alarm   env.Alarm
	armed   types.Time
	changed bool // the published connections are out of date
}

func (v *Validator) newGateway() (roles.Steps[gatewayEvent], error) {
	c := &connecting{v: v, armed: types.Never}
	if v.node.Connections != nil {
		head := v.head.Load()
		c.jobs = newJobIndex(head.State)
		c.machine, c.first = gateway.New(gateway.Config{ChainID: v.genesis.ChainID, Signer: v.node.Signer, Verifier: recovering{v},
			Chance: chanceOf(v, head)}, headOf(head.State, 0, c.jobs))
	}
	return roles.Steps[gatewayEvent]{Each: c.receiveEvent, Last: c.stopRole}, nil
}

// chanceOf returns a random source that no outsider can predict: it follows from a
// signature that this validator never sends. No two starts have the same.
func chanceOf(v *Validator, head *Head) *rand.Rand {
	now := v.node.Clock.Now()
	seed := v.node.Signer.Sign(types.Keccak([]byte("cowboy-gateway/1"), head.Hash[:], codec.Marshal(uint64(now))))
	return rand.New(rand.NewChaCha8([32]byte(types.Keccak(seed[:]))))
}

// headOf is a final state as the machine takes it.
func headOf(state *ledger.State, skipped uint64, reader gateway.Reader) *gateway.Head {
	return &gateway.Head{Height: state.Height(), Skipped: skipped, Params: state.NextParams(), Rotation: state.Rotation(),
		Pace: state.Pace(), Reader: reader, Registry: state.Registrations()}
}

func (c *connecting) receiveEvent(event gatewayEvent) {
	switch event := event.(type) {
	case begin:
		c.alarm = c.v.node.Clock.NewAlarm(func() { c.v.gateway.Post(overdue{}) })
		c.performOutput(c.first)
	case connected:
		if came, is := event.event.(connection.Came); is {
			c.v.reportWork(env.BytesRead, uint64(len(came.Frame)))
		}
		c.stepMachine(gateway.Connection{Event: event.event})
	case newHead:
		c.onHead(event.results)
	case foreseen:
		c.stepMachine(gateway.Foreseen{Drafts: draftsOf(event.result)})
	case polled:
		c.takeSubmission(event)
	case unkept:
		c.stepMachine(gateway.Unkept{Runner: event.runner, Job: event.job})
	case overdue:
		c.armed = types.Never
		c.stepMachine(gateway.Tick{})
	default:
		panic(unknownEvent("gateway", event))
	}
}

// stopRole says Goodbye to all runners. It does not run in a crash.
func (c *connecting) stopRole() {
	if c.alarm == nil {
		return
	}
	for _, verb := range c.machine.Step(c.v.node.Clock.Now(), gateway.Stop{}).Do {
		c.v.node.Connections.Do(verb)
	}
	c.alarm.Set(types.Never)
}

// onHead advances to the state after blocks that became final.
func (c *connecting) onHead(results []*ledger.Result) {
	skipped := uint64(0)
	for _, result := range results {
		skipped += result.Block.Header.Skipped
	}
	c.jobs.followBlocks(results)
	c.changed = true
	c.stepMachine(headOf(c.jobs.state, skipped, c.jobs))
}

// drawnIn lists the members that a block drew: all of a committee, or those that took
// emptied places (decision J21).
func drawnIn(change *types.JobChange) (runners []types.Address) {
	for i, runner := range change.Committee {
		if change.Drawn[i] == change.At {
			runners = append(runners, runner)
		}
	}
	return runners
}

// draftsOf returns the draws of a block.
func draftsOf(result *ledger.Result) (drafts []gateway.Draft) {
	for i := range result.Jobs {
		change := &result.Jobs[i]
		if change.Kind != types.JobChangeDrawn {
			continue
		}
		if job := result.State.Job(change.ID); job != nil {
			drawn := gateway.AssignmentID{Job: job.ID, Drawn: change.At}
			drafts = append(drafts, gateway.Draft{AssignmentID: drawn, Deadline: job.Deadline(), Committee: drawnIn(change),
				Spec: result.State.Spec(job.ID)})
		}
	}
	return drafts
}

// takeSubmission takes a result or a refusal that came by HTTP, and answers.
func (c *connecting) takeSubmission(event polled) {
	out := c.machine.Step(c.v.node.Clock.Now(), gateway.Polled{Runner: event.runner, Result: event.result, Ack: event.ack})
	var answer error
	for _, report := range out.Report {
		if not, is := report.(gateway.NotTaken); is {
			answer = &NotTakenError{not.Why}
		}
	}
	c.performOutput(out)
	c.v.requests.answerRequest(event.request, answer)
}

func (c *connecting) stepMachine(event gateway.Event) {
	c.performOutput(c.machine.Step(c.v.node.Clock.Now(), event))
}

// performOutput does what the machine asks, in the order it must be done.
func (c *connecting) performOutput(out gateway.Output) {
	for _, s := range out.Submit {
		c.v.intake.Post(ownReport{c.v.reportOf(s)})
	}
	for _, verb := range out.Do {
		c.v.node.Connections.Do(verb)
	}
	if len(out.Attest) > 0 {
		c.v.consensus.Post(attested{out.Attest})
	}
	for _, report := range out.Report {
		c.reportToOthers(report)
	}
	if at := c.machine.Deadline(); at != c.armed {
		c.armed = at
		c.alarm.Set(at)
	}
	if c.changed && c.v.gateway.Waiting() == 0 { // a storm of connections is shown when it is over
		live := c.machine.Live()
		c.v.connections.Store(&live)
		c.changed = false
	}
}

// reportToOthers tells others what happened to runners here.
func (c *connecting) reportToOthers(report gateway.Report) {
	c.v.count.runners.countReport(report)
	switch report := report.(type) {
	case gateway.Arrived:
		c.changed = true
		c.v.log.Debug("a runner is connected", "runner", report.Runner)
	case gateway.Left:
		c.changed = true
		c.v.log.Debug("a runner is connected no more", "runner", report.Runner, "reason", report.Reason)
	case gateway.Refused:
		c.v.log.Debug("a runner is not let in", "runner", report.Peer, "reason", report.Reason)
	case gateway.NotTaken:
		c.v.log.Info("a runner's answer was not taken", "runner", report.Runner, "job", report.Assignment.Job, "reason", report.Why)
	}
	if c.v.config.TellRunners != nil {
		c.v.config.TellRunners(c.v.name, report)
	}
}

// Connections lists the live connections with runners, in the order they came up, as
// they were at the last head or change. The list must not be changed.
func (v *Validator) Connections() []gateway.Live {
	if live := v.connections.Load(); live != nil {
		return *live
	}
	return nil
}

// recovering is the verifier of the gateway role, which records its work.
type recovering struct{ v *Validator }

// Recover implements gateway.Verifier.
func (r recovering) Recover(digest types.Hash, sig types.Signature) (types.Address, bool) {
	r.v.reportWork(env.Recoveries, 1)
	return r.v.node.Verifier.Recover(digest, sig)
}

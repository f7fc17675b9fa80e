package docs

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/runners/session"
	"github.com/cowboyinc/devnet/runners/worker"
	"github.com/cowboyinc/devnet/validators/gateway"
)

func init() { examples["session"] = workedSession }

// conversation is the machines of both ends, on a connection that takes no time.
type conversation struct {
	*lines
	now     types.Time
	gateway *gateway.Machine
	session *session.Machine
	worker  *worker.Machine
	height  types.Height
	landed  bool
	waiting []func() // what was said and not heard yet, oldest first
}

// workedSession is a runner's day: it comes, does a job and leaves.
func workedSession(l *lines) {
	verifier := crypto.NewVerifier(false)
	c := &conversation{lines: l, height: 100}
	c.gateway, _ = gateway.New(gateway.Config{ChainID: chainID, Signer: validator, Verifier: verifier, Chance: rand.New(rand.NewPCG(1, 1))},
		c.gatewayHead())
	c.session = session.New(session.Config{ChainID: chainID, Signer: runner, Verifier: verifier, Chance: rand.New(rand.NewPCG(1, 2))})
	c.worker = worker.New(worker.Config{ChainID: chainID, Signer: runner, Verifier: verifier, MaxJobs: 4,
		Accepts: func(*push.JobSpec) *execution.Refusal { return nil }})
	c.runner(session.Head{Head: c.runnersHead()})
	c.work(worker.Head{Head: c.runnersHead()})
	c.later()
	c.block() // in which the job is drawn
	c.work(worker.Finished{ID: worker.ID{Job: jobID, Drawn: 101}, Result: []byte(result)})
	c.later()
	c.landed = true
	c.block()
	c.runner(session.Stop{})
	c.later()
}

// later lets everybody hear what was said, and then some time pass.
func (c *conversation) later() {
	for len(c.waiting) > 0 {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		next()
	}
	c.now = c.now.Add(100 * time.Millisecond)
}

func (c *conversation) block() {
	c.height++
	c.validator(c.gatewayHead())
	c.later()
	c.runner(session.Head{Head: c.runnersHead()})
	c.work(worker.Head{Head: c.runnersHead()})
	c.later()
}

func (c *conversation) validator(e gateway.Event) { c.do("v0", c.gateway.Step(c.now, e).Do) }

func (c *conversation) runner(e session.Event) {
	out := c.session.Step(c.now, e)
	c.do("r0", out.Do)
	for _, s := range out.Jobs {
		c.work(worker.Stream{Validator: s.Validator, Event: s.Event})
	}
}

func (c *conversation) work(e worker.Event) {
	if out := c.worker.Step(c.now, e); len(out.Do) > 0 {
		c.runner(session.Answers{Do: out.Do})
	}
}

// do writes the actions of an end and lets the other receive them.
func (c *conversation) do(who string, verbs []connection.Verb) {
	for _, v := range verbs {
		switch v := v.(type) {
		case connection.Dial:
			c.hear("v0", connection.Up{ID: 1, Peer: validator.PublicKey()})
			c.hear("r0", connection.Up{ID: 1, Peer: runner.PublicKey()})
		case connection.Open:
			c.hear(who, connection.Opened{ID: 1, Stream: v.Stream})
		case connection.Send:
			frame := append([]byte{0, 0, byte(len(v.Frame) >> 8), byte(len(v.Frame))}, v.Frame...)
			c.add(fmt.Sprintf("%s, %d: %s", who, v.Stream, push.Type(v.Frame[0])), frame)
			c.hear(who, connection.Came{ID: 1, Stream: v.Stream, Frame: v.Frame})
		case connection.End:
			fmt.Fprintf(c, "%s, %d: end\n", who, v.Stream)
			c.hear(who, connection.Ended{ID: 1, Stream: v.Stream})
		case connection.Close:
			fmt.Fprintf(c, "%s: close with %d\n", who, v.Code)
		}
	}
}

// hear gives an event to the other end.
func (c *conversation) hear(from string, e connection.Event) {
	c.waiting = append(c.waiting, func() {
		if from == "v0" {
			c.runner(session.Connection{Event: e})
		} else {
			c.validator(gateway.Connection{Event: e})
		}
	})
}

var sessionRotation = &selection.Rotation{Current: selection.Assignment{Constants: selection.Constants{MinSubset: 3, MaxSubset: 8,
	Rule: selection.Quorum},
	Members: []types.Validator{{Address: validator.Address(), PublicKey: validator.PublicKey(), Endpoint: "v0"}}}}

var sessionParams = func() params.Params {
	p := params.Defaults()
	p.MinStake, p.StaleHeartbeatBlocks = types.Wei{}, 0
	return p
}()

var sessionPace = selection.Pace{EpochBlocks: 8192, OverlapBlocks: 32}

func (c *conversation) gatewayHead() *gateway.Head {
	return &gateway.Head{Height: c.height, Rotation: sessionRotation, Pace: sessionPace, Reader: c,
		Params: &sessionParams}
}

func (c *conversation) runnersHead() *chainview.Head {
	return &chainview.Head{Height: c.height, Registered: true, Staked: true,
		Validators: sessionRotation.Serving(runner.PublicKey(), c.height, sessionPace),
		Assignments: map[execution.ID]chainview.Standing{{Job: jobID, Drawn: 101}: {
			Open: c.height >= 101 && !c.landed, SpecHash: jobSpec().Hash(), Deadline: 121, Alone: true}},
		Params: &sessionParams}
}

// Runner and the others are the chain of the session: only r0, with one job.
func (c *conversation) Runner(types.Address) *gateway.Registration {
	return &gateway.Registration{MaxJobs: 4, LastHeartbeat: 100}
}

func (c *conversation) Assignment(a types.Address, id gateway.AssignmentID) *gateway.Assignment {
	for _, one := range c.Assignments(a) {
		if one.AssignmentID == id {
			return &one
		}
	}
	return nil
}

func (c *conversation) Assignments(types.Address) []gateway.Assignment {
	if c.height < 101 || c.landed {
		return nil
	}
	return []gateway.Assignment{{AssignmentID: gateway.AssignmentID{Job: jobID, Drawn: 101}, Spec: jobSpec().Hash(), MaxReturn: 1000,
		Deadline: 121, CommitEnd: 113, Committee: 1}}
}

func (c *conversation) Changed() ([]types.Hash, bool) { return nil, false }

func (c *conversation) Spec(types.Hash) *push.JobSpec { return jobSpec() }

func (c *conversation) Ending(types.Address, gateway.AssignmentID) gateway.Ending {
	return gateway.Landed
}

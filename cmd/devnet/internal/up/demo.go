package up

import (
	"context"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// demoStep is a part of the demo: what it says, what it does, and for how many blocks it lets the network go on after that.
type demoStep struct {
	says  string
	does  func(context.Context, *client.Client) error
	after uint64
}

// demoSteps are the story of a minute of blocks of one second.
var demoSteps = []demoStep{
	{"heartbeat fires a timer each ten blocks. storm now asks for thirty of one height.", func(ctx context.Context, n *client.Client) error {
		_, err := n.Send(ctx, model.SendRequest{From: "bob", To: "storm", Handler: "make",
			Payload: `{"count": 30, "in": 4, "gas_limit": 150000, "use": 100000, "priority": 3}`, Sponsor: &demoSponsor})
		return err
	}, 10},
	{"A job: one of the runners echoes a text, and the chain pays it.", func(ctx context.Context, n *client.Client) error {
		return submitDemoJob(ctx, n, 1, "")
	}, 5},
	{"r1 lies from now on. Three of four runners have to agree on the next job: the liar is not paid.",
		func(ctx context.Context, n *client.Client) error {
			if _, err := n.Fault(ctx, model.FaultRequest{Verb: "misbehave", Node: "r1", Kind: "wrong_result"}); err != nil {
				return err
			}
			return submitDemoJob(ctx, n, launch.DemoRunners, "majority_vote")
		}, 6},
	{"v0 is cut off from the others. Three of four go on, and its views fail: devnet status, or the page, says why.",
		func(ctx context.Context, n *client.Client) error {
			_, err := n.Fault(ctx, model.FaultRequest{Verb: "misbehave", Node: "r1", Kind: fault.Honest})
			if err == nil {
				_, err = n.Fault(ctx, model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0"}, {}}})
			}
			return err
		}, 8},
	{"The links are whole again, and v0 catches up.", func(ctx context.Context, n *client.Client) error {
		return n.Heal(ctx)
	}, 6},
}

// demoSponsor is what the timers of the storm may cost the account that orders them.
var demoSponsor = types.WeiOf(10 * types.CBY)

// submitDemoJob submits a job of the executor that runners of up have.
func submitDemoJob(ctx context.Context, n *client.Client, runners uint64, mode string) error {
	_, err := n.SubmitJob(ctx, model.JobRequest{From: "alice", Kind: "custom", Executor: "echo", Params: "howdy", Runners: &runners,
		Mode: mode})
	return err
}

// playDemo tells the story of the demo. What a person does meanwhile may refuse a step, which ends it and not the network.
func (u *running) playDemo() {
	ctx, n := u.Context.Context, client.New(u.address, nil)
	for i := range demoSteps {
		step := &demoSteps[i]
		u.printLine("demo: %s", step.says)
		err := step.does(ctx, n)
		if err == nil {
			_, err = n.Run(ctx, step.after)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			u.printLine("demo: it ends here: %v", err)
			return
		}
	}
	u.printLine("demo: That was it, and the network goes on. Open %s in a browser,\n  or type %s job list, %s timer list, %s views.",
		u.client.URL(), self.ProgramName(), self.ProgramName(), self.ProgramName())
}

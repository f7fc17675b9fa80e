package client

import (
	"context"
	"strings"
	"time"
)

// Validator is a validator by its name, v0, v1, …, or its address.
func (c *Client) Validator(name string) *ValidatorNode { return &ValidatorNode{c, name} }

// ValidatorNode is a validator, for its operator.
type ValidatorNode struct {
	client *Client
	name   string
}

// Name is what it was asked for by.
func (v *ValidatorNode) Name() string { return v.name }

// Info returns its status; an *Error with the code unknown_node if it does not
// exist.
func (v *ValidatorNode) Info(ctx context.Context) (Validator, error) {
	all, err := v.client.Validators(ctx)
	if err != nil {
		return Validator{}, err
	}
	for _, one := range all {
		if one.Name == v.name || one.Address.String() == v.name {
			return one, nil
		}
	}
	return Validator{}, errUnknownNode(v.name)
}

// Leave has it leave at the epoch's end.
func (v *ValidatorNode) Leave(ctx context.Context) (Move, error) {
	return v.client.API.LeaveValidator(ctx, v.name)
}

// Kill ends it as kill -9 and a power cut do.
func (v *ValidatorNode) Kill(ctx context.Context) error {
	return v.orderFault(ctx, FaultOrder{Verb: "crash"})
}

// Restart starts it again, from its disk.
func (v *ValidatorNode) Restart(ctx context.Context) error {
	return v.orderFault(ctx, FaultOrder{Verb: "restart"})
}

// Freeze stops it from running, while frames arrive and time passes.
func (v *ValidatorNode) Freeze(ctx context.Context) error {
	return v.orderFault(ctx, FaultOrder{Verb: "freeze"})
}

// Thaw lets it run on.
func (v *ValidatorNode) Thaw(ctx context.Context) error {
	return v.orderFault(ctx, FaultOrder{Verb: "thaw"})
}

// Wipe empties its disk while it is down.
func (v *ValidatorNode) Wipe(ctx context.Context) error {
	return v.orderFault(ctx, FaultOrder{Verb: "wipe"})
}

// Misbehave makes it Byzantine, in a way that docs/SCENARIOS.md names: equivocate,
// silent_leader and others. The kind honest ends it.
func (v *ValidatorNode) Misbehave(ctx context.Context, kind string) error {
	return v.orderFault(ctx, FaultOrder{Verb: "misbehave", Kind: kind})
}

// Twin starts a second process with its key, or ends that.
func (v *ValidatorNode) Twin(ctx context.Context, on bool) error {
	return v.orderFault(ctx, FaultOrder{Verb: "twin", On: on})
}

func (v *ValidatorNode) orderFault(ctx context.Context, o FaultOrder) error {
	o.Node = v.name
	if isAddress(v.name) {
		info, err := v.Info(ctx)
		if err != nil {
			return err
		}
		o.Node = info.Name
	}
	_, err := v.client.Fault(ctx, o)
	return err
}

// isAddress tells an address, or enough of it, from the name of a node.
func isAddress(name string) bool { return strings.HasPrefix(name, "0x") }

// Runners lists the runners in the order of the registry, deregistered ones too.
func (c *Client) Runners(ctx context.Context) ([]Runner, error) {
	return Collect(c.API.Runners(ctx, "", Page{}))
}

// Runner is a runner by its name, r0, r1, …, or its address.
func (c *Client) Runner(name string) *RunnerNode { return &RunnerNode{c, name} }

// RunnerNode is a runner, as its operator and its owner have it.
type RunnerNode struct {
	client *Client
	name   string
}

// Name is what it was asked for by.
func (r *RunnerNode) Name() string { return r.name }

// Info returns its status.
func (r *RunnerNode) Info(ctx context.Context) (Runner, error) {
	return r.client.API.Runner(ctx, r.name)
}

// Leave deregisters it for its owner, permanently.
func (r *RunnerNode) Leave(ctx context.Context) (Runner, error) {
	return r.client.API.LeaveRunner(ctx, r.name)
}

// Pause keeps it out of draws for its owner.
func (r *RunnerNode) Pause(ctx context.Context) (Runner, error) {
	return r.client.API.PauseRunner(ctx, r.name)
}

// Resume lets it be drawn again.
func (r *RunnerNode) Resume(ctx context.Context) (Runner, error) {
	return r.client.API.ResumeRunner(ctx, r.name)
}

// Drop ends its process; its connections close without a Goodbye.
func (r *RunnerNode) Drop(ctx context.Context) error {
	return r.orderFault(ctx, FaultOrder{Verb: "drop"})
}

// Restart starts it again; it has forgotten its jobs.
func (r *RunnerNode) Restart(ctx context.Context) error {
	return r.orderFault(ctx, FaultOrder{Verb: "restart"})
}

// Freeze stops it from running, while frames arrive and time passes.
func (r *RunnerNode) Freeze(ctx context.Context) error {
	return r.orderFault(ctx, FaultOrder{Verb: "freeze"})
}

// Thaw lets it run on.
func (r *RunnerNode) Thaw(ctx context.Context) error {
	return r.orderFault(ctx, FaultOrder{Verb: "thaw"})
}

// Blackhole leaves its jobs without an answer while it continues to ping; false ends
// that.
func (r *RunnerNode) Blackhole(ctx context.Context, on bool) error {
	return r.orderFault(ctx, FaultOrder{Verb: "blackhole", On: on})
}

// Saturate has it say that it takes no new jobs; false ends that.
func (r *RunnerNode) Saturate(ctx context.Context, on bool) error {
	return r.orderFault(ctx, FaultOrder{Verb: "saturate", On: on})
}

// Capability has it say that it offers what add names, and no longer what remove names.
// Neither registry nor draws change by that (CIP-11 §6.5).
func (r *RunnerNode) Capability(ctx context.Context, add, remove []string) error {
	return r.orderFault(ctx, FaultOrder{Verb: "capability", Add: add, Remove: remove})
}

// Slow lengthens its work on each job by this time; 0 ends that.
func (r *RunnerNode) Slow(ctx context.Context, longer time.Duration) error {
	return r.orderFault(ctx, FaultOrder{Verb: "slow", Delay: longer.String()})
}

// Misbehave makes it Byzantine, in a way that docs/SCENARIOS.md names: wrong_result,
// no_reveal and others. The kind honest ends it.
func (r *RunnerNode) Misbehave(ctx context.Context, kind string) error {
	return r.orderFault(ctx, FaultOrder{Verb: "misbehave", Kind: kind})
}

func (r *RunnerNode) orderFault(ctx context.Context, o FaultOrder) error {
	o.Node = r.name
	if isAddress(r.name) {
		info, err := r.Info(ctx)
		if err != nil {
			return err
		}
		if o.Node = info.Name; o.Node == "" {
			return errUnknownNode(r.name)
		}
	}
	_, err := r.client.Fault(ctx, o)
	return err
}

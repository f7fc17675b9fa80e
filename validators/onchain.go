package validators

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// Limits of the on-chain actors that are kept running under execution.
const (
	maxOnchainActors = 1024 // far more than a block touches; the idle one leaves first
	idleBlocks       = 256  // an actor no block has asked for so long is passivated
)

// onchain runs each message to an on-chain actor through a proto-actor of its
// own, in place and in the order of the block.
type onchain struct {
	pool *roles.ActorPool
}

// delivery is what an on-chain actor's proto-actor receives.
type delivery struct {
	session program.Session
	ctx     program.Context
	code    program.Code
	msg     program.Message
}

// handled is its reply.
type handled struct {
	outcome program.Outcome
	err     error
}

func newOnchain(rt *roles.Runtime, parent actor.Context) (*onchain, error) {
	pool, err := rt.NewActorPool(parent, maxOnchainActors, func(string) func(any) any { return handle })
	if err != nil {
		return nil, err
	}
	return &onchain{pool: pool}, nil
}

func handle(message any) any {
	d := message.(delivery)
	outcome, err := d.session.Handle(d.ctx, d.code, d.msg)
	return handled{outcome, err}
}

// Run implements actors.Carrier. A program that panics is a failed receipt.
func (o *onchain) Run(session program.Session, ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	reply, err := o.pool.Ask(msg.Self.String(), delivery{session, ctx, code, msg})
	if panicked, ok := err.(*roles.ActorPanic); ok {
		return program.Outcome{Status: types.StatusFailed,
			Fault: &types.Fault{Code: "panic", Message: fmt.Sprintf("the program panicked: %v", panicked.Value)}}, nil
	}
	if err != nil {
		return program.Outcome{}, fmt.Errorf("the proto-actor of %s: %w", msg.Self, err)
	}
	h := reply.(handled)
	return h.outcome, h.err
}

package validators

import (
	"bytes"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// Limits of the on-chain actors that are kept running under execution.
const (
	maxOnchainActors = 1024 // far more than a block touches; the idle one leaves first
	idleBlocks       = 256  // an actor no block has asked for so long is passivated
)

// onchain runs each message to an on-chain actor, contracts included, through a
// separate proto-actor, in place and in the order of the block (decision C21).
type onchain struct {
	pool      *roles.ActorPool
	runtime   *roles.Runtime
	contracts env.Contracts // nil: nothing is ordered of them
	restarted func()        // is told that a contract panicked and was made again
}

// delivery is a message to an on-chain actor's proto-actor.
type delivery struct {
	session program.Session
	ctx     program.Context
	code    program.Code
	msg     program.Message
	before  func(contract types.Address) // of a contract; may be nil
}

// handlerReply is its reply.
type handlerReply struct {
	outcome program.Outcome
	err     error
}

func newOnchain(v *Validator, parent actor.Context) (*onchain, error) {
	pool, err := v.runtime.NewActorPool(parent, maxOnchainActors, func(string) func(any) any { return handleMessage })
	if err != nil {
		return nil, err
	}
	return &onchain{pool: pool, runtime: v.runtime, contracts: v.node.Contracts,
		restarted: func() { v.count.contracts.Add(1) }}, nil
}

func handleMessage(message any) any {
	d := message.(delivery)
	if d.before != nil {
		d.before(d.msg.Self)
	}
	outcome, err := d.session.Handle(d.ctx, d.code, d.msg)
	return handlerReply{outcome, err}
}

// Run implements actors.Deliverer. A Go sample that panics is a failed receipt. If a contract
// panics, or the conversation with a program's host, this validator has no result and tries
// again (decisions C18, C21).
func (o *onchain) Run(session program.Session, ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	_, native := session.(actors.Native)
	d := delivery{session: session, ctx: ctx, code: code, msg: msg}
	if native && o.contracts != nil {
		d.before = o.contracts.Begin
	}
	reply, err := o.pool.Ask(msg.Self.String(), d)
	panicked, is := err.(*roles.ActorPanic)
	switch {
	case is && native:
		return program.Outcome{}, o.contractError(msg, panicked)
	case is:
		if !bytes.HasPrefix(code.Source, []byte(actors.SamplePrefix)) {
			o.runtime.Report("program "+msg.Self.String(), panicked)
		}
		return actors.Panicked(code, panicked.Value)
	case err != nil:
		return program.Outcome{}, fmt.Errorf("the proto-actor of %s: %w", msg.Self, err)
	}
	h := reply.(handlerReply)
	return h.outcome, h.err
}

// contractError is the error of a contract that panicked, which its supervisor has made again.
// If its panic was caused by another contract's panic, that one is reported, and was
// already.
func (o *onchain) contractError(msg program.Message, panicked *roles.ActorPanic) error {
	o.restarted()
	if within, is := panicked.Value.(*actors.ContractError); is {
		return within
	}
	o.runtime.Report("contract "+msg.Self.String(), panicked)
	return &actors.ContractError{Contract: msg.Self, What: msg.Handler, Value: panicked.Value}
}

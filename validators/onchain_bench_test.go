package validators

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// BenchmarkContract is a message to a contract through its actor, and by a bare call.
func BenchmarkContract(b *testing.B) {
	msg := program.Message{Self: types.DispatcherAddress, Handler: "advance"}
	native := actors.Native(func() program.Outcome { return program.Outcome{Status: types.StatusOK} })
	run := func(b *testing.B, c actors.Deliverer) {
		b.ReportAllocs()
		for range b.N {
			if outcome, err := c.Run(native, nil, program.Code{}, msg); err != nil || outcome.Status != types.StatusOK {
				b.Fatal(outcome, err)
			}
		}
	}
	b.Run("actor", func(b *testing.B) {
		withOnchain(b, nil, func(o *onchain, _ *Validator) { run(b, o) })
	})
	b.Run("direct", func(b *testing.B) { run(b, actors.Direct{}) })
}

// withOnchain runs body in a step of a role that has the on-chain actors.
func withOnchain(t testing.TB, before interface{ Begin(types.Address) }, body func(*onchain, *Validator)) {
	t.Helper()
	rt := roles.New(quietLog())
	defer rt.Close()
	v := &Validator{runtime: rt}
	if before != nil {
		v.node.Contracts = before
	}
	loop := roles.NewLoop()
	done := make(chan struct{})
	if _, err := roles.Spawn(rt, "v0/execution", loop, roles.Steps[string]{First: func(ctx actor.Context) {
		defer close(done)
		o, err := newOnchain(v, ctx)
		if err != nil {
			t.Error(err)
			return
		}
		body(o, v)
	}}); err != nil {
		t.Fatal(err)
	}
	<-done
}

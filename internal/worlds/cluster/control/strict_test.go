package control

import (
	"net/http/httptest"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// A client with the secret of a strict node reads it, and gives it no orders.
func TestAStrictNodeTakesNoOrders(t *testing.T) {
	validator, runner := NewValidatorServer(secret, true), NewRunnerServer(secret, true)
	validator.beginServing()
	runner.beginServing()
	servers := []*httptest.Server{httptest.NewServer(validator), httptest.NewServer(runner)}
	t.Cleanup(func() {
		validator.Close()
		runner.Close()
		for _, s := range servers {
			s.Close()
		}
	})
	ctx := t.Context()
	for i, s := range servers {
		c := client(t, s, secret)
		orders := map[string]error{"rules": c.SetRules(ctx, nil), "mute": c.Mute(ctx), "clock": c.SetTravel(ctx, network.Travel{})}
		_, orders["order"] = c.Order(ctx, 0, fault.Order{Verb: fault.Misbehave, Node: "v0", Kind: "equivocate"})
		if i == 0 {
			orders["pause"], orders["skip"] = c.Pause(ctx, true), c.SkipTo(ctx, 9, false)
		} else {
			orders["answer"] = c.Answer(ctx, types.Hash{}, execution.Given{})
		}
		for word, err := range orders {
			if code(err) != "strict" {
				t.Errorf("%s is answered with %v", word, err)
			}
		}
		if _, err := c.Counts(ctx); err != nil {
			t.Errorf("it is read all the same: %v", err)
		}
	}
}

package ledger

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// carrying notes which contract is told what, and has some fail, after they have acted,
// as those of a node whose code panics at its end.
type carrying struct {
	told  []string
	fails map[string]int // how often more, by contract and what it is told
}

func (c *carrying) Run(s program.Session, ctx program.Context, code program.Code,
	msg program.Message) (outcome program.Outcome, err error) {
	if _, native := s.(actors.Native); !native {
		return actors.Direct{}.Run(s, ctx, code, msg)
	}
	what := types.ContractName(msg.Self) + "." + msg.Handler
	c.told = append(c.told, what)
	defer func() { // a contract's panic because of another contract counts for the other
		v := recover()
		if within, is := v.(*actors.ContractError); is {
			err = within
		} else if v != nil {
			panic(v)
		}
	}()
	outcome, err = actors.Direct{}.Run(s, ctx, code, msg)
	if c.fails[what] > 0 {
		c.fails[what]--
		return program.Outcome{}, &actors.ContractError{Contract: msg.Self, What: msg.Handler, Value: "told to"}
	}
	return outcome, err
}

// contractStory sends a message of each kind to each contract.
func contractStory(t *testing.T, c *carrying) *world {
	w := newRunnerWorld(t, 2, nil)
	w.executor.Deliverer = c
	w.step(w.transfer("alice", "r0", types.CBY/10))
	to := types.RegistryAddress
	w.step(w.submit("bob", jobSpec(1)),
		w.instruct(governance.OpSetParameter, governance.SetParameter{Key: "cip2.timeout_penalty", Value: "6"}),
		w.checked("r0", w.tx("r0", &to, &types.Execute{Kind: types.KindExecute, Handler: "pause",
			Payload: codec.Marshal(system.Naming{Runner: w.key("r0").Address()})})))
	job := w.onlyJob()
	w.step(w.result("v0", system.OpResult, job.ID, job.Committee[0].Runner, "done"))
	w.step()
	return w
}

// Decision C21: every contract is reached through the carrier, by one path.
func TestC21EveryContractIsReachedThroughTheDeliverer(t *testing.T) {
	c := &carrying{}
	contractStory(t, c)
	for _, want := range []string{"dispatcher.submit", "dispatcher.advance", "registry.pause", "verifier.result", "treasury.collect",
		"governance.instruct", "governance.enact"} {
		if !slices.Contains(c.told, want) {
			t.Errorf("nobody told %s: %q", want, c.told)
		}
	}
}

// A contract that panics once in a node's attempt leaves no trace: its writes are reverted,
// it is repeated, and root and receipts equal those of a node without a panic.
func TestC21APanicOfAContractIsUndoneAndRepeated(t *testing.T) {
	sound := contractStory(t, &carrying{})
	for _, what := range []string{"dispatcher.submit", "dispatcher.advance", "registry.pause", "verifier.result", "treasury.collect",
		"governance.instruct", "governance.enact"} {
		c := &carrying{fails: map[string]int{what: 1}}
		w := contractStory(t, c)
		if c.fails[what] != 0 {
			t.Errorf("%s did not fail", what)
		}
		if w.head.Root() != sound.head.Root() || w.head.Hash() != sound.head.Hash() {
			t.Errorf("a panic of %s changed the chain", what)
		}
	}
}

// A contract that panics again is this node's failure: no receipt, and no block if it is
// a step of the block. A transaction waits for another proposer.
func TestC21APanicOfAContractIsNoReceipt(t *testing.T) {
	w := newRunnerWorld(t, 2, nil)
	w.step()
	c := &carrying{fails: map[string]int{"dispatcher.submit": maxAttempts}}
	w.executor.Deliverer = c
	built, err := w.executor.Build(w.head, w.shown(), slices.Values([]*Checked{w.submit("bob", jobSpec(1))}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(built.Result.Receipts) != 0 || len(built.Dropped) != 0 || len(built.Failures) != 1 ||
		!strings.Contains(built.Failures[0].Brief(), "the contract 0x0000000000000000000000000000000000000002 panicked over transaction") {
		t.Errorf("%d receipts, dropped %+v, failures %v", len(built.Result.Receipts), built.Dropped, built.Failures)
	}
	c.fails["dispatcher.advance"] = maxAttempts
	var failed *EnvironmentError
	_, err = w.executor.Build(w.head, w.shown(), slices.Values([]*Checked(nil)), nil)
	if !errors.As(err, &failed) || failed.Attempts != maxAttempts {
		t.Errorf("a block whose step fails: %v", err)
	}
	if _, err := w.executor.Build(w.head, w.shown(), slices.Values([]*Checked(nil)), nil); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
}

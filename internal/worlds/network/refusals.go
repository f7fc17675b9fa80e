package network

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Refusals of whatever is asked.
var (
	ErrNoValidator = refusal.New("no_validator", "no validator is running")
	ErrClosing     = refusal.New("closing", "the network ends") // an order that comes at its end
	ErrAdvancing   = refusal.New("advancing", "an advance is already running").Hint("Wait until it ends, or end it: devnet advance --stop")
	// ErrNotAdvancing refuses to end a travel where there is none.
	ErrNotAdvancing = refusal.New("not_advancing", "no advance is under way").Hint("GET /height returns the height.")
)

// errUnderWay refuses a travel while an earlier one goes on that nobody waits for.
func errUnderWay(to types.Height) error {
	return refusal.New("advancing", "an advance to height %d is under way", to).
		Hint("Wait for it: devnet advance --to %d. Or end it: devnet advance --stop", to)
}

// ErrStrict refuses what a network without cheats does not do.
func ErrStrict(what string) *refusal.Error {
	return refusal.New("strict", "%s is off: this network runs with --strict", what).Hint("Start the network without --strict.")
}

// maxNameBytes bounds a node's name: it names files as well.
const maxNameBytes = 32

// checkJoin judges a new node: a name, which none of the accounts has, and the
// status of its node, "" for none.
func checkJoin(name string, accounts []string, standing string) error {
	switch {
	case name == "" || len(name) > maxNameBytes || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return refusal.New("invalid_name", "invalid node name %.40q", name).
			Hint("A name has 1 to 32 lower-case letters, digits and hyphens.").At("name")
	case slices.Contains(accounts, name):
		return refusal.New("name_taken", "%s is an account's name", name).
			Hint("A name stands for one thing: choose another.").At("name")
	case standing != "" && standing != "left":
		return refusal.New("already_validator", "%s is a validator already: it is %s", name, standing).At("name")
	}
	return nil
}

// errRunnersName refuses to give a validator the name of a runner.
func errRunnersName(name string) error {
	return refusal.New("name_taken", "%s is a runner's name", name).
		Hint("A name stands for one node: choose another.").At("name")
}

// errUnknownValidator refuses a name that no validator has.
func errUnknownValidator(name string) error {
	return refusal.New("unknown_node", "no node is called %.40q", name).Hint("GET /validators lists them.").At("name")
}

// checkJoinRunner judges the name of a runner that is to join: empty, or the next free one.
func checkJoinRunner(name, next string, exists bool) error {
	switch {
	case name != "" && exists:
		return refusal.New("runner_exists", "there is a runner %s already", name).
			Hint("A deregistered runner cannot return: its key stays registered.").At("name")
	case name != "" && name != next:
		return refusal.New("invalid_name", "%.40q is not the name of the next runner, which is %s", name, next).
			Hint("Give no name, or a public key to register a runner that the devnet does not start.").At("name")
	}
	return nil
}

// errNextRunner refuses to start a runner whose name is not the next.
func errNextRunner(name, next string) error {
	return refusal.New("invalid_name", "cannot start runner %q: the next free name is %s", name, next).
		Hint("Leave the name out, or give that of a runner that has left.").At("name")
}

// errTooManyRunners refuses one runner more.
func errTooManyRunners(most int) error {
	return refusal.New("too_many_runners", "a network in one process has at most %d runners", most)
}

// errRunnerAlready refuses to start a registered runner.
func errRunnerAlready(name string) error {
	return refusal.New("already_runner", "%s is a runner already", name).At("name")
}

// errRunnerGone refuses to deregister a runner again.
func errRunnerGone(name string) error {
	return refusal.New("deregistered", "%s has left already", name).At("name")
}

// checkParameter judges a change of a parameter that is to hold from at, 0 for the earliest height.
// The chain is at height, with the parameters now.
func checkParameter(now *params.Params, height types.Height, key, value string, at types.Height) (params.Info, error) {
	info, err := params.Lookup(key)
	if err != nil {
		return info, refusal.New("unknown_parameter", "%v", err).Hint("GET /params lists them.").At("key")
	}
	if info.Class == params.Genesis {
		return info, refusal.New("genesis_parameter", "%s is fixed in genesis: no instruction changes it", key).
			Hint("A new network can begin with it: params of network(…) in a script, or [params] in the file of --config with --reset.").At("key")
	}
	with := *now
	if err := with.Set(key, value); err != nil {
		return info, refusal.New("bad_value", "%v", err).At("value")
	}
	if at != 0 && at <= height {
		return info, refusal.New("height_passed", "height %d is not above the chain's, %d", at, height).
			Hint("Leave it out for the next block.").At("at")
	}
	return info, nil
}

// errPausedOrder refuses an order that needs a block.
func errPausedOrder() error {
	return refusal.New("paused", "an instruction needs a block, and the network is paused").
		Hint("POST /devnet/resume, or: devnet resume")
}

// ErrNoAnswer refuses to wait longer for a validator's answer. An error that does not come
// from the end of a wait stays as it is: the world has failed.
func ErrNoAnswer(node string, why error) error {
	ended := func(err error) bool { return errors.Is(why, err) }
	if !slices.ContainsFunc([]error{ErrLate, ErrClosed, context.Canceled, context.DeadlineExceeded}, ended) {
		return why
	}
	return refusal.New("no_answer", "%s did not answer: %v", node, why)
}

// ErrDropped refuses to wait for a transaction that a validator gave up.
func ErrDropped(why string) error {
	return refusal.New(refusal.CodeDropped, "the transaction was dropped: %s", why).
		Hint("No block has it so far. Send it again, with a fresh nonce and a sufficient fee.")
}

// errNotFinal refuses to wait longer for an order.
func errNotFinal(hash types.Hash, waited string) error {
	return refusal.New("not_final", "the instruction %s is not final after %s", hash, waited).
		Hint("It may still become final: ask GET /transaction/%s/receipt. GET /ready shows whether blocks are made.", hash)
}

package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Orders of an operator, judged alike in every world before they are done. The
// chain's own judgement is in the receipt, which Judged reads.

// MaxNameBytes bounds a node's name: it names files as well.
const MaxNameBytes = 32

// CheckJoin judges a new node: a name, which none of the accounts has, and the
// status of its node, "" for none.
func CheckJoin(name string, accounts []string, standing string) error {
	switch {
	case name == "" || len(name) > MaxNameBytes || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return Refuse(http.StatusBadRequest, "invalid_name", "invalid node name %.40q", name).
			Hint("A name has 1 to 32 lower-case letters, digits and hyphens.").At("name")
	case slices.Contains(accounts, name):
		return Refuse(http.StatusConflict, "name_taken", "%s is an account's name", name).
			Hint("A name stands for one thing: choose another.").At("name")
	case standing != "" && standing != "left":
		return Refuse(http.StatusConflict, "already_validator", "%s is a validator already: it is %s", name, standing).At("name")
	}
	return nil
}

// ErrRunnersName refuses to give a validator the name of a runner.
func ErrRunnersName(name string) error {
	return Refuse(http.StatusConflict, "name_taken", "%s is a runner's name", name).
		Hint("A name stands for one node: choose another.").At("name")
}

// ErrUnknownValidator refuses a name that no validator has.
func ErrUnknownValidator(name string) error {
	return Refuse(http.StatusNotFound, "unknown_node", "no node is called %.40q", name).Hint("GET /validators lists them.").At("name")
}

// CheckJoinRunner judges the name of a runner that is to join: empty, or the next free one.
func CheckJoinRunner(name, next string, exists bool) error {
	switch {
	case name != "" && exists:
		return Refuse(http.StatusConflict, "runner_exists", "there is a runner %s already", name).
			Hint("A deregistered runner cannot return: its key stays registered.").At("name")
	case name != "" && name != next:
		return Refuse(http.StatusBadRequest, "invalid_name", "%.40q is not the name of the next runner, which is %s", name, next).
			Hint("Give no name, or a public key to register a runner that the devnet does not start.").At("name")
	}
	return nil
}

// ErrNextRunner refuses to start a runner whose name is not the next.
func ErrNextRunner(name, next string) error {
	return Refuse(http.StatusConflict, "invalid_name", "cannot start runner %q: the next free name is %s", name, next).
		Hint("Leave the name out, or give that of a runner that has left.").At("name")
}

// ErrTooManyRunners refuses one runner more.
func ErrTooManyRunners(most int) error {
	return Refuse(http.StatusConflict, "too_many_runners", "a network in one process has at most %d runners", most)
}

// ErrRunnerAlready refuses to start a registered runner.
func ErrRunnerAlready(name string) error {
	return Refuse(http.StatusConflict, "already_runner", "%s is a runner already", name).At("name")
}

// ErrDeregistered refuses to deregister a runner again.
func ErrDeregistered(name string) error {
	return Refuse(http.StatusConflict, "deregistered", "%s has left already", name).At("name")
}

// CheckParameter judges a change of a parameter at a height, 0 for the next it may
// hold from, on a chain of the given height whose parameters are now.
func CheckParameter(now *params.Params, height types.Height, key, value string, at types.Height) (params.Info, error) {
	info, err := params.Lookup(key)
	if err != nil {
		return info, Refuse(http.StatusNotFound, "unknown_parameter", "%v", err).Hint("GET /params lists them.").At("key")
	}
	if info.Class == params.Genesis {
		return info, Refuse(http.StatusConflict, "genesis_parameter", "%s is fixed in genesis: no instruction changes it", key).
			Hint("A new network can begin with it: params of network(…) in a script, or [params] in the file of --config with --reset.").At("key")
	}
	with := *now
	if err := with.Set(key, value); err != nil {
		return info, Refuse(http.StatusBadRequest, "bad_value", "%v", err).At("value")
	}
	if at != 0 && at <= height {
		return info, Refuse(http.StatusConflict, "height_passed", "height %d is not above the chain's, %d", at, height).
			Hint("Leave it out for the next block.").At("at")
	}
	return info, nil
}

// CheckTimer judges an order to change a timer by the final state: it was
// scheduled, and is pending. The chain judges it again in the instruction's block.
func CheckTimer(v Reader, id types.TimerID) (*Timer, error) {
	t, err := v.Timer(id)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, unknownTimer(v, id)
	}
	if t.Status != types.TimerPending {
		return nil, Refuse(http.StatusConflict, "timer_ended", "the timer %s has ended: it is %s", id, t.Status).
			Hint("GET /timer/%s/story tells how.", id).At("id")
	}
	return t, nil
}

// ErrPausedOrder refuses an order that needs a block.
func ErrPausedOrder() error {
	return Refuse(http.StatusConflict, "paused", "an instruction needs a block, and the network is paused").
		Hint("POST /devnet/resume, or: devnet resume")
}

// ErrNoValidator refuses an order that takes a running validator.
func ErrNoValidator() error {
	return Refuse(http.StatusServiceUnavailable, "no_validator", "no validator is running")
}

// ErrNoAnswer refuses to wait longer for a validator's answer.
func ErrNoAnswer(node string, why error) error {
	return Refuse(http.StatusServiceUnavailable, "no_answer", "%s did not answer: %v", node, why)
}

// ErrClosing refuses an order that comes at the network's end.
func ErrClosing() error { return Refuse(http.StatusServiceUnavailable, "closing", "the network ends") }

// ErrDropped refuses to wait for a transaction that a validator gave up.
func ErrDropped(why string) error {
	return Refuse(http.StatusConflict, CodeDropped, "the transaction was dropped: %s", why).
		Hint("No block has it so far. Send it again, with a fresh nonce and a sufficient fee.")
}

// ErrNotFinal refuses to wait longer for an order.
func ErrNotFinal(hash types.Hash, waited string) error {
	return Refuse(http.StatusGatewayTimeout, "not_final", "the instruction %s is not final after %s", hash, waited).
		Hint("It may still become final: ask GET /transaction/%s/receipt. GET /ready shows whether blocks are made.", hash)
}

// Judged is why the chain refused an order, or nil.
func Judged(receipt *types.Receipt) error {
	if receipt.Status == types.StatusOK {
		return nil
	}
	code, message := string(receipt.Status), "the chain refused the instruction"
	if receipt.Error != nil {
		code, message = receipt.Error.Code, receipt.Error.Message
	}
	return Refuse(http.StatusConflict, code, "%s", message)
}

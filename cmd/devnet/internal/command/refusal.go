package command

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// inWords returns the API's refusal for a person who typed a command: its hints
// name commands and flags instead of the API's paths. A request that no network
// would take was typed wrong.
func inWords(refused *client.Error) *failure.Failure {
	f := &failure.Failure{Code: failure.ExitFailed, What: fmt.Sprintf("%s (%s)", refused.Message, refused.Code), Hint: refused.Hint,
		Name: refused.Code}
	if hint, ok := hints[refused.Code]; ok {
		f.Hint = hint
	}
	if what, is := strings.CutPrefix(refused.Message, "no "); is && refused.Code == "unknown_prefix" {
		if what, _, _ = strings.Cut(what, " "); slices.Contains(listedKinds, what) {
			f.Hint = fmt.Sprintf("devnet %s list lists those that are known.", what)
		}
	}
	switch refused.Code {
	case "not_final":
		f.Hint = hintOfWait(refused)
	case "invalid_job", "invalid_runner": // its message begins with the field, which is a flag's name
		f.Code, f.What = failure.ExitUsage, FlagOf(refused.Field)+strings.TrimPrefix(refused.Message, refused.Field)
	case "invalid_request":
		f.Code, f.Hint = failure.ExitUsage, "The command's --help says what it takes."
		if rest, is := strings.CutPrefix(refused.Message, refused.Field+": "); is && refused.Field != "" {
			f.What = FlagOf(refused.Field) + ": " + rest
		}
	case "invalid_address", "invalid_hash", "invalid_block", "invalid_name", "invalid_bytes", "invalid_type":
		f.Code = failure.ExitUsage
	}
	return f
}

// hintOfWait is what to do where something is not final yet: a transaction that was waited for,
// one that was asked about, or a height.
func hintOfWait(refused *client.Error) string {
	const blocks = "devnet status shows whether blocks are made."
	switch refused.Field {
	case "height":
		return refused.Hint
	case "hash":
		return "Ask again after the next block: " + blocks
	}
	return "It may still become final: devnet tx tells. " + blocks
}

// hintOfUnreachable is what to do where no network answers. An address that cannot be one comes first.
func hintOfUnreachable(u *client.Unreachable) string {
	at, err := url.Parse(u.Address)
	_, port, _ := net.SplitHostPort(DefaultHTTP)
	switch {
	case err == nil && at.Scheme == "https" && strings.Contains(u.Cause.Error(), "HTTP response to HTTPS client"):
		return "What answers there speaks http: give --http " + at.Host
	case err == nil && at.Port() == "" && strings.Trim(at.Hostname(), "0123456789") != "" && at.Scheme == "http":
		return "The address has no port: give --http " + net.JoinHostPort(at.Hostname(), port) + ", if that is where it listens."
	}
	return "Start one with: devnet up. For one elsewhere give --http HOST:PORT or set DEVNET_HTTP."
}

// RefusedAs reports whether the network refused a request with one of these codes.
func RefusedAs(err error, codes ...string) bool {
	refused, is := errors.AsType[*client.Error](err)
	return is && slices.Contains(codes, refused.Code)
}

// FlagOf is what a field of a request is called on the command line. A name goes without
// a flag.
func FlagOf(field string) string {
	if field == "name" {
		return "NAME"
	}
	return "--" + strings.ReplaceAll(field, "_", "-")
}

// listedKinds are what has a command that lists it, by the name of both.
var listedKinds = []string{"actor", "job", "runner", "timer", "validator"}

// hints are by the code of a refusal. Other codes keep the API's hint.
var hints = map[string]string{
	"name_taken":         "Choose another with --name, or give it to the new actor with --replace; the old one keeps its state and timers.",
	"unknown_prefix":     "Give more of it, or look it up in devnet events --from 1.",
	"insufficient_funds": "devnet account lists balances, and devnet faucet NAME gives more.",
	"unknown_timer":      "devnet timer list lists those that are known.",
	"timer_ended":        "devnet timer show shows how.",
	"invalid_job":        "devnet job submit --help says what a job takes.",
	"invalid_runner":     "devnet runner join --help says what a runner takes.",
	"unknown_job":        "devnet job list lists those that are known.",
	"job_ended":          "devnet job show shows how.",
	"unknown_runner":     "devnet runner list lists them; another than the devnet's own goes by its address.",
	"already_runner":     "Leave the name out, and one more is started.",
	"already_registered": "A deregistered runner needs another key to register again.",
	"stake_too_low":      "Give more with --stake; the minimum is the parameter cip2.min_stake.",
	"height_passed":      "devnet status tells the latest.",
	"not_advancing":      "devnet status shows the height.",
	"no_timer":           "devnet timer list lists timers.",
	"no_change":          "devnet runner list shows the status of each.",
	"unknown_name":       "devnet account and devnet actor list list the names; an address is 0x and 40 hexadecimal digits.",
	"unknown_actor":      "devnet actor list lists those that are final.",
	"unknown_node":       "devnet validator list lists them.",
	"no_state":           "devnet runner show takes runners; devnet validator list lists what --node takes.",
	"unknown_parameter":  "", // its message says it
	"unknown_path":       "Give --http HOST:PORT, without a path.",
	"unknown_signer":     "devnet account lists the accounts it signs for; send a transaction signed by another key to POST /submit.",
}

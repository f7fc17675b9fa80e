package nodetext

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintRunners prints a row for each runner.
func PrintRunners(w io.Writer, runners []model.Runner) {
	terminal.PrintTable(w, "No runners.", "INDEX NAME ADDRESS STATUS PRESENT PEERS JOBS REPUTE STAKE_CBY",
		terminal.RowsOf(runners, func(r *model.Runner) []string {
			return []string{strconv.FormatUint(uint64(r.Index), 10), cmp.Or(r.Name, "-"), words.Short(r.Address.String()), r.Health,
				terminal.YesOrNo(r.Present), connectedWords(r),
				strconv.FormatUint(r.ActiveJobs, 10) + "/" + strconv.FormatUint(r.MaxConcurrentJobs, 10),
				strconv.FormatUint(r.Reputation, 10), terminal.Amount(r.Stake)}
		}))
}

// connectedWords is with how many of its subset a runner is connected; "-" at an earlier moment, which says nothing of it.
func connectedWords(r *model.Runner) string {
	if r.Connected == nil {
		return "-/" + strconv.Itoa(len(r.Subset))
	}
	return strconv.Itoa(len(r.Connected)) + "/" + strconv.Itoa(len(r.Subset))
}

// PrintRunner prints a runner, and what validators heard of it.
func PrintRunner(w io.Writer, names *naming.Names, r *model.Runner) {
	owner := names.Of(r.Owner) + "  " + r.Owner.String()
	if r.Owner == r.Address {
		owner = "itself"
	}
	accepting := ""
	if r.Health == model.RunnerHealthy && !r.Accepting {
		accepting = ", takes no new ones"
	}
	terminal.PrintFacts(w, "name", r.Name, "index", strconv.FormatUint(uint64(r.Index), 10), "address", r.Address.String(), "public key",
		r.PublicKey.String(), "owner", owner, "status", r.Health,
		"stake returns", stakeReturns(r), "present", terminal.YesOrNo(r.Present), "stake", words.CBY(r.Stake),
		"reputation", strconv.FormatUint(r.Reputation, 10)+" of 100", "refusals", strconv.FormatUint(r.Refusals, 10),
		"jobs", fmt.Sprintf("%d of at most %d%s", r.ActiveJobs, r.MaxConcurrentJobs, accepting),
		"subset", names.OfAll(r.Subset), "connected", names.OfAll(r.Connected), "offers", words.Printable(strings.Join(r.Capabilities, " ")),
		"entitlements", words.Printable(strings.Join(r.Entitlements, " ")), "says", changesWords(r.Changes),
		"asks", ratesWords(r), "registered", "in block "+terminal.Height(r.RegisteredAt),
		"heartbeat", "of block "+terminal.Height(r.LastHeartbeat))
	printRunnerEvents(w, names, r.Heard)
}

// printRunnerEvents prints a line for each thing that a validator heard of a runner.
func printRunnerEvents(w io.Writer, names *naming.Names, heard []model.RunnerEvent) {
	if len(heard) == 0 {
		return
	}
	rows := terminal.RowsOf(heard, func(e *model.RunnerEvent) []string {
		return []string{terminal.Height(e.Height), e.What, names.Of(e.Validator), DescribeHeard(e)}
	})
	fmt.Fprintln(w)
	terminal.PrintColumns(w, append([][]string{{"HEIGHT", "HEARD", "BY", "DETAIL"}}, rows...))
}

// DescribeHeard is what a runner told a validator, or why it was refused or left.
func DescribeHeard(e *model.RunnerEvent) string {
	var details []string
	if e.Accepting != nil {
		takes := "takes new jobs"
		if !*e.Accepting {
			takes = "takes no new jobs"
		}
		details = append(details, takes)
	}
	if e.ActiveJobs != nil && e.MaxConcurrentJobs != nil {
		details = append(details, fmt.Sprintf("%d of at most %d", *e.ActiveJobs, *e.MaxConcurrentJobs))
	}
	if e.Reason != "" {
		details = append(details, words.Printable(e.Reason))
	}
	return strings.Join(details, ", ")
}

// stakeReturns says when the stake of a runner that left returns, or that it did.
func stakeReturns(r *model.Runner) string {
	switch {
	case r.Health != model.RunnerDeregistered:
		return ""
	case r.Stake.IsZero():
		return "returned in block " + terminal.Height(r.StakeReturns)
	case r.ActiveJobs > 0:
		return "in block " + terminal.Height(r.StakeReturns) + ", or when its last job ends if that is later"
	}
	return "in block " + terminal.Height(r.StakeReturns)
}

// changesWords lists a runner's announced additions to its offer, and its removals.
func changesWords(said *model.RunnerChanges) string {
	if said == nil {
		return ""
	}
	return NameChanges(slices.Concat(said.AddedCapabilities, said.AddedEntitlements),
		slices.Concat(said.RemovedCapabilities, said.RemovedEntitlements))
}

// NameChanges lists what was added to an offer, and what was removed.
func NameChanges(added, removed []string) string {
	var all []string
	for _, name := range added {
		all = append(all, "+"+name)
	}
	for _, name := range removed {
		all = append(all, "-"+name)
	}
	return words.Printable(strings.Join(all, " "))
}

// ratesWords are what a runner asks, in wei.
func ratesWords(r *model.Runner) string {
	card := &r.RateCard
	var list []string
	for i, rate := range []types.Wei{card.ComputeSecond, card.LLMInputToken, card.LLMOutputToken, card.HTTPRequestBase, card.MCPCallBase,
		card.MemoryMB} {
		if !rate.IsZero() {
			list = append(list, api.Rates[i]+" "+words.GroupedWei(rate))
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ") + " wei"
}

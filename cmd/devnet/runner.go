package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func runnerCommand() *cli.Command {
	reads := readFlags
	return &cli.Command{
		Name: "runner", Usage: "the runners, who do the work of jobs",
		Description: "Example: devnet runner list",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "runners in the order of the registry",
				Description: "Example: devnet runner list --status Healthy",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "status", Usage: "only `STATUS`: Healthy, Unhealthy, Paused or Deregistered"},
					jsonFlag, httpFlag, nodeFlag, atFlag}, pageFlags...),
				Action: takingNothing(runnerList)},
			{Name: "show", Usage: "one runner, by name or address", ArgsUsage: "NAME|ADDRESS", Description: "Example: devnet runner show r0",
				Flags: reads, Action: aboutRunner((*client.API).Runner)},
			runnerJoinCommand(),
			runnerOrderCommand("leave", "deregister a runner for its owner, permanently",
				"\nIts stake returns to its owner two epochs later, or when its last job ended if that is later.", (*client.API).LeaveRunner),
			runnerOrderCommand("pause", "keep a runner out of draws; its open jobs continue", "", (*client.API).PauseRunner),
			runnerOrderCommand("resume", "let a paused runner be drawn again", "", (*client.API).ResumeRunner),
			runnerUpdateCommand(),
			runnerStakeCommand(),
			runnerReloadCommand(),
		},
	}
}

func runnerList(c *cli.Context) error {
	if err := refuseEmpty(c, "status"); err != nil {
		return err
	}
	get := func(p client.Page) iter.Seq2[model.Runner, error] {
		return networkClient(c).Runners(c.Context, c.String("status"), p)
	}
	return printPage(c, "more", get, runnerTable)
}

func runnerTable(w io.Writer, runners []model.Runner) {
	printTable(w, "No runners.", "INDEX NAME ADDRESS STATUS PRESENT PEERS JOBS REPUTE STAKE_CBY",
		rowsOf(runners, func(r *model.Runner) []string {
			return []string{strconv.FormatUint(uint64(r.Index), 10), cmp.Or(r.Name, "-"), short(r.Address.String()), r.Health, yesOrNo(r.Present),
				connectedWords(r),
				strconv.FormatUint(r.ActiveJobs, 10) + "/" + strconv.FormatUint(r.MaxConcurrentJobs, 10),
				strconv.FormatUint(r.Reputation, 10), amountWords(r.Stake)}
		}))
}

// connectedWords is with how many of its subset a runner is connected; "-" at an earlier moment, which says nothing of it.
func connectedWords(r *model.Runner) string {
	if r.Connected == nil {
		return "-/" + strconv.Itoa(len(r.Subset))
	}
	return strconv.Itoa(len(r.Connected)) + "/" + strconv.Itoa(len(r.Subset))
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// aboutRunner is the action of a question or an order about one runner.
func aboutRunner(ask func(*client.API, context.Context, string) (model.Runner, error)) cli.ActionFunc {
	return withArguments(func(c *cli.Context, args []string) error {
		r, err := ask(networkClient(c), c.Context, args[0])
		return shownRunner(c, r, err)
	})
}

// shownRunner prints the runner that was asked for or ordered about, if nothing was
// refused.
func shownRunner(c *cli.Context, r model.Runner, err error) error {
	return printAnswer(c, r, err, func(w io.Writer) { printRunner(w, newNaming(c.Context, networkClient(c)), &r) })
}

func printRunner(w io.Writer, names *naming, r *model.Runner) {
	owner := names.nameOf(r.Owner) + "  " + r.Owner.String()
	if r.Owner == r.Address {
		owner = "itself"
	}
	accepting := ""
	if r.Health == model.RunnerHealthy && !r.Accepting {
		accepting = ", takes no new ones"
	}
	printFacts(w, "name", r.Name, "index", strconv.FormatUint(uint64(r.Index), 10), "address", r.Address.String(), "public key",
		r.PublicKey.String(), "owner", owner, "status", r.Health,
		"stake returns", stakeReturns(r), "present", yesOrNo(r.Present), "stake", cby(r.Stake),
		"reputation", strconv.FormatUint(r.Reputation, 10)+" of 100", "refusals", strconv.FormatUint(r.Refusals, 10),
		"jobs", fmt.Sprintf("%d of at most %d%s", r.ActiveJobs, r.MaxConcurrentJobs, accepting),
		"subset", names.namesOf(r.Subset), "connected", names.namesOf(r.Connected), "offers", printable(strings.Join(r.Capabilities, " ")),
		"entitlements", printable(strings.Join(r.Entitlements, " ")), "says", changesWords(r.Changes),
		"asks", ratesWords(r), "registered", "in block "+plainHeight(r.RegisteredAt),
		"heartbeat", "of block "+plainHeight(r.LastHeartbeat))
	printRunnerEvents(w, names, r.Heard)
}

// printRunnerEvents prints a line for each thing that a validator heard of a runner.
func printRunnerEvents(w io.Writer, names *naming, heard []model.RunnerEvent) {
	if len(heard) == 0 {
		return
	}
	rows := rowsOf(heard, func(e *model.RunnerEvent) []string {
		return []string{plainHeight(e.Height), e.What, names.nameOf(e.Validator), heardOf(e)}
	})
	fmt.Fprintln(w)
	for _, line := range alignColumns(append([][]string{{"HEIGHT", "HEARD", "BY", "DETAIL"}}, rows...)) {
		fmt.Fprintln(w, line)
	}
}

// heardOf is what a runner told a validator, or why it was refused or left.
func heardOf(e *model.RunnerEvent) string {
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
		details = append(details, printable(e.Reason))
	}
	return strings.Join(details, ", ")
}

// stakeReturns says when the stake of a runner that left returns, or that it did.
func stakeReturns(r *model.Runner) string {
	switch {
	case r.Health != model.RunnerDeregistered:
		return ""
	case r.Stake.IsZero():
		return "returned in block " + plainHeight(r.StakeReturns)
	case r.ActiveJobs > 0:
		return "in block " + plainHeight(r.StakeReturns) + ", or when its last job ends if that is later"
	}
	return "in block " + plainHeight(r.StakeReturns)
}

// changesWords lists a runner's announced additions to its offer, and its removals.
func changesWords(said *model.RunnerChanges) string {
	if said == nil {
		return ""
	}
	return changedNames(slices.Concat(said.AddedCapabilities, said.AddedEntitlements),
		slices.Concat(said.RemovedCapabilities, said.RemovedEntitlements))
}

// changedNames lists what was added to an offer, and what was removed.
func changedNames(added, removed []string) string {
	var all []string
	for _, name := range added {
		all = append(all, "+"+name)
	}
	for _, name := range removed {
		all = append(all, "-"+name)
	}
	return printable(strings.Join(all, " "))
}

// ratesWords are what a runner asks, in wei.
func ratesWords(r *model.Runner) string {
	card := &r.RateCard
	var list []string
	for i, rate := range []types.Wei{card.ComputeSecond, card.LLMInputToken, card.LLMOutputToken, card.HTTPRequestBase, card.MCPCallBase,
		card.MemoryMB} {
		if !rate.IsZero() {
			list = append(list, api.Rates[i]+" "+groupedWei(rate))
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ") + " wei"
}

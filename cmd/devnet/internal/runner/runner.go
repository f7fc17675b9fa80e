// Package runner has the commands about runners.
package runner

import (
	"context"
	"io"
	"iter"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Command is the command runner.
func Command() *cli.Command {
	reads := command.ReadFlags
	return &cli.Command{
		Name: "runner", Usage: "the runners, who do the work of jobs",
		Description: "Example: devnet runner list",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "runners in the order of the registry",
				Description: "Example: devnet runner list --status Healthy",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "status", Usage: "only `STATUS`: Healthy, Unhealthy, Paused or Deregistered"},
					command.JSONFlag, command.HTTPFlag, command.NodeFlag, command.AtFlag}, command.PageFlags...),
				Action: command.WithoutArguments(runnerList)},
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
	if err := command.RefuseEmpty(c, "status"); err != nil {
		return err
	}
	get := func(p client.Page) iter.Seq2[model.Runner, error] {
		return command.NewClient(c).Runners(c.Context, c.String("status"), p)
	}
	return command.PrintPage(c, "more", get, nodetext.PrintRunners)
}

// aboutRunner is the action of a question or an order about one runner.
func aboutRunner(ask func(*client.API, context.Context, string) (model.Runner, error)) cli.ActionFunc {
	return command.WithArguments(func(c *cli.Context, args []string) error {
		r, err := ask(command.NewClient(c), c.Context, args[0])
		return shownRunner(c, r, err)
	})
}

// shownRunner prints the runner that was asked for or ordered about, if nothing was
// refused.
func shownRunner(c *cli.Context, r model.Runner, err error) error {
	return command.PrintAnswer(c, r, err, func(w io.Writer) { nodetext.PrintRunner(w, command.NewNames(c.Context, command.NewClient(c)), &r) })
}

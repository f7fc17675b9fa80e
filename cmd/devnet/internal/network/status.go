// Package network has the commands that make the folder of a network, stop a network, and show its nodes.
package network

import (
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// StatusCommand is the command status.
func StatusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show whether the network is ready, and the state of its nodes",
		Description: "Example: devnet status\nExit code 1 while something is missing, but for a network that was paused.",
		Flags:       []cli.Flag{command.JSONFlag, command.HTTPFlag},
		Action:      command.WithoutArguments(showStatus),
	}
}

func showStatus(c *cli.Context) error {
	n := command.NewClient(c)
	ready, err := n.Ready(c.Context)
	if err != nil {
		return err
	}
	validators, err := n.Validators(c.Context)
	if err != nil {
		return err
	}
	err = command.PrintAnswerOrJSON(c, struct {
		HTTP       string            `json:"http"`
		Ready      model.Ready       `json:"ready"`
		Validators []model.Validator `json:"validators"`
	}{n.URL(), ready, validators}, func(w io.Writer) {
		state := "ready"
		switch {
		case ready.Paused:
			state = self.ReplaceName("paused: devnet resume continues")
		case !ready.Ready:
			state = "not ready"
		}
		last := nodetext.Ago(ready.SinceMS)
		if ready.Stalled != "" && !ready.Paused {
			last += ": " + ready.Stalled
		}
		terminal.PrintFacts(w, "network", fmt.Sprintf("%s, %s", n.URL(), state), "held", nodetext.DescribeHold(ready), "chain id",
			strconv.FormatUint(ready.ChainID, 10),
			"height", strconv.FormatUint(uint64(ready.Height), 10), "travels", nodetext.DescribeTravel(ready), "last block", last,
			"runners", nodetext.DescribeRunners(ready), "supervision", ready.Strategy, "version", ready.Version)
		fmt.Fprintln(w)
		nodetext.PrintValidators(w, validators)
		for _, node := range ready.Nodes {
			for _, missing := range node.Missing {
				fmt.Fprintf(w, "%s: %s\n", node.Name, missing)
			}
		}
		for _, trouble := range ready.Trouble {
			fmt.Fprintln(w, words.Printable(trouble))
		}
	})
	if err == nil && !ready.Ready && !ready.Paused {
		return failure.New("", "the network is not ready")
	}
	return err
}

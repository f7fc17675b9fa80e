package network

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// ValidatorCommand is the command validator.
func ValidatorCommand() *cli.Command {
	return &cli.Command{
		Name: "validator", Usage: "the validators",
		Description: "Example: devnet validator list",
		Subcommands: append([]*cli.Command{
			{Name: "list", Usage: "all validators", Description: "Example: devnet validator list --json",
				Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: command.WithoutArguments(validatorList)},
			{Name: "show", Usage: "one validator, by name or address", ArgsUsage: "NAME|ADDRESS", Description: "Example: devnet validator show v0",
				Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: command.WithArguments(validatorShow)},
		}, moveCommands()...),
	}
}

func validatorList(c *cli.Context) error {
	validators, err := command.NewClient(c).Validators(c.Context)
	return command.PrintAnswer(c, validators, err, func(w io.Writer) { nodetext.PrintValidators(w, validators) })
}

func validatorShow(c *cli.Context, args []string) error {
	validators, err := command.NewClient(c).Validators(c.Context)
	if err != nil {
		return err
	}
	for _, v := range validators {
		if v.Name != args[0] && !(len(args[0]) >= words.ShortHex && strings.HasPrefix(v.Address.String(), args[0])) {
			continue
		}
		return command.PrintAnswerOrJSON(c, v, func(w io.Writer) {
			shown := []string{"name", v.Name, "index", strconv.Itoa(v.Index), "address", v.Address.String(), "public key", v.PublicKey.String(),
				"QUIC address", v.QUICAddress, "status", v.Status, "running", strconv.FormatBool(v.Running)}
			if !v.Elsewhere { // of which the one that answers does not know them
				shown = append(shown, "height", strconv.FormatUint(uint64(v.Height), 10), "view", strconv.FormatUint(uint64(v.View), 10),
					"connections", strconv.Itoa(v.Connections), "runners", strconv.Itoa(v.Runners), "state root", v.StateRoot.String())
			}
			terminal.PrintFacts(w, shown...)
		})
	}
	return failure.New("devnet validator list shows them all.", "no validator is %q", args[0])
}

// moveCommands are validator join and leave.
func moveCommands() []*cli.Command {
	return []*cli.Command{
		{Name: "join", Usage: "start a validator that joins the set at the epoch's end", ArgsUsage: "[NAME]",
			Description: "Example: devnet validator join v4\nWithout a name: the next of v0, v1, … that is free.\n" +
				"The name of one that leaves at the epoch's end takes the leave back.",
			Flags:  []cli.Flag{command.JSONFlag, command.HTTPFlag},
			Action: moveOrder((*client.API).JoinValidator)},
		{Name: "leave", Usage: "remove a validator from the set at the end of the epoch", ArgsUsage: "NAME",
			Description: "Example: devnet validator leave v3",
			Flags:       []cli.Flag{command.JSONFlag, command.HTTPFlag},
			Action:      moveOrder((*client.API).LeaveValidator)},
	}
}

// moveOrder is the action of an order by which a validator enters or leaves the set.
func moveOrder(order func(*client.API, context.Context, string) (model.Move, error)) cli.ActionFunc {
	return command.WithArguments(func(c *cli.Context, args []string) error {
		m, err := order(command.NewClient(c), c.Context, args[0])
		return command.PrintAnswer(c, m, err, func(w io.Writer) {
			terminal.PrintFacts(w, "name", m.Name, "address", m.Address.String(), "status", m.Status,
				"holds from", fmt.Sprintf("epoch %d, height %d", m.Epoch, m.Height))
		})
	})
}

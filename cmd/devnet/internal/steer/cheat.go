package steer

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/actor"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// CheatCommand is the command cheat.
func CheatCommand() *cli.Command {
	return &cli.Command{
		Name: "cheat", Usage: "set balances and state, as no transaction of a user can",
		Description: "Example: devnet cheat balance bob 5000",
		Subcommands: []*cli.Command{
			{Name: "balance", Usage: "give an account or actor another balance", ArgsUsage: "ACCOUNT CBY",
				Description: "Example: devnet cheat balance bob 5000\n" +
					"The difference counts as minted or removed. It returns when the instruction is final.",
				Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: command.WithArguments(cheatBalance)},
			{Name: "state", Usage: "give a key of an actor's state another value, or delete it", ArgsUsage: "ACTOR KEY [VALUE]",
				Description: "Example: devnet cheat state hb interval 0x05\nExample: devnet cheat state hb interval --delete\n" +
					"KEY and VALUE are 0x-hex, or text; @FILE reads a file, - standard input. Where KEY is an integer of the actor's class, " +
					"VALUE is its digits.",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "delete", Usage: "remove the key"}, command.ResolveFlag, command.JSONFlag, command.HTTPFlag},
				Action: command.WithArguments(cheatState)},
		},
	}
}

func cheatBalance(c *cli.Context, args []string) error {
	balance, err := command.ParseAmount("CBY", args[1])
	if err != nil {
		return err
	}
	n := command.NewClient(c)
	set, err := n.SetBalance(c.Context, model.BalanceRequest{Account: args[0], Balance: balance})
	return command.PrintAnswer(c, set, err, func(w io.Writer) {
		terminal.PrintFacts(w, "account", args[0], "address", set.Address.String(), "before", words.CBY(set.Before), "balance",
			words.CBY(set.After), "height", terminal.Height(set.Height), "hash", set.Hash.String())
	})
}

func cheatState(c *cli.Context, args []string) error {
	key, err := command.PayloadOf(c, "the key", args[1])
	if err != nil {
		return err
	}
	n, request := command.NewClient(c), model.StateRequest{Actor: args[0], Key: key}
	given := c.Args().Len() > 2
	if given == c.Bool("delete") {
		return failure.NewUsage("Example: devnet cheat state hb interval 0x05", "cheat state takes one of VALUE and --delete")
	}
	if given {
		value, err := stateValue(c, n, &request, args[2])
		if err != nil {
			return err
		}
		request.Value = &value
	}
	set, err := n.SetState(c.Context, request)
	return command.PrintAnswer(c, set, err, func(w io.Writer) {
		done := "set"
		if set.Removed {
			done = "deleted"
		}
		terminal.PrintFacts(w, "actor", args[0], "key", words.Value(set.Key), "value", done, "height", terminal.Height(set.Height), "hash",
			set.Hash.String())
	})
}

// stateValue is a value as the API takes it. Of an integer of the actor's class, a text is its digits.
func stateValue(c *cli.Context, n *client.API, of *model.StateRequest, text string) (string, error) {
	value, err := command.ResolveNames(c, text)
	if err != nil || strings.HasPrefix(value, "0x") {
		return value, err
	}
	schema, err := actor.SchemaOf(c.Context, n, of.Actor)
	if err != nil || schema == nil {
		return value, err
	}
	attribute := schema.Attribute(of.Key)
	if attribute == nil || attribute.Kind != typed.OneValue || attribute.Type.Form != typed.Integer {
		return value, nil
	}
	packed, err := schema.PackInteger(&attribute.Type, value)
	if err != nil {
		return "", failure.NewUsage("Give its digits, or the bytes of its CBOR as 0x-hex.", "VALUE: %s %v", of.Key, err)
	}
	return types.Bytes(packed).String(), nil
}

// MineCommand is the command mine.
func MineCommand() *cli.Command {
	return &cli.Command{
		Name: "mine", Usage: "make a number of blocks now, and print what fired", ArgsUsage: "[BLOCKS]",
		Description: "Example: devnet mine 3\n" +
			"Each height gets a block, so votes and runners take part; advance skips heights at which nothing is due. It works while paused.",
		Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: command.WithArguments(mineBlocks),
	}
}

func mineBlocks(c *cli.Context, args []string) error {
	blocks, err := strconv.ParseUint(cmp.Or(args[0], "1"), 10, 64)
	if err != nil || blocks == 0 {
		return failure.NewUsage("Example: devnet mine 3", "BLOCKS: want a whole number above 0; got %.40q", args[0])
	}
	n := command.NewClient(c)
	a, err := n.Mine(c.Context, blocks)
	return command.PrintAnswer(c, a, err, func(w io.Writer) { printAdvance(w, a, command.NewNames(c.Context, n)) })
}

// AutomineCommand is the command automine.
func AutomineCommand() *cli.Command {
	return &cli.Command{
		Name: "automine", Usage: "make blocks by themselves, or only by mine and advance", ArgsUsage: "on|off",
		Description: "Example: devnet automine off\n" +
			"off is the same as pause, on the same as resume. Transactions wait in the pool; hand them in with --no-wait.",
		Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: command.WithArguments(setAutomine),
	}
}

func setAutomine(c *cli.Context, args []string) error {
	if args[0] != "on" && args[0] != "off" {
		return failure.NewUsage("Example: devnet automine off", "automine: want on or off; got %.40q", args[0])
	}
	p, err := command.NewClient(c).Automine(c.Context, args[0] == "on")
	return command.PrintAnswer(c, p, err, func(w io.Writer) {
		if p.Paused {
			fmt.Fprint(w, self.ReplaceName(fmt.Sprintf("Blocks are made only when asked, from height %d on: devnet mine.\n", p.Height)))
			return
		}
		fmt.Fprintf(w, "Blocks are made by themselves, from height %d on.\n", p.Height)
	})
}

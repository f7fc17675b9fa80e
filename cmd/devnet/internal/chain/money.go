package chain

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// TransferCommand is the command transfer.
func TransferCommand() *cli.Command {
	return &cli.Command{
		Name: "transfer", Usage: "move CBY from a devnet account to an account or actor", ArgsUsage: "TO AMOUNT",
		Description: "Example: devnet transfer bob 2.5 --from alice\n" +
			"TO is an address or a name. It returns when the transfer is final.",
		Flags:  []cli.Flag{command.NoWaitFlag, command.FromFlag, command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(sendTransfer),
	}
}

func sendTransfer(c *cli.Context, args []string) error {
	amount, err := command.ParseAmount("AMOUNT", args[1])
	if err != nil {
		return err
	}
	if amount.IsZero() {
		return failure.NewUsage("Give an amount like 100, 0.25 or 12wei.", "AMOUNT: a transfer of nothing does nothing")
	}
	n := command.NewClient(c)
	r, err := n.Send(c.Context, model.SendRequest{From: c.String("from"), To: args[0], Value: &amount, NoWait: c.Bool("no-wait")})
	if err != nil {
		return err
	}
	if c.Bool("no-wait") {
		return command.PrintAnswerOrJSON(c, r, func(w io.Writer) { fmt.Fprintln(w, r.Hash) })
	}
	return printTransfer(c, n, r, amount)
}

// FaucetCommand is the command faucet.
func FaucetCommand() *cli.Command {
	return &cli.Command{
		Name: "faucet", Usage: "give an account what the faucet gives at a time", ArgsUsage: "TO",
		Description: "Example: devnet faucet 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n" +
			"TO is an address or a name. It returns when the transfer is final.",
		Flags:  []cli.Flag{command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(payFromFaucet),
	}
}

func payFromFaucet(c *cli.Context, args []string) error {
	n := command.NewClient(c)
	given, err := n.Faucet(c.Context, args[0])
	if err != nil {
		return err
	}
	r, err := n.Receipt(c.Context, given.Hash.String())
	if err != nil {
		return err
	}
	return printTransfer(c, n, r, given.Amount)
}

// printTransfer prints a final transfer, and the balance of the account that has it.
func printTransfer(c *cli.Context, n *client.API, r model.Receipt, amount types.Wei) error {
	to, err := n.Account(c.Context, r.To.String())
	if err != nil {
		return err
	}
	return command.PrintIfOK(c, r, r, "the transfer", func(w io.Writer) {
		terminal.PrintFacts(w, "hash", r.Hash.String(), "to", words.Printable(to.Name), "address", r.To.String(), "moved", words.CBY(amount),
			"height", terminal.Height(r.Height),
			"fee", words.CBY(r.Fee), "balance", words.CBY(to.Balance))
	})
}

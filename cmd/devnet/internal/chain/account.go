package chain

import (
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// AccountCommand is the command account.
func AccountCommand() *cli.Command {
	return &cli.Command{
		Name: "account", Usage: "nonce and balance of an account, by address or name", ArgsUsage: "[ADDRESS|NAME]",
		Description: "Example: devnet account alice\nWithout an argument: the accounts that the devnet signs for.",
		Flags:       command.ReadFlags,
		Action:      command.WithArguments(showAccount),
	}
}

func showAccount(c *cli.Context, args []string) error {
	if args[0] == "" {
		accounts, err := command.NewClient(c).Accounts(c.Context)
		return command.PrintAnswer(c, accounts, err, func(w io.Writer) { chaintext.PrintAccounts(w, accounts) })
	}
	a, err := command.NewClient(c).Account(c.Context, args[0])
	return command.PrintAnswer(c, a, err, func(w io.Writer) {
		terminal.PrintFacts(w, "address", a.Address.String(), "name", words.Printable(a.Name), "nonce", strconv.FormatUint(uint64(a.Nonce), 10),
			"balance", words.CBY(a.Balance))
	})
}

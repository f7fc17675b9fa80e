package chain

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// TxCommand is the command tx.
func TxCommand() *cli.Command {
	return &cli.Command{
		Name: "tx", Usage: "show an execution: a transaction, a timer's fire or a message", ArgsUsage: "HASH",
		Description: "Example: devnet tx 0x2f370e4d\nHASH is a transaction's hash, a message's hash or a timer's ID; its first digits are " +
			"enough.\n" +
			"With --trace it is executed again, on the state that it had: all that it did, with the cost of each step.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "trace", Usage: "execute it again, and show call by call what it did"},
			&cli.BoolFlag{Name: "profile", Usage: "execute it again, and show what each line took"},
			&cli.StringFlag{Name: "folded", Usage: "write the same to `FILE` for flame graphs: one stack per line, followed by its cycles"},
			command.JSONFlag, command.HTTPFlag, command.NodeFlag, command.AtFlag},
		Action: command.WithArguments(showTransaction),
	}
}

func showTransaction(c *cli.Context, args []string) error {
	switch {
	case c.Bool("profile") || c.IsSet("folded"):
		if c.Bool("trace") {
			return failure.NewUsage("Leave out one of them.", "--trace and --profile are two views")
		}
		return txProfile(c, args[0])
	case c.Bool("trace"):
		return txTrace(c, args[0])
	}
	n := command.NewClient(c)
	var whole struct {
		Transaction *model.Transaction `json:"transaction"`
		Receipt     *model.Receipt     `json:"receipt"`
	}
	t, err := n.Transaction(c.Context, args[0])
	switch {
	case err == nil:
		whole.Transaction = &t
	case !command.RefusedAs(err, "unknown_transaction", "unknown_prefix"):
		return err
	}
	if whole.Transaction == nil || t.Status == "final" {
		r, receiptErr := n.Receipt(c.Context, args[0])
		switch {
		case receiptErr == nil:
			whole.Receipt = &r
		case whole.Transaction != nil:
			return receiptErr
		default:
			return explainMissingReceipt(c, n, args[0], err)
		}
	}
	return command.PrintAnswerOrJSON(c, whole, func(w io.Writer) {
		chaintext.PrintExecution(w, command.NewNames(c.Context, n), whole.Transaction, whole.Receipt)
	})
}

// explainMissingReceipt returns, for an id without a receipt, that it is a timer that has not
// fired, if so, and otherwise the given error.
func explainMissingReceipt(c *cli.Context, n *client.API, id string, otherwise error) error {
	if t, err := n.Timer(c.Context, id); err == nil {
		return failure.New("devnet timer show "+words.Short(id)+" shows its events.", "the timer %s has no receipt: it is %s", id, t.Status)
	}
	return otherwise
}

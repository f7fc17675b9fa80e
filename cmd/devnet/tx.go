package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func txCommand() *cli.Command {
	return &cli.Command{
		Name: "tx", Usage: "show an execution: a transaction, a timer's fire or a message", ArgsUsage: "HASH",
		Description: "Example: devnet tx 0x2f370e4d\nHASH is a transaction's hash, a message's hash or a timer's ID; its first digits are " +
			"enough.\n" +
			"With --trace it is executed again, on the state that it had: all that it did, with the cost of each step.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "trace", Usage: "execute it again, and show call by call what it did"},
			&cli.BoolFlag{Name: "profile", Usage: "execute it again, and show what each line took"},
			&cli.StringFlag{Name: "folded", Usage: "write the same to `FILE` for flame graphs: one stack per line, followed by its cycles"},
			jsonFlag, httpFlag, nodeFlag, atFlag},
		Action: withArguments(showTransaction),
	}
}

func showTransaction(c *cli.Context, args []string) error {
	switch {
	case c.Bool("profile") || c.IsSet("folded"):
		if c.Bool("trace") {
			return newUsageError("Leave out one of them.", "--trace and --profile are two views")
		}
		return txProfile(c, args[0])
	case c.Bool("trace"):
		return txTrace(c, args[0])
	}
	n := networkClient(c)
	var whole struct {
		Transaction *model.Transaction `json:"transaction"`
		Receipt     *model.Receipt     `json:"receipt"`
	}
	t, err := n.Transaction(c.Context, args[0])
	switch {
	case err == nil:
		whole.Transaction = &t
	case !refusedAs(err, "unknown_transaction", "unknown_prefix"):
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
	return printAnswerOrJSON(c, whole, func(w io.Writer) { printExecution(w, newNaming(c.Context, n), whole.Transaction, whole.Receipt) })
}

// explainMissingReceipt returns, for an id without a receipt, that it is a timer that has not
// fired, if so, and otherwise the given error.
func explainMissingReceipt(c *cli.Context, n *client.API, id string, otherwise error) error {
	if t, err := n.Timer(c.Context, id); err == nil {
		return newFailure("devnet timer show "+short(id)+" shows its events.", "the timer %s has no receipt: it is %s", id, t.Status)
	}
	return otherwise
}

func printExecution(w io.Writer, names *naming, t *model.Transaction, r *model.Receipt) {
	var head []string
	if t != nil {
		to := ""
		if t.To != nil {
			to = names.nameOf(*t.To) + "  " + t.To.String()
		}
		head = []string{"hash", t.Hash.String(), "from", names.nameOf(t.Sender) + "  " + t.Sender.String(), "to", to, "nonce",
			strconv.FormatUint(uint64(t.Nonce), 10), "kind", t.Kind}
		head = append(head, instructionLines(t)...)
		sponsor := "" // most transactions state none
		if !t.Sponsor.IsZero() {
			sponsor = cby(t.Sponsor)
		}
		head = append(head, "value", cby(t.Value), "sponsor", sponsor, "limits", fmt.Sprintf("%d cycles, %d cells", t.CyclesLimit, t.CellsLimit))
	} else {
		head = []string{"hash", r.Hash.String(), "kind", r.Origin, "from", names.nameOf(r.Sender) + "  " + r.Sender.String(),
			"to", names.nameOf(r.To) + "  " + r.To.String(), "handler", printable(r.Handler)}
	}
	if r == nil {
		printFacts(w, head...)
		fmt.Fprintln(w, "It waits in a pool: no final block holds it yet.")
		return
	}
	printReceipt(w, *r, head...)
}

// instructionLines is what a transaction asks for, decoded from its payload.
func instructionLines(t *model.Transaction) []string {
	asked, err := (&types.Transaction{To: t.To, Payload: codec.RawMessage(t.Payload)}).Instruction()
	if err != nil {
		return []string{"payload", shortBytes(t.Payload)}
	}
	switch in := asked.(type) {
	case *types.Execute:
		if *t.To == types.DispatcherAddress && in.Handler == "submit" {
			if spec, err := push.ParseOrder(in.Payload, t.Sender, 0); err == nil {
				return []string{"handler", in.Handler, "asks", asksFor(spec)}
			}
		}
		if t.To.InSystemBand() {
			return []string{"handler", printable(in.Handler), "payload", eventData(in.Payload)}
		}
		return []string{"handler", printable(in.Handler), "payload", value(in.Payload)}
	case *types.Deploy:
		return []string{"name", printable(in.Manifest.Name), "code", plural.Of(len(in.Code), "byte"), "init",
			value(in.Init)}
	case *types.Upgrade:
		return []string{"from code", in.From.String(), "code", plural.Of(len(in.Code), "byte"), "migrate", value(in.Migrate)}
	case *types.ApplyUpgrade:
		return []string{"from code", in.From.String(), "to code", in.To.String()}
	case *types.SetUpgradeTerms:
		if in.Terms == nil {
			return []string{"upgrades", "never"}
		}
		return []string{"upgrades", "by " + in.Terms.By.String(), "delay", plural.Of(in.Terms.Delay, "block")}
	case *types.Report:
		return []string{"op", printable(in.Op), "arguments", eventData(types.Bytes(in.Args))}
	case *types.System:
		return []string{"opcode", strconv.Itoa(int(in.Opcode)), "arguments", eventData(types.Bytes(in.Args))}
	}
	return nil
}

// printReceipt prints how an execution ended, after its head.
func printReceipt(w io.Writer, r model.Receipt, head ...string) {
	at := ""
	if r.Height > 0 {
		at = plainHeight(r.Height)
	}
	printFacts(w, append(head, "status", r.Status, "height", at, "used", fmt.Sprintf("%d cycles, %d cells", r.Cycles, r.Cells),
		"fee", cby(r.Fee), "output", value(r.Output))...)
	printOutput(w, r.Logs)
	printEvents(w, r.Events)
	if r.Error != nil {
		fmt.Fprintf(w, "%s: %s\n", r.Error.Code, printable(r.Error.Message))
	}
}

// printOutput prints the lines that an execution printed.
func printOutput(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, indentText(printable(line)))
	}
}

// printOutcome prints the receipt of an execution, and fails if that failed.
func printOutcome(c *cli.Context, r model.Receipt, what string) error {
	if err := printAnswerOrJSON(c, r, func(w io.Writer) {
		r := r
		r.Error = nil // judged says it
		printReceipt(w, r, "hash", r.Hash.String())
	}); err != nil {
		return err
	}
	return failureOf(r, what)
}

// printIfOK prints an answer if its execution is ok; of one that failed it prints only JSON, and
// returns the failure.
func printIfOK(c *cli.Context, v any, r model.Receipt, what string, text func(w io.Writer)) error {
	failure := failureOf(r, what)
	if failure == nil || c.Bool("json") {
		if err := printAnswerOrJSON(c, v, text); err != nil {
			return err
		}
	}
	return failure
}

// failureOf turns a receipt that is not ok into a failed command.
func failureOf(r model.Receipt, what string) error {
	if r.Status == string(types.StatusOK) {
		return nil
	}
	detail := ""
	if r.Error != nil {
		detail = ": " + printable(r.Error.Message)
	}
	hint := ""
	if r.Origin == string(types.OriginTransaction) && r.Height > 0 && r.Hash != (types.Hash{}) {
		hint = fmt.Sprintf("devnet tx %s --trace shows the execution line by line.", short(r.Hash.String()))
	}
	switch r.Status {
	case string(types.StatusOutOfCycles):
		hint = fmt.Sprintf("It used %s cycles. Allow more with --cycles N, or reduce the work of the handler.", groupDigits(uint64(r.Cycles)))
	case string(types.StatusOutOfCells):
		hint = fmt.Sprintf("It used %s cells. Allow more with --cells N, or store less.", groupDigits(uint64(r.Cells)))
	}
	return newFailure(hint, "%s ended with status %s%s", what, r.Status, detail)
}

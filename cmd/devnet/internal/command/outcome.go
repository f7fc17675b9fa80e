package command

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintOutcome prints the receipt of an execution, and fails if that failed.
func PrintOutcome(c *cli.Context, r model.Receipt, what string) error {
	if err := PrintAnswerOrJSON(c, r, func(w io.Writer) {
		r := r
		r.Error = nil // judged says it
		chaintext.PrintReceipt(w, r, "hash", r.Hash.String())
	}); err != nil {
		return err
	}
	return FailureOf(r, what)
}

// PrintIfOK prints an answer if its execution is ok; of one that failed it prints only JSON, and
// returns the failure.
func PrintIfOK(c *cli.Context, v any, r model.Receipt, what string, text func(w io.Writer)) error {
	failure := FailureOf(r, what)
	if failure == nil || c.Bool("json") {
		if err := PrintAnswerOrJSON(c, v, text); err != nil {
			return err
		}
	}
	return failure
}

// FailureOf turns a receipt that is not ok into a failed command.
func FailureOf(r model.Receipt, what string) error {
	if r.Status == string(types.StatusOK) {
		return nil
	}
	detail := ""
	if r.Error != nil {
		detail = ": " + words.Printable(r.Error.Message)
	}
	hint := ""
	if r.Origin == string(types.OriginTransaction) && r.Height > 0 && r.Hash != (types.Hash{}) {
		hint = fmt.Sprintf("devnet tx %s --trace shows the execution line by line.", words.Short(r.Hash.String()))
	}
	switch r.Status {
	case string(types.StatusOutOfCycles):
		hint = fmt.Sprintf("It used %s cycles. Allow more with --cycles N, or reduce the work of the handler.", words.Grouped(uint64(r.Cycles)))
	case string(types.StatusOutOfCells):
		hint = fmt.Sprintf("It used %s cells. Allow more with --cells N, or store less.", words.Grouped(uint64(r.Cells)))
	}
	return failure.New(hint, "%s ended with status %s%s", what, r.Status, detail)
}

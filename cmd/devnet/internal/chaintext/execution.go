package chaintext

import (
	"fmt"
	"io"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// Limits of the shown lines of a block's executions, and of the blocks searched for
// an actor's failures.
const (
	maxShownExecuted = 50
	MaxShownFailures = 5
	FailureBlocks    = 100
)

// PrintExecutions prints a line for each execution, and its failure below.
func PrintExecutions(w io.Writer, names *naming.Names, executed []model.Receipt, heights bool) {
	rows := terminal.RowsOf(executed, func(r *model.Receipt) []string {
		row := []string{words.Short(r.Hash.String()), DescribeExecution(r, names), r.Status, words.Grouped(uint64(r.Cycles)) + " cycles",
			terminal.Amount(r.Fee) + " CBY"}
		if heights {
			row = append([]string{"block " + terminal.Height(r.Height)}, row...)
		}
		return row
	})
	for i, line := range terminal.AlignColumns(rows) {
		fmt.Fprintln(w, line)
		PrintFault(w, executed[i].Error)
	}
}

// DescribeExecution says who called what. A fire's sender is its actor.
func DescribeExecution(r *model.Receipt, names *naming.Names) string {
	switch {
	case r.Origin == string(types.OriginTimer):
		return names.Of(r.To) + "." + words.Printable(r.Handler) + " fired"
	case r.Origin == string(types.OriginMessage):
		return names.Of(r.Sender) + " → " + names.Of(r.To) + "." + words.Printable(r.Handler) + " (message)"
	case r.Handler != "":
		return names.Of(r.Sender) + " → " + names.Of(r.To) + "." + words.Printable(r.Handler)
	case r.To == types.Address{}:
		return names.Of(r.Sender) + " → the chain"
	}
	return names.Of(r.Sender) + " → " + names.Of(r.To)
}

// PrintFault prints why an execution failed, indented below its line.
func PrintFault(w io.Writer, f *model.Fault) {
	if f != nil {
		fmt.Fprintln(w, terminal.Indent(f.Code+": "+words.Printable(strings.TrimSpace(f.Message))))
	}
}

package chaintext

import (
	"fmt"
	"io"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintReceipt prints how an execution ended, after its head.
func PrintReceipt(w io.Writer, r model.Receipt, head ...string) {
	at := ""
	if r.Height > 0 {
		at = terminal.Height(r.Height)
	}
	terminal.PrintFacts(w, append(head, "status", r.Status, "height", at, "used", fmt.Sprintf("%d cycles, %d cells", r.Cycles, r.Cells),
		"fee", words.CBY(r.Fee), "output", words.Value(r.Output))...)
	PrintOutput(w, r.Logs)
	PrintEvents(w, r.Events)
	if r.Error != nil {
		fmt.Fprintf(w, "%s: %s\n", r.Error.Code, words.Printable(r.Error.Message))
	}
}

// PrintOutput prints the lines that an execution printed.
func PrintOutput(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, terminal.Indent(words.Printable(line)))
	}
}

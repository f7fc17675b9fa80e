package chaintext

import (
	"io"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
)

// PrintReplay prints what was executed again; more are facts of how it was.
func PrintReplay(w io.Writer, names *naming.Names, r *model.Receipt, more ...string) {
	terminal.PrintFacts(w, append([]string{"hash", r.Hash.String(), "kind", r.Origin, "height", terminal.Height(r.Height), "status", r.Status,
		"did", DescribeExecution(r, names)}, more...)...)
}

// CountReplayed says how many blocks were executed again.
func CountReplayed(blocks int) string {
	if blocks == 0 {
		return ""
	}
	return plural.Of(blocks, "block") + " before it, for the state it began with"
}

package job

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/jobtext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// printSilent names the runners of a job without a result in time, and the place of the
// reason. A failed work has no frame on the wire, so that only the log of its runner has
// it. A network that does not answer is no reason to hide the job.
func printSilent(c *cli.Context, w io.Writer, names *naming.Names, id types.Hash) {
	n := command.NewClient(c)
	all, err := client.Collect(n.JobRunners(c.Context, id.String(), client.Page{}))
	if err != nil {
		return
	}
	var silent []types.Address
	for i := range all {
		if all[i].Outcome == model.RunnerSilent && !slices.Contains(silent, all[i].Address) {
			silent = append(silent, all[i].Address)
		}
	}
	if len(silent) == 0 {
		return
	}
	fmt.Fprintf(w, "No result in time from %s.\n", jobtext.Committee(names, silent, jobtext.FullCommittee))
	for _, a := range silent {
		if r, err := n.Runner(c.Context, a.String()); err == nil && r.Name != "" {
			fmt.Fprintln(w, self.ReplaceName("  The reason of a failure is only in the runner's log: devnet logs "+r.Name))
			return
		}
	}
	fmt.Fprintln(w, "  The reason of a failure is only in the runner's log, where it runs.")
}

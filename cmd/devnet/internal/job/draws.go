package job

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/jobtext"
)

// jobDraws prints the draws of a job, with all that a person needs to check them.
func jobDraws(c *cli.Context, n *client.API, id string) error {
	draws, err := client.Collect(n.JobDraws(c.Context, id, client.Page{Limit: command.MaxPage}))
	return command.PrintAnswer(c, draws, err, func(w io.Writer) {
		if len(draws) == 0 {
			fmt.Fprintln(w, "No draws yet.")
		}
		names := command.NewNames(c.Context, n)
		for i := range draws {
			if i > 0 {
				fmt.Fprintln(w)
			}
			jobtext.PrintDraw(w, names, &draws[i])
		}
	})
}

package job

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// printRefusals prints why runners rejected a job, a line for each of them.
func printRefusals(c *cli.Context, j *model.Job) {
	n := command.NewClient(c)
	story, err := n.JobStory(c.Context, j.ID.String(), 0, command.MaxPage)
	if err != nil {
		return // the job itself was told
	}
	names, told := command.NewNames(c.Context, n), map[types.Address]bool{}
	for i := range story.Story {
		e := &story.Story[i]
		if e.Rejected == nil || e.Runner == nil || told[*e.Runner] {
			continue
		}
		told[*e.Runner] = true
		why := *e.Rejected
		if e.Detail != nil {
			why += ", " + words.Printable(*e.Detail)
		}
		fmt.Fprintf(c.App.Writer, "%s rejects it: %s\n", names.Of(*e.Runner), why)
	}
}

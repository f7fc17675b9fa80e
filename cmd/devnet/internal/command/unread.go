package command

import (
	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
)

// SurviveUnread has a command that runs a node go on, and end, though nobody reads what it writes: a pipe
// that its owner forgot, or a terminal that Ctrl-S holds. What it shows waits for the reader, and the
// command's end does not. What nodes log on standard error never waits: a node that did would stand still.
// The result is called at the end.
func SurviveUnread(c *cli.Context) (flush func()) {
	c.App.Writer = &terminal.EndableWriter{To: c.App.Writer, Ended: c.Context}
	errs := terminal.NewQueuedWriter(c.App.ErrWriter)
	c.App.ErrWriter = errs
	return errs.FlushAndClose
}

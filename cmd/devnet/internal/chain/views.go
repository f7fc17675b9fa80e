package chain

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// shownViews are the latest views that are listed unless more are asked for.
const shownViews = 20

// ViewsCommand is the command views.
func ViewsCommand() *cli.Command {
	return &cli.Command{
		Name: "views", Usage: "list the latest views: who led, how many voted, the outcome and its reason",
		Description: "Example: devnet views --failed",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "failed", Usage: "only views without a final block, of all that are kept"},
			&cli.Uint64Flag{Name: "from", Usage: fmt.Sprintf("start at view `V` (default: the last %d views)", shownViews)},
			&cli.Uint64Flag{Name: "to", Usage: "end with view `V` (default: the latest)"},
			&cli.BoolFlag{Name: "frames", Usage: "of a held run: also their frames that were lost or late, and why"},
			command.JSONFlag, command.HTTPFlag},
		Action: command.WithoutArguments(showViews),
	}
}

func showViews(c *cli.Context) error {
	if c.IsSet("to") && c.Uint64("to") == 0 {
		return failure.NewUsage("", "--to is at least 1: views begin there")
	}
	all, err := command.NewClient(c).Views(c.Context, types.View(c.Uint64("from")), types.View(c.Uint64("to")))
	if err != nil {
		return err
	}
	switch {
	case c.Bool("failed"):
		all.Views = slices.DeleteFunc(all.Views, func(v model.View) bool { return v.Outcome != model.ViewNullified })
	case !c.IsSet("from") && len(all.Views) > shownViews:
		all.Views = all.Views[len(all.Views)-shownViews:]
	}
	if !c.Bool("frames") {
		return command.PrintAnswerOrJSON(c, all, func(w io.Writer) { chaintext.PrintViews(w, &all, c.Bool("failed")) })
	}
	frames, err := framesOf(c, &all)
	return command.PrintAnswer(c, struct {
		model.Views
		model.Frames
	}{all, frames}, err, func(w io.Writer) {
		chaintext.PrintViews(w, &all, c.Bool("failed"))
		chaintext.PrintFrames(w, &frames)
	})
}

// framesOf are the frames of the views that are listed, those that did not arrive as usual.
func framesOf(c *cli.Context, all *model.Views) (frames model.Frames, err error) {
	if len(all.Views) == 0 {
		return command.NewClient(c).Frames(c.Context, 1, 1, true) // it refuses a network that is not held
	}
	frames, err = command.NewClient(c).Frames(c.Context, all.Views[0].View, all.Views[len(all.Views)-1].View, true)
	frames.Frames = slices.DeleteFunc(frames.Frames, func(f model.Frame) bool {
		return !slices.ContainsFunc(all.Views, func(v model.View) bool { return v.View == f.View })
	})
	return frames, err
}

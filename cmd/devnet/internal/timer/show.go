package timer

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/timertext"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

func timerShowCommand() *cli.Command {
	return &cli.Command{Name: "show", Usage: "a timer's whole story", ArgsUsage: "ID",
		Description: "Example: devnet timer show 0x2f370e4d\nShows its terms, its moves between tiers, the blocks that deferred it with the " +
			"reason, and the fees of its fire.",
		Flags: []cli.Flag{&cli.Uint64Flag{Name: "from", Usage: "tell the blocks that deferred it from height `H` on"},
			&cli.IntFlag{Name: "limit", Value: 1000, Usage: "at most `N` of these blocks, up to 10000"}, command.JSONFlag, command.HTTPFlag,
			command.NodeFlag, command.AtFlag},
		Action: command.WithArguments(timerShow)}
}

// wholeTimer is a timer with all known facts: the output of --json.
type wholeTimer struct {
	model.TimerDetail
	Story []model.StoryEntry `json:"story"`
	Next  *types.Height      `json:"next"`
}

func timerShow(c *cli.Context, args []string) error {
	n := command.NewClient(c)
	story, err := n.TimerStory(c.Context, args[0], types.Height(c.Uint64("from")), c.Int("limit"))
	if err != nil {
		return err
	}
	detail, err := n.Timer(c.Context, args[0])
	if err != nil {
		return err
	}
	return command.PrintAnswerOrJSON(c, wholeTimer{detail, story.Story, story.Next}, func(w io.Writer) {
		timertext.PrintTerms(w, &story, actorName(c, n, detail.Actor))
		fmt.Fprintln(w)
		timertext.PrintStory(w, &story)
		if r := detail.Receipt; r != nil {
			timertext.PrintAftermath(w, r)
		}
	})
}

// actorName is what people call an actor: its name and address.
func actorName(c *cli.Context, n *client.API, a types.Address) string {
	account, err := n.Account(c.Context, a.String())
	if err != nil || account.Name == "" {
		return a.String()
	}
	return words.Printable(account.Name) + "  " + a.String()
}

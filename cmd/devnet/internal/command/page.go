package command

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// NoteMoreRows says below a list that it is not all of it.
func NoteMoreRows(w io.Writer, what string, more bool, shown int, c *cli.Context) {
	if more {
		fmt.Fprintf(w, "… and %s: --offset %d, or --limit\n", what, c.Int("offset")+shown)
	}
}

// PageFlags choose a page of a list.
var PageFlags = []cli.Flag{
	&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most `N` entries, up to 1000"},
	&cli.IntFlag{Name: "offset", Usage: "leave out the first `N`"},
}

// OldestFlag turns a list around that begins with the newest.
var OldestFlag = &cli.BoolFlag{Name: "oldest", Usage: "begin with the oldest"}

// PageOf gets the page that was asked for, and says whether the list has more. It asks for one
// entry more, as far as the API goes. A list with --oldest begins with the newest.
func PageOf[T any](c *cli.Context, get func(client.Page) iter.Seq2[T, error]) (list []T, more bool, err error) {
	ordered := slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f == OldestFlag })
	p := client.Page{Offset: c.Int("offset"), Limit: c.Int("limit"), Newest: ordered && !c.Bool("oldest")}
	if p.Limit < 1 || p.Limit > MaxPage || p.Offset < 0 {
		return nil, false, failure.NewUsage("", "--limit lies between 1 and %d, and --offset is at least 0", MaxPage)
	}
	asked := p.Limit
	p.Limit = min(asked+1, MaxPage)
	if list, err = client.Collect(get(p)); err != nil {
		return nil, false, err
	}
	return list[:min(asked, len(list))], len(list) > asked || len(list) == MaxPage, nil
}

// PrintPage gets the page that was asked for and prints it, and below it that there are more.
func PrintPage[T any](c *cli.Context, more string, get func(client.Page) iter.Seq2[T, error], text func(w io.Writer, list []T)) error {
	list, cutOff, err := PageOf(c, get)
	return PrintAnswer(c, list, err, func(w io.Writer) {
		text(w, list)
		NoteMoreRows(w, more, cutOff, len(list), c)
	})
}

// MaxPage is how many entries the API answers at most.
const MaxPage = 1000

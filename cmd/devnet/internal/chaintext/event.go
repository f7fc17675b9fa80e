package chaintext

import (
	"fmt"
	"io"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// maxShownEvents bounds the lines of a block's own events: a lane full of failing
// agents has thousands.
const maxShownEvents = 20

// PrintEvents prints a line for each event.
func PrintEvents(w io.Writer, events []model.Event) {
	for _, e := range events {
		fmt.Fprintln(w, strings.TrimRight("event "+words.Printable(e.Name)+" "+words.EventData(e.Data), " "))
	}
}

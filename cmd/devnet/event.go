package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// maxShownEvents bounds the lines of a block's own events: a lane full of failing
// agents has thousands.
const maxShownEvents = 20

// printEvents prints a line for each event.
func printEvents(w io.Writer, events []model.Event) {
	for _, e := range events {
		fmt.Fprintln(w, strings.TrimRight("event "+printable(e.Name)+" "+eventData(e.Data), " "))
	}
}

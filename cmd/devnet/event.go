package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// maxShownEvent bounds the bytes of an event that are read as a map, as a line
// of a terminal holds no more.
const maxShownEvent = 1 << 10

// maxShownEvents bounds the lines of a block's own events: a lane full of failing
// agents has thousands.
const maxShownEvents = 20

// printEvents prints a line for each event.
func printEvents(w io.Writer, events []model.Event) {
	for _, e := range events {
		fmt.Fprintln(w, strings.TrimRight("event "+printable(e.Name)+" "+eventData(e.Data), " "))
	}
}

// eventData is what an event says: text, the entries of a map, as the chain's own
// events have them, or 0x-hex.
func eventData(data types.Bytes) string {
	var entries map[string]any
	if text := model.Text(data); text != "" || codec.UnmarshalLoose(data, maxShownEvent, &entries) != nil || len(entries) == 0 {
		return value(text, data)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		text := ""
		switch v := entries[name].(type) {
		case []byte:
			text = types.Bytes(v).String()
		case string, bool, uint64, int64:
			text = fmt.Sprint(v)
		default: // no event of the chain's holds more
			return data.String()
		}
		parts = append(parts, printable(name)+" "+printable(text))
	}
	return strings.Join(parts, ", ")
}

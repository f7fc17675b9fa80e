package main

import (
	"fmt"
	"io"
	"maps"
	"math/big"
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
	if text := model.Text(data); text != "" || codec.UnmarshalLoose(data, maxShownEvent, &entries) != nil {
		return value(data)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		text, known := entryText(entries[name])
		if !known {
			return data.String()
		}
		if text != "" {
			parts = append(parts, printable(name)+" "+printable(text))
		}
	}
	if len(parts) == 0 {
		return data.String()
	}
	return strings.Join(parts, ", ")
}

// entryText is an entry of an event as people read it; "" where it is absent. No event
// of the chain's holds more than is known here.
func entryText(entry any) (text string, known bool) {
	switch v := entry.(type) {
	case nil:
		return "", true
	case []byte:
		return types.Bytes(v).String(), true
	case string, bool, uint64, int64:
		return fmt.Sprint(v), true
	case big.Int: // an amount from 2^64 on
		return v.String(), true
	case []any: // addresses, like those of a committee
		var list []string
		for _, one := range v {
			bytes, ok := one.([]byte)
			if !ok {
				return "", false
			}
			list = append(list, short(types.Bytes(bytes).String()))
		}
		return strings.Join(list, " "), true
	}
	return "", false
}

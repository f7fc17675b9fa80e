package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a run's report on failures that its script did not look at.
const (
	// maxFailed bounds the failed receipts that are remembered, and the
	// transactions whose place in the script is.
	maxFailed, maxPlaces = 1024, 65_536
	// maxUnread bounds the reported ones.
	maxUnread = 8
)

// failedReceipt is one that did not end ok.
type failedReceipt struct {
	hash   types.Hash
	origin types.Origin
	height types.Height
	to     types.Address
	text   string
}

// unread is which of a network's failed receipts the script has looked at. Reading
// any field of a transaction's receipt counts, including status; for a fire or a
// message also net.events and the timers' fields.
type unread struct {
	looked map[types.Hash]*place   // which lines of the script led there the last time; looked up only
	places map[types.Hash]Position // where a transaction was sent; looked up only
}

func newUnread() *unread {
	return &unread{looked: map[types.Hash]*place{}, places: map[types.Hash]Position{}}
}

// noteTransaction notes where in the script a transaction was made.
func (u *unread) noteTransaction(hash types.Hash, at Position) {
	if len(u.places) < maxPlaces {
		u.places[hash] = at
	}
}

func (u *unread) noteLook(hash types.Hash, at *place) { u.looked[hash] = at }

// lookAll is that the script asked for all that happened so far: of fires and
// messages, or of transactions too.
func (u *unread) lookAll(known []failedReceipt, transactions bool, at *place) {
	for i := range known {
		if transactions || known[i].origin != types.OriginTransaction {
			u.noteLook(known[i].hash, at)
		}
	}
}

// lookedAt notes what a verb showed the script of all that happened.
func (c *call) lookedAt(verb string) {
	n := c.ofNetwork()
	if n == nil || n.closed || !slices.Contains([]string{"events", "timers", "timer", "story"}, verb) {
		return
	}
	failed, _ := n.timeline.firstFailures()
	n.unread.lookAll(failed, verb == "events", n.r.currentPlace())
}

// receiptRecord returns a receipt for the script, which counts as looked at when a
// field is read.
func (n *network) receiptRecord(hash types.Hash, shown any) *record {
	r := recordOf("receipt", shown)
	if receipt, ok := shown.(model.Receipt); ok && receipt.Status != string(types.StatusOK) {
		r.seen = func() { n.unread.noteLook(hash, n.r.currentPlace()) }
	}
	return r
}

// placesIn are the lines of code that the host names in an error, innermost last, or the
// line that it refuses. They precede the author's own words, which may name other lines.
func placesIn(message string) []program.Place {
	for rest, more := message, true; more; _, rest, more = strings.Cut(rest, ": ") {
		if places := program.AllPlaces(rest); len(places) > 0 {
			return places
		}
	}
	return nil
}

// sourceLine is the line of code at a place, or "".
func sourceLine(at program.Place, code string) string {
	lines := strings.Split(code, "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[at.Line-1])
}

// quotedLine is the innermost line of a file that an error names, or "".
func quotedLine(message, code string) string {
	if places := placesIn(message); len(places) > 0 {
		return sourceLine(places[len(places)-1], code)
	}
	return ""
}

// underlineError are the lines of files that a receipt's error names, for below it: of each actor
// on the way the innermost.
func (n *network) underlineError(of types.Address, message string) (lines []string) {
	places := placesIn(message)
	for i, at := range places {
		if i+1 < len(places) && places[i+1].Actor == at.Actor {
			continue
		}
		for _, a := range n.actors {
			if at.Actor != "" && a.name != at.Actor && a.address.String() != at.Actor || at.Actor == "" && a.address != of {
				continue
			}
			if line := sourceLine(at, a.code); line != "" {
				lines = append(lines, wrapText("        ", line)...)
			}
			break
		}
	}
	return lines
}

// unreadLines lists the failed receipts that were not looked at, by the script's
// lines that made them if known, in lines of 80 columns.
func (n *network) unreadLines() (lines []string) {
	failed, more := n.timeline.firstFailures()
	failed = slices.DeleteFunc(failed, func(f failedReceipt) bool {
		return n.unread.looked[f.hash] != nil
	})
	names := n.nameReplacer()
	for i, f := range failed {
		if i == maxUnread {
			more += len(failed) - i
			break
		}
		if at, known := n.unread.places[f.hash]; known {
			lines = append(lines, wrapText("  ", fmt.Sprintf("%s:%d %s", at.File, at.Line, strings.TrimSpace(at.Source)))...)
		}
		lines = append(lines, wrapText("      ", fmt.Sprintf("block %d: %s", f.height, names(f.text)))...)
		lines = append(lines, n.underlineError(f.to, f.text)...)
	}
	if more > 0 && len(lines) > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

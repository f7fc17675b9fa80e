package nodetext

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// LinkRow is the row of a link between two nodes.
func LinkRow(l *model.Link) []string {
	state := "down"
	switch {
	case l.Cut:
		state = "cut"
	case l.Up:
		state = "up"
	}
	rtt := "-"
	if l.RTTMicro != nil {
		rtt = (time.Duration(*l.RTTMicro) * time.Microsecond).Round(10 * time.Microsecond).String()
	}
	return []string{words.Printable(l.From), words.Printable(l.To), state, countOrDash(l.Frames), countOrDash(l.Lost), countOrDash(l.Dropped),
		countOrDash(l.Delayed), rtt,
		ruleOf(l.Rule)}
}

// countOrDash is a figure, or - if it is not counted.
func countOrDash(n *uint64) string {
	if n == nil {
		return "-"
	}
	return words.Grouped(*n)
}

// ruleOf is what a fault does to what passes, as the flags of devnet fault link say it.
func ruleOf(r *model.LinkRule) string {
	if r == nil {
		return ""
	}
	var parts []string
	word := func(name, value string) {
		if value != "" && value != "0" {
			parts = append(parts, name+" "+value)
		}
	}
	share := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	word("latency", r.Latency)
	word("jitter", r.Jitter)
	word("loss", share(r.Loss))
	word("duplicate", share(r.Duplicate))
	word("reorder", share(r.Reorder))
	if r.Bandwidth > 0 {
		word("bandwidth", fmt.Sprintf("%d B/s", r.Bandwidth))
	}
	return words.Printable(strings.Join(parts, ", "))
}

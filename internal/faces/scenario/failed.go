package scenario

import (
	"context"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// Limits of the trace that a failed run ends with.
const (
	// tracedBlocks is the maximum age of a failure to trace: older ones are not
	// news.
	tracedBlocks = 32
	// headLines and tailLines are the shown lines of a longer trace: its beginning and
	// its end.
	headLines, tailLines = 40, 60
)

// traceOfLastFailure returns the trace of the last unexpected failure on the chain: the
// script had not looked at that receipt, or failed on the line that looked at it. It
// is empty without such a failure.
func (n *network) traceOfLastFailure(at Position) []string {
	failed, _ := n.timeline.firstFailures()
	for _, f := range slices.Backward(failed) {
		if n.highestFinal() >= f.height+tracedBlocks {
			break
		}
		if looked := n.unread.looked[f.hash]; looked != nil && !slices.Contains(looked.lines, line{at.File, at.Line}) {
			continue
		}
		lines, err := n.traceLines(f.hash)
		if err != nil {
			return wrapText("", fmt.Sprintf("the last failure has no trace: %v", err))
		}
		return append([]string{"trace of the last failure:"}, shortenLines(lines)...)
	}
	return nil
}

// traceLines executes one again, and returns its trace in lines of 80 columns.
func (n *network) traceLines(hash types.Hash) ([]string, error) {
	v, err := n.backend.Reader("")
	if err != nil {
		return nil, err
	}
	ctx := n.r.options.Stop
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, api.TraceTimeout)
	defer cancel()
	found, err := v.Trace(ctx, hash, answers.TraceRequest{})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, fmt.Errorf("%s is not kept", hash)
	}
	return api.TraceLines(v, found, n.calledName), nil
}

// calledName is what the script calls an address, or "".
func (n *network) calledName(a types.Address) string {
	for _, actor := range n.actors {
		if actor.address == a {
			return actor.name
		}
	}
	for _, known := range slices.Concat(n.backend.Accounts(), n.backend.Runners()) {
		if known.Address == a {
			return known.Name
		}
	}
	return ""
}

// shortenLines cuts the middle out of more than a screen or two of lines.
func shortenLines(lines []string) []string {
	if len(lines) <= headLines+tailLines {
		return lines
	}
	left := len(lines) - headLines - tailLines
	return slices.Concat(lines[:headLines], []string{fmt.Sprintf("… %s more", plural.Of(left, "line"))}, lines[len(lines)-tailLines:])
}

package scenario

import (
	"context"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// Limits of the trace that a failed run ends with.
const (
	// tracedBlocks is how old what failed may be: what is older is no news.
	tracedBlocks = 32
	// headLines and tailLines are what is shown of a trace that has more: how it began,
	// and what became of it.
	headLines, tailLines = 40, 60
)

// traceOfFailed is the trace of what failed last on the chain and that the script did
// not take for granted: it had not looked at that receipt, or looked at it where it
// failed itself. Nothing, where there is no such.
func (n *network) traceOfFailed(at Position) []string {
	failed, _ := n.timeline.failures()
	for _, f := range slices.Backward(failed) {
		if n.height() >= f.height+tracedBlocks {
			break
		}
		if looked := n.unread.looked[f.hash]; looked != nil && !slices.Contains(looked.lines, line{at.File, at.Line}) {
			continue
		}
		lines, err := n.trace(f.hash)
		if err != nil {
			return wrapped("", fmt.Sprintf("the last failure has no trace: %v", err))
		}
		return append([]string{"trace of the last failure:"}, shortened(lines)...)
	}
	return nil
}

// trace executes one again, and tells what it did in lines of 80 columns.
func (n *network) trace(hash types.Hash) ([]string, error) {
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
	found, err := v.Trace(ctx, hash, api.TraceRequest{})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, fmt.Errorf("%s is not kept", hash)
	}
	return api.TraceLines(v, found, n.called), nil
}

// called is what the script calls an address, or "".
func (n *network) called(a types.Address) string {
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

// shortened leaves out the midst of what fills more than a screen or two.
func shortened(lines []string) []string {
	if len(lines) <= headLines+tailLines {
		return lines
	}
	left := len(lines) - headLines - tailLines
	return slices.Concat(lines[:headLines], []string{fmt.Sprintf("… %s more", plural.Of(left, "line"))}, lines[len(lines)-tailLines:])
}

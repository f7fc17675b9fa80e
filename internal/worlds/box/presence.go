package box

import (
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// presence is the set of runners that the chain holds present, and runners' view of
// it.
type presence struct {
	feed   *node.StateFeed // of final states, by the runners
	latest atomic.Pointer[shownPresence]
}

// hasRunner reports whether a runner is in the latest P that is known.
func (p *presence) hasRunner(index int) bool {
	shown := p.latest.Load()
	return shown != nil && shown.bitmap.Has(index)
}

// shownPresence is P of a block.
type shownPresence struct {
	of     types.Height
	bitmap *selection.Bitmap
}

// notePresence takes note of the newest P, and shows the newest state to runners.
func (p *presence) notePresence(result *ledger.Result) {
	height := result.Block.Header.Height
	for {
		before := p.latest.Load()
		if before != nil && before.of >= height {
			return
		}
		if p.latest.CompareAndSwap(before, &shownPresence{height, result.Presence.Bitmap}) {
			p.feed.Show(result.State)
			return
		}
	}
}

package crowd

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Outlook is what a crowd sees of the chain when it gives the orders of a block, as anybody may. Their timers are scheduled in the
// next block, so that the first that they are due in is the one after.
type Outlook struct {
	Since uint64 // blocks from the first of Run
	room  *Room
}

// lowestWinningBid is the lowest of the bids known so far that wins in the block after the next; ok is false while its lane has room
// for all of them.
func (o Outlook) lowestWinningBid() (bid uint64, ok bool) {
	bids := o.room.market.bidsAt(o.room.World.Head().Header().Height + 2)
	if len(bids) < o.room.market.fires {
		return 0, false
	}
	return bids[o.room.market.fires-1].bid, true
}

// leadsAfterNext reports whether one of the first so many validators leads the block after the next, if no view ends without a block.
func (o Outlook) leadsAfterNext(validators int) bool {
	head := o.room.World.Head()
	return isAmongFirst(head.Validators().Leader(head.Header().View+2), head, validators)
}

// isAmongFirst reports whether an address is one of the first so many validators.
func isAmongFirst(proposer types.Address, head *ledger.State, validators int) bool {
	i := head.Validators().Index(proposer)
	return 0 <= i && i < validators
}

package crowd

import "github.com/cowboyinc/devnet/internal/base/draw"

// Shill is how a shill of an auction bids.
type Shill struct {
	// Guess is its bid in each block, in wei; nil: it reads the bids for the block after the next, and bids 1 wei less than the lowest
	// that wins there.
	Guess *uint64
}

// NewShill is one member that bids to raise what others pay, in auctions of the block after the next. A bid that does not win
// expires, and costs it nothing but the fees of its order.
func NewShill(name string, shill Shill) *Crowd {
	return &Crowd{Name: name, Members: 1, ReadsBids: shill.Guess == nil, Tick: func(sees Outlook, _ *draw.Stream) map[int][]Order {
		bid, ok := shill.chooseBid(sees)
		if !ok {
			return nil
		}
		none := uint64(0)
		return map[int][]Order{0: {{In: 1, Patience: &none, Bid: &bid}}}
	}}
}

func (s *Shill) chooseBid(sees Outlook) (bid uint64, ok bool) {
	if s.Guess != nil {
		return *s.Guess, true
	}
	lowest, ok := sees.lowestWinningBid()
	return max(lowest, 1) - 1, ok && lowest > 0
}

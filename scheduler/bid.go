package scheduler

import "github.com/cowboyinc/devnet/internal/types"

// takeBid settles what a stated bid means to the timer: nothing under fifo,
// with a warning, whatever was stated: nothing is locked, so nothing may count
// when a policy that reads bids takes over (decisions T22, T25).
func (b *Block) takeBid(t *types.Timer, stated *types.Wei) ([]types.Event, error) {
	if stated == nil {
		return nil, nil
	}
	return []types.Event{bidIgnored(t.ID, *stated)}, nil
}

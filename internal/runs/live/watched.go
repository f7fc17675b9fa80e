package live

import (
	"context"
	"errors"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// Watched is a live network of this process that no script drives, with the oracles
// watching.
type Watched struct {
	*box.Network
	judge *judge
}

// Watch brings a network up, by a configuration whose Observe, Tell, Booted, Overhear and
// Gateway are free. The timeline gets its views and receipts.
func Watch(ctx context.Context, c box.Config, told *scenario.Timeline) (*Watched, error) {
	w := &Watched{judge: newJudge(nil, told)}
	w.judge.listenTo(&c)
	network, err := box.Up(ctx, c)
	if err != nil {
		return nil, err
	}
	w.Network = network
	if err := w.judge.beginChain(network); err != nil {
		return nil, errors.Join(err, network.Close())
	}
	return w, nil
}

// Do implements fault.World, as Stage does.
func (w *Watched) Do(o fault.Order) (fault.Effect, error) {
	return w.judge.applyOrder(o, w.Network)
}

// Violation is the first rule that an oracle saw broken, or nil.
func (w *Watched) Violation() error { return w.judge.firstError() }

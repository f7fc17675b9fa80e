package box

import (
	"context"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// comeLater restarts a dropped runner the given number of blocks later, with a fresh
// identity if fresh is true.
func (g *registration) comeLater(name string, blocks types.Height, fresh bool) {
	at := g.nodes.Best().height() + blocks
	g.returning.Go(func() {
		if !g.reaches(at) {
			return
		}
		if err := g.comeBack(name, fresh); err != nil {
			g.shared.log.Error("a dropped runner cannot rejoin", "node", name, "error", err)
		}
	})
}

// reaches waits until a height is final, and reports false at the network's end.
func (g *registration) reaches(height types.Height) bool {
	news := make(chan struct{}, 1)
	defer g.finality.subscribe(func(types.Height) {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	for g.nodes.Best().height() < height {
		select {
		case <-news:
		case <-g.ending.Done():
			return false
		}
	}
	return g.ending.Err() == nil
}

// comeBack starts a dropped runner, unless it was started already; a fresh one under
// its next key, which it registers.
func (g *registration) comeBack(name string, fresh bool) error {
	if fresh {
		if err := g.renew(name); err != nil {
			return err
		}
	}
	return g.roster.changeRunner(name, func(r *Runner) error {
		if r.Started() {
			return nil
		}
		return r.restart()
	})
}

// renew gives a runner that is down its next key, and has it registered.
func (g *registration) renew(name string) error {
	before := g.runners.findRunner(name)
	state := g.nodes.state()
	i := 0
	for state.Runner(wallet.RunnerIdentity(g.origin.seed, name, i).Address()) != nil {
		i++
	}
	key := wallet.RunnerIdentity(g.origin.seed, name, i)
	ctx, cancel := context.WithTimeout(g.ending, governPatience)
	defer cancel()
	if err := g.authority.register(ctx, key); err != nil {
		return err
	}
	err := g.roster.alone(func() error {
		if before.Started() {
			return nil
		}
		after := g.make(name, key)
		after.death = before.death
		g.runners.replaceRunner(after)
		return nil
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

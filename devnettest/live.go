package devnettest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/runs/live"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// liveWorld is a world of real time.
type liveWorld struct {
	network *live.Watched
	server  *api.Server
}

func (n *Network) openLive(ctx context.Context) (world, error) {
	c := n.config
	network, err := live.Watch(ctx, box.Config{Plan: setup.Plan{Validators: c.validators, Runners: c.runners, BlockTime: c.blockTime,
		Auto: c.auto, Seed: &c.seed, Params: c.params}, Version: "devnettest", Ephemeral: true, Log: slog.New(slog.NewTextHandler(n.log, nil))},
		n.timeline)
	if err != nil {
		return nil, err
	}
	return &liveWorld{network, api.New(network, api.Config{})}, nil
}

// ServeHTTP implements world.
func (l *liveWorld) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.server.Handler().ServeHTTP(w, r)
}

func (l *liveWorld) passTime() client.Pass { return nil }
func (l *liveWorld) timeNow() types.Time   { return l.network.Now() }
func (l *liveWorld) nodeNames() []string   { return namesOf(l.network.Network) }
func (l *liveWorld) hangUp() error         { return l.server.Close() }

// closeLive also returns a rule that the network broke, if any, since no check came
// before.
func (l *liveWorld) closeLive() error {
	broken := l.network.Violation()
	return errors.Join(broken, l.server.Close(), l.network.Close())
}

func (l *liveWorld) awaitReady(ctx context.Context, c *client.Client) error { return c.WaitReady(ctx) }

func (l *liveWorld) takeSnapshot() (func() error, error) {
	return nil, refusal.New("not_simulated", "a live network keeps no snapshots").
		Hint("Leave out devnettest.Live: a simulated network does.")
}

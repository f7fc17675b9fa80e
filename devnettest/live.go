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
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/box/stage"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// live is a world of real time.
type live struct {
	network *stage.Watched
	server  *api.Server
}

func (n *Network) openLive(ctx context.Context) (world, error) {
	c := n.config
	network, err := stage.Watch(ctx, box.Config{Plan: setup.Plan{Validators: c.validators, Runners: c.runners, BlockTime: c.blockTime,
		Auto: c.auto, Seed: &c.seed, Params: c.params}, Version: "devnettest", Ephemeral: true, Log: slog.New(slog.NewTextHandler(n.log, nil))},
		n.timeline)
	if err != nil {
		return nil, err
	}
	return &live{network, api.New(network, api.Config{})}, nil
}

// ServeHTTP implements world.
func (l *live) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.server.Handler().ServeHTTP(w, r) }

func (l *live) passTime() client.Pass { return nil }
func (l *live) timeNow() types.Time   { return l.network.Now() }
func (l *live) nodeNames() []string   { return namesOf(l.network.Network) }
func (l *live) hangUp() error         { return l.server.Close() }

// closeLive also returns a rule that the network broke, if any, since no check came
// before.
func (l *live) closeLive() error {
	broken := l.network.Violation()
	return errors.Join(broken, l.server.Close(), l.network.Close())
}

func (l *live) awaitReady(ctx context.Context, c *client.Client) error { return c.WaitReady(ctx) }

func (l *live) takeSnapshot() (func() error, error) {
	return nil, refusal.New("not_simulated", "a live network keeps no snapshots").
		Hint("Leave out devnettest.Live: a simulated network does.")
}

package devnettest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/validators"
)

// live is a world of real time.
type live struct {
	network *box.Network
	server  *api.Server
}

func (n *Network) openLive(ctx context.Context) (world, error) {
	c := n.config
	var up atomic.Pointer[box.Network] // nil until it is; what fails comes later
	network, err := box.Up(ctx, box.Config{Version: "devnettest", Validators: c.validators, Runners: c.runners, BlockTime: c.blockTime,
		Auto: c.auto, Ephemeral: true, Seed: &c.seed, Params: c.params, Tell: n.timeline.Tell,
		Observe: func(f validators.FinalBlocks) {
			for _, r := range f.Results {
				if b := up.Load(); b != nil {
					n.timeline.Final(b.Now(), r.Block.Header.Height, r.Receipts)
				}
			}
		},
		Log: slog.New(slog.NewTextHandler(n.log, nil))})
	if err != nil {
		return nil, err
	}
	up.Store(network)
	return &live{network, api.New(network, api.Config{})}, nil
}

// ServeHTTP implements world.
func (l *live) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.server.Handler().ServeHTTP(w, r) }

func (l *live) pass() client.Pass { return nil }
func (l *live) now() types.Time   { return l.network.Now() }
func (l *live) names() []string   { return namesOf(l.network) }
func (l *live) hangUp() error     { return l.server.Close() }
func (l *live) close() error      { return errors.Join(l.server.Close(), l.network.Close()) }

func (l *live) settle(ctx context.Context, c *client.Client) error { return c.WaitReady(ctx) }

func (l *live) snapshot() (func() error, error) {
	return nil, api.Refuse(http.StatusConflict, "not_simulated", "a live network keeps no snapshots").
		Hint("Leave out devnettest.Live: a simulated network does.")
}

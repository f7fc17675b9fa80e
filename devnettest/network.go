package devnettest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// Network is a network in this process, and a client of it. It is safe for concurrent
// use.
type Network struct {
	*client.Client
	config   *config
	world    world
	timeline *scenario.Timeline
	log      *log
	server   *http.Server
	served   sync.WaitGroup
	closing  sync.Once
	ended    error
}

// world is where a network runs.
type world interface {
	http.Handler
	// passTime returns the client's Pass; nil if time passes by itself.
	passTime() client.Pass
	timeNow() types.Time
	// awaitReady waits until the network is ready.
	awaitReady(context.Context, *client.Client) error
	// nodeNames returns the nodes' and accounts' names by address.
	nodeNames() []string
	takeSnapshot() (revert func() error, err error)
	// hang up ends all requests; close ends the network.
	hangUp() error
	closeLive() error
}

// startPatience is how long Start waits, of real time: the interpreters of a machine
// that is busy take some seconds.
const startPatience = 2 * time.Minute

// Start brings a network up for a test, ready to be used, and closes it with the test.
// Where it cannot, the test ends as failed. Where the test failed, its Report is logged.
func Start(t testing.TB, options ...Option) *Network {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	n, err := Open(ctx, options...)
	if err != nil {
		t.Fatalf("devnettest: the network does not start: %v", err)
	}
	t.Cleanup(func() {
		report := ""
		if t.Failed() {
			report = n.Report()
		}
		if err := n.Close(); err != nil {
			t.Errorf("devnettest: the network did not end well: %v", err)
		}
		if report != "" {
			t.Logf("devnettest: the test failed on %s", report)
		}
	})
	return n
}

// Open brings a network up, ready to be used. Close has to be called at the end. The
// context bounds only the start.
func Open(ctx context.Context, options ...Option) (*Network, error) {
	c, err := configOf(options)
	if err != nil {
		return nil, err
	}
	n := &Network{config: c, timeline: new(scenario.Timeline), log: new(log)}
	open := n.openVirtual
	if c.live {
		open = n.openLive
	}
	if n.world, err = open(ctx); err != nil {
		return nil, asClientError(err)
	}
	if err := n.beginNetwork(ctx); err != nil {
		return nil, errors.Join(asClientError(err), n.Close())
	}
	return n, nil
}

// beginNetwork serves the network, and waits until it is as it was asked for.
func (n *Network) beginNetwork(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.server = &http.Server{Handler: requestNotes{n.world, n.timeline}, ReadHeaderTimeout: api.HeaderTimeout}
	n.served.Go(func() { _ = n.server.Serve(listener) }) // until Close
	n.Client = client.New(listener.Addr().String(), n.world.passTime())
	if err := n.world.awaitReady(ctx, n.Client); err != nil {
		return err
	}
	for _, path := range n.config.actors {
		if err := n.deployFile(ctx, path); err != nil {
			return fmt.Errorf("devnettest.Actor(%q): %w", path, err)
		}
	}
	return nil
}

// actorCoins is what an actor of the start has.
const actorCoins = 100

func (n *Network) deployFile(ctx context.Context, path string) error {
	actor, err := n.DeployFile(ctx, path, client.Deployment{Fund: client.CBY(actorCoins)})
	if err != nil {
		return err
	}
	info, err := actor.Info(ctx)
	if err != nil {
		return err
	}
	if info.Undescribed != "" {
		return errors.New(info.Undescribed)
	}
	for _, h := range info.Handlers {
		if h.Name == "start" {
			_, err := actor.Call(ctx, "alice", "start", nil)
			return err
		}
	}
	return nil
}

// Close ends the network. The second time it does nothing.
func (n *Network) Close() error {
	n.closing.Do(func() {
		if n.server != nil {
			n.ended = errors.Join(n.world.hangUp(), n.server.Close())
			n.served.Wait()
		}
		n.ended = errors.Join(n.ended, n.world.closeLive())
	})
	return n.ended
}

// Snapshot is a network as it was at a moment.
type Snapshot struct {
	network *Network
	revert  func() error
}

// Snapshot keeps a simulated network as it is now. It is refused with an *client.Error
// where a fault is in force, a node is down, a transaction waits or a job is open, and
// on a live network.
func (n *Network) Snapshot() (*Snapshot, error) {
	revert, err := n.world.takeSnapshot()
	if err != nil {
		return nil, asClientError(err)
	}
	return &Snapshot{n, revert}, nil
}

// Revert makes the network what it was, at any later time and any number of times.
func (s *Snapshot) Revert() error { return asClientError(s.revert()) }

// Report returns the network's recent history, for people: its timeline, and the logs
// of a live network's nodes.
func (n *Network) Report() string {
	names := strings.NewReplacer(n.world.nodeNames()...).Replace
	lines := []string{n.config.String()}
	lines = append(lines, n.timeline.Lines(names)...)
	if logged := n.log.logLines(); len(logged) > 0 {
		lines = append(append(lines, "the last lines of its log:"), logged...)
	}
	return strings.Join(lines, "\n")
}

// asClientError makes an error of the network's the client's, so that there is one type of them.
func asClientError(err error) error {
	if refused := api.Answer(err); refused != nil {
		return &client.Error{Status: refused.Status, ErrorBody: refused.Body}
	}
	return err
}

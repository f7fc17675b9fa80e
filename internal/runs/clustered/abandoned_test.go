package clustered

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/live"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// lastFails carries nodes that say hello and do nothing more; v3 does not start.
type lastFails struct {
	server *httptest.Server
	asked  atomic.Int64 // how often a node was to end, on its own
	closed atomic.Bool
	ended  chan cluster.Ended
}

func (c *lastFails) Start(_ context.Context, name string) error {
	if name == "v3" {
		return errors.New("v3 has no room")
	}
	return nil
}

func (c *lastFails) Stop(context.Context, string) error { c.asked.Add(1); return nil }
func (c *lastFails) Kill(context.Context, string) error { c.asked.Add(1); return nil }
func (c *lastFails) Control(name string) string         { return c.server.URL + "/" + name }
func (c *lastFails) Ended() <-chan cluster.Ended        { return c.ended }

func (c *lastFails) Close() error {
	if !c.closed.Swap(true) {
		close(c.ended)
	}
	return nil
}

func (c *lastFails) Add(context.Context, cluster.Node) error { return errors.ErrUnsupported }
func (c *lastFails) Detach(context.Context, string) error    { return errors.ErrUnsupported }
func (c *lastFails) Attach(context.Context, string) error    { return errors.ErrUnsupported }
func (c *lastFails) Freeze(string) error                     { return errors.ErrUnsupported }
func (c *lastFails) Thaw(string) error                       { return errors.ErrUnsupported }
func (c *lastFails) Wipe(context.Context, string) error      { return errors.ErrUnsupported }
func (c *lastFails) Logs(string) (io.ReadCloser, error)      { return nil, errors.ErrUnsupported }

// greets says hello as each of the nodes whose files are in a folder.
func greets(t *testing.T, dir string, seed uint64) http.Handler {
	data, err := os.ReadFile(filepath.Join(dir, "genesis.cbor"))
	if err != nil {
		t.Fatal(err)
	}
	genesis, err := ledger.DecodeGenesis(data)
	if err != nil {
		t.Fatal(err)
	}
	state, block, err := genesis.State()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, word, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), control.Path)
		if word != "hello" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(control.Hello{Name: name, Address: wallet.ValidatorKey(seed, name).Address(), Socket: "127.0.0.1:4000",
			Boot: &control.Boot{Header: codec.Marshal(&block.Header), Hash: block.Hash(), Root: state.Root()}})
	})
}

// A network that does not come up kills its nodes: to end 31 containers in good order,
// one after the other, takes minutes.
func TestANetworkThatDoesNotComeUpAsksNoNodeToEnd(t *testing.T) {
	c := &lastFails{ended: make(chan cluster.Ended)}
	open := live.OpenerOn(t.Context(), "docker", func(_ context.Context, config *box.Config) error {
		plan := hosts.Plan{Format: hosts.Compose, Image: "none"}
		return prepare(config, plan, nil, func(dir string, _ []cluster.Node) (cluster.Carrier, error) {
			c.server = httptest.NewServer(greets(t, dir, 7))
			t.Cleanup(c.server.Close)
			return c, nil
		})
	})
	_, err := open(scenario.Config{Seed: 7, Validators: 4, BlockTime: time.Second})
	if err == nil || !strings.Contains(err.Error(), "v3 has no room") {
		t.Fatalf("it comes up: %v", err)
	}
	if n := c.asked.Load(); n != 0 || !c.closed.Load() {
		t.Errorf("%d nodes were asked to end, all are gone: %v", n, c.closed.Load())
	}
}

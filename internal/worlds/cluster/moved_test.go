package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// moving is a carrier of one node, whose socket is elsewhere after each time that it was detached.
type moving struct {
	Carrier
	hello  atomic.Pointer[control.Hello]
	server *httptest.Server
	ended  chan Ended
}

func (m *moving) Start(context.Context, string) error  { return nil }
func (m *moving) Detach(context.Context, string) error { return nil }
func (m *moving) Kill(context.Context, string) error   { return nil }
func (m *moving) Control(string) string                { return m.server.URL }
func (m *moving) Ended() <-chan Ended                  { return m.ended }
func (m *moving) Attach(context.Context, string) error {
	moved := *m.hello.Load()
	moved.Socket = "10.0.0.9:4000"
	m.hello.Store(&moved)
	return nil
}
func (m *moving) Close() error {
	close(m.ended)
	return nil
}

// ServeHTTP answers as the control server of the node.
func (m *moving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "hello") {
		_ = json.NewEncoder(w).Encode(m.hello.Load())
		return
	}
	_, _ = w.Write([]byte("{}"))
}

// The rules of links name sockets. Where a node that was off its network comes back under another
// address, a partition would not hold for what others send it.
func TestANodeThatMovedIsEnteredAtItsNewSocket(t *testing.T) {
	seed := uint64(7)
	made, err := hosts.Make(hosts.Plan{Chain: setup.Plan{Validators: 4, Runners: 1, ChainID: 8011, BlockTime: time.Second}, Seed: &seed,
		Driver: "a-secret-of-a-driver", Format: hosts.Processes, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "net")
	if err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	network, err := hosts.Reopen(dir)
	if err != nil {
		t.Fatal(err)
	}
	carrier := &moving{ended: make(chan Ended)}
	carrier.server = httptest.NewServer(carrier)
	defer carrier.server.Close()
	backend := NewBackend(Config{Carrier: carrier, Hosts: network, Dir: dir})
	defer backend.Close()
	key := backend.Key("r0")
	carrier.hello.Store(&control.Hello{Name: "r0", Address: key.Address(), Socket: "10.0.0.5:4000"})
	var entered []netip.AddrPort
	runner := backend.Runner("r0", key, func(at netip.AddrPort, _ func(map[netip.AddrPort]lossy.Rule)) { entered = append(entered, at) })
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	if err := backend.Detach(t.Context(), "r0"); err != nil {
		t.Fatal(err)
	}
	if err := backend.Attach(t.Context(), "r0"); err != nil {
		t.Fatal(err)
	}
	want := []netip.AddrPort{netip.MustParseAddrPort("10.0.0.5:4000"), netip.MustParseAddrPort("10.0.0.9:4000")}
	if !slices.Equal(entered, want) {
		t.Errorf("the node is entered at %v, want %v", entered, want)
	}
}

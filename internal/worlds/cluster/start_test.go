package cluster

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// refusing is a carrier that notes which nodes it is to start, and starts none.
type refusing struct {
	Carrier
	ended chan Ended

	mu    sync.Mutex
	asked []string
}

func (r *refusing) Start(_ context.Context, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, name)
	return errors.New("there is no machine")
}
func (r *refusing) Control(string) string { return "" }
func (r *refusing) Ended() <-chan Ended   { return r.ended }
func (r *refusing) Close() error {
	close(r.ended)
	return nil
}

// A node that has left is not started with the others when the network starts again, until
// it is started by itself.
func TestANodeThatHasLeftIsNotStartedWithTheOthers(t *testing.T) {
	seed := uint64(7)
	made, err := hosts.Make(hosts.Plan{Chain: setup.Plan{Validators: 5, Runners: 3, ChainID: 8011, BlockTime: time.Second}, Seed: &seed,
		Driver: "a-secret-of-a-driver", Format: hosts.Processes, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "net")
	if err := errors.Join(made.Write(dir), hosts.SetLeft(dir, "v4", true), hosts.SetLeft(dir, "r1", true)); err != nil {
		t.Fatal(err)
	}
	network, err := hosts.Reopen(dir)
	if err != nil {
		t.Fatal(err)
	}
	carrier := &refusing{ended: make(chan Ended)}
	backend := NewBackend(Config{Carrier: carrier, Hosts: network, Dir: dir})
	backend.Launch()
	for _, name := range []string{"v0", "v4", "r0", "r1"} {
		if left := name == "v4" || name == "r1"; backend.Left(name) != left {
			t.Errorf("%s has left: %v", name, !left)
		}
	}
	if err := backend.Runner("r1", backend.Key("r1"), nil).Start(); err == nil || backend.Left("r1") {
		t.Errorf("r1 has left, though it was to start: %v", err)
	}
	backend.SetLeft("r2")
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
	slices.Sort(carrier.asked)
	if want := []string{"r0", "r1", "r2", "v0", "v1", "v2", "v3"}; !slices.Equal(carrier.asked, want) {
		t.Errorf("it starts %v, and not %v", carrier.asked, want)
	}
	again, err := hosts.Reopen(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range slices.Concat(again.Validators, again.Runners) {
		if left := one.Name == "v4" || one.Name == "r2"; one.Left != left {
			t.Errorf("the folder lists %s as a node that has left: %v", one.Name, one.Left)
		}
	}
}

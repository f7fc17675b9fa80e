package cluster

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/box/hosts"
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

// Whoever has left is not started with the others when the network is started again, and
// is shown as one that has left.
func TestWhoHasLeftIsNotStartedWithTheOthers(t *testing.T) {
	seed := uint64(7)
	made, err := hosts.Make(hosts.Plan{Chain: box.Config{Validators: 5, Runners: 3, ChainID: 8011, BlockTime: time.Second}, Seed: &seed,
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
	var left []string
	s, err := Supervise(Supervision{Carrier: carrier, Hosts: network, Dir: dir, Left: func(name string) { left = append(left, name) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err == nil {
		t.Error("nodes that do not start are none to it")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	slices.Sort(carrier.asked)
	if want := []string{"r0", "r2", "v0", "v1", "v2", "v3"}; !slices.Equal(carrier.asked, want) {
		t.Errorf("it starts %v, and not %v", carrier.asked, want)
	}
	if want := []string{"v4", "r1"}; !slices.Equal(left, want) {
		t.Errorf("%v are told of as having left, and not %v", left, want)
	}
}

package simulated

import (
	"context"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/bench"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// Decision C18: no dry run of a simulated network depends on real time. Its host takes this machine for
// one that is a thousand times as quick, and a live network would find a loop late on it.
func TestC18ReadsOfASimulatedNetworkAreNeverLate(t *testing.T) {
	hosts := func() *pyhost.Pool { return pyhost.New(pyhost.Config{Hosts: 1, Rate: 30 * time.Nanosecond}) }
	b, err := newBench("test", bench.Config{}, nil, hosts())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := openStage(scenario.Config{Validators: 1, BlockTime: time.Second}, sim.NetworkConfig{Accounts: wallet.Users(), Open: true},
		hosts())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	code := []byte("def init(payload):\n    i = 0\n    while True:\n        i += 1\n")
	for name, of := range map[string]*Stage{"a bench": b.Stage, "a simulated network": s} {
		reader, err := of.Reader("")
		if err != nil {
			t.Fatal(err)
		}
		head := reader.Head()
		draft := wallet.Draft{Payload: types.Deploy{Kind: types.KindDeploy, Code: code, Manifest: types.Manifest{Name: "loop"}}}
		offer := wallet.Times(2, of.Info().ChainID, head.NextBaseFeeCycle, head.NextBaseFeeCell)
		done, _, err := reader.Simulate(context.Background(), draft.Sign(offer, of.Signer("alice"), 0))
		if err != nil || done.Status != types.StatusOutOfCycles {
			t.Errorf("%s: %+v %v", name, done, err)
		}
	}
}

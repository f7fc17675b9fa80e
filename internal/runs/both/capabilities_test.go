package both

import (
	"errors"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
)

// ordered does orders one after the other.
func ordered(orders ...fault.Order) func(scenario.Backend) error {
	return func(b scenario.Backend) error {
		for _, o := range orders {
			if _, err := b.Do(o); err != nil {
				return err
			}
		}
		return nil
	}
}

// acts use each capability.
var acts = map[network.Capability]func(scenario.Backend) error{
	network.Faults: ordered(fault.Order{Verb: fault.Freeze, Node: "v3"}, fault.Order{Verb: fault.Thaw, Node: "v3"}),
	network.Links:  ordered(fault.Order{Verb: fault.Partition, Groups: [][]string{{"v3"}, {}}}, fault.Order{Verb: fault.Heal}),
	network.Disks: ordered(fault.Order{Verb: fault.DiskSlow, Node: "v3", Delay: time.Millisecond},
		fault.Order{Verb: fault.DiskSlow, Node: "v3"}),
	network.Processors: ordered(fault.Order{Verb: fault.CPUSlow, Node: "v3", Delay: time.Millisecond},
		fault.Order{Verb: fault.CPUSlow, Node: "v3"}),
	network.Clocks:     ordered(fault.Order{Verb: fault.ClockSkew, Node: "v3", Skew: time.Millisecond}),
	network.Pausing:    func(b scenario.Backend) error { return errors.Join(b.Pause(), b.Resume()) },
	network.Travelling: func(b scenario.Backend) error { _, err := b.Advance(history.Target{Blocks: 3}); return err },
	network.SystemKey:  func(b scenario.Backend) error { return b.SetParam("cip3.min_basefee", "2", 0) },
	network.Answers: func(b scenario.Backend) error {
		if err := b.Answer(types.Hash{1}, execution.Given{}); code(err) != "refused" { // no runner has the job
			return err
		}
		return nil
	},
	network.Members:    func(b scenario.Backend) error { return b.Join("") },
	network.OwnRunners: func(b scenario.Backend) error { return b.JoinRunner(model.RunnerRequest{}) },
	network.Snapshots:  func(b scenario.Backend) error { _, err := b.Snapshot(); return err },
}

func code(err error) string {
	var refused *refusal.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// Every backend uses each capability that it has, and refuses the others with a remedy.
func TestEveryBackendDoesOrRefusesByItsCapabilities(t *testing.T) {
	try := func(t *testing.T, open scenario.Open, can network.Capability) {
		b, err := open(scenario.Config{Seed: 7, Validators: 4, Runners: 1, BlockTime: 50 * time.Millisecond, Snapshots: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if _, err := b.Next(2, time.Minute); err != nil {
			t.Fatal(err)
		}
		for i := len(network.Rows) - 1; i >= 0; i-- { // a snapshot takes a network at rest
			row := network.Rows[i]
			err := acts[row.Is](b)
			var refused *refusal.Error
			switch {
			case can&row.Is != 0 && err != nil:
				t.Errorf("%s: %v", row.Name, err)
			case can&row.Is == 0 && (!errors.As(err, &refused) || refused.Code != "unsupported" || refused.Remedy == ""):
				t.Errorf("%s: %v, want a refusal with a remedy", row.Name, err)
			}
		}
	}
	t.Run("sim", func(t *testing.T) { try(t, simulated.Open, network.Simulated) })
	for _, other := range others {
		t.Run(other.name, func(t *testing.T) {
			t.Parallel()
			try(t, other.open(t), network.Live)
		})
	}
}

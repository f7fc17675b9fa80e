package both

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	programs "github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/bench"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// way is one way to begin a network, and the hash of its genesis.
type way struct {
	name string
	hash string // its first 16 digits
	of   func(*testing.T) *ledger.Genesis
}

// begun is when the networks of these tests begin, where their maker is told.
var begun = time.UnixMilli(1_700_000_000_000)

const genesisSeed = 7

// extra is an account that planned networks fund besides.
var extra = types.Address{1}

// chain is the configuration of the networks that run in real time.
func chain(strict bool, runners int) box.Config {
	seed := uint64(genesisSeed)
	return box.Config{Plan: setup.Plan{Validators: 4, Runners: runners, BlockTime: 250 * time.Millisecond, ChainID: 8011, Strict: strict,
		Seed: &seed, Params: map[string]string{"chain.epoch_blocks": "40"}}, Ephemeral: true, Programs: programs.Host{}}
}

// inProcess is the genesis of a network of this process, as of a fixed time.
func inProcess(c box.Config) func(*testing.T) *ledger.Genesis {
	return func(t *testing.T) *ledger.Genesis {
		n, err := box.Up(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		g := *n.Genesis()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		g.Timestamp = types.Millis(begun.Add(-3 * c.BlockTime).UnixMilli())
		return &g
	}
}

// planned is the genesis of a network whose nodes run elsewhere.
func planned(format string, c setup.Plan, minor string) func(*testing.T) *ledger.Genesis {
	return func(t *testing.T) *ledger.Genesis {
		c.Minor = minor
		made, err := hosts.Make(hosts.Plan{Chain: c, Seed: c.Seed, Derived: true, Format: format, Now: begun,
			Funds: []types.Address{extra}})
		if err != nil {
			t.Fatal(err)
		}
		return made.Genesis
	}
}

// world is the genesis of a simulated network.
func world(c sim.NetworkConfig) func(*testing.T) *ledger.Genesis {
	return func(t *testing.T) *ledger.Genesis {
		c.World.Seed = genesisSeed
		n, err := sim.NewNetwork(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		return n.Genesis
	}
}

// script is the genesis of a simulated network that a script opens.
func script(c scenario.Config) func(*testing.T) *ledger.Genesis {
	return func(t *testing.T) *ledger.Genesis {
		c.Seed, c.Validators, c.Timeline = genesisSeed, 4, new(scenario.Timeline)
		c.Params, c.Link = map[string]string{"chain.epoch_blocks": "40"}, fault.Link{}
		opened, err := simulated.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { opened.Close() })
		return opened.(*simulated.Stage).Genesis
	}
}

// tested is the genesis of a simulated network that a test of another project opens.
func tested(c bench.Config) func(*testing.T) *ledger.Genesis {
	return func(t *testing.T) *ledger.Genesis {
		c.Seed = genesisSeed
		b, err := simulated.NewBench("test", c, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b.Genesis
	}
}

var ways = []way{
	{"in this process", "ae7927874541b3c3", inProcess(chain(false, 2))},
	{"in this process, strict", "bd6392936c1dc29e", inProcess(chain(true, 0))},
	{"processes", "5826de6d6bbfbc61", planned(hosts.Processes, chain(false, 2).Plan, "")},
	{"compose, of a named Python", "0550ff5c24ac8b18", planned(hosts.Compose, chain(false, 2).Plan, "3.11")},
	{"kubernetes, strict", "0a26bcd4f347340e", planned(hosts.Kubernetes, chain(true, 1).Plan, "")},
	{"seeded", "8ca64672ac507026", planned(hosts.Seeded, chain(false, 2).Plan, "")},
	{"simulated", "5b7a634a61c0d980", world(sim.NetworkConfig{})},
	{"simulated, with runners", "cb08aa2e3dc3adb5", world(sim.NetworkConfig{Runners: 2, ChainID: 9, Accounts: []string{"bob", "carol"}})},
	{"simulated, with blocks of an hour", "d6f0bf09e2ee7c24",
		world(sim.NetworkConfig{Params: map[string]string{"chain.block_time_ms": "3600000"}})},
	{"a script", "e968dfec4a15c644", script(scenario.Config{BlockTime: 250 * time.Millisecond, Runners: 2})},
	{"a script, auto", "eab651a184247e5d", script(scenario.Config{BlockTime: time.Second, Auto: true})},
	{"a test", "fc06d98b643528da", tested(bench.Config{})},
	{"a test, open to runners", "0a9928d09944ac2f", tested(bench.Config{Open: true, Validators: 3, BlockTime: "100ms"})},
}

// The genesis of each way of starting keeps its bytes. Nodes of one chain refuse nodes of
// another, and a home continues with one genesis.
func TestEachWayOfStartingKeepsItsGenesis(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			if hash := w.of(t).Hash().String(); !strings.HasPrefix(hash, "0x"+w.hash) || w.hash == "" {
				t.Errorf("the genesis has the hash %.18s, not 0x%s", hash, w.hash)
			}
		})
	}
}

// Backends of one configuration begin with the same keys and money. Endpoints differ.
func TestTheBackendsOfOneConfigurationBeginAlike(t *testing.T) {
	c := chain(false, 2)
	want := plain(inProcess(c)(t))
	for _, format := range []string{hosts.Processes, hosts.Compose, hosts.Kubernetes, hosts.Seeded} {
		if have := plain(planned(format, c.Plan, "")(t)); have.Hash() != want.Hash() {
			t.Errorf("in %s the genesis is\n%+v, and in this process\n%+v", format, have, want)
		}
	}
	simulated := world(sim.NetworkConfig{Runners: 2})(t)
	for i, v := range plain(simulated).Validators.Members {
		if v != want.Validators.Members[i] {
			t.Errorf("simulated, validator %d is %+v, and in this process %+v", i, v, want.Validators.Members[i])
		}
	}
	if simulated.SystemKey != want.SystemKey {
		t.Errorf("simulated, the system key is %v, and in this process %v", simulated.SystemKey, want.SystemKey)
	}
}

// plain is a genesis without endpoints and without the funds that planned adds.
func plain(g *ledger.Genesis) *ledger.Genesis {
	is := *g
	is.Validators.Members = slices.Clone(g.Validators.Members)
	for i := range is.Validators.Members {
		is.Validators.Members[i].Endpoint = ""
	}
	is.Accounts = slices.DeleteFunc(slices.Clone(g.Accounts), func(f ledger.Funding) bool { return f.Address == extra })
	return &is
}

// Package simulated lets scripts drive the world of virtual time: a network of
// internal/worlds/sim on one goroutine, where waiting for an answer runs the world
// until the answer comes. One seed is one run.
package simulated

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/stage"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/mempool"
	"github.com/cowboyinc/devnet/validators/simplex"
)

const (
	// sampleEvery is the heights between full audits. Scenarios are short.
	sampleEvery = 4
)

// Stage is a simulated network as a scenario.Backend.
type Stage struct {
	*sim.Network
	stage.Verbs
	config sim.NetworkConfig
	views  *readmodel.Source
	hosts  *pyhost.Pool
	// borrows says that the hosts outlive it.
	borrows bool
	params  params.Params
	auto    bool
	failed  error // why the world cannot continue
	last    types.Height
	seen    *readmodel.Sightings
	past    []fault.Effect // of faults before the last restore
	before  types.Hash     // digest of all before it
}

var _ scenario.Backend = (*Stage)(nil)

// Open makes a world for a script. Python starts when the first Python actor is
// deployed.
func Open(c scenario.Config) (scenario.Backend, error) {
	s, err := openStage(c, ofScript(c), newHosts(nil))
	if err != nil {
		return nil, err // a nil *Stage would make a Backend that is not nil
	}
	return s, nil
}

// ofScript is what is settled for the network of a script.
func ofScript(c scenario.Config) sim.NetworkConfig {
	settled := sim.NetworkConfig{Accounts: wallet.Users(), Sample: sampleEvery, Runners: c.Runners, Open: true, Keeps: c.Snapshots}
	for i := range c.Terms {
		settled.Terms = append(settled.Terms, stage.TermsOf(&c.Terms[i]))
	}
	return settled
}

// openStage makes the world of a script's configuration, and of more that is settled.
// Where it cannot, the hosts are closed.
func openStage(c scenario.Config, settled sim.NetworkConfig, hosts *pyhost.Pool) (_ *Stage, err error) {
	defer func() {
		if err != nil {
			hosts.Close()
		}
	}()
	overrides := params.Overrides{}
	for key, value := range c.Params { // order: a map to a map
		overrides[key] = value
	}
	switch {
	case c.Auto:
		overrides["chain.block_time_auto"] = "true"
	default:
		overrides["chain.block_time_ms"] = fmt.Sprint(c.BlockTime.Milliseconds())
	}
	p := params.Defaults()
	if err := p.Apply(overrides); err != nil {
		return nil, err
	}
	told, watches, hears := c.Timeline, settled.Final, settled.Tell
	settled.Tell = told.Tell
	if hears != nil {
		settled.Tell = func(at types.Time, name string, report simplex.Report) {
			told.Tell(at, name, report)
			hears(at, name, report)
		}
	}
	settled.Final = func(at types.Time, r *ledger.Result) {
		told.Final(at, r.Block.Header.Height, r.Receipts)
		if watches != nil {
			watches(at, r)
		}
	}
	settled.World.Seed, settled.World.Link, settled.World.Trace = c.Seed, c.Link, c.Trace
	seen := new(readmodel.Sightings)
	settled.Saw = seen.Saw
	settled.Validators, settled.Params, settled.Programs, settled.Strategy = c.Validators, overrides, hosts, c.Strategy
	n, err := sim.NewNetwork(settled)
	if err != nil {
		return nil, err
	}
	views := readmodel.NewSource(n.Genesis, samples.Mux{Other: sim.Unhurried{Host: hosts}}, n.Scheme())
	views.Sightings = seen
	s := &Stage{Network: n, config: settled, hosts: hosts, params: p, auto: c.Auto, views: views, seen: seen}
	s.Verbs = stage.Verbs{Context: context.Background(), Network: s.operatedNetwork, Read: s.Reader, Done: errorOf}
	return s, nil
}

// operatedNetwork is what the operator does with the network.
func (s *Stage) operatedNetwork() *network.Network { return s.Network.Network }

// errorOf returns the error of a verb. The trace of the world has the verb already.
func errorOf(err error, _ ...any) error { return err }

// newHosts has one interpreter for blocks, and one for reads: a world's goroutine
// runs one message at a time, and each further Python takes longer to start than most
// scripts run.
func newHosts(notes func(*program.Probed)) *pyhost.Pool {
	return pyhost.New(pyhost.Config{Hosts: 1, Blocks: blocksAChild, CallTimeout: callTimeout, Notes: notes, Recall: true})
}

// blocksAChild is how many blocks one interpreter serves here; live it is one. A
// fork costs some milliseconds, as much as the blocks of a virtual second.
const blocksAChild = 64

// callTimeout bounds a message in real time, far above its need on a busy machine: a host that fails by it makes two runs of a seed differ.
const callTimeout = 5 * time.Minute

// Name implements scenario.Backend.
func (s *Stage) Name() string { return "sim" }

// Python implements scenario.Backend.
func (s *Stage) Python() error {
	_, err := s.hosts.Probe()
	return err
}

// Info implements scenario.Backend.
func (s *Stage) Info() answers.Info {
	return answers.Info{ChainID: s.Genesis.ChainID, Version: "sim", Strict: !s.params.Cheats, Auto: s.auto, Faucet: s.params.FaucetWei,
		Strategy: s.config.Strategy}
}

// bestValidator is the running honest validator with the highest final block, or "".
// A frozen validator shows its state, and answers nothing.
func (s *Stage) bestValidator() (best string) {
	for _, name := range s.Names() {
		if s.Running(name) && s.Honest(name) && !s.Frozen(name) && (best == "" || s.Height(name) > s.Height(best)) {
			best = name
		}
	}
	return best
}

// Reader implements scenario.Backend.
func (s *Stage) Reader(node string) (answers.Reader, error) {
	if node == "" {
		node = s.bestValidator()
	}
	if node == "" {
		return nil, network.ErrNoValidator
	}
	v := s.Validator(node)
	if v == nil {
		return nil, refusal.New("node_stopped", "%s is not running", node)
	}
	return s.views.Of(v), nil
}

// Nodes implements scenario.Backend.
func (s *Stage) Nodes() []answers.Node {
	var nodes []answers.Node
	for _, name := range s.Names() {
		key := s.Key(name)
		node := answers.Node{Name: name, Running: s.Running(name), Status: s.Status(name),
			Validator: types.Validator{Address: key.Address(), PublicKey: key.PublicKey()}}
		if v := s.Validator(name); v != nil {
			head, status := v.Head(), v.Status()
			node.Height, node.StateRoot = head.Block.Header.Height, head.State.Root()
			readmodel.AddStatus(&node, &status, v.Connections())
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// Accounts implements scenario.Backend.
func (s *Stage) Accounts() (all []answers.NamedAccount) {
	for _, name := range wallet.Listed() {
		all = append(all, answers.NamedAccount{Name: name, Address: s.Key(name).Address()})
	}
	return all
}

// Signer implements scenario.Backend. The system key signs only for the verbs of
// governance, which number its instructions.
func (s *Stage) Signer(name string) env.Signer {
	if !slices.Contains(wallet.Users(), name) {
		return nil
	}
	return s.Scheme().Signer(s.Key(name))
}

// SystemKey implements scenario.Backend.
func (s *Stage) SystemKey() env.Signer {
	if !s.params.Cheats {
		return nil
	}
	return s.Scheme().Signer(s.Key(wallet.System))
}

// Cheated implements scenario.Backend.
func (s *Stage) Cheated(e fault.Effect) { s.Network.Cheated(e) }

// Next implements scenario.Backend: it drives the world.
func (s *Stage) Next(above types.Height, patience time.Duration) (types.Height, error) {
	if s.failed != nil {
		return s.finalHeight(), s.failed
	}
	until := s.Now().Add(patience)
	err := s.RunUntil(func() bool { return s.Err() != nil || s.finalHeight() > above }, until)
	switch {
	case errors.Is(err, sim.ErrDeadline), errors.Is(err, sim.ErrAsleep):
		if rest := until.Sub(s.Now()); rest > 0 {
			err = s.RunFor(rest)
		} else {
			err = nil
		}
	}
	s.failed = err
	return s.finalHeight(), err
}

func (s *Stage) finalHeight() types.Height {
	if name := s.bestValidator(); name != "" {
		s.last = s.Height(name)
	}
	return s.last // the last known state, if no validator runs
}

// Violation implements scenario.Backend.
func (s *Stage) Violation() error {
	if err := s.Err(); err != nil {
		return err
	}
	return s.failed
}

// Check implements scenario.Backend.
func (s *Stage) Check(name string) error { return stage.Verdict(s.Judge, name) }

// Queues implements scenario.Backend.
func (s *Stage) Queues() (all []scenario.Queue) {
	for _, name := range s.Names() {
		if v := s.Validator(name); v != nil {
			all = append(all, scenario.Queue{Node: name, Name: "the mempool", Length: v.Status().Pool, Limit: mempool.DefaultLimits.Count})
		}
	}
	return all
}

// Digest implements scenario.Backend.
func (s *Stage) Digest() (types.Hash, error) {
	digest := s.Network.Digest()
	if !s.before.IsZero() {
		digest = types.Keccak(s.before[:], digest[:])
	}
	return digest, nil
}

// Faults implements fault.World.
func (s *Stage) Faults() []fault.Effect { return slices.Concat(s.past, s.Network.Faults()) }

// Snapshot implements scenario.Backend.
func (s *Stage) Snapshot() (restore func() error, err error) {
	if !s.config.Keeps {
		return nil, refusal.New("unsupported", "the script has to name it: nothing was kept for its oracles to judge on")
	}
	revert, err := s.keepNetwork()
	if err != nil {
		return nil, err
	}
	return func() error {
		past := s.Faults()
		for i := range past {
			past[i].Ended, past[i].Until = true, min(past[i].Until, s.Network.Now())
		}
		before, err := s.Digest()
		if err == nil {
			err = revert()
		}
		s.past, s.before = past, before
		return err
	}, nil
}

// keepNetwork keeps the network; revert makes it that again, as if nothing had been since.
func (s *Stage) keepNetwork() (revert func() error, err error) {
	rest, err := s.Rest()
	var unrest *sim.UnrestError
	switch {
	case errors.As(err, &unrest):
		return nil, refusal.New("not_at_rest", "no snapshot: %s", unrest.Why).Hint("%s", unrest.Remedy)
	case err != nil:
		return nil, err
	}
	last, forget := s.last, s.seen.Keep()
	return func() error {
		if err := s.Network.Close(); err != nil {
			return err
		}
		from := s.config
		from.From = rest
		n, err := sim.NewNetwork(from)
		if err != nil {
			return err
		}
		forget()
		s.Network, s.failed, s.last = n, nil, last
		return nil
	}, nil
}

// Close implements scenario.Backend.
func (s *Stage) Close() error {
	err := s.Network.Close()
	if !s.borrows {
		s.hosts.Close()
	}
	return err
}

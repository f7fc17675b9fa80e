// Package live is the world of real time as scripts drive it: a network of
// internal/worlds/box in this process, over real QUIC, with the oracles watching. A
// script that runs in the simulator runs here too; where it drives the world
// there, it waits for the world here.
package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/stage"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	operation "github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
)

const (
	// connectPatience is how long the start waits for one more connection of validators. On
	// two cores with a load of 120, 31 validators took more than two minutes for all.
	connectPatience = time.Minute
	connectEvery    = 2 * time.Millisecond
)

// Stage is a live network as a scenario.Backend. It keeps nothing on disk.
type Stage struct {
	*box.Network
	stage.Verbs
	ctx      context.Context
	judge    *judge
	name     string
	separate remote.Nodes // nil: its nodes run in this process

	closing sync.Once
	ended   error
}

var _ scenario.Backend = (*Stage)(nil)

// Opener returns what brings live networks up. When ctx ends, so does all
// waiting.
func Opener(ctx context.Context) scenario.Open { return OpenerOn(ctx, "live", nil) }

// Prepare completes the configuration that the network of a scenario is brought up with: by the
// separate nodes that it makes, whose Close leaves no remains of them.
type Prepare func(context.Context, *box.Config) error

// OpenerOn returns what brings networks up over separate nodes, nil for this process, as the
// backend of a name.
func OpenerOn(ctx context.Context, name string, prepare Prepare) scenario.Open {
	return func(c scenario.Config) (scenario.Backend, error) { return openStage(ctx, c, name, prepare) }
}

func openStage(ctx context.Context, c scenario.Config, name string, prepare Prepare) (scenario.Backend, error) {
	seed := c.Seed
	s := &Stage{ctx: ctx, name: name, judge: newJudge(c.Trace, c.Timeline)}
	terms, err := termsOf(c.Terms)
	if err != nil {
		return nil, err
	}
	config := box.Config{Version: "scenario", Ephemeral: true, Plan: setup.Plan{Validators: c.Validators, Runners: c.Runners, Terms: terms,
		BlockTime: c.BlockTime, Auto: c.Auto, Seed: &seed, Params: c.Params, Strategy: c.Strategy}}
	s.judge.listenTo(&config)
	if prepare != nil {
		if err := prepare(ctx, &config); err != nil {
			return nil, err
		}
		s.separate = config.Elsewhere
	}
	network, err := box.Up(ctx, config)
	if err != nil {
		return nil, errors.Join(err, s.endNodes())
	}
	s.Network = network
	s.Verbs = stage.Verbs{Context: ctx, Network: s.operatedNetwork, Read: s.Reader, Done: s.noteVerb}
	if err := s.judge.beginChain(network); err != nil {
		return nil, errors.Join(err, s.endNodes(), network.Close())
	}
	if err := s.waitForQuorumConnections(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if c.Link != (fault.Link{}) {
		if err := network.SetUsualLink(c.Link); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// termsOf is what the first runners register with: what the script says of each, and otherwise what all offer.
func termsOf(requests []model.RunnerRequest) ([]setup.Terms, error) {
	own, all := node.OwnOffer(), make([]setup.Terms, len(requests))
	for i := range all {
		var err error
		if all[i], err = stage.TermsOf(&requests[i])(own); err != nil {
			return nil, fmt.Errorf("%s: %w", wallet.RunnerName(i), err)
		}
	}
	return all, nil
}

// operatedNetwork is what the operator does with the network.
func (s *Stage) operatedNetwork() *operation.Network { return s.Network.Network }

// Advance implements scenario.Backend.
func (s *Stage) Advance(to history.Target) (*history.Advance, error) {
	a, err := s.Network.Advance(s.ctx, to)
	if err == nil {
		s.judge.traceFault(fmt.Sprint("advance to ", a.To))
	}
	return a, err
}

// Snapshot implements scenario.Backend.
func (s *Stage) Snapshot() (restore func() error, err error) {
	return nil, s.Need(operation.Snapshots)
}

// Python implements scenario.Backend.
func (s *Stage) Python() error {
	_, err := s.Probe()
	return err
}

// Name implements scenario.Backend.
func (s *Stage) Name() string { return s.name }

// Next implements scenario.Backend: it waits for the real network, and until the oracles have
// its blocks.
func (s *Stage) Next(above types.Height, patience time.Duration) (types.Height, error) {
	if s.separate != nil {
		s.separate.Saw(above)
	}
	news := make(chan struct{}, 1)
	defer s.Subscribe(func(types.Height) {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		if h := min(s.finalHeight(), s.judge.highestFinal()); h > above {
			return h, nil
		}
		if err := s.Violation(); err != nil {
			return s.finalHeight(), nil // the script asks for it when it has the height
		}
		select {
		case <-news:
		case <-over.C:
			return s.finalHeight(), nil
		case <-s.ctx.Done():
			return s.finalHeight(), s.ctx.Err()
		}
	}
}

func (s *Stage) finalHeight() types.Height {
	if v := s.Best().Validator(); v != nil {
		return v.Head().Block.Header.Height
	}
	return 0
}

// Signer implements scenario.Backend.
func (s *Stage) Signer(name string) env.Signer {
	if name == wallet.System {
		return nil // it signs only for the verbs of governance, which number its instructions
	}
	return s.Network.Signer(name)
}

// SystemKey implements scenario.Backend.
func (s *Stage) SystemKey() env.Signer {
	if s.Network.Info().Strict {
		return nil
	}
	return s.Network.Signer(wallet.System)
}

// Cheated implements scenario.Backend.
func (s *Stage) Cheated(e fault.Effect) { s.Network.Cheated(e) }

// Reader implements scenario.Backend.
func (s *Stage) Reader(node string) (answers.Reader, error) { return s.Network.Reader(node) }

// Digest implements scenario.Backend: the hash of the highest final block, which
// stands for all before it.
func (s *Stage) Digest() (types.Hash, error) {
	v := s.Best().Validator()
	if v == nil {
		return types.Hash{}, errors.New("live: no validator ever ran")
	}
	return v.Head().Hash, nil
}

// Close implements scenario.Backend.
func (s *Stage) Close() error {
	s.closing.Do(func() { s.ended = errors.Join(s.endNodes(), s.Network.Close(), s.judge.flushTrace()) })
	return s.ended
}

// endNodes ends separate nodes at once, since they are no longer needed.
func (s *Stage) endNodes() error {
	if s.separate == nil {
		return nil
	}
	return s.separate.Close()
}

// Queues implements scenario.Backend.
func (s *Stage) Queues() (all []scenario.Queue) {
	for _, node := range s.List() {
		if v := node.Validator(); v != nil && node.Running() {
			all = append(all, scenario.Queue{Node: node.Name, Name: "mempool", Length: v.Status().Pool, Limit: poolLimit})
		}
	}
	return all
}

// Violation implements scenario.Backend.
func (s *Stage) Violation() error {
	if err := s.judge.firstError(); err != nil {
		return err
	}
	if s.separate != nil {
		if err := s.separate.Err(); err != nil {
			return err
		}
	}
	for _, node := range s.List() {
		if err := node.Failure(); err != nil && !isOrderedPanic(err) {
			return fmt.Errorf("%s stopped by itself: %w", node.Name, err)
		}
	}
	return nil
}

// isOrderedPanic reports whether a node stopped because a script had a role of it panic.
func isOrderedPanic(err error) bool {
	var along *roles.Failure
	return errors.As(err, &along) && roles.OrderOf(along.Reason) != nil
}

// Check implements scenario.Backend.
func (s *Stage) Check(oracle string) error { return s.judge.checkOracle(oracle) }

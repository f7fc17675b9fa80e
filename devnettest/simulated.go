package devnettest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/bench"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// simulatedWorld is a world of virtual time.
type simulatedWorld struct {
	*api.Driven
	bench    *simulated.Bench
	patience time.Duration // for the next block
	runners  int
	auto     bool // a block is made only if there is something to do
}

func (n *Network) openVirtual(context.Context) (world, error) {
	c := n.config
	pace := c.blockTime.String()
	if c.auto {
		pace = "auto"
	}
	b, err := simulated.NewBench("devnettest", bench.Config{Seed: c.seed, Validators: c.validators, Runners: c.runners, BlockTime: pace,
		Params: c.params, Open: true}, n.timeline)
	if err != nil {
		return nil, err
	}
	s := &simulatedWorld{bench: b, patience: max(c.blockTime, time.Second), runners: c.runners, auto: c.auto}
	s.Driven = api.NewDriven(b, api.Config{}, b.Tell)
	return s, nil
}

func (s *simulatedWorld) passTime() client.Pass { return s.nextBlock }

// nextBlock drives the world to the next block, or for a block time, at least a second.
func (s *simulatedWorld) nextBlock(ctx context.Context, above client.Height) (client.Height, error) {
	s.Lock()
	defer s.Unlock()
	if err := ctx.Err(); err != nil {
		return above, err
	}
	at, err := s.bench.Next(above, s.patience)
	if broken := s.bench.Violation(); broken != nil {
		err = broken
	}
	return at, err
}

func (s *simulatedWorld) timeNow() types.Time {
	s.Lock()
	defer s.Unlock()
	return s.bench.Now()
}

// readyBlocks is how many blocks the runners of a network may take to be present.
const readyBlocks = 64

// awaitReady drives the world until a block is final and every runner is present; where
// blocks wait for something to do, until every runner is connected.
func (s *simulatedWorld) awaitReady(ctx context.Context, c *client.Client) error {
	for range readyBlocks {
		if _, err := s.nextBlock(ctx, 0); err != nil {
			return err
		}
		all, err := c.Runners(ctx)
		if err != nil {
			return err
		}
		present := 0
		for _, r := range all {
			if r.Present || s.auto && len(r.Connected) > 0 {
				present++
			}
		}
		at, err := c.Height(ctx)
		if err == nil && (at > 0 || s.auto) && present >= s.runners {
			return nil
		}
		if _, err := s.nextBlock(ctx, at); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d runners are not all present after %d blocks", s.runners, readyBlocks)
}

func (s *simulatedWorld) nodeNames() []string {
	s.Lock()
	defer s.Unlock()
	return namesOf(s.bench)
}

func (s *simulatedWorld) takeSnapshot() (func() error, error) {
	s.Lock()
	defer s.Unlock()
	revert, err := s.bench.Snapshot()
	if err != nil {
		return nil, err
	}
	return func() error {
		s.Lock()
		defer s.Unlock()
		if err := revert(); err != nil {
			return err
		}
		s.Reverted()
		return nil
	}, nil
}

func (s *simulatedWorld) hangUp() error { return s.Close() }

func (s *simulatedWorld) closeLive() error {
	ended := s.Close() // work between requests may need the world for that
	s.Lock()
	defer s.Unlock()
	return errors.Join(ended, s.bench.Close())
}

// reportNetwork is a network whose names a report tells.
type reportNetwork interface {
	Nodes() []answers.Node
	Runners() []answers.NamedAccount
	Accounts() []answers.NamedAccount
	Reader(string) (answers.Reader, error)
}

// maxNamed is how many actors a report knows by name.
const maxNamed = 1000

// namesOf lists addresses, each followed by its name.
func namesOf(n reportNetwork) (pairs []string) {
	for _, node := range n.Nodes() {
		pairs = append(pairs, node.Validator.Address.String(), node.Name)
	}
	for _, one := range append(n.Runners(), n.Accounts()...) {
		pairs = append(pairs, one.Address.String(), one.Name)
	}
	if v, err := n.Reader(""); err == nil {
		if actors, err := v.Actors(0, maxNamed); err == nil {
			for _, a := range actors {
				if a.Name != "" {
					pairs = append(pairs, a.Address.String(), a.Name)
				}
			}
		}
	}
	return pairs
}

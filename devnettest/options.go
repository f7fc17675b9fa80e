package devnettest

import (
	"fmt"
	"time"
)

// Option says what a network is like.
type Option func(*config)

// Simulated has the network in virtual time, which is so unless Live is given.
func Simulated() Option { return func(c *config) { c.live = false } }

// Live has the network in real time: real validators over QUIC, in this process and
// without files.
func Live() Option { return func(c *config) { c.live = true } }

// Validators says how many there are, 1 to 100: v0, v1, …. The default is 4.
func Validators(n int) Option { return func(c *config) { c.validators = n } }

// Runners says how many there are, 0 to 100: r0, r1, …. The default is 4.
func Runners(n int) Option { return func(c *config) { c.runners = n } }

// Seed sets the seed of all keys, and of a simulated network's whole run. The default
// is 1.
func Seed(seed uint64) Option { return func(c *config) { c.seed = seed } }

// BlockTime is the time from block to block, in whole milliseconds up to an hour. The
// default is a second if time is virtual, and 200 ms if it is real.
func BlockTime(d time.Duration) Option {
	return func(c *config) { c.blockTime, c.paced = d, true }
}

// Auto has blocks made when there is something to do, and no others.
func Auto() Option { return func(c *config) { c.auto = true } }

// Param sets a parameter of the protocol at genesis; devnet params lists them.
func Param(key, value string) Option {
	return func(c *config) { c.params[key] = value }
}

// Actor deploys an actor before the test begins: a Python file, deployed by alice
// under its base name with 100 CBY. Its handler start is called if it has one.
func Actor(path string) Option { return func(c *config) { c.actors = append(c.actors, path) } }

// config is what options make.
type config struct {
	live, auto, paced   bool
	validators, runners int
	seed                uint64
	blockTime           time.Duration
	params              map[string]string
	actors              []string
}

const (
	maxNodes      = 100
	maxBlockTime  = time.Hour
	liveBlockTime = 200 * time.Millisecond
)

func configOf(options []Option) (*config, error) {
	c := &config{validators: 4, runners: 4, seed: 1, params: map[string]string{}}
	for _, option := range options {
		option(c)
	}
	switch {
	case !c.paced && c.live:
		c.blockTime = liveBlockTime
	case !c.paced:
		c.blockTime = time.Second
	}
	switch {
	case c.validators < 1 || c.validators > maxNodes:
		return nil, fmt.Errorf("devnettest.Validators: a network has 1 to %d, and got %d", maxNodes, c.validators)
	case c.runners < 0 || c.runners > maxNodes:
		return nil, fmt.Errorf("devnettest.Runners: a network has 0 to %d, and got %d", maxNodes, c.runners)
	case c.blockTime < 0 || c.blockTime > maxBlockTime || c.blockTime%time.Millisecond != 0:
		return nil, fmt.Errorf("devnettest.BlockTime: whole milliseconds up to %v, and got %v", maxBlockTime, c.blockTime)
	case c.auto && c.paced:
		return nil, fmt.Errorf("devnettest: give BlockTime or Auto, not both")
	}
	return c, nil
}

// String tells a failed test's reader which network it was.
func (c *config) String() string {
	kind := "simulated"
	if c.live {
		kind = "live"
	}
	return fmt.Sprintf("a %s network of %d validators and %d runners, seed %d", kind, c.validators, c.runners, c.seed)
}

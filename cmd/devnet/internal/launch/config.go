package launch

import (
	"log/slog"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// ChainConfig is the chain that is asked for, and how its nodes keep it.
func (s *Settings) ChainConfig() setup.Plan {
	c := setup.Plan{Validators: s.Validators, Runners: defaultRunners, BlockTime: s.Interval, Auto: s.Auto, ChainID: s.ChainID,
		Strict: s.Strict, Params: s.Params, Durability: s.Survives, History: uint64(s.History), Strategy: s.Strategy}
	if s.Runners != nil {
		c.Runners = *s.Runners
	}
	return c
}

// BoxConfig is what the box is asked for.
func (s *Settings) BoxConfig(log *slog.Logger) box.Config {
	c := box.Config{Plan: s.ChainConfig()}
	c.Version, c.Log, c.AsRunners, c.Seed = self.Version, log, s.Runners != nil, s.Seed
	c.Home, c.Ephemeral, c.Reset = s.Home, s.Ephemeral, s.Reset
	return c
}

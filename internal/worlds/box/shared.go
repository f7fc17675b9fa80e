package box

import (
	"log/slog"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/validators"
)

// sharedParts is what the nodes of one process share. Each part is safe for concurrent use.
type sharedParts struct {
	clock    *clock.Clock
	verifier *crypto.Verifier
	memo     *validators.Memo // nil when every validator executes every block itself
	runtime  *roles.Runtime
	programs program.Host
	owned    *pyhost.Pool // closed with the network; nil when the programs were given
	book     *node.AddressBook
	log      *slog.Logger

	turns, meshTurns *connections.Turns // of the handshakes that runners and validators begin
}

// meshHandshakes is how many handshakes between validators one process has under way. The
// time for one is shorter than a runner's: on a starved machine more of them time out.
const meshHandshakes = 8

// prepareParts prepares what the nodes of a network share. Without a fitting Python the
// network runs all the same, and reports that to users that need one.
func prepareParts(o *origin) *sharedParts {
	c := &o.config
	s := &sharedParts{clock: clock.NewOn(c.machineClocks()), verifier: crypto.NewVerifier(!c.NoRemember), runtime: roles.New(c.Log),
		book:  node.NewAddressBook(),
		turns: connections.NewTurns(handshakes), meshTurns: connections.NewTurns(meshHandshakes), log: c.Log}
	if !c.NoMemo {
		s.memo = validators.NewMemo()
	}
	s.programs, s.owned = c.Programs, o.owned
	if s.programs == nil {
		s.programs = s.owned
	}
	if !c.Strict {
		s.programs = samples.Mux{Other: s.programs}
	}
	return s
}

// machineClocks reads the clocks that the network goes by.
func (c *Config) machineClocks() clock.Machine {
	if c.Machine != nil {
		return c.Machine
	}
	return clock.ThisMachine()
}

// Probe returns the version of Python that runs actors, or what is missing. It
// is of no use where the programs were given.
func (s *sharedParts) Probe() (version string, err error) {
	if s.owned == nil {
		return "", nil
	}
	return s.owned.Probe()
}

// Now is the clock that the nodes go by.
func (s *sharedParts) Now() types.Time { return s.clock.Now() }

// closeParts ends what the nodes ran on, once they have stopped.
func (s *sharedParts) closeParts() {
	s.runtime.Close()
	if s.owned != nil {
		s.owned.Close()
	}
}

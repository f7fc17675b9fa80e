package box

import (
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// reports hands validators' reports on to waiting callers and to the functions in the
// configuration. It is called on the validators' loops.
type reports struct {
	config    *Config
	clock     *clock.Clock
	keeper    *timekeeper
	finality  *finality
	operator  *network.Network
	presence  *presence
	sightings *readmodel.Sightings
	views     views.Table
}

// bootReporter tells what one validator begins with.
func (r *reports) bootReporter(validator types.Address) func(*validators.Head) {
	return func(view *validators.Head) {
		r.reportBoot(validator, remote.Boot{Header: &view.Block.Header, Hash: view.Hash, Root: view.State.Root()})
	}
}

// reportBoot is booted, of any validator.
func (r *reports) reportBoot(validator types.Address, begins remote.Boot) {
	r.keeper.raiseClock(begins.Header)
	if r.config.Booted != nil {
		r.config.Booted(validator, begins)
	}
}

// handOnVote hands on a vote that a validator elsewhere sent.
func (r *reports) handOnVote(from types.Address, frame []byte) {
	if r.config.Overhear != nil {
		r.config.Overhear(from, frame)
	}
}

// handOnDrop hands on that a validator gave a transaction up.
func (r *reports) handOnDrop(hash types.Hash, why string) {
	if r.config.Dropped != nil {
		r.config.Dropped(hash, why)
	}
	r.operator.Dropped(hash, why)
}

// handOnFinal hands on blocks that a validator made final.
func (r *reports) handOnFinal(f validators.FinalBlocks) {
	r.keeper.observeClockStep(&f)
	if r.config.Observe != nil {
		r.config.Observe(f)
	}
	r.finality.observeFinal(f)
	r.presence.notePresence(f.Results[len(f.Results)-1])
}

// handOnReport hands on a report of a validator's consensus.
func (r *reports) handOnReport(name string, report simplex.Report) {
	now := r.clock.Now()
	r.views.Tell(now, name, report)
	if r.config.Tell != nil {
		r.config.Tell(now, name, report)
	}
}

// gatewayReporter hands on a report of a validator's gateway, and stores it for the next block.
func (r *reports) gatewayReporter(validator types.Address) func(string, gateway.Report) {
	return func(name string, report gateway.Report) {
		if r.config.Gateway != nil {
			r.config.Gateway(validator, report)
		}
		if r.config.tellRunners != nil {
			r.config.tellRunners(name, report)
		}
		r.finality.doBetweenBlocks(func(next types.Height) { r.sightings.Saw(next, validator, report) })
	}
}

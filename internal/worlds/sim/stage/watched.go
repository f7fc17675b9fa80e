package stage

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Watch is what else a run of a script is for: it is recorded, or a trial, and its networks are watched. A zero field is
// left out.
type Watch struct {
	Record  *sim.Record
	Trial   *sim.Trial
	Opened  func(*Stage, *scenario.Timeline)
	Stepped func() error // after each step; an error ends the run
	Tell    func(at types.Time, node string, report simplex.Report)
	Final   func(at types.Time, r *ledger.Result)
}

// OpenWatched returns what opens the networks of a script for a watched run.
func OpenWatched(w Watch) scenario.Open {
	return func(c scenario.Config) (scenario.Backend, error) {
		settled := ofScript(c)
		settled.World.Record, settled.World.Trial, settled.World.Stepped = w.Record, w.Trial, w.Stepped
		settled.Tell, settled.Final = w.Tell, w.Final
		s, err := open(c, settled, newHosts(nil))
		if err != nil {
			return nil, err
		}
		if w.Opened != nil {
			w.Opened(s, c.Timeline)
		}
		return s, nil
	}
}

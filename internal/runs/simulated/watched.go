package simulated

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Watch is what else a run of a script is for: it is recorded, or a trial, and its networks are watched. A zero field is
// left out.
type Watch struct {
	Record  *sim.Record
	Hosts   *Hosts // of programs, for several runs one after the other; nil: the run has its own
	Trial   *sim.Trial
	Opened  func(*Stage, *scenario.Timeline)
	Stepped func() error // after each step; an error ends the run
	Tell    func(at types.Time, node string, report simplex.Report)
	Final   func(at types.Time, r *ledger.Result)
	Closing func(*Stage) // before a network of the script closes: it may run it on
}

// Hosts are hosts of programs that outlive a run: to start Python takes longer than most runs.
type Hosts struct{ pool *pyhost.Pool }

// NewHosts returns hosts for one run at a time.
func NewHosts() *Hosts { return &Hosts{newHosts(nil)} }

// Close ends them.
func (h *Hosts) Close() { h.pool.Close() }

// OpenWatched returns what opens the networks of a script for a watched run.
func OpenWatched(w Watch) scenario.Open {
	return func(c scenario.Config) (scenario.Backend, error) {
		settled := ofScript(c)
		settled.World.Record, settled.World.Trial, settled.World.Stepped = w.Record, w.Trial, w.Stepped
		settled.Tell, settled.Final = w.Tell, w.Final
		hosts := newHosts(nil)
		if w.Hosts != nil {
			hosts = w.Hosts.pool
		}
		s, err := openStage(c, settled, hosts)
		if err != nil {
			return nil, err
		}
		s.borrows = w.Hosts != nil
		if w.Opened != nil {
			w.Opened(s, c.Timeline)
		}
		return &watchedStage{s, w.Closing}, nil
	}
}

// watchedStage tells its watcher before it closes.
type watchedStage struct {
	*Stage
	closing func(*Stage)
}

// Close implements scenario.Backend.
func (s *watchedStage) Close() error {
	if s.closing != nil {
		s.closing(s.Stage)
	}
	return s.Stage.Close()
}

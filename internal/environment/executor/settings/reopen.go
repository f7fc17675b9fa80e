package settings

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/environment/configfile"
)

// Reopen reads the configuration of a runner that runs, and opens its executors. The
// executor manual is the former one, with the jobs that wait there. Settings that a runner
// reads at its start only may not differ.
func Reopen(path string, former *Runner) (*Runner, error) {
	o := &opener{manual: former.Manual}
	var err error
	if o.File, err = configfile.Read(path, &o.file); err != nil {
		return nil, err
	}
	next, err := o.openRunner()
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		key  string
		same bool
	}{
		{"name", next.Name == former.Name}, {"key", next.Key.Address() == former.Key.Address()}, {"api", next.API == former.API},
		{"also", slices.Equal(next.Also, former.Also)}, {"driver", next.Driver == former.Driver}, {"control", next.Control == former.Control},
		{"max_concurrent_jobs", next.Jobs == former.Jobs}, {"poll_ms", next.PollEvery == former.PollEvery},
		{"supervision", next.Strategy == former.Strategy},
	} {
		if !one.same {
			next.Executor.Close()
			return nil, o.Fault("it is read at the start only: stop the runner and start it again", one.key)
		}
	}
	return next, nil
}

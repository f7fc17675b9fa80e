// Package settings reads a runner's configuration, a TOML file, and opens the
// executors that it names. docs/RUNNERS.md has every setting.
//
// An invalid setting is refused with file, line and setting, before anything is
// opened; an unknown setting, with the closest known name.
package settings

import (
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/executor/llm"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// Limits of a configuration.
const (
	// MaxJobs bounds max_concurrent_jobs: each may be a process and a connection.
	MaxJobs     = 1024
	DefaultJobs = 4
	// MinPollMS and MaxPollMS bound poll_ms, in milliseconds: below, a validator answers
	// little else; above, jobs of minutes time out.
	MinPollMS = 10
	MaxPollMS = 60_000
	// MaxAlso bounds the further URLs of a devnet's HTTP API: of as many validators.
	MaxAlso = 100
)

// file is the configuration as it is written.
type file struct {
	Name         string   `toml:"name"`
	Strategy     string   `toml:"supervision"`
	Key          string   `toml:"key"`
	KeyFile      string   `toml:"key_file"`
	API          string   `toml:"api"`
	Also         []string `toml:"also"`
	Driver       string   `toml:"driver"`
	Control      string   `toml:"control"`
	Jobs         int      `toml:"max_concurrent_jobs"`
	MaxWall      string   `toml:"max_wall_time"`
	PollMS       int      `toml:"poll_ms"`
	Entitlements []string `toml:"entitlements"`

	kindTables
}

// Runner is a runner's configuration.
type Runner struct {
	Name    string
	Key     *crypto.Key
	API     string   // the URL of a devnet's HTTP API
	Also    []string // further servers of the same devnet, used if the first fails
	Driver  string   // the supervisor's secret; "": no supervisor
	Control string   // host:port where it answers its driver; "" without one
	Jobs    int      // that it does at once
	// PollEvery is the time between two polls for jobs; 0: a block time (decision J11).
	PollEvery time.Duration
	Executor  *executor.Set
	Manual    *custom.Manual // nil without the executor manual
	Worker    *custom.Worker // nil without a worker program; not yet started
	Strategy  roles.Strategy // when its role panics
}

// Open reads a configuration and opens its executors. Its errors are
// *configfile.Error, but for a file that cannot be read.
func Open(path string) (*Runner, error) {
	o := &opener{}
	var err error
	if o.File, err = configfile.Read(path, &o.file); err != nil {
		return nil, err
	}
	return o.openRunner()
}

// Own is the executor of a runner that a devnet starts by itself: what needs neither
// network nor files. Its offline model answers for every model, and its pools are those that
// it is registered with.
func Own() (*executor.Set, *custom.Manual) {
	manual := custom.NewManual()
	language, err := llm.New(llm.Config{Models: map[string]llm.Model{llm.Offline: {}}, Default: llm.Offline})
	if err != nil {
		panic("settings: " + err.Error())
	}
	customs := custom.New(map[string]custom.Executor{"echo": custom.Echo, "sha256": custom.Sha256, manualName: manual})
	return executor.New(executor.Config{Kinds: map[push.JobKind]executor.Kind{push.JobCustom: customs, push.JobLLM: language},
		AnyPool: true}), manual
}

// opener opens what a file names.
type opener struct {
	*configfile.File
	file   file
	manual *custom.Manual
	worker *custom.Worker
}

func (o *opener) openRunner() (*Runner, error) {
	r := &Runner{Name: o.file.Name, API: o.file.API, Jobs: o.file.Jobs}
	if r.Name == "" {
		return nil, o.Fault("a runner has a name, by which logs know it", "name")
	}
	if r.Jobs == 0 {
		r.Jobs = DefaultJobs
	}
	if r.Jobs < 1 || r.Jobs > MaxJobs {
		return nil, o.Fault(fmt.Sprintf("%d is not between 1 and %d", r.Jobs, MaxJobs), "max_concurrent_jobs")
	}
	if ms := o.file.PollMS; ms != 0 && (ms < MinPollMS || ms > MaxPollMS) {
		return nil, o.Fault(fmt.Sprintf("%d is not between %d and %d milliseconds", ms, MinPollMS, MaxPollMS), "poll_ms")
	}
	r.PollEvery = time.Duration(o.file.PollMS) * time.Millisecond
	if len(o.file.Also) > MaxAlso {
		return nil, o.Fault(fmt.Sprintf("%d more URLs, at most %d", len(o.file.Also), MaxAlso), "also")
	}
	for i, api := range append([]string{r.API}, o.file.Also...) {
		if u, err := url.Parse(api); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			key := []string{"api", "also"}[min(i, 1)]
			return nil, o.Fault(fmt.Sprintf("invalid URL %.80q of a devnet's HTTP API: want one like http://127.0.0.1:4000", api), key)
		}
	}
	r.Also = o.file.Also
	if err := o.settleDriver(r); err != nil {
		return nil, err
	}
	var err error
	if r.Key, err = o.Key(o.file.Key, o.file.KeyFile); err != nil {
		return nil, err
	}
	// A runner of a supervisor's is the devnet's own. Unless it names pools, they are as Own's.
	config := executor.Config{Entitlements: o.file.Entitlements, AnyPool: r.Driver != "" && len(o.file.Entitlements) == 0}
	if text := o.file.MaxWall; text != "" {
		if config.MaxWall, err = time.ParseDuration(text); err != nil || config.MaxWall < time.Second || config.MaxWall > executor.MaxWall {
			return nil, o.Fault(fmt.Sprintf("invalid time %.40q: want 1s to %v", text, executor.MaxWall), "max_wall_time")
		}
	}
	if r.Strategy, err = roles.ParseStrategy(o.file.Strategy); err != nil {
		return nil, o.Fault(err.Error(), "supervision")
	}
	if config.Kinds, err = o.openKinds(); err != nil {
		return nil, err
	}
	if o.worker != nil {
		config.Close = o.worker.Close
	}
	r.Executor, r.Manual, r.Worker = executor.New(config), o.manual, o.worker
	return r, nil
}

// settleDriver settles who may drive the runner, and where it answers that one.
func (o *opener) settleDriver(r *Runner) error {
	r.Driver, r.Control = o.file.Driver, o.file.Control
	switch {
	case r.Driver == "" && r.Control == "":
		return nil
	case r.Driver == "":
		return o.Fault("it answers a driver, whose secret is missing: driver", "control")
	case r.Control == "":
		return o.Fault("name host:port where it answers its driver: control", "driver")
	}
	if err := configfile.CheckSecret(r.Driver); err != nil {
		return o.Fault(err.Error(), "driver")
	}
	if _, _, err := net.SplitHostPort(r.Control); err != nil {
		return o.Fault(fmt.Sprintf("invalid address %.60q: want HOST:PORT, like 127.0.0.1:4100", r.Control), "control")
	}
	return nil
}

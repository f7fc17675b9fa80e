// Package launch is what the commands that start a network or a node share: settings, the chain, captured connections.
package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
)

// Settings is what up brings a network up by: the flags, over the file of
// --config, over the defaults.
type Settings struct {
	Validators int               `toml:"validators"` // 0: those of the home, 4 for a new network
	Runners    *int              `toml:"runners"`    // nil: those of the home, 4 for a new network
	BlockTime  string            `toml:"block_time"` // "": that of the home, 1s for a new network
	Home       string            `toml:"home"`
	HTTP       string            `toml:"http"`
	Origins    []string          `toml:"cors"`  // after validate as api.ParseOrigin returns them
	Names      []string          `toml:"hosts"` // by which clients may call the API; after validate as api.ParseHost returns them
	Policy     string            `toml:"policy"`
	Seed       *uint64           `toml:"seed"` // nil: that of the home, random for a new network
	ChainID    uint64            `toml:"chain_id"`
	Durability string            `toml:"durability"`
	History    int64             `toml:"history"` // blocks; 0: all
	Strategy   roles.Strategy    `toml:"supervision"`
	Ephemeral  bool              `toml:"ephemeral"`
	Strict     bool              `toml:"strict"`
	Actors     []string          `toml:"actors"`
	ConfigOut  string            `toml:"config_out"`
	Web        string            `toml:"web"`
	Params     map[string]string `toml:"params"`

	Processes bool `toml:"processes"`

	Reset  bool `toml:"-"`
	JSON   bool `toml:"-"`
	Detach bool `toml:"-"`
	Wait   bool `toml:"-"`
	Demo   bool `toml:"-"`
	// Qlog and KeyLog apply to one run: a person who inspects connections asks for them
	// each time.
	Qlog   string `toml:"-"`
	KeyLog string `toml:"-"`

	Interval time.Duration    `toml:"-"` // BlockTime; the default for auto
	Auto     bool             `toml:"-"` // BlockTime is auto
	Survives store.Durability `toml:"-"` // Durability
	asked    bool             // for a number of validators
}

// DefaultValidators and defaultRunners are how many a new network has.
const (
	DefaultValidators = 4
	defaultRunners    = 4
)

func defaultSettings() Settings {
	return Settings{Home: command.DefaultHome, HTTP: command.DefaultHTTP, Durability: "process"}
}

// ownSettings lists the parameters with a dedicated setting.
var ownSettings = map[string]string{"chain.block_time_ms": "block_time", "chain.block_time_auto": `block_time = "auto"`, "chain.cheats": "strict"}

// policyNames are the names that the lane's policy may have.
func policyNames() []string {
	info, _ := params.Lookup(policyKey)
	return info.Words
}

const policyKey = "cip1.policy"

// Read puts flags over file over defaults, and judges the result.
func Read(c *cli.Context) (Settings, error) {
	s := defaultSettings()
	if path := c.String("config"); path != "" {
		if err := s.readFile(path); err != nil {
			return s, err
		}
	}
	if c.IsSet("supervision") {
		if err := s.Strategy.UnmarshalText([]byte(c.String("supervision"))); err != nil {
			return s, failure.NewUsage("Give restart or stop.", "--supervision: %v", err)
		}
	}
	given := map[string]func(){
		"validators": func() { s.Validators, s.asked = c.Int("validators"), true },
		"runners":    func() { s.Runners = new(c.Int("runners")) },
		"block-time": func() { s.BlockTime = c.String("block-time") },
		"home":       func() { s.Home = c.String("home") },
		"http":       func() { s.HTTP = c.String("http") },
		"host":       func() { s.Names = listen.ReadList(c, "host", s.Names) },
		"cors":       func() { s.Origins = listen.ReadList(c, "cors", s.Origins) },
		"policy":     func() { s.Policy = c.String("policy") },
		"seed":       func() { s.Seed = new(c.Uint64("seed")) },
		"history":    func() { s.History = c.Int64("history") },
		"durability": func() { s.Durability = c.String("durability") },
		"ephemeral":  func() { s.Ephemeral = c.Bool("ephemeral") },
		"strict":     func() { s.Strict = c.Bool("strict") },
		"actor":      func() { s.Actors = c.StringSlice("actor") },
		"processes":  func() { s.Processes = c.Bool("processes") },
		"config-out": func() { s.ConfigOut = c.String("config-out") },
		"web":        func() { s.Web = c.String("web") },
	}
	for flag, set := range given {
		if c.IsSet(flag) && (flag != "http" || c.String("http") != "") { // an empty DEVNET_HTTP is ignored
			set()
		}
	}
	s.Qlog, s.KeyLog = c.String("qlog"), c.String("keylog")
	s.Reset, s.JSON = c.Bool("reset"), c.Bool("json")
	s.Detach, s.Wait = c.Bool("detach"), c.Bool("wait")
	if s.Demo = c.Bool("demo"); s.Demo {
		if err := s.checkDemo(); err != nil {
			return s, err
		}
		s.Actors = slices.Concat(demoActors, s.Actors)
	}
	if rest := c.Args().Slice(); len(rest) > 0 {
		if len(s.Actors) == 0 {
			return s, failure.NewUsage("Actors are given with --actor FILE.", "%q is one argument too many", rest[0])
		}
		s.Actors = append(s.Actors, rest...)
	}
	return s, s.validateSettings()
}

// readFile reads the file of --config. Its seed is a secret, from which all keys are
// made: messages about the file repeat no value.
func (s *Settings) readFile(path string) error {
	_, err := configfile.Read(path, s)
	if errors.As(err, new(*fs.PathError)) {
		return failure.CausedBy(err, failure.NewUsage(failure.GivePath, "--config: %s", failure.DescribeFile(path, err)))
	}
	if err != nil {
		return failure.NewUsage("", "--config: %v", err)
	}
	return nil
}

// validateSettings reads the texts of s, and returns the first reason why no network can be brought up by them.
func (s *Settings) validateSettings() error {
	for _, step := range []func() error{s.checkCounts, s.readBlockTime, s.readStorage, s.checkEphemeral, s.readParams, s.readAddresses,
		s.checkStrict, s.checkActors} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) checkCounts() error {
	if s.Validators < 0 || s.Validators > setup.MaxValidators || s.Validators == 0 && s.asked {
		return failure.NewUsage("", "--validators: %d is not between 1 and %d", s.Validators, setup.MaxValidators)
	}
	if s.Runners != nil && (*s.Runners < 0 || *s.Runners > setup.MaxRunners) {
		return failure.NewUsage("", "--runners: %d is not between 0 and %d", *s.Runners, setup.MaxRunners)
	}
	return nil
}

// readBlockTime reads BlockTime into Interval and Auto.
func (s *Settings) readBlockTime() error {
	s.Interval = box.DefaultBlockTime
	switch s.BlockTime {
	case "auto":
		s.Auto = true
	case "":
	default:
		d, err := time.ParseDuration(s.BlockTime)
		if err != nil || d < 0 || d > time.Hour {
			return failure.NewUsage("Give a time like 1s, 200ms or 0s, at most 1h, or auto.", "--block-time: invalid block time %q", s.BlockTime)
		}
		s.Interval = d
	}
	return nil
}

// readStorage reads Durability into Survives, and judges how many blocks are kept.
func (s *Settings) readStorage() error {
	if err := s.Survives.UnmarshalText([]byte(s.Durability)); err != nil {
		return failure.NewUsage("Give process or disk.", "--durability: %q is neither", s.Durability)
	}
	if s.History != 0 && s.History < history.MinHistory {
		return failure.NewUsage("Give 0 to keep all blocks.",
			"--history: %d is too few: a validator that missed blocks must find them at the others, "+
				"in the last %d", s.History, history.MinHistory)
	}
	return nil
}

// checkEphemeral refuses what needs files, where none are kept.
func (s *Settings) checkEphemeral() error {
	switch {
	case !s.Ephemeral:
		return nil
	case s.Home != command.DefaultHome:
		return failure.NewConflict("--ephemeral keeps no files, so there is no --home %s", s.Home)
	case s.Processes:
		return failure.NewConflict("--ephemeral keeps no files, and the nodes of --processes each have a home")
	case s.Detach || s.Wait:
		return failure.NewUsage("Leave --ephemeral out, or run it in another terminal.",
			"--ephemeral keeps no files, by which devnet down would find a network that was left running")
	case s.Reset:
		return failure.NewConflict("--ephemeral keeps no files, so there is nothing to --reset")
	}
	return nil
}

// readParams adds Policy to Params, and judges these.
func (s *Settings) readParams() error {
	if s.Policy != "" {
		if !slices.Contains(policyNames(), s.Policy) {
			return failure.NewUsage("The policies are "+strings.Join(policyNames(), ", ")+".", "--policy: there is no policy %q", s.Policy)
		}
		if s.Params == nil {
			s.Params = map[string]string{}
		}
		s.Params[policyKey] = s.Policy
	}
	for key, setting := range ownSettings {
		if _, given := s.Params[key]; given {
			return failure.NewUsage(fmt.Sprintf("Give it as the setting %s.", setting), "[params]: a file cannot set the parameter %s", key)
		}
	}
	p := params.Defaults()
	if err := p.Apply(params.Overrides(s.Params)); err != nil {
		return failure.NewUsage("devnet params get lists the parameters of a running network.", "%s", strings.TrimPrefix(err.Error(), "params: "))
	}
	return nil
}

// readAddresses writes origins and names of hosts as the API compares them.
func (s *Settings) readAddresses() error {
	if err := listen.ReadOrigins(s.Origins); err != nil {
		return err
	}
	return listen.ReadHosts("--host", s.Names)
}

// checkStrict refuses what a strict network closes.
func (s *Settings) checkStrict() error {
	const opened = "%s lets others look into the connections, which --strict keeps closed"
	switch {
	case !s.Strict:
		return nil
	case s.Qlog != "":
		return failure.NewConflict(opened, "--qlog")
	case s.KeyLog != "":
		return failure.NewConflict(opened, "--keylog")
	case len(s.Actors) > 0:
		return failure.NewConflict("--actor signs with the devnet's keys, which --strict turns off")
	case s.Web != "":
		return failure.NewUsage("Serve the page by another program.", "--web serves a page that the devnet signs for, which --strict turns off")
	}
	return nil
}

// checkActors refuses a path of an actor's program that is no file.
func (s *Settings) checkActors() error {
	for _, file := range s.Actors {
		if _, _, carried := scenario.Carried(file); carried {
			continue
		}
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			return failure.CausedBy(err, failure.NewUsage("Give the path of a Python file.", "--actor: %s", failure.DescribeFile(file, err)))
		}
	}
	return nil
}

// AgainCommand is the command that continues a stopped network.
func (s *Settings) AgainCommand() string {
	line := self.ProgramName() + " up"
	if s.Processes {
		line += " --processes"
	}
	return line + command.HomeFlag(s.Home)
}

// Fewest nodes for the demo: it cuts one validator of four off, and three of four runners have to agree where one lies.
const (
	demoValidators = 4
	DemoRunners    = 4
)

// checkDemo says what a network lacks for the demo.
func (s *Settings) checkDemo() error {
	validators, runners := s.Validators, defaultRunners
	if validators == 0 {
		validators = demoValidators
	}
	if s.Runners != nil {
		runners = *s.Runners
	}
	switch {
	case s.Strict:
		return failure.NewConflict("--demo pays and makes faults by the devnet's own keys, and --strict has none")
	case s.Detach || s.Wait:
		return failure.NewConflict("--demo tells its story in this terminal, which --detach and --wait leave")
	case validators < demoValidators || runners < DemoRunners:
		return failure.NewUsage(fmt.Sprintf("Give at least --validators %d --runners %d, or neither.", demoValidators, DemoRunners),
			"--demo: it cuts a validator off and lets a runner lie, which takes more nodes than %s and %s",
			plural.Of(validators, "validator"), plural.Of(runners, "runner"))
	}
	return nil
}

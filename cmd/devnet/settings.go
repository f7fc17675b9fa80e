package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
)

// settings is what up brings a network up by: the flags, over the file of
// --config, over the defaults.
type settings struct {
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

	blockTime  time.Duration
	auto       bool
	durability store.Durability
	asked      bool // for a number of validators
}

// defaultValidators and defaultRunners are how many a new network has.
const (
	defaultValidators = 4
	defaultRunners    = 4
)

func defaultSettings() settings {
	return settings{Home: defaultHome, HTTP: defaultHTTP, Durability: "process"}
}

func upFlags() []cli.Flag {
	d := defaultSettings()
	return append([]cli.Flag{
		&cli.StringSliceFlag{Name: "actor", Usage: "deploy `FILE` at the first start under its name, fund it with 100 CBY, call its start; " +
			"may be given again, or name several files"},
		&cli.IntFlag{Name: "validators", DefaultText: "4", Usage: fmt.Sprintf("`N` validators, 1 to %d", setup.MaxValidators)},
		&cli.IntFlag{Name: "runners", DefaultText: strconv.Itoa(defaultRunners),
			Usage: fmt.Sprintf("`N` runners, which do jobs, 0 to %d", setup.MaxRunners)},
		&cli.StringFlag{Name: "block-time", DefaultText: "1s",
			Usage: "`TIME` between blocks, like 1s or 200ms; 0s: as fast as it goes; auto: when there is something to do"},
		&cli.StringFlag{Name: "home", Value: d.Home, Usage: "`DIR` that keeps the network's state"},
		&cli.StringFlag{Name: "http", EnvVars: []string{httpVariable}, Value: d.HTTP, Usage: "`ADDRESS` of the HTTP API; port 0: any"},
		corsFlag(),
		hostFlag(),
		&cli.StringFlag{Name: "policy", DefaultText: params.Defaults().Policy,
			Usage: "`NAME` of the timer lane's policy: " + strings.Join(policyNames(), ", ")},
		&cli.Uint64Flag{Name: "seed", Usage: "`N` from which keys and accounts are made (default for a new network: random)"},
		&cli.StringFlag{Name: "config", Usage: "`FILE` with settings, as TOML; flags win over it"},
		&cli.BoolFlag{Name: "reset", Usage: "start over: remove what the home holds"},
		&cli.BoolFlag{Name: "ephemeral", Usage: "keep no files"},
		&cli.StringFlag{Name: "durability", Value: d.Durability, Usage: "`KIND` of failure that state survives: process (kill -9) or disk " +
			"(power loss)"},
		&cli.Int64Flag{Name: "history", DefaultText: "all",
			Usage: fmt.Sprintf("`BLOCKS` to keep, with their contents, at least %d; nodes that need older blocks cannot join or rejoin",
				history.MinHistory)},
		&cli.StringFlag{Name: "supervision", DefaultText: roles.Restart.String(),
			Usage: "`HOW` a node is treated whose role panics: restart (it starts again from its disk) or stop"},
		&cli.BoolFlag{Name: "strict", Usage: "no cheats: no faucet, nothing under /devnet"},
		&cli.BoolFlag{Name: "demo", Usage: "tell a story of a minute: timers, jobs, a runner that lies, a validator that is cut off"},
		&cli.BoolFlag{Name: "processes", Usage: "run each node as a process with its own keys, settings and home below --home"},
		&cli.BoolFlag{Name: "detach", Usage: "return when the network is ready, and leave it running: devnet down stops it"},
		&cli.BoolFlag{Name: "wait", Usage: "the same, and where a network runs on --home already, wait until that is ready"},
		&cli.BoolFlag{Name: detachedFlag, Hidden: true, Usage: "leave the terminal once the network is ready; for devnet itself"},
		&cli.StringFlag{Name: "web", Usage: "serve the files of `DIR` at /app/, for a page that calls the API"},
		&cli.StringFlag{Name: "config-out", Usage: "write accounts, keys and addresses to `FILE` as JSON"},
		&cli.BoolFlag{Name: "json", Usage: "print JSON lines: the network first, then each transaction, message and fire"},
	}, watchFlags()...)
}

// ownSettings lists the parameters with a dedicated setting.
var ownSettings = map[string]string{"chain.block_time_ms": "block_time", "chain.block_time_auto": `block_time = "auto"`, "chain.cheats": "strict"}

// policyNames are the names that the lane's policy may have.
func policyNames() []string {
	info, _ := params.Lookup(policyKey)
	return info.Words
}

const policyKey = "cip1.policy"

// readSettings puts flags over file over defaults, and judges the result.
func readSettings(c *cli.Context) (settings, error) {
	s := defaultSettings()
	if path := c.String("config"); path != "" {
		if err := s.readFile(path); err != nil {
			return s, err
		}
	}
	if c.IsSet("supervision") {
		if err := s.Strategy.UnmarshalText([]byte(c.String("supervision"))); err != nil {
			return s, newUsageError("Give restart or stop.", "--supervision: %v", err)
		}
	}
	given := map[string]func(){
		"validators": func() { s.Validators, s.asked = c.Int("validators"), true },
		"runners":    func() { s.Runners = new(c.Int("runners")) },
		"block-time": func() { s.BlockTime = c.String("block-time") },
		"home":       func() { s.Home = c.String("home") },
		"http":       func() { s.HTTP = c.String("http") },
		"host":       func() { s.Names = listOf(c, "host", s.Names) },
		"cors":       func() { s.Origins = listOf(c, "cors", s.Origins) },
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
			return s, newUsageError("Actors are given with --actor FILE.", "%q is one argument too many", rest[0])
		}
		s.Actors = append(s.Actors, rest...)
	}
	return s, s.validateSettings()
}

// readFile reads the file of --config. Its seed is a secret, from which all keys are
// made: messages about the file repeat no value.
func (s *settings) readFile(path string) error {
	_, err := configfile.Read(path, s)
	if errors.As(err, new(*fs.PathError)) {
		return causedBy(err, newUsageError(givePath, "--config: %s", noFile(path, err)))
	}
	if err != nil {
		return newUsageError("", "--config: %v", err)
	}
	return nil
}

func (s *settings) validateSettings() error {
	if s.Validators < 0 || s.Validators > setup.MaxValidators || s.Validators == 0 && s.asked {
		return newUsageError("", "--validators: %d is not between 1 and %d", s.Validators, setup.MaxValidators)
	}
	if s.Runners != nil && (*s.Runners < 0 || *s.Runners > setup.MaxRunners) {
		return newUsageError("", "--runners: %d is not between 0 and %d", *s.Runners, setup.MaxRunners)
	}
	switch s.BlockTime {
	case "auto":
		s.auto, s.blockTime = true, box.DefaultBlockTime
	case "":
		s.blockTime = box.DefaultBlockTime
	default:
		d, err := time.ParseDuration(s.BlockTime)
		if err != nil || d < 0 || d > time.Hour {
			return newUsageError("Give a time like 1s, 200ms or 0s, at most 1h, or auto.", "--block-time: invalid block time %q", s.BlockTime)
		}
		s.blockTime = d
	}
	if err := s.durability.UnmarshalText([]byte(s.Durability)); err != nil {
		return newUsageError("Give process or disk.", "--durability: %q is neither", s.Durability)
	}
	if s.History != 0 && s.History < history.MinHistory {
		return newUsageError("Give 0 to keep all blocks.",
			"--history: %d is too few: a validator that missed blocks must find them at the others, "+
				"in the last %d", s.History, history.MinHistory)
	}
	if s.Ephemeral && s.Home != defaultHome {
		return newUsageError("Leave one of them out.", "--ephemeral keeps no files, so there is no --home %s", s.Home)
	}
	if s.Ephemeral && s.Processes {
		return newUsageError("Leave one of them out.", "--ephemeral keeps no files, and the nodes of --processes each have a home")
	}
	if s.Ephemeral && (s.Detach || s.Wait) {
		return newUsageError("Leave --ephemeral out, or run it in another terminal.",
			"--ephemeral keeps no files, by which devnet down would find a network that was left running")
	}
	if s.Ephemeral && s.Reset {
		return newUsageError("Leave one of them out.", "--ephemeral keeps no files, so there is nothing to --reset")
	}
	if s.Policy != "" {
		if !slices.Contains(policyNames(), s.Policy) {
			return newUsageError("The policies are "+strings.Join(policyNames(), ", ")+".", "--policy: there is no policy %q", s.Policy)
		}
		if s.Params == nil {
			s.Params = map[string]string{}
		}
		s.Params[policyKey] = s.Policy
	}
	for key, setting := range ownSettings {
		if _, given := s.Params[key]; given {
			return newUsageError(fmt.Sprintf("Give it as the setting %s.", setting), "[params]: a file cannot set the parameter %s", key)
		}
	}
	p := params.Defaults()
	if err := p.Apply(params.Overrides(s.Params)); err != nil {
		return newUsageError("devnet params get lists the parameters of a running network.", "%s", strings.TrimPrefix(err.Error(), "params: "))
	}
	if err := readOrigins(s.Origins); err != nil {
		return err
	}
	if err := readHosts("--host", s.Names); err != nil {
		return err
	}
	for flag, given := range map[string]string{"--qlog": s.Qlog, "--keylog": s.KeyLog} {
		if given != "" && s.Strict {
			return newUsageError("Leave one of them out.", "%s lets others look into the connections, which --strict keeps closed", flag)
		}
	}
	if s.Strict && len(s.Actors) > 0 {
		return newUsageError("Leave one of them out.", "--actor signs with the devnet's keys, which --strict turns off")
	}
	if s.Strict && s.Web != "" {
		return newUsageError("Serve the page by another program.", "--web serves a page that the devnet signs for, which --strict turns off")
	}
	for _, file := range s.Actors {
		if _, _, carried := scenario.Carried(file); carried {
			continue
		}
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			return causedBy(err, newUsageError("Give the path of a Python file.", "--actor: %s", noFile(file, err)))
		}
	}
	return nil
}

func corsFlag(variables ...string) cli.Flag {
	return &cli.StringSliceFlag{Name: "cors", EnvVars: variables,
		Usage: "`ORIGIN` whose pages may call the API, like http://localhost:5173; may be given again"}
}

// listOf is the values of a flag that may be given again, or of its variable: commas separate them there. An empty
// variable leaves otherwise.
func listOf(c *cli.Context, flag string, otherwise []string) (all []string) {
	for _, given := range c.StringSlice(flag) {
		for _, one := range strings.Split(given, ",") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, one)
			}
		}
	}
	if len(all) == 0 {
		return otherwise
	}
	return all
}

func hostFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "host", EnvVars: []string{api.HostVariable},
		Usage: "`NAME` by which clients may call the API, like devnet, or .example.org for all names below; may be given again"}
}

// readHosts reads names by which clients may call the API, in place. flag is where they are from.
func readHosts(flag string, all []string) error {
	if len(all) > api.MaxHosts {
		return newUsageError("Leave some out, or give .NAME for all names below NAME.", "%s: %d names are more than %d", flag, len(all),
			api.MaxHosts)
	}
	for i, text := range all {
		name, err := api.ParseHost(text)
		if err != nil {
			return newUsageError("Give what clients write between http:// and the port.", "%s: %v", flag, err)
		}
		all[i] = name
	}
	return nil
}

// readOrigins reads the origins of pages that may call the API, in place.
func readOrigins(all []string) error {
	if len(all) > api.MaxOrigins {
		return newUsageError("Leave some out.", "--cors: %d origins are more than %d", len(all), api.MaxOrigins)
	}
	for i, text := range all {
		origin, err := api.ParseOrigin(text)
		if err != nil {
			return newUsageError("Give what the address bar of the page begins with, like http://localhost:5173.", "--cors: %v", err)
		}
		all[i] = origin
	}
	return nil
}

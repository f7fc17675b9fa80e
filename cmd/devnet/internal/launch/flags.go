package launch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
)

// Flags are the flags of up.
func Flags() []cli.Flag {
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
		&cli.StringFlag{Name: "http", EnvVars: []string{command.HTTPVariable}, Value: d.HTTP, Usage: "`ADDRESS` of the HTTP API; port 0: any"},
		listen.CORSFlag(),
		listen.HostFlag(),
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
		&cli.BoolFlag{Name: DetachedFlag, Hidden: true, Usage: "leave the terminal once the network is ready; for devnet itself"},
		&cli.StringFlag{Name: "web", Usage: "serve the files of `DIR` at /app/, for a page that calls the API"},
		&cli.StringFlag{Name: "config-out", Usage: "write accounts, keys and addresses to `FILE` as JSON"},
		&cli.BoolFlag{Name: "json", Usage: "print JSON lines: the network first, then each transaction, message and fire"},
	}, WatchFlags()...)
}

// The demo's actors, which the program carries.
var demoActors = []string{"fixtures/actors/heartbeat.py", "fixtures/actors/storm.py"}

// DetachedFlag has up let the terminal go once the network is ready. It is for devnet
// itself.
const DetachedFlag = "detached"

// UpLog is the name of the log of up's own output, once no terminal shows it.
const UpLog = "up"

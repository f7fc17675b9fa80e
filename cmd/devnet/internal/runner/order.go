package runner

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// runnerOrderCommand is a command that a runner's owner gives.
func runnerOrderCommand(verb, what, more string,
	order func(*client.API, context.Context, string) (model.Runner, error)) *cli.Command {
	return &cli.Command{Name: verb, Usage: what, ArgsUsage: "NAME|ADDRESS",
		Description: "Example: devnet runner " + verb + " r0\nIts owner has to be an account or a runner of the devnet." + more,
		Flags:       []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: aboutRunner(order)}
}

func runnerReloadCommand() *cli.Command {
	return &cli.Command{Name: "reload", Usage: "make a runner of a network of processes read its settings again", ArgsUsage: "NAME|ADDRESS",
		Description: "Example: devnet runner reload r0\n" +
			"The runner sends its validators the changes of its offer; runner show prints them under says. Registry and draws\n" +
			"do not change. Any other runner reads its settings again on SIGHUP.",
		Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag}, Action: aboutRunner((*client.API).ReloadRunner)}
}

func runnerJoinCommand() *cli.Command {
	return &cli.Command{Name: "join", Usage: "register a runner; without --public-key also start it", ArgsUsage: "[NAME]",
		Description: "Example: devnet runner join\nExample: devnet runner join --public-key 0x02… --signed 0x… --capability http\n" +
			"Without --public-key it starts one more runner of the devnet: the next of r0, r1, …, or NAME. A deregistered NAME starts under " +
			"another key. It prints the runner once its registration is final.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "public-key", Usage: "register the runner with the key `0xHEX33`, compressed secp256k1"},
			&cli.StringFlag{Name: "signed", Usage: "`0xHEX65`, the signature of --public-key for the account of --from, by devnet node runner"},
			&cli.StringFlag{Name: "from", Value: "alice", Usage: "devnet `ACCOUNT` that pays fee and stake, and owns the runner"},
			&cli.StringFlag{Name: "stake", Value: "20000", Usage: "`CBY`, at least cip2.min_stake"},
			&cli.StringSliceFlag{Name: "capability", DefaultText: "custom, or what the devnet's own do", Usage: capabilityUsage},
			modelFlag,
			&cli.Uint64Flag{Name: "max-concurrent", DefaultText: "4, or 16 of the devnet's own", Usage: "`N` jobs at a time"},
			entitlementFlag, rateFlag, command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(runnerJoin)}
}

// Flags of what a runner offers.
var (
	capabilityUsage = "may be repeated: `WORD` is " + strings.Join(push.JobKinds(), ", ") +
		", or model:, domain:, server:, executor:, region: or tee: and a name"
	modelFlag       = &cli.StringSliceFlag{Name: "model", Usage: "may be repeated: it has the model `NAME`, besides its capabilities"}
	entitlementFlag = &cli.StringSliceFlag{Name: "entitlement", Usage: "may be repeated: it is in the pool `NAME`"}
	rateFlag        = &cli.StringSliceFlag{Name: "rate", Usage: "may be repeated: `WORD=WEI` like compute_second=1000, of " +
		strings.Join(api.Rates, ", ")}
)

func runnerUpdateCommand() *cli.Command {
	return &cli.Command{Name: "update", Usage: "change what a runner offers, for its owner", ArgsUsage: "NAME|ADDRESS",
		Description: "Example: devnet runner update r0 --max-concurrent 8\n" +
			"What is left out stays. Its owner has to be an account or a runner of the devnet. The next draws go by it.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "capability", Usage: capabilityUsage + "; in place of those of now"}, modelFlag,
			&cli.Uint64Flag{Name: "max-concurrent", Usage: "`N` jobs at a time"},
			entitlementFlag, &cli.BoolFlag{Name: "no-entitlement", Usage: "it is in no pool"}, rateFlag, command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(runnerUpdate)}
}

func runnerUpdate(c *cli.Context, args []string) error {
	given := command.Flags{Context: c}
	r := model.RunnerAmendment{Runner: args[0], Capability: c.StringSlice("capability"), Model: c.StringSlice("model"),
		Entitlement: c.StringSlice("entitlement"), MaxConcurrent: given.NumberOf("max-concurrent")}
	if given.Err != nil {
		return given.Err
	}
	if c.Bool("no-entitlement") {
		if len(r.Entitlement) > 0 {
			return failure.NewUsage("Leave one of the two out.", "--no-entitlement and --entitlement exclude one another")
		}
		r.Entitlement = []string{}
	}
	var err error
	if r.Rate, err = readRates(c.StringSlice("rate")); err != nil {
		return err
	}
	if len(r.Capability)+len(r.Model)+len(r.Rate) == 0 && r.Entitlement == nil && r.MaxConcurrent == nil {
		return failure.NewUsage("See devnet runner update --help.", "nothing is to be changed")
	}
	changed, err := command.NewClient(c).UpdateRunner(c.Context, r)
	return shownRunner(c, changed, err)
}

func runnerStakeCommand() *cli.Command {
	return &cli.Command{Name: "stake", Usage: "add to a runner's stake, for its owner, who pays it", ArgsUsage: "NAME|ADDRESS CBY",
		Description: "Example: devnet runner stake r0 50\nIts owner has to be an account or a runner of the devnet. A stake weighs in draws,\n" +
			"and covers jobs up to a price.",
		Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag},
		Action: command.WithArguments(func(c *cli.Context, args []string) error {
			amount, err := command.ParseAmount("CBY", args[1])
			if err != nil {
				return err
			}
			r, err := command.NewClient(c).AddStake(c.Context, model.RunnerAddition{Runner: args[0], Amount: amount})
			return shownRunner(c, r, err)
		})}
}

// readRates reads the words of --rate.
func readRates(words []string) (rates map[string]types.Wei, err error) {
	for _, text := range words {
		word, amount, _ := strings.Cut(text, "=")
		wei, err := types.ParseWei(amount)
		if err != nil {
			return nil, failure.NewUsage("Write it like compute_second=1000, in wei.", "--rate: %.80q is not WORD=WEI", text)
		}
		if rates == nil {
			rates = map[string]types.Wei{}
		}
		rates[word] = wei
	}
	return rates, nil
}

func runnerJoin(c *cli.Context, args []string) error {
	given := command.Flags{Context: c}
	r := model.RunnerRequest{From: c.String("from"), Name: args[0], PublicKey: given.NonEmptyText("public-key"),
		Stake:      given.AmountOf("stake"),
		Capability: c.StringSlice("capability"), Model: c.StringSlice("model"), MaxConcurrent: given.NumberOf("max-concurrent"),
		Entitlement: c.StringSlice("entitlement")}
	if given.Err != nil {
		return given.Err
	}
	if text := given.NonEmptyText("signed"); text != "" {
		r.Signed = new(types.Signature)
		if err := r.Signed.UnmarshalText([]byte(text)); err != nil {
			return failure.NewUsage("devnet node runner prints the whole command.", "--signed: %v", err)
		}
	}
	var err error
	if r.Rate, err = readRates(c.StringSlice("rate")); err != nil {
		return err
	}
	joined, err := command.NewClient(c).JoinRunner(c.Context, r)
	return shownRunner(c, joined, err)
}

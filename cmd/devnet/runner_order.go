package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// runnerOrderCommand is a command that a runner's owner gives.
func runnerOrderCommand(verb, what, more string,
	order func(*client.API, context.Context, string) (model.Runner, error)) *cli.Command {
	return &cli.Command{Name: verb, Usage: what, ArgsUsage: "NAME|ADDRESS",
		Description: "Example: devnet runner " + verb + " r0\nIts owner has to be an account or a runner of the devnet." + more,
		Flags:       []cli.Flag{jsonFlag, httpFlag}, Action: aboutRunner(order)}
}

func runnerReloadCommand() *cli.Command {
	return &cli.Command{Name: "reload", Usage: "make a runner of a network of processes read its settings again", ArgsUsage: "NAME|ADDRESS",
		Description: "Example: devnet runner reload r0\n" +
			"The runner sends its validators the changes of its offer; runner show prints them under says. Registry and draws\n" +
			"do not change. Any other runner reads its settings again on SIGHUP.",
		Flags: []cli.Flag{jsonFlag, httpFlag}, Action: aboutRunner((*client.API).ReloadRunner)}
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
			&cli.StringSliceFlag{Name: "capability", DefaultText: "custom", Usage: "may be repeated: `WORD` is " +
				strings.Join(push.JobKinds(), ", ") + ", or model:, domain:, server:, region: or tee: and a name"},
			&cli.Uint64Flag{Name: "max-concurrent", Value: 4, Usage: "`N` jobs at a time"},
			&cli.StringSliceFlag{Name: "entitlement", Usage: "may be repeated: it is in the pool `NAME`"},
			&cli.StringSliceFlag{Name: "rate", Usage: "may be repeated: `WORD=WEI` like compute_second=1000, of " + strings.Join(api.Rates, ", ")},
			jsonFlag, httpFlag},
		Action: taking(runnerJoin)}
}

func runnerJoin(c *cli.Context, args []string) error {
	given := flags{c: c}
	r := model.RunnerRequest{From: c.String("from"), Name: args[0], PublicKey: given.text("public-key"), Stake: given.amount("stake"),
		Capability: c.StringSlice("capability"), MaxConcurrent: given.number("max-concurrent"), Entitlement: c.StringSlice("entitlement")}
	if given.err != nil {
		return given.err
	}
	if text := given.text("signed"); text != "" {
		r.Signed = new(types.Signature)
		if err := r.Signed.UnmarshalText([]byte(text)); err != nil {
			return usage("devnet node runner prints the whole command.", "--signed: %v", err)
		}
	}
	for _, text := range c.StringSlice("rate") {
		word, amount, _ := strings.Cut(text, "=")
		wei, err := types.ParseWei(amount)
		if err != nil {
			return usage("Write it like compute_second=1000, in wei.", "--rate: %.80q is not WORD=WEI", text)
		}
		if r.Rate == nil {
			r.Rate = map[string]types.Wei{}
		}
		r.Rate[word] = wei
	}
	joined, err := network(c).JoinRunner(c.Context, r)
	return shownRunner(c, joined, err)
}

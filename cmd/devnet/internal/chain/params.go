package chain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// ParamsCommand is the command params.
func ParamsCommand() *cli.Command {
	return &cli.Command{
		Name: "params", Usage: "protocol parameters; alone it lists them all",
		Description: "Example: devnet params get cip1.policy",
		Subcommands: []*cli.Command{{
			Name: "get", Usage: "the value of a parameter, or all of them", ArgsUsage: "[KEY]",
			Description: "Example: devnet params get cip5.max_timers_per_actor",
			Flags:       command.ReadFlags,
			Action:      command.WithArguments(paramsGet),
		}, {
			Name: "set", Usage: "give a parameter a value from a height on", ArgsUsage: "KEY VALUE",
			Description: "Example: devnet params set cip3.min_basefee 10 --at 500",
			Flags: []cli.Flag{&cli.Uint64Flag{Name: "at", Usage: "apply it from height `H` on (default: the next block, or the next epoch's " +
				"first block if its class is epoch)"},
				command.JSONFlag, command.HTTPFlag},
			Action: command.WithArguments(paramsSet),
		}},
	}
}

func paramsGet(c *cli.Context, args []string) error {
	params, err := command.NewClient(c).Params(c.Context)
	if err != nil {
		return err
	}
	if args[0] == "" {
		return command.PrintAnswerOrJSON(c, params, func(w io.Writer) {
			terminal.PrintTable(w, "No parameters.", "KEY VALUE CLASS TIER DEFAULT", terminal.RowsOf(params, func(p *model.Param) []string {
				return []string{p.Key, p.Value, p.Class, cmp.Or(p.Tier, "-"), p.Default}
			}))
		})
	}
	at := slices.IndexFunc(params, func(p model.Param) bool { return p.Key == args[0] })
	if at < 0 {
		var keys []string
		for _, p := range params {
			keys = append(keys, p.Key)
		}
		hint := "devnet params get lists them all."
		if close := failure.NearWords(args[0], keys, "devnet params get"); strings.HasPrefix(close, "Did") {
			hint = close
		}
		return failure.New(hint, "there is no parameter %q", args[0])
	}
	return command.PrintAnswerOrJSON(c, params[at], func(w io.Writer) { fmt.Fprintln(w, params[at].Value) })
}

func paramsSet(c *cli.Context, args []string) error {
	p, err := command.NewClient(c).SetParam(c.Context, model.ParamRequest{Key: args[0], Value: args[1], At: types.Height(c.Uint64("at"))})
	return command.PrintAnswer(c, p, err, func(w io.Writer) {
		fmt.Fprintf(w, "%s = %s from height %d on (class %s)\n", p.Key, p.Value, p.Height, p.Class)
	})
}

package actor

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

var (
	upgradeByFlag = &cli.StringFlag{Name: "upgrade-by", Usage: "`ACCOUNT` that may give the actor new code (default: none, for good)"}

	upgradeDelayFlag = &cli.Uint64Flag{Name: "upgrade-delay",
		Usage: "`BLOCKS` from the announcement of an upgrade to its height; needs --upgrade-by"}
)

func actorUpgradeCommand() *cli.Command {
	return &cli.Command{Name: "upgrade", Usage: "give an actor new code, or change who may", ArgsUsage: "ACTOR FILE [NAME=VALUE…]",
		Description: "Example: devnet actor upgrade club club2.py price=7\nExample: devnet actor upgrade club --apply\n" +
			"Example: devnet actor upgrade club --by bob --delay 20\nExample: devnet actor upgrade club --never\n" +
			"Address, state, balance, name and timers stay. NAME=VALUE are arguments of the new code's migrate.\n" +
			"If the actor's terms have a delay, the upgrade is announced, and --apply applies it from its height on.\n" +
			"Exit code 1 when the chain refuses it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "apply", Usage: "apply the announced upgrade"},
			&cli.StringFlag{Name: "by", Usage: "hand the upgrades over to `ACCOUNT`"},
			&cli.Uint64Flag{Name: "delay", Usage: "lengthen the delay of upgrades to `BLOCKS`"},
			&cli.BoolFlag{Name: "never", Usage: "end the actor's upgrades for good"},
			&cli.StringFlag{Name: "migrate", Usage: "`PAYLOAD` of migrate instead of NAME=VALUE: JSON or other text, 0x-hex, @FILE, or -"},
			&cli.StringSliceFlag{Name: "end", Usage: "end the waiting continuations of this `NAME` when the upgrade applies; may be repeated"},
			&cli.StringFlag{Name: "code-hash", Usage: "refuse unless the actor's code has this `HASH` (default: its latest)"},
			&cli.StringFlag{Name: "from", Value: "alice", Usage: "devnet `ACCOUNT` that signs: the one of the actor's terms"},
			command.ResolveFlag, command.JSONFlag, command.HTTPFlag},
		Action: actorUpgrade}
}

// deployTerms are the terms that a deploy's flags give; nil for none.
func deployTerms(c *cli.Context) (*model.UpgradeTerms, error) {
	if by := c.String("upgrade-by"); by != "" {
		return &model.UpgradeTerms{By: by, Delay: c.Uint64("upgrade-delay")}, nil
	}
	if c.IsSet("upgrade-delay") {
		return nil, failure.NewUsage("Name the account: --upgrade-by alice", "--upgrade-delay is given without --upgrade-by")
	}
	return nil, nil
}

func actorUpgrade(c *cli.Context) error {
	changes := c.IsSet("by") || c.IsSet("delay") || c.Bool("never")
	if !changes && !c.Bool("apply") {
		return upgradeCode(c)
	}
	args, err := command.ReadArguments(c, "ACTOR")
	if err != nil {
		return err
	}
	switch {
	case changes && c.Bool("apply"):
		return failure.NewUsage("Give them in separate commands.", "--apply is given with --by, --delay or --never")
	case c.Bool("never") && (c.IsSet("by") || c.IsSet("delay")):
		return failure.NewUsage("Leave out --by and --delay.", "--never ends upgrades for good")
	case changes:
		return changeTerms(c, args[0])
	}
	u, err := command.NewClient(c).ApplyUpgrade(c.Context, model.ApplyUpgradeRequest{From: c.String("from"), Actor: args[0]})
	return printUpgrade(c, args[0], u, err)
}

// upgradeCode upgrades an actor to a file.
func upgradeCode(c *cli.Context) error {
	all := c.Args().Slice()
	args, err := all, error(nil)
	if len(all) < 3 {
		if args, err = command.ReadArguments(c, "ACTOR", "FILE"); err != nil {
			return err
		}
	}
	code, err := command.ReadActor(args[1])
	if err != nil {
		return err
	}
	if err := refuseFaultyCode(c.Context, c.App.ErrWriter, args[1], code); err != nil {
		return err
	}
	request := model.UpgradeRequest{From: c.String("from"), Actor: args[0], Code: types.Bytes(code).String(), End: c.StringSlice("end")}
	if text := c.String("code-hash"); text != "" {
		hash, err := types.ParseHash(text)
		if err != nil {
			return failure.NewUsage("Print it: devnet actor show "+args[0], "--code-hash: %v", err)
		}
		request.CodeHash = &hash
	}
	switch given := args[2:]; {
	case len(given) > 0 && c.IsSet("migrate"):
		return failure.NewUsage("Give one of them.", "--migrate is given with NAME=VALUE")
	case len(given) > 0:
		if request.Args, err = migrateArguments(code, given); err != nil {
			return err
		}
	case !c.IsSet("migrate"):
		if err := migrateMissesNothing(code); err != nil {
			return err
		}
	default:
		if request.Migrate, err = command.ResolveNames(c, c.String("migrate")); err != nil {
			return err
		}
	}
	u, err := command.NewClient(c).Upgrade(c.Context, request)
	return printUpgrade(c, args[0], u, err)
}

// migrateArguments are the arguments of migrate of the new code, whose schema this machine's
// Python reads. The network checks their values before it signs.
func migrateArguments(code []byte, given []string) (map[string]json.RawMessage, error) {
	_, h, err := migrateOf(code)
	if err != nil {
		return nil, failure.New("", "the arguments of migrate cannot be read: %v", err)
	}
	if h == nil || h.Raw {
		return nil, failure.NewUsage("Leave NAME=VALUE out, or give bytes by --migrate.", "the new code has no typed migrate")
	}
	return namedArguments(h, given)
}

// migrateMissesNothing refuses an upgrade without arguments to a typed migrate that needs some,
// since the chain would charge for it. Without Python here only the chain refuses it.
func migrateMissesNothing(code []byte) error {
	schema, h, err := migrateOf(code)
	if err != nil {
		return nil
	}
	return refuseMissing(schema, h)
}

// migrateOf returns the schema of new code, and its migrate; nil if it has none.
func migrateOf(code []byte) (*typed.Schema, *typed.Handler, error) {
	doc, err := SchemaOfCode(code)
	if err != nil {
		return nil, nil, err
	}
	schema, err := typed.Parse(doc)
	if err != nil {
		return nil, nil, err
	}
	return schema, schema.Migrate(), nil
}

func changeTerms(c *cli.Context, actor string) error {
	request := model.UpgradeTermsRequest{From: c.String("from"), Actor: actor, By: c.String("by"), Never: c.Bool("never")}
	if c.IsSet("delay") {
		request.Delay = new(c.Uint64("delay"))
	}
	r, err := command.NewClient(c).SetUpgradeTerms(c.Context, request)
	if err != nil {
		return err
	}
	return command.PrintOutcome(c, r, "the change of terms of "+actor)
}

func printUpgrade(c *cli.Context, actor string, u model.Upgraded, err error) error {
	if err != nil {
		return err
	}
	return command.PrintIfOK(c, u, u.Receipt, "the upgrade of "+actor, func(w io.Writer) {
		applies := "now"
		if u.AppliesAt != nil {
			applies = fmt.Sprintf(self.ReplaceName("from height %d on, by devnet actor upgrade %s --apply"), *u.AppliesAt, actor)
		}
		terminal.PrintFacts(w, "actor", words.Printable(actor), "from code", u.From.String(), "to code", u.To.String(), "applies", applies,
			"height", terminal.Height(u.Receipt.Height), "fee", words.CBY(u.Receipt.Fee))
		chaintext.PrintOutput(w, u.Receipt.Logs)
	})
}

// upgradesOf describes the terms and the upgrades of an actor in a line.
func upgradesOf(a *model.Actor, names *naming.Names) string {
	u := &a.Upgrades
	text := "never"
	if u.By != nil {
		text = "by " + names.Of(*u.By)
		if u.Delay > 0 {
			text += ", " + plural.Of(u.Delay, "block") + " after their announcement"
		}
	}
	if u.Done > 0 {
		text = plural.Of(u.Done, "applied upgrade") + "; more " + text
	}
	if u.Announced != nil {
		text += fmt.Sprintf("; announced: %s for heights %d to %d", u.Announced.CodeHash, u.Announced.Height, u.Announced.Until)
	}
	return text
}

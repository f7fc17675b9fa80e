package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/api/client"
	"github.com/cowboyinc/devnet/internal/api/model"
	"github.com/cowboyinc/devnet/internal/types"
)

var fromFlag = &cli.StringFlag{Name: "from", Value: "alice", Usage: "devnet `ACCOUNT` that signs"}

func actorCommand() *cli.Command {
	reads := []cli.Flag{jsonFlag, httpFlag, nodeFlag}
	return &cli.Command{
		Name: "actor", Usage: "deploy, call and look at actors",
		Description: "Example: devnet actor deploy fixtures/actors/heartbeat.py --fund 100",
		Subcommands: []*cli.Command{
			{Name: "deploy", Usage: "deploy a Python file", ArgsUsage: "FILE",
				Description: "Example: devnet actor deploy fixtures/actors/heartbeat.py --name hb --fund 100",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "name", Usage: "`NAME` that works wherever an address does (else the file's base name)"},
					&cli.StringFlag{Name: "init", Usage: "`PAYLOAD` of init: JSON or other text, or 0x-hex"},
					&cli.StringFlag{Name: "fund", Value: "0", Usage: "`CBY` to move to the actor"},
					fromFlag, jsonFlag, httpFlag},
				Action: actorDeploy},
			{Name: "call", Usage: "call a handler in a transaction", ArgsUsage: "ACTOR HANDLER [PAYLOAD]",
				Description: "Example: devnet actor call hb start\nPAYLOAD is 0x-hex, or text. Exit code 1 when the handler fails.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "value", Value: "0", Usage: "`CBY` to move along"},
					&cli.StringFlag{Name: "sponsor", Value: "0", Usage: "at most `CBY` that timers of the actor may cost the caller"},
					&cli.Uint64Flag{Name: "cycles", Usage: "cycles limit `N`"},
					&cli.Uint64Flag{Name: "cells", Usage: "cells limit `N`"},
					&cli.BoolFlag{Name: "dry-run", Usage: "only say what it would do"},
					fromFlag, jsonFlag, httpFlag},
				Action: actorCall},
			{Name: "read", Usage: "call a handler read-only", ArgsUsage: "ACTOR HANDLER [PAYLOAD]",
				Description: "Example: devnet actor read hb count",
				Flags:       append([]cli.Flag{&cli.StringFlag{Name: "from", Usage: "`ACCOUNT` that asks"}}, reads...),
				Action:      actorRead},
			{Name: "state", Usage: "an actor's state", ArgsUsage: "ACTOR [PREFIX]", Description: "Example: devnet actor state hb",
				Flags: append(append([]cli.Flag{}, reads...), pageFlags...), Action: actorState},
			{Name: "logs", Usage: "the lines an actor printed", ArgsUsage: "ACTOR", Description: "Example: devnet actor logs hb -f",
				Flags:  append(append([]cli.Flag{&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on with new lines until Ctrl-C"}}, reads...), pageFlags...),
				Action: actorLogs},
			{Name: "show", Usage: "an actor: owner, code, handlers, balance, timers", ArgsUsage: "ACTOR", Description: "Example: devnet actor show hb",
				Flags: reads, Action: actorShow},
			{Name: "list", Usage: "the deployed actors", Description: "Example: devnet actor list",
				Flags: append(append([]cli.Flag{}, reads...), pageFlags...), Action: actorList},
		},
	}
}

func actorDeploy(c *cli.Context) error {
	args, err := arguments(c, "FILE")
	if err != nil {
		return err
	}
	fund, err := parseCBY("fund", c.String("fund"))
	if err != nil {
		return err
	}
	name := c.String("name")
	if name == "" {
		name = baseName(args[0])
	}
	d, err := deployFile(c.Context, network(c), args[0], model.DeployRequest{From: c.String("from"), Name: name, Init: c.String("init"), Fund: &fund})
	if err != nil {
		return err
	}
	if err := judged(d.Receipt, "the deploy of "+args[0]); err != nil {
		if c.Bool("json") {
			_ = printJSON(c.App.Writer, d)
		}
		return err
	}
	return emit(c, d, func(w io.Writer) {
		facts(w, "name", name, "address", d.Address.String(), "height", height(d.Receipt.Height), "fee", cby(d.Receipt.Fee), "funded", cby(fund))
	})
}

// baseName is the file's name without folder and ending.
func baseName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// deployFile deploys the code in a file. One that is not UTF-8 is sent as it is,
// and refused by the chain with the reason.
func deployFile(ctx context.Context, n *client.Client, path string, r model.DeployRequest) (model.Deployed, error) {
	code, err := readFile(path)
	if err != nil {
		return model.Deployed{}, err
	}
	r.Code = types.Bytes(code).String()
	return n.Deploy(ctx, r)
}

func actorCall(c *cli.Context) error {
	args, err := arguments(c, "ACTOR", "HANDLER", "[PAYLOAD]")
	if err != nil {
		return err
	}
	value, err := parseCBY("value", c.String("value"))
	if err != nil {
		return err
	}
	sponsor, err := parseCBY("sponsor", c.String("sponsor"))
	if err != nil {
		return err
	}
	request := model.SendRequest{From: c.String("from"), To: args[0], Handler: args[1], Payload: args[2], Value: &value, Sponsor: &sponsor, DryRun: c.Bool("dry-run")}
	if c.IsSet("cycles") {
		limit := types.Cycles(c.Uint64("cycles"))
		request.CyclesLimit = &limit
	}
	if c.IsSet("cells") {
		limit := types.Cells(c.Uint64("cells"))
		request.CellsLimit = &limit
	}
	r, err := network(c).Send(c.Context, request)
	if err != nil {
		return err
	}
	if err := emit(c, r, func(w io.Writer) {
		if request.DryRun {
			fmt.Fprintln(w, "dry run, nothing was changed")
		} else {
			facts(w, "hash", r.Hash.String())
		}
		r := r
		r.Error = nil // judged says it
		printReceipt(w, r)
	}); err != nil {
		return err
	}
	return judged(r, args[0]+"."+args[1])
}

func actorRead(c *cli.Context) error {
	args, err := arguments(c, "ACTOR", "HANDLER", "[PAYLOAD]")
	if err != nil {
		return err
	}
	r, err := network(c).Read(c.Context, model.ReadRequest{Actor: args[0], Handler: args[1], Payload: args[2], From: c.String("from")})
	if err != nil {
		return err
	}
	if err := emit(c, r, func(w io.Writer) {
		for _, line := range r.Logs {
			fmt.Fprintln(c.App.ErrWriter, printable(line))
		}
		if out := value(r.Text, r.Output); out != "" {
			fmt.Fprintln(w, out)
		}
	}); err != nil {
		return err
	}
	return judged(model.Receipt{Status: r.Status, Error: r.Error}, args[0]+"."+args[1])
}

func actorState(c *cli.Context) error {
	args, err := arguments(c, "ACTOR", "[PREFIX]")
	if err != nil {
		return err
	}
	entries, err := network(c).State(c.Context, args[0], args[1], page(c))
	if err != nil {
		return err
	}
	return emit(c, entries, func(w io.Writer) {
		var rows [][]string
		for _, e := range entries {
			rows = append(rows, []string{value(model.Text(e.Key), e.Key), value(e.Text, e.Value)})
		}
		table(w, "No state.", "KEY VALUE", rows)
	})
}

func actorLogs(c *cli.Context) error {
	args, err := arguments(c, "ACTOR")
	if err != nil {
		return err
	}
	n := network(c)
	if c.Bool("follow") {
		return followLogs(c, n, args[0])
	}
	lines, err := n.Logs(c.Context, args[0], page(c))
	if err != nil {
		return err
	}
	return emit(c, lines, func(w io.Writer) {
		for _, l := range lines {
			printLine(w, l)
		}
		if len(lines) == 0 {
			fmt.Fprintln(w, "It has printed nothing.")
		}
	})
}

func printLine(w io.Writer, l model.LogLine) { fmt.Fprintf(w, "%d %s\n", l.Height, printable(l.Line)) }

func actorShow(c *cli.Context) error {
	args, err := arguments(c, "ACTOR")
	if err != nil {
		return err
	}
	a, err := network(c).Actor(c.Context, args[0])
	if err != nil {
		return err
	}
	return emit(c, a, func(w io.Writer) {
		var handlers []string
		for _, h := range a.Handlers {
			handlers = append(handlers, printable(strings.TrimSpace(h.Name+"  "+h.Doc)))
		}
		timers := strconv.FormatUint(a.Timers.Pending, 10) + " pending"
		if a.Timers.NextDue != nil {
			timers += ", the next due at " + height(*a.Timers.NextDue)
		}
		facts(w, "name", printable(a.Name), "address", a.Address.String(), "owner", a.Owner.String(), "balance", cby(a.Balance),
			"deployed at", height(a.DeployedAt), "code hash", a.CodeHash.String(), "timers", timers, "handlers", strings.Join(handlers, "\n\t"))
	})
}

func actorList(c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	actors, err := network(c).Actors(c.Context, page(c))
	if err != nil {
		return err
	}
	return emit(c, actors, func(w io.Writer) {
		var rows [][]string
		for _, a := range actors {
			name := printable(a.Name)
			if name == "" {
				name = "-"
			}
			rows = append(rows, []string{name, a.Address.String(), cby(a.Balance), strconv.FormatUint(a.Timers.Pending, 10), short(a.Owner.String())})
		}
		table(w, "No actors.", "NAME ADDRESS BALANCE TIMERS OWNER", rows)
	})
}

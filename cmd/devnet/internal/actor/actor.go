// Package actor has the commands about actors, and that which begins a project with one.
package actor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// Command is the command actor.
func Command() *cli.Command {
	reads := command.ReadFlags
	return &cli.Command{
		Name: "actor", Usage: "deploy, call and look at actors",
		Description: "Example: devnet actor deploy fixtures/actors/counter.py",
		Subcommands: []*cli.Command{
			{Name: "deploy", Usage: "deploy a Python file", ArgsUsage: "FILE [NAME=VALUE…]",
				Description: "Example: devnet actor deploy fixtures/actors/heartbeat.py --name hb --fund 100\n" +
					"A typed init takes NAME=VALUE for each argument; a list or a record is JSON. Other inits take bytes, by --init.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "name", Usage: "`NAME` that works wherever an address does (default: the file's base name)"},
					&cli.StringFlag{Name: "init", Usage: "`PAYLOAD` of init: JSON or other text, 0x-hex, @FILE, or - for standard input"},
					&cli.StringFlag{Name: "fund", Value: "0", Usage: "`CBY` to move to the actor"},
					&cli.BoolFlag{Name: "replace", Usage: "take the name from the actor that has it, which keeps its state, balance and timers"},
					&cli.BoolFlag{Name: "watch", Usage: "deploy again each time that the file changes, until Ctrl-C; needs --replace"},
					upgradeByFlag, upgradeDelayFlag, command.ResolveFlag, command.FromFlag, command.JSONFlag, command.HTTPFlag},
				Action: actorDeploy},
			actorUpgradeCommand(),
			actorCheckCommand(),
			{Name: "call", Usage: "call a handler in a transaction", ArgsUsage: "ACTOR HANDLER [PAYLOAD | NAME=VALUE…]",
				Description: "Example: devnet actor call hb start\n" + command.PayloadHelp + "\n" + typedHelp + "\nExit code 1 when the handler fails.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "value", Value: "0", Usage: "`CBY` to move along"},
					&cli.StringFlag{Name: "sponsor", Value: "0", Usage: "at most `CBY` that timers of the actor may cost the caller"},
					&cli.Uint64Flag{Name: "cycles", DefaultText: words.Grouped(uint64(wallet.DefaultCycles)), Usage: "at most `N` cycles may be used"},
					&cli.Uint64Flag{Name: "cells", DefaultText: "the payload's and " + words.Grouped(uint64(wallet.DefaultCells)),
						Usage: "at most `N` cells may be used"},
					&cli.BoolFlag{Name: "dry-run", Usage: "only say what it would do"}, command.NoWaitFlag,
					command.ResolveFlag, command.FromFlag, command.JSONFlag, command.HTTPFlag},
				Action: actorCall},
			{Name: "read", Usage: "call a handler read-only, or read typed state", ArgsUsage: "ACTOR HANDLER [PAYLOAD | NAME=VALUE…]",
				Description: "Example: devnet actor read counter count\n" + command.PayloadHelp + "\n" + typedHelp +
					"\nTyped state is read by its name, where no handler has it: price, members[3], \"len(members)\", log[bob].",
				Flags:  append([]cli.Flag{&cli.StringFlag{Name: "from", Usage: "`ACCOUNT` that asks"}, command.ResolveFlag}, reads...),
				Action: actorRead},
			actorBidCommand(), actorNewCommand(), actorClientCommand(),
			{Name: "state", Usage: "an actor's state", ArgsUsage: "ACTOR [PREFIX]", Description: "Example: devnet actor state hb",
				Flags: append(append([]cli.Flag{}, reads...), command.PageFlags...), Action: command.WithArguments(actorState)},
			{Name: "logs", Usage: "the last lines an actor printed", ArgsUsage: "ACTOR", Description: "Example: devnet actor logs hb -f",
				Flags: append(append([]cli.Flag{&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "follow new lines until Ctrl-C"},
					command.OldestFlag}, reads...), command.PageFlags...),
				Action: command.WithArguments(actorLogs)},
			{Name: "show", Usage: "an actor: owner, code, handlers, balance, timers", ArgsUsage: "ACTOR",
				Description: "Example: devnet actor show hb",
				Flags:       reads, Action: command.WithArguments(actorShow)},
			{Name: "list", Usage: "the deployed actors", Description: "Example: devnet actor list",
				Flags: append(append([]cli.Flag{}, reads...), command.PageFlags...), Action: command.WithoutArguments(actorList)},
		},
	}
}

func actorDeploy(c *cli.Context) error {
	file, given, err := deployedWith(c)
	if err != nil {
		return err
	}
	fund, err := command.ParseCBY("fund", c.String("fund"))
	if err != nil {
		return err
	}
	name := cmp.Or(c.String("name"), BaseName(file))
	terms, err := deployTerms(c)
	if err != nil {
		return err
	}
	request := model.DeployRequest{Upgrade: terms, From: c.String("from"), Name: name, Init: given.payload, Args: given.args, Fund: &fund,
		Replace: c.Bool("replace")}
	deploy := func() error { return deployByName(c, file, request) }
	if !c.Bool("watch") {
		return deploy()
	}
	if !request.Replace {
		return failure.NewUsage("The name moves to each new actor: add --replace.", "--watch: the name %s would be taken", name)
	}
	return deployChanges(c, file, deploy)
}

// deployByName deploys a file and prints the outcome.
func deployByName(c *cli.Context, file string, request model.DeployRequest) error {
	n := command.NewClient(c)
	before := ""
	if request.Replace {
		if old, err := n.Actor(c.Context, request.Name); err == nil {
			before = old.Address.String()
			if old.Timers.Pending > 0 {
				before += ", which continues with " + terminal.Count(old.Timers.Pending, "timer")
			}
		}
	}
	d, err := DeployFile(c.Context, n, c.App.ErrWriter, file, request)
	if err != nil {
		return err
	}
	return command.PrintIfOK(c, d, d.Receipt, "the deploy of "+file, func(w io.Writer) {
		terminal.PrintFacts(w, "name", request.Name, "address", d.Address.String(), "height", terminal.Height(d.Receipt.Height), "fee",
			words.CBY(d.Receipt.Fee), "funded",
			words.CBY(*request.Fund), "before", before)
		chaintext.PrintOutput(w, d.Receipt.Logs)
	})
}

// BaseName is the file's name without folder and ending.
func BaseName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// DeployFile deploys the code in a file, and says before what a deploy would refuse, since the
// chain charges for that. A machine without Python leaves it to the chain.
func DeployFile(ctx context.Context, n *client.API, stderr io.Writer, path string, r model.DeployRequest) (model.Deployed, error) {
	code, err := command.ReadActor(path)
	if err != nil {
		return model.Deployed{}, err
	}
	if err := refuseFaultyCode(ctx, stderr, path, code); err != nil {
		return model.Deployed{}, err
	}
	r.Code = types.Bytes(code).String()
	return n.Deploy(ctx, r)
}

func actorCall(c *cli.Context) error {
	value, err := command.ParseCBY("value", c.String("value"))
	if err != nil {
		return err
	}
	sponsor, err := command.ParseCBY("sponsor", c.String("sponsor"))
	if err != nil {
		return err
	}
	args, given, err := calledWith(c)
	if err != nil {
		return err
	}
	request := model.SendRequest{From: c.String("from"), To: args[0], Handler: args[1], Payload: given.payload, Args: given.args,
		Value: &value, Sponsor: &sponsor, DryRun: c.Bool("dry-run"), NoWait: c.Bool("no-wait")}
	if c.IsSet("cycles") {
		request.CyclesLimit = new(types.Cycles(c.Uint64("cycles")))
	}
	if c.IsSet("cells") {
		request.CellsLimit = new(types.Cells(c.Uint64("cells")))
	}
	if request.DryRun {
		return dryRun(c, request)
	}
	r, err := command.NewClient(c).Send(c.Context, request)
	if err != nil {
		return err
	}
	if request.NoWait {
		return command.PrintAnswerOrJSON(c, r, func(w io.Writer) { fmt.Fprintln(w, r.Hash) })
	}
	return command.PrintOutcome(c, r, args[0]+"."+args[1])
}

// dryRun says what a call would do.
func dryRun(c *cli.Context, request model.SendRequest) error {
	n := command.NewClient(c)
	r, err := n.Try(c.Context, request)
	if err != nil {
		return err
	}
	if err := command.PrintAnswerOrJSON(c, r, func(w io.Writer) {
		fmt.Fprintln(w, "dry run, nothing was changed")
		shown := r.Receipt
		shown.Error = nil // judged says it
		chaintext.PrintReceipt(w, shown)
		if r.Trace == nil {
			return
		}
		names := command.NewNames(c.Context, n)
		words.Changes(w, r.Trace, names.Of)
		words.Scheduled(w, r.Trace, names.Of)
	}); err != nil {
		return err
	}
	r.Receipt.Hash = types.Hash{} // of nothing that can be looked up
	return command.FailureOf(r.Receipt, request.To+"."+request.Handler)
}

func actorRead(c *cli.Context) error {
	args, given, err := calledWith(c)
	if err != nil {
		return err
	}
	r, err := command.NewClient(c).Read(c.Context, model.ReadRequest{Actor: args[0], Handler: args[1], Payload: given.payload,
		Args: given.args, From: c.String("from")})
	if err != nil {
		return err
	}
	if err := command.PrintAnswerOrJSON(c, r, func(w io.Writer) {
		for _, line := range r.Logs {
			fmt.Fprintln(c.App.ErrWriter, words.Printable(line))
		}
		if out := words.Value(r.Output); out != "" {
			fmt.Fprintln(w, out)
		}
	}); err != nil {
		return err
	}
	return command.FailureOf(model.Receipt{Status: r.Status, Error: r.Error}, args[0]+"."+args[1])
}

func actorState(c *cli.Context, args []string) error {
	get := func(p client.Page) iter.Seq2[model.StateEntry, error] {
		return command.NewClient(c).State(c.Context, args[0], args[1], p)
	}
	return command.PrintPage(c, "more keys", get, stateTable)
}

func actorLogs(c *cli.Context, args []string) error {
	n := command.NewClient(c)
	if c.Bool("follow") {
		return followLogs(c, n, args[0])
	}
	lines, more, err := lastLines(c, n, args[0])
	return command.PrintAnswer(c, lines, err, func(w io.Writer) {
		if !c.Bool("oldest") {
			command.NoteMoreRows(w, "earlier lines", more, len(lines), c)
		}
		for _, l := range lines {
			printLine(w, l)
		}
		if c.Bool("oldest") {
			command.NoteMoreRows(w, "later lines", more, len(lines), c)
		}
		if len(lines) == 0 {
			fmt.Fprintf(w, self.ReplaceName("It has printed nothing. Print its error: devnet actor show %s\n"), args[0])
		}
	})
}

// lastLines are the lines of an actor that were asked for, in the order in which
// they were printed, and whether there are more.
func lastLines(c *cli.Context, n *client.API, actor string) ([]model.LogLine, bool, error) {
	lines, more, err := command.PageOf(c, func(p client.Page) iter.Seq2[model.LogLine, error] { return n.Logs(c.Context, actor, p) })
	if !c.Bool("oldest") {
		slices.Reverse(lines)
	}
	return lines, more, err
}

// stateTable prints values as bytes and with their possible readings: the state
// itself knows only bytes.
func stateTable(w io.Writer, entries []model.StateEntry) {
	if slices.ContainsFunc(entries, func(e model.StateEntry) bool { return e.Typed != nil }) {
		typedStateTable(w, entries)
		return
	}
	terminal.PrintTable(w, "No state.", "KEY BYTES AS_INT AS_TEXT", terminal.RowsOf(entries, func(e *model.StateEntry) []string {
		bytes, text := words.ShortBytes(e.Value), e.Text
		if len(entries) == 1 {
			bytes = e.Value.String()
		}
		if len([]rune(text)) > terminal.MaxShownText && len(entries) > 1 {
			text = string([]rune(text)[:terminal.MaxShownText]) + "…"
		}
		number := "-"
		if e.Int != "" && len(e.Value) <= maxShownInt {
			number = e.Int
		}
		return []string{words.Value(e.Key), bytes, number, terminal.Quote(text)}
	}))
}

// typedStateTable prints attributes with their values by the schema, next to the bytes if
// that fits. A key that no attribute has, and a value of another type, are shown only as
// bytes.
func typedStateTable(w io.Writer, entries []model.StateEntry) {
	rows := terminal.RowsOf(entries, func(e *model.StateEntry) []string {
		key, typed, bytes := words.Value(e.Key), "-", words.ShortBytes(e.Value)
		if e.Typed != nil {
			key = words.Printable(e.Typed.Attribute)
			if e.Typed.Value != nil {
				typed = words.Printable(string(e.Typed.Value))
			}
		}
		if len(entries) == 1 {
			bytes = e.Value.String()
		}
		return []string{key, typed, bytes}
	})
	if fitTerminal(terminal.AlignColumns(rows)) {
		terminal.PrintTable(w, "No state.", "KEY VALUE BYTES", rows)
		return
	}
	most := maxValueLines
	if len(rows) == 1 {
		most = math.MaxInt
	}
	for _, row := range rows {
		shown := row[1]
		if shown == "-" {
			shown = row[2]
		}
		keyAndValue(w, row[0], shown, most)
	}
}

// maxValueLines is how many lines of a value are shown, unless it is the only one.
const maxValueLines = 3

// fitTerminal reports whether lines fit on every terminal.
func fitTerminal(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return utf8.RuneCountInString(line) > terminal.TextColumns })
}

// keyAndValue prints a key and its value in one line, or the value below in at most most lines.
func keyAndValue(w io.Writer, key, value string, most int) {
	if line := key + "  " + value; fitTerminal([]string{line}) {
		fmt.Fprintln(w, line)
		return
	}
	for part := range slices.Chunk([]rune(key), terminal.TextColumns) {
		fmt.Fprintln(w, string(part))
	}
	const under = "    "
	parts := slices.Collect(slices.Chunk([]rune(value), terminal.TextColumns-len(under)))
	if len(parts) > most {
		parts = parts[:most]
		parts[most-1][len(parts[most-1])-1] = '…'
	}
	for _, part := range parts {
		fmt.Fprintln(w, under+string(part))
	}
}

// maxShownInt is how many bytes of a value may be a number: longer ones are ids
// and addresses.
const maxShownInt = 16

func printLine(w io.Writer, l model.LogLine) {
	fmt.Fprintf(w, "%d %s\n", l.Height, words.Printable(l.Line))
}

func actorShow(c *cli.Context, args []string) error {
	n := command.NewClient(c)
	a, err := n.Actor(c.Context, args[0])
	if err != nil {
		return err
	}
	failures, err := client.Collect(n.Failures(c.Context, a.Address.String(), chaintext.FailureBlocks,
		client.Page{Limit: chaintext.MaxShownFailures}))
	if err != nil {
		return err
	}
	fires, err := estimateMoreFires(c.Context, n, &a)
	if err != nil {
		return err
	}
	doc, err := n.Schema(c.Context, a.Address.String())
	if command.RefusedAs(err, "no_schema") {
		doc, err = nil, nil
	}
	if err != nil {
		return err
	}
	return command.PrintAnswerOrJSON(c, struct {
		model.Actor
		Failures []model.Receipt `json:"failures"`
		Fires    *moreFires      `json:"fires"`
		Schema   json.RawMessage `json:"schema,omitempty"`
	}{a, failures, fires, doc}, func(w io.Writer) {
		timers := strconv.FormatUint(a.Timers.Pending, 10) + " pending"
		if a.Timers.NextDue != nil {
			timers += ", the next due at " + terminal.Height(*a.Timers.NextDue)
		}
		terminal.PrintFacts(w, "name", words.Printable(a.Name), "address", a.Address.String(), "owner", a.Owner.String(), "balance",
			words.CBY(a.Balance), "deployed at", terminal.Height(a.DeployedAt), "code hash", a.CodeHash.String(), "deployed as", deployedAs(&a),
			"upgrades", inColumn(upgradesOf(&a, command.NewNames(c.Context, n))), "timers", timers, "fires", inColumn(fires.String()),
			"handlers", strings.Join(handlerLines(&a, doc), "\n\t"))
		if len(failures) > 0 {
			fmt.Fprintf(w, "\nFailed in the last %d blocks, the latest first:\n", chaintext.FailureBlocks)
			chaintext.PrintExecutions(w, command.NewNames(c.Context, n), failures, true)
		}
	})
}

// deployedAs is the hash of the code of the deploy, "" if the actor still has that.
func deployedAs(a *model.Actor) string {
	if a.DeployedAs == a.CodeHash {
		return ""
	}
	return a.DeployedAs.String()
}

// handlerLines are the handlers of an actor, typed ones by their signatures. Documentation
// that does not fit next to a signature is below it.
func handlerLines(a *model.Actor, doc []byte) (lines []string) {
	const under = "  " // indents lines below the first
	schema, err := typed.Parse(doc)
	for _, h := range a.Handlers {
		called := h.Name
		if err == nil {
			if found := schema.Handler(h.Name); found != nil && !found.Raw {
				called = HandlerSignature(schema, found)
			}
		}
		called, about := words.Printable(called), words.Printable(strings.TrimSpace(h.Doc))
		paragraphs := []string{strings.TrimSpace(called + "  " + about)}
		if utf8.RuneCountInString(paragraphs[0]) > factColumns && strings.Contains(called, "(") {
			paragraphs = []string{called, about}
		}
		handler := terminal.Wrap(strings.Join(paragraphs, "\n"), under, factColumns)
		lines = append(lines, strings.Split(strings.TrimSpace(handler), "\n")...)
	}
	return lines
}

// factColumns is how wide the facts of an actor may be next to their names.
const factColumns = terminal.TextColumns - len("deployed at  ")

// inColumn is a fact in lines that fit next to its name.
func inColumn(fact string) string {
	return strings.ReplaceAll(terminal.Wrap(fact, "", factColumns), "\n", "\n\t")
}

func actorList(c *cli.Context) error {
	get := func(p client.Page) iter.Seq2[model.Actor, error] { return command.NewClient(c).Actors(c.Context, p) }
	return command.PrintPage(c, "more actors", get, func(w io.Writer, actors []model.Actor) {
		terminal.PrintTable(w, "No actors.", "NAME ADDRESS BALANCE TIMERS", terminal.RowsOf(actors, func(a *model.Actor) []string {
			return []string{cmp.Or(words.Printable(a.Name), "-"), a.Address.String(), words.CBY(a.Balance), strconv.FormatUint(a.Timers.Pending, 10)}
		}))
	})
}

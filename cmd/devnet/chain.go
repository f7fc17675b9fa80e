package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func blockCommand() *cli.Command {
	return &cli.Command{
		Name: "block", Usage: "a final block: the latest, or by height or hash", ArgsUsage: "[HEIGHT|HASH|latest]",
		Description: "Example: devnet block 12",
		Flags:       readFlags,
		Action: withArguments(func(c *cli.Context, args []string) error {
			n := networkClient(c)
			b, err := n.Block(c.Context, cmp.Or(args[0], "latest"))
			if err != nil {
				return err
			}
			present, err := presenceOf(c, n, &b)
			if err != nil {
				return err
			}
			executed, err := client.Collect(n.BlockReceipts(c.Context, plainHeight(b.Height), client.Page{Limit: maxPage}))
			if err != nil {
				return err
			}
			return printAnswerOrJSON(c, struct {
				model.Block
				Receipts []model.Receipt `json:"receipts"`
			}{b, executed}, func(w io.Writer) { printBlock(w, b, present, executed, newNaming(c.Context, n)) })
		}),
	}
}

// presenceOf returns the runners that the votes in a block show; "" without votes.
func presenceOf(c *cli.Context, n *client.API, b *model.Block) (string, error) {
	if c.Bool("json") || !slices.ContainsFunc(b.Votes, func(v model.Vote) bool { return v.BitLength > 0 }) {
		return "", nil
	}
	p, err := n.Presence(c.Context, b.Height-1)
	if err != nil {
		return "", err
	}
	there := countWhere(p.Runners, func(r *model.RunnerPresence) bool { return r.Present })
	return fmt.Sprintf("%d of %d present in block %d: by %s, shown by at least %s", there, len(p.Runners), p.Height, p.Rule,
		plural.Of(p.Threshold, "vote")), nil
}

func printBlock(w io.Writer, b model.Block, present string, executed []model.Receipt, names *naming) {
	printFacts(w, "height", plainHeight(b.Height), "hash", b.Hash.String(), "parent", b.Parent.String(), "proposer", names.nameOf(b.Proposer),
		"time", time.UnixMilli(int64(b.TimestampMS)).UTC().Format(time.RFC3339Nano), "view", strconv.FormatUint(uint64(b.View), 10),
		"epoch", strconv.FormatUint(uint64(b.Epoch), 10), "state root", b.StateRoot.String(),
		"used", fmt.Sprintf("%d cycles (%d by timers), %d cells", b.CyclesUsed, b.TimerCyclesUsed, b.CellsUsed),
		"base fees", fmt.Sprintf("%s wei a cycle, %s a cell, timer lane %s", b.BaseFeeCycle, b.BaseFeeCell, b.BaseFeeLaneTimer),
		"deferred", timersOf(b.TimersDeferred), "expired", timersOf(b.TimersExpired), "unpaid", timersOf(b.TimersInsufficient),
		"passed over", passedOver(&b.Passed), "runners", present)
	if len(executed) > 0 {
		fmt.Fprintln(w)
		printExecutions(w, names, executed[:min(len(executed), maxShownExecuted)], false)
		if len(executed) > maxShownExecuted {
			fmt.Fprintln(w, "… and more: --json")
		}
	}
	printEvents(w, b.Events[:min(len(b.Events), maxShownEvents)])
	if more := len(b.Events) - maxShownEvents; more > 0 {
		fmt.Fprintf(w, "… and %d more events: --json\n", more)
	}
}

// passedOver lists the items that a proposer skipped because its host of programs
// failed or its time was over (decision C18).
func passedOver(p *model.Passed) string {
	var parts []string
	if len(p.Timers) > 0 {
		parts = append(parts, timersOf(p.Timers))
	}
	if n := len(p.Messages); n > 0 {
		parts = append(parts, plural.Of(n, "message"))
	}
	if n := len(p.Agents); n > 0 {
		parts = append(parts, plural.Of(n, "gas bidding agent"))
	}
	if n := len(p.Late); n > 0 {
		parts = append(parts, plural.Of(n, "late transaction"))
	}
	if len(parts) > 0 {
		parts = []string{"host_failed over " + strings.Join(parts, ", ")}
	}
	if len(p.Stopped) > 0 {
		parts = append(parts, "no time for more "+strings.Join(p.Stopped, ", "))
	}
	if p.Waiting > 0 {
		parts = append(parts, plural.Of(int(min(p.Waiting, 1<<31)), "item")+" left for another block")
	}
	return strings.Join(parts, "; ")
}

// timersOf counts timers and names the first of them.
func timersOf(ids []types.TimerID) string {
	if len(ids) == 0 {
		return ""
	}
	const few = 3
	text := countWords(len(ids), "timer") + ":"
	for _, id := range ids[:min(few, len(ids))] {
		text += " " + short(id.String())
	}
	if len(ids) > few {
		text += " …"
	}
	return text
}

// countWords is a number of things with the thousands of the number apart.
func countWords[N ~int | ~uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return groupDigits(uint64(n)) + " " + what + "s"
}

// Limits of the shown lines of a block's executions, and of the blocks searched for
// an actor's failures.
const (
	maxShownExecuted = 50
	maxShownFailures = 5
	failureBlocks    = 100
)

// printExecutions prints a line for each execution, and its failure below.
func printExecutions(w io.Writer, names *naming, executed []model.Receipt, heights bool) {
	rows := rowsOf(executed, func(r *model.Receipt) []string {
		row := []string{short(r.Hash.String()), executedWhat(r, names), r.Status, groupDigits(uint64(r.Cycles)) + " cycles",
			amountWords(r.Fee) + " CBY"}
		if heights {
			row = append([]string{"block " + plainHeight(r.Height)}, row...)
		}
		return row
	})
	for i, line := range alignColumns(rows) {
		fmt.Fprintln(w, line)
		printFault(w, executed[i].Error)
	}
}

// executedWhat says who called what. A fire's sender is its actor.
func executedWhat(r *model.Receipt, names *naming) string {
	switch {
	case r.Origin == string(types.OriginTimer):
		return names.nameOf(r.To) + "." + printable(r.Handler) + " fired"
	case r.Origin == string(types.OriginMessage):
		return names.nameOf(r.Sender) + " → " + names.nameOf(r.To) + "." + printable(r.Handler) + " (message)"
	case r.Handler != "":
		return names.nameOf(r.Sender) + " → " + names.nameOf(r.To) + "." + printable(r.Handler)
	case r.To == types.Address{}:
		return names.nameOf(r.Sender) + " → the chain"
	}
	return names.nameOf(r.Sender) + " → " + names.nameOf(r.To)
}

// alignColumns puts rows into columns, without spaces at the ends of lines.
func alignColumns(rows [][]string) []string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush()
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// printFault prints why an execution failed, indented below its line.
func printFault(w io.Writer, f *model.Fault) {
	if f != nil {
		fmt.Fprintln(w, indentText(f.Code+": "+printable(strings.TrimSpace(f.Message))))
	}
}

// indentText puts text below the line it belongs to.
func indentText(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

func accountCommand() *cli.Command {
	return &cli.Command{
		Name: "account", Usage: "nonce and balance of an account, by address or name", ArgsUsage: "[ADDRESS|NAME]",
		Description: "Example: devnet account alice\nWithout an argument: the accounts that the devnet signs for.",
		Flags:       readFlags,
		Action:      withArguments(showAccount),
	}
}

func showAccount(c *cli.Context, args []string) error {
	if args[0] == "" {
		accounts, err := networkClient(c).Accounts(c.Context)
		return printAnswer(c, accounts, err, func(w io.Writer) { accountTable(w, accounts) })
	}
	a, err := networkClient(c).Account(c.Context, args[0])
	return printAnswer(c, a, err, func(w io.Writer) {
		printFacts(w, "address", a.Address.String(), "name", printable(a.Name), "nonce", strconv.FormatUint(uint64(a.Nonce), 10), "balance",
			cby(a.Balance))
	})
}

func accountTable(w io.Writer, accounts []model.DevnetAccount) {
	printTable(w, "No accounts.", "NAME ADDRESS NONCE BALANCE", rowsOf(accounts, func(a *model.DevnetAccount) []string {
		return []string{a.Name, a.Address.String(), strconv.FormatUint(uint64(a.Nonce), 10), cby(a.Balance)}
	}))
}

func paramsCommand() *cli.Command {
	return &cli.Command{
		Name: "params", Usage: "protocol parameters; alone it lists them all",
		Description: "Example: devnet params get cip1.policy",
		Subcommands: []*cli.Command{{
			Name: "get", Usage: "the value of a parameter, or all of them", ArgsUsage: "[KEY]",
			Description: "Example: devnet params get cip5.max_timers_per_actor",
			Flags:       readFlags,
			Action:      withArguments(paramsGet),
		}, {
			Name: "set", Usage: "give a parameter a value from a height on", ArgsUsage: "KEY VALUE",
			Description: "Example: devnet params set cip3.min_basefee 10 --at 500",
			Flags: []cli.Flag{&cli.Uint64Flag{Name: "at", Usage: "apply it from height `H` on (default: the next block, or the next epoch's " +
				"first block if its class is epoch)"},
				jsonFlag, httpFlag},
			Action: withArguments(paramsSet),
		}},
	}
}

func paramsGet(c *cli.Context, args []string) error {
	params, err := networkClient(c).Params(c.Context)
	if err != nil {
		return err
	}
	if args[0] == "" {
		return printAnswerOrJSON(c, params, func(w io.Writer) {
			printTable(w, "No parameters.", "KEY VALUE CLASS TIER DEFAULT", rowsOf(params, func(p *model.Param) []string {
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
		if close := nearWords(args[0], keys, "devnet params get"); strings.HasPrefix(close, "Did") {
			hint = close
		}
		return newFailure(hint, "there is no parameter %q", args[0])
	}
	return printAnswerOrJSON(c, params[at], func(w io.Writer) { fmt.Fprintln(w, params[at].Value) })
}

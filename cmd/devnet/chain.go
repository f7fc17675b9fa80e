package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/api/model"
	"github.com/cowboyinc/devnet/internal/types"
)

func blockCommand() *cli.Command {
	return &cli.Command{
		Name: "block", Usage: "a final block: the latest, or by height or hash", ArgsUsage: "[HEIGHT|HASH|latest]",
		Description: "Example: devnet block 12",
		Flags:       []cli.Flag{jsonFlag, httpFlag, nodeFlag},
		Action: func(c *cli.Context) error {
			args, err := arguments(c, "[HEIGHT|HASH|latest]")
			if err != nil {
				return err
			}
			if args[0] == "" {
				args[0] = "latest"
			}
			b, err := network(c).Block(c.Context, args[0])
			if err != nil {
				return err
			}
			return emit(c, b, func(w io.Writer) { printBlock(w, b) })
		},
	}
}

func printBlock(w io.Writer, b model.Block) {
	facts(w, "height", height(b.Height), "hash", b.Hash.String(), "parent", b.Parent.String(), "proposer", b.Proposer.String(),
		"time", b.TimestampMS.Time().Std().Format(time.RFC3339Nano), "view", strconv.FormatUint(uint64(b.View), 10),
		"epoch", strconv.FormatUint(uint64(b.Epoch), 10), "state root", b.StateRoot.String(),
		"used", fmt.Sprintf("%d cycles (%d by timers), %d cells", b.CyclesUsed, b.TimerCyclesUsed, b.CellsUsed),
		"base fees", fmt.Sprintf("%s wei a cycle, %s a cell, timer lane %s", b.BaseFeeCycle, b.BaseFeeCell, b.BaseFeeLaneTimer),
		"transactions", strings.Join(hashes(b.Transactions), "\n\t"),
		"timers fired", strings.Join(hashes(b.TimersFired), "\n\t"),
		"timers deferred", strings.Join(hashes(b.TimersDeferred), "\n\t"),
		"timers expired", strings.Join(hashes(b.TimersExpired), "\n\t"),
		"timers unpaid", strings.Join(hashes(b.TimersInsufficient), "\n\t"))
	printEvents(w, b.Events[:min(len(b.Events), maxShownEvents)])
	if more := len(b.Events) - maxShownEvents; more > 0 {
		fmt.Fprintf(w, "… and %d more events: --json\n", more)
	}
}

func hashes(list []types.Hash) (out []string) {
	for _, h := range list {
		out = append(out, h.String())
	}
	return out
}

func txCommand() *cli.Command {
	return &cli.Command{
		Name: "tx", Usage: "a transaction and its receipt", ArgsUsage: "HASH",
		Description: "Example: devnet tx 0x2f…9c",
		Flags:       []cli.Flag{jsonFlag, httpFlag, nodeFlag},
		Action:      tx,
	}
}

func tx(c *cli.Context) error {
	args, err := arguments(c, "HASH")
	if err != nil {
		return err
	}
	n := network(c)
	t, err := n.Transaction(c.Context, args[0])
	if err != nil {
		return err
	}
	var receipt *model.Receipt
	if t.Status == "final" {
		r, err := n.Receipt(c.Context, args[0])
		if err != nil {
			return err
		}
		receipt = &r
	}
	return emit(c, struct {
		Transaction model.Transaction `json:"transaction"`
		Receipt     *model.Receipt    `json:"receipt"`
	}{t, receipt}, func(w io.Writer) {
		to := ""
		if t.To != nil {
			to = t.To.String()
		}
		sponsor := "" // most transactions state none
		if !t.Sponsor.IsZero() {
			sponsor = cby(t.Sponsor)
		}
		facts(w, "hash", t.Hash.String(), "from", t.Sender.String(), "to", to, "nonce", strconv.FormatUint(uint64(t.Nonce), 10),
			"kind", t.Kind, "handler", printable(t.Handler), "value", cby(t.Value), "sponsor", sponsor,
			"limits", fmt.Sprintf("%d cycles, %d cells", t.CyclesLimit, t.CellsLimit))
		if receipt == nil {
			fmt.Fprintln(w, "It waits in a pool: no final block holds it yet.")
			return
		}
		printReceipt(w, *receipt)
	})
}

// printReceipt prints how an execution ended.
func printReceipt(w io.Writer, r model.Receipt) {
	facts(w, "status", r.Status, "height", height(r.Height), "used", fmt.Sprintf("%d cycles, %d cells", r.Cycles, r.Cells),
		"fee", cby(r.Fee), "output", value(model.Text(r.Output), r.Output))
	printEvents(w, r.Events)
	if r.Error != nil {
		fmt.Fprintf(w, "%s: %s\n", r.Error.Code, printable(r.Error.Message))
	}
}

// judged turns a receipt that is not ok into a failed command.
func judged(r model.Receipt, what string) error {
	if r.Status == string(types.StatusOK) {
		return nil
	}
	detail := ""
	if r.Error != nil {
		detail = ": " + printable(r.Error.Message)
	}
	return failed("", "%s ended with status %s%s", what, r.Status, detail)
}

func accountCommand() *cli.Command {
	return &cli.Command{
		Name: "account", Usage: "nonce and balance of an account, by address or name", ArgsUsage: "[ADDRESS|NAME]",
		Description: "Example: devnet account alice\nWithout an argument: the accounts that the devnet signs for.",
		Flags:       []cli.Flag{jsonFlag, httpFlag, nodeFlag},
		Action:      account,
	}
}

func account(c *cli.Context) error {
	args, err := arguments(c, "[ADDRESS|NAME]")
	if err != nil {
		return err
	}
	if args[0] == "" {
		accounts, err := network(c).Accounts(c.Context)
		if err != nil {
			return err
		}
		return emit(c, accounts, func(w io.Writer) { accountTable(w, accounts) })
	}
	a, err := network(c).Account(c.Context, args[0])
	if err != nil {
		return err
	}
	return emit(c, a, func(w io.Writer) {
		facts(w, "address", a.Address.String(), "name", printable(a.Name), "nonce", strconv.FormatUint(uint64(a.Nonce), 10), "balance", cby(a.Balance))
	})
}

func accountTable(w io.Writer, accounts []model.DevnetAccount) {
	var rows [][]string
	for _, a := range accounts {
		rows = append(rows, []string{a.Name, a.Address.String(), strconv.FormatUint(uint64(a.Nonce), 10), cby(a.Balance)})
	}
	table(w, "No accounts.", "NAME ADDRESS NONCE BALANCE", rows)
}

func paramsCommand() *cli.Command {
	return &cli.Command{
		Name: "params", Usage: "protocol parameters; alone it lists them all",
		Description: "Example: devnet params get cip1.policy",
		Subcommands: []*cli.Command{{
			Name: "get", Usage: "the value of a parameter, or all of them", ArgsUsage: "[KEY]",
			Description: "Example: devnet params get cip5.max_timers_per_actor",
			Flags:       []cli.Flag{jsonFlag, httpFlag, nodeFlag},
			Action:      paramsGet,
		}, {
			Name: "set", Usage: "give a parameter a value from a height on", ArgsUsage: "KEY VALUE",
			Description: "Example: devnet params set cip3.min_basefee 10 --at 500",
			Flags: []cli.Flag{&cli.Uint64Flag{Name: "at", Usage: "from height `H` on; else the next block's or, where its class is epoch, the next epoch's first"},
				jsonFlag, httpFlag},
			Action: paramsSet,
		}},
	}
}

func paramsGet(c *cli.Context) error {
	args, err := arguments(c, "[KEY]")
	if err != nil {
		return err
	}
	params, err := network(c).Params(c.Context)
	if err != nil {
		return err
	}
	if args[0] == "" {
		return emit(c, params, func(w io.Writer) {
			var rows [][]string
			for _, p := range params {
				rows = append(rows, []string{p.Key, p.Value, p.Class, p.Default})
			}
			table(w, "No parameters.", "KEY VALUE CLASS DEFAULT", rows)
		})
	}
	at := slices.IndexFunc(params, func(p model.Param) bool { return p.Key == args[0] })
	if at < 0 {
		var keys []string
		for _, p := range params {
			keys = append(keys, p.Key)
		}
		hint := "devnet params get lists them all."
		if close := near(args[0], keys, "devnet params get"); strings.HasPrefix(close, "Did") {
			hint = close
		}
		return failed(hint, "there is no parameter %q", args[0])
	}
	return emit(c, params[at], func(w io.Writer) { fmt.Fprintln(w, params[at].Value) })
}

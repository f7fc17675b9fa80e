package actor

import (
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

func actorBidCommand() *cli.Command {
	return &cli.Command{Name: "bid", Usage: "ask an actor's get_gas_bid, without a timer", ArgsUsage: "BIDDER",
		Description: "Example: devnet actor bid liquidator --late 3 --with last_block_cycle_usage=15000000\n" +
			"It answers as in the next block, but charges no account and keeps nothing.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Usage: "ask for a timer of this `ACTOR` (default: BIDDER's own)"},
			&cli.Uint64Flag{Name: "late", Usage: "ask for a timer that has been due for `N` blocks"},
			&cli.StringSliceFlag{Name: "with", Usage: "tell it `NAME=NUMBER` instead: a height, or an amount in wei; may be given again"},
			command.JSONFlag, command.HTTPFlag, command.NodeFlag, command.AtFlag},
		Action: command.WithArguments(actorBid)}
}

func actorBid(c *cli.Context, args []string) error {
	with, err := numbersOf("with", c.StringSlice("with"))
	if err != nil {
		return err
	}
	bid, err := command.NewClient(c).TryBid(c.Context,
		model.BidRequest{Bidder: args[0], Actor: c.String("for"), Late: types.Height(c.Uint64("late")), With: with})
	if err != nil {
		return err
	}
	if err := command.PrintAnswerOrJSON(c, bid, func(w io.Writer) { printBid(w, &bid, with) }); err != nil {
		return err
	}
	if bid.Status != string(types.StatusOK) || !bid.Answered {
		return failure.New("The protocol's own agent bids for such a timer, and its story names the failure.",
			"%s.get_gas_bid gave no bid%s", args[0], whyNoBid(&bid))
	}
	return nil
}

func whyNoBid(bid *model.BidTrial) string {
	if bid.Error != nil {
		return ": " + bid.Error.Code + ": " + words.Printable(strings.TrimSpace(bid.Error.Message))
	}
	return ": it did not return a TxFeeParams: " + words.Value(bid.Output)
}

// numbersOf reads NAME=NUMBER in the form of flags.
func numbersOf(flag string, given []string) (map[string]types.Wei, error) {
	all := map[string]types.Wei{}
	for _, text := range given {
		name, number, is := strings.Cut(text, "=")
		n, whole := new(big.Int).SetString(number, 10)
		if !is || name == "" || !whole {
			return nil, failure.NewUsage("Give a name of the context and a whole number, like basefee_cycle=100.", "--%s: %q is not NAME=NUMBER",
				flag, text)
		}
		wei, fits := types.WeiFromBig(n)
		if !fits {
			return nil, failure.NewUsage("", "--%s: %s is not between 0 and 2^256 - 1", flag, number)
		}
		if _, twice := all[name]; twice {
			return nil, failure.NewUsage("", "--%s: %s is given twice", flag, name)
		}
		all[name] = wei
	}
	return all, nil
}

// printBid prints what an agent was told, what it answered, and what a fire would cost.
func printBid(w io.Writer, bid *model.BidTrial, changed map[string]types.Wei) {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(bid.Context)) {
		row := []string{"told", name, bid.Context[name].String()}
		if _, ours := changed[name]; ours {
			row = append(row, "by --with")
		}
		rows = append(rows, row)
	}
	terminal.PrintColumns(w, rows)
	chaintext.PrintOutput(w, bid.Logs)
	turn := "takes part in block " + terminal.Height(bid.Height)
	if bid.PricedOut {
		turn = "waits: the max fee is below the price of a turn in block " + terminal.Height(bid.Height)
	}
	price := bid.BaseFeeCycle.Add(bid.BaseFeeLaneTimer).Add(bid.TipPerCycle)
	terminal.PrintFacts(w, "answer", answerWords(bid), "fire",
		fmt.Sprintf("%s a cycle, %s of it tip", weiWords(price), weiWords(bid.TipPerCycle)),
		"timer", turn, "used", words.Grouped(uint64(bid.Cycles))+" cycles")
}

// answerWords returns an agent's answer on fees.
func answerWords(bid *model.BidTrial) string {
	if !bid.Answered {
		return "none: the protocol's own agent bids"
	}
	part := func(name string, amount *types.Wei) string {
		if amount == nil {
			return name + " left to the protocol's own agent"
		}
		return name + " " + weiWords(*amount)
	}
	return part("max fee", bid.MaxFeePerCycle) + ", " + part("tip", bid.MaxPriorityFeePerCycle)
}

func weiWords(w types.Wei) string { return w.String() + " wei" }

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/types"
)

var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print JSON, with the names of the HTTP API"}

// printAnswerOrJSON prints v as JSON if --json was given, and otherwise as text does.
func printAnswerOrJSON(c *cli.Context, v any, text func(w io.Writer)) error {
	if c.Bool("json") {
		return printJSON(c.App.Writer, v)
	}
	text(c.App.Writer)
	return nil
}

// printAnswer prints an answer as emit does, or returns why there is none.
func printAnswer(c *cli.Context, v any, err error, text func(w io.Writer)) error {
	if err != nil {
		return err
	}
	return printAnswerOrJSON(c, v, text)
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// countWhere is how many of a list are as asked.
func countWhere[T any](list []T, is func(*T) bool) (n int) {
	for i := range list {
		if is(&list[i]) {
			n++
		}
	}
	return n
}

// printTable prints rows in columns under a heading, or empty without rows.
func printTable(w io.Writer, empty string, heading string, rows [][]string) {
	if len(rows) == 0 {
		fmt.Fprintln(w, empty)
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ReplaceAll(heading, " ", "\t"))
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush()
}

// rowsOf makes a row of each entry.
func rowsOf[T any](list []T, row func(*T) []string) (rows [][]string) {
	for i := range list {
		rows = append(rows, row(&list[i]))
	}
	return rows
}

// printFacts prints names and values in two columns; empty values are left out.
func printFacts(w io.Writer, pairs ...string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", pairs[i], pairs[i+1])
		}
	}
	_ = t.Flush()
}

// parseCBY reads an amount that a flag was given: CBY with at most nine decimals, or wei.
func parseCBY(flag, text string) (types.Wei, error) { return parseAmount("--"+flag, text) }

// parseAmount reads an amount in CBY that a person typed where what says, or in wei: 12wei.
func parseAmount(what, text string) (types.Wei, error) {
	bad := newUsageError("Give an amount like 100, 0.25 or 12wei.", "%s: %q is not an amount in CBY with at most nine decimals, nor in wei",
		what, text)
	number, inWei := strings.CutSuffix(strings.TrimSpace(text), "wei")
	number = strings.TrimSpace(strings.TrimSuffix(number, "CBY"))
	whole, part, decimal := strings.Cut(number, ".")
	digits, decimals := whole+part, 9
	if inWei {
		decimals = 0
	}
	if digits == "" || inWei && (decimal || strings.Contains(text, "CBY")) || len(part) > decimals ||
		strings.Trim(digits, "0123456789") != "" {
		return types.Wei{}, bad
	}
	n, ok := new(big.Int).SetString(digits+strings.Repeat("0", decimals-len(part)), 10)
	if !ok {
		return types.Wei{}, bad
	}
	wei, ok := types.WeiFromBig(n)
	if !ok {
		return types.Wei{}, bad
	}
	return wei, nil
}

// inQuotes is the text of a value, so that "7" is not taken for a number.
func inQuotes(text string) string {
	if text == "" {
		return "-"
	}
	return strconv.Quote(text)
}

// noteMoreRows says below a list that it is not all of it.
func noteMoreRows(w io.Writer, what string, more bool, shown int, c *cli.Context) {
	if more {
		fmt.Fprintf(w, "… and %s: --offset %d, or --limit\n", what, c.Int("offset")+shown)
	}
}

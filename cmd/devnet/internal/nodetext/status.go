// Package nodetext writes validators, runners and links for people.
package nodetext

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// NameRange is a list of names in a row, by its ends.
func NameRange(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return names[0] + " to " + names[len(names)-1]
}

// DescribeHold says at which moment of a simulated run the network is; "": it is none.
func DescribeHold(ready model.Ready) string {
	if ready.Held == "" {
		return ""
	}
	return self.ReplaceName("at " + words.Printable(ready.Held) + "; devnet step moves it")
}

// DescribeTravel says where an advance goes that is under way; "": there is none.
func DescribeTravel(ready model.Ready) string {
	if ready.TravelsTo == 0 {
		return ""
	}
	return self.ReplaceName(fmt.Sprintf("to height %d; devnet advance --stop ends that", ready.TravelsTo))
}

// nameRanges returns names with numbers after one letter, each row of them by its ends: r0, r2
// to r4.
func nameRanges(names []string) string {
	number := func(name string) int {
		n, err := strconv.Atoi(name[min(1, len(name)):])
		if err != nil {
			return -2 // it follows none, and none follows it
		}
		return n
	}
	var all []string
	for from, i := 0, 1; i <= len(names); i++ {
		if i == len(names) || number(names[i]) != number(names[i-1])+1 {
			all = append(all, NameRange(names[from:i]))
			from = i
		}
	}
	return strings.Join(all, ", ")
}

// DescribeRunners says which runners the devnet has, and how many of them are not ready.
func DescribeRunners(ready model.Ready) string {
	var names []string
	waiting := 0
	for _, node := range ready.Nodes {
		if node.Kind != "runner" {
			continue
		}
		names = append(names, node.Name)
		if !node.Ready {
			waiting++
		}
	}
	text := "none"
	switch {
	case len(names) == 1:
		text = names[0]
	case len(names) > 1:
		text = fmt.Sprintf("%d, %s", len(names), nameRanges(names))
	}
	if waiting > 0 {
		text += fmt.Sprintf("; %d not ready", waiting)
	}
	return text
}

// Ago says how long ago something was, to a tenth of a second.
func Ago(ms uint64) string { return terminal.Duration(ms) + " ago" }

// PrintValidators prints a row for each validator.
func PrintValidators(w io.Writer, validators []model.Validator) {
	var rows [][]string
	validators = slices.Clone(validators)
	slices.SortStableFunc(validators, func(a, b model.Validator) int { // v2 before v10
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	for _, v := range validators {
		running := "running"
		if !v.Running {
			running = "stopped"
		}
		if v.Elsewhere {
			rows = append(rows, []string{v.Name, words.Short(v.Address.String()), v.Status, seenElsewhere(v), "-", "-", "-", "-"})
			continue
		}
		rows = append(rows, []string{v.Name, words.Short(v.Address.String()), v.Status, running,
			strconv.FormatUint(uint64(v.Height), 10), strconv.FormatUint(uint64(v.View), 10), strconv.Itoa(v.Connections),
			words.Short(v.StateRoot.String())})
	}
	terminal.PrintTable(w, "The validator set is empty.", "NAME ADDRESS STATUS NODE HEIGHT VIEW PEERS STATE_ROOT", rows)
}

// seenElsewhere returns the answering validator's knowledge of one in another process:
// a connected one runs; of the others it cannot say that they are stopped.
func seenElsewhere(v model.Validator) string {
	if v.Running {
		return "running"
	}
	return "not connected"
}

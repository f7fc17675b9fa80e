package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show whether the network is ready, and the state of its nodes",
		Description: "Example: devnet status\nExit code 1 while something is missing, but for a network that was paused.",
		Flags:       []cli.Flag{jsonFlag, httpFlag},
		Action:      takingNothing(showStatus),
	}
}

func showStatus(c *cli.Context) error {
	n := networkClient(c)
	ready, err := n.Ready(c.Context)
	if err != nil {
		return err
	}
	validators, err := n.Validators(c.Context)
	if err != nil {
		return err
	}
	err = printAnswerOrJSON(c, struct {
		HTTP       string            `json:"http"`
		Ready      model.Ready       `json:"ready"`
		Validators []model.Validator `json:"validators"`
	}{n.URL(), ready, validators}, func(w io.Writer) {
		state := "ready"
		switch {
		case ready.Paused:
			state = replaceProgramName("paused: devnet resume continues")
		case !ready.Ready:
			state = "not ready"
		}
		last := agoWords(ready.SinceMS)
		if ready.Stalled != "" && !ready.Paused {
			last += ": " + ready.Stalled
		}
		printFacts(w, "network", fmt.Sprintf("%s, %s", n.URL(), state), "held", describeHold(ready), "chain id",
			strconv.FormatUint(ready.ChainID, 10),
			"height", strconv.FormatUint(uint64(ready.Height), 10), "travels", describeTravel(ready), "last block", last,
			"runners", runnersOf(ready), "supervision", ready.Strategy, "version", ready.Version)
		fmt.Fprintln(w)
		validatorTable(w, validators)
		for _, node := range ready.Nodes {
			for _, missing := range node.Missing {
				fmt.Fprintf(w, "%s: %s\n", node.Name, missing)
			}
		}
		for _, trouble := range ready.Trouble {
			fmt.Fprintln(w, printable(trouble))
		}
	})
	if err == nil && !ready.Ready && !ready.Paused {
		return newFailure("", "the network is not ready")
	}
	return err
}

// describeHold says at which moment of a simulated run the network is; "": it is none.
func describeHold(ready model.Ready) string {
	if ready.Held == "" {
		return ""
	}
	return replaceProgramName("at " + printable(ready.Held) + "; devnet step moves it")
}

// describeTravel says where an advance goes that is under way; "": there is none.
func describeTravel(ready model.Ready) string {
	if ready.TravelsTo == 0 {
		return ""
	}
	return replaceProgramName(fmt.Sprintf("to height %d; devnet advance --stop ends that", ready.TravelsTo))
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
			all = append(all, rangesOf(names[from:i]))
			from = i
		}
	}
	return strings.Join(all, ", ")
}

// runnersOf says which runners the devnet has, and how many of them are not ready.
func runnersOf(ready model.Ready) string {
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

// agoWords says how long ago something was, to a tenth of a second.
func agoWords(ms uint64) string { return formatDuration(ms) + " ago" }

// formatDuration says how long something lasted, to a tenth of a second.
func formatDuration(ms uint64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}

func validatorTable(w io.Writer, validators []model.Validator) {
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
			rows = append(rows, []string{v.Name, short(v.Address.String()), v.Status, seenElsewhere(v), "-", "-", "-", "-"})
			continue
		}
		rows = append(rows, []string{v.Name, short(v.Address.String()), v.Status, running,
			strconv.FormatUint(uint64(v.Height), 10), strconv.FormatUint(uint64(v.View), 10), strconv.Itoa(v.Connections),
			short(v.StateRoot.String())})
	}
	printTable(w, "The validator set is empty.", "NAME ADDRESS STATUS NODE HEIGHT VIEW PEERS STATE_ROOT", rows)
}

// seenElsewhere returns the answering validator's knowledge of one in another process:
// a connected one runs; of the others it cannot say that they are stopped.
func seenElsewhere(v model.Validator) string {
	if v.Running {
		return "running"
	}
	return "not connected"
}

func validatorCommand() *cli.Command {
	return &cli.Command{
		Name: "validator", Usage: "the validators",
		Description: "Example: devnet validator list",
		Subcommands: append([]*cli.Command{
			{Name: "list", Usage: "all validators", Description: "Example: devnet validator list --json",
				Flags: []cli.Flag{jsonFlag, httpFlag}, Action: takingNothing(validatorList)},
			{Name: "show", Usage: "one validator, by name or address", ArgsUsage: "NAME|ADDRESS", Description: "Example: devnet validator show v0",
				Flags: []cli.Flag{jsonFlag, httpFlag}, Action: withArguments(validatorShow)},
		}, moveCommands()...),
	}
}

func validatorList(c *cli.Context) error {
	validators, err := networkClient(c).Validators(c.Context)
	return printAnswer(c, validators, err, func(w io.Writer) { validatorTable(w, validators) })
}

func validatorShow(c *cli.Context, args []string) error {
	validators, err := networkClient(c).Validators(c.Context)
	if err != nil {
		return err
	}
	for _, v := range validators {
		if v.Name != args[0] && !(len(args[0]) >= shortHex && strings.HasPrefix(v.Address.String(), args[0])) {
			continue
		}
		return printAnswerOrJSON(c, v, func(w io.Writer) {
			shown := []string{"name", v.Name, "index", strconv.Itoa(v.Index), "address", v.Address.String(), "public key", v.PublicKey.String(),
				"QUIC address", v.QUICAddress, "status", v.Status, "running", strconv.FormatBool(v.Running)}
			if !v.Elsewhere { // of which the one that answers does not know them
				shown = append(shown, "height", strconv.FormatUint(uint64(v.Height), 10), "view", strconv.FormatUint(uint64(v.View), 10),
					"connections", strconv.Itoa(v.Connections), "runners", strconv.Itoa(v.Runners), "state root", v.StateRoot.String())
			}
			printFacts(w, shown...)
		})
	}
	return newFailure("devnet validator list shows them all.", "no validator is %q", args[0])
}

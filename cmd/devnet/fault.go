package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func faultCommand() *cli.Command {
	plain := []cli.Flag{jsonFlag, httpFlag}
	group := &cli.Command{
		Name: "fault", Usage: "make a fault of a validator or of links",
		Description: "Example: devnet fault partition v0,v1 / v2,v3",
		Subcommands: []*cli.Command{
			validatorFaults(plain),
			{Name: "partition", Usage: "let nodes reach those of their own group only", ArgsUsage: "NODES / NODES …",
				Description: "Example: devnet fault partition v0,v1 / v2,v3\nNodes that are not named form one more group. It replaces the partition or bridge before.",
				Flags:       plain, Action: faultPartition},
			{Name: "bridge", Usage: "cut two sides apart, but for a node that reaches both", ArgsUsage: "NODE NODES / NODES",
				Description: "Example: devnet fault bridge v0 v1 / v2,v3\nIt replaces the partition or bridge before.",
				Flags:       plain, Action: faultBridge},
			{Name: "link", Usage: "set what happens to packets between two nodes", ArgsUsage: "NODE NODE",
				Description: "Example: devnet fault link v0 v1 --latency 80ms --jitter 20ms --loss 0.05",
				Flags: append([]cli.Flag{
					&cli.DurationFlag{Name: "latency", Usage: "each packet takes `TIME` longer"},
					&cli.DurationFlag{Name: "jitter", Usage: "and up to `TIME` more"},
					&cli.Float64Flag{Name: "loss", Usage: "lose this `PART` of the packets, 0 to 1"},
					&cli.Float64Flag{Name: "duplicate", Usage: "send this `PART` twice"},
					&cli.Float64Flag{Name: "reorder", Usage: "let this `PART` be overtaken"},
					&cli.Int64Flag{Name: "bandwidth", Usage: "at most `BYTES` a second"},
					&cli.BoolFlag{Name: "one-way", Usage: "from the first to the second only"}}, plain...),
				Action: faultLink},
			{Name: "list", Usage: "the faults so far, and what each did", Description: "Example: devnet fault list", Flags: plain, Action: faultList},
		},
	}
	for _, c := range validatorFaults(plain).Subcommands { // as scenarios say it: v.crash()
		c.Hidden, c.Description = true, strings.Replace(c.Description, "devnet fault validator ", "devnet fault ", 1)
		group.Subcommands = append(group.Subcommands, c)
	}
	return group
}

// validatorFaults are the verbs that take a node alone, and misbehave.
func validatorFaults(flags []cli.Flag) *cli.Command {
	group := &cli.Command{Name: "validator", Usage: "crash, restart, freeze, thaw, wipe, misbehave",
		Description: "Example: devnet fault validator crash v2\nThe word validator may be left out: devnet fault crash v2."}
	for _, verb := range []struct{ name, usage string }{
		{"crash", "end a validator as kill -9 ends a process"},
		{"restart", "start one that is down; it goes on from its files"},
		{"freeze", "stop a validator's roles; frames wait for it"},
		{"thaw", "let a frozen validator go on"},
		{"wipe", "lose the files of a validator that is down"},
	} {
		group.Subcommands = append(group.Subcommands, &cli.Command{Name: verb.name, Usage: verb.usage, ArgsUsage: "NODE",
			Description: "Example: devnet fault validator " + verb.name + " v2", Flags: flags,
			Action: func(c *cli.Context) error {
				args, err := arguments(c, "NODE")
				if err != nil {
					return err
				}
				return makeFault(c, model.FaultRequest{Verb: verb.name, Node: args[0]})
			}})
	}
	group.Subcommands = append(group.Subcommands, &cli.Command{Name: "misbehave", Usage: "make a validator lie to the others", ArgsUsage: "NODE KIND",
		Description: "Example: devnet fault validator misbehave v2 equivocate\n" +
			"The kinds are equivocate, withhold_votes, silent_leader, bad_state_root, tamper_body, withhold_body,\n" +
			"impersonate, passes_over, forge and flood, and honest, which ends it.",
		Flags: flags,
		Action: func(c *cli.Context) error {
			args, err := arguments(c, "NODE", "KIND")
			if err != nil {
				return err
			}
			return makeFault(c, model.FaultRequest{Verb: "misbehave", Node: args[0], Kind: args[1]})
		}})
	return group
}

func faultPartition(c *cli.Context) error {
	groups, err := groupsOf(c.Args().Slice())
	if err != nil || len(groups) == 0 {
		return usage("Usage: devnet fault partition v0,v1 / v2,v3", "a group is missing: separate them by /")
	}
	return makeFault(c, model.FaultRequest{Verb: "partition", Groups: groups})
}

func faultBridge(c *cli.Context) error {
	const example = "Usage: devnet fault bridge v0 v1 / v2,v3"
	if c.NArg() == 0 {
		return usage(example, "the node that reaches both sides is missing")
	}
	groups, err := groupsOf(c.Args().Tail())
	if err != nil || len(groups) != 2 {
		return usage(example, "a bridge has two sides, separated by /")
	}
	return makeFault(c, model.FaultRequest{Verb: "bridge", Node: c.Args().First(), Left: groups[0], Right: groups[1]})
}

// groupsOf reads names in groups: those of one are separated by commas or
// spaces, groups by slashes.
func groupsOf(words []string) (groups [][]string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	for _, text := range strings.Split(strings.Join(words, " "), "/") {
		group := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		if len(group) == 0 {
			return nil, fmt.Errorf("a group without a node")
		}
		groups = append(groups, group)
	}
	return groups, nil
}

func faultLink(c *cli.Context) error {
	args, err := arguments(c, "NODE", "NODE")
	if err != nil {
		return err
	}
	return makeFault(c, model.FaultRequest{Verb: "link", A: args[0], B: args[1], Latency: span(c.Duration("latency")), Jitter: span(c.Duration("jitter")),
		Loss: c.Float64("loss"), Duplicate: c.Float64("duplicate"), Reorder: c.Float64("reorder"), Bandwidth: c.Int64("bandwidth"), OneWay: c.Bool("one-way")})
}

func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func makeFault(c *cli.Context, r model.FaultRequest) error {
	receipt, err := network(c).Fault(c.Context, r)
	if err != nil {
		return err
	}
	return emit(c, receipt, func(w io.Writer) { fmt.Fprintf(w, "%s %s: %s\n", receipt.Verb, receipt.Detail, did(receipt)) })
}

// did is what a fault did, for people.
func did(r model.FaultReceipt) string {
	if r.Did == "" {
		return "no effect yet"
	}
	return r.Did
}

func faultList(c *cli.Context) error {
	if _, err := arguments(c); err != nil {
		return err
	}
	all, err := network(c).Faults(c.Context)
	if err != nil {
		return err
	}
	return emit(c, all, func(w io.Writer) { faultTable(w, all) })
}

func faultTable(w io.Writer, all []model.FaultReceipt) {
	var rows [][]string
	for _, r := range all {
		state := "in force"
		if r.Ended {
			state = "ended"
		}
		rows = append(rows, []string{r.Verb, r.Detail, state, did(r)})
	}
	table(w, "No faults.", "FAULT WHOM STATE DID", rows)
}

func healCommand() *cli.Command {
	return &cli.Command{Name: "heal", Usage: "mend all links; nodes that are down, frozen or misbehave stay so",
		Description: "Example: devnet heal", Flags: []cli.Flag{jsonFlag, httpFlag},
		Action: func(c *cli.Context) error {
			if _, err := arguments(c); err != nil {
				return err
			}
			all, err := network(c).Heal(c.Context)
			if err != nil {
				return err
			}
			return emit(c, all, func(w io.Writer) { faultTable(w, all) })
		}}
}

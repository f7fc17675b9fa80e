// Package fault has the commands that break nodes and links, and heal them.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Command is the command fault.
func Command() *cli.Command {
	plain := []cli.Flag{command.JSONFlag, command.HTTPFlag}
	group := &cli.Command{
		Name: "fault", Usage: "make a fault of a validator, of a runner or of links",
		Description: "Example: devnet fault partition v0,v1 / v2,v3",
		Subcommands: []*cli.Command{nodeFaults("validator", "crash v2", fault.Validators, plain),
			nodeFaults("runner", "drop r1", fault.Runners, plain)},
	}
	for _, v := range faultVerbs(0) {
		group.Subcommands = append(group.Subcommands, faultOf(v, "devnet fault ", plain))
	}
	group.Subcommands = append(group.Subcommands, &cli.Command{Name: "list", Usage: "the faults so far, and what each did",
		Description: "Example: devnet fault list", Flags: plain, Action: command.WithoutArguments(faultList)})
	for _, v := range faultVerbs(fault.Validators | fault.Runners) { // as scenarios say it: v.crash()
		c := faultOf(v, "devnet fault ", plain)
		c.Hidden = true
		group.Subcommands = append(group.Subcommands, c)
	}
	return group
}

// faultVerbs returns the command line's verbs for kinds of node, or without a
// kind, for links.
func faultVerbs(of fault.Whose) (verbs []*fault.Verb) {
	for _, v := range fault.Verbs() {
		if (v.Of.Has(of) || of == 0 && !v.OfNode()) && v.Command != "" {
			verbs = append(verbs, v)
		}
	}
	return verbs
}

// nodeFaults are the verbs of a kind of node.
func nodeFaults(kind, example string, of fault.Whose, flags []cli.Flag) *cli.Command {
	group := &cli.Command{Name: kind,
		Description: fmt.Sprintf("Example: devnet fault %s %s\nThe word %s may be left out: devnet fault %s.", kind, example, kind, example)}
	var names []string
	for _, v := range faultVerbs(of) {
		names = append(names, v.Name)
		shown := *v
		if of == fault.Runners {
			shown.Example = ofRunner.Replace(v.Example)
		}
		group.Subcommands = append(group.Subcommands, faultOf(&shown, "devnet fault "+kind+" ", flags))
	}
	group.Usage = strings.Join(names, ", ")
	return group
}

// ofRunner makes the example of a verb that both kinds of node have one of a runner.
var ofRunner = strings.NewReplacer("v2 equivocate", "r1 wrong_result", "v2", "r1", "--role consensus", "--role runner",
	"--role execution", "--role runner")

// faultOf is the command of a verb, called by a path.
func faultOf(v *fault.Verb, path string, flags []cli.Flag) *cli.Command {
	c := &cli.Command{Name: v.Name, Usage: v.Command, Flags: flags, Description: "Example: " + path + v.Name + " " + v.Example}
	if v.Note != "" {
		c.Description += "\n" + v.Note
	}
	var takes []string
	for _, a := range v.Takes {
		takes = append(takes, faultWords[a].names...)
		c.Flags = slices.Concat(faultWords[a].flags, c.Flags)
	}
	c.ArgsUsage = strings.Join(takes, " ")
	c.Action = func(c *cli.Context) error {
		r, err := typedFault(c, v)
		if err != nil {
			return err
		}
		return makeFault(c, r)
	}
	return c
}

// faultWord is an argument of a fault's verb as it is typed: as a number of words,
// as all remaining words, or by flags.
type faultWord struct {
	names []string // of its words, in usages
	flags []cli.Flag
	texts func(r *model.FaultRequest) []*string             // one for each word
	set   func(r *model.FaultRequest, words []string) error // of words that are not texts
	rest  func(r *model.FaultRequest, groups [][]string) error
	read  func(*cli.Context, *model.FaultRequest) // of flags
}

var faultWords = map[fault.Argument]faultWord{
	fault.Node: {names: []string{"NODE"}, texts: func(r *model.FaultRequest) []*string { return []*string{&r.Node} }},
	fault.Kind: {names: []string{"KIND"}, texts: func(r *model.FaultRequest) []*string { return []*string{&r.Kind} }},
	fault.Over: {names: []string{"ACTOR", "HOW"}, texts: func(r *model.FaultRequest) []*string { return []*string{&r.Actor, &r.How} }},
	fault.On: {flags: []cli.Flag{&cli.BoolFlag{Name: "off", Usage: "end it"}},
		read: func(c *cli.Context, r *model.FaultRequest) { r.On = !c.Bool("off") }},
	fault.Delay: {names: []string{"DELAY"}, texts: func(r *model.FaultRequest) []*string { return []*string{&r.Delay} }},
	fault.Flapping: {names: []string{"UP", "DOWN", "TIMES"}, set: func(r *model.FaultRequest, w []string) (err error) {
		r.Up, r.Down = w[0], w[1]
		if r.Times, err = strconv.Atoi(w[2]); err != nil || r.Times < 1 {
			return fmt.Errorf("%.40q is not how often connections go: write a whole number of at least 1", w[2])
		}
		return nil
	}},
	fault.Rejoining: {names: []string{"BLOCKS"},
		flags: []cli.Flag{&cli.BoolFlag{Name: "new-identity", Usage: "start it under another key, and register that key"}},
		set: func(r *model.FaultRequest, w []string) (err error) {
			if r.AfterBlocks, err = strconv.ParseUint(w[0], 10, 32); err != nil {
				return fmt.Errorf("invalid number of blocks %.40q", w[0])
			}
			return nil
		}, read: func(c *cli.Context, r *model.FaultRequest) { r.NewIdentity = c.Bool("new-identity") }},
	fault.Offers: {flags: []cli.Flag{
		&cli.StringSliceFlag{Name: "add", Usage: "may be repeated: it offers `NAME` from now on"},
		&cli.StringSliceFlag{Name: "remove", Usage: "may be repeated: it does not offer `NAME` any more"}},
		read: func(c *cli.Context, r *model.FaultRequest) {
			r.Add, r.Remove = c.StringSlice("add"), c.StringSlice("remove")
		}},
	fault.Groups: {names: []string{"NODES / NODES …"}, rest: func(r *model.FaultRequest, groups [][]string) error {
		switch last := len(groups) - 1; {
		case len(slices.Concat(groups...)) == 0:
			return errors.New("the nodes are missing")
		case last == 0:
			return fmt.Errorf("the other side is missing: separate groups by /; %s / cuts them off from the rest", strings.Join(groups[0], ","))
		case slices.ContainsFunc(groups[:last], func(g []string) bool { return len(g) == 0 }):
			return errors.New("a group before / has no node")
		}
		r.Groups = groups
		return nil
	}},
	fault.Sides: {names: []string{"NODES / NODES"}, rest: func(r *model.FaultRequest, groups [][]string) error {
		if len(groups) != 2 || len(groups[0]) == 0 || len(groups[1]) == 0 {
			return errors.New("a bridge has two sides, separated by /")
		}
		r.Left, r.Right = groups[0], groups[1]
		return nil
	}},
	fault.Ends: {names: []string{"NODE", "NODE"}, texts: func(r *model.FaultRequest) []*string { return []*string{&r.A, &r.B} }},
	fault.Victim: {flags: []cli.Flag{
		&cli.StringFlag{Name: "role", Usage: "the `ROLE`, or parent for the actor above the roles"},
		&cli.StringFlag{Name: "contract", Usage: "the `CONTRACT`, in place of a role"},
	}, read: func(c *cli.Context, r *model.FaultRequest) {
		r.Role, r.Contract = c.String("role"), c.String("contract")
	}},
	fault.Properties: {flags: []cli.Flag{
		&cli.DurationFlag{Name: "latency", Usage: "each packet takes `TIME` longer"},
		&cli.DurationFlag{Name: "jitter", Usage: "delay each packet by up to `TIME` more"},
		&cli.Float64Flag{Name: "loss", Usage: "lose this `PART` of the packets, 0 to 1"},
		&cli.Float64Flag{Name: "duplicate", Usage: "send this `PART` twice"},
		&cli.Float64Flag{Name: "reorder", Usage: "deliver this `PART` out of order"},
		&cli.Int64Flag{Name: "bandwidth", Usage: "at most `BYTES` a second"},
		&cli.BoolFlag{Name: "one-way", Usage: "affect only packets from the first to the second"},
	}, read: func(c *cli.Context, r *model.FaultRequest) {
		r.Latency, r.Jitter = spanWords(c.Duration("latency")), spanWords(c.Duration("jitter"))
		r.Loss, r.Duplicate, r.Reorder = c.Float64("loss"), c.Float64("duplicate"), c.Float64("reorder")
		r.Bandwidth, r.OneWay = c.Int64("bandwidth"), c.Bool("one-way")
	}},
}

// typedFault reads the arguments of a verb.
func typedFault(c *cli.Context, v *fault.Verb) (model.FaultRequest, error) {
	r := model.FaultRequest{Verb: v.Name}
	var names []string
	var rest *faultWord
	for _, a := range v.Takes {
		if word := faultWords[a]; word.rest != nil {
			rest = &word
		} else {
			names = append(names, word.names...)
		}
	}
	given := c.Args().Slice()
	if rest == nil {
		if _, err := command.ReadArguments(c, names...); err != nil {
			return r, err
		}
	} else if err := restOf(rest, v, &r, given, len(names)); err != nil {
		return r, err
	}
	for _, a := range v.Takes {
		word := faultWords[a]
		if word.texts != nil {
			for i, text := range word.texts(&r) {
				*text = given[i]
			}
			given = given[len(word.names):]
		}
		if word.set != nil {
			if err := word.set(&r, given[:len(word.names)]); err != nil {
				return r, failure.NewUsage("Usage: devnet fault "+v.Name+" "+v.Example, "%v", err)
			}
			given = given[len(word.names):]
		}
		if word.read != nil {
			word.read(c, &r)
		}
	}
	return r, nil
}

// restOf reads groups of nodes after the given number of words.
func restOf(word *faultWord, v *fault.Verb, r *model.FaultRequest, given []string, words int) error {
	example := "Usage: devnet fault " + v.Name + " " + v.Example
	if len(given) < words {
		return failure.NewUsage(example, "the node that reaches both sides is missing")
	}
	if err := word.rest(r, groupsOf(given[words:])); err != nil {
		return failure.NewUsage(example, "%v", err)
	}
	return nil
}

// groupsOf reads names in groups: those of one are separated by commas or
// spaces, groups by slashes.
func groupsOf(words []string) (groups [][]string) {
	for _, text := range strings.Split(strings.Join(words, " "), "/") {
		groups = append(groups, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }))
	}
	return groups
}

func spanWords(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func makeFault(c *cli.Context, r model.FaultRequest) error {
	receipt, err := command.NewClient(c).Fault(c.Context, r)
	return command.PrintAnswer(c, receipt, err, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s: %s\n", receipt.Verb, receipt.Detail,
			effectWords(&receipt))
	})
}

// effectWords is what a fault did, for people.
func effectWords(r *model.FaultReceipt) string { return cmp.Or(r.Did, "no effect yet") }

func faultList(c *cli.Context) error {
	all, err := command.NewClient(c).Faults(c.Context)
	return command.PrintAnswer(c, all, err, func(w io.Writer) { faultTable(w, all) })
}

func faultTable(w io.Writer, all []model.FaultReceipt) {
	terminal.PrintTable(w, "No faults.", "FAULT WHOM STATE DID", terminal.RowsOf(all, func(r *model.FaultReceipt) []string {
		state := "in force"
		if r.Ended {
			state = "ended"
		}
		return []string{r.Verb, r.Detail, state, effectWords(r)}
	}))
}

// HealCommand is the command heal.
func HealCommand() *cli.Command {
	return &cli.Command{Name: "heal", Usage: "remove the faults of all links; nodes stay down, frozen or misbehaving",
		Description: "Example: devnet heal", Flags: []cli.Flag{command.JSONFlag, command.HTTPFlag},
		Action: command.WithoutArguments(func(c *cli.Context) error {
			all, err := command.NewClient(c).Heal(c.Context)
			return command.PrintAnswer(c, all, err, func(w io.Writer) {
				faultTable(w, all)
				faultsThatStay(w, all)
			})
		})}
}

// endingWords are the words after devnet fault that end a fault of a node; "" where no command does.
func endingWords(r *model.FaultRequest) string {
	v := fault.Lookup(r.Verb)
	if v == nil || v.Command == "" || !v.OfNode() {
		return ""
	}
	end := (&fault.Order{Verb: v, Node: r.Node}).EndedBy()
	if end == nil {
		return ""
	}
	words := []string{end.Verb.Name, r.Node}
	for _, a := range end.Verb.Takes {
		switch a {
		case fault.Kind:
			words = append(words, "honest")
		case fault.Over:
			words = append(words, self.ShellQuote(r.Actor), end.How)
		case fault.On:
			words = append(words, "--off")
		case fault.Delay:
			words = append(words, "0s")
		}
	}
	return strings.Join(words, " ")
}

// faultsThatStay says which faults in force heal does not end, and what does.
func faultsThatStay(w io.Writer, all []model.FaultReceipt) {
	var lines []string
	for _, r := range all {
		if r.Ended || r.Order == nil {
			continue
		}
		if ending := endingWords(r.Order); ending != "" {
			lines = append(lines, "  devnet fault "+ending+"\n")
		}
	}
	if len(lines) > 0 {
		fmt.Fprint(w, self.ReplaceName("heal is about links. To end the others:\n"+strings.Join(lines, "")))
	}
}

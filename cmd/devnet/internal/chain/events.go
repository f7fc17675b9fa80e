package chain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/jobtext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// shownEventBlocks are the latest blocks whose events are listed unless more are
// asked for.
const shownEventBlocks = 20

// eventKinds lists the kinds of the HTTP API. A block's own is left out unless it is
// asked for: there is one for each, and most did nothing.
var eventKinds = []string{model.EventBlock, model.EventTx, model.EventTimer, model.EventLog, model.EventJob, model.EventPresence,
	model.EventRunner, model.EventFault, model.EventView}

// EventsCommand is the command events.
func EventsCommand() *cli.Command {
	return &cli.Command{
		Name: "events", Usage: "list the events of final blocks: transactions, timers, lines, jobs, presence, runners, faults, failed views",
		Description: "Example: devnet events --actor heartbeat --type timer,log -f",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "actor", Usage: "only what is about this `ACCOUNT` or actor, by address or name"},
			&cli.StringFlag{Name: "type",
				Usage: "only these `KINDS`, separated by commas: " + strings.Join(eventKinds, ", ") + " (default: all but block)"},
			&cli.Uint64Flag{Name: "from", Usage: fmt.Sprintf("start at height `H` (default: the last %d blocks)", shownEventBlocks)},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "follow new events until Ctrl-C"},
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each: id, type, data with the names of the HTTP API"}, command.HTTPFlag},
		Action: command.WithoutArguments(followEvents),
	}
}

func followEvents(c *cli.Context) error {
	n := command.NewClient(c)
	head, err := n.Height(c.Context)
	if err != nil {
		return err
	}
	follow := client.Follow{From: head - min(head, shownEventBlocks) + 1, To: head, Actor: c.String("actor")}
	if c.IsSet("from") {
		follow.From = max(1, types.Height(c.Uint64("from")))
	}
	follow.Kinds = eventKinds[1:]
	if text := c.String("type"); text != "" {
		follow.Kinds = strings.Split(text, ",")
	}
	if c.Bool("follow") {
		follow.To = 0
	} else if follow.From > head {
		return failure.New("Leave out --from, or follow with -f.", "--from: the latest final block has height %d", head)
	}
	l := &eventLines{Context: c, names: command.NewNames(c.Context, n), jobs: slices.Contains(follow.Kinds, model.EventJob)}
	if err := n.Events(c.Context, follow, l.printEvent); err != nil {
		return err
	}
	if !l.told && !c.Bool("json") && !c.Bool("follow") {
		fmt.Fprintf(c.App.Writer, "No events from block %d to %d.\n", follow.From, head)
	}
	return nil
}

// eventLines prints a line for each event, and below it what was printed and why it
// failed.
type eventLines struct {
	*cli.Context
	names *naming.Names
	jobs  bool // they have separate lines
	told  bool
}

func (l *eventLines) printEvent(e client.Event) error {
	l.told = true
	if l.Bool("json") {
		return json.NewEncoder(l.App.Writer).Encode(struct {
			ID   string          `json:"id"`
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		}{e.ID, e.Kind, e.Data})
	}
	switch e.Kind {
	case model.EventBlock:
		return command.WithEvent(e, l.printBlock)
	case model.EventTx:
		return command.WithEvent(e, l.printExecution)
	case model.EventTimer:
		return command.WithEvent(e, l.printTimer)
	case model.EventLog:
		return command.WithEvent(e, func(p *model.LogLine) {
			l.printLine(p.Height, e.Kind, l.names.Of(p.Actor)+"  "+words.Printable(p.Line))
		})
	case model.EventJob:
		return command.WithEvent(e, l.printJob)
	case model.EventPresence:
		return command.WithEvent(e, l.printPresence)
	case model.EventRunner:
		return command.WithEvent(e, l.printRunner)
	case model.EventView:
		return command.WithEvent(e, func(v *model.ViewEvent) { l.printLine(v.Height, e.Kind, words.Printable(v.Text)) })
	}
	height, _, _ := strings.Cut(e.ID, ".")
	return command.WithEvent(e, func(f *model.FaultReceipt) {
		fmt.Fprintf(l.App.Writer, "block %s  %s  %s %s\n", height, e.Kind, f.Verb, words.Printable(f.Detail))
	})
}

func (l *eventLines) printLine(h types.Height, kind, what string) {
	fmt.Fprintf(l.App.Writer, "block %d  %s  %s\n", h, kind, what)
}

func (l *eventLines) printBlock(b *model.Block) {
	l.printLine(b.Height, model.EventBlock, fmt.Sprintf("by %s  %s, %s fired", l.names.Of(b.Proposer),
		plural.Of(len(b.Transactions), "transaction"), terminal.Count(len(b.TimersFired), "timer")))
}

func (l *eventLines) printExecution(r *model.Receipt) {
	l.printLine(r.Height, model.EventTx, fmt.Sprintf("%s  %s  %s cycles  fee %s", chaintext.DescribeExecution(r, l.names), r.Status,
		words.Grouped(uint64(r.Cycles)), words.CBY(r.Fee)))
	l.printOwnEvents(r.Events)
	chaintext.PrintFault(l.App.Writer, r.Error)
}

// printOwnEvents prints the events of an execution, except a job's if its own line shows
// them.
func (l *eventLines) printOwnEvents(list []model.Event) {
	for _, e := range list {
		if l.jobs && e.Actor.InSystemBand() && strings.HasPrefix(e.Name, "job.") {
			continue
		}
		fmt.Fprintln(l.App.Writer, strings.TrimRight("event "+words.Printable(e.Name)+" "+words.EventLine(e.Data, l.names.Of), " "))
	}
}

func (l *eventLines) printTimer(t *model.TimerEvent) {
	what := fmt.Sprintf("%s  %s  %s", l.names.Of(t.Actor), words.Short(t.ID.String()), t.Status)
	if t.Reason != "" && t.Reason != t.Status {
		what += ": " + words.Printable(t.Reason)
	}
	if r := t.Receipt; r != nil {
		what += fmt.Sprintf(": %s  %s cycles  fee %s", r.Status, words.Grouped(uint64(r.Cycles)), words.CBY(r.Fee))
	}
	l.printLine(t.Height, model.EventTimer, what)
	if t.Receipt != nil {
		l.printOwnEvents(t.Receipt.Events)
		chaintext.PrintFault(l.App.Writer, t.Receipt.Error)
	}
}

func (l *eventLines) printJob(e *model.JobEvent) {
	who := ""
	if e.Runner != nil {
		who = "  " + l.names.Of(*e.Runner)
	}
	details := strings.Join(jobtext.EventDetails(l.names, e), ", ")
	l.printLine(e.Height, model.EventJob,
		strings.TrimRight(fmt.Sprintf("%s  %s%s  %s", words.Short(e.ID.String()), e.What, who, details), " "))
}

func (l *eventLines) printRunner(e *model.RunnerEvent) {
	what := fmt.Sprintf("%s  %s  by %s  %s", l.names.Of(e.Runner), e.What, l.names.Of(e.Validator), nodetext.DescribeHeard(e))
	l.printLine(e.Height, model.EventRunner, strings.TrimRight(what, " "))
}

func (l *eventLines) printPresence(p *model.PresenceEvent) {
	state := "absent"
	if p.Present {
		state = "present"
	}
	l.printLine(p.Height, model.EventPresence, fmt.Sprintf("%s  %s, shown by %s", l.names.Of(p.Runner), state, plural.Of(p.Count, "vote")))
}

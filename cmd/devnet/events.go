package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// shownEventBlocks are the latest blocks whose events are listed unless more are
// asked for.
const shownEventBlocks = 20

// eventKinds lists the kinds of the HTTP API. A block's own is left out unless it is
// asked for: there is one for each, and most did nothing.
var eventKinds = []string{model.EventBlock, model.EventTx, model.EventTimer, model.EventLog, model.EventJob, model.EventPresence,
	model.EventRunner, model.EventFault, model.EventView}

func eventsCommand() *cli.Command {
	return &cli.Command{
		Name: "events", Usage: "list the events of final blocks: transactions, timers, lines, jobs, presence, runners, faults, failed views",
		Description: "Example: devnet events --actor heartbeat --type timer,log -f",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "actor", Usage: "only what is about this `ACCOUNT` or actor, by address or name"},
			&cli.StringFlag{Name: "type",
				Usage: "only these `KINDS`, separated by commas: " + strings.Join(eventKinds, ", ") + " (default: all but block)"},
			&cli.Uint64Flag{Name: "from", Usage: fmt.Sprintf("start at height `H` (default: the last %d blocks)", shownEventBlocks)},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "follow new events until Ctrl-C"},
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each: id, type, data with the names of the HTTP API"}, httpFlag},
		Action: takingNothing(events),
	}
}

func events(c *cli.Context) error {
	n := network(c)
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
		return failed("Leave out --from, or follow with -f.", "--from: the latest final block has height %d", head)
	}
	l := &eventLines{Context: c, names: newNaming(c.Context, n), jobs: slices.Contains(follow.Kinds, model.EventJob)}
	if err := n.Events(c.Context, follow, l.tell); err != nil {
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
	names *naming
	jobs  bool // they have separate lines
	told  bool
}

func (l *eventLines) tell(e client.Event) error {
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
		return said(e, l.block)
	case model.EventTx:
		return said(e, l.execution)
	case model.EventTimer:
		return said(e, l.timer)
	case model.EventLog:
		return said(e, func(p *model.LogLine) { l.line(p.Height, e.Kind, l.names.of(p.Actor)+"  "+printable(p.Line)) })
	case model.EventJob:
		return said(e, l.job)
	case model.EventPresence:
		return said(e, l.presence)
	case model.EventRunner:
		return said(e, l.runner)
	case model.EventView:
		return said(e, func(v *model.ViewEvent) { l.line(v.Height, e.Kind, printable(v.Text)) })
	}
	height, _, _ := strings.Cut(e.ID, ".")
	return said(e, func(f *model.FaultReceipt) {
		fmt.Fprintf(l.App.Writer, "block %s  %s  %s %s\n", height, e.Kind, f.Verb, printable(f.Detail))
	})
}

// said decodes the form of an event for its printer.
func said[T any](e client.Event, tell func(*T)) error {
	var form T
	if err := understood(e, &form); err != nil {
		return err
	}
	tell(&form)
	return nil
}

func (l *eventLines) line(h types.Height, kind, what string) {
	fmt.Fprintf(l.App.Writer, "block %d  %s  %s\n", h, kind, what)
}

func (l *eventLines) block(b *model.Block) {
	l.line(b.Height, model.EventBlock, fmt.Sprintf("by %s  %s, %s fired", l.names.of(b.Proposer),
		plural.Of(len(b.Transactions), "transaction"), several(len(b.TimersFired), "timer")))
}

func (l *eventLines) execution(r *model.Receipt) {
	l.line(r.Height, model.EventTx, fmt.Sprintf("%s  %s  %s cycles  fee %s", executedWhat(r, l.names), r.Status,
		grouped(uint64(r.Cycles)), cby(r.Fee)))
	l.events(r.Events)
	printFault(l.App.Writer, r.Error)
}

// events prints the events of an execution, except a job's if its own line shows
// them.
func (l *eventLines) events(list []model.Event) {
	for _, e := range list {
		if l.jobs && e.Actor.InSystemBand() && strings.HasPrefix(e.Name, "job.") {
			continue
		}
		fmt.Fprintln(l.App.Writer, strings.TrimRight("event "+printable(e.Name)+" "+words.EventLine(e.Data, l.names.of), " "))
	}
}

func (l *eventLines) timer(t *model.TimerEvent) {
	what := fmt.Sprintf("%s  %s  %s", l.names.of(t.Actor), short(t.ID.String()), t.Status)
	if t.Reason != "" && t.Reason != t.Status {
		what += ": " + printable(t.Reason)
	}
	if r := t.Receipt; r != nil {
		what += fmt.Sprintf(": %s  %s cycles  fee %s", r.Status, grouped(uint64(r.Cycles)), cby(r.Fee))
	}
	l.line(t.Height, model.EventTimer, what)
	if t.Receipt != nil {
		l.events(t.Receipt.Events)
		printFault(l.App.Writer, t.Receipt.Error)
	}
}

func (l *eventLines) job(e *model.JobEvent) {
	who := ""
	if e.Runner != nil {
		who = "  " + l.names.of(*e.Runner)
	}
	details := strings.Join(detailsOf(l.names, e), ", ")
	l.line(e.Height, model.EventJob, strings.TrimRight(fmt.Sprintf("%s  %s%s  %s", short(e.ID.String()), e.What, who, details), " "))
}

func (l *eventLines) runner(e *model.RunnerEvent) {
	what := fmt.Sprintf("%s  %s  by %s  %s", l.names.of(e.Runner), e.What, l.names.of(e.Validator), heardOf(e))
	l.line(e.Height, model.EventRunner, strings.TrimRight(what, " "))
}

func (l *eventLines) presence(p *model.PresenceEvent) {
	state := "absent"
	if p.Present {
		state = "present"
	}
	l.line(p.Height, model.EventPresence, fmt.Sprintf("%s  %s, shown by %s", l.names.of(p.Runner), state, plural.Of(p.Count, "vote")))
}

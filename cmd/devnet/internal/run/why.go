package run

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/faces/words"
	"github.com/cowboyinc/devnet/internal/runs/why"
)

// defaultTrials is how many runs devnet why makes by default: under a minute, of most scripts.
const defaultTrials = 200

// WhyCommand is the command why.
func WhyCommand() *cli.Command {
	return &cli.Command{
		Name: "why", Usage: "find the single thing that makes a simulated run fail", ArgsUsage: "MOMENT",
		Description: "Example: devnet why fixtures/scenarios/partition_and_heal.star@1:view7\n" +
			"MOMENT is a script with --seed, or SCRIPT@SEED, SCRIPT@SEED:h57, SCRIPT@SEED:18231 or SCRIPT@SEED:view17.\n" +
			"It asks for the script's failure, for the last view, timer or job that failed up to the moment, or for the one\n" +
			"that is named. It makes the run of the seed again with one thing undone: a frame that was lost or late, or an\n" +
			"order of the script. All else is drawn as before. It prints which thing alone changes the outcome, else which two.\n" +
			"Exit code 1: none does.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "seed", Usage: "`N`, if MOMENT is a script alone; by default the script's own"},
			&cli.StringFlag{Name: "timer", Usage: "ask about the timer with this `ID`, or its beginning"},
			&cli.StringFlag{Name: "job", Usage: "ask about the job with this `ID`, or its beginning"},
			&cli.StringSliceFlag{Name: "set", Usage: "`NAME=VALUE` for the script's setting(NAME, …); may be repeated"},
			&cli.StringFlag{Name: "block-time", Usage: "`TIME` between blocks like 100ms, or auto, instead of the script's own"},
			&cli.StringFlag{Name: "trials", Value: strconv.Itoa(defaultTrials), Usage: "make at most `N` runs"},
			&cli.StringFlag{Name: "jobs", Usage: "at most `N` runs at a time; by default as many as there are cores"},
			command.JSONFlag,
		},
		Action: command.WithArguments(askWhy),
	}
}

// readWhy reads what to ask.
func readWhy(c *cli.Context, named string) (o why.Options, err error) {
	if named == "" {
		return o, failure.NewUsage("Usage: devnet why MOMENT", "MOMENT is missing")
	}
	script, view, ofView := strings.Cut(named, ":view")
	if ofView {
		n, err := strconv.ParseUint(view, 10, 64)
		if err != nil || n == 0 {
			return o, failure.NewUsage("Write SCRIPT@SEED:view17.", "%.20q is no view, which is a whole number from 1 on", view)
		}
		named, o.About.View = script, types.View(n)
	}
	if strings.HasSuffix(named, ".star") {
		o.Script.Path = named
		if seed := c.String("seed"); seed != "" {
			n, err := command.ParseSeed(seed)
			if err != nil {
				return o, err
			}
			o.Script.Seed = &n
		}
	} else {
		if at := strings.LastIndexByte(named, '@'); at >= 0 && !strings.Contains(named[at:], ":") {
			named += ":end"
		}
		m, err := moment.Parse(named)
		switch {
		case err != nil:
			return o, failure.NewUsage("", "%v", err)
		case m.Script == "":
			return o, failure.NewUsage("Write SCRIPT@SEED:"+named+".", "%s is a moment of no script", named)
		case c.String("seed") != "":
			return o, failure.NewUsage("Leave it out.", "--seed: %s has a seed", m)
		}
		o.Script.Path, o.Script.Seed, o.Until = m.Script, &m.Seed, m
	}
	if err := checkReadable(o.Script.Path); err != nil {
		return o, err
	}
	if o.About.Timer, o.About.Job = c.String("timer"), c.String("job"); o.About.Timer != "" && o.About.Job != "" ||
		ofView && o.About.Timer+o.About.Job != "" {
		return o, failure.NewUsage("Ask about one of them.", "a view, a timer and a job are three questions")
	}
	return o, readWhyRuns(c, &o)
}

// readWhyRuns reads how the runs are made, and how many.
func readWhyRuns(c *cli.Context, o *why.Options) (err error) {
	p := &plan{files: []string{o.Script.Path}}
	p.Backend, p.BlockTime = "sim", c.String("block-time")
	if err := checkWorld(p.World); err != nil {
		return err
	}
	if o.Script.Pace, err = p.Pace(); err != nil {
		return err
	}
	if err := p.readGrid(c.StringSlice("set"), c.String("jobs")); err != nil {
		return err
	}
	if p.grid.Size() > 1 {
		return failure.NewUsage("Give each name one value.", "--set: a run has one value of each setting")
	}
	o.Script.Settings = p.onlyJob().Settings
	if o.Jobs = p.jobs; o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Trials, err = strconv.Atoi(c.String("trials")); err != nil || o.Trials < 1 || o.Trials > why.MaxTrials {
		return failure.NewUsage(fmt.Sprintf("Give a number from 1 to %d.", why.MaxTrials), "--trials: invalid number of runs %q",
			c.String("trials"))
	}
	if err := checkScripts(p.files); err != nil {
		return err
	}
	return checkSettings(p.files, p.grid)
}

// askWhy is the command.
func askWhy(c *cli.Context, args []string) error {
	o, err := readWhy(c, args[0])
	if err != nil {
		return err
	}
	var made, of atomic.Int64
	o.Progress = func(m, n int) { made.Store(int64(m)); of.Store(int64(n)) }
	if !c.Bool("json") {
		defer printEach(c.Context, func(time.Time) { printTrials(c.App.ErrWriter, made.Load(), of.Load()) })()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(searchGCPercent))
	began := time.Now()
	report, err := why.Find(c.Context, o)
	if err != nil {
		if failed, is := err.(*scenario.Failure); is {
			return &failure.Failure{Code: failure.ExitFailed, What: failed.Error()}
		}
		if none := (*why.NoQuestionError)(nil); errors.As(err, &none) {
			return &failure.Failure{Code: failure.ExitFailed, What: none.What, Hint: none.Hint}
		}
		return err
	}
	if c.Bool("json") {
		if err := command.PrintJSON(c.App.Writer, report); err != nil {
			return err
		}
	} else {
		printWhy(c.App.Writer, &o, report, time.Since(began))
	}
	if len(report.Findings) == 0 {
		return &failure.Failure{Code: failure.ExitFailed}
	}
	return nil
}

// printTrials prints how many runs were made.
func printTrials(w io.Writer, made, of int64) {
	if of == 0 {
		fmt.Fprintln(w, "The run itself is made first.")
		return
	}
	fmt.Fprintf(w, "%d of at most %s were tried.\n", made, plural.Of(of, "thing"))
}

// shownFindings bounds the findings that a person is shown.
const shownFindings = 5

// printWhy prints what was found.
func printWhy(w io.Writer, o *why.Options, r *why.Report, took time.Duration) {
	columns := terminal.MessageColumns(w)
	say := func(format string, args ...any) {
		fmt.Fprintln(w, terminal.Wrap(words.Printable(fmt.Sprintf(format, args...)), "", columns))
	}
	say("%s with seed %d: %s: %s", o.Script.Path, r.Seed, r.Outcome, r.Detail)
	for i := range r.Findings {
		if i == shownFindings {
			say("… and %s; --json lists them", plural.Of(len(r.Findings)-i, "more"))
			break
		}
		say("%s", r.Findings[i].Sentence)
	}
	switch {
	case r.Things == 0:
		say("No frame was lost or late, and the script gave no order before it: nothing could be undone.")
	case len(r.Findings) == 0 && r.Stopped:
		say("Nothing that was tried changes that.")
	case len(r.Findings) == 0:
		say("No single thing changes that, and no two of the nearest.")
	}
	say("Tried: %s, of %s before it, in %.1f s.", plural.Of(r.Trials, "run"), plural.Of(r.Things, "thing"), took.Seconds())
}

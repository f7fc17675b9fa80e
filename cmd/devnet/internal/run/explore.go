package run

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/faces/words"
	"github.com/cowboyinc/devnet/internal/runs/explore"
)

// Limits of devnet explore.
const (
	longestExploring = 7 * 24 * time.Hour
	mostFinds        = 1000
)

// searchGCPercent spares the collector of a process that makes runs one after the other: each
// is short, allocates much and keeps little.
const searchGCPercent = 400

// ExploreCommand is the command explore.
func ExploreCommand() *cli.Command {
	return &cli.Command{
		Name: "explore", Usage: "look for faults beside which a script's network breaks a rule", ArgsUsage: "SCENARIO.star",
		Description: "Example: devnet explore fixtures/scenarios/partition_and_heal.star --for 20s\n" +
			"It puts faults between the script's statements, as many seeds and programs as there is time for, and keeps in\n" +
			"--corpus what reached something new. Where an oracle sees a rule broken, or a role panics, it leaves out what\n" +
			"that does not need, and writes a script of a few lines that fails by itself. What the script expects at its top\n" +
			"level is left out: under faults it need not hold. Exit code 1: something was found.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Value: "10m", Usage: "look for this `TIME`"},
			&cli.StringFlag{Name: "jobs", Usage: "at most `N` runs at a time; by default as many as there are cores"},
			&cli.StringFlag{Name: "corpus", Usage: "keep programs and finds in `DIR`; by default SCENARIO.explored here"},
			&cli.StringFlag{Name: "seed", Value: "1", Usage: "`N` of the search"},
			&cli.StringFlag{Name: "finds", Usage: "end after `N` different finds"},
			command.JSONFlag,
		},
		Action: command.WithArguments(exploreScript),
	}
}

// readExplore reads what to explore.
func readExplore(c *cli.Context, file string) (o explore.Options, err error) {
	o.Path, o.Dir = file, c.String("corpus")
	if file == "" {
		return o, failure.NewUsage("Usage: devnet explore SCENARIO.star", "SCENARIO.star is missing")
	}
	if err := checkReadable(file); err != nil {
		return o, err
	}
	if o.Dir == "" {
		o.Dir = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".explored"
	}
	if o.For, err = time.ParseDuration(c.String("for")); err != nil || o.For <= 0 || o.For > longestExploring {
		return o, failure.NewUsage(fmt.Sprintf("Give a time like 10m, at most %v.", longestExploring), "--for: invalid time %q", c.String("for"))
	}
	p := &plan{files: []string{file}}
	p.Backend = "sim"
	if err := p.readGrid(nil, c.String("jobs")); err != nil {
		return o, err
	}
	if o.Jobs = p.jobs; o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Seed, err = command.ParseSeed(c.String("seed")); err != nil {
		return o, err
	}
	if finds := c.String("finds"); finds != "" {
		if o.Most, err = strconv.Atoi(finds); err != nil || o.Most < 1 || o.Most > mostFinds {
			return o, failure.NewUsage(fmt.Sprintf("Give a number from 1 to %d.", mostFinds), "--finds: invalid number %q", finds)
		}
	}
	return o, checkScripts(p.files)
}

// exploreScript is the command.
func exploreScript(c *cli.Context, args []string) error {
	o, err := readExplore(c, args[0])
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var far explore.Progress
	o.Progress = func(p explore.Progress) {
		mu.Lock()
		defer mu.Unlock()
		far = p
	}
	defer debug.SetGCPercent(debug.SetGCPercent(searchGCPercent))
	began := time.Now()
	if !c.Bool("json") {
		o.Found = func(f explore.Find) { printFind(c.App.Writer, f, time.Since(began)) }
		defer printEach(c.Context, func(time.Time) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(c.App.ErrWriter, exploredLine(far, time.Since(began)))
		})()
	}
	report, err := explore.Explore(c.Context, o)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		if err := command.PrintJSON(c.App.Writer, report); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.App.Writer, exploredLine(report.Progress, report.Took))
	}
	if len(report.Finds) > 0 {
		return &failure.Failure{Code: failure.ExitFailed}
	}
	return nil
}

// exploredLine says how far a search is.
func exploredLine(p explore.Progress, took time.Duration) string {
	return fmt.Sprintf("%s in %s: %s reached, %s kept, %s, %s ended early.", plural.Of(p.Runs, "run"), took.Round(time.Second),
		plural.Of(p.Reached, "kind"), plural.Of(p.Corpus, "program"), plural.Of(p.Finds, "find"), plural.Of(p.Failed, "program"))
}

func printFind(w io.Writer, f explore.Find, after time.Duration) {
	fmt.Fprintf(w, "FOUND after %s, in run %d: %s\n", after.Round(time.Second), f.Run, words.Printable(f.What))
	proof := "it fails by itself, each time"
	if !f.Proven {
		proof = "but run again it does not always fail: one seed is not one run"
	}
	fmt.Fprintf(w, "  %s: %s; %s\n", f.File, plural.Of(f.Lines, "line"), proof)
}

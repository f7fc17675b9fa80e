// Package lab has the commands that run experiments and report them.
package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/run"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/lab"
	"github.com/cowboyinc/devnet/internal/worlds/crowded"
)

// defaultLab is the folder of the results of experiments.
const defaultLab = "lab-results"

// labGCPercent spares the collector: a row keeps little.
const labGCPercent = 400

// defaultLabSeeds is how many seeds a point has at most.
const defaultLabSeeds = 16

var labOutFlag = &cli.StringFlag{Name: "out", Value: defaultLab, Usage: "the `FOLDER` of results"}

// Command is the command lab.
func Command() *cli.Command {
	return &cli.Command{
		Name: "lab", Usage: "answer questions about the rules with experiments",
		Description: "Example: devnet lab run tiers --quick\n" +
			"An experiment is a name that devnet lab list shows, or a file like mine/experiment.star (docs/LAB.md).",
		Subcommands: []*cli.Command{labListCommand(), labRunCommand(), labReportCommand(), labCompareCommand(), labPointCommand(),
			labFindingsCommand()},
	}
}

func labListCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "the experiments that devnet carries, and what each asks", Description: "Example: devnet lab list",
		Flags: []cli.Flag{command.JSONFlag},
		Action: command.WithoutArguments(func(c *cli.Context) error {
			all, err := lab.Carried()
			if err != nil {
				return err
			}
			return command.PrintAnswerOrJSON(c, listExperiments(all), func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
				fmt.Fprintln(t, "NAME\tPOINTS\tQUESTION")
				for _, e := range all {
					fmt.Fprintf(t, "%s\t%d\t%s\n", e.Name, len(e.Points(false)), e.Question)
				}
				_ = t.Flush()
			})
		}),
	}
}

// labExperiment is an experiment under --json.
type labExperiment struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Asks     []string `json:"asks"`
	Points   int      `json:"points"`
}

func listExperiments(all []*lab.Experiment) (out []labExperiment) {
	for _, e := range all {
		out = append(out, labExperiment{e.Name, e.Question, e.Asks, len(e.Points(false))})
	}
	return out
}

// findExperiment loads an experiment by its name, or from a file.
func findExperiment(name string) (*lab.Experiment, error) {
	if !strings.HasSuffix(name, ".star") {
		e, err := lab.CarriedAs(name)
		if err != nil {
			return nil, failure.NewUsage("Type devnet lab list, or name a file that ends in .star.", "%v", err)
		}
		e.Network = crowded.Open
		return e, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, failure.NewUsage("Name an experiment of devnet lab list, or a file.", "the experiment cannot be read: %v", err)
	}
	e, err := lab.Load(experimentName(name), text)
	if err != nil {
		return nil, failure.NewUsage("docs/LAB.md has an example.", "the experiment is wrong: %v", err)
	}
	e.Network = crowded.Open
	return e, nil
}

// experimentName is the name of an experiment's file, or that of its folder if the file is
// experiment.star.
func experimentName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".star")
	if absolute, err := filepath.Abs(path); err == nil && name == "experiment" {
		return filepath.Base(filepath.Dir(absolute))
	}
	return name
}

// namedExperiments are those of the arguments; all stands for those of the program.
func namedExperiments(c *cli.Context) (all []*lab.Experiment, err error) {
	if c.NArg() == 0 {
		return nil, failure.NewUsage("Usage: "+c.Command.HelpName+" NAME…", "NAME is missing: an experiment, or all")
	}
	names := c.Args().Slice()
	if len(names) == 1 && names[0] == "all" {
		carried, err := lab.Carried()
		if err != nil {
			return nil, err
		}
		names = nil
		for _, e := range carried {
			names = append(names, e.Name)
		}
	}
	for _, name := range names {
		e, err := findExperiment(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other *lab.Experiment) bool { return other.Name == e.Name }) {
			return nil, failure.NewUsage("Name each once.", "two experiments are called %s", e.Name)
		}
		all = append(all, e)
	}
	return all, nil
}

func labRunCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "make the rows of experiments that are missing, and their pages", ArgsUsage: "NAME…",
		Description: "Example: devnet lab run tiers --quick\n" +
			"Rows stay in FOLDER/NAME/points.csv: a run that was killed continues there. A point stops at 8, 16, 32 …\n" +
			"seeds once its intervals are narrow enough. Exit code 1 when a figure misses its closed form.",
		Flags: []cli.Flag{labOutFlag,
			&cli.StringFlag{Name: "seeds", Value: strconv.Itoa(defaultLabSeeds), Usage: "at most `N` seeds a point"},
			&cli.StringFlag{Name: "first-seed", Value: "1", Usage: "seeds from `N` on: others than those that a rule was found with confirm it"},
			&cli.BoolFlag{Name: "quick", Usage: "few points with 4 seeds"},
			&cli.BoolFlag{Name: "fixed", Usage: "all seeds at each point, however narrow its intervals are"},
			&cli.StringFlag{Name: "jobs", Usage: "`N` rows at a time; by default as many as there are cores"},
			&cli.StringFlag{Name: "shard", Usage: "`I/N`: only the I-th of N parts of the rows, with all seeds; devnet lab report joins them"},
			command.JSONFlag},
		Action: runLab,
	}
}

// readLabPlan reads how experiments are run.
func readLabPlan(c *cli.Context) (p lab.Plan, err error) {
	p = lab.Plan{Quick: c.Bool("quick"), Fixed: c.Bool("fixed"), Out: c.String("out"), Jobs: runtime.NumCPU()}
	seeds, err := strconv.ParseUint(c.String("seeds"), 10, 31)
	if err != nil || seeds == 0 || seeds > lab.MaxSeeds {
		return p, failure.NewUsage("Write it like --seeds 16.", "--seeds: %q is not a number of 1 to %d", c.String("seeds"), lab.MaxSeeds)
	}
	p.Seeds = int(seeds)
	if p.First, err = strconv.ParseUint(c.String("first-seed"), 10, 62); err != nil || p.First == 0 {
		return p, failure.NewUsage("Write it like --first-seed 1001.", "--first-seed: %q is no number from 1 on", c.String("first-seed"))
	}
	if word := c.String("jobs"); word != "" {
		jobs, err := strconv.ParseUint(word, 10, 31)
		if err != nil || jobs == 0 || jobs > run.MaxRunJobs {
			return p, failure.NewUsage("Write it like --jobs 2.", "--jobs: %q is not a number of 1 to %d", word, run.MaxRunJobs)
		}
		p.Jobs = int(jobs)
	}
	if word := c.String("shard"); word != "" {
		first, second, found := strings.Cut(word, "/")
		index, wrong := strconv.ParseUint(first, 10, 31)
		of, wrongToo := strconv.ParseUint(second, 10, 31)
		if !found || wrong != nil || wrongToo != nil || index == 0 || index > of || of > run.MaxRunShards {
			return p, failure.NewUsage("Write it like --shard 1/4.", "--shard: %q is not I/N with 1 ≤ I ≤ N ≤ %d", word, run.MaxRunShards)
		}
		p.Shard = batch.Shard{Index: index, Of: of}
	}
	return p, nil
}

func runLab(c *cli.Context) error {
	all, err := namedExperiments(c)
	if err != nil {
		return err
	}
	plan, err := readLabPlan(c)
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(labGCPercent))
	plan.Tell = tellProgress(c.App.ErrWriter)
	var pages []*lab.Page
	for _, e := range all {
		rows, err := e.Run(c.Context, plan)
		if errors.Is(err, context.Canceled) {
			return failure.New("The rows that were made are kept: the same command continues.", "interrupted after %d rows of %s", len(rows), e.Name)
		}
		if err != nil {
			return failure.New("Correct the experiment, or remove its folder of results.", "%v", err)
		}
		if plan.Shard.Of > 1 {
			fmt.Fprintf(c.App.ErrWriter, "%s: shard %s has %d rows in %s\n", e.Name, plan.Shard, len(rows), plan.Out)
			continue
		}
		page, err := judgeAndWrite(e, rows, !plan.Fixed && !plan.Quick, filepath.Join(plan.Out, e.Name), "")
		if err != nil {
			return err
		}
		pages = append(pages, page)
	}
	return showLab(c, pages)
}

// judgeAndWrite judges rows and writes the page and the rows of an experiment.
func judgeAndWrite(e *lab.Experiment, rows []lab.Row, sequential bool, folder, commit string) (*lab.Page, error) {
	results, err := e.Judge(rows, sequential)
	if err != nil {
		return nil, failure.New("devnet lab run makes rows; docs/LAB.md has an example of answer.", "%v", err)
	}
	page := &lab.Page{Results: results, Commit: cmp.Or(commit, commitOfProgram())}
	if err := page.WritePage(folder); err != nil {
		return nil, failure.New("", "the page cannot be written: %v", err)
	}
	return page, nil
}

// commitOfProgram is the commit that the program was built of; "" if it is unknown.
func commitOfProgram() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, isDirty := "", false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			isDirty = s.Value == "true"
		}
	}
	if commit != "" && isDirty {
		commit += " with changes"
	}
	return commit
}

// progressEvery is the rows between two lines of progress.
const progressEvery = 10

func tellProgress(w io.Writer) func(lab.Progress) {
	return func(p lab.Progress) {
		if p.Done%progressEvery != 0 && p.Done != p.Rows {
			return
		}
		line := fmt.Sprintf("%s: %d of %d rows up to seed %d", p.Experiment, p.Done, p.Rows, p.Seeds)
		if p.Left > 0 {
			line += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
		}
		if p.Widest > 1 {
			line += fmt.Sprintf("; the widest interval is %.1f times its precision, %s", p.Widest, p.WidestPoint)
		}
		fmt.Fprintln(w, line)
	}
}

// labAnswer is what an experiment came to, under --json.
type labAnswer struct {
	Name    string   `json:"name"`
	Answer  string   `json:"answer"`
	Settled bool     `json:"settled"`
	Rows    int      `json:"rows"`
	Forms   int      `json:"closed_forms"`
	Missed  []string `json:"missed"`
}

// showLab tells the answers. A missed closed form is a failure.
func showLab(c *cli.Context, pages []*lab.Page) error {
	var answers []labAnswer
	missed := 0
	for _, p := range pages {
		one := labAnswer{Name: p.Name, Answer: p.First(), Settled: p.Settled(), Rows: len(p.Rows), Forms: len(p.Forms), Missed: []string{}}
		for _, f := range p.Misses() {
			one.Missed = append(one.Missed, fmt.Sprintf("%s at %s is %s, and its closed form says %g ± %g", p.Measures[f.Measure].Name,
				p.Describe(f.Point), f.Seen, f.Value, f.Tolerance))
		}
		for _, t := range p.Apart() {
			one.Missed = append(one.Missed, fmt.Sprintf("%s at %s is %s, and in the bare world %s", p.Measures[t.Measure].Name,
				p.Describe(t.Point), t.Network, t.Bare))
		}
		missed += len(one.Missed)
		answers = append(answers, one)
	}
	if err := command.PrintAnswerOrJSON(c, answers, func(w io.Writer) {
		for i, p := range pages {
			fmt.Fprintf(w, "%s: %s\n  %s\n", p.Name, p.First(), p.State())
			for _, miss := range answers[i].Missed {
				fmt.Fprintf(w, "  MISSED %s\n", miss)
			}
		}
	}); err != nil {
		return err
	}
	if missed > 0 {
		return failure.New("devnet lab point makes one of these runs again.", "%d figures miss their closed forms, or what the bare world says",
			missed)
	}
	return nil
}

func labReportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "join the rows of folders, judge them, and write pages", ArgsUsage: "NAME…",
		Description: "Example: devnet lab report tiers --fixed --pages pages\n" +
			"FOLDER/NAME/results.csv has all rows by point and seed: shards and a whole run make the same bytes.",
		Flags: []cli.Flag{labOutFlag,
			&cli.StringSliceFlag{Name: "from", Usage: "a `FOLDER` of results; may be repeated (default: that of --out)"},
			&cli.StringFlag{Name: "pages", Usage: "write the pages and their list to `FOLDER` instead"},
			&cli.BoolFlag{Name: "fixed", Usage: "the rows are of a run with --fixed, --quick or --shard: no point stopped early"},
			&cli.StringFlag{Name: "commit", Usage: "`COMMIT` that the rows are of, for the pages; by default that of this program"},
			command.JSONFlag},
		Action: func(c *cli.Context) error {
			all, err := namedExperiments(c)
			if err != nil {
				return err
			}
			var pages []*lab.Page
			for _, e := range all {
				page, err := reportLab(c, e)
				if err != nil {
					return err
				}
				pages = append(pages, page)
			}
			if folder := c.String("pages"); folder != "" {
				if err := lab.WriteIndex(folder, pages); err != nil {
					return failure.New("", "the list of pages cannot be written: %v", err)
				}
			}
			return showLab(c, pages)
		},
	}
}

func reportLab(c *cli.Context, e *lab.Experiment) (*lab.Page, error) {
	from := c.StringSlice("from")
	if len(from) == 0 {
		from = []string{c.String("out")}
	}
	rows, err := e.ReadRows(from...)
	if err != nil {
		return nil, failure.New("Name folders of one program.", "%v", err)
	}
	folder := filepath.Join(c.String("out"), e.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, failure.New("", "the results cannot be written: %v", err)
	}
	file, err := os.Create(filepath.Join(folder, "results.csv"))
	if err != nil {
		return nil, failure.New("", "the results cannot be written: %v", err)
	}
	if err := errors.Join(e.WriteRows(file, rows), file.Close()); err != nil {
		return nil, failure.New("", "the results cannot be written: %v", err)
	}
	return judgeAndWrite(e, rows, !c.Bool("fixed"), cmp.Or(c.String("pages"), folder), c.String("commit"))
}

func labCompareCommand() *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "what differs between two values of an axis, paired by seed", ArgsUsage: "NAME AXIS=A AXIS=B",
		Description: "Example: devnet lab compare tiers urgent=200 urgent=600",
		Flags:       []cli.Flag{labOutFlag, command.JSONFlag},
		Action: command.WithArguments(func(c *cli.Context, args []string) error {
			e, err := findExperiment(args[0])
			if err != nil {
				return err
			}
			axis, first, _ := strings.Cut(args[1], "=")
			other, second, _ := strings.Cut(args[2], "=")
			if axis != other {
				return failure.NewUsage("Write it like rule=written rule=mean.", "two values of one axis are compared, got %s and %s", axis, other)
			}
			rows, err := e.ReadRows(c.String("out"))
			if err != nil {
				return failure.New("", "%v", err)
			}
			differences, err := e.Compare(rows, axis, first, second)
			if err != nil {
				return failure.New("devnet lab run "+args[0]+" makes rows.", "%v", err)
			}
			return command.PrintAnswerOrJSON(c, differences, func(w io.Writer) {
				fmt.Fprintf(w, "%s=%s less %s=%s, paired by seed, intervals of 95 %%\n", axis, second, axis, first)
				t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
				fmt.Fprintln(t, "AT\tMEASURE\tDIFFERENCE\tSEEDS")
				for _, d := range differences {
					fmt.Fprintf(t, "%s\t%s\t%s\t%d\n", d.At, d.Measure, d.Of, d.Of.Seeds)
				}
				_ = t.Flush()
			})
		}),
	}
}

func labPointCommand() *cli.Command {
	return &cli.Command{
		Name: "point", Usage: "make one run of an experiment again, and show its figures", ArgsUsage: "NAME POINT",
		Description: "Example: devnet lab point tiers urgent=600 --seed 7\n" +
			"POINT has the values of all axes, like \"rule=written parts=1 premium=1\".",
		Flags: []cli.Flag{&cli.StringFlag{Name: "seed", Value: "1", Usage: "`N` of the run"}, command.JSONFlag},
		Action: command.WithArguments(func(c *cli.Context, args []string) error {
			e, err := findExperiment(args[0])
			if err != nil {
				return err
			}
			point, err := e.FindPoint(splitPoint(args[1]))
			if err != nil {
				return failure.NewUsage("devnet lab list names experiments; their files have the grids.", "%v", err)
			}
			seed, err := strconv.ParseUint(c.String("seed"), 10, 64)
			if err != nil {
				return failure.NewUsage("Write it like --seed 7.", "--seed: %q is not a whole number", c.String("seed"))
			}
			row, err := e.Play(point, seed)
			if err != nil {
				return failure.New("", "%v", err)
			}
			return command.PrintAnswerOrJSON(c, row, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
				for i, m := range e.Measures {
					fmt.Fprintf(t, "%s\t%g\t%s\n", m.Name, row.Figures[i], m.Unit)
				}
				fmt.Fprintf(t, "blocks\t%d\nfires\t%d\ndigest\t%s\n", row.Blocks, row.Fires, row.Digest)
				_ = t.Flush()
			})
		}),
	}
}

// splitPoint parts words like rule=first, shaded fires=1 where the next axis begins.
func splitPoint(text string) (words []string) {
	for word := range strings.FieldsSeq(text) {
		if len(words) > 0 && !strings.Contains(word, "=") {
			words[len(words)-1] += " " + word
			continue
		}
		words = append(words, word)
	}
	return words
}

func labFindingsCommand() *cli.Command {
	return &cli.Command{
		Name: "findings", Usage: "which experiment is about which finding or section of the drafts",
		Description: "Example: devnet lab findings", Flags: []cli.Flag{command.JSONFlag},
		Action: command.WithoutArguments(func(c *cli.Context) error {
			all, err := lab.Carried()
			if err != nil {
				return err
			}
			byAsk := map[string][]string{}
			for _, e := range all {
				for _, ask := range e.Asks {
					byAsk[ask] = append(byAsk[ask], e.Name)
				}
			}
			return command.PrintAnswerOrJSON(c, byAsk, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
				fmt.Fprintln(t, "ABOUT\tEXPERIMENTS")
				for _, ask := range slices.Sorted(maps.Keys(byAsk)) {
					fmt.Fprintf(t, "%s\t%s\n", ask, strings.Join(byAsk[ask], ", "))
				}
				_ = t.Flush()
			})
		}),
	}
}

// Package run has the commands that run scenarios, and explain how they fail.
package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/experiment"
)

// Limits of a run of scenarios.
const (
	// maxRunSeeds bounds --seeds, and the runs of all scenarios at all points of --set: with
	// --json and --junit the verdicts of all are kept until the end.
	maxRunSeeds = 1_000_000
	// MaxRunJobs bounds --jobs.
	MaxRunJobs = 1_024
	// MaxRunShards bounds the N of --shard.
	MaxRunShards = 10_000
)

// Command is the command run.
func Command() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run scenarios: scripts that drive a network, break it, and judge it", ArgsUsage: "SCENARIO.star…",
		Description: "Example: devnet run fixtures/scenarios/leader_crash.star --seeds 100\n" +
			"One seed runs in this process and shows the script's output; several seeds run in worker processes.\n" +
			"--hold stops a failing run where it failed: devnet status, timer show, tx, debug and the page then\n" +
			"show its network, and devnet step moves it, on and back.\n" +
			"Exit code 1 when a scenario fails, 2 when a script is wrong, 3 when a network cannot start.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "backend", Value: batch.Sim,
				Usage: "`WORLD`: sim (virtual time, one seed is one run), live (this process, wall clock, real QUIC),\n" +
					"processes (one process per node) or docker (one container per node); all compares sim, live and docker"},
			&cli.StringFlag{Name: "image", Value: launch.DefaultImage, Usage: "`NAME` of the image that make image builds"},
			&cli.StringFlag{Name: "seed", Usage: "`N`, instead of the script's own; with --seeds the first"},
			&cli.StringFlag{Name: "seeds", Usage: "`N` seeds instead of one"},
			&cli.StringFlag{Name: "block-time", Usage: "`TIME` between blocks like 100ms, or auto, instead of the script's own"},
			&cli.StringSliceFlag{Name: "set", Usage: "`NAME=VALUE,…` for the script's setting(NAME, …); may be repeated.\n" +
				"Several values make a grid: each point with each seed, and a table of means with intervals"},
			&cli.StringFlag{Name: "csv", Usage: "write a row a run to `FILE`: settings, seed, figures, digest, verdict (one scenario)"},
			&cli.StringFlag{Name: "plot", Usage: "draw the means over the first setting with several numbers to `FILE.svg` (one scenario)"},
			&cli.StringFlag{Name: "jobs", Usage: "at most `N` runs at a time on sim; by default as many as there are cores"},
			&cli.StringFlag{Name: "shard", Usage: "`I/N`: run every N-th of all runs (each script with each seed), starting with the I-th; " +
				"job/N: take I from an indexed job of Kubernetes. devnet report merges the files of --junit"},
			&cli.StringFlag{Name: "junit", Usage: "write the verdicts to `FILE` as JUnit XML"},
			&cli.StringFlag{Name: "trace", Usage: "write the run to `FILE` as JSON lines (one scenario, one seed)"},
			&cli.BoolFlag{Name: "check", Usage: "read the scripts and run nothing"},
			&cli.BoolFlag{Name: "hold", Usage: "stop the run at its failure, or at its end, and serve its network until Ctrl-C (one seed, sim)"},
			&cli.StringFlag{Name: "hold-at", Usage: "stop it at `MOMENT` instead: h57 is the height 57, SCRIPT@SEED:18231 a step"},
			&cli.StringFlag{Name: "http", EnvVars: []string{command.HTTPVariable}, Value: command.DefaultHTTP,
				Usage: "serve a held run at `ADDRESS`; port 0: any"},
			&cli.BoolFlag{Name: BatchFlag, Hidden: true, Usage: "make the runs that standard input names; for devnet itself"},
			command.JSONFlag,
		},
		Action: runScenarios,
	}
}

// plan is what devnet run was asked for.
type plan struct {
	files []string
	batch.World
	seed  *uint64         // of --seed
	first uint64          // seed of --seeds
	seeds uint64          // of --seeds
	many  bool            // --seeds was given
	grid  experiment.Grid // of --set
	jobs  int             // of --jobs; 0: as many as there are cores
	shard batch.Shard
	csv   string
	plot  string
	junit string
	trace string
	check bool
	json  bool

	hold   bool
	holdAt moment.Moment // the script's end without --hold-at
	http   string        // where a held run is served
}

func readPlan(c *cli.Context) (*plan, error) {
	p := &plan{files: c.Args().Slice(), World: batch.World{Backend: c.String("backend"), BlockTime: c.String("block-time")},
		junit: c.String("junit"), trace: c.String("trace"), csv: c.String("csv"), plot: c.String("plot"),
		check: c.Bool("check"), json: c.Bool("json")}
	if len(p.files) == 0 {
		return nil, failure.NewUsage("Usage: devnet run SCENARIO.star…", "SCENARIO.star is missing")
	}
	for _, file := range p.files {
		if err := checkReadable(file); err != nil {
			return nil, err
		}
	}
	if p.Backend == batch.Docker || p.Backend == backendAll {
		p.Image = c.String("image")
	}
	if err := checkWorld(p.World); err != nil {
		return nil, err
	}
	if err := p.readGrid(c.StringSlice("set"), c.String("jobs")); err != nil {
		return nil, err
	}
	if err := p.readSeeds(c.String("seed"), c.String("seeds"), c.String("shard")); err != nil {
		return nil, err
	}
	if p.trace != "" && p.Backend == backendAll {
		return nil, failure.NewUsage("Name one backend.", "--trace: a trace holds one run")
	}
	if p.trace != "" && (p.shard.Of > 1 || p.many || p.grid.Size() > 1 || len(p.files) > 1) {
		return nil, failure.NewUsage("Name one scenario and one --seed.", "--trace: a trace holds one run")
	}
	if err := p.readHold(c); err != nil {
		return nil, err
	}
	return p, nil
}

// readGrid settles at which points the scenarios run, and how many runs at a time.
func (p *plan) readGrid(words []string, jobs string) (err error) {
	const example = "Write it like --set gain=1,8 --set lag=0."
	if p.grid, err = experiment.ReadGrid(words); err != nil {
		return failure.NewUsage(example, "--set: %v", err)
	}
	switch {
	case p.csv+p.plot == "":
	case len(p.files) > 1:
		return failure.NewUsage("Name one scenario.", "--csv, --plot: a file has the figures of one scenario")
	case p.Backend == backendAll:
		return failure.NewUsage("Name one backend.", "--csv, --plot: a file has the figures of one backend")
	}
	for i, file := range p.files {
		if len(p.grid) > 0 && slices.Contains(p.files[:i], file) {
			return failure.NewUsage("Name each scenario once.", "--set: %s is named twice, and its seeds would count twice", file)
		}
	}
	if p.plot != "" {
		if filepath.Ext(p.plot) != ".svg" {
			return failure.NewUsage("Give a name that ends in .svg.", "--plot: %s is not the name of a picture in SVG", p.plot)
		}
		if err := experiment.CheckDraw(p.grid); err != nil {
			return failure.NewUsage(example, "--plot: %v", err)
		}
	}
	if jobs == "" {
		return nil
	}
	n, err := command.ParseCount("jobs", "runs", jobs, MaxRunJobs)
	switch {
	case err != nil:
		return err
	case n > 1 && p.Backend != batch.Sim:
		return failure.NewUsage("Leave it out.", "--jobs %d: on %s one network runs at a time", n, p.Backend)
	}
	p.jobs = int(n)
	return nil
}

// checkReadable says whether a file can be a scenario.
func checkReadable(file string) error {
	info, err := os.Stat(file)
	if _, _, carried := scenario.Carried(file); carried && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return failure.CausedBy(err, failure.NewUsage("Give the path of a script, from the folder that you are in.", "cannot read %s: %v", file,
			failure.InnermostCause(err)))
	case info.IsDir():
		return failure.NewUsage("Name the scripts in it: "+filepath.Join(file, "*.star"), "%s is a folder", file)
	case filepath.Ext(file) != ".star":
		return failure.NewUsage("A scenario is a Starlark file whose name ends in .star.", "not a scenario: %s", file)
	}
	return nil
}

// readSeeds settles which seeds run: none at all means the script's own.
func (p *plan) readSeeds(seed, seeds, shard string) error {
	first := uint64(1)
	if seed != "" {
		n, err := command.ParseSeed(seed)
		if err != nil {
			return err
		}
		p.seed, first = &n, n
	}
	var err error
	if p.shard.Index, p.shard.Of, err = readShard(shard); err != nil {
		return err
	}
	if seeds == "" {
		if p.shard.Of > 1 && len(p.files)*p.grid.Size() == 1 {
			return failure.NewUsage("Say how many seeds in all with --seeds, or name several scripts.", "--shard %s parts runs, and there is one",
				shard)
		}
		return p.notEmpty(shard)
	}
	n, err := command.ParseCount("seeds", "seeds", seeds, maxRunSeeds)
	if err != nil {
		return err
	}
	if first+n-1 < first {
		return failure.NewUsage("", "--seed %d and --seeds %d: the largest seed is 2^64 - 1", first, n)
	}
	if size := uint64(p.grid.Size()); size*n > maxRunSeeds {
		return failure.NewUsage("Take fewer seeds or values.", "--seeds %d at %d points are more than %d runs", n, size, maxRunSeeds)
	}
	p.many, p.first, p.seeds = true, first, n
	return p.notEmpty(shard)
}

// notEmpty refuses a shard for which no run is left.
func (p *plan) notEmpty(shard string) error {
	if all := uint64(p.countRuns()); p.shard.Index > all {
		return failure.NewUsage("Take fewer shards than runs.", "--shard %s: of %d runs none is left for it", shard, all)
	}
	return nil
}

// countRuns is how many there are in all shards.
func (p *plan) countRuns() int { return len(p.files) * p.grid.Size() * max(1, int(p.seeds)) }

// jobIndex is the variable by which a pod of an indexed job of Kubernetes knows which it
// is, from 0 on.
const jobIndex = "JOB_COMPLETION_INDEX"

// readShard reads I/N, 1/1 if it is missing; job/N takes I from jobIndex.
func readShard(text string) (index, of uint64, err error) {
	if text == "" {
		return 1, 1, nil
	}
	left, right, found := strings.Cut(text, "/")
	if left == "job" {
		from0, err := strconv.ParseUint(os.Getenv(jobIndex), 10, 32)
		if err != nil {
			return 0, 0, failure.NewUsage("An indexed job of Kubernetes sets it, from 0 on.", "--shard %.20q: %s is %.20q", text, jobIndex,
				os.Getenv(jobIndex))
		}
		left = strconv.FormatUint(from0+1, 10)
	}
	index, errLeft := strconv.ParseUint(left, 10, 64)
	of, errRight := strconv.ParseUint(right, 10, 64)
	if !found || errLeft != nil || errRight != nil || index == 0 || index > of || of > MaxRunShards {
		return 0, 0, failure.NewUsage(fmt.Sprintf("Give I/N with I from 1 to N, and N at most %d: 2/4.", MaxRunShards),
			"--shard: invalid shard %q", text)
	}
	return index, of, nil
}

// runScenarios is the command.
func runScenarios(c *cli.Context) error {
	if c.Bool(BatchFlag) {
		return workBatch(c)
	}
	p, err := readPlan(c)
	if err != nil {
		return err
	}
	if err := checkScripts(p.files); err != nil {
		return err
	}
	if err := checkSettings(p.files, p.grid); err != nil {
		return err
	}
	if p.check {
		return p.printSoundness(c)
	}
	for _, path := range []string{p.junit, p.trace, p.plot} {
		if err := createOutput(path); err != nil {
			return err
		}
	}
	if p.hold {
		return p.holdRun(c)
	}
	if p.Backend == backendAll {
		return p.runAll(c)
	}
	t, err := p.newTally()
	if err != nil {
		return err
	}
	if err := p.run(c, t); err != nil {
		return errors.Join(err, t.closeFiles())
	}
	return p.concludeRuns(c, t)
}

// createOutput makes an output file, if one was named, before anything runs for it.
func createOutput(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return failure.NewUsage("", "%v", err)
	}
	return file.Close()
}

// printSoundness prints that the scripts are sound, the only task of --check.
func (p *plan) printSoundness(c *cli.Context) error {
	if p.json {
		return command.PrintJSON(c.App.Writer, struct {
			Sound []string `json:"sound"`
		}{p.files})
	}
	for _, file := range p.files {
		fmt.Fprintf(c.App.Writer, "%s: sound\n", file)
	}
	return nil
}

// replayCommand is the command that makes a run again.
func replayCommand(j batch.Job, w batch.World, seed uint64) string {
	words := []string{os.Args[0], "run", j.File, "--seed", fmt.Sprint(seed)}
	for _, s := range j.Settings {
		words = append(words, "--set", s.Name+"="+s.Text)
	}
	return self.ShellWords(append(words, worldFlags(w)...))
}

package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/experiment"
)

// tally is what the runs of a plan came to. Only with --json and --junit it keeps their
// verdicts, and only without --set, --csv and --plot their samples.
type tally struct {
	plan     *plan
	runs     int
	failures int
	code     int     // of the worst end
	virtual  float64 // seconds of networks
	wall     float64 // seconds of ours
	moments  []batch.Sometimes
	verdicts []batch.Verdict // of all runs, if they are kept
	samples  batch.Samples
	one      *batch.Verdict  // of the first run
	unread   []batch.Verdict // of each scenario the first run that passed and overlooked a failure
	read     []string        // settings that some run read
	studies  []*experiment.Study
	rows     *experiment.Rows // of --csv
	err      error            // why rows or figures cannot be written
}

func (p *plan) newTally() (*tally, error) {
	t := &tally{plan: p}
	if p.isExperiment() {
		for _, file := range p.files {
			t.studies = append(t.studies, experiment.NewStudy(file, p.grid))
		}
	}
	if p.csv != "" {
		rows, err := experiment.CreateRows(p.csv, p.grid)
		if err != nil {
			return nil, failure.NewUsage("", "--csv: %v", err)
		}
		t.rows = rows
	}
	return t, nil
}

// isExperiment says that the figures of runs are told by points.
func (p *plan) isExperiment() bool { return len(p.grid) > 0 || p.csv != "" || p.plot != "" }

// addRun takes the next run.
func (t *tally) addRun(j batch.Job, v *batch.Verdict) {
	t.runs++
	t.virtual += v.Virtual
	t.wall += v.Wall
	if v.Failed() {
		t.failures++
		t.code = worseExitCode(t.code, v.Code)
	}
	t.moments = batch.Heed(t.moments, v)
	if t.plan.json || t.plan.junit != "" {
		t.verdicts = append(t.verdicts, *v)
	}
	if t.one == nil {
		one := *v
		t.one = &one
	}
	if !v.Failed() && len(v.Unread) > 0 && !slices.ContainsFunc(t.unread, func(one batch.Verdict) bool { return one.File == v.File }) {
		t.unread = append(t.unread, batch.Verdict{File: v.File, Seed: v.Seed, Unread: v.Unread})
	}
	for _, s := range v.Settings {
		if !s.Unread && !slices.Contains(t.read, s.Name) {
			t.read = append(t.read, s.Name)
		}
	}
	if len(t.studies) == 0 {
		t.samples.Add(v)
		return
	}
	if t.err != nil {
		return
	}
	at := slices.IndexFunc(t.studies, func(s *experiment.Study) bool { return s.File == v.File })
	if t.err = t.studies[at].Add(j, v); t.err == nil && t.rows != nil {
		if err := t.rows.Add(v); err != nil {
			t.err = fmt.Errorf("--csv: %w", err)
		}
	}
}

// finishFigures draws the picture and ends the files. It returns what the picture has no place for.
func (t *tally) finishFigures() (without []string, err error) {
	without, err = t.drawPicture()
	return without, errors.Join(t.err, err, t.closeFiles())
}

// closeFiles ends the files of the figures.
func (t *tally) closeFiles() error {
	if t.rows == nil {
		return nil
	}
	if err := t.rows.Close(); err != nil {
		return fmt.Errorf("--csv: %w", err)
	}
	return nil
}

// drawPicture writes the picture of --plot. It returns what it has no place for.
func (t *tally) drawPicture() (without []string, err error) {
	if t.plan.plot == "" || t.failures == t.runs {
		return nil, nil
	}
	if !t.studies[0].HasFigures() {
		return nil, errors.New("--plot: no run that passed gave a figure to measure(…)")
	}
	file, err := os.Create(t.plan.plot)
	if err == nil {
		without, err = t.studies[0].Draw(file)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("--plot: %w", err)
	}
	return without, nil
}

// unreadSetting says which setting no run read. Runs that failed may not have come so far,
// and those of other shards are not known.
func (t *tally) unreadSetting() error {
	if t.failures > 0 || t.plan.shard.Of > 1 {
		return nil
	}
	for _, axis := range t.plan.grid {
		if !slices.Contains(t.read, axis.Name) {
			return failure.NewUsage("", "%s", scenario.NoSetting(axis.Name, t.read).What)
		}
	}
	return nil
}

// resultPoints are the results of an experiment, scenario by scenario.
func (t *tally) resultPoints() (all []experiment.Point) {
	for _, s := range t.studies {
		all = append(all, s.Points()...)
	}
	return all
}

// printFigures prints the figures.
func (t *tally) printFigures(w io.Writer) {
	for _, s := range t.studies {
		if len(t.studies) > 1 && s.HasFigures() {
			fmt.Fprintf(w, "%s:\n", s.File)
		}
		s.Tell(w)
	}
	if len(t.studies) == 0 {
		t.samples.Tell(w, t.runs > 1)
	}
}

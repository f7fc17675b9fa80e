package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// Numbers of seeds.
const (
	firstLook  = 8
	quickSeeds = 4
	MaxSeeds   = 100_000
)

// Plan is how an experiment is run.
type Plan struct {
	First uint64      // the first seed; 0: 1
	Seeds int         // at most; the looks are at 8, 16, 32 … of them
	Quick bool        // few points and seeds
	Fixed bool        // all seeds at each point, however narrow its intervals are
	Shard batch.Shard // which rows; a shard has no looks, since it does not have all rows
	Jobs  int         // rows at a time
	Out   string      // the folder of results
	// Tell is told of progress. It may be nil.
	Tell func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Experiment  string
	Done, Rows  int // of this look
	Seeds       int // of this look
	Left        time.Duration
	Widest      float64 // of the intervals, in precisions: 1 is narrow enough
	WidestPoint string
}

// job is a row to be made.
type job struct {
	point Point
	seed  uint64
}

// Run makes the rows that are missing, and returns all that the folder has for the plan.
func (e *Experiment) Run(ctx context.Context, p Plan) ([]Row, error) {
	folder := filepath.Join(p.Out, e.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	name := "points.csv"
	if p.Shard.Of > 1 {
		name = fmt.Sprintf("points-%dof%d.csv", p.Shard.Index, p.Shard.Of)
	}
	file, had, err := openLog(filepath.Join(folder, name), e)
	if err != nil {
		return nil, err
	}
	r := &running{Experiment: e, plan: p, file: file, rows: map[string]Row{}}
	for _, row := range had {
		r.rows[row.Key] = row
	}
	err = r.runPlan(ctx)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return r.listRows(), err
}

// running is a plan under way.
type running struct {
	*Experiment
	plan Plan
	file *log
	rows map[string]Row // by key
}

// hasFixedSeeds says that no point stops before all seeds.
func (p Plan) hasFixedSeeds() bool { return p.Fixed || p.Quick || p.Shard.Of > 1 }

// listLooks are the numbers of seeds after which a plan asks whether points are settled.
func (p Plan) listLooks() (all []int) {
	if p.Quick {
		return []int{min(quickSeeds, p.Seeds)}
	}
	if p.hasFixedSeeds() {
		return []int{p.Seeds}
	}
	for n := firstLook; n < p.Seeds; n *= 2 {
		all = append(all, n)
	}
	return append(all, p.Seeds)
}

// listSeeds are the first n seeds of a plan.
func (p Plan) listSeeds(n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = max(p.First, 1) + uint64(i)
	}
	return all
}

func (r *running) runPlan(ctx context.Context) error {
	for _, seeds := range r.plan.listLooks() {
		var jobs []job
		for _, point := range r.Points(r.plan.Quick) {
			if r.isSettled(point) {
				continue
			}
			for _, seed := range r.plan.listSeeds(seeds) {
				key := r.Key(point, seed)
				if _, made := r.rows[key]; !made && r.isOfShard(key) {
					jobs = append(jobs, job{point, seed})
				}
			}
		}
		if err := r.makeRows(ctx, jobs, seeds); err != nil {
			return err
		}
	}
	return nil
}

// isOfShard reports whether a row belongs to the shard: by its key, so that shards are alike in
// work whatever the grid is.
func (r *running) isOfShard(key string) bool {
	if r.plan.Shard.Of <= 1 {
		return true
	}
	n, err := strconv.ParseUint(key, 16, 64)
	if err != nil {
		panic("lab: a key is not a number: " + key)
	}
	return n%r.plan.Shard.Of == r.plan.Shard.Index-1
}

// isSettled reports whether the intervals of a point are narrow enough at a look.
func (r *running) isSettled(p Point) bool {
	figures := r.figuresOf(p)
	seeds := len(figures[0])
	if seeds < firstLook || r.plan.hasFixedSeeds() {
		return false
	}
	precise := false
	for i, m := range r.Measures {
		if m.Precision == 0 {
			continue
		}
		precise = true
		if m.estimateFrom(figures[i], looked).Half() > m.Precision {
			return false
		}
	}
	return precise
}

// figuresOf are the figures of a point that are there, by measure and seed.
func (r *running) figuresOf(p Point) [][]float64 {
	figures := make([][]float64, len(r.Measures))
	for _, seed := range r.plan.listSeeds(r.plan.Seeds) {
		if row, made := r.rows[r.Key(p, seed)]; made {
			for i, f := range row.Figures {
				figures[i] = append(figures[i], f)
			}
		}
	}
	return figures
}

// jobEnd is the end of a job.
type jobEnd struct {
	row Row
	err error
}

// makeRows makes rows, some at a time, and writes each as it comes.
func (r *running) makeRows(ctx context.Context, jobs []job, seeds int) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	todo, done := make(chan job), make(chan jobEnd)
	var workers sync.WaitGroup
	for range max(1, r.plan.Jobs) {
		workers.Go(func() {
			for j := range todo {
				row, err := r.Play(j.point, j.seed)
				done <- jobEnd{row, err}
			}
		})
	}
	go func() {
		defer close(done)
		defer workers.Wait()
		defer close(todo)
		for _, j := range jobs {
			select {
			case todo <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	began, n := time.Now(), 0
	for m := range done {
		if m.err == nil && err == nil {
			m.err = r.file.Append(m.row)
			r.rows[m.row.Key] = m.row
		}
		if err == nil && m.err != nil {
			err = m.err
			stop()
		}
		if n++; r.plan.Tell != nil {
			r.plan.Tell(r.progressAt(n, len(jobs), seeds, time.Since(began)))
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

func (r *running) progressAt(n, all, seeds int, took time.Duration) Progress {
	p := Progress{Experiment: r.Name, Done: n, Rows: all, Seeds: seeds, Left: took / time.Duration(n) * time.Duration(all-n)}
	if n < all {
		return p
	}
	for _, point := range r.Points(r.plan.Quick) {
		figures := r.figuresOf(point)
		for i, m := range r.Measures {
			if m.Precision == 0 || len(figures[i]) < 2 {
				continue
			}
			if width := m.estimateFrom(figures[i], looked).Half() / m.Precision; width > p.Widest {
				p.Widest, p.WidestPoint = width, m.Name+" at "+r.Describe(point)
			}
		}
	}
	return p
}

// listRows are the rows of the plan, by point and seed.
func (r *running) listRows() (rows []Row) {
	for _, row := range r.rows { // order: sorted below
		rows = append(rows, row)
	}
	sortRows(rows)
	return rows
}

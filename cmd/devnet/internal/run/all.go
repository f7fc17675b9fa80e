package run

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/container"
)

// backendAll makes each run in several worlds, and compares the outcomes.
const backendAll = "all"

// separateBackend returns the world of separate nodes: containers if an engine has the image,
// and otherwise processes, with the reason.
func (p *plan) separateBackend(ctx context.Context) (backend, why string) {
	if err := container.Ready(ctx, p.Image); err != nil {
		return batch.Processes, err.Error()
	}
	return batch.Docker, ""
}

// comparedAs is a run of all worlds in the form of --json.
type comparedAs struct {
	Runs     []batch.Verdict    `json:"runs"`
	Failed   int                `json:"failed"`
	Compared []batch.Comparison `json:"compared"`
}

// runAll makes every run in each world, one after the other in this process, and
// prints the differences.
func (p *plan) runAll(c *cli.Context) error {
	last, why := p.separateBackend(c.Context)
	if why != "" && !p.json {
		fmt.Fprintf(c.App.ErrWriter, "No containers, processes take their place: %s\n", why)
	}
	all := comparedAs{Compared: []batch.Comparison{}}
	differ := 0
	for job := range p.jobsOfShard() {
		var verdicts []batch.Verdict
		for _, backend := range []string{batch.Sim, batch.Live, last} {
			world := p.World
			world.Backend, world.Record = backend, true
			v, err := runAlone(c.Context, p.json, c.App.ErrWriter, job.File+" on "+backend, func(one *batch.Runner) (batch.Verdict, error) {
				return one.Alone(c.Context, world, job, "", io.Discard, func(v batch.Verdict) int { return v.Code })
			})
			if err != nil {
				return err
			}
			if v.Failed() {
				all.Failed++
				if !p.json {
					printComplaint(c.App.Writer, &v)
				}
			}
			verdicts = append(verdicts, v)
			if v.Code == batch.Mistaken {
				break // a wrong script is wrong everywhere
			}
		}
		all.Runs = append(all.Runs, verdicts...)
		if len(verdicts) == 1 {
			continue
		}
		compared := batch.Compare(verdicts)
		all.Compared = append(all.Compared, compared)
		if len(compared.Differences) > 0 {
			differ++
		}
		if !p.json {
			compared.Tell(c.App.Writer)
		}
	}
	return p.concludeAll(c, &all, differ)
}

// concludeAll ends a run of all worlds.
func (p *plan) concludeAll(c *cli.Context, all *comparedAs, differ int) error {
	if p.junit != "" {
		if err := batch.WriteJUnit(p.junit, p.shard, all.Runs, nil); err != nil {
			return failure.New("", "--junit: %v", err)
		}
	}
	if p.json {
		if err := command.PrintJSON(c.App.Writer, all); err != nil {
			return err
		}
	}
	code := failure.ExitDone
	for i := range all.Runs {
		if all.Runs[i].Failed() {
			code = worseExitCode(code, all.Runs[i].Code)
		}
	}
	switch {
	case code != failure.ExitDone:
		return &failure.Failure{Code: code, What: fmt.Sprintf("%d of %d runs failed", all.Failed, len(all.Runs))}
	case differ > 0:
		return failure.New("Values that a script measures may differ if they depend on the pace of the network.",
			"%d of %d scenarios did not come to the same everywhere", differ, len(all.Compared))
	}
	return nil
}

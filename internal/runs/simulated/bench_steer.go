package simulated

import (
	"context"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/steer"
	"github.com/cowboyinc/devnet/validators/history"
)

// Steer implements api.Backend.
func (b *Bench) Steer() answers.Steering {
	return operator{steer.Actions{Network: b.operatedNetwork(), Read: b.Reader}, b}
}

// operator has the verbs of governance and time in the form of the HTTP API.
type operator struct {
	steer.Actions
	bench *Bench
}

// Advance implements answers.Steering.
func (o operator) Advance(_ context.Context, to history.Target) (*history.Advance, error) {
	return o.bench.Advance(to)
}

// answerBlocks is how long a committee may take to have a job: who comes later has no
// answer, and may be given one.
const answerBlocks = 3

// AnswerJob implements answers.Steering: it drives the network until the job's runners have
// it, as far as they will.
func (o operator) AnswerJob(id types.Hash, said execution.Given) (given []types.Address, err error) {
	b := o.bench
	for blocks := 0; ; blocks++ {
		v, err := b.Reader("")
		if err != nil {
			return nil, err
		}
		job, err := v.Job(id)
		if err != nil || job == nil {
			return nil, err
		}
		refused := b.Answer(id, said)
		if refused == nil {
			given = job.Committee
		}
		if refused == nil && said.Percent > 0 { // who has the job later may be told later
			return given, nil
		}
		over := types.JobStatus(job.Status).Ended() || blocks >= answerBlocks
		if over && given == nil {
			return nil, refusal.New("not_waiting", "no runner of this devnet waits for an answer to job %s: it is %s: %v",
				id, job.Status, refused).At("id")
		}
		if over {
			return given, nil
		}
		if _, err := b.Next(b.finalHeight(), benchRound); err != nil {
			return nil, err
		}
	}
}

// PrepareRunner implements answers.Steering.
func (o operator) PrepareRunner(name string, owner types.Address) (string, *system.Registration, error) {
	if !o.bench.config.Open {
		return "", nil, withoutRunners()
	}
	return o.Actions.PrepareRunner(name, owner)
}

// ReloadRunner implements answers.Steering.
func (o operator) ReloadRunner(name string) error { return answers.NoSettings(name) }

func withoutRunners() error {
	return refusal.New("no_runners", "this bench cannot start further runners").
		Hint("A network does: devnet up, or runners = 1 in a script.")
}

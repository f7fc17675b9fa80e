package stage

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// Steer implements api.Backend.
func (b *Bench) Steer() api.Steering { return operator{b} }

// operator has the verbs of governance and time in the form of the HTTP API.
type operator struct{ bench *Bench }

// Paused implements api.Steering.
func (o operator) Paused() bool { return o.bench.Paused() }

// SetPaused implements api.Steering.
func (o operator) SetPaused(on bool) error { return o.bench.SetPaused(on) }

// Advance implements api.Steering.
func (o operator) Advance(_ context.Context, to history.Target) (*history.Advance, error) {
	return o.bench.Advance(to)
}

// Join implements api.Steering.
func (o operator) Join(ctx context.Context, name string) (m model.Move, err error) {
	who, err := o.bench.Network.Join(ctx, name)
	if err != nil {
		return m, err
	}
	return o.move(who.Name), nil
}

// Leave implements api.Steering.
func (o operator) Leave(ctx context.Context, name string) (m model.Move, err error) {
	if _, err := o.bench.Network.Leave(ctx, name); err != nil {
		return m, err
	}
	return o.move(name), nil
}

// move returns the status of a decided move.
func (o operator) move(name string) model.Move {
	b := o.bench
	state := b.Validator(b.best()).Head().State
	m := model.Move{Name: name, Address: b.Key(name).Address(), Status: b.Status(name), Epoch: state.NextEpoch()}
	if m.Status == history.StatusJoining || m.Status == history.StatusLeaving {
		m.Epoch++
	}
	m.Height = types.Height(uint64(m.Epoch)*state.NextParams().EpochBlocks + 1)
	return m
}

// SetParam implements api.Steering.
func (o operator) SetParam(ctx context.Context, r model.ParamRequest) (m model.ParamChange, err error) {
	change, err := o.bench.Network.SetParam(ctx, r.Key, r.Value, r.At)
	if err != nil {
		return m, err
	}
	return model.ParamChange{Key: change.Key, Value: change.Value, Class: string(change.Class), Height: change.Height, Hash: change.Hash}, nil
}

// Tell implements api.Steering.
func (o operator) Tell(e fault.Effect) { o.bench.Cheated(e) }

// CancelTimer implements api.Steering.
func (o operator) CancelTimer(ctx context.Context, id types.TimerID) (*types.Receipt, error) {
	v, err := o.bench.Reader("")
	if err != nil {
		return nil, err
	}
	return o.bench.Network.CancelTimer(ctx, v, id)
}

// ExtendTimer implements api.Steering.
func (o operator) ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error) {
	v, err := o.bench.Reader("")
	if err != nil {
		return nil, err
	}
	return o.bench.Network.ExtendTimer(ctx, v, id, expiresAt)
}

// answerBlocks is how long a committee may take to have a job: who comes later has no
// answer, and may be given one.
const answerBlocks = 3

// AnswerJob implements api.Steering: it drives the network until the job's runners have
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
		if _, err := b.Next(b.height(), benchRound); err != nil {
			return nil, err
		}
	}
}

// PrepareRunner implements api.Steering.
func (o operator) PrepareRunner(name string, owner types.Address) (p api.PreparedRunner, err error) {
	if !o.bench.config.Open {
		return p, withoutRunners()
	}
	return o.bench.Network.PrepareRunner(name, owner)
}

// StartRunner implements api.Steering.
func (o operator) StartRunner(name string) error { return o.bench.Network.StartRunner(name) }

// ReloadRunner implements api.Steering.
func (o operator) ReloadRunner(name string) error { return api.ErrNoSettings(name) }

func withoutRunners() error {
	return refusal.New("no_runners", "this bench cannot start further runners").
		Hint("A network does: devnet up, or runners = 1 in a script.")
}

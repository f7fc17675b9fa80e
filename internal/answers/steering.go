package answers

import (
	"context"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/history"
)

// Steering is what the operator of a devnet may do to it. Its methods refuse
// what a strict network has not.
type Steering interface {
	Paused() bool
	// SetPaused stops the making of blocks, or resumes it.
	SetPaused(on bool) error
	// Advance travels to a height; it returns once that is final.
	Advance(context.Context, history.Target) (*history.Advance, error)
	// Join and Leave return once the instruction is final.
	Join(ctx context.Context, name string) (model.Move, error)
	Leave(ctx context.Context, name string) (model.Move, error)
	// SetParam returns once the instruction is final.
	SetParam(ctx context.Context, key, value string, at types.Height) (model.ParamChange, error)
	// CancelTimer and ExtendTimer return the instruction's receipt once it is final.
	CancelTimer(context.Context, types.TimerID) (*types.Receipt, error)
	ExtendTimer(ctx context.Context, id types.TimerID, expiresAt types.Height) (*types.Receipt, error)
	// Cheated lists a cheat among the faults.
	Cheated(fault.Effect)
	// AnswerJob gives the result of a job of the executor manual, or says how far it is, to
	// those of the devnet's runners that wait for it, and returns them.
	AnswerJob(job types.Hash, given execution.Given) ([]types.Address, error)
	// PrepareRunner returns the registration of a runner with a name, "" for the next
	// free one: a new runner, or a deregistered one, which rejoins under another key. It
	// has what all of them offer, and is signed for an owner. StartRunner starts it once that is final.
	PrepareRunner(name string, owner types.Address) (string, *system.Registration, error)
	StartRunner(name string) error
	// ReloadRunner has a runner of the devnet's own read its settings again.
	ReloadRunner(name string) error
}

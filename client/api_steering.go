package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Answers and requests of this part, with the field names of their JSON forms.
type (
	Advance        = model.Advance
	AdvanceRequest = model.AdvanceRequest
	AdvanceTimer   = model.AdvanceTimer
	BalanceRequest = model.BalanceRequest
	BalanceSet     = model.BalanceSet
	ExtendRequest  = model.ExtendRequest
	FaultEffect    = model.FaultReceipt
	FaultOrder     = model.FaultRequest
	Frame          = model.Frame
	Frames         = model.Frames
	GoRequest      = model.GoRequest
	Held           = model.Held
	Late           = model.Late
	Move           = model.Move
	Pace           = model.Pace
	ParamChange    = model.ParamChange
	ParamRequest   = model.ParamRequest
	Retold         = model.Retold
	RetoldFile     = model.RetoldFile
	StateRequest   = model.StateRequest
	StateSet       = model.StateSet
	StepRequest    = model.StepRequest
	TimerOrder     = model.TimerOrder
	WaitingTimer   = model.WaitingTimer
)

// Fault makes a fault by its verb, as docs/SCENARIOS.md tells them, and returns what it
// did so far.
func (a *API) Fault(ctx context.Context, r model.FaultRequest) (model.FaultReceipt, error) {
	return postJSON[model.FaultReceipt](ctx, a, "/devnet/fault", r)
}

// Faults lists the faults so far, and what each did.
func (a *API) Faults(ctx context.Context) ([]model.FaultReceipt, error) {
	return getJSON[[]model.FaultReceipt](ctx, a.wholeNetwork(), "/devnet/faults", nil)
}

// Retell returns what was done by hand to the network, as a scenario that does it again.
func (a *API) Retell(ctx context.Context) (model.Retold, error) {
	return getJSON[model.Retold](ctx, a.At(""), "/devnet/scenario", nil)
}

// Heal restores all links.
func (a *API) Heal(ctx context.Context) ([]model.FaultReceipt, error) {
	return postJSON[[]model.FaultReceipt](ctx, a, "/devnet/heal", struct{}{})
}

// Pause stops the making of blocks.
func (a *API) Pause(ctx context.Context) (model.Pace, error) {
	return postJSON[model.Pace](ctx, a, "/devnet/pause", struct{}{})
}

// Resume resumes it.
func (a *API) Resume(ctx context.Context) (model.Pace, error) {
	return postJSON[model.Pace](ctx, a, "/devnet/resume", struct{}{})
}

// Advance travels through time, and returns once the network is at its target.
func (a *API) Advance(ctx context.Context, r model.AdvanceRequest) (model.Advance, error) {
	return postJSON[model.Advance](ctx, a, "/devnet/advance", r)
}

// SetBalance gives an account or actor another balance.
func (a *API) SetBalance(ctx context.Context, r model.BalanceRequest) (model.BalanceSet, error) {
	return postJSON[model.BalanceSet](ctx, a, "/devnet/balance", r)
}

// SetState gives a key of an actor's state another value, or removes it.
func (a *API) SetState(ctx context.Context, r model.StateRequest) (model.StateSet, error) {
	return postJSON[model.StateSet](ctx, a, "/devnet/state", r)
}

// Mine makes a number of blocks now and skips no height, also while the network is
// paused. It returns what fired.
func (a *API) Mine(ctx context.Context, blocks uint64) (model.Advance, error) {
	return postJSON[model.Advance](ctx, a, "/devnet/mine", model.MineRequest{Blocks: blocks})
}

// Automine says whether blocks are made by themselves. Off is the same as Pause, on the
// same as Resume.
func (a *API) Automine(ctx context.Context, on bool) (model.Pace, error) {
	return postJSON[model.Pace](ctx, a, "/devnet/automine", model.AutomineRequest{On: on})
}

// JoinValidator starts a validator that joins at the epoch's end; an empty name
// means the next that is free. Of one that leaves it takes the leave back.
func (a *API) JoinValidator(ctx context.Context, name string) (model.Move, error) {
	return postJSON[model.Move](ctx, a, "/devnet/validator/join", model.MoveRequest{Name: name})
}

// LeaveValidator has a validator leave at the epoch's end.
func (a *API) LeaveValidator(ctx context.Context, name string) (model.Move, error) {
	return postJSON[model.Move](ctx, a, "/devnet/validator/leave", model.MoveRequest{Name: name})
}

// SetParam sets a parameter from a height on.
func (a *API) SetParam(ctx context.Context, r model.ParamRequest) (model.ParamChange, error) {
	return postJSON[model.ParamChange](ctx, a, "/devnet/params", r)
}

// CancelTimer has the system key cancel any actor's timer; the id may be shortened.
func (a *API) CancelTimer(ctx context.Context, id string) (model.TimerOrder, error) {
	return postJSON[model.TimerOrder](ctx, a, "/devnet/timer/cancel", model.TimerRequest{ID: id})
}

// ExtendTimer has the system key move any actor's timer's expires_at.
func (a *API) ExtendTimer(ctx context.Context, r model.ExtendRequest) (model.TimerOrder, error) {
	return postJSON[model.TimerOrder](ctx, a, "/devnet/timer/extend", r)
}

// Held returns the moment at which a simulated run is held, by devnet run --hold. Another network refuses it (not_held).
func (a *API) Held(ctx context.Context) (model.Held, error) {
	return getJSON[model.Held](ctx, a.wholeNetwork(), "/hold", nil)
}

// Frames returns the frames between validators that a held run had of some views; to = 0: up to the latest. Of lost, those that did not
// arrive as usual.
func (a *API) Frames(ctx context.Context, from, to View, lost bool) (Frames, error) {
	q := query(nil).withNumber("from", uint64(from)).withNumber("to", uint64(to))
	if lost {
		q = q.withText("lost", "true")
	}
	return getJSON[Frames](ctx, a.wholeNetwork(), "/hold/frames", q)
}

// Step lets a held run go on.
func (a *API) Step(ctx context.Context, r model.StepRequest) (model.Held, error) {
	return postJSON[model.Held](ctx, a, "/hold/step", r)
}

// StepBack plays a held run again from its seed, to an earlier moment.
func (a *API) StepBack(ctx context.Context, r model.StepRequest) (model.Held, error) {
	return postJSON[model.Held](ctx, a, "/hold/back", r)
}

// GoToMoment moves a held run to a moment by its name, on or back.
func (a *API) GoToMoment(ctx context.Context, moment string) (model.Held, error) {
	return postJSON[model.Held](ctx, a, "/hold/go", model.GoRequest{To: moment})
}

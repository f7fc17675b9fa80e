package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// AdvanceTimeout is how long a request waits for time travel to end; the network
// continues all the same.
const AdvanceTimeout = 4 * time.Minute

func (s *Server) registerSteering() {
	for _, on := range []bool{true, false} {
		op := operation{id: "pause", method: http.MethodPost, path: "/devnet/pause", tag: tagDevnet,
			client:      "Pause() stops the making of blocks.",
			summary:     "Stop the making of blocks",
			description: "Work in progress still becomes final. Transactions wait in the pool. Asking twice changes nothing.",
			response:    model.Pace{Paused: true, Height: 12}}
		if !on {
			op.id, op.path, op.summary, op.client = "resume", "/devnet/resume", "Let blocks be made again", "Resume() resumes it."
			op.description, op.response = "Asking twice changes nothing.", model.Pace{Height: 12}
		}
		serveRoute(s, op, func(context.Context, *struct{}) (m model.Pace, err error) { return s.setPace(on) })
	}
	serveBody(s, operation{id: "advance", path: "/devnet/advance", tag: tagDevnet,
		client:  "Advance(r AdvanceRequest) travels through time, and returns once the network is at its target.",
		summary: "Travel in time: skip every height at which nothing is due, and list the fires",
		description: "Timers on the way fire at their own heights, and the clock of all nodes moves along. " +
			"Epochs end on the way, each with a block. What was due and has not ended is named: left, waiting. " +
			"An advance to the next timer goes on while only a machine is late with it. " +
			"504 when it takes longer than four minutes; it still continues, also after a restart. " +
			"404 (not_kept) if blocks of the way were dropped before they were counted: the height is final.",
		errors: []int{404, 409, 504}, request: model.AdvanceRequest{Blocks: 1000},
		response: model.Advance{From: 12, To: 1012, Blocks: 17, Skipped: 983, ClockMS: 1_000_000, Fired: 1, Ended: 1,
			Timers: []model.AdvanceTimer{{ID: exampleTimerID, Actor: exampleActorAt, Due: 22, At: 22, Status: "fired", Result: "ok"}}}},
		s.advanceTime)
	s.registerMoves()
	serveBody(s, operation{id: "set_param", path: "/devnet/params", tag: tagDevnet,
		client:  "SetParam(r ParamRequest) sets a parameter from a height on.",
		summary: "Set a protocol parameter from a height on; answers once that is decided", errors: []int{404, 409, 429, 504},
		request:  model.ParamRequest{Key: "cip3.min_basefee", Value: "10"},
		response: model.ParamChange{Key: "cip3.min_basefee", Value: "10", Class: "block", Height: 14, Hash: exampleHash}}, s.setParam)
	s.registerCheats()
	s.registerTimerOrders()
	s.registerJobOrders()
	s.registerRunnerOrders()
	s.registerRunnerChanges()
}

// registerMoves has validators join and leave.
func (s *Server) registerMoves() {
	move := operation{id: "validator_join", path: "/devnet/validator/join", tag: tagDevnet,
		client: "JoinValidator(name string) starts a validator that joins at the epoch's end; an empty name means the next that " +
			"is free. Of one that leaves it takes the leave back.",
		summary: "Start a validator that joins the set at the end of the epoch; answers once that is decided",
		description: "It starts from nothing and catches up before its first vote. Of a validator that leaves at the end of the epoch it " +
			"takes the leave back.",
		errors: []int{404, 409, 429, 504}, request: model.MoveRequest{Name: "v4"},
		response: model.Move{Name: "v4", Address: exampleAddress, Status: "joining", Epoch: 1, Height: 65}}
	serveBody(s, move, func(ctx context.Context, in *model.MoveRequest) (model.Move, error) {
		if err := s.requireSteerable(); err != nil {
			return model.Move{}, err
		}
		return s.backend.Steer().Join(ctx, in.Name)
	})
	move.id, move.path = "validator_leave", "/devnet/validator/leave"
	move.client = "LeaveValidator(name string) has a validator leave at the epoch's end."
	move.summary, move.description = "Remove a validator from the set at the end of the epoch; answers once that is decided", "Its node "+
		"stops at that height."
	move.response = model.Move{Name: "v4", Address: exampleAddress, Status: "leaving", Epoch: 1, Height: 65}
	serveBody(s, move, func(ctx context.Context, in *model.MoveRequest) (model.Move, error) {
		if err := s.requireSteerable(); err != nil {
			return model.Move{}, err
		}
		return s.backend.Steer().Leave(ctx, in.Name)
	})
}

func (s *Server) setPace(on bool) (m model.Pace, err error) {
	steering := s.backend.Steer()
	if err := steering.SetPaused(on); err != nil {
		return m, err
	}
	v, err := s.backend.Reader("")
	if err != nil {
		return m, err
	}
	return model.Pace{Paused: steering.Paused(), Height: v.Head().Height}, nil
}

func (s *Server) advanceTime(ctx context.Context, in *model.AdvanceRequest) (m model.Advance, err error) {
	return s.travelTo(ctx, history.Target{Blocks: in.Blocks, To: in.To, NextTimer: in.ToNextTimer, Stop: in.Stop})
}

func (s *Server) travelTo(ctx context.Context, to history.Target) (m model.Advance, err error) {
	if err := s.requireSteerable(); err != nil {
		return m, err
	}
	ctx, cancel := context.WithTimeout(ctx, AdvanceTimeout)
	defer cancel()
	receipt, err := s.backend.Steer().Advance(ctx, to)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return m, Refuse(http.StatusGatewayTimeout, "travelling", "the advance is still under way after %s", AdvanceTimeout).
			Hint("The network travels on, also after a restart: an advance to the same height waits for it, one with stop ends it.")
	case err != nil:
		return m, err
	}
	return advanceModel(receipt), nil
}

func advanceModel(a *history.Advance) model.Advance {
	m := model.Advance{From: a.From, To: a.To, Blocks: a.Blocks, Skipped: a.Skipped, ClockMS: a.Clock.Milliseconds(),
		Fired: a.Fired, Ended: a.Ended, Deferred: a.Deferred, Timers: []model.AdvanceTimer{}}
	for i := range a.Timers {
		t := &a.Timers[i]
		m.Timers = append(m.Timers, model.AdvanceTimer{ID: t.ID, Actor: t.Actor, Due: t.Due, At: t.At, Late: t.Late(),
			Status: string(t.Status), Result: string(t.Result), Reason: t.Reason})
	}
	for _, l := range a.Left {
		m.Left = append(m.Left, model.LaneDeferral{Reason: l.Reason, Count: l.Count})
	}
	for _, w := range a.Waiting {
		m.Waiting = append(m.Waiting, model.WaitingTimer(w))
	}
	return m
}

func (s *Server) setParam(ctx context.Context, in *model.ParamRequest) (model.ParamChange, error) {
	if err := s.requireSteerable(); err != nil {
		return model.ParamChange{}, err
	}
	return s.backend.Steer().SetParam(ctx, in.Key, in.Value, in.At)
}

package api

import (
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/internal/api/model"
	"github.com/cowboyinc/devnet/internal/types"
)

func (s *Server) registerTimers() {
	serve(s, operation{id: "timers", method: http.MethodGet, path: "/timers", tag: tagTimers,
		summary: "Timers in every state, by due height, then insertion", errors: []int{400, 404, 409},
		response: []model.Timer{exampleTimer}}, s.listTimers)
	serve(s, operation{id: "timer", method: http.MethodGet, path: "/timer/{id}", tag: tagTimers,
		summary: "A timer, with the receipt of its fire", errors: []int{400, 404, 409},
		response: model.TimerDetail{Timer: exampleTimer, Receipt: &exampleFire}}, s.getTimer)
}

type timersInput struct {
	OnNode
	Page
	Actor  string                 `query:"actor" maxLength:"256" doc:"Only this actor's, by address or name."`
	DueBy  optional[types.Height] `query:"due_by" doc:"Only those due at this height or before."`
	Status string                 `query:"status" enum:"pending,fired,expired,insufficient_funds,cancelled" doc:"Only those in this state."`
}

func (s *Server) listTimers(_ context.Context, in *timersInput) ([]model.Timer, error) {
	v, err := s.view(in.OnNode)
	if err != nil {
		return nil, err
	}
	filter := TimerFilter{Status: types.TimerStatus(in.Status), Offset: in.Offset, Limit: in.Limit}
	if in.Actor != "" {
		a, err := s.address(v, in.Actor, "actor")
		if err != nil {
			return nil, err
		}
		filter.Actor = &a
	}
	if in.DueBy.set {
		filter.DueBy = &in.DueBy.Value
	}
	timers, err := v.Timers(filter)
	if err != nil {
		return nil, err
	}
	out := []model.Timer{}
	for i := range timers {
		out = append(out, timerModel(&timers[i]))
	}
	return out, nil
}

type timerInput struct {
	OnNode
	ID string `path:"id" maxLength:"80" example:"0x2222222222222222222222222222222222222222222222222222222222222222"`
}

func (s *Server) getTimer(_ context.Context, in *timerInput) (m model.TimerDetail, err error) {
	id, err := hash(in.ID, "id")
	if err != nil {
		return m, err
	}
	v, err := s.view(in.OnNode)
	if err != nil {
		return m, err
	}
	t, err := v.Timer(id)
	if err != nil {
		return m, err
	}
	if t == nil {
		return m, Refuse(http.StatusNotFound, "unknown_timer", "no final block scheduled a timer %s", id).
			Hint("GET /timers lists those that are known.").At("id")
	}
	m.Timer = timerModel(t)
	if t.Status == types.TimerFired {
		r, err := v.Receipt(id)
		if err != nil {
			return m, err
		}
		if r != nil {
			receipt := receiptModel(r)
			m.Receipt = &receipt
		}
	}
	return m, nil
}

package api

import (
	"context"
	"math"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// Orders of the system key about any actor's timer (CIP-1 §12).
func (s *Server) registerTimerOrders() {
	serveBody(s, operation{id: "timer_cancel", path: "/devnet/timer/cancel", tag: tagDevnet,
		client:      "CancelTimer(id string) has the system key cancel any actor's timer; the id may be shortened.",
		summary:     "Cancel any actor's timer by an instruction of the system key; answers once final",
		description: "A timer that ends before the instruction's block is left as it ended: 409 with unknown_timer.",
		errors:      []int{404, 409, 429, 504}, request: model.TimerRequest{ID: exampleTimerID.String()},
		response: model.TimerOrder{ID: exampleTimerID, Status: "cancelled", ExpiresAt: 1022, Height: 14, Hash: exampleHash}}, s.cancelTimer)
	serveBody(s, operation{id: "timer_extend", path: "/devnet/timer/extend", tag: tagDevnet,
		client:      "ExtendTimer(r ExtendRequest) has the system key move any actor's timer's expires_at.",
		summary:     "Move any actor's timer's expires_at by an instruction of the system key; answers once final",
		description: "It only lengthens, and never beyond cip5.max_ttl_blocks from the instruction's block.",
		errors:      []int{404, 409, 429, 504}, request: model.ExtendRequest{ID: exampleTimerID.String(), By: 1000},
		response: model.TimerOrder{ID: exampleTimerID, Status: "pending", ExpiresAt: 2022, Height: 14, Hash: exampleHash}}, s.extendTimer)
}

// findPendingTimer is the timer that an order names, by its id or enough of it.
func (s *Server) findPendingTimer(text string) (*answers.Timer, error) {
	v, err := s.backend.Reader("")
	if err != nil {
		return nil, err
	}
	id, err := findHash(v, history.TimerHash, text, "id")
	if err != nil {
		return nil, err
	}
	return answers.PendingTimer(v, id)
}

func (s *Server) cancelTimer(ctx context.Context, in *model.TimerRequest) (m model.TimerOrder, err error) {
	t, err := s.findPendingTimer(in.ID)
	if err != nil {
		return m, err
	}
	if err := s.requireSteerable(); err != nil {
		return m, err
	}
	r, err := s.backend.Steer().CancelTimer(ctx, t.ID)
	if err != nil {
		return m, err
	}
	return model.TimerOrder{ID: t.ID, Status: string(types.TimerCancelled), ExpiresAt: t.ExpiresAt, Height: r.Height, Hash: r.Hash}, nil
}

func (s *Server) extendTimer(ctx context.Context, in *model.ExtendRequest) (m model.TimerOrder, err error) {
	to, by := in.To, in.By
	if (to == 0) == (by == 0) {
		return m, Refuse(http.StatusBadRequest, "invalid_request", "an extension needs one of to and by, and not both").At("to")
	}
	t, err := s.findPendingTimer(in.ID)
	if err != nil {
		return m, err
	}
	if by != 0 {
		to = t.ExpiresAt + types.Height(min(by, math.MaxUint64-uint64(t.ExpiresAt)))
	}
	if err := s.requireSteerable(); err != nil {
		return m, err
	}
	r, err := s.backend.Steer().ExtendTimer(ctx, t.ID, to)
	if err != nil {
		return m, err
	}
	return model.TimerOrder{ID: t.ID, Status: string(types.TimerPending), ExpiresAt: to, Height: r.Height, Hash: r.Hash}, nil
}

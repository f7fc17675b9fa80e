package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func (s *Server) registerFaults() {
	serve(s, operation{id: "fault", method: http.MethodPost, path: "/devnet/fault", tag: tagDevnet,
		summary:     "Make a fault of a validator or of links; answers what it did so far",
		description: told() + ". A partition or bridge replaces the one before. Each fault is an event of type fault in GET /events.",
		errors:      []int{404, 409}, request: model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0", "v1"}, {"v2", "v3"}}},
		response: exampleFault}, s.fault)
	s.enumerateVerbs()
	serve(s, operation{id: "faults", method: http.MethodGet, path: "/devnet/faults", tag: tagDevnet,
		summary: "The faults so far, and what each did", response: []model.FaultReceipt{exampleFault}}, s.faults)
	serve(s, operation{id: "heal", method: http.MethodPost, path: "/devnet/heal", tag: tagDevnet,
		summary:     "Mend all links; answers the faults so far",
		description: "No partition or bridge, and all links as they are by themselves. Nodes that are down, frozen or misbehave stay so.",
		response:    []model.FaultReceipt{exampleFault}}, s.heal)
}

var exampleFault = model.FaultReceipt{Verb: "partition", Detail: "v0,v1 / v2,v3", Did: "4 connections cut, 61 packets dropped"}

type faultInput struct{ Body model.FaultRequest }

func (s *Server) fault(_ context.Context, in *faultInput) (m model.FaultReceipt, err error) {
	if err := s.cheat("/devnet/fault"); err != nil {
		return m, err
	}
	order, err := orderOf(&in.Body)
	if err != nil {
		return m, err
	}
	effect, err := s.backend.Do(order)
	if err != nil {
		return m, faultRefused(err)
	}
	m = model.FaultReceipt(effect)
	s.feed.note(m)
	return m, nil
}

// faultRefused answers why a fault was not made.
func faultRefused(err error) error {
	var answer *Error
	var invalid *fault.Invalid
	var missing *fault.Unsupported
	switch {
	case errors.As(err, &answer):
		return answer
	case errors.As(err, &invalid):
		return Refuse(http.StatusBadRequest, invalid.Code, "%s", invalid.Message).At(invalid.Field)
	case errors.As(err, &missing):
		return Refuse(http.StatusBadRequest, "unsupported", "%v", missing).At("verb")
	}
	return Refuse(http.StatusConflict, "fault_refused", "%v", err)
}

func (s *Server) receipts() []model.FaultReceipt {
	out := []model.FaultReceipt{}
	for _, r := range s.backend.Faults() {
		out = append(out, model.FaultReceipt(r))
	}
	return out
}

func (s *Server) faults(context.Context, *struct{}) ([]model.FaultReceipt, error) {
	if err := s.cheat("/devnet/faults"); err != nil {
		return nil, err
	}
	return s.receipts(), nil
}

func (s *Server) heal(context.Context, *struct{}) ([]model.FaultReceipt, error) {
	if err := s.cheat("/devnet/heal"); err != nil {
		return nil, err
	}
	effect, err := s.backend.Do(fault.Order{Verb: "heal"})
	if err != nil {
		return nil, faultRefused(err)
	}
	s.feed.note(model.FaultReceipt(effect))
	return s.receipts(), nil
}

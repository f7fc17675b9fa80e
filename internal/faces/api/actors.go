package api

import (
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

func (s *Server) registerActors() {
	serveRead(s, operation{id: "actors", path: "/actors", tag: tagActors,
		client:  "Actors(p Page) lists the deployed actors.",
		summary: "The deployed actors, by address", response: []model.Actor{exampleActor}}, s.listActors)
	serveRead(s, operation{id: "actor", path: "/actor/{address}", tag: tagActors,
		client:  "Actor(name string) returns an actor by address or name.",
		summary: "An actor: owner, code, handlers, balance, timers", errors: []int{400}, response: exampleActor}, s.getActor)
	s.registerSchema()
	serveRead(s, operation{id: "actor_state", path: "/actor/{address}/state", tag: tagActors,
		client:      "State(actor string, prefix string, p Page) lists an actor's state, of keys that begin with prefix.",
		summary:     "An actor's state, by key",
		description: "For an earlier moment blocks are executed again, as for a trace. The time counts as that of reads.",
		errors:      []int{400, 429, 500}, response: []model.StateEntry{exampleEntry}}, s.actorState)
	serveRead(s, operation{id: "actor_logs", path: "/actor/{address}/logs", tag: tagActors,
		client:  "Logs(actor string, p Page) lists what an actor printed.",
		summary: "The lines an actor printed, oldest first or newest first", errors: []int{400},
		response: []model.LogLine{exampleLog}}, s.actorLogs)
	serveRead(s, operation{id: "actor_read", method: http.MethodPost, path: "/actor/read", tag: tagActors,
		client:  "Read(r ReadRequest) calls a handler read-only.",
		summary: "Call a handler read-only on the latest final state, or read typed state",
		description: "Every side effect is refused. A handler that fails answers 200 with its status and error. Typed state is read by its " +
			"name where there is no handler of it, and runs nothing: price, members[3], len(members), log[KEY]. " + readsHaveABudget,
		errors:  []int{400, 409, 429},
		request: model.ReadRequest{Actor: "heartbeat", Handler: "count"}, response: exampleRead}, s.readActor)
	serveRead(s, operation{id: "actor_bid", method: http.MethodPost, path: "/actor/bid", tag: tagActors,
		client:  "TryBid(r BidRequest) asks a gas bidding agent for the price of a hypothetical timer.",
		summary: "Ask a gas bidding agent for the price of a timer that does not exist",
		description: "As the lane of the next block would (CIP-1 §7): nothing is charged or kept. An agent that fails answers 200 with its " +
			"status and error, and what the protocol's own agent bids. " + readsHaveABudget,
		errors:  []int{429},
		request: model.BidRequest{Bidder: "liquidator", Late: 3}, response: exampleBid}, s.tryBid)
}

// readsHaveABudget describes what refuses what executes beside blocks (decision C18).
const readsHaveABudget = "A client's reads and dry runs have a budget of time: beyond it they answer 429 too_many_reads with " +
	"Retry-After. A handler that was late in one answers 503 late_before while another such runs."

type listInput struct {
	OnMoment
	Page
}

func (s *Server) listActors(_ context.Context, v answers.Reader, in *listInput) ([]model.Actor, error) {
	deployed, err := v.Actors(in.Offset, in.Limit)
	if err != nil {
		return nil, err
	}
	out := []model.Actor{}
	for i := range deployed {
		m, err := ShowActor(v, &deployed[i])
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func (s *Server) getActor(_ context.Context, v answers.Reader, in *AddressInput) (m model.Actor, err error) {
	actor, err := s.findActor(v, in.Address, "address")
	if err != nil {
		return m, err
	}
	return ShowActor(v, actor)
}

// ShowActor is an actor as GET /actor/{address} shows it.
func ShowActor(v answers.Reader, a *answers.Actor) (m model.Actor, err error) {
	account, err := v.Account(a.Address)
	if err != nil {
		return m, err
	}
	m = model.Actor{Address: a.Address, Name: a.Name, Owner: a.Owner, CodeHash: a.CodeHash, Balance: account.Balance,
		DeployedAt: a.DeployedAt, Handlers: []model.ActorHandler{}, Undescribed: a.Undescribed,
		Timers: model.ActorTimers{Pending: a.TimersPending}}
	m.Upgrades, m.DeployedAs = upgradesModel(a)
	for _, h := range a.Handlers {
		m.Handlers = append(m.Handlers, model.ActorHandler{Name: h.Name, Doc: h.Doc})
	}
	next, err := v.Timers(history.TimerFilter{Actor: &a.Address, Status: types.TimerPending, Page: history.Page{Limit: 1}})
	if err == nil && len(next) == 1 {
		m.Timers.NextDue = &next[0].Height
	}
	return m, err
}

type stateInput struct {
	AddressInput
	Page
	Prefix string `query:"prefix" maxLength:"1024" doc:"Only keys that begin with this: 0x-hex or text."`
}

func (s *Server) actorState(_ context.Context, v answers.Reader, in *stateInput) ([]model.StateEntry, error) {
	prefix, err := decodePayload(in.Prefix, "prefix")
	if err != nil {
		return nil, err
	}
	actor, err := s.findActor(v, in.Address, "address")
	if err != nil {
		return nil, err
	}
	entries, err := v.State(actor.Address, prefix, in.Offset, in.Limit)
	if err != nil {
		return nil, err
	}
	out, as := []model.StateEntry{}, TypesOf(v)
	for _, e := range entries {
		value := types.Bytes(e.Value)
		out = append(out, model.StateEntry{Key: e.Key, Value: value, Text: model.Text(value), Int: model.Int(value),
			Typed: as.typeState(actor.Address, e.Key, &value, nil)})
	}
	return out, nil
}

type logsInput struct {
	AddressInput
	OrderedPage
}

func (s *Server) actorLogs(_ context.Context, v answers.Reader, in *logsInput) ([]model.LogLine, error) {
	actor, err := s.findActor(v, in.Address, "address")
	if err != nil {
		return nil, err
	}
	lines, err := v.Logs(actor.Address, in.historyPage())
	if err != nil {
		return nil, err
	}
	out := []model.LogLine{}
	for _, l := range lines {
		out = append(out, answers.ShowLog(l))
	}
	return out, nil
}

type readInput struct {
	OnMoment
	Body model.ReadRequest
}

func (s *Server) readActor(ctx context.Context, v answers.Reader, in *readInput) (m model.ReadResult, err error) {
	actor, err := s.findActor(v, in.Body.Actor, "actor")
	if err != nil {
		return m, err
	}
	schema, _ := SchemaOf(v, actor.Address) // without one its handlers can be read
	if found, is, err := s.readState(v, actor, schema, &in.Body); is || err != nil {
		return found, err
	}
	call := ledger.Call{Actor: actor.Address, Handler: in.Body.Handler}
	if call.Payload, err = s.resolvePayload(v, HandlerOf(actor.Address, call.Handler), in.Body.Payload, "payload", in.Body.Args); err != nil {
		return m, err
	}
	if in.Body.From != "" {
		if call.Sender, err = s.resolveAddress(v, in.Body.From, "from"); err != nil {
			return m, err
		}
	}
	free, err := s.beginRead(ctx, s.reads)
	if err != nil {
		return m, err
	}
	defer free()
	r, err := v.Read(ctx, call)
	if err != nil {
		return m, err
	}
	m = answers.ShowResult(v.Head().Height, r)
	m.Typed = TypesOf(v).Returned(actor.Address, call.Handler, r.Outcome.Output)
	if r.Outcome.Status == types.StatusNoHandler {
		TellState(m.Error, schema, call.Handler)
	}
	return m, nil
}

type bidInput struct {
	OnMoment
	Body model.BidRequest
}

func (s *Server) tryBid(ctx context.Context, v answers.Reader, in *bidInput) (m model.BidTrial, err error) {
	bidder, err := s.findActor(v, in.Body.Bidder, "bidder")
	if err != nil {
		return m, err
	}
	trial := ledger.BidTrial{Bidder: bidder.Address, Actor: bidder.Address, Late: in.Body.Late, With: in.Body.With}
	if in.Body.Actor != "" {
		if trial.Actor, err = s.resolveAddress(v, in.Body.Actor, "actor"); err != nil {
			return m, err
		}
	}
	free, err := s.beginRead(ctx, s.reads)
	if err != nil {
		return m, err
	}
	defer free()
	r, err := v.TryBid(ctx, trial)
	if err != nil {
		return m, err
	}
	return model.BidTrial{Height: r.Height, Context: r.Context, Status: string(r.Outcome.Status), Error: answers.ShowError(r.Outcome.Fault),
		Output: r.Outcome.Output, Answered: r.Answers, MaxFeePerCycle: r.Tried.MaxFee, MaxPriorityFeePerCycle: r.Tried.Priority,
		BaseFeeCycle: r.Tried.Price.BaseFeeCycle, BaseFeeLaneTimer: r.Tried.Price.BaseFeeLane, TipPerCycle: r.Tried.Price.TipCycle,
		PricedOut: r.Tried.PricedOut, Cycles: r.Cycles, Logs: answers.Printed(r.Logs)}, nil
}

func decodePayload(text, field string) ([]byte, error) {
	b, err := model.Payload(text)
	if err != nil {
		return nil, Refuse(http.StatusBadRequest, "invalid_bytes", "%v", err).At(field)
	}
	return b, nil
}

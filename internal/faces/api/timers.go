package api

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerTimers() {
	serveRead(s, operation{id: "timers", path: "/timers", tag: tagTimers,
		summary: "Timers in every state, by due height, then insertion, or the other way round", errors: []int{400},
		response: []model.Timer{exampleTimer}}, s.listTimers)
	serveRead(s, operation{id: "timer", path: "/timer/{id}", tag: tagTimers,
		client:  "Timer(id string) returns a timer and the receipt of its fire.",
		summary: "A timer, with the receipt of its fire", errors: []int{400},
		response: model.TimerDetail{Timer: exampleTimer, Receipt: &exampleFire}}, s.getTimer)
	serveRead(s, operation{id: "timer_story", path: "/timer/{id}/story", tag: tagTimers,
		client: "TimerStory(id string, from Height, blocks int) returns the life of a timer, with at most this number of the " +
			"blocks that deferred it, from a height on. 0 leaves the number to the network.",
		summary: "List the events of a timer: moves between tiers, blocks that deferred it with the reason, and the payments of its fire",
		description: "Blocks in a row that deferred it for the same reason, at the same offer, are one entry. A timer deferred by more than " +
			"limit " +
			"blocks is told in parts: next is the height from which to ask on.",
		errors: []int{400}, response: exampleStory}, s.getTimerStory)
	serveRead(s, operation{id: "lane", path: "/timers/lane", tag: tagTimers,
		client:  "Lane(last int) lists the records of the timer lane of the last blocks, newest last.",
		summary: "Show the timer lane of the last blocks, newest last",
		description: "Base fees, use of the budget, and how many timers fired, were deferred and why, expired or could not be paid for. A " +
			"block without due timers is listed too.",
		response: []model.LaneBlock{exampleLane}}, s.getLane)
}

type timersInput struct {
	OnMoment
	OrderedPage
	Actor  string                 `query:"actor" maxLength:"256" doc:"Only this actor's, by address or name."`
	DueBy  optional[types.Height] `query:"due_by" doc:"Only those due at this height or before."`
	Status string                 `query:"status" enum:"pending,fired,expired,insufficient_funds,cancelled" doc:"Only those in this state."`
}

func (s *Server) listTimers(_ context.Context, v answers.Reader, in *timersInput) ([]model.Timer, error) {
	filter := history.TimerFilter{Status: types.TimerStatus(in.Status), Page: in.historyPage()}
	if in.Actor != "" {
		a, err := s.resolveAddress(v, in.Actor, "actor")
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
	out, as := []model.Timer{}, TypesOf(v)
	for i := range timers {
		out = append(out, as.Timer(&timers[i]))
	}
	return out, nil
}

// TimerInput is the parameter of requests for one timer.
type TimerInput struct {
	OnMoment
	ID string `path:"id" maxLength:"80" example:"0x2222222222222222222222222222222222222222222222222222222222222222" doc:"As schedule_timer returned it, and GET /timers lists it."`
}

func (s *Server) getTimer(_ context.Context, v answers.Reader, in *TimerInput) (m model.TimerDetail, err error) {
	id, err := findHash(v, history.TimerHash, in.ID, "id")
	if err != nil {
		return m, err
	}
	t, err := v.Timer(id)
	if err != nil {
		return m, err
	}
	if t == nil {
		return m, answers.UnknownTimer(v, id)
	}
	m.Timer = TypesOf(v).Timer(t)
	if t.Status == types.TimerFired {
		r, err := v.Receipt(id)
		if err != nil {
			return m, err
		}
		if r != nil {
			m.Receipt = new(TypesOf(v).Receipt(&r.Receipt, r.Logs))
		}
	}
	return m, nil
}

type storyInput struct {
	TimerInput
	From  types.Height `query:"from" doc:"Tell the blocks that deferred it from this height on; from the first where absent."`
	Limit int          `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"Maximum number of these blocks; rows of equal ones are joined."`
}

func (s *Server) getTimerStory(_ context.Context, v answers.Reader, in *storyInput) (m model.TimerStory, err error) {
	id, err := findHash(v, history.TimerHash, in.ID, "id")
	if err != nil {
		return m, err
	}
	story, err := v.Story(id, in.From, in.Limit)
	if err != nil {
		return m, err
	}
	if story == nil {
		return m, answers.UnknownTimer(v, id)
	}
	m = model.TimerStory{Timer: TypesOf(v).Timer(&story.Timer), Height: v.Head().Height, Story: append([]model.StoryEntry{}, story.Entries...)}
	if story.Next != 0 {
		m.Next = &story.Next
	}
	names := s.nodeNames()
	for i := range m.Story {
		m.Story[i].NameNodes(func(a types.Address) string { return names[a] })
	}
	return m, nil
}

type laneInput struct {
	OnMoment
	Last int `query:"last" minimum:"1" maximum:"1000" default:"40" doc:"Number of latest blocks."`
}

func (s *Server) getLane(_ context.Context, v answers.Reader, in *laneInput) ([]model.LaneBlock, error) {
	lane, err := v.Lane(in.Last)
	return append([]model.LaneBlock{}, lane...), err
}

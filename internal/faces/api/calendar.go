package api

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func (s *Server) registerCalendar() {
	serveRead(s, operation{id: "timers_calendar", path: "/timers/calendar", tag: tagTimers,
		client: "TimerCalendar(from Height, to Height, bins int) counts the pending timers by tier and height, in at most bins " +
			"bins. 0 is the default number of bins, and 0 for a height the default range.",
		summary: "How many timers are due, by tier of the calendar and by height, in bins",
		description: "The default range is the next 4,096 heights. At most 131,072 timers are read: whole says " +
			"whether that was enough.",
		errors: []int{400, 404, 409}, response: exampleCalendar}, s.getCalendar)
}

var exampleCalendar = model.Calendar{Height: 12, From: 13, To: 16, Width: 2, Carry: 2, Pending: 9, Whole: true, Tiers: []model.CalendarTier{
	{Tier: "ring", Counts: []uint64{3, 1}, Total: 4}, {Tier: "epoch", Counts: []uint64{0, 0}}, {Tier: "overflow", Counts: []uint64{0, 0}}}}

type calendarInput struct {
	OnMoment
	From optional[types.Height] `query:"from" doc:"First height; where absent, the next one."`
	To   optional[types.Height] `query:"to" doc:"Last height; where absent, 4,095 above the first."`
	Bins int                    `query:"bins" minimum:"1" maximum:"512" default:"64" doc:"Maximum number of bins, of equal width."`
}

func (s *Server) getCalendar(_ context.Context, v answers.Reader, in *calendarInput) (m model.Calendar, err error) {
	free, err := s.ranges.takePlace()
	if err != nil {
		return m, err
	}
	defer free()
	head := v.Head()
	from := max(in.From.orElse(head.Height+1), 1) // nothing is due at genesis
	to := in.To.orElse(from + min(noEnd-from, CalendarHeights-1))
	if to < from {
		return m, errBackwards()
	}
	width := (to-from)/types.Height(in.Bins) + 1
	tally := v.Tally(from, to, width, MaxTallied)
	m = model.Calendar{Height: head.Height, From: from, To: to, Width: width, Carry: tally.Carry, Arrears: tally.Arrears,
		Pending: head.TimersPending, Whole: tally.Whole}
	for _, name := range []string{"ring", "epoch", "overflow"} {
		tier := model.CalendarTier{Tier: name, Counts: append([]uint64{}, tally.Bins[name]...)}
		for _, n := range tier.Counts {
			tier.Total += n
		}
		m.Tiers = append(m.Tiers, tier)
	}
	return m, nil
}

package api

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

func (s *Server) registerViews() {
	serveRoute(s, operation{id: "views", path: "/views", tag: tagNetwork,
		client: "Views(from View, to View) returns a range of the last 4,096 views, as the validators reported them; with 0 for " +
			"both, all of these.",
		summary: "The latest views: leader, votes seen, outcome, and the validators that gave each view up, with causes",
		description: "The last 4,096 views that the validators of this process reported since it began. The API of a single " +
			"validator knows only causes of its votes. Votes are read from certificates, so a late vote is missing.",
		errors: []int{400}, response: exampleViews}, s.viewsOf)
}

var exampleViews = model.Views{From: 17, To: 17, Latest: 18, KeptFrom: 1, Failed: 1,
	Validators: []model.NamedValidator{{Name: "v0", Address: exampleAddress}, {Name: "v3", Address: exampleActorAt}},
	Views: []model.View{{View: 17, Leader: 1, Outcome: model.ViewNullified, BeganMS: 1_700_000_012_000, TookUS: new(uint64(1_500_210)),
		Notarize: []int{}, Nullify: []int{0}, Finalize: []int{}, GaveUp: []model.GaveUp{{Validator: 0, Cause: "no_proposal"}},
		Cause: "no_proposal", Text: "nullified after 1.500 s: no proposal (v0)"}}}

type viewsInput struct {
	From optional[types.View] `query:"from" doc:"First view; where absent, the latest up to to are told."`
	To   optional[types.View] `query:"to" doc:"Last view; where absent, the latest."`
}

func (s *Server) viewsOf(_ context.Context, in *viewsInput) (m model.Views, err error) {
	from, to := in.From.orElse(0), in.To.orElse(noEnd)
	if to < from {
		return m, errBackwards()
	}
	free, err := s.ranges.takePlace()
	if err != nil {
		return m, err
	}
	defer free()
	told := s.backend.Views().Between(from, to)
	m = s.showViews(&told)
	m.From, m.To = max(from, told.First), min(to, told.Latest)
	return m, nil
}

// showViews is a part of a table of views. The members keep their positions; other
// validators that led or gave up follow.
func (s *Server) showViews(told *views.Told) model.Views {
	named := s.newNamedNodes()
	address := map[string]types.Address{}
	for a, name := range named.names { // order: a map to a map
		address[name] = a
	}
	for _, a := range told.Members {
		named.placeOf(a)
	}
	m := model.Views{Latest: told.Latest, KeptFrom: told.First, Failed: told.Failed, Views: []model.View{}}
	for i := range told.Views {
		m.Views = append(m.Views, viewModel(&told.Views[i], told.Now, named, address))
	}
	m.Validators = named.all
	return m
}

func viewModel(v *views.View, now types.Time, named *namedNodes, address map[string]types.Address) model.View {
	m := model.View{Epoch: v.Epoch, View: v.View, Leader: -1, BeganMS: v.Began.Millis(), GaveUp: []model.GaveUp{}, Text: v.Text(now, " s"),
		Notarize: votersOf(v, types.Notarize), Nullify: votersOf(v, types.Nullify), Finalize: votersOf(v, types.Finalize)}
	if !v.Leader.IsZero() {
		m.Leader = named.placeOf(v.Leader)
	}
	if v.Height != 0 {
		m.Height = &v.Height
	}
	var ended types.Time
	if m.Outcome, ended = outcomeOf(v); ended != 0 {
		m.TookUS = new(uint64(max(0, ended.Sub(v.Began).Microseconds())))
	}
	if c := v.Cause(); c != simplex.NoCause {
		m.Cause = c.String()
	}
	voted := map[int]bool{}
	for _, n := range m.Nullify {
		voted[n] = true
	}
	for _, g := range v.GaveUp {
		a, known := address[g.Node]
		if !known {
			continue // it is none of the network's any more
		}
		at := named.placeOf(a)
		m.GaveUp = append(m.GaveUp, model.GaveUp{Validator: at, Cause: g.Cause.String(), Detail: g.Detail})
		if !voted[at] {
			voted[at], m.Nullify = true, append(m.Nullify, at)
		}
	}
	slices.Sort(m.Nullify)
	return m
}

// failedViewEvents are the views that failed since the given number of them, as events of a height.
// It also returns the number of all. The latest MaxFaultEvents become events.
func (f *feed) failedViewEvents(h types.Height, known uint64) (events [][]byte, failed uint64) {
	f.world.Lock()
	defer f.world.Unlock()
	told := f.backend.Views().FailedAfter(known)
	if len(told.Views) == 0 {
		return nil, told.Failed
	}
	names := directory{f.backend}.nodeNames()
	for i := max(0, len(told.Views)-MaxFaultEvents); i < len(told.Views); i++ {
		v := &told.Views[i]
		events = append(events, mustSucceed(json.Marshal(viewEvent(v, h, names[v.Leader]))))
	}
	return events, told.Failed
}

// viewEvent is a view that was nullified, as an event.
func viewEvent(v *views.View, told types.Height, leader string) *model.ViewEvent {
	took := max(0, v.Nullified.Sub(v.Began))
	m := &model.ViewEvent{Height: told, Epoch: v.Epoch, View: v.View, Leader: leader, BeganMS: v.Began.Millis(),
		TookUS: uint64(took.Microseconds()), GaveUp: []model.ViewLost{}, Text: v.Sentence(leader)}
	if c := v.Cause(); c != simplex.NoCause {
		m.Cause = c.String()
	}
	for _, g := range v.GaveUp {
		m.GaveUp = append(m.GaveUp, model.ViewLost{Validator: g.Node, Cause: g.Cause.String(), Detail: g.Detail})
	}
	return m
}

func votersOf(v *views.View, kind types.VoteKind) []int { return append([]int{}, v.Votes[kind]...) }

// outcomeOf returns the outcome of a view, and its time.
func outcomeOf(v *views.View) (string, types.Time) {
	switch {
	case v.Final != 0:
		return model.ViewFinal, v.Final
	case v.Nullified != 0:
		return model.ViewNullified, v.Nullified
	case v.Notarized != 0:
		return model.ViewNotarized, v.Notarized
	}
	return model.ViewOpen, 0
}

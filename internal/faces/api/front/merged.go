package front

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (f *Front) serveReady(w http.ResponseWriter, r *http.Request) {
	m := f.Ready(r.Context())
	status := http.StatusOK
	if !m.Ready {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, m)
}

// Ready is the answer of GET /ready: what each validator says of itself, and the highest
// of runners and blocks; of who does not answer, why.
func (f *Front) Ready(ctx context.Context) model.Ready {
	answers := askAll(ctx, f, f.validators(), askPatience, (*client.Client).Ready)
	m := model.Ready{}
	for _, n := range f.all() { // by name, so that the same one is taken among equals
		if a, is := answers[n.Name]; is && (m.ChainID == 0 || a.Height > m.Height) {
			m = a
		}
	}
	best := m
	m.ChainID, m.Strict = f.config.ChainID, f.config.Strict
	m.Ready, m.Node, m.Nodes, m.Error, m.Trouble = true, "", []model.ReadyNode{}, nil, []string{}
	for _, n := range f.all() {
		row, part := f.rowOf(n, answers, &best)
		if !part {
			continue
		}
		m.Nodes, m.Ready = append(m.Nodes, row), m.Ready && row.Ready
	}
	for _, n := range f.all() {
		a, is := answers[n.Name]
		if !is {
			continue
		}
		m.SinceMS = min(m.SinceMS, a.SinceMS)
		for _, trouble := range a.Trouble {
			if !slices.Contains(m.Trouble, trouble) {
				m.Trouble = append(m.Trouble, trouble)
			}
		}
	}
	if len(answers) == 0 {
		m.Strategy = roles.Restart.String()
		m.Stalled, m.Blocked = "no validator answers", true
	}
	if !m.Ready {
		m.Error = api.NotReady(m.Nodes)
	}
	if m.Stalled != "" {
		m.Ready = false
		if m.Error == nil {
			m.Error = best.Error
		}
	}
	return m
}

// rowOf is how a node does; it may have no part in the network any more.
func (f *Front) rowOf(n Node, answers map[string]model.Ready, best *model.Ready) (row model.ReadyNode, part bool) {
	row = model.ReadyNode{Name: n.Name, Kind: n.Kind, Missing: []string{}}
	source, answered := answers[n.Name]
	if n.Kind == Runner {
		source, answered = *best, best.ChainID != 0
	}
	at := slices.IndexFunc(source.Nodes, func(of model.ReadyNode) bool { return of.Name == n.Name })
	if answered && at < 0 {
		return row, false
	}
	if answered {
		row = source.Nodes[at]
	}
	switch runs, frozen := f.config.Carrier.State(n.Name); {
	case !runs && f.hasLeft(n.Name):
		return row, false
	case !runs:
		row.Missing = []string{f.why(n.Name)}
	case frozen:
		row.Missing = []string{"it is frozen"}
	case !answered && n.Kind == Validator:
		row.Missing = []string{"it does not answer yet"}
	case !answered:
		row.Missing = []string{"no validator reports it yet"}
	}
	row.Ready = len(row.Missing) == 0
	return row, true
}

func (f *Front) serveValidators(w http.ResponseWriter, r *http.Request) {
	all, err := f.Validators(r.Context())
	if err != nil {
		api.Answer(w, err)
		return
	}
	answer(w, http.StatusOK, all)
}

// Validators is the answer of GET /validators: each as it tells of itself.
func (f *Front) Validators(ctx context.Context) ([]model.Validator, error) {
	answers := askAll(ctx, f, f.validators(), askPatience, (*client.Client).Validators)
	all := map[types.Address]model.Validator{}
	for _, n := range f.all() {
		for _, v := range answers[n.Name] {
			if before, known := all[v.Address]; !known || before.Elsewhere && !v.Elsewhere {
				all[v.Address] = v
			}
		}
	}
	if len(all) == 0 {
		return nil, noValidator()
	}
	var list []model.Validator
	f.mu.Lock()
	for _, v := range all { // sorted below
		list = append(list, f.asLastSeen(v))
	}
	f.mu.Unlock()
	slices.SortFunc(list, func(a, b model.Validator) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	for i := range list {
		list[i].Index = i
	}
	return list, nil
}

// asLastSeen is a validator as it tells of itself, or told last where it is one of the
// network's and does not answer. The lock is held.
func (f *Front) asLastSeen(v model.Validator) model.Validator {
	if !v.Elsewhere {
		f.seen[v.Address] = v
		return v
	}
	if _, err := f.find(v.Name); err != nil {
		return v
	}
	if was, is := f.seen[v.Address]; is {
		was.Status = v.Status
		v = was
	}
	v.Running, _ = f.config.Carrier.State(v.Name)
	v.Elsewhere, v.Connections, v.Runners = false, 0, 0
	return v
}

// serveRunners adds to the chosen validator's list who else each runner is connected to.
func (f *Front) serveRunners(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	first := f.proxy.choose(r.Context())
	if name := query.Get("node"); name != "" || first == "" {
		f.proxy.ServeHTTP(w, r)
		return
	}
	var list []model.Runner
	if err := f.get(r.Context(), first, r.URL.Path, query, &list); err != nil {
		api.Answer(w, err)
		return
	}
	f.connect(r.Context(), list)
	answer(w, http.StatusOK, list)
}

func (f *Front) serveRunner(w http.ResponseWriter, r *http.Request) {
	first := f.proxy.choose(r.Context())
	if first == "" || r.URL.Query().Get("node") != "" {
		f.proxy.ServeHTTP(w, r)
		return
	}
	one := make([]model.Runner, 1)
	if err := f.get(r.Context(), first, r.URL.Path, r.URL.Query(), &one[0]); err != nil {
		api.Answer(w, err)
		return
	}
	f.connect(r.Context(), one)
	answer(w, http.StatusOK, one[0])
}

// get asks one validator, and hands its refusal on.
func (f *Front) get(ctx context.Context, name, path string, query url.Values, into any) error {
	err := client.New(f.config.Carrier.Control(name)).Get(ctx, path, query, into)
	if refused, is := err.(*client.Error); is {
		return &api.Error{Status: refused.Status, Body: refused.ErrorBody}
	}
	if err != nil {
		f.proxy.leave(name)
		return api.Refuse(http.StatusServiceUnavailable, "node_stopped", "%s ended before it answered", name).
			Hint("Ask again: another one answers.")
	}
	return nil
}

// maxConnectAsked is how many runners a validator tells of at once.
const maxConnectAsked = 1000

// connect adds the connections that each validator knows of, which are its own, and the dead
// letters of runners.
func (f *Front) connect(ctx context.Context, list []model.Runner) {
	pages := askAll(ctx, f, f.validators(), askPatience, func(c *client.Client, ctx context.Context) (map[types.Address]model.Runner, error) {
		known := map[types.Address]model.Runner{}
		if len(list) == 1 {
			r, err := c.Runner(ctx, list[0].Address.String())
			known[r.Address] = r
			return known, err
		}
		for offset := 0; ; offset += maxConnectAsked {
			page, err := c.Runners(ctx, "", client.Page{Offset: offset, Limit: maxConnectAsked})
			for _, r := range page {
				known[r.Address] = r
			}
			if err != nil || len(page) < maxConnectAsked {
				return known, err
			}
		}
	})
	letters := f.letters()
	for i := range list {
		r, heard := &list[i], []model.RunnerEvent{}
		for _, n := range f.all() {
			seen, is := pages[n.Name][r.Address]
			if !is {
				continue
			}
			r.Accepting = r.Accepting && seen.Accepting
			if seen.Changes != nil {
				r.Changes = seen.Changes
			}
			heard = append(heard, seen.Heard...)
			for _, v := range seen.Connected {
				if !slices.Contains(r.Connected, v) {
					r.Connected = append(r.Connected, v)
				}
			}
		}
		slices.SortFunc(r.Connected, types.Address.Compare)
		if n, known := letters[r.Name]; known {
			r.DeadLetters = &n
		}
		slices.SortStableFunc(heard, func(a, b model.RunnerEvent) int { return cmp.Compare(a.Height, b.Height) })
		r.Heard = heard
	}
}

// letters are the dead letters of runners, by name, as far as somebody knows them.
func (f *Front) letters() map[string]uint64 {
	if f.config.Letters == nil {
		return nil
	}
	return f.config.Letters()
}

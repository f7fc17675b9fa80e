package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func (s *Server) registerRunners() {
	serveRead(s, operation{id: "runners", path: "/runners", tag: tagRunners,
		client:  "Runners(health string, p Page) lists runners in the order of the registry: those of a health, or all.",
		summary: "Runners in the order of the registry, deregistered ones too", response: []model.Runner{exampleRunner}}, s.listRunners)
	serveRead(s, operation{id: "runners_active", path: "/runners/active", tag: tagRunners,
		client:   "ActiveRunners(p Page) lists the runners that the next draw looks at.",
		summary:  "The runners that the next draw looks at: healthy, present where jobs are pushed, of enough reputation",
		response: []model.Runner{exampleRunner}}, s.activeRunners)
	serveRead(s, operation{id: "runner", path: "/runner/{address}", tag: tagRunners,
		client:  "Runner(name string) returns a runner by its name, its address, or enough of that.",
		summary: "A runner", errors: []int{400}, response: exampleRunner}, s.getRunner)
	serveRead(s, operation{id: "subsets", path: "/subsets", tag: tagRunners,
		client:      "Subsets() returns the inputs of every runner's subset.",
		summary:     "Show the basis of every runner's subset of validators (CIP-11 §5)",
		description: "A runner's subset is the first subset_size validators in it, by keccak256(runner's key ‖ validator's key).",
		response:    exampleSubsets}, s.getSubsets)
	serveRead(s, operation{id: "presence", path: "/presence/{height}", tag: tagRunners,
		client:      "Presence(h Height) returns P(H).",
		summary:     "P(H), which runners are present at a height, and the votes that it follows from (CIP-11 §8)",
		description: "It is known once the block after it is final: that carries the votes.",
		response:    examplePresence}, s.getPresence)
}

type runnersInput struct {
	OnMoment
	Page
	Status string `query:"status" enum:"Healthy,Unhealthy,Paused,Deregistered" doc:"Only those of this health."`
}

func (s *Server) listRunners(_ context.Context, v answers.Reader, in *runnersInput) ([]model.Runner, error) {
	return s.runnersByFilter(v, in.At, answers.RunnerFilter{Health: in.Status, Offset: in.Offset, Limit: in.Limit})
}

func (s *Server) activeRunners(_ context.Context, v answers.Reader, in *listInput) ([]model.Runner, error) {
	return s.runnersByFilter(v, in.At, answers.RunnerFilter{Available: true, Offset: in.Offset, Limit: in.Limit})
}

func (s *Server) runnersByFilter(v answers.Reader, at string, f answers.RunnerFilter) ([]model.Runner, error) {
	found, err := v.Runners(f)
	if err != nil {
		return nil, err
	}
	facts := s.factsOfRunners()
	for i := range found {
		facts.completeRunner(&found[i])
		if at != "" {
			leaveOutPresent(&found[i])
		}
	}
	return append([]model.Runner{}, found...), nil
}

// RunnerInput is the parameter of requests for one runner.
type RunnerInput struct {
	OnMoment
	OfRunner
}

// OfRunner is the path of requests for one runner.
type OfRunner struct {
	Address string `path:"address" maxLength:"256" example:"r0" doc:"0x and 40 hexadecimal digits, enough of them, or the name of one of the devnet's own."`
}

func (s *Server) getRunner(_ context.Context, v answers.Reader, in *RunnerInput) (m model.Runner, err error) {
	m, err = s.findRunner(v, in.Address, "address")
	if in.At != "" {
		leaveOutPresent(&m)
	}
	return m, err
}

// leaveOutPresent leaves out what is known of a runner now alone, in an answer of an earlier moment: no block says it.
func leaveOutPresent(r *model.Runner) {
	r.Connected, r.Changes, r.DeadLetters = nil, nil, nil
	r.Accepting = r.Health == model.RunnerHealthy
}

// findRunner finds a registered runner by its address, enough of it, or its name in
// the devnet. field is what an error points at.
func (d directory) findRunner(v answers.Reader, text, field string) (m model.Runner, err error) {
	a, err := d.runnerAddress(v, text, field)
	if err != nil {
		return m, err
	}
	r, err := v.Runner(a)
	if err != nil {
		return m, err
	}
	if r == nil && !strings.HasPrefix(text, "0x") { // an account or an actor has the name
		return m, errNoSuchRunner(text, field)
	}
	if r == nil {
		return m, Refuse(http.StatusNotFound, "unknown_runner", "no runner is registered at %s", a).
			Hint("GET /runners lists those that are.").At(field)
	}
	d.factsOfRunners().completeRunner(r)
	return *r, nil
}

func errNoSuchRunner(name, field string) *Error {
	return Refuse(http.StatusNotFound, "unknown_runner", "no runner is named %q", clipText(name)).
		Hint("GET /runners lists them: only the devnet's own have names.").At(field)
}

func (d directory) runnerAddress(v answers.Reader, text, field string) (types.Address, error) {
	short, ok := parseShortID(text, len(types.Address{}))
	if !ok {
		a, err := d.resolveAddress(v, text, field)
		if refused := Answer(err); refused != nil && refused.Body.Code == "unknown_name" {
			err = errNoSuchRunner(text, field)
		}
		return a, err
	}
	var first, last types.Address
	short.idBounds(first[:], last[:])
	found := slices.DeleteFunc(v.RunnerAddresses(first, last), func(a types.Address) bool { return !short.fitsID(a) })
	return onlyMatch(short, found, "runner", field)
}

// runnerFacts holds facts about runners that no chain has.
type runnerFacts struct {
	names     map[types.Address]string
	connected map[types.Address][]types.Address
	sated     map[types.Address]bool // the runner announced that it takes no new jobs
	changes   map[types.Address]*model.RunnerChanges
	letters   map[types.Address]uint64 // of those that run here
}

// factsOfRunners gathers the names of the devnet's own runners, the connections between nodes,
// and the dead letters of the runners that run here.
func (d directory) factsOfRunners() *runnerFacts {
	f := &runnerFacts{names: map[types.Address]string{}, connected: map[types.Address][]types.Address{}, sated: map[types.Address]bool{},
		changes: map[types.Address]*model.RunnerChanges{}, letters: d.backend.RunnerLetters()}
	for _, r := range d.backend.Runners() {
		f.names[r.Address] = r.Name
	}
	for _, n := range d.backend.Nodes() {
		for _, c := range n.Runners {
			f.connected[c.Runner] = append(f.connected[c.Runner], n.Validator.Address)
			f.sated[c.Runner] = f.sated[c.Runner] || !c.Accepting
			if c.Changes != nil { // it says the same to all
				f.changes[c.Runner] = c.Changes
			}
		}
	}
	for _, validators := range f.connected {
		slices.SortFunc(validators, types.Address.Compare)
	}
	return f
}

// completeRunner adds it to a runner.
func (f *runnerFacts) completeRunner(r *model.Runner) {
	r.Name = f.names[r.Address]
	r.Connected = append([]types.Address{}, f.connected[r.Address]...)
	r.Accepting = r.Accepting && !f.sated[r.Address]
	r.Changes = f.changes[r.Address]
	if n, here := f.letters[r.Address]; here {
		r.DeadLetters = &n
	}
}

func (s *Server) getSubsets(_ context.Context, v answers.Reader, _ *OnMoment) (m model.Subsets, err error) {
	m = v.Subsets()
	listens := map[types.Address]string{}
	for _, n := range s.backend.Nodes() {
		listens[n.Validator.Address] = n.Validator.Endpoint
	}
	for _, basis := range []*model.SubsetBasis{&m.Current, m.Former} {
		if basis == nil {
			continue
		}
		for i := range basis.Validators {
			if now := listens[basis.Validators[i].Address]; now != "" {
				basis.Validators[i].QUICAddress = now
			}
		}
	}
	return m, nil
}

type presenceInput struct {
	OnMoment
	Height types.Height `path:"height" example:"12" doc:"Height of the block that was voted on."`
}

func (s *Server) getPresence(_ context.Context, v answers.Reader, in *presenceInput) (m model.Presence, err error) {
	p, err := v.Presence(in.Height)
	if err != nil {
		return m, err
	}
	if p == nil {
		return m, noPresence(v, in.Height)
	}
	facts := s.factsOfRunners()
	for i := range p.Runners {
		p.Runners[i].Name = facts.names[p.Runners[i].Address]
	}
	return *p, nil
}

func noPresence(v answers.Reader, h types.Height) *Error {
	switch head := v.Head().Height; {
	case h > head:
		return Refuse(http.StatusNotFound, "unknown_block", "there is no final block of height %d; the latest is %d", h, head).At("height")
	case h == head:
		return Refuse(http.StatusNotFound, "not_final", "the votes on block %d are in the block after it, which is not final yet", h).
			Hint("Ask again after the next block.").At("height")
	}
	return Refuse(http.StatusNotFound, "unknown_block", "there is no block of height %d", h).
		Hint("Time travel skipped that height: see the field skipped of the next block.").At("height")
}

// Package why asks a simulated run for the cause of an outcome: a failed script, a failed view, a late timer, a failed
// job. It makes the run of the seed again with a single thing undone, a frame that was lost or late or an order of the
// script, and says which thing alone, or which two together, change the outcome. All else is drawn as it was.
//
//	Find      the search
//	question  an outcome, and whether another run has it
//	player    one run of the script, recorded or a trial
//
// It knows neither the command line nor a network's API.
package why

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// Limits of a search.
const (
	// MaxTrials bounds the runs of a search.
	MaxTrials = 100_000
	// maxPairs bounds how many of the nearest things are tried by twos.
	maxPairs = 64
	// longest is how much longer than the run a trial takes at most.
	longest = 4
	// enough is how many findings end a search in which each order was tried.
	enough = 5
)

// Options say what to ask, and how long.
type Options struct {
	Script Script
	Until  moment.Moment // where the run is asked; its zero is the script's end
	About  About
	Trials int
	Jobs   int
	// Lose are frames that the run loses besides, for tests: a planted loss.
	Lose func(from, to string, s sim.Saying) bool
	// Progress is told the trials that were made, of at most so many. It may be nil.
	Progress func(made, of int)
}

// Thing is what a trial undoes.
type Thing struct {
	Kind  string  `json:"kind"` // frame or order
	What  string  `json:"what"`
	Why   string  `json:"why,omitempty"` // of a frame: what happened to it
	At    float64 `json:"at"`            // in seconds of the network
	View  uint64  `json:"view,omitempty"`
	frame *sim.Mishap
	deed  *deed
	close int // 0 is closest
}

// Finding is what changes the outcome.
type Finding struct {
	Things   []Thing `json:"things"`
	Instead  string  `json:"instead"`
	Sentence string  `json:"sentence"`
}

// Report is what a search found.
type Report struct {
	Seed     uint64    `json:"seed"`
	Outcome  string    `json:"outcome"`
	Detail   string    `json:"detail,omitempty"`
	Findings []Finding `json:"findings"` // those of one thing, and without any those of two; the closest first
	Things   int       `json:"things"`   // that could be undone
	Trials   int       `json:"trials"`
	Stopped  bool      `json:"stopped"` // without a finding, before all single things were tried
}

// search is one.
type search struct {
	Options
	question question
	base     *sim.Record
	steps    uint64
	mu       sync.Mutex
	made     int
	found    int
	orders   int // how many of the things are orders, every other of the first
}

// Find looks for the cause of an outcome. Where the context ends, the report is what is known by then.
func Find(ctx context.Context, o Options) (*Report, error) {
	s := &search{Options: o, base: sim.NewRecord()}
	hosts := simulated.NewHosts()
	defer hosts.Close()
	p := &player{script: o.Script, until: o.Until, record: s.base, hosts: hosts}
	if o.Lose != nil {
		p.trial = &sim.Trial{Lose: o.Lose}
	}
	run := p.playScript(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.base.IsCutOff() {
		return nil, noQuestion("Ask a shorter run.", "the run draws more than %d times, and cannot be compared with others", sim.MaxDraws)
	}
	q, err := run.findQuestion(o.About)
	if err != nil {
		return nil, err
	}
	s.question, s.steps = q, run.steps
	things := s.listThings(run)
	report := &Report{Seed: run.seed, Outcome: q.outcomeText(), Things: len(things), Findings: []Finding{}}
	switch q := q.(type) {
	case *ofFailure:
		report.Detail = q.failureLine()
	case *ofView:
		report.Detail = q.detail
	case *ofTimer:
		report.Detail = q.end.reason
	case *ofJob:
		report.Detail = q.end.why
	}
	var single []func() []Thing
	for i := range min(len(things), o.Trials-o.Trials/3) { // the rest is for pairs
		single = append(single, func() []Thing { return []Thing{things[i]} })
	}
	report.Findings = s.makeTrials(ctx, single)
	report.Stopped = s.made < len(things) && len(report.Findings) == 0
	if len(report.Findings) == 0 && ctx.Err() == nil {
		report.Findings = s.makeTrials(ctx, s.listPairs(things))
	}
	report.Trials = s.made
	return report, nil
}

// listThings are what could be undone: frames and orders by turns, each the closest first.
func (s *search) listThings(run *playedRun) []Thing {
	since, known, network := s.question.whereKnown()
	var frames, deeds []Thing
	for _, m := range s.base.Mishaps() {
		if m.World() != network || m.Sent < since || m.Sent > known {
			continue
		}
		one := Thing{Kind: "frame", frame: &m, At: m.Sent.Sub(firstInstant).Seconds()}
		says := m.Says()
		one.What, one.Why, one.View = frameText(&m, says), whyText(&m), uint64(says.View)
		switch late := m.Why == sim.WhyLate; {
		case !late && s.question.isAboutView(says.View) && says.Name != "transactions":
		case !late:
			one.close = 1
		case s.question.isAboutView(says.View):
			one.close = 1
		default:
			one.close = 2
		}
		frames = append(frames, one)
	}
	for i := range run.deeds {
		d := &run.deeds[i]
		if d.network != network || d.When > known || d.Fault != nil && d.Fault.Mends {
			continue
		}
		deeds = append(deeds, Thing{Kind: "order", deed: d, What: d.Text(firstInstant), At: d.When.Sub(firstInstant).Seconds()})
	}
	nearest := func(a, b Thing) int { return cmp.Or(cmp.Compare(a.close, b.close), cmp.Compare(b.At, a.At)) }
	slices.Reverse(frames) // of those at one time the later is nearer
	slices.Reverse(deeds)
	slices.SortStableFunc(frames, nearest)
	slices.SortStableFunc(deeds, nearest)
	s.orders = len(deeds)
	var all []Thing
	for i := range max(len(frames), len(deeds)) {
		if i < len(deeds) {
			all = append(all, deeds[i])
		}
		if i < len(frames) {
			all = append(all, frames[i])
		}
	}
	return all
}

// listPairs are the things by twos, as far as trials are left: first orders, which do more than a frame, then all, the closest
// first.
func (s *search) listPairs(things []Thing) (all []func() []Thing) {
	var orders []Thing
	for _, one := range things {
		if one.deed != nil {
			orders = append(orders, one)
		}
	}
	all = byTwos(orders[:min(len(orders), maxPairs)], func(_, _ Thing) bool { return true })
	all = append(all, byTwos(things[:min(len(things), maxPairs)], func(a, b Thing) bool { return a.frame != nil || b.frame != nil })...)
	return all[:min(len(all), s.Trials-s.made)]
}

// byTwos are the pairs of things that are wanted, the closest first.
func byTwos(things []Thing, isWanted func(a, b Thing) bool) (all []func() []Thing) {
	for sum := 1; sum < 2*len(things)-2; sum++ {
		for i := range things {
			if j := sum - i; i < j && j < len(things) && isWanted(things[i], things[j]) {
				all = append(all, func() []Thing { return []Thing{things[i], things[j]} })
			}
		}
	}
	return all
}

// makeTrials makes trials, several at a time, and returns those that change the outcome, in their order.
func (s *search) makeTrials(ctx context.Context, all []func() []Thing) []Finding {
	found := make([]*Finding, len(all))
	next := make(chan int)
	var wait sync.WaitGroup
	for range max(s.Jobs, 1) {
		wait.Go(func() {
			hosts := simulated.NewHosts()
			defer hosts.Close()
			for i := range next {
				things := all[i]()
				if instead, is := s.changesOutcome(ctx, hosts, things); is {
					s.mu.Lock()
					s.found++
					s.mu.Unlock()
					found[i] = &Finding{Things: things, Instead: instead, Sentence: s.findingText(things, instead)}
				}
				s.countTrial(ctx, len(all))
			}
		})
	}
	for i := range all {
		if ctx.Err() != nil || s.hasEnough(i) {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	findings := []Finding{}
	for i, one := range found {
		if len(findings) >= enough && i >= 2*s.orders {
			break // however many were tried beside each other
		}
		if one != nil {
			findings = append(findings, *one)
		}
	}
	// A frame says more than the order that lost it, and a run that passes more than one that fails elsewhere.
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.countVagueThings(), b.countVagueThings()) })
	return findings
}

func (f *Finding) countVagueThings() (n int) {
	for _, one := range f.Things {
		if one.Kind == "order" {
			n++
		}
	}
	if strings.HasPrefix(f.Instead, "it fails elsewhere") {
		n += 10
	}
	return n
}

// hasEnough says that no further things need be tried, of which i were.
func (s *search) hasEnough(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found >= enough && i >= 2*s.orders
}

// countTrial counts a trial that was made to its end.
func (s *search) countTrial(ctx context.Context, of int) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if s.Progress != nil {
		s.Progress(s.made, of)
	}
}

// changesOutcome makes the run again without the things, and says what comes of it instead.
func (s *search) changesOutcome(ctx context.Context, hosts *simulated.Hosts, things []Thing) (instead string, is bool) {
	trial := &sim.Trial{Base: s.base, Lose: s.Lose, Deliver: map[sim.Position]bool{}}
	undo := &undone{deeds: map[place]bool{}}
	for _, one := range things {
		if one.frame != nil {
			trial.Deliver[one.frame.Position] = true
		} else {
			undo.deeds[place{one.deed.At, one.deed.Nth}] = true
		}
	}
	_, known, network := s.question.whereKnown()
	if _, ofScript := s.question.(*ofFailure); ofScript {
		network = 0 // a script that has passed has its answer
	}
	p := &player{script: s.Script, hosts: hosts, of: network, known: known, trial: trial, undo: undo, most: s.steps * longest}
	p.stop = func(p *playedRun) error {
		if s.question.isDecided(p) {
			return errDecided
		}
		return nil
	}
	run := p.playScript(ctx)
	if ctx.Err() != nil {
		return "", false
	}
	v, instead := s.question.judgeRun(run)
	return instead, v == changed
}

// findingText says what a finding means.
func (s *search) findingText(things []Thing, instead string) string {
	var frames, orders []string
	for _, one := range things {
		if one.frame != nil {
			frames = append(frames, fmt.Sprintf("%s (%s)", one.What, one.Why))
		} else {
			orders = append(orders, one.What)
		}
	}
	text, then := s.question.outcomeText(), "with it "
	if len(things) > 1 {
		then = "with both "
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if len(frames) > 0 {
		text += " without " + plural.List(frames, "and")
	}
	if len(orders) > 0 {
		switch {
		case len(frames) > 0:
			text, then = text+" and with "+plural.List(orders, "and"), "otherwise "
		case len(orders) > 1:
			text, then = text+" with "+plural.List(orders, "and"), "without both "
		default:
			text, then = text+" with "+orders[0], "without it "
		}
	}
	if len(frames) == 1 && len(orders) == 0 && things[0].frame.Why == sim.WhyLate {
		then = "at its usual time "
	}
	return text + "; " + then + instead + "."
}

// frameText names a frame: "v1's finalize vote to v2".
func frameText(m *sim.Mishap, says sim.Saying) string {
	what := strings.ReplaceAll(says.Name, "_", " ")
	switch {
	case what == "":
		return fmt.Sprintf("what %s sent %s", m.From, m.To)
	case says.Vote != "":
		what = says.Vote + " " + what
	}
	if says.View > 0 {
		what += fmt.Sprintf(" of view %d", says.View)
	}
	return fmt.Sprintf("%s's %s to %s", m.From, what, m.To)
}

// whyText says what happened to a frame: "cut by the partition, 312 bytes".
func whyText(m *sim.Mishap) string {
	why := string(m.Why)
	switch {
	case m.Why == sim.WhyLate:
		why = fmt.Sprintf("%.3f s late", m.Delay().Seconds())
	case m.Why == sim.WhyGone:
		why = "its process, or its sender's, was gone"
	}
	if m.By != nil {
		why += " by the " + m.By.String()
		if m.By.Verb == fault.Partition || m.By.Verb == fault.Bridge {
			why = string(m.Why) + " by the " + m.By.Verb.Name
		}
	}
	return fmt.Sprintf("%s, %s", why, plural.Of(m.Bytes, "byte"))
}

// Package explore looks for runs in which an oracle sees a rule broken. It puts faults between the statements of a script,
// as they are in the table of verbs, and keeps those programs that reach something new. What it finds it shrinks to a
// script of a few lines, which fails by itself.
//
//	Explore  the search
//	program  a script, as statements of its top level
//	draws    makes episodes of faults
//	tester   runs a program, and notes what it reached
package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// runs is a statement that runs the network for some blocks.
var runs = pattern.CompileOnNeed(`run\(blocks = [0-9]+\)`)

// Limits of a search.
const (
	mostEpisodes = 6    // of a program
	mostSeeds    = 1000 // the seeds of programs are below it
	mostShrinks  = 400  // runs for one find
	provings     = 2    // how often a shrunk script is run again
	mostRepairs  = 6    // of a program that ends before its end
)

// Options say what to explore.
type Options struct {
	Path string
	For  time.Duration
	Jobs int
	Dir  string // of the corpus and the finds
	Seed uint64 // of the search
	Most int    // finds that end the search; 0: time alone does
	Runs int    // runs that end it; 0: time alone does
	// Progress is told how far it is; Found of each find. They may be nil.
	Progress func(Progress)
	Found    func(Find)
}

// Progress is how far a search is.
type Progress struct {
	Runs    int `json:"runs"`
	Reached int `json:"reached"` // kinds of things
	Corpus  int `json:"corpus"`  // programs that reached something new
	Finds   int `json:"finds"`
	Failed  int `json:"ended_early"` // programs that ended by themselves before their end
}

// Find is a program in which something is wrong.
type Find struct {
	What   string `json:"what"`
	File   string `json:"file"`  // the shrunk script
	Lines  int    `json:"lines"` // of it, without comments
	Run    int    `json:"run"`   // which run found it
	Proven bool   `json:"proven"`
}

// Report is what a search came to.
type Report struct {
	Progress
	Finds   []Find        `json:"found"`
	Took    time.Duration `json:"-"`
	Seconds float64       `json:"seconds"`
}

// corpusProgram is a program of the corpus.
type corpusProgram struct {
	program *program
	reached []string
}

// search is one.
type search struct {
	Options
	base  *base
	nodes nodes

	mu     sync.Mutex
	rand   *rand.Rand
	corpus []corpusProgram
	counts map[string]int // in how many runs each thing was reached
	known  map[string]bool
	met    meetings
	report Report
}

// Explore looks for runs that break a rule, for a time or until the context ends.
func Explore(ctx context.Context, o Options) (*Report, error) {
	b, err := readBase(o.Path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	s := &search{Options: o, base: b, rand: rand.New(rand.NewPCG(o.Seed, 3)), counts: map[string]int{}, known: map[string]bool{},
		met: meetings{}}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.For)
	defer cancel()
	first := newTester(o.Path)
	defer first.hosts.Close()
	plain := &program{statements: append(slices.Clone(b.statements), s.endingStatements()...), seed: 1}
	out, err := first.playScript(ctx, plain.scriptText(""))
	switch {
	case err != nil:
		return nil, err
	case len(out.nodes.validators) == 0:
		return nil, out.err
	}
	s.nodes = out.nodes
	if err := s.noteOutcome(ctx, first, plain, out); err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	failures := make([]error, max(o.Jobs, 1))
	for i := range failures {
		wait.Go(func() {
			t := newTester(o.Path)
			defer t.hosts.Close()
			failures[i] = s.makeRuns(ctx, t)
		})
	}
	wait.Wait()
	s.report.Took = time.Since(began)
	s.report.Seconds = s.report.Took.Seconds()
	return &s.report, errors.Join(failures...)
}

// makeRuns makes runs until the time is over, or there are enough finds.
func (s *search) makeRuns(ctx context.Context, t *tester) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		over := s.Most > 0 && len(s.report.Finds) >= s.Most || s.Runs > 0 && s.report.Runs >= s.Runs
		p := s.drawProgram()
		s.mu.Unlock()
		if over {
			return nil
		}
		p, out, err := s.playRepaired(ctx, t, p)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.noteOutcome(ctx, t, p, out); err != nil {
			return err
		}
	}
	return nil
}

// playRepaired plays a program. Where something ends it before its end, it plays it again, repaired, up to mostRepairs times. It returns
// the program that it played last.
func (s *search) playRepaired(ctx context.Context, t *tester, p *program) (*program, *outcome, error) {
	for repairs := 0; ; repairs++ {
		out, err := t.playScript(ctx, p.scriptText(""))
		if err != nil || out.err == nil || out.wrong != "" || repairs == mostRepairs {
			return p, out, err
		}
		repaired := s.repairProgram(p, p.findStatement(lineOf(out.err)))
		if repaired == nil {
			return p, out, nil
		}
		p = repaired
	}
}

// repairProgram is a program without what ended it at a statement; nil where nothing helps. A drawn statement is left out, as an order that
// its node refuses. So is a setting that the network refuses. A statement of the script that waited for blocks in vain comes after mends.
func (s *search) repairProgram(p *program, at int) *program {
	if at < 0 {
		return nil
	}
	r := p.copyProgram()
	switch one := p.statements[at]; {
	case one.drawn:
		r.statements = slices.Delete(r.statements, at, at+1)
	case one.ordinal == s.base.opens && len(p.settings) > 0:
		r.settings = r.settings[1:]
	case one.ordinal > s.base.opens && !slices.ContainsFunc(p.statements[max(at-3, 0):at], s.isMend):
		r.statements = slices.Insert(r.statements, at, s.mendingStatements()...)
	default:
		return nil
	}
	return r
}

// drawnStatements are statements of the search, in which NET stands for the network.
func (s *search) drawnStatements(texts ...string) (all []statement) {
	for _, text := range texts {
		all = append(all, statement{text: strings.ReplaceAll(text, "NET", s.base.name), drawn: true})
	}
	return all
}

// mendingStatements let a network go on that makes no blocks: links are sound, nothing is paused, and all validators start again.
func (s *search) mendingStatements() []statement {
	return s.drawnStatements("NET.heal()", "NET.resume()", "for v in NET.validators:\n    v.restart()")
}

// isMend says that a statement starts again who is down.
func (s *search) isMend(one statement) bool { return one.text == s.mendingStatements()[2].text }

// lineOf is the line of the script at which an error ended it, or 0.
func lineOf(err error) int {
	if mistake, is := errors.AsType[*scenario.Mistake](err); is {
		return mistake.At.Line
	}
	if failure, is := errors.AsType[*scenario.Failure](err); is {
		return failure.At.Line
	}
	return 0
}

// endingStatements is what each program ends with: sound links, nobody down, and some blocks for the oracles to judge.
func (s *search) endingStatements() (all []statement) {
	all = s.drawnStatements("NET.heal()", "for v in [v for v in NET.validators if not v.running]:\n    v.restart()", "NET.run(blocks = 4)")
	for i := range all {
		all[i].isEnding = true
	}
	return all
}

// drawProgram makes the next program: a new one, or a program of the corpus that is changed. Rare things are followed up.
func (s *search) drawProgram() *program {
	d := &draws{Rand: s.rand, nodes: s.nodes, network: s.base.name, actors: s.base.actors, met: s.met}
	if d.focus = drawOne(d, d.validators); s.nodes.maxLiars() > 0 {
		d.victim = drawOne(d, d.validators)
	}
	p := &program{statements: append(slices.Clone(s.base.statements), s.endingStatements()...), seed: s.rand.Uint64N(mostSeeds)}
	if len(s.corpus) > 1 && s.rand.IntN(4) > 0 {
		p = s.drawRareProgram(d).copyProgram()
		if s.rand.IntN(3) == 0 {
			p.seed = s.rand.Uint64N(mostSeeds)
		}
		p.dropSomeDraws(d)
		p.drawWaitsAgain(d)
		if s.rand.IntN(6) == 0 {
			p.spliceFrom(s.drawRareProgram(d))
		}
		d.victim = p.findVictim(d.victim)
		if s.rand.IntN(4) > 0 {
			d.focus = p.findFocus(d)
		}
	}
	if s.rand.IntN(3) == 0 || p.settings == nil && s.rand.IntN(3) == 0 {
		p.settings = d.drawSettings()
	}
	d.twin = d.victim != "" && !p.hasManyFaults(d) && (p.countText(".twin(") > 0 || s.rand.IntN(12) == 0)
	for range 1 + s.rand.IntN(mostEpisodes) {
		e := d.drawRareEpisode(p)
		p.insertEpisode(d, max(s.base.opens, e.below), e.lines)
	}
	s.met.addProgram(d.thingsOf(p))
	return p
}

// drawRareProgram draws a program of the corpus, more often one that reached what few others did.
func (s *search) drawRareProgram(d *draws) *program {
	best, score := 0, 1<<30
	for range 4 {
		i := d.IntN(len(s.corpus))
		least := 1 << 30
		for _, what := range s.corpus[i].reached {
			least = min(least, s.counts[what])
		}
		if least < score {
			best, score = i, least
		}
	}
	return s.corpus[best].program
}

// insertEpisode puts an episode below a statement of the script, and before the end: together, or spread.
func (p *program) insertEpisode(d *draws, below int, lines []string) {
	first := 1 + slices.IndexFunc(p.statements, func(s statement) bool { return !s.drawn && s.ordinal == below })
	at := first + d.IntN(p.findEnd()-first+1)
	var drawn []int // among what was drawn before, faults meet
	for i := first; i < p.findEnd(); i++ {
		if p.statements[i].drawn {
			drawn = append(drawn, i)
		}
	}
	if len(drawn) > 0 && d.IntN(2) == 0 {
		at = drawOne(d, drawn)
	}
	for i, line := range lines {
		p.statements = slices.Insert(p.statements, at, statement{text: line, drawn: true})
		at++
		if i < len(lines)-1 && d.IntN(4) == 0 { // others come between
			at += d.IntN(p.findEnd() - at + 1)
		}
	}
}

// dropSomeDraws leaves some drawn statements out.
func (p *program) dropSomeDraws(d *draws) {
	last := p.findEnd()
	var keep []statement
	for i, s := range p.statements {
		if i < last && s.drawn && d.IntN(4) == 0 {
			continue
		}
		keep = append(keep, s)
	}
	p.statements = keep
}

// drawWaitsAgain draws some of the drawn waits again.
func (p *program) drawWaitsAgain(d *draws) {
	for i := range p.statements[:p.findEnd()] {
		s := &p.statements[i]
		if s.drawn && strings.HasPrefix(s.text, d.network+".run(") && d.IntN(4) == 0 {
			s.text = d.drawWait()
		}
	}
}

// spliceFrom adds what another program of the same script has between its statements. Both may then have two liars: findVictim
// leaves the second one's lies out.
func (p *program) spliceFrom(other *program) {
	at, below := 0, -1
	for _, s := range other.statements {
		if !s.drawn {
			below = s.ordinal
			continue
		}
		at = 1 + slices.IndexFunc(p.statements, func(s statement) bool { return !s.drawn && s.ordinal == below })
		if below < 0 || at == 0 {
			continue
		}
		for at < len(p.statements) && p.statements[at].drawn {
			at++
		}
		if at < len(p.statements) { // the last drawn ones end the program
			p.statements = slices.Insert(p.statements, at, s)
		}
	}
}

// lies are calls by which a validator becomes one of those that may lie or forget.
var lies = pattern.CompileOnNeed(`\.validator\("(v[0-9]+)"\)\.(?:misbehave|wipe|disk_fail|sync_lies|clock_skew|twin)\(`)

// findVictim is the validator that lies in a program already, or otherwise. What makes others lie is left out.
func (p *program) findVictim(otherwise string) string {
	victim := ""
	p.statements = slices.DeleteFunc(p.statements, func(s statement) bool {
		lie := lies().FindStringSubmatch(s.text)
		if !s.drawn || lie == nil {
			return false
		}
		if victim == "" {
			victim = lie[1]
		}
		return lie[1] != victim
	})
	return cmp.Or(victim, otherwise)
}

// findFocus is one of the validators that have faults in a program, those with more of them more often; or the one that was drawn.
func (p *program) findFocus(d *draws) string {
	var named []string
	for i := range p.statements {
		if name := validatorsNamed().FindStringSubmatch(p.statements[i].text); p.statements[i].drawn && name != nil {
			named = append(named, name[1])
		}
	}
	if len(named) == 0 {
		return d.focus
	}
	return drawOne(d, named)
}

// validatorsNamed are the validators whose verbs a statement calls, verbsCalled all that it calls.
var (
	validatorsNamed = pattern.CompileOnNeed(`\.validator\("(v[0-9]+)"\)`)
	verbsCalled     = pattern.CompileOnNeed(`\.([a-z_]+)\(`)
)

// hasManyFaults says that a program has faults of links, or of another validator than the victim.
func (p *program) hasManyFaults(d *draws) bool {
	return slices.ContainsFunc(p.statements, func(s statement) bool {
		if named := validatorsNamed().FindStringSubmatch(s.text); s.drawn && named != nil {
			return named[1] != d.victim
		}
		for _, verb := range verbsCalled().FindAllStringSubmatch(s.text, -1) {
			if v := fault.Lookup(verb[1]); v != nil && !v.Mends && (!v.OfNode() || !s.drawn) {
				return true
			}
		}
		return false
	})
}

// noteOutcome notes what a program reached, and shrinks it if something is wrong that was not known.
func (s *search) noteOutcome(ctx context.Context, t *tester, p *program, out *outcome) error {
	s.mu.Lock()
	s.report.Runs++
	run := s.report.Runs
	if out.err != nil && out.wrong == "" {
		s.report.Failed++
	}
	fresh := false
	var reached []string
	for what := range out.reached { // order: a set
		reached = append(reached, what)
		fresh = fresh || s.counts[what] == 0
		s.counts[what]++
	}
	if fresh {
		slices.Sort(reached)
		s.corpus = append(s.corpus, corpusProgram{p, reached})
	}
	s.report.Reached, s.report.Corpus = len(s.counts), len(s.corpus)
	isNew := out.wrong != "" && !s.known[out.wrong]
	if isNew {
		s.known[out.wrong] = true
	}
	if s.Progress != nil {
		s.Progress(s.report.Progress)
	}
	number := len(s.corpus)
	s.mu.Unlock()
	if fresh {
		if err := os.WriteFile(filepath.Join(s.Dir, fmt.Sprintf("corpus-%04d.star", number)), []byte(p.scriptText("")), 0o644); err != nil {
			return err
		}
	}
	if !isNew {
		return nil
	}
	return s.keepFind(ctx, t, p, out, run)
}

// keepFind shrinks a find, writes it, and runs it again.
func (s *search) keepFind(ctx context.Context, t *tester, p *program, out *outcome, run int) error {
	left := mostShrinks
	p = p.shrinkWhile(func(p *program) bool {
		if left == 0 {
			return false
		}
		left--
		again, err := t.playScript(context.WithoutCancel(ctx), p.scriptText("")) // a find is worth its time
		return err == nil && again.wrong == out.wrong
	})
	sum := fnv.New32a()
	sum.Write([]byte(out.wrong))
	file := filepath.Join(s.Dir, fmt.Sprintf("found-%08x.star", sum.Sum32()))
	header := "# " + strings.Join(strings.Fields(out.says), " ") + "\n# devnet run " + file + "\n"
	if err := os.WriteFile(file, []byte(p.scriptText(header)), 0o644); err != nil {
		return err
	}
	f := Find{What: out.says, File: file, Lines: p.countLines(), Run: run, Proven: true}
	for range provings {
		again, err := t.playScript(context.WithoutCancel(ctx), p.scriptText(""))
		if err != nil {
			return err
		}
		f.Proven = f.Proven && again.wrong == out.wrong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Finds = append(s.report.Finds, f)
	s.report.Progress.Finds++
	if s.Found != nil {
		s.Found(f)
	}
	return nil
}

// shrinkWhile leaves out what the find does not need: groups of statements, from half of them down to one, until none can go;
// then it shortens runs.
func (p *program) shrinkWhile(fails func(*program) bool) *program {
	for size := max(len(p.statements)/2, 1); size > 0; {
		shrunk := false
		for at := len(p.statements) - size; at > -size; at -= size {
			from := max(at, 0)
			less := p.copyProgram()
			less.statements = slices.Delete(less.statements, from, min(from+size, len(less.statements)))
			if fails(less) {
				p, shrunk = less, true
			}
		}
		if !shrunk {
			size /= 2
		}
	}
	for i := len(p.settings) - 1; i >= 0; i-- {
		less := p.copyProgram()
		if less.settings = slices.Delete(less.settings, i, i+1); fails(less) {
			p = less
		}
	}
	for i := range p.statements {
		for blocks := 1; blocks < mostBlocks; blocks++ {
			text := runs().ReplaceAllString(p.statements[i].text, fmt.Sprintf("run(blocks = %d)", blocks))
			if text == p.statements[i].text {
				break
			}
			less := p.copyProgram()
			less.statements[i].text = text
			if fails(less) {
				p = less
				break
			}
		}
	}
	return p
}

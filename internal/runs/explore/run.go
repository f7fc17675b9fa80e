package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// maxSteps bounds a run: a script that loops by what was drawn ends.
const maxSteps = 3_000_000

// errTooLong ends a run beyond maxSteps.
var errTooLong = errors.New("the run is too long")

// outcome is what a run reached, and what was wrong with it.
type outcome struct {
	reached map[string]bool
	wrong   string // what an oracle said, or a panic; "": nothing. It is a line, with numbers masked
	says    string // the same as it was said
	nodes   nodes
	err     error // of the script
}

// tester runs programs, one at a time.
type tester struct {
	hosts *simulated.Hosts
	path  string // of the explored script, whose folder a program reads
	out   *outcome
	stage *simulated.Stage
	tip   types.Height
	steps int
	harms map[string]bool      // validators whose log or disk an order may have harmed, or who may have lied
	stand map[string]*standing // of each validator
}

// playScript plays a program.
func (t *tester) playScript(ctx context.Context, text string) (*outcome, error) {
	t.out, t.tip, t.steps, t.harms = &outcome{reached: map[string]bool{}}, 0, 0, map[string]bool{}
	t.stand = map[string]*standing{}
	open := simulated.OpenWatched(simulated.Watch{Hosts: t.hosts, Opened: t.onOpen, Stepped: t.onStep, Tell: t.noteReport, Final: t.noteBlock,
		Closing: t.onClose})
	report, err := scenario.Run(t.path, scenario.Options{Text: text, MayBeIdle: true, Out: io.Discard, Stop: ctx,
		Open: func(c scenario.Config) (scenario.Backend, error) {
			b, err := open(c)
			if err != nil {
				return nil, err
			}
			return &judgedNetwork{b, t}, nil
		}})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.out.err = err
	if bug, is := errors.AsType[*sim.Bug](err); is {
		t.out.noteFirstWrong(fmt.Sprintf("%s panicked: %v", bug.Role, bug.Value))
	}
	for _, s := range report.Sometimes {
		if s.True {
			t.out.reached["sometimes "+s.Name] = true
		}
	}
	for _, f := range report.Faults {
		if !f.Idle {
			t.out.reached["fault "+describeFault(f.Verb, f.Order)] = true
		}
	}
	return t.out, nil
}

func (t *tester) onOpen(s *simulated.Stage, _ *scenario.Timeline) {
	t.stage = s
	for _, one := range s.Nodes() {
		t.out.nodes.validators = append(t.out.nodes.validators, one.Name)
	}
	for _, one := range s.Runners() {
		t.out.nodes.runners = append(t.out.nodes.runners, one.Name)
	}
}

func (t *tester) onStep() error {
	if t.steps++; t.steps > maxSteps {
		return errTooLong
	}
	return nil
}

// noteReport notes what consensus reached: kinds of reports, and causes of views that were given up.
func (t *tester) noteReport(_ types.Time, node string, report simplex.Report) {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", report), "simplex.")
	switch r := report.(type) {
	case simplex.Entered:
		t.noteView(node, r.View)
	case simplex.Notarized:
		t.noteDeed(node, "notarized")
	case simplex.GaveUp:
		kind += " " + r.Cause.String()
		t.noteDeed(node, "gave up")
	case simplex.SitsOut:
		if !t.harms[node] {
			t.out.noteFirstWrong(fmt.Sprintf("%s sits out, and nothing took its log of votes from it", node))
		}
	case simplex.Evidence:
		if offender := t.nameOf(r.Offender); !t.harms[offender] {
			t.out.noteFirstWrong(fmt.Sprintf("%s has evidence that %s contradicts itself, and nothing made it", node, offender))
		}
	case simplex.Stranger:
		if !t.harms[node] {
			t.out.noteFirstWrong(fmt.Sprintf("%s sees a vote of its own that it did not cast, and nothing took its log of votes from it", node))
		}
	case simplex.Conflict:
		t.out.noteFirstWrong(fmt.Sprintf("%s sees a finalization that contradicts what is final, and at most f validators lie or forget", node))
	case simplex.Rejected:
		kind += " " + figures().ReplaceAllString(fmt.Sprint(r.Reason), "#")
	}
	t.noteReach(kind)
}

// nameOf is what a validator is called.
func (t *tester) nameOf(a types.Address) string {
	for _, name := range t.stage.Names() {
		if t.stage.Key(name).Address() == a {
			return name
		}
	}
	return a.String()
}

// noteReach notes something with each fault in force beside it.
func (t *tester) noteReach(what string) {
	t.out.reached[what] = true
	if t.stage == nil {
		return
	}
	for _, f := range t.stage.Faults() {
		if !f.Ended {
			t.out.reached[what+" during "+f.Verb] = true
		}
	}
}

// noteBlock notes what blocks reached: how receipts, timers and jobs end.
func (t *tester) noteBlock(_ types.Time, r *ledger.Result) {
	if r.Block.Header.Height <= t.tip {
		return
	}
	t.tip = r.Block.Header.Height
	for i := range r.Receipts {
		one := &r.Receipts[i]
		t.noteReach(fmt.Sprintf("receipt %s %s", one.Origin, one.Status))
		t.out.reached[fmt.Sprintf("receipt of %s %s", one.Handler, one.Status)] = true
	}
	for i := range r.Timers {
		t.noteReach(fmt.Sprintf("timer %v %s", r.Timers[i].Kind, r.Timers[i].Reason))
	}
	for i := range r.Jobs {
		t.noteReach(fmt.Sprintf("job %v %s", r.Jobs[i].Kind, r.Jobs[i].Status))
	}
	if r.NextSet != nil {
		t.noteReach(fmt.Sprintf("the next epoch has %d validators", len(r.NextSet.Members)))
	}
}

// onClose notes what an oracle saw.
func (t *tester) onClose(s *simulated.Stage) {
	if err := s.Violation(); err != nil && !errors.Is(err, errTooLong) && !errors.Is(err, context.Canceled) {
		t.out.noteFirstWrong(err.Error())
	}
}

// judgedNetwork is a network whose checks are noted, and whose validators have to start again.
type judgedNetwork struct {
	scenario.Backend
	tester *tester
}

// Check implements scenario.Backend.
func (j *judgedNetwork) Check(oracle string) error {
	err := j.Backend.Check(oracle)
	if err != nil && err.Error() != scenario.NothingJudged(oracle).Error() {
		j.tester.out.noteFirstWrong(err.Error())
	}
	return err
}

// harmful are the verbs after which a validator may declare its log lost, or refuse its disk.
var harmful = []*fault.Verb{fault.Wipe, fault.SyncLies, fault.DiskFail, fault.Misbehave, fault.Twin}

// Do implements fault.World.
func (j *judgedNetwork) Do(o fault.Order) (fault.Effect, error) {
	if slices.Contains(harmful, o.Verb) {
		j.tester.harms[o.Node] = true
	}
	j.tester.noteMeeting(&o)
	effect, err := j.Backend.Do(o)
	if _, refused := errors.AsType[*refusal.Error](err); err != nil && o.Verb == fault.Restart && !refused && !j.tester.harms[o.Node] {
		j.tester.out.noteFirstWrong(fmt.Sprintf("%s does not start again: %v", o.Node, err))
	}
	return effect, err
}

var (
	figures = pattern.CompileOnNeed(`0x[0-9a-f]+…?|[0-9]+|[vr][0-9]+\b`)
	seeds   = pattern.CompileOnNeed(`^sim: seed [0-9]+: `)
)

// noteFirstWrong notes what was wrong first.
func (o *outcome) noteFirstWrong(what string) {
	if o.wrong != "" {
		return
	}
	what, _, _ = strings.Cut(seeds().ReplaceAllString(what, ""), "\n")
	o.says, o.wrong = what, figures().ReplaceAllString(what, "#")
}

// newTester returns one of programs that are made of a script.
func newTester(path string) *tester { return &tester{hosts: simulated.NewHosts(), path: path} }

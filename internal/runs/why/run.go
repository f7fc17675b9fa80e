package why

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Script is the run that is asked about.
type Script struct {
	Path     string
	Seed     *uint64 // nil: the script's own
	Settings []scenario.Setting
	Pace     *scenario.Pace
}

// runsOn is how long, in virtual time, a trial goes on beyond its script and the run's outcome: some of the longest views.
const runsOn = time.Minute

// Errors that end a run before its script does.
var (
	errThere   = errors.New("the moment is reached")
	errDecided = errors.New("the outcome is known")
	errTooLong = errors.New("the trial takes much longer than the run")
)

// playedRun is what a run of the script came to.
type playedRun struct {
	seed     uint64
	err      error // of the script; nil: it passed
	ended    bool  // the script came to its end, or failed, and was not stopped
	steps    uint64
	now      types.Time // when it ended
	networks []*network
	deeds    []deed
}

// network is what is known of one network of a run.
type network struct {
	timeline *scenario.Timeline
	height   types.Height
	timers   map[types.TimerID]*timerEnd
	jobs     map[types.Hash]*jobEnd
	late     []*timerEnd // that fired after they were due, in order
	failed   []*jobEnd   // jobs that did not complete, in order
	finals   map[types.Height]types.Time
}

// deed is a deed of the script, and of which network.
type deed struct {
	scenario.Deed
	network int // from 1 on
}

// timerEnd is how a timer ended.
type timerEnd struct {
	id      types.TimerID
	due, at types.Height
	status  types.TimerStatus
	reason  string // of its last deferral, or its end
	when    types.Time
}

// jobEnd is how a job ended.
type jobEnd struct {
	id     types.Hash
	seq    types.Seq
	status types.JobStatus
	why    string
	when   types.Time
}

// undone is what a trial leaves out of its script.
type undone struct{ deeds map[place]bool }

// place is where a deed is in a script.
type place struct {
	at  scenario.Position
	nth int
}

// player plays the script once.
type player struct {
	script Script
	record *sim.Record
	hosts  *simulated.Hosts
	trial  *sim.Trial
	undo   *undone // nil: nothing is undone
	until  moment.Moment
	most   uint64                   // steps; 0: any
	stop   func(p *playedRun) error // asked after each report on a view, and after each block; nil: never
	out    playedRun
	cause  error      // why it was stopped
	of     int        // the network of the question
	known  types.Time // when the question had its answer

	stage *simulated.Stage
	peak  types.Height    // of the first network that came to it, as moments count
	down  map[string]bool // nodes whose crash or freeze was left out, and what ends it will be
}

// playScript plays it, until the context ends.
func (p *player) playScript(ctx context.Context) *playedRun {
	p.down = map[string]bool{}
	open := simulated.OpenWatched(simulated.Watch{Record: p.record, Hosts: p.hosts, Trial: p.trial, Opened: p.onOpen, Stepped: p.onStep,
		Tell: p.noteReport, Final: p.noteBlock, Closing: p.onClose})
	options := scenario.Options{Open: open, Seed: p.script.Seed, Pace: p.script.Pace, Settings: p.script.Settings, Out: io.Discard,
		Stop: ctx, Deed: p.noteDeed, MayBeIdle: p.undo != nil}
	report, err := scenario.Run(p.script.Path, options)
	p.out.seed, p.out.err = report.Seed, err
	p.out.ended = p.cause == nil && ctx.Err() == nil
	return &p.out
}

// onOpen notes a network of the script.
func (p *player) onOpen(s *simulated.Stage, t *scenario.Timeline) {
	p.stage = s
	p.out.networks = append(p.out.networks, &network{timeline: t, timers: map[types.TimerID]*timerEnd{}, jobs: map[types.Hash]*jobEnd{},
		finals: map[types.Height]types.Time{}})
}

// currentNetwork is the network that the script has.
func (p *player) currentNetwork() *network { return p.out.networks[len(p.out.networks)-1] }

// onStep counts steps, and stops the run where it has gone far enough.
func (p *player) onStep() error {
	p.out.steps++
	p.out.now = p.stage.Now()
	switch {
	case p.cause != nil:
	case p.until.Kind == moment.AtStep && p.out.steps >= p.until.Step, p.until.Kind == moment.AtHeight && p.peak >= p.until.Height:
		p.cause = errThere
	case p.most > 0 && p.out.steps > p.most:
		p.cause = errTooLong
	}
	return p.cause
}

// stopIfDecided stops the run if its outcome is known.
func (p *player) stopIfDecided() {
	if p.stop != nil && p.cause == nil {
		p.cause = p.stop(&p.out)
	}
}

// noteReport is called after the timeline of the network took the report.
func (p *player) noteReport(_ types.Time, _ string, report simplex.Report) {
	switch report.(type) {
	case simplex.Nullified, simplex.Finalized, simplex.Entered:
		p.stopIfDecided()
	}
}

// noteBlock notes how timers and jobs end in a block.
func (p *player) noteBlock(at types.Time, r *ledger.Result) {
	if len(p.out.networks) == 0 {
		return
	}
	n, height := p.currentNetwork(), r.Block.Header.Height
	if height <= n.height {
		return
	}
	n.height, n.finals[height] = height, at
	p.peak = max(p.peak, height)
	for i := range r.Timers {
		n.noteTimer(at, &r.Timers[i])
	}
	for i := range r.Jobs {
		n.noteJob(at, &r.Jobs[i])
	}
	p.stopIfDecided()
}

func (n *network) noteTimer(at types.Time, change *types.TimerChange) {
	one := n.timers[change.Timer.ID]
	if one == nil {
		one = &timerEnd{id: change.Timer.ID}
		n.timers[one.id] = one
	}
	if change.Reason != "" {
		one.reason = change.Reason
	}
	one.due = change.Timer.Height
	if change.Status == types.TimerPending {
		return
	}
	one.at, one.status, one.when = change.At, change.Status, at
	if one.isLate() {
		n.late = append(n.late, one)
	}
}

// isLate says that a timer ended otherwise than by a fire when it was due.
func (t *timerEnd) isLate() bool {
	return t.at > t.due && t.status == types.TimerFired || t.status == types.TimerExpired
}

func (n *network) noteJob(at types.Time, change *types.JobChange) {
	one := n.jobs[change.ID]
	if one == nil {
		one = &jobEnd{id: change.ID, seq: change.Seq}
		n.jobs[one.id] = one
	}
	before := one.status
	one.status = change.Status
	if change.Error != nil {
		one.why = change.Error.Code
	}
	if one.status == types.JobFailed && before != types.JobFailed {
		one.when = at
		n.failed = append(n.failed, one)
	}
}

// onClose runs the network of a trial on without its script, as long as it takes to come to the question.
func (p *player) onClose(s *simulated.Stage) {
	if p.stop == nil || p.cause != nil || len(p.out.networks) != p.of {
		return
	}
	if p.stopIfDecided(); p.cause != nil {
		return
	}
	_ = s.RunUntil(func() bool { return p.cause != nil }, max(p.known, s.Now()).Add(runsOn)) // what keeps it is the trial's answer
}

// noteDeed notes a deed of the script, and says whether this trial leaves it out. With a crash or a freeze goes what ends it.
func (p *player) noteDeed(d scenario.Deed) bool {
	p.out.deeds = append(p.out.deeds, deed{d, len(p.out.networks)})
	if p.undo == nil {
		return false
	}
	if p.undo.deeds[place{d.At, d.Nth}] {
		for verb, ends := range endings { // order: one of them at most
			p.down[ends+" "+d.Node] = p.down[ends+" "+d.Node] || verb == d.Verb
		}
		return true
	}
	if !p.down[d.Verb+" "+d.Node] && !(d.Fault == fault.Wipe && p.down[fault.Restart.Name+" "+d.Node]) {
		return false
	}
	if d.Fault != fault.Wipe {
		p.down[d.Verb+" "+d.Node] = false
	}
	return true
}

// endings are verbs that another one has to end.
var endings = map[string]string{fault.Crash.Name: fault.Restart.Name, fault.CrashAmid.Name: fault.Restart.Name,
	fault.Drop.Name: fault.Restart.Name, fault.Freeze.Name: fault.Thaw.Name, "pause": "resume"}

// viewOf is a view of the network, as its reports tell; nil where there were none.
func (n *network) viewOf(epoch types.Epoch, number types.View) *views.View {
	told := n.timeline.Views().Between(number, number)
	for i := range told.Views {
		if v := &told.Views[i]; v.Epoch == epoch {
			return v
		}
	}
	return nil
}

// failedView is the last view that was nullified, and without a final block, at a time; nil: there was none.
func (n *network) failedView() *views.View {
	told := n.timeline.Views().FailedAfter(0)
	for i := range slices.Backward(told.Views) {
		if told.Views[i].Final == 0 {
			return &told.Views[i]
		}
	}
	return nil
}

var figures = pattern.CompileOnNeed(`[0-9]+|0x[0-9a-f]+`)

// failureOf is where a script failed, and how, with numbers masked: two failures are the same if it is.
func failureOf(err error) (at scenario.Position, kind string) {
	if failed, is := errors.AsType[*scenario.Failure](err); is {
		return failed.At, figures().ReplaceAllString(failed.What, "#")
	}
	return at, figures().ReplaceAllString(err.Error(), "#")
}

// isMistake says that a script is wrong, or could not be run: it says nothing about the network.
func isMistake(err error) bool {
	_, mistake := errors.AsType[*scenario.Mistake](err)
	_, mistakes := errors.AsType[scenario.Mistakes](err)
	_, python := errors.AsType[*scenario.NoPython](err)
	return mistake || mistakes || python
}

package why

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// firstInstant is when simulated networks begin, by their clock.
const firstInstant = types.Time(time.Hour)

// patience is how many views after the one that is asked about a trial goes on: its block may be final by then.
const patience = 3

// question is an outcome of a run, and whether another run has it.
type question interface {
	// outcomeText names the outcome: "view 17 fails".
	outcomeText() string
	// whereKnown is when it was known, and since when its cause is looked for; of which network.
	whereKnown() (since, known types.Time, network int)
	// isAboutView says that a frame of a view is close to it.
	isAboutView(v types.View) bool
	// isDecided says that a trial needs to go no further.
	isDecided(p *playedRun) bool
	// judgeRun says whether a trial came to something else, and to what.
	judgeRun(p *playedRun) (verdict, string)
}

// verdict is what a trial says.
type verdict int

const (
	unclear verdict = iota // it never came to the question
	same
	changed
)

// ofFailure is that the script fails.
type ofFailure struct {
	err     error
	known   types.Time
	network int
}

func (q *ofFailure) outcomeText() string                           { return "the script fails" }
func (q *ofFailure) whereKnown() (since, known types.Time, of int) { return 0, q.known, q.network }
func (q *ofFailure) isAboutView(types.View) bool                   { return true }
func (q *ofFailure) isDecided(*playedRun) bool                     { return false }

// failureLine is how it fails, in a line.
func (q *ofFailure) failureLine() string { return firstLine(q.err) }

func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

func (q *ofFailure) judgeRun(p *playedRun) (verdict, string) {
	switch {
	case !p.ended || isMistake(p.err):
		return unclear, ""
	case p.err == nil:
		return changed, "the script passes"
	}
	at, kind := failureOf(p.err)
	if was, wasKind := failureOf(q.err); at == was && kind == wasKind {
		return same, ""
	} else if at == was {
		return unclear, "" // the same expectation fails otherwise
	}
	return changed, "it fails elsewhere: " + firstLine(p.err)
}

// ofView is that a view fails.
type ofView struct {
	epoch        types.Epoch
	view         types.View
	detail       string
	since, known types.Time
	network      int
}

func (q *ofView) outcomeText() string                           { return fmt.Sprintf("view %d fails", q.view) }
func (q *ofView) whereKnown() (since, known types.Time, of int) { return q.since, q.known, q.network }
func (q *ofView) isAboutView(v types.View) bool                 { return v == q.view }

func (q *ofView) isDecided(p *playedRun) bool {
	n := p.networkAt(q.network)
	if n == nil {
		return false
	}
	v := n.viewOf(q.epoch, q.view)
	return v != nil && (v.Final != 0 || v.Nullified != 0) || n.timeline.Views().Last(0).Latest > q.view+patience
}

func (q *ofView) judgeRun(p *playedRun) (verdict, string) {
	n := p.networkAt(q.network)
	if n == nil {
		return unclear, ""
	}
	v := n.viewOf(q.epoch, q.view)
	switch {
	case v == nil:
		return unclear, ""
	case v.Final != 0:
		return changed, fmt.Sprintf("block %d is final at %s", v.Height, secondsText(v.Final))
	case v.Nullified != 0 || len(v.GaveUp) > 0:
		return same, ""
	}
	return unclear, ""
}

// ofTimer is that a timer is late, or expires.
type ofTimer struct {
	end     timerEnd
	network int
}

func (q *ofTimer) outcomeText() string {
	if q.end.status == types.TimerExpired {
		return fmt.Sprintf("timer %s expires at block %d", shortID(q.end.id), q.end.at)
	}
	return fmt.Sprintf("timer %s fires %s late", shortID(q.end.id), plural.Of(q.end.at-q.end.due, "block"))
}

func (q *ofTimer) whereKnown() (since, known types.Time, of int) { return 0, q.end.when, q.network }
func (q *ofTimer) isAboutView(types.View) bool                   { return true }

func (q *ofTimer) findTimerEnd(p *playedRun) *timerEnd {
	n := p.networkAt(q.network)
	if n == nil {
		return nil
	}
	return n.timers[q.end.id]
}

func (q *ofTimer) isDecided(p *playedRun) bool {
	one := q.findTimerEnd(p)
	return one != nil && one.at > 0
}

func (q *ofTimer) judgeRun(p *playedRun) (verdict, string) {
	one := q.findTimerEnd(p)
	switch {
	case one == nil || one.at == 0:
		return unclear, ""
	case !one.isLate():
		return changed, fmt.Sprintf("it fires at block %d, when it is due", one.at)
	case one.status == types.TimerFired && (q.end.status == types.TimerExpired || one.at-one.due < q.end.at-q.end.due):
		return changed, fmt.Sprintf("it fires %s late", plural.Of(one.at-one.due, "block"))
	}
	return same, ""
}

// ofJob is that a job fails.
type ofJob struct {
	end     jobEnd
	network int
}

func (q *ofJob) outcomeText() string                           { return fmt.Sprintf("job %s fails", shortID(q.end.id)) }
func (q *ofJob) whereKnown() (since, known types.Time, of int) { return 0, q.end.when, q.network }
func (q *ofJob) isAboutView(types.View) bool                   { return true }

func (q *ofJob) findJobEnd(p *playedRun) *jobEnd {
	n := p.networkAt(q.network)
	if n == nil {
		return nil
	}
	return n.jobs[q.end.id]
}

func (q *ofJob) isDecided(p *playedRun) bool {
	one := q.findJobEnd(p)
	return one != nil && one.status.Ended()
}

func (q *ofJob) judgeRun(p *playedRun) (verdict, string) {
	switch one := q.findJobEnd(p); {
	case one == nil || !one.status.Ended():
		return unclear, ""
	case one.status == types.JobCompleted:
		return changed, "it completes"
	}
	return same, ""
}

// networkAt is one of a run, from 1 on; nil: it has none.
func (p *playedRun) networkAt(number int) *network {
	if number < 1 || number > len(p.networks) {
		return nil
	}
	return p.networks[number-1]
}

// secondsText is a time of the network, in seconds since its beginning.
func secondsText(t types.Time) string { return fmt.Sprintf("%.3f", t.Sub(firstInstant).Seconds()) }

// shortID is the beginning of an identifier.
func shortID[T fmt.Stringer](id T) string { return id.String()[:10] }

// about are the outcomes that can be asked about by name.
type About struct {
	View  types.View // 0: none
	Timer string     // the beginning of its ID, with 0x; "": none
	Job   string
}

// NoQuestionError says that a run has no such outcome to ask about.
type NoQuestionError struct {
	What string
	Hint string // what to type; may be ""
}

func (e *NoQuestionError) Error() string { return e.What }

func noQuestion(hint, format string, args ...any) error {
	return &NoQuestionError{fmt.Sprintf(format, args...), hint}
}

// findQuestion finds the outcome that the person asks about: the named one, or the latest trouble of the run.
func (p *playedRun) findQuestion(about About) (question, error) {
	if len(p.networks) == 0 {
		if p.err != nil {
			return nil, p.err
		}
		return nil, noQuestion("", "the script makes no network")
	}
	number := len(p.networks)
	n := p.networkAt(number)
	switch {
	case about.View > 0:
		return p.askView(about.View)
	case about.Timer != "":
		for id, one := range n.timers { // order: one has the prefix, or the first of them is as good
			if !strings.HasPrefix(id.String(), about.Timer) {
				continue
			}
			if one.at == 0 || !one.isLate() {
				return nil, noQuestion("", "timer %s is not late: due at block %d, %s", shortID(id), one.due, one.statusText())
			}
			return &ofTimer{*one, number}, nil
		}
		return nil, noQuestion("devnet run --hold and devnet timer list tell them.", "the run has no timer %.20s", about.Timer)
	case about.Job != "":
		for id, one := range n.jobs { // order: one has the prefix, or the first of them is as good
			if !strings.HasPrefix(id.String(), about.Job) {
				continue
			}
			if one.status != types.JobFailed {
				return nil, noQuestion("", "job %s did not fail: it is %s", shortID(id), one.status)
			}
			return &ofJob{*one, number}, nil
		}
		return nil, noQuestion("devnet run --hold and devnet job list tell them.", "the run has no job %.20s", about.Job)
	}
	return p.latestTrouble(n, number)
}

func (t *timerEnd) statusText() string {
	if t.at == 0 {
		return "and pending"
	}
	return fmt.Sprintf("%s at block %d", t.status, t.at)
}

// askView is the question about a failed view, of the latest network that has a view of the number.
func (p *playedRun) askView(view types.View) (question, error) {
	for number := len(p.networks); number > 0; number-- {
		n := p.networkAt(number)
		told := n.timeline.Views().Between(view, view)
		for i := range told.Views {
			v := &told.Views[i]
			if v.Final != 0 || v.Nullified == 0 && len(v.GaveUp) == 0 {
				return nil, noQuestion("", "view %d did not fail: %s", view, v.Text(told.Now, " s"))
			}
			since := v.Began
			if before := n.viewOf(v.Epoch, view-1); before != nil {
				since = before.Began
			}
			return &ofView{v.Epoch, view, v.Text(told.Now, " s"), since, cmp.Or(v.Nullified, p.now), number}, nil
		}
	}
	return nil, noQuestion("", "the run has no view %d up to there", view)
}

// latestTrouble is the question about what went wrong last.
func (p *playedRun) latestTrouble(n *network, number int) (question, error) {
	if p.ended && p.err != nil {
		if isMistake(p.err) {
			return nil, p.err
		}
		return &ofFailure{p.err, p.now, number}, nil
	}
	var latest question
	var when types.Time
	if v := n.failedView(); v != nil {
		q, err := p.askView(v.View)
		if err != nil {
			return nil, err
		}
		latest, when = q, v.Nullified
	}
	if len(n.late) > 0 {
		if one := n.late[len(n.late)-1]; one.when > when {
			latest, when = &ofTimer{*one, number}, one.when
		}
	}
	if len(n.failed) > 0 {
		if one := n.failed[len(n.failed)-1]; one.when > when {
			latest = &ofJob{*one, number}
		}
	}
	if latest == nil {
		return nil, noQuestion("devnet run SCRIPT --seeds 100 finds a seed that fails.",
			"nothing went wrong up to there: no view failed, no timer was late, no job failed")
	}
	return latest, nil
}

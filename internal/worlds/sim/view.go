package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Times of a view.
const (
	// viewWait is for how long a validator keeps a question until it has a newer head
	// to answer it with; then it answers with the one it has.
	viewWait = 2 * time.Second
	// viewPatience is how long a view waits for an answer, before it asks another
	// validator; viewPause is how long it waits where one does not listen.
	viewPatience = 4 * time.Second
	viewPause    = 500 * time.Millisecond
)

// view implements env.ChainView for one process (decision J13): it asks one validator
// of the world for the next head, over the links and under their faults, and another
// where that does not answer.
type view struct {
	process *process
	receive func(*chainview.Head)
	closed  bool
	whom    int    // of the world's hosts
	asked   uint64 // the number of the question under way
	since   types.Time
	follow  []execution.ID
	fresh   bool // what is followed has changed since the last answer
	told    types.Height
	began   bool
}

// question is what a view asks: for a head above a height, or any where fresh is.
type question struct {
	view    *view
	number  uint64
	above   types.Height
	fresh   bool
	follow  []execution.ID
	departs types.Time
	arrived types.Time
	link    *linkState
	answer  *chainview.Head
	refused bool
	back    bool // the answer is under way, not the question
}

// newView is the view of a runner's process.
func (l *process) newView() *view {
	v := &view{process: l}
	if hosts := len(l.node.world.hosts); hosts > 0 {
		v.whom = l.node.index % hosts
	}
	return v
}

// Start implements env.ChainView.
func (v *view) Start(receive func(*chainview.Head)) error {
	switch {
	case v.process.dead:
		return ErrCrashed
	case v.receive != nil || v.closed:
		return fmt.Errorf("sim: the view of %s was started twice, or after its end", v.process.node.name)
	}
	v.receive = receive
	v.askForHead()
	v.askAnotherInTime()
	return nil
}

// Follow implements env.ChainView.
func (v *view) Follow(ids []execution.ID) {
	v.follow, v.fresh = slices.Clone(ids[:min(len(ids), chainview.MaxFollowed)]), true
	if v.receive != nil {
		v.askForHead()
	}
}

// Close implements env.ChainView.
func (v *view) Close() error {
	v.closed = true
	return nil
}

// isOver reports that answers are no longer read.
func (v *view) isOver() bool { return v.closed || v.process.dead }

// askForHead asks for the next head, replacing the question before.
func (v *view) askForHead() {
	w := v.process.node.world
	v.asked++
	v.since = v.process.timeAfterWork()
	if v.isOver() || len(w.hosts) == 0 {
		return
	}
	to := w.hosts[v.whom%len(w.hosts)]
	q := &question{view: v, number: v.asked, above: v.told, fresh: v.fresh || !v.began, follow: v.follow, departs: v.since,
		link: w.findOrAddLink(v.process.node, to)}
	q.sendOverLink(w, 64+40*len(q.follow))
}

// sendOverLink puts a question or its answer on its way. It is lost if the link is cut or
// loses too much: the view asks again.
func (q *question) sendOverLink(w *World, bytes int) {
	if _, whole, lost := q.link.drawTransit(w, q.departs, bytes); !lost {
		w.enterEvent(event{at: whole, what: q})
	}
}

// askAnotherInTime asks another validator if one has not answered in time.
func (v *view) askAnotherInTime() {
	w := v.process.node.world
	w.At(max(v.since, w.now).Add(viewPatience), func() {
		if v.isOver() {
			return
		}
		if w.now.Sub(v.since) >= viewPatience {
			v.whom++
			v.askForHead()
		}
		v.askAnotherInTime()
	})
}

// happenAt lets a question come to the validator, or its answer to the runner.
func (q *question) happenAt(event) {
	w := q.view.process.node.world
	if q.link.cut != nil {
		q.link.cut.Dropped.Add(1)
		return
	}
	if q.back {
		q.view.takeAnswer(q)
		return
	}
	to := q.link.to
	switch {
	case to.process == nil || to.process.views == nil:
		q.refused = true
		q.sendAnswer(w, to)
	case to.frozen != nil:
		to.frozen.Held.Add(1) // who asks has asked another by then
	default:
		q.arrived = w.now
		if l := to.process; !l.answerOne(q, q.fresh) {
			if l.parked = append(l.parked, q); len(l.parked) == 1 {
				l.answerOverdueInTime()
			}
		}
	}
}

// answerWaiting answers the questions that wait, those for a newer head or those that have
// waited for long enough.
func (l *process) answerWaiting() {
	now := l.node.world.now
	waiting := l.parked[:0]
	for _, q := range l.parked {
		if !l.answerOne(q, now.Sub(q.arrived) >= viewWait) {
			waiting = append(waiting, q)
		}
	}
	clear(l.parked[len(waiting):])
	l.parked = waiting
}

// answerOverdueInTime answers, in time, what waits for long enough.
func (l *process) answerOverdueInTime() {
	l.node.world.At(l.parked[0].arrived.Add(viewWait), func() {
		if l.dead || l.node.frozen != nil {
			return
		}
		if l.answerWaiting(); len(l.parked) > 0 {
			l.answerOverdueInTime()
		}
	})
}

// answerOne answers a question with a head that is new to the view, or with any.
func (l *process) answerOne(q *question, anyHead bool) bool {
	if q.view.isOver() {
		return true
	}
	head := l.views(q.view.process.node, q.follow, func(height types.Height) bool { return anyHead || height > q.above })
	if head == nil {
		return false
	}
	q.answer = head
	q.sendAnswer(l.node.world, l.node)
	return true
}

func (q *question) sendAnswer(w *World, from *node) {
	bytes := 200
	if q.answer != nil {
		bytes += 120*len(q.answer.Assignments) + 100*len(q.answer.Validators)
	}
	q.back, q.departs, q.link = true, w.now, w.findOrAddLink(from, q.view.process.node)
	q.sendOverLink(w, bytes)
}

// takeAnswer takes an answer: it reports a head that is not older than the last.
func (v *view) takeAnswer(q *question) {
	if v.isOver() || q.number != v.asked {
		return
	}
	if q.refused {
		v.whom++
		v.asked++
		number := v.asked
		v.process.node.world.After(viewPause, func() {
			if v.asked == number {
				v.askForHead()
			}
		})
		return
	}
	if h := q.answer; h.Height > v.told || q.fresh && h.Height == v.told || !v.began {
		v.told, v.began = h.Height, true
		if q.fresh {
			v.fresh = false
		}
		v.receive(h)
	} else if h.Height < v.told { // it is behind
		v.whom++
	}
	if v.process.node.frozen == nil { // otherwise the view asks again later
		v.askForHead()
	}
}

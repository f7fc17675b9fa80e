package sim

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// polls implements env.Polls for one process (decision J11): its questions travel over the
// links and under their faults, to the validators that they name.
type polls struct {
	process *process
	receive func(polling.Answer)
	closed  bool
}

// poll is a question on its way, or its answer.
type poll struct {
	of       *polls
	question polling.Question
	answer   polling.Answer
	link     *linkState
	back     bool // the answer is under way, not the question
}

// framing is the size of a question or an answer without what it brings, in bytes.
const framing = 200

// Start implements env.Polls.
func (p *polls) Start(receive func(polling.Answer)) error {
	switch {
	case p.process.dead:
		return ErrCrashed
	case p.receive != nil || p.closed:
		return errors.New("sim: the polls of " + p.process.node.name + " were started twice, or after their end")
	}
	p.receive = receive
	return nil
}

// Ask implements env.Polls.
func (p *polls) Ask(q polling.Question) {
	w := p.process.node.world
	to := w.byAddress[q.Validator.Address]
	if p.isOver() || to == nil {
		return
	}
	bytes := framing
	if q.Result != nil {
		bytes += len(q.Result.ResultData)
	}
	if q.Refusal != nil {
		bytes += len(push.Write(q.Refusal))
	}
	one := &poll{of: p, question: q, link: w.findOrAddLink(p.process.node, to)}
	one.sendOverLink(p.process.timeAfterWork(), bytes)
}

// Close implements env.Polls.
func (p *polls) Close() error {
	p.closed = true
	return nil
}

// isOver says that no runner hears an answer.
func (p *polls) isOver() bool { return p.closed || p.process.dead }

// sendOverLink puts a question or its answer on its way. It is lost where the link loses too
// much: the runner asks another validator in time.
func (p *poll) sendOverLink(departs types.Time, bytes int) {
	w := p.of.process.node.world
	if _, whole, lost := p.link.drawTransit(w, departs, bytes); !lost {
		w.enterEvent(event{at: whole, what: p})
	}
}

// happenAt lets a question come to the validator, or its answer to the runner.
func (p *poll) happenAt(event) {
	to := p.link.to
	switch {
	case p.link.cut != nil:
		p.link.cut.Dropped.Add(1)
	case p.back:
		if !p.of.isOver() {
			p.of.receive(p.answer)
		}
	case to.process == nil || to.process.polled == nil:
		p.sendAnswer(polling.Answer{ID: p.question.ID, Lost: true})
	case to.frozen != nil:
		to.frozen.Held.Add(1) // the runner has asked another by then
	default:
		to.process.polled(p.of.process.node, p.question, p.sendAnswer)
	}
}

// sendAnswer puts the answer on its way.
func (p *poll) sendAnswer(a polling.Answer) {
	w, from := p.of.process.node.world, p.link.to
	departs := w.now
	if from.process != nil {
		departs = from.process.timeAfterWork()
	}
	bytes := framing
	for i := range a.Jobs {
		bytes += len(a.Jobs[i].Spec.AppendCBOR(nil))
	}
	back := &poll{of: p.of, answer: a, link: w.findOrAddLink(from, p.of.process.node), back: true}
	back.sendOverLink(departs, bytes)
}

package byzantine

import (
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// polls is what a runner asks without a connection, behind a mask: of results and refusals it
// does what the mask does on the streams of jobs.
type polls struct {
	env.Polls
	mask *RunnerMask
	tell func(polling.Answer)
}

// Start implements env.Polls.
func (p *polls) Start(receive func(polling.Answer)) error {
	p.tell = receive
	return p.Polls.Start(receive)
}

// Ask implements env.Polls.
func (p *polls) Ask(q polling.Question) {
	as := []polling.Question{q}
	if q.Result != nil || q.Refusal != nil {
		as = p.mask.brings(q)
	}
	for _, asked := range as {
		p.Polls.Ask(asked)
	}
	if len(as) == 0 {
		p.tell(polling.Answer{ID: q.ID}) // the runner behind the mask notices nothing
	}
}

// brings is what is brought in place of a result or a refusal. Only a black hole keeps
// refusals: the other lies are about results. A result that is late is kept for good: no
// validator cancels what it did not push.
func (m *RunnerMask) brings(q polling.Question) []polling.Question {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hole != nil {
		m.hole.Withheld.Add(1)
		return nil
	}
	if q.Refusal != nil {
		return []polling.Question{q}
	}
	switch m.kind {
	case NoReveal:
		m.lies.Withheld.Add(1)
		return nil
	case LateResult:
		m.lies.Held.Add(1)
		return nil
	case DuplicateResult:
		m.lies.Forged.Add(1)
		return []polling.Question{q, q}
	case BadSignature: // a wrong result is made where the work is done
		m.lies.Forged.Add(1)
		wrong := *q.Result
		missignResult(&wrong)
		q.Result = &wrong
	}
	return []polling.Question{q}
}

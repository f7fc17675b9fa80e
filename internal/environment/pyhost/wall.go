package pyhost

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// Part is one part of the wall that the operating system makes around a host
// (python-host/host/wall.py). Missing says why it is missing; "" if it is in force.
type Part struct{ Name, Missing string }

// Attempt is one thing that no program may do, tried for real behind the wall of
// those that run programs. Compute is the one that must succeed.
type Attempt struct {
	Name string
	End  End
}

// End is how an attempt ended.
type End string

// The ends.
const (
	Allowed End = "allowed"
	Refused End = "refused" // by an error
	Killed  End = "killed"  // and the process with it
)

// Compute names the attempt at the one thing that a program needs.
const Compute = "compute"

// Wall starts a separate host, and returns the parts of its wall and the outcomes
// of all attempts to get through it. Its error is a *program.HostError.
func (p *Pool) Wall() ([]Part, []Attempt, error) {
	const during = "trying its wall"
	found, err := p.python.find()
	if err != nil {
		return nil, nil, &program.HostError{Failure: program.Missing, During: during, Err: err}
	}
	h, err := p.startHost(found.path, false, time.Now().Add(startTimeout))
	if err != nil {
		return nil, nil, err
	}
	defer h.stop()
	attempts, err := h.try()
	if err != nil {
		return nil, nil, h.fail(during, err)
	}
	return h.wall, attempts, nil
}

// try has the fork server's children make every attempt.
func (h *host) try() ([]Attempt, error) {
	h.enc.bare(frameTry)
	if err := h.send(); err != nil {
		return nil, err
	}
	body, err := h.expect(frameTry)
	if err != nil {
		return nil, err
	}
	var attempts []Attempt
	d := &decoder{data: body}
	for len(d.data) > 0 && len(attempts) < maxAttempts {
		a := &arguments{record: d.record(attemptForm)}
		attempts = append(attempts, Attempt{Name: text(a.data("name")), End: a.end()})
		d.keep(a.err)
	}
	d.end()
	return attempts, d.err
}

// end reads the exit code of an attempt, or the signal that ended it.
func (a *arguments) end() End {
	code, signal := optional(a, "exit", a.number), optional(a, "signal", a.number)
	switch {
	case code == nil && signal != nil:
		return Killed
	case code != nil && signal == nil && *code == 0:
		return Allowed
	case code != nil && signal == nil && *code == 1:
		return Refused
	}
	a.fail("an end that no attempt has")
	return ""
}

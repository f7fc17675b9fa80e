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
	found, err := p.python.findOnce()
	if err != nil {
		return nil, nil, &program.HostError{Failure: program.Missing, During: during, Err: err}
	}
	h, err := p.startHost(found.path, false, time.Now().Add(startTimeout))
	if err != nil {
		return nil, nil, err
	}
	defer h.stopProcess()
	attempts, err := h.tryAttempts()
	if err != nil {
		return nil, nil, h.failDuring(during, err)
	}
	return h.wall, attempts, nil
}

// tryAttempts has the fork server's children make every attempt.
func (h *host) tryAttempts() ([]Attempt, error) {
	h.enc.beginBare(frameTry)
	if err := h.sendFrame(); err != nil {
		return nil, err
	}
	body, err := h.expectFrame(frameTry)
	if err != nil {
		return nil, err
	}
	var attempts []Attempt
	d := &decoder{data: body}
	for len(d.data) > 0 && len(attempts) < maxAttempts {
		a := &arguments{record: d.readRecord(attemptForm)}
		attempts = append(attempts, Attempt{Name: validText(a.dataOf("name")), End: a.readEnd()})
		d.keepError(a.err)
	}
	d.expectEnd()
	return attempts, d.err
}

// readEnd reads the exit code of an attempt, or the signal that ended it.
func (a *arguments) readEnd() End {
	code, signal := orNil(a, "exit", a.numberOf), orNil(a, "signal", a.numberOf)
	switch {
	case code == nil && signal != nil:
		return Killed
	case code != nil && signal == nil && *code == 0:
		return Allowed
	case code != nil && signal == nil && *code == 1:
		return Refused
	}
	a.failWith("an end that no attempt has")
	return ""
}

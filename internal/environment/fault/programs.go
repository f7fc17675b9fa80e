package fault

import (
	"errors"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Ways in which a host of programs fails on an actor.
const (
	HostCrashes = "crash" // it ends at once
	HostHangs   = "hang"  // it does not answer and uses CPU time for nothing: it is late, if the caller is strict
	HostCrawls  = "crawl" // it does not answer, and keeps within its allowance: it is stopped when the caller has no more time
	HostWorks   = "works" // it does not fail, any more
)

// hangLimit is how long callers without a time limit wait for a host that hangs:
// the time that the hosts of Python allow any message.
const hangLimit = 10 * time.Second

// errBroken is why a host fails that was told to.
var errBroken = errors.New("the host fails by order of a fault")

// CheckHost says whether a host can fail in a way, and if not why.
func CheckHost(how string) error {
	switch how {
	case HostCrashes, HostHangs, HostCrawls, HostWorks:
		return nil
	}
	return errors.New(`a host of programs fails by "crash", "hang" or "crawl", and "works" ends it; got "` + how + `"`)
}

// Programs is the host of programs of one node, which fails on selected actors.
// Wait lets time pass, the node's; it may be set until the first use.
type Programs struct {
	program.Host
	Wait func(time.Duration)

	mu   sync.Mutex
	over map[types.Address]failing
}

// failing is the way in which the host fails on an actor, and the fault that counts
// it.
type failing struct {
	how    string
	counts *Counts
}

// Fail makes the host fail on an actor from now on, in a way that CheckHost knows;
// failed messages are counted.
func (p *Programs) Fail(actor types.Address, how string, counts *Counts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil {
		p.over = map[types.Address]failing{}
	}
	if how == HostWorks {
		delete(p.over, actor)
		return
	}
	p.over[actor] = failing{how, counts}
}

func (p *Programs) failsOver(actor types.Address) failing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over[actor]
}

// Open implements program.Host.
func (p *Programs) Open(purpose program.Purpose) (program.Session, error) {
	s, err := p.Host.Open(purpose)
	if err != nil {
		return nil, err
	}
	return &brokenSession{Session: s, of: p}, nil
}

type brokenSession struct {
	program.Session
	of     *Programs
	bounds program.Bounds
}

// Bound implements program.Session.
func (s *brokenSession) Bound(by program.Bounds) {
	s.bounds = by
	s.Session.Bound(by)
}

// Handle implements program.Session.
func (s *brokenSession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	fails := s.of.failsOver(msg.Self)
	if left := s.bounds.Left; fails.how == "" || left != nil && left() <= 0 {
		return s.Session.Handle(ctx, code, msg)
	}
	fails.counts.Failed.Add(1)
	failed := &program.HostError{Failure: program.Crashed, During: "handler " + msg.Handler, Err: errBroken}
	if fails.how != HostCrashes {
		failed.Failure, failed.CPU = s.hangUntilLate(ctx, fails.how == HostHangs && s.bounds.Strict)
	}
	return program.Outcome{}, failed
}

// hangUntilLate waits as long as a caller waits for a host, and returns how the wait ends. If the
// program is late by its credit or stopped, hang also returns the CPU time that it used:
// it spins, and charges no cycle.
func (s *brokenSession) hangUntilLate(ctx program.Context, late bool) (program.Failure, time.Duration) {
	limit, cpu := hangLimit, time.Duration(0)
	if late {
		cycles, _ := ctx.Remaining()
		credit := program.NewCredit(cycles, program.UsualRate, 0)
		cpu = credit.Left()
		limit = cpu
	}
	if s.bounds.Left != nil {
		if left := s.bounds.Left(); left < limit {
			s.of.Wait(left)
			return program.Stopped, left
		}
	}
	s.of.Wait(limit)
	return program.Late, cpu
}

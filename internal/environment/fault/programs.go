package fault

import (
	"errors"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// How a host of programs fails over an actor.
const (
	HostCrashes = "crash" // it ends at once
	HostHangs   = "hang"  // it does not answer, and is stopped when whoever asked has no more time
	HostWorks   = "works" // it does not fail, any more
)

// hangLimit is how long a host that hangs is waited for by those who have all the
// time: what the hosts of Python allow any message.
const hangLimit = 10 * time.Second

// errBroken is why a host fails that was told to.
var errBroken = errors.New("it was told to fail")

// CheckHost says whether a host can fail in a way, and if not why.
func CheckHost(how string) error {
	switch how {
	case HostCrashes, HostHangs, HostWorks:
		return nil
	}
	return errors.New(`a host of programs fails by "crash" or "hang", and "works" ends it; got "` + how + `"`)
}

// Programs is the host of programs of one node, which fails over the actors that
// it is told. Wait lets time pass, the node's; it may be set until the first use.
type Programs struct {
	program.Host
	Wait func(time.Duration)

	mu   sync.Mutex
	over map[types.Address]failing
}

// failing is how the host fails over an actor, and the fault that counts it.
type failing struct {
	how    string
	counts *Counts
}

// Fail has the host fail over an actor from now on, in the way CheckHost knows; what
// it fails over is counted.
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

// Mend has the host work again.
func (p *Programs) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = nil
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
	of   *Programs
	left func() time.Duration
}

// Bound implements program.Session.
func (s *brokenSession) Bound(left func() time.Duration) {
	s.left = left
	s.Session.Bound(left)
}

// Handle implements program.Session.
func (s *brokenSession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	fails := s.of.failsOver(msg.Self)
	if fails.how == "" || s.left != nil && s.left() <= 0 {
		return s.Session.Handle(ctx, code, msg)
	}
	fails.counts.Failed.Add(1)
	failure := program.Crashed
	if fails.how == HostHangs {
		failure = s.hang()
	}
	return program.Outcome{}, &program.HostError{Failure: failure, During: "handler " + msg.Handler, Err: errBroken}
}

// hang waits as long as a host is waited for.
func (s *brokenSession) hang() program.Failure {
	if s.left != nil {
		if left := s.left(); left < hangLimit {
			s.of.Wait(left)
			return program.Stopped
		}
	}
	s.of.Wait(hangLimit)
	return program.Late
}

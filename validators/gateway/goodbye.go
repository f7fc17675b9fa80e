package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// leave says Goodbye, and waits for the runner to close for the grace. Where there
// is no stream to say it on, the close alone says it.
func (m *Machine) leave(p *peer, why push.Reason) {
	if p.stage >= leaving {
		return
	}
	if !p.opened {
		m.leaveWithout(p, why)
		return
	}
	m.told(p, why)
	p.stage, p.reason = leaving, why
	m.send(p, connection.Control, &push.Goodbye{Reason: why})
	m.do(connection.End{ID: p.id, Stream: connection.Control})
	m.alarms.set(alarm{at: m.now.Add(m.params().GoodbyeGrace), id: p.id, why: goodbyeDone})
}

// leaveWithout closes at once: nothing could be written any more.
func (m *Machine) leaveWithout(p *peer, why push.Reason) {
	if p.stage < leaving {
		m.told(p, why)
	}
	m.close(p, why.Code(), string(why))
}

// told reports why a connection is left.
func (m *Machine) told(p *peer, why push.Reason) {
	if p.stage < live {
		m.report(Refused{Peer: p.address, Remote: p.remote, Reason: why})
		return
	}
	m.notLive(p, string(why))
}

// notLive takes a runner from those that are there.
func (m *Machine) notLive(p *peer, why string) {
	if m.live[p.key] == p {
		delete(m.live, p.key)
		m.report(Left{Runner: p.address, Reason: why})
	}
}

// close ends a connection for us.
func (m *Machine) close(p *peer, code uint64, why string) {
	m.notLive(p, why)
	m.do(connection.Close{ID: p.id, Code: code, Reason: why})
	m.forget(p)
}

// onGoodbye closes at once, as who reads one does.
func (m *Machine) onGoodbye(p *peer, f *push.Goodbye) {
	m.notLive(p, string(f.Reason))
	m.close(p, connection.CodeDone, "")
}

// shutdown says Goodbye to everybody.
func (m *Machine) shutdown() {
	for _, p := range m.order {
		m.leave(p, push.Shutdown)
		m.attest(p)
	}
}

package gateway

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// delivery is one assignment pushed on one connection, and its stream.
type delivery struct {
	AssignmentID
	stream connection.Stream
	sent   mark
	frames recent

	answered bool // a frame arrived on it
	acked    bool
	rejected bool
	result   bool // the result came
	outcome  Outcome

	ended  bool // our side of the stream
	theirs bool // the runner's side
	over   bool // both, or the stream was broken off; it stays to be known, until the assignment ended
}

// findDelivery finds the one on a stream, or nil.
func (p *peer) findDelivery(s connection.Stream) *delivery {
	for _, d := range p.deliveries {
		if d.stream == s {
			return d
		}
	}
	return nil
}

// wasPushed reports whether an assignment was pushed on this connection.
func (p *peer) wasPushed(id AssignmentID) bool {
	return slices.ContainsFunc(p.deliveries, func(d *delivery) bool { return d.AssignmentID == id })
}

// openStreams counts the streams that are not over.
func (p *peer) openStreams() (n int) {
	for _, d := range p.deliveries {
		if !d.over {
			n++
		}
	}
	return n
}

// allowedStreams is the number of streams that a runner surely allows, at most MaxJobStreams.
func (p *peer) allowedStreams() int {
	return int(min(max(p.mostJobs, minJobStreams), MaxJobStreams))
}

// deliverOpen pushes the open assignments of a runner that were not pushed on this
// connection. Assignments found too late for any result are not pushed.
//
// Spec: CIP-11 §10.1, decision J13.
func (m *Machine) deliverOpen(p *peer) {
	if !m.chain.headPhase().Pushes() || !p.isServedHere() {
		return
	}
	open, allowed := p.openStreams(), p.allowedStreams()
	for _, a := range m.chain.head.Reader.Assignments(p.address) {
		if open >= allowed || len(p.deliveries) >= MaxJobStreams {
			return
		}
		if a.Deadline > m.chain.head.Height && !p.wasPushed(a.AssignmentID) {
			m.pushAssignment(p, &a)
			open++
		}
	}
}

// pushAssignment opens a stream for an assignment and says it.
func (m *Machine) pushAssignment(p *peer, a *Assignment) {
	d := &delivery{AssignmentID: a.AssignmentID, stream: connection.Job(p.opens), sent: m.chain.markNow(m.now)}
	p.opens++
	p.deliveries = append(p.deliveries, d)
	m.addVerb(connection.Open{ID: p.id, Stream: d.stream})
	frame := m.drafts.frameOf(&m.config, draftKey{a.AssignmentID, a.Deadline, a.Spec},
		func() *push.JobSpec { return m.chain.head.Reader.Spec(a.Job) })
	m.addVerb(connection.Send{ID: p.id, Stream: d.stream, Frame: frame})
	m.addReport(Pushed{Runner: p.address, Assignment: a.AssignmentID})
	m.connections.alarms.addAlarm(alarm{at: m.chain.timeAfter(d.sent, m.chain.headParams().AckTimeoutBlocks), id: p.id, stream: d.stream,
		why: ackDue})
}

// attendDeliveries looks at each delivery of a runner: whether its assignment ended, and
// whether its answer is overdue.
func (m *Machine) attendDeliveries(p *peer) {
	p.deliveries = slices.DeleteFunc(p.deliveries, func(d *delivery) bool {
		if m.chain.findAssignment(p.address, d.AssignmentID) != nil {
			m.onSilence(p, d)
			return false
		}
		if !d.over && !d.ended {
			m.endDelivery(p, d)
		}
		return d.over
	})
}

// endDelivery says that an assignment ended, and ends our side of its stream. The
// runner knows already where its own result landed, or where it rejected.
//
// Spec: CIP-11 §10.5.
func (m *Machine) endDelivery(p *peer, d *delivery) {
	if ending := m.chain.head.Reader.Ending(p.address, d.AssignmentID); ending != Landed && !d.rejected {
		f := &push.JobCancel{JobID: d.Job, Reason: cancelReasonOf(ending)}
		f.ValidatorSigned = m.config.signDigest(f.Digest(m.config.ChainID))
		m.connections.sendFrame(p, d.stream, f)
	}
	m.addVerb(connection.End{ID: p.id, Stream: d.stream})
	d.ended, d.over = true, d.theirs
	if !d.over {
		m.connections.alarms.addAlarm(alarm{at: m.now.Add(linger), id: p.id, stream: d.stream, why: lingerDone})
	}
}

func cancelReasonOf(e Ending) push.CancelReason {
	switch e {
	case Reassigned:
		return push.Reassigned
	case Expired:
		return push.Expired
	}
	return push.Failed
}

// endLinger breaks off a stream whose other side the runner did not end.
func (m *Machine) endLinger(p *peer, d *delivery) {
	if p.stage == live && d != nil && d.ended && !d.over {
		m.addVerb(connection.Reset{ID: p.id, Stream: d.stream, Code: connection.CodeDone})
		m.forgetStream(p, d)
	}
}

// onSilence ends a delivery that was not answered in time: the runner counts as
// gone until it pings again.
//
// Spec: CIP-11 §§10.6, 11.1.
func (m *Machine) onSilence(p *peer, d *delivery) {
	if p.stage != live || d == nil || d.answered || d.ended || d.over ||
		m.chain.isWithin(m.now, d.sent, m.chain.headParams().AckTimeoutBlocks) {
		return
	}
	m.classifyDelivery(p, d, HardFailure)
	p.present = false
	d.over = true
	m.addVerb(connection.Reset{ID: p.id, Stream: d.stream, Code: connection.CodeRefused})
}

// classifyDelivery tells a delivery's outcome. The first stays.
func (m *Machine) classifyDelivery(p *peer, d *delivery, outcome Outcome) {
	m.classifyBy(p, d, Classified{Outcome: outcome})
}

// classifyBy is classify, with the content of the runner's ack.
func (m *Machine) classifyBy(p *peer, d *delivery, by Classified) {
	d.answered = d.answered || by.Outcome != HardFailure
	if d.outcome == Pending {
		d.outcome = by.Outcome
		by.Runner, by.Assignment = p.address, d.AssignmentID
		m.addReport(by)
	}
}

// onStreamEnded takes the end of the runner's side of a job's stream.
func (m *Machine) onStreamEnded(p *peer, d *delivery) {
	if d == nil || d.over {
		return
	}
	if d.theirs = true; d.ended {
		m.forgetStream(p, d)
	}
}

// forgetStream forgets a delivery whose assignment and stream are over.
func (m *Machine) forgetStream(p *peer, d *delivery) {
	d.over = true
	p.deliveries = slices.DeleteFunc(p.deliveries, func(other *delivery) bool { return other == d })
	m.connections.leaveIfIdle(p)
	if p.stage == live {
		m.deliverOpen(p) // what there was no stream for
	}
}

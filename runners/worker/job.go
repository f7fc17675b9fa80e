package worker

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// state is how far an assignment is.
type state uint8

const (
	waiting  state = iota // unknown whether the chain has it
	running               // the executor works on it
	finished              // there is a result
	failed                // there is no result, and there will not be one
)

// claim is an assignment as validators tell it.
type claim struct {
	first    types.PublicKey   // who said it first
	by       []types.PublicKey // its signers, without duplicates: a poll's answer is not signed
	spec     *push.JobSpec
	hash     types.Hash
	deadline types.Height
}

// matchesChain reports whether the chain has the same.
func (c *claim) matchesChain(s *Standing) bool {
	return c.hash == s.SpecHash && c.deadline == s.Deadline
}

// isSame reports whether two validators said the same.
func (c *claim) isSame(other *claim) bool {
	return c.hash == other.hash && c.deadline == other.deadline
}

// job is an assignment that was accepted.
type job struct {
	ID
	state state
	known bool     // the chain has it
	spec  *claim   // worked by: one of the specs
	specs []*claim // all that were delivered, at most MaxSpecs

	progress   *push.JobProgress // the newest that no validator was told; nil: none
	again      []byte            // the frame that answers every further delivery, once there was one
	frame      []byte            // of the result
	result     *push.JobResult
	commitment types.Hash
	refusal    *push.JobAck // of work that failed; nil if there is none to bring
	tries      int          // how often the result or the refusal was sent
	sent       types.Height // the head when it was sent last
}

// countClaim takes what a validator signed, once and for all: false where it signed something
// else before, since one of the two is a lie.
func (j *job) countClaim(validator types.PublicKey, said *claim) bool {
	if slices.ContainsFunc(j.specs, func(c *claim) bool { return !c.isSame(said) && slices.Contains(c.by, validator) }) {
		return false
	}
	if c := j.keepClaim(said); !slices.Contains(c.by, validator) {
		c.by = append(c.by, validator)
	}
	return true
}

// keepClaim returns what was said before of the same, or keeps it. Beyond MaxSpecs, the
// spec with the fewest signers makes room, on a tie the oldest, and never the one in
// work.
func (j *job) keepClaim(said *claim) *claim {
	if at := slices.IndexFunc(j.specs, said.isSame); at >= 0 {
		return j.specs[at]
	}
	if len(j.specs) >= MaxSpecs {
		others := slices.DeleteFunc(slices.Clone(j.specs), func(c *claim) bool { return c == j.spec })
		least := slices.MinFunc(others, func(a, b *claim) int { return len(a.by) - len(b.by) })
		j.specs = slices.DeleteFunc(j.specs, func(c *claim) bool { return c == least })
	}
	j.specs = append(j.specs, said)
	return said
}

// stream is one that a validator opened for an assignment.
type stream struct {
	id         connection.ID
	number     connection.Stream
	validator  types.PublicKey
	address    types.Address // of the key
	assigned   bool          // an assignment was delivered on it
	of         ID            // that assignment
	job        *job          // nil if none was accepted, or it is over
	progress   types.Time    // of the last frame of it
	progressed bool
	ours       bool // our side has ended
	theirs     bool // the validator's has
}

// onStream takes an event of a job's stream.
func (m *Machine) onStream(e Stream) {
	switch event := e.Event.(type) {
	case connection.Opened:
		m.onOpened(e.Validator, event)
	case connection.Came:
		if s := m.findStream(event.ID, event.Stream); s != nil {
			m.onFrame(s, event.Frame)
		}
	case connection.Ended:
		m.onEnded(m.findStream(event.ID, event.Stream))
	case connection.Down:
		m.streams = slices.DeleteFunc(m.streams, func(s *stream) bool { return s.id == event.ID })
	}
}

// findStream finds one by its connection and number, or nil.
func (m *Machine) findStream(id connection.ID, number connection.Stream) *stream {
	for _, s := range m.streams {
		if s.id == id && s.number == number {
			return s
		}
	}
	return nil
}

// onOpened takes note of a stream.
func (m *Machine) onOpened(validator types.PublicKey, e connection.Opened) {
	address, err := addressOf(validator)
	if err != nil || len(m.streams) >= MaxStreams {
		m.addVerb(connection.Reset{ID: e.ID, Stream: e.Stream, Code: connection.CodeRefused})
		return
	}
	m.streams = append(m.streams, &stream{id: e.ID, number: e.Stream, validator: validator, address: address})
}

// onEnded takes the end of the validator's side: the assignment is over for it, or
// will be soon by the chain. We end ours.
func (m *Machine) onEnded(s *stream) {
	if s == nil {
		return
	}
	s.theirs = true
	m.endStream(s)
	m.forgetEndedStreams()
}

// endStream ends our side of a stream.
func (m *Machine) endStream(s *stream) {
	if !s.ours {
		s.ours = true
		m.addVerb(connection.End{ID: s.id, Stream: s.number})
	}
}

// forgetEndedStreams forgets the streams whose sides have both ended.
func (m *Machine) forgetEndedStreams() {
	m.streams = slices.DeleteFunc(m.streams, func(s *stream) bool { return s.ours && s.theirs })
}

// leaveFaulty leaves a validator that broke the wire.
func (m *Machine) leaveFaulty(s *stream, why push.Reason) {
	m.out.Faults = append(m.out.Faults, Fault{ID: s.id, Reason: why})
}

// sendFrame queues a frame of ours.
func (m *Machine) sendFrame(s *stream, f push.Frame) { m.sendBytes(s, push.Write(f)) }

func (m *Machine) sendBytes(s *stream, frame []byte) {
	m.addVerb(connection.Send{ID: s.id, Stream: s.number, Frame: frame})
}

// openStream is the stream on which a job's frames go: that of the validator whose delivery was
// accepted, or the next one whose sending side is open. It is nil if none is.
func (m *Machine) openStream(j *job) *stream {
	var next *stream
	for _, s := range m.streams {
		switch {
		case s.job != j || s.ours:
		case s.validator == j.spec.first:
			return s
		case next == nil:
			next = s
		}
	}
	return next
}

// sendResult sends a result to the validator whose delivery was accepted. If that
// validator had its turn or its stream is gone, the next one with an open stream
// gets it. Then our side of the stream has ended. If none is open, it is brought
// without one. It reports whether it was sent.
//
// Spec: CIP-11 §10.3.
func (m *Machine) sendResult(j *job) bool {
	s := m.openStream(j)
	if s == nil {
		return m.bringResult(j)
	}
	j.tries++
	j.sent = m.head.Height
	m.sendBytes(s, j.frame)
	m.endStream(s)
	m.addReport(Sent{ID: j.ID, Validator: s.validator, Try: j.tries})
	m.forgetEndedStreams()
	return true
}

// bringResult has a result brought without a connection, where that can be done.
//
// Spec: decision J11.
func (m *Machine) bringResult(j *job) bool {
	if !m.config.Polls {
		return false
	}
	j.tries++
	j.sent = m.head.Height
	m.out.Bring = append(m.out.Bring, Bring{ID: j.ID, Result: j.result})
	m.addReport(Sent{ID: j.ID, Try: j.tries})
	return true
}

// handRefusal brings the refusal of work that failed, and again while the chain has not got
// it in time.
//
// Spec: decision J21.
func (m *Machine) handRefusal(j *job, s *Standing) {
	if j.state != failed || j.refusal == nil || len(s.Commitments) > 0 {
		return
	}
	if j.tries > 0 && (m.head.Height < j.sent || uint64(m.head.Height-j.sent) < patienceBlocks) {
		return
	}
	j.tries++
	j.sent = m.head.Height
	m.out.Bring = append(m.out.Bring, Bring{ID: j.ID, Refusal: j.refusal})
}

// otherStands is why a result is given up whose commitment came second (decision J5).
const otherStands = "the chain has this runner's commitment to another result: the first commitment of a draw counts"

// handOver sends a result to another validator when the chain has not got it in
// time: its commitment, or in the time to reveal, its reveal. If no stream for it
// exists yet, the first new one is used.
//
// Spec: decision J15, and the wire's Result.
func (m *Machine) handOver(j *job, s *Standing) {
	if j.state != finished {
		return
	}
	if len(s.Commitments) > 0 && !slices.Contains(s.Commitments, j.commitment) {
		m.failJob(j, otherStands)
		return
	}
	committed := s.Alone || slices.Contains(s.Commitments, j.commitment)
	since := j.sent
	if committed && !s.Alone {
		if s.Reveals == 0 || m.head.Height < s.Reveals {
			return // it waits for the others
		}
		since = max(since, s.Reveals)
	}
	if j.tries == 0 || m.head.Height >= since && uint64(m.head.Height-since) >= patienceBlocks {
		m.sendResult(j)
	}
}

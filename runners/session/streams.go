package session

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// onStream takes a stream or a frame of a job's. Before the exchange of Hellos is
// done, by our count, it waits.
func (m *Machine) onStream(p *peer, s connection.Stream, e connection.Event) {
	switch {
	case p.stage == leaving:
	case !s.IsJob():
		m.leavePeer(p, push.UnexpectedStream)
	case p.stage == live:
		m.handOnJobEvent(p, e)
	case !p.greeted || len(p.early) >= maxEarly:
		// Before our HelloAck, which answers its Hello, a validator has no jobs.
		m.leavePeer(p, push.UnexpectedFrame)
	default:
		p.early = append(p.early, e)
	}
}

// handOnJobEvent hands on events on the stream of a job, and records them.
func (m *Machine) handOnJobEvent(p *peer, e connection.Event) {
	switch e := e.(type) {
	case connection.Opened:
		if len(p.streams) >= MaxStreams {
			m.leavePeer(p, push.UnexpectedStream)
			return
		}
		p.streams[e.Stream] = &sides{}
	case connection.Ended:
		p.endSides(e.Stream, sides{theirs: true})
	}
	if p.stage == live {
		m.out.Jobs = append(m.out.Jobs, Stream{p.PublicKey, e})
	}
}

// onEnded takes the end of the validator's side of a stream. That it broke the stream
// off is one: the slot of a stream is free when our side has ended too.
func (m *Machine) onEnded(p *peer, e connection.Ended) {
	switch {
	case p.stage == leaving:
	case e.Torn:
		m.leavePeer(p, push.Malformed)
	case e.Stream == connection.Control:
		// There is no connection without it (CIP-11 §6.1): the validator left.
		m.addVerb(connection.Close{ID: p.id, Code: connection.CodeDone})
		m.handleOver(p, "", false)
	default:
		m.onStream(p, e.Stream, e)
	}
}

// performVerbs does what the worker wants on the streams of jobs, where the connection is
// live still, and takes note of the streams whose side of ours it ends: a validator
// that the runner does not belong to any more is left when none is open.
func (m *Machine) performVerbs(verbs []connection.Verb) {
	for _, v := range verbs {
		var id connection.ID
		var stream connection.Stream
		var ended sides
		switch v := v.(type) {
		case connection.Send:
			id, stream = v.ID, v.Stream
		case connection.End:
			id, stream, ended.ours = v.ID, v.Stream, true
		case connection.Reset:
			id, stream, ended = v.ID, v.Stream, sides{ours: true, theirs: true}
		default:
			panic(fmt.Sprintf("session: the worker wants a %T", v))
		}
		p := m.findPeer(id)
		if p == nil || p.stage != live || p.streams[stream] == nil {
			continue
		}
		m.addVerb(v)
		p.endSides(stream, ended)
	}
}

// endSides takes note of sides of a stream that ended.
func (p *connectionState) endSides(stream connection.Stream, ended sides) {
	s := p.streams[stream]
	if s == nil {
		return
	}
	s.ours, s.theirs = s.ours || ended.ours, s.theirs || ended.theirs
	if s.ours && s.theirs {
		delete(p.streams, stream)
	}
}

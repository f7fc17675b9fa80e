package gateway

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// FuzzMachine plays hostile runners, whose every frame may be well-formed, in place
// or neither. The machine never panics, holds to Check, sends nothing after a
// Goodbye, and serves an honest runner all the while.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 0, 3, 0, 4, 0})
	f.Add([]byte{0, 0, 1, 0, 2, 0, 3, 0, 12, 0, 14, 0, 5, 0, 6, 0, 7, 0, 8, 0, 14, 0, 13, 0})
	f.Add([]byte{0, 1, 1, 1, 2, 1, 9, 200, 10, 3, 11, 0, 0, 0, 0, 0, 0, 0, 16, 5, 15, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		w := newWorld(t, func(p *params.Params) { p.PresenceTimeoutBlocks = 1_000_000 })
		honest := w.live("honest")
		honest.ping()
		hostile := []string{"r0", "r1", "r2"}
		for _, name := range hostile[:2] {
			w.register(name)
		}
		liars := map[string]*end{}
		for job := byte(0); len(script) >= 2; script = script[2:] {
			what, detail := script[0]%19, script[1]
			name := hostile[int(detail)%len(hostile)]
			e := liars[name]
			if e == nil || what == 0 {
				liars[name] = w.connect(name, detail)
				continue
			}
			e.play(what, detail, &job)
			for stream := range e.sent {
				if stream != connection.Control {
					e.sent[stream] = nil
				}
			}
			honest.sent = map[connection.Stream][]push.Frame{}
		}
		if w.bits() == "" || w.bits()[0] != '0' || honest.closed != nil {
			t.Fatalf("an honest runner lost its place: bits %q, %v", w.bits(), honest.closed)
		}
	})
}

// play is one act of a hostile runner.
func (e *end) play(what, detail byte, job *byte) {
	stream := connection.Job(uint64(detail % 5))
	id := AssignmentID{Job: types.Hash{detail % 8}, Drawn: e.head.Height}
	switch what {
	case 1:
		e.openControl()
	case 2:
		e.say(0, e.helloOf())
		for _, f := range e.sent[0] {
			if hello, is := f.(*push.Hello); is {
				e.hello = *hello
			}
		}
	case 3:
		e.say(0, e.ackOf())
	case 4:
		e.say(0, e.pingOf())
	case 5:
		e.ackJob(stream, types.Hash{detail % 8}, []push.AckStatus{accepted, duplicate, rejected()}[detail%3])
	case 6:
		e.say(stream, &push.JobProgress{JobID: id.Job, Fraction: detail % 101})
	case 7:
		e.say(stream, e.resultOf(id.Job, "done"))
	case 8:
		e.say(0, &push.BackpressureSignal{AcceptingNew: detail%2 == 0})
	case 9:
		e.raw(connection.Stream(detail%8), detail, 0xa0)
	case 10:
		e.step(Connection{connection.Opened{ID: e.id, Stream: connection.Stream(detail % 9)}})
	case 11:
		e.step(Connection{connection.Down{ID: e.id, Closed: detail%2 == 0, Reason: "gone"}})
	case 12:
		*job++
		e.assign(e.signer, *job%8, int(detail%3)+1)
	case 13:
		if open := e.open[e.signer.Address()]; len(open) > 0 {
			e.finish(e.signer, open[0].AssignmentID, Ending(detail%4))
		}
	case 14:
		e.block(nil)
	case 15:
		e.pass(time.Duration(detail) * 20 * time.Millisecond)
	case 16:
		e.step(Connection{connection.TooLong{ID: e.id, Stream: connection.Stream(detail % 6), Length: uint32(detail) << 13, Type: detail}})
	case 18:
		e.step(Polled{Runner: e.signer.Address(), Result: e.resultOf(id.Job, "done")})
	case 17:
		e.step(Connection{[]connection.Event{connection.Stuck{ID: e.id}, connection.Stalled{ID: e.id, Stream: stream},
			connection.Cut{ID: e.id, Stream: stream}, connection.Ended{ID: e.id, Stream: stream, Torn: detail > 200}}[detail%4]})
	}
}

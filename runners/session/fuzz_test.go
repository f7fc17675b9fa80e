package session

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// FuzzMachine plays hostile validators. The machine never panics, sends nothing after
// a Goodbye, keeps its limits, and stays with an honest one all the while.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 0, 3, 0, 7, 0, 8, 0, 5, 0})
	f.Add([]byte{0, 1, 1, 1, 7, 1, 8, 2, 8, 9, 2, 1, 9, 50, 4, 1, 6, 3, 10, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		w := newWorld(t, 3)
		w.begin()
		honest := w.lines[w.dials[0].id].live()
		for ; len(script) >= 2; script = script[2:] {
			what, detail := script[0]%12, script[1]
			hostile := w.dials[len(w.dials)-1-int(detail)%min(2, len(w.dials)-1)].id
			l := w.lines[hostile]
			if l == honest {
				continue
			}
			l.play(what, detail)
			for _, l := range w.lines {
				for _, f := range l.sent {
					if hello, is := f.(*push.Hello); is {
						l.hello = *hello
					}
				}
				l.sent = nil
			}
			if len(w.peers) != 3 || w.Deadline() < w.now.Add(-time.Hour) {
				t.Fatalf("%d validators", len(w.peers))
			}
			for _, p := range w.peers {
				if len(p.streams) > MaxStreams || len(p.early) > maxEarly {
					t.Fatalf("%d streams, %d early", len(p.streams), len(p.early))
				}
			}
		}
		if honest.done || honest.closed != nil {
			t.Fatal("the honest one was left")
		}
	})
}

func (l *line) play(what, detail byte) {
	stream := connection.Stream(detail % 9)
	switch what {
	case 0:
		l.upOnce()
	case 1:
		l.say(0, l.helloOf())
	case 2:
		l.say(0, l.ackOf())
	case 3:
		pong := &push.HeartbeatPong{BlockHeight: types.Height(detail) << (detail % 56)}
		pong.ValidatorSigned = l.signer.Sign(pong.Digest(chainID, signerOf("r0").PublicKey()))
		l.say(0, pong)
	case 4:
		l.say(0, &push.Goodbye{Reason: push.Reasons[int(detail)%len(push.Reasons)]})
	case 5:
		l.pass(time.Duration(detail) * 20 * time.Millisecond)
	case 6:
		l.newHead(func(h *chainview.Head) { h.Staked = detail%2 == 0 })
	case 7:
		l.step(Connection{connection.Opened{ID: l.id, Stream: stream}})
	case 8:
		l.raw(stream, detail, 0xa0)
	case 9:
		l.down("gone")
	case 10:
		l.step(Answers{[]connection.Verb{connection.Send{ID: l.id, Stream: stream, Frame: []byte{1}}, connection.End{ID: l.id, Stream: stream}}})
	case 11:
		l.step(Connection{[]connection.Event{connection.Stuck{ID: l.id}, connection.Stalled{ID: l.id, Stream: stream},
			connection.Cut{ID: l.id, Stream: stream},
			connection.Ended{ID: l.id, Stream: stream, Torn: detail > 200}, connection.TooLong{ID: l.id, Length: uint32(detail)}}[detail%5]})
	}
}

// upOnce brings the connection up if the machine still dials: the environment reports
// that once.
func (l *line) upOnce() {
	if p := l.findPeer(l.id); p != nil && p.stage == dialling {
		l.up()
	}
}

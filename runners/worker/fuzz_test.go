package worker

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// FuzzMachine plays hostile validators and an executor that sends unrequested
// answers. The machine never panics, keeps its limits (world.step), sends nothing
// after the end of a stream, and asks for nothing twice at once.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0})
	f.Add([]byte{3, 1, 0, 1, 1, 1, 0, 2, 1, 2, 4, 1, 5, 0, 5, 0, 5, 0, 5, 0, 7, 1, 6, 1, 8, 1, 9, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		w := newWorld(t)
		var lines []line
		working := map[ID]bool{}
		for ; len(script) >= 2; script = script[2:] {
			what, detail := script[0]%12, script[1]
			id := ID{Job: types.Hash{detail % 5}, Drawn: types.Height(100 + detail%3)}
			l := line{}
			if len(lines) > 0 {
				l = lines[int(detail)%len(lines)]
			}
			switch {
			case what == 0:
				lines = append(lines, w.open(int(detail%3)+1))
			case what == 3:
				spec := spec()
				w.chain[id] = Standing{Open: detail%4 != 0, SpecHash: spec.Hash(), Deadline: id.Drawn + 20, Alone: detail%2 == 0, Reveals: id.Drawn + 3}
			case what == 4:
				w.step(Finished{ID: id, Result: []byte{detail}})
			case what == 5:
				w.block()
			case what == 6:
				w.step(Broke{ID: id, Why: "it broke"})
			case what == 7:
				w.step(Advanced{ID: id, Fraction: detail})
				w.later(time.Duration(detail) * time.Millisecond)
			case what == 8:
				w.step(Drain{On: detail%2 == 0, Reason: "update"})
			case len(lines) == 0:
			case what == 1:
				w.say(l, w.assignmentOf(l, id, func(f *push.JobAssignment) {
					if detail > 128 {
						f.JobSpec.JobType.Custom.Params = []byte{detail}
					}
				}))
			case what == 2:
				w.cancel(l, id.Job)
			case what == 9:
				w.raw(l, detail, 0xa0)
			case what == 10:
				w.event(l, connection.Ended{ID: l.id, Stream: l.stream})
			case what == 11:
				w.event(l, []connection.Event{connection.Down{ID: l.id}, connection.Cut{ID: l.id, Stream: l.stream}}[detail%2])
			}
			for _, a := range w.asks {
				switch a := a.(type) {
				case Execute:
					if working[a.ID] {
						t.Fatalf("asked twice for %v", a.ID)
					}
					working[a.ID] = true
				case Abandon:
					working[a.ID] = false
				}
			}
			w.asks = nil
			if what == 4 || what == 6 {
				working[id] = false
			}
		}
	})
}

package sim

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// name is a signer that cannot sign: the worlds of these tests need addresses
// only.
type name string

func (s name) Address() (a types.Address)          { copy(a[:], s); return a }
func (s name) PublicKey() types.PublicKey          { return types.PublicKey{} }
func (s name) Sign(types.Hash) (_ types.Signature) { return }

func nameOf(a types.Address) string {
	i := 0
	for i < len(a) && a[i] != 0 {
		i++
	}
	return string(a[:i])
}

// arrived is the event of a toy's transport, rung that of its alarm.
type (
	arrived struct {
		from  string
		frame []byte
	}
	rung struct{}
)

// toy is a process with one role, whose behaviour is given by the test.
type toy struct {
	env.Node
	name    string
	world   *World
	alarm   env.Alarm
	pid     *actor.PID
	started func(*toy)
	frame   func(t *toy, from string, frame []byte)
	ring    func(*toy)
	event   func(t *toy, event any)
}

func (t *toy) send(to string, frame string) { t.Transport.Send(name(to).Address(), []byte(frame)) }

func (t *toy) receive(ctx actor.Context) {
	switch event := ctx.Message().(type) {
	case *actor.Started:
		if t.started != nil {
			t.started(t)
		}
	case arrived:
		if t.frame != nil {
			t.frame(t, event.from, event.frame)
		}
	case rung:
		if t.ring != nil {
			t.ring(t)
		}
	case *actor.Stopping, *actor.Stopped:
	default:
		if t.event != nil {
			t.event(t, event)
		}
	}
}

// boot starts the toy that fresh returns for each life of a node.
func boot(w *World, self string, peers []string, fresh func() *toy) Boot {
	return func(e env.Node) (func(), error) {
		t := fresh()
		t.Node, t.name, t.world = e, self, w
		pid, err := w.Runtime().Spawn(self+"/toy", e.Loops.Loop("toy"), t.receive)
		if err != nil {
			return nil, err
		}
		t.pid = pid
		t.alarm = e.Clock.NewAlarm(func() { w.Runtime().Post(pid, rung{}) })
		var set []types.Validator
		for _, peer := range peers {
			set = append(set, types.Validator{Address: name(peer).Address()})
		}
		e.Transport.SetPeers(set)
		err = e.Transport.Start(func(from types.Address, frame []byte) {
			w.Runtime().Offer(pid, arrived{nameOf(from), frame})
		})
		return func() { w.Runtime().Stop(pid) }, err
	}
}

func names(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("n%d", i))
	}
	return all
}

// toys makes a world of n such nodes, all connected and booted.
func toys(t testing.TB, c Config, n int, fresh func(self string) *toy) *World {
	t.Helper()
	w := New(c)
	t.Cleanup(func() { w.Close() })
	for _, self := range names(n) {
		if err := w.AddNode(self, Parts{Signer: name(self)}, boot(w, self, names(n), func() *toy { return fresh(self) })); err != nil {
			t.Fatal(err)
		}
	}
	for _, self := range names(n) {
		if err := w.Boot(self); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func letRun(t testing.TB, w *World, d time.Duration) {
	t.Helper()
	if err := w.RunFor(d); err != nil {
		t.Fatal(err)
	}
}

// gossip is a toy that counts: each 100 ms it raises a counter, logs and
// broadcasts it, and it adopts and logs what is higher. A life resumes from its
// log.
func gossip(peers []string) func(string) *toy {
	return func(self string) *toy {
		count := uint64(0)
		note := func(t *toy) {
			record := binary.BigEndian.AppendUint64(nil, count)
			if err := t.Log.Append(record); err != nil {
				panic(err)
			}
			for _, peer := range peers {
				if peer != self {
					t.Transport.Send(name(peer).Address(), record)
				}
			}
		}
		return &toy{
			started: func(t *toy) {
				if err := t.Log.Replay(func(record []byte) error { count = binary.BigEndian.Uint64(record); return nil }); err != nil {
					panic(err)
				}
				t.alarm.Set(t.Clock.Now().Add(100 * time.Millisecond))
			},
			ring: func(t *toy) {
				count++
				note(t)
				t.alarm.Set(t.Clock.Now().Add(100 * time.Millisecond))
			},
			frame: func(t *toy, _ string, frame []byte) {
				if heard := binary.BigEndian.Uint64(frame); heard > count {
					count = heard
					note(t)
				}
			},
		}
	}
}

package sim

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
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
	env.Validator
	name    string
	world   *World
	alarm   env.Alarm
	inbox   roles.Inbox[any]
	started func(*toy)
	frame   func(t *toy, from string, frame []byte)
	ring    func(*toy)
	event   func(t *toy, event any)
}

func (t *toy) send(to string, frame string) { t.Mesh.Send(name(to).Address(), []byte(frame)) }

func (t *toy) steps() roles.Steps[any] {
	return roles.Steps[any]{First: t.first, Each: t.receive}
}

func (t *toy) first(actor.Context) {
	if t.started != nil {
		t.started(t)
	}
}

func (t *toy) receive(event any) {
	switch event := event.(type) {
	case arrived:
		if t.frame != nil {
			t.frame(t, event.from, event.frame)
		}
	case rung:
		if t.ring != nil {
			t.ring(t)
		}
	default:
		if t.event != nil {
			t.event(t, event)
		}
	}
}

// boot starts the toy that fresh returns for each life of a node.
func boot(w *World, self string, peers []string, fresh func() *toy) Boot[env.Validator] {
	return func(e env.Validator) (func(), error) {
		t := fresh()
		t.Validator, t.name, t.world = e, self, w
		inbox, err := roles.Spawn(w.Runtime(), self+"/toy", e.Loops.Loop("toy"), t.steps())
		if err != nil {
			return nil, err
		}
		t.inbox = inbox
		t.alarm = e.Clock.NewAlarm(func() { inbox.Post(rung{}) })
		var set []types.Validator
		for _, peer := range peers {
			set = append(set, types.Validator{Address: name(peer).Address()})
		}
		e.Mesh.SetPeers(set)
		err = e.Mesh.Start(func(from types.Address, frame []byte) {
			inbox.Offer(arrived{nameOf(from), frame})
		})
		return inbox.Stop, err
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
					t.Mesh.Send(name(peer).Address(), record)
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

package sim

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// ticking is a node of another kind than a validator, one that is given a Base
// and nothing else: a role that counts every 100 ms, in its log.
type ticking struct {
	env.Base
	alarm   env.Alarm
	count   uint64
	refused int // counts that the log did not take
}

const tick = 100 * time.Millisecond

func (c *ticking) start(actor.Context) { c.alarm.Set(c.Clock.Now().Add(tick)) }

func (c *ticking) ring(rung) {
	c.count++
	if err := c.Log.Append(binary.BigEndian.AppendUint64(nil, c.count)); err != nil {
		c.count--
		c.refused++
	}
	c.alarm.Set(c.Clock.Now().Add(tick))
}

// counter makes a world with one such node, which runs.
func counter(t *testing.T) (w *World, running func() *ticking) {
	t.Helper()
	w = New(Config{Seed: 1})
	t.Cleanup(func() { w.Close() })
	var current *ticking
	boot := func(e env.Base) (func(), error) {
		c := &ticking{Base: e}
		if err := e.Log.Replay(func(record []byte) error { c.count = binary.BigEndian.Uint64(record); return nil }); err != nil {
			return nil, err
		}
		inbox, err := roles.Spawn(w.Runtime(), "r0/ticking", e.Loops.Loop("ticking"), roles.Steps[rung]{First: c.start, Each: c.ring})
		c.alarm = e.Clock.NewAlarm(func() { inbox.Post(rung{}) })
		current = c
		return inbox.Stop, err
	}
	if err := addMachine(w, "r0", fault.Validators|fault.Runners, Parts{Signer: name("r0")}, (*process).baseEnv, boot); err != nil {
		t.Fatal(err)
	}
	if err := w.Boot("r0"); err != nil {
		t.Fatal(err)
	}
	return w, func() *ticking { return current }
}

// What happens to a machine happens to whatever kind of node runs on it.
func TestAMachinesFaultsKnowNoKindOfNode(t *testing.T) {
	w, running := counter(t)
	counted := func(want uint64, when string) {
		t.Helper()
		if got := running().count; got != want {
			t.Fatalf("%s it has counted to %d, not to %d", when, got, want)
		}
	}
	letRun(t, w, 10*tick)
	counted(10, "at first")

	frozen, err := w.Freeze("r0")
	if err != nil {
		t.Fatal(err)
	}
	letRun(t, w, 10*tick)
	counted(10, "frozen")
	if err := w.Thaw("r0"); err != nil || frozen.Held() == 0 {
		t.Fatalf("%v: %v", frozen, err)
	}
	letRun(t, w, tick/2)
	counted(11, "thawed")

	if r := w.Crash("r0"); r == nil || r.Ended() != 1 {
		t.Fatalf("%v", r)
	}
	letRun(t, w, 10*tick)
	counted(11, "dead")
	if err := w.Boot("r0"); err != nil {
		t.Fatal(err)
	}
	counted(11, "from its log")
	letRun(t, w, tick)
	counted(12, "alive again")

	failing := w.DiskFail("r0", true)
	letRun(t, w, 2*tick)
	w.DiskFail("r0", false)
	counted(12, "without a disk")
	if running().refused != 2 || failing.Refused() != 2 {
		t.Errorf("%d counts were refused, %v", running().refused, failing)
	}

	w.ClockSkew("r0", time.Hour)
	if ahead := running().Clock.Now().Sub(w.Now()); ahead != time.Hour {
		t.Errorf("its clock is %v ahead", ahead)
	}

	w.Crash("r0")
	if r, err := w.Wipe("r0"); err != nil || r.Lost() != 12 {
		t.Fatalf("%v: %v", r, err)
	}
	if err := w.Boot("r0"); err != nil {
		t.Fatal(err)
	}
	counted(0, "after its disk was lost")
}

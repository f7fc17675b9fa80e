package ledger

import (
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// oneFits has a lane with room for one fire a block, a relay, and two heartbeats
// due in the next block: the second is deferred in it.
func oneFits(t *testing.T, policy string) *world {
	w := newWorld(t, params.Overrides{"cip1.policy": policy, "cip1.lane_timer_cycles": "550000"})
	w.block(w.deploy("alice", "relay", "relay", types.CBY), w.deploy("alice", "heartbeat", "first", types.CBY),
		w.deploy("alice", "heartbeat", "second", types.CBY))
	w.block(w.call("bob", "first", "start", samples.Number(2)), w.call("carol", "second", "start", samples.Number(2)))
	w.ok()
	return w
}

// sendTo makes the relay send a handler's call, which is delivered in the next
// block.
func (w *world) sendTo(actor, handler string, payload []byte) {
	order := samples.Order{Target: w.address(actor), Handler: handler, Payload: payload, Cycles: 10_000, Cells: 1_000}
	w.block(w.call("alice", "relay", "send", order.Encode()))
	w.ok()
}

// changesOf returns the changes of an actor's timers in the last block.
func (w *world) changesOf(actor string) (changes []types.TimerChange) {
	for _, c := range w.last.Timers {
		if c.Timer.Actor == w.address(actor) {
			changes = append(changes, c)
		}
	}
	return changes
}

// Decision T9: "Deferred is every due timer not ended", so what comes after the
// lane finds the deferral of this block counted: under gba a transaction of the
// owner's or of the system key's, under every policy a delivery.
func TestT9WhatTheLaneDeferredIsCountedBehindIt(t *testing.T) {
	latest := types.Height(2_592_000) // max_ttl_blocks, and that many above the block that scheduled
	for name, c := range map[string]struct {
		policy  string
		idle    bool // the block before has nothing to send
		what    func(w *world) []*Checked
		ends    bool
		deliver func(w *world)
	}{
		"gba, cancelled by its owner": {policy: scheduler.GBA, idle: true, ends: true,
			what: func(w *world) []*Checked { return []*Checked{w.call("carol", "second", "stop", nil)} }},
		"gba, extended by its owner": {policy: scheduler.GBA, idle: true,
			what: func(w *world) []*Checked {
				return []*Checked{w.call("carol", "second", "extend", samples.Number(uint64(latest+3)))}
			}},
		"gba, cancelled by the system key": {policy: scheduler.GBA, idle: true, ends: true,
			what: func(w *world) []*Checked {
				id := w.head.Timers(w.address("second"))[0].ID
				return []*Checked{w.instruct(governance.OpCancelTimer, &governance.CancelTimer{TimerID: id})}
			}},
		"gba, extended by the system key": {policy: scheduler.GBA, idle: true,
			what: func(w *world) []*Checked {
				id := w.head.Timers(w.address("second"))[0].ID
				return []*Checked{w.instruct(governance.OpExtendTimer, &governance.ExtendTimer{TimerID: id, NewExpiresAt: latest + 3})}
			}},
		"gba, cancelled by a delivery":  {policy: scheduler.GBA, ends: true, deliver: func(w *world) { w.sendTo("second", "stop", nil) }},
		"fifo, cancelled by a delivery": {policy: scheduler.Fifo, ends: true, deliver: func(w *world) { w.sendTo("second", "stop", nil) }},
		"fifo, extended by a delivery": {policy: scheduler.Fifo,
			deliver: func(w *world) { w.sendTo("second", "extend", samples.Number(uint64(latest+3))) }},
		"bias-vcg, cancelled by a delivery": {policy: scheduler.BiasVCG, ends: true, deliver: func(w *world) { w.sendTo("second", "stop", nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := oneFits(t, c.policy)
			var txs []*Checked
			if c.idle {
				w.block()
			}
			if c.deliver != nil {
				c.deliver(w)
			}
			if c.what != nil {
				txs = c.what(w)
			}
			w.block(txs...)
			w.ok()
			var deferred, after *types.TimerChange
			for i, change := range w.changesOf("second") {
				switch {
				case change.Reason == scheduler.ReasonLaneFull:
					deferred = &w.changesOf("second")[i]
				case change.Status == types.TimerCancelled || change.Reason == scheduler.ReasonExtended || change.Reason == scheduler.ReasonExtendedGov:
					after = &w.changesOf("second")[i]
				}
			}
			if deferred == nil || after == nil || (after.Status == types.TimerCancelled) != c.ends {
				t.Fatalf("%+v", w.changesOf("second"))
			}
			if deferred.Timer.Deferrals != 1 || after.Timer.Deferrals != 1 {
				t.Errorf("the block deferred it once; the deferral counts %d, and the change after the lane %d", deferred.Timer.Deferrals,
					after.Timer.Deferrals)
			}
			if w.last.Lane.Unexamined != 0 {
				t.Errorf("%d are said not to be examined", w.last.Lane.Unexamined)
			}
		})
	}
}

// Before the lane the block has deferred nothing yet.
func TestT9WhatIsCancelledBeforeTheLaneWasNotDeferredByItsBlock(t *testing.T) {
	w := oneFits(t, scheduler.Fifo)
	w.block()
	w.block(w.call("carol", "second", "stop", nil))
	w.ok()
	if c := w.changesOf("second"); len(c) != 1 || c[0].Status != types.TimerCancelled || c[0].Timer.Deferrals != 0 {
		t.Errorf("%+v", c)
	}
}

// A lane that examines two timers per block counts all due ones, also those
// cancelled after it and those that a restored state begins with.
func TestT9TimersThatALaneDidNotComeToAreCounted(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip1.policy": scheduler.Fifo, "cip1.max_examined_timers": "2", "cip1.lane_timer_cycles": "550000"})
	w.block(w.deploy("alice", "relay", "relay", types.CBY), w.deploy("alice", "storm", "storm", 10*types.CBY),
		w.deploy("alice", "heartbeat", "last", types.CBY))
	gas := types.Cycles(550_000)
	w.block(w.call("bob", "storm", "make", encodeStorm(t, samples.Storm{Count: 4, In: 2, GasLimit: &gas, Use: 500_000})),
		w.call("carol", "last", "start", samples.Number(2)))
	w.ok()
	if w.last.Lane.Unexamined != 0 || w.head.due != 0 {
		t.Fatalf("%+v", w.last.Lane)
	}
	w.sendTo("last", "stop", nil)
	for i, want := range []uint64{3, 1, 0, 0, 0} { // the heartbeat is cancelled after the first lane
		if i == 1 {
			w.head = restored(t, w.head)
		}
		w.block()
		if w.last.Lane.Unexamined != want {
			t.Errorf("block %d did not come to %d timers, %d are counted", i, want, w.last.Lane.Unexamined)
		}
	}
	if w.head.due != 0 {
		t.Errorf("%d timers stay due", w.head.due)
	}
}

// restored is the state as a store would give it back.
func restored(t *testing.T, s *State) *State {
	t.Helper()
	var content []Change
	s.Scan(nil, nil, func(k, v []byte) bool {
		content = append(content, Change{Key: append([]byte{}, k...), Value: append([]byte{}, v...)})
		return true
	})
	again, err := Restore(content, &types.Block{Header: s.Header()})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

package scheduler

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"pgregory.net/rapid"
)

// watchWorld is a world with a storage that transactions and fires write.
type watchWorld struct {
	*world
	storage map[string]string
	firing  bool              // a fire schedules
	since   map[string]string // of the keys written since the last question: what they were, "-" for nothing
}

func newWatchWorld() *watchWorld {
	w := &watchWorld{world: newWorld(), storage: map[string]string{}, since: map[string]string{}}
	w.fund(alice, types.WeiOf(math.MaxUint64))
	w.fund(bob, types.WeiOf(math.MaxUint64))
	w.p.MinGasLimit = 1
	return w
}

// write gives a key of alice's storage a value; "" deletes it.
func (w *watchWorld) write(key, value string) {
	if _, known := w.since[key]; !known {
		w.since[key] = "-"
		if old, had := w.storage[key]; had {
			w.since[key] = "=" + old
		}
	}
	if w.storage[key] = value; value == "" {
		delete(w.storage, key)
	}
}

// written returns the writes since its last call.
func (w *watchWorld) written() (writes []StorageWrite) {
	for key, old := range w.since {
		write := StorageWrite{Actor: alice, Key: types.Keccak([]byte(key))}
		if old != "-" {
			write.Before = []byte(old[1:])
		}
		if now, has := w.storage[key]; has {
			write.After = []byte(now)
		}
		if string(write.Before) != string(write.After) || (write.Before == nil) != (write.After == nil) {
			writes = append(writes, write)
		}
	}
	w.since = map[string]string{}
	return writes
}

// inFire is the block as a fire schedules in it: with the values of the storage.
func (w *watchWorld) inFire() *InBlock {
	block := w.blockNow()
	block.Value = func(of types.Watch) []byte {
		if value, has := w.storage[string(of.Key)]; has {
			return []byte(value)
		}
		return nil
	}
	return block
}

// watch schedules a timer of bob on a key of alice's, from a height on.
func (w *watchWorld) watch(t testing.TB, key string, height types.Height, expires types.Height) types.Timer {
	t.Helper()
	block := w.blockNow()
	if w.firing {
		block = w.inFire()
	}
	timer, _, err := block.Schedule(bob, nil, program.TimerRequest{Height: height, ExpiresAt: &expires,
		Payload: []byte(fmt.Sprint(key, height, expires)), Watch: &types.Watch{Actor: alice, Key: types.Bytes(key)}})
	if err != nil {
		t.Fatal(err)
	}
	return timer
}

// end is the rest of a block after its transactions: who was triggered, who
// fired, who ended otherwise.
func (w *watchWorld) end() (triggered, fired, ended []types.TimerID) {
	for _, c := range w.inFire().Trigger(w.written()) {
		if c.Reason != ReasonTriggered || c.Status != types.TimerPending || c.At != w.now() {
			panic(fmt.Sprintf("%+v", c))
		}
		triggered = append(triggered, c.Timer.ID)
	}
	w.firing = true
	out, err := w.lane()
	w.firing = false
	if err != nil {
		panic(err)
	}
	for _, c := range out.Changes {
		switch {
		case c.Status == types.TimerFired:
			fired = append(fired, c.Timer.ID)
		case c.Status != types.TimerPending:
			ended = append(ended, c.Timer.ID)
		}
	}
	w.blockNow().NoteLate(w.written())
	if err := Check(&w.p, w.kv); err != nil {
		panic(err)
	}
	w.head++
	return triggered, fired, ended
}

// fires ends a block and says how many fired.
func (w *watchWorld) fires() int {
	_, fired, _ := w.end()
	return len(fired)
}

// CIP-5 §9.8, decision T26: a timer that watches a key becomes due at the end of
// a block whose transactions changed its value, and fires in that block.
func TestT26AWatchedKeyMakesATimerDue(t *testing.T) {
	w := newWatchWorld()
	timer := w.watch(t, "price", 2, 100)
	for range 2 {
		if w.fires() != 0 {
			t.Fatal("it fires although nothing changed")
		}
	}
	w.write("price", "7")
	triggered, fired, _ := w.end()
	if !slices.Equal(triggered, []types.TimerID{timer.ID}) || !slices.Equal(fired, triggered) {
		t.Fatalf("triggered %v, fired %v", triggered, fired)
	}
	if got := w.orders[0].Timer; got.Height != 2 || got.Watch == nil || got.Watch.Actor != alice || string(got.Watch.Key) != "price" ||
		got.Deferrals != 0 {
		t.Errorf("%+v", got)
	}
	w.write("price", "8")
	if w.fires() != 0 || Watched(w.kv) {
		t.Error("it is watched for after its end")
	}
}

// Decision T27: changed is a value that differs from that after the transactions
// of the block before; a value written again, or changed and changed back, is not.
func TestT27ARewrittenValueTriggersNothing(t *testing.T) {
	w := newWatchWorld()
	w.write("price", "7")
	w.watch(t, "price", 2, 100)
	w.end()
	w.write("price", "7")
	if w.fires() != 0 {
		t.Error("the same value")
	}
	w.write("price", "8")
	w.write("price", "7")
	if w.fires() != 0 {
		t.Error("there and back")
	}
	w.write("price", "")
	w.write("price", "7")
	if w.fires() != 0 {
		t.Error("deleted and written again")
	}
	w.write("other", "9")
	if w.fires() != 0 {
		t.Error("another key")
	}
	w.write("price", "")
	if w.fires() != 1 {
		t.Error("deleted")
	}
}

// No value differs from every value, also from an empty one.
func TestT27AbsentIsNotEmpty(t *testing.T) {
	w := newWatchWorld()
	w.watch(t, "k", 2, 100)
	w.end()
	key := types.Keccak([]byte("k"))
	if changes := w.blockNow().Trigger([]StorageWrite{{Actor: alice, Key: key, Before: nil, After: []byte{}}}); len(changes) != 1 {
		t.Error(changes)
	}
}

// Decision T26: what fires change counts in the next block.
func TestT26WhatFiresChangeCountsInTheNextBlock(t *testing.T) {
	w := newWatchWorld()
	watcher := w.watch(t, "k", 2, 100)
	if _, err := w.schedule(alice, program.TimerRequest{Height: 2}); err != nil {
		t.Fatal(err)
	}
	w.end()
	w.handle = func(world *world, order Fire) Fired {
		if order.Timer.Actor == alice {
			w.write("k", "fired")
		}
		return Fired{Result: types.StatusOK, Cycles: 100}
	}
	triggered, fired, _ := w.end()
	if len(triggered) != 0 || len(fired) != 1 {
		t.Fatalf("triggered %v, fired %v", triggered, fired)
	}
	if !WatchesWait(w.kv) {
		t.Error("the next block may be skipped")
	}
	triggered, fired, _ = w.end()
	if !slices.Equal(triggered, []types.TimerID{watcher.ID}) || len(fired) != 1 || WatchesWait(w.kv) {
		t.Errorf("triggered %v, fired %v", triggered, fired)
	}

	// A fire's change that the next block's transactions revert does not count.
	w.watch(t, "k", w.now()+1, 100)
	w.end()
	if _, err := w.schedule(alice, program.TimerRequest{Height: w.now() + 1}); err != nil {
		t.Fatal(err)
	}
	w.end()
	w.handle = func(world *world, order Fire) Fired {
		w.write("k", "again")
		return Fired{Result: types.StatusOK, Cycles: 100}
	}
	w.end()
	w.write("k", "fired")
	if triggered, _, _ := w.end(); len(triggered) != 0 {
		t.Error("undone")
	}
}

// Decision T4: no write in the timer's own block makes it due; before its height no
// change counts.
func TestT4AndT26TheHeightOfAWatcher(t *testing.T) {
	w := newWatchWorld()
	w.watch(t, "k", 2, 100)
	late := w.watch(t, "k", 5, 100)
	w.write("k", "1")
	if w.fires() != 0 {
		t.Error("in its own block")
	}
	w.write("k", "2")
	if w.fires() != 1 {
		t.Error("at its height")
	}
	w.end()
	w.write("k", "4")
	if w.fires() != 0 {
		t.Error("before its height")
	}
	if w.fires() != 0 {
		t.Error("for a change before its height")
	}
	w.write("k", "6")
	if triggered, _, _ := w.end(); !slices.Equal(triggered, []types.TimerID{late.ID}) {
		t.Error("after its height")
	}
}

// Decision T6: a watcher whose key never changes expires by its TTL.
func TestT26AWatcherExpires(t *testing.T) {
	w := newWatchWorld()
	timer := w.watch(t, "k", 2, 4)
	for w.now() < 5 {
		if _, _, ended := w.end(); len(ended) != 0 {
			t.Fatalf("it ends at %d", w.head)
		}
	}
	w.write("k", "late")
	triggered, fired, ended := w.end()
	if len(triggered)+len(fired) != 0 || !slices.Equal(ended, []types.TimerID{timer.ID}) || Watched(w.kv) {
		t.Errorf("triggered %v, fired %v, ended %v", triggered, fired, ended)
	}
}

// A cancelled watcher is forgotten; an extended one expires later and still
// watches.
func TestT26CancelledAndExtendedWatchers(t *testing.T) {
	w := newWatchWorld()
	cancelled, extended := w.watch(t, "k", 2, 5), w.watch(t, "k", 2, 5)
	w.end()
	if _, err := w.blockNow().Cancel(bob, cancelled.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.blockNow().Extend(bob, extended.ID, 9); err != nil {
		t.Fatal(err)
	}
	for w.now() < 8 {
		if triggered, fired, ended := w.end(); len(triggered)+len(fired)+len(ended) != 0 {
			t.Fatalf("at %d: %v %v %v", w.head, triggered, fired, ended)
		}
	}
	w.write("k", "1")
	if triggered, fired, _ := w.end(); len(triggered) != 1 || triggered[0] != extended.ID || len(fired) != 1 {
		t.Errorf("triggered %v, fired %v", triggered, fired)
	}
}

// Decisions T18, T26: a watcher whose time is over and that waits for the cleanup
// lane is saved by extending it, also when its key changed meanwhile: it counts
// the changes that come.
func TestT26AnExtendedWatcherStillWatches(t *testing.T) {
	w := newWatchWorld()
	w.p.GCCyclesPerBlock = 0 // it waits for the cleanup lane
	timer := w.watch(t, "price", 2, 3)
	w.end()
	w.end()
	w.end()
	w.write("price", "7")
	if triggered, fired, ended := w.end(); len(triggered)+len(fired)+len(ended) != 0 {
		t.Fatalf("triggered %v, fired %v, ended %v after its time", triggered, fired, ended)
	}
	if _, err := w.blockNow().Extend(bob, timer.ID, 100); err != nil {
		t.Fatal(err)
	}
	if w.fires() != 0 {
		t.Fatal("it fires for a change of before")
	}
	w.write("price", "8")
	if w.fires() != 1 || Watched(w.kv) {
		t.Fatal("it lives on and does not watch")
	}
}

// T26: a timer that a fire schedules watches from the value at that moment. The fire's own change
// wakes it not, a later fire's does, and a transaction of the next block that sets the value back
// does not.
func TestT26AFireWatchesFromTheValueAtThatMoment(t *testing.T) {
	for what, test := range map[string]struct {
		before, after, next string // writes before and after the watch, and of the next block; "" for none
		wakes               int
	}{
		"its own change":                       {"2", "", "", 0},
		"a later change of the block":          {"2", "3", "", 1},
		"a change of the next block":           {"2", "", "3", 1},
		"a change that is taken back":          {"2", "3", "2", 0},
		"the value of before the fire is back": {"2", "", "1", 1},
		"a later fire sets back what it was":   {"2", "1", "", 1},
		"no change":                            {"", "", "", 0},
	} {
		w := newWatchWorld()
		w.write("k", "1")
		w.end()
		if _, err := w.schedule(bob, program.TimerRequest{Height: w.now() + 1}); err != nil {
			t.Fatal(err)
		}
		w.handle = func(*world, Fire) Fired {
			w.handle = func(*world, Fire) Fired { return Fired{Result: types.StatusOK, Cycles: 100} }
			if test.before != "" {
				w.write("k", test.before)
			}
			w.watch(t, "k", w.now()+1, 100)
			if test.after != "" {
				w.write("k", test.after)
			}
			return Fired{Result: types.StatusOK, Cycles: 100}
		}
		w.end()
		w.end()
		if test.next != "" {
			w.write("k", test.next)
		}
		if triggered, _, _ := w.end(); len(triggered) != test.wakes {
			t.Errorf("%s: %d timers are woken, want %d", what, len(triggered), test.wakes)
		}
		w.write("k", "9")
		if triggered, _, _ := w.end(); len(triggered) != 1-test.wakes {
			t.Errorf("%s: %d timers are woken by a change of later", what, len(triggered))
		}
	}
}

// cip5.max_triggered_per_block bounds the work of a block: the oldest change goes
// first, the others follow; who came after the change is not concerned.
func TestMaxTriggeredSpreadsAChangeOverBlocks(t *testing.T) {
	w := newWatchWorld()
	w.p.MaxTriggered = 3
	for range 5 {
		w.watch(t, "k", 2, 100)
	}
	w.watch(t, "other", 2, 100)
	w.end()
	w.write("k", "1")
	if w.fires() != 3 || !WatchesWait(w.kv) {
		t.Fatal("the first block")
	}
	w.watch(t, "k", w.now()+1, 100)
	w.write("other", "1")
	if w.fires() != 3 {
		t.Fatal("the second block")
	}
	if w.fires() != 0 || WatchesWait(w.kv) || !Watched(w.kv) {
		t.Error("the third block")
	}
}

// A watched timer is refused where the policy has none, or the key could not be
// in state.
func TestT26WhereNothingIsWatched(t *testing.T) {
	for _, policy := range []string{Fifo, EIP1559, GBA, BiasVCG, BiasFirstPrice} {
		if policies[policy] == nil {
			continue
		}
		w := newWorld()
		w.p.Policy = policy
		w.fund(alice, types.WeiOf(math.MaxUint64))
		_, err := w.schedule(alice, program.TimerRequest{Height: 2, Watch: &types.Watch{Actor: bob, Key: types.Bytes("k")}})
		if supported := policy == Fifo || policy == EIP1559; supported {
			if err != nil {
				t.Error(policy, err)
			}
		} else {
			wantCode(t, err, CodeWatchUnsupported)
		}
		_, err = w.schedule(alice, program.TimerRequest{Height: 2, Watch: &types.Watch{Key: make(types.Bytes, w.p.MaxStateKeyBytes+1)}})
		wantCode(t, err, CodeWatchUnsupported)
	}
}

// watchTwin is the literal rule of decisions T26 and T27: all watchers are examined
// in every block.
type watchTwin struct {
	waiting []types.Timer
	from    map[types.TimerID]*string // of timers that fires scheduled: the value then, nil for none
	before  map[string]string         // storage after the transactions of the block before
}

func (tw *watchTwin) end(now types.Height, storage map[string]string) (triggered map[types.TimerID]bool) {
	triggered = map[types.TimerID]bool{}
	tw.waiting = slices.DeleteFunc(tw.waiting, func(t types.Timer) bool {
		was, had := tw.before[string(t.Watch.Key)]
		is, has := storage[string(t.Watch.Key)]
		if from, late := tw.from[t.ID]; late && t.ScheduledAt == now-1 {
			if had = from != nil; had {
				was = *from
			}
		}
		due := t.Height <= now && t.ScheduledAt < now && (had != has || had && was != is)
		if due && now <= t.ExpiresAt {
			triggered[t.ID] = true
		}
		return due || now > t.ExpiresAt
	})
	tw.before = map[string]string{}
	for k, v := range storage {
		tw.before[k] = v
	}
	return triggered
}

// TestWatchersEqualTheTwin over histories of writes by transactions and fires,
// cancellations and expiries.
func TestWatchersEqualTheTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWatchWorld()
		w.p.Policy = rapid.SampledFrom([]string{Fifo, EIP1559}).Draw(rt, "policy")
		tw := &watchTwin{before: map[string]string{}, from: map[types.TimerID]*string{}}
		draw := func(what string) {
			if rapid.IntRange(0, 2).Draw(rt, what) == 0 {
				w.write(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key"), rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "value"))
			}
		}
		w.handle = func(world *world, order Fire) Fired {
			draw("a fire writes")
			if rapid.IntRange(0, 3).Draw(rt, "a fire watches") == 0 {
				timer := w.drawWatch(t, rt)
				tw.waiting, tw.from[timer.ID] = append(tw.waiting, timer), nil
				if value, has := w.storage[string(timer.Watch.Key)]; has {
					tw.from[timer.ID] = &value
				}
				draw("the fire writes again")
			}
			return Fired{Result: types.StatusOK, Cycles: 100}
		}
		for range rapid.IntRange(1, 25).Draw(rt, "blocks") {
			if rapid.Bool().Draw(rt, "watches") {
				tw.waiting = append(tw.waiting, w.drawWatch(t, rt))
			}
			if rapid.IntRange(0, 3).Draw(rt, "ordinary timer") == 0 {
				if _, err := w.schedule(alice, program.TimerRequest{Height: w.now() + 1}); err != nil {
					rt.Fatal(err)
				}
			}
			draw("a transaction writes")
			if len(tw.waiting) > 0 && rapid.IntRange(0, 4).Draw(rt, "cancels") == 0 {
				i := rapid.IntRange(0, len(tw.waiting)-1).Draw(rt, "which")
				if _, err := w.blockNow().Cancel(bob, tw.waiting[i].ID); err != nil {
					rt.Fatal(err)
				}
				tw.waiting = slices.Delete(tw.waiting, i, i+1)
			}
			want := tw.end(w.now(), w.storage)
			triggered, _, _ := w.end()
			if len(triggered) != len(want) {
				rt.Fatalf("height %d: %d timers are triggered, the twin says %d", w.head, len(triggered), len(want))
			}
			for _, id := range triggered {
				if !want[id] {
					rt.Fatalf("height %d: timer %s", w.head, id)
				}
			}
		}
	})
}

func (w *watchWorld) drawWatch(t testing.TB, rt *rapid.T) types.Timer {
	height := w.now() + types.Height(rapid.IntRange(1, 4).Draw(rt, "ahead"))
	return w.watch(t, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "watched"), height,
		height+types.Height(rapid.IntRange(0, 5).Draw(rt, "life")))
}

// BenchmarkTrigger is the cost of a block that wrote 10,000 keys, none of them
// watched, while watchers timers watch others.
func BenchmarkTrigger(b *testing.B) {
	for _, watchers := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("watchers=%d", watchers), func(b *testing.B) {
			w := newWatchWorld()
			w.p.MaxTimers = math.MaxUint64
			for i := range watchers {
				w.watch(b, fmt.Sprint(i), 2, 100)
			}
			w.head++
			written := make([]StorageWrite, 10_000)
			for i := range written {
				written[i] = StorageWrite{Actor: bob, Key: types.Keccak([]byte(fmt.Sprint(i))), After: []byte("x")}
			}
			for b.Loop() {
				if changes := w.blockNow().Trigger(written); len(changes) != 0 {
					b.Fatal(len(changes))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(written)), "ns/write")
		})
	}
}

package sim

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// order is an event that tells a toy what to do in one step.
type order func(*toy)

// puppets makes a world of n toys that do what do tells them; their frames are
// noted as "receiver<sender:frame".
func puppets(t testing.TB, c Config, n int) (w *World, heard *[]string, do func(string, order)) {
	heard = new([]string)
	current := map[string]*toy{}
	w = toys(t, c, n, func(self string) *toy {
		y := &toy{
			frame: func(_ *toy, from string, frame []byte) { *heard = append(*heard, self+"<"+from+":"+string(frame)) },
			event: func(y *toy, event any) { event.(order)(y) },
		}
		current[self] = y
		return y
	})
	do = func(self string, what order) { current[self].inbox.Post(what) }
	letRun(t, w, 0)
	return w, heard, do
}

// records reads what a node's log holds, as a process that boots would.
func records(t testing.TB, w *World, self string) []string {
	t.Helper()
	all := []string{}
	l := &nodeLog{&process{node: w.findNode(self)}}
	if err := l.Replay(func(r []byte) error { all = append(all, string(r)); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func appendAll(y *toy, all ...string) {
	var records [][]byte
	for _, r := range all {
		records = append(records, []byte(r))
	}
	if err := y.Log.Append(records...); err != nil {
		panic(err)
	}
}

func TestACrashStrikesAtTheInstructionPlanned(t *testing.T) {
	for _, test := range []struct {
		at   Moment
		n    int
		log  []string
		sent []string
	}{
		{BeforeAppend, 1, []string{}, nil},
		{AfterAppend, 1, []string{"vote 1"}, nil},
		{BeforeSend, 1, []string{"vote 1"}, nil},
		{AfterSend, 1, []string{"vote 1"}, []string{"n1<n0:vote 1"}},
		{BeforeAppend, 2, []string{"vote 1"}, []string{"n1<n0:vote 1"}},
		{TornAppend, 2, []string{"vote 1"}, []string{"n1<n0:vote 1"}},
		{AfterSend, 2, []string{"vote 1", "vote 2"}, []string{"n1<n0:vote 1", "n1<n0:vote 2"}},
		{BeforeCommit, 1, []string{"vote 1", "vote 2"}, []string{"n1<n0:vote 1", "n1<n0:vote 2"}},
	} {
		w, heard, do := puppets(t, Config{Seed: 1}, 2)
		w.CrashAt("n0", test.at, test.n)
		after := false
		do("n0", func(y *toy) {
			for i := range 2 {
				vote := fmt.Sprint("vote ", i+1)
				appendAll(y, vote)
				y.send("n1", vote)
			}
			if err := y.Store.Commit(nil); err != nil {
				panic(err)
			}
			after = true
		})
		letRun(t, w, time.Second)
		if after || w.Running("n0") {
			t.Errorf("%s %d: the process ran on", test.at, test.n)
		}
		if got := records(t, w, "n0"); !reflect.DeepEqual(got, test.log) {
			t.Errorf("%s %d: the log holds %v, want %v", test.at, test.n, got, test.log)
		}
		if !reflect.DeepEqual(*heard, test.sent) {
			t.Errorf("%s %d: n1 heard %v, want %v", test.at, test.n, *heard, test.sent)
		}
	}
}

func TestATornAppendKeepsAPrefixAndNeverAll(t *testing.T) {
	seen := map[int]bool{}
	for seed := range uint64(60) {
		w, _, do := puppets(t, Config{Seed: seed}, 1)
		do("n0", func(y *toy) { appendAll(y, "a", "b") })
		letRun(t, w, time.Second)
		w.CrashAt("n0", TornAppend, 1)
		do("n0", func(y *toy) { appendAll(y, "c", "d", "e") })
		letRun(t, w, time.Second)
		got := strings.Join(records(t, w, "n0"), "")
		if !strings.HasPrefix("abcd", got) || len(got) < 2 {
			t.Fatalf("seed %d: the log holds %q", seed, got)
		}
		seen[len(got)] = true
	}
	if len(seen) != 3 {
		t.Errorf("torn appends left %v records, want 2, 3 and 4", seen)
	}
}

func TestACrashLosesWhatIsNotSyncedYet(t *testing.T) {
	w, heard, do := puppets(t, Config{Seed: 3, Disk: Disk{Latency: 10 * time.Millisecond}}, 2)
	put := func(value string) order {
		return func(y *toy) {
			appendAll(y, value)
			if err := y.Store.Commit([]env.Write{{Bucket: "b", Key: []byte("k"), Value: []byte(value)}}); err != nil {
				panic(err)
			}
			y.send("n1", value)
		}
	}
	do("n0", put("old"))
	letRun(t, w, time.Second)
	do("n0", put("new"))
	w.After(15*time.Millisecond, func() { w.Crash("n0") }) // the log is synced after 10 ms, the store after 20
	letRun(t, w, time.Second)
	if got := records(t, w, "n0"); !reflect.DeepEqual(got, []string{"old", "new"}) {
		t.Errorf("the log holds %v", got)
	}
	value, _ := (&nodeStore{&process{node: w.findNode("n0")}}).Get("b", []byte("k"))
	if string(value) != "old" {
		t.Errorf("the store holds %q, though new was not synced", value)
	}
	if !reflect.DeepEqual(*heard, []string{"n1<n0:old"}) {
		t.Errorf("n1 heard %v: a frame left before the write that it waited for was synced", *heard)
	}
}

func TestABusyDiskKeepsItsRoleFromSteppingAndNoOther(t *testing.T) {
	w, heard, do := puppets(t, Config{Seed: 3, Disk: Disk{Latency: 10 * time.Millisecond}}, 2)
	var at []time.Duration
	start := w.Now()
	do("n0", func(y *toy) { appendAll(y, "x") })
	do("n0", func(y *toy) { at = append(at, y.Clock.Now().Sub(start)) })
	do("n1", func(y *toy) { at = append(at, y.Clock.Now().Sub(start)) })
	letRun(t, w, time.Second)
	if !reflect.DeepEqual(at, []time.Duration{0, 10 * time.Millisecond}) {
		t.Errorf("n1 and n0 stepped after %v", at)
	}
	_ = heard
}

func TestACrashedProcessHasNoEffectAndANewOneStartsFresh(t *testing.T) {
	w, heard, do := puppets(t, Config{Seed: 1, Link: Link{Latency: 100 * time.Millisecond}}, 2)
	var old *toy
	do("n0", func(y *toy) {
		old = y
		appendAll(y, "kept")
		y.alarm.Set(y.Clock.Now().Add(time.Second))
	})
	do("n1", func(y *toy) { y.send("n0", "too late") })
	letRun(t, w, 50*time.Millisecond)
	do("n0", func(y *toy) { t.Error("a dead role stepped") })
	r := w.Crash("n0")
	if err := w.Boot("n0"); err != nil {
		t.Fatal(err)
	}
	old.send("n1", "from beyond")
	old.alarm.Set(old.Clock.Now())
	if err := old.Log.Append([]byte("from beyond")); !errors.Is(err, ErrCrashed) {
		t.Errorf("the dead appended: %v", err)
	}
	if _, err := old.Store.Get("b", nil); !errors.Is(err, ErrCrashed) {
		t.Errorf("the dead read: %v", err)
	}
	do("n1", func(y *toy) { y.send("n0", "hello") })
	letRun(t, w, 5*time.Second)
	if !reflect.DeepEqual(*heard, []string{"n0<n1:hello"}) {
		t.Errorf("heard %v", *heard)
	}
	if got := records(t, w, "n0"); !reflect.DeepEqual(got, []string{"kept"}) {
		t.Errorf("the log holds %v", got)
	}
	if r.Ended() != 1 || r.Cut() != 1 || r.Dropped() != 1 {
		t.Errorf("the receipt: %v", r)
	}
	if w.Crash("n0") == nil || w.Crash("n0") != nil {
		t.Error("a crash of what does not run has a receipt, or of what runs has none")
	}
}

func TestACrashWithinABootIsAnError(t *testing.T) {
	w := New(Config{Seed: 1})
	defer w.Close()
	w.AddNode("n0", Parts{Signer: name("n0")}, func(e env.Validator) (func(), error) {
		if _, err := roles.Spawn(w.Runtime(), "n0/early", e.Loops.Loop("early"), (&toy{}).steps()); err != nil {
			return nil, err
		}
		return func() {}, e.Log.Append([]byte("x"))
	})
	w.CrashAt("n0", AfterAppend, 1)
	if err := w.Boot("n0"); !errors.Is(err, ErrCrashed) || w.Running("n0") {
		t.Fatalf("a boot that crashed: %v", err)
	}
	if err := w.Boot("n0"); err != nil { // the role's name is free again
		t.Fatal(err)
	}
	if got := records(t, w, "n0"); !reflect.DeepEqual(got, []string{"x", "x"}) {
		t.Errorf("the log holds %v", got)
	}
}

func TestStopLetsTheProcessFinishAndFreesItsNames(t *testing.T) {
	w := toys(t, Config{Seed: 1}, 2, gossip(names(2)))
	letRun(t, w, time.Second)
	if err := w.Stop("n0"); err != nil || w.Running("n0") {
		t.Fatal(err)
	}
	if err := w.Stop("n0"); err == nil {
		t.Error("a stopped node was stopped")
	}
	letRun(t, w, time.Second)
	if err := w.Boot("n0"); err != nil {
		t.Fatal(err)
	}
	if err := w.Boot("n0"); err == nil {
		t.Error("a running node was booted")
	}
	letRun(t, w, time.Second)
}

func TestAFrozenNodeFindsEverythingWhenItThaws(t *testing.T) {
	w, heard, do := puppets(t, Config{Seed: 1}, 2)
	rung := 0
	w.findNode("n0") // named by the faults below
	do("n0", func(y *toy) { y.ring = func(*toy) { rung++ }; y.alarm.Set(y.Clock.Now().Add(time.Second)) })
	letRun(t, w, time.Millisecond)
	r, err := w.Freeze("n0")
	if err != nil {
		t.Fatal(err)
	}
	do("n0", func(y *toy) { *heard = append(*heard, "posted") })
	do("n1", func(y *toy) { y.send("n0", "1"); y.send("n0", "2") })
	letRun(t, w, time.Minute)
	if len(*heard) != 0 || rung != 0 {
		t.Fatalf("a frozen node heard %v and was rung %d times", *heard, rung)
	}
	if err := w.Thaw("n0"); err != nil {
		t.Fatal(err)
	}
	letRun(t, w, 0)
	if want := []string{"posted", "n0<n1:1", "n0<n1:2"}; !reflect.DeepEqual(*heard, want) || rung != 1 || r.Held() != 3 {
		t.Errorf("thawed it heard %v, want %v; rung %d times; %v", *heard, want, rung, r)
	}
	if w.Thaw("n0") == nil {
		t.Error("what was not frozen thawed")
	}
}

func TestAFrozenNodesMachineKeepsABoundedNumberOfFrames(t *testing.T) {
	w, heard, do := puppets(t, Config{Seed: 1}, 2)
	r, _ := w.Freeze("n0")
	do("n1", func(y *toy) {
		for range MaxHeld + 10 {
			y.send("n0", "x")
		}
	})
	letRun(t, w, time.Second)
	w.Thaw("n0")
	letRun(t, w, time.Second)
	if len(*heard) != MaxHeld || r.Dropped() != 10 {
		t.Errorf("%d frames were kept, %v", len(*heard), r)
	}
}

func TestWipeAndDiskFail(t *testing.T) {
	w, _, do := puppets(t, Config{Seed: 1}, 1)
	do("n0", func(y *toy) { appendAll(y, "x") })
	letRun(t, w, 0)
	var refused error
	r := w.DiskFail("n0", true)
	do("n0", func(y *toy) { refused = y.Log.Append([]byte("y")) })
	letRun(t, w, 0)
	w.DiskFail("n0", false)
	if !errors.Is(refused, ErrDiskFailed) || r.Refused() != 1 || r.Idle() {
		t.Errorf("a failing disk answered %v, %v", refused, r)
	}
	if _, err := w.Wipe("n0"); err == nil {
		t.Error("the disk of a running node was wiped")
	}
	w.Crash("n0")
	if r, err := w.Wipe("n0"); err != nil || r.Lost() != 1 || len(records(t, w, "n0")) != 0 {
		t.Errorf("wiped: %v %v", r, err)
	}
}

// The log of a crashing node against the dumbest twin: a list, of which what
// was appended or rewritten before the crash stands, whatever the crash was.
func TestTheDiskIsItsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, _, do := puppets(t, Config{Seed: rapid.Uint64().Draw(rt, "seed")}, 1)
		defer w.Close()
		var log []string
		store := map[string]string{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			value := rapid.StringN(1, 3, 8).Draw(rt, "value")
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")
			switch rapid.SampledFrom([]string{"append", "append", "rewrite", "put", "delete", "crash"}).Draw(rt, "step") {
			case "append":
				do("n0", func(y *toy) { appendAll(y, value, key) })
				log = append(log, value, key)
			case "rewrite":
				do("n0", func(y *toy) { y.Log.Rewrite([][]byte{[]byte(value)}) })
				log = []string{value}
			case "put":
				do("n0", func(y *toy) { y.Store.Commit([]env.Write{{Bucket: "t", Key: []byte(key), Value: []byte(value)}}) })
				store[key] = value
			case "delete":
				do("n0", func(y *toy) { y.Store.Commit([]env.Write{{Bucket: "t", Key: []byte(key)}}) })
				delete(store, key)
			case "crash":
				w.Crash("n0")
				if err := w.Boot("n0"); err != nil {
					rt.Fatal(err)
				}
			}
			if err := w.RunFor(0); err != nil {
				rt.Fatal(err)
			}
			if got := records(t, w, "n0"); fmt.Sprint(got) != fmt.Sprint(log) {
				rt.Fatalf("the log holds %q, want %q", got, log)
			}
			found := map[string]string{}
			s := &nodeStore{&process{node: w.findNode("n0")}}
			s.Scan("t", nil, nil, false, func(k, v []byte) bool { found[string(k)] = string(v); return true })
			if !reflect.DeepEqual(found, store) {
				rt.Fatalf("the store holds %v, want %v", found, store)
			}
		}
	})
}

// A bit that flips in the midst of a log makes Replay refuse it by name; at its end
// it is cut off, since it cannot be told from what was half written.
func TestAFlippedBitIsRefusedOrCutOff(t *testing.T) {
	refused, cut := 0, 0
	for seed := range uint64(20) {
		w, _, do := puppets(t, Config{Seed: seed}, 1)
		do("n0", func(y *toy) { appendAll(y, "a", "b", "c", "d") })
		letRun(t, w, 0)
		if _, err := w.Flip("n0"); err == nil {
			t.Error("a bit flipped under a running node")
		}
		w.Crash("n0")
		if r, err := w.Flip("n0"); err != nil || r.Flipped() != 1 || r.Idle() {
			t.Fatalf("flipped: %v %v", r, err)
		}
		var read []string
		l := &nodeLog{&process{node: w.findNode("n0")}}
		err := l.Replay(func(r []byte) error { read = append(read, string(r)); return nil })
		switch {
		case errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), "of n0's log"):
			refused++
		case err == nil && reflect.DeepEqual(read, []string{"a", "b", "c"}):
			cut++
		default:
			t.Errorf("seed %d: %q, %v", seed, read, err)
		}
	}
	if refused == 0 || cut == 0 {
		t.Errorf("%d logs were refused and %d cut", refused, cut)
	}
}

// A bit that flips in the store changes one value by one bit.
func TestAFlippedBitOfTheStoreIsOne(t *testing.T) {
	w, _, do := puppets(t, Config{Seed: 1}, 1)
	do("n0", func(y *toy) {
		if err := y.Store.Commit([]env.Write{{Bucket: "b", Key: []byte("k"), Value: []byte{0}}}); err != nil {
			panic(err)
		}
	})
	letRun(t, w, 0)
	w.Crash("n0")
	if _, err := w.Flip("n0"); err != nil {
		t.Fatal(err)
	}
	value, err := (&nodeStore{&process{node: w.findNode("n0")}}).Get("b", []byte("k"))
	if err != nil || len(value) != 1 || bits.OnesCount8(value[0]) != 1 {
		t.Errorf("the store holds %x, %v", value, err)
	}
}

func TestADiskFailsAtTheUsePlanned(t *testing.T) {
	w, _, do := puppets(t, Config{Seed: 1}, 1)
	w.DiskFailAt("n0", 2)
	var got []error
	do("n0", func(y *toy) {
		for range 3 {
			got = append(got, y.Log.Append([]byte("x")))
		}
	})
	letRun(t, w, 0)
	if got[0] != nil || !errors.Is(got[1], ErrDiskFailed) || !errors.Is(got[2], ErrDiskFailed) {
		t.Errorf("the disk answered %v", got)
	}
	w.DiskFail("n0", false)
	do("n0", func(y *toy) { got = append(got, y.Log.Append([]byte("x"))) })
	if letRun(t, w, 0); got[3] != nil {
		t.Errorf("the mended disk answered %v", got[3])
	}
}

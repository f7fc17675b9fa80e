package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// wired is a runner and a validator in a world, with what each was told and when.
type wired struct {
	*World
	runner, validator env.Connections
	hears             map[string]func(connection.Event)
	told              map[string][]connection.Event
	at                map[string][]time.Duration
}

func wire(t *testing.T, seed uint64, link Link) *wired {
	t.Helper()
	w := &wired{World: New(Config{Seed: seed, Link: link}), told: map[string][]connection.Event{}, at: map[string][]time.Duration{},
		hears: map[string]func(connection.Event){}}
	t.Cleanup(func() { w.Close() })
	for name, end := range map[string]*env.Connections{"v0": &w.validator, "r0": &w.runner} {
		w.hears[name] = func(e connection.Event) {
			w.told[name], w.at[name] = append(w.told[name], e), append(w.at[name], w.Now().Sub(firstInstant))
			if came, is := e.(connection.Came); is {
				(*end).Do(connection.Taken{ID: came.ID})
			}
		}
	}
	boot := func(name string, end *env.Connections) func(env.Connections) (func(), error) {
		return func(c env.Connections) (func(), error) {
			*end = c
			return nil, c.Start(w.hears[name])
		}
	}
	key := func(name string) Parts { return Parts{Signer: crypto.DeriveKey(1, name)} }
	if err := addMachine(w.World, "v0", fault.Validators, key("v0"), (*process).newGatewayEnd, boot("v0", &w.validator)); err != nil {
		t.Fatal(err)
	}
	if err := addMachine(w.World, "r0", fault.Runners, key("r0"), func(l *process) env.Connections { return l.newRunnerEnd(0) }, boot("r0",
		&w.runner)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v0", "r0"} {
		if err := w.Boot(name); err != nil {
			t.Fatal(err)
		}
	}
	w.runner.Do(connection.Dial{ID: ours, Endpoint: Endpoint("v0")})
	letRun(t, w.World, 4*time.Second)
	for i := range uint64(4) {
		w.validator.Do(connection.Open{ID: theirs, Stream: connection.Job(i)})
	}
	return w
}

// last is the last event that an end was told.
func (w *wired) last(name string) connection.Event { return w.told[name][len(w.told[name])-1] }

// numbers are those of the frames that came to the runner, by stream.
func (w *wired) numbers() (of [4][]int) {
	for _, e := range w.told["r0"] {
		if came, is := e.(connection.Came); is {
			var n int
			fmt.Sscan(string(came.Frame), &n)
			of[came.Stream/4] = append(of[came.Stream/4], n)
		}
	}
	return of
}

// storm sends frames on four streams in turn, one each 10 ms.
func (w *wired) storm(t *testing.T, count int) {
	for i := range count {
		w.validator.Do(connection.Send{ID: theirs, Stream: connection.Job(uint64(i % 4)), Frame: []byte(fmt.Sprint(i))})
		letRun(t, w.World, 10*time.Millisecond)
	}
	letRun(t, w.World, 9*time.Second)
}

// rough is a link that does everything to packets.
var rough = Link{Latency: 20 * time.Millisecond, Jitter: 50 * time.Millisecond, Loss: 0.1, Duplicate: 0.2, Reorder: 0.3}

func TestAConnectionIsReliableOverARoughLink(t *testing.T) {
	w := wire(t, 1, rough)
	w.storm(t, 1000)
	overtook := false
	for i, got := range w.numbers() {
		if len(got) != 250 || !slices.IsSorted(got) {
			t.Fatalf("%d frames came of stream %d, in order: %v", len(got), i, slices.IsSorted(got))
		}
	}
	before := -1
	for _, e := range w.told["r0"] {
		if came, is := e.(connection.Came); is {
			var n int
			fmt.Sscan(string(came.Frame), &n)
			overtook = overtook || n < before
			before = n
		}
	}
	r := w.configured()
	if !overtook || r.Dropped() == 0 || r.Duplicated() == 0 || r.Reordered() == 0 || r.Delayed() == 0 {
		t.Errorf("a stream overtook another: %v; %v", overtook, r)
	}
}

func TestConnectionsAreAFunctionOfTheSeed(t *testing.T) {
	digest := func(seed uint64) string {
		w := wire(t, seed, rough)
		w.storm(t, 200)
		return w.Digest().String()
	}
	one := digest(1)
	if again := digest(1); again != one {
		t.Error("one seed is two runs")
	}
	if digest(2) == one {
		t.Error("two seeds are one run")
	}
}

func TestWhoDiesIsMissedWhenHeHasBeenSilentForTooLong(t *testing.T) {
	w := wire(t, 1, Link{Latency: 20 * time.Millisecond})
	began := w.Now()
	if r := w.Crash("v0"); r.Cut() != 1 {
		t.Errorf("%v", r)
	}
	letRun(t, w.World, time.Minute)
	down, is := w.last("r0").(connection.Down)
	if at := w.at["r0"][len(w.at["r0"])-1]; !is || down.Closed || at != began.Sub(firstInstant)+connection.IdleTime {
		t.Fatalf("%v after %v", w.last("r0"), at)
	}
	if err := w.Boot("v0"); err != nil {
		t.Fatal(err)
	}
	w.runner.Do(connection.Dial{ID: 8, Endpoint: Endpoint("v0")})
	letRun(t, w.World, time.Second)
	if up, is := w.last("v0").(connection.Up); !is || up.ID != 1 {
		t.Errorf("behind its restart %T %v", w.last("v0"), w.last("v0"))
	}
	if err := w.Stop("r0"); err != nil {
		t.Fatal(err)
	}
	letRun(t, w.World, 100*time.Millisecond)
	if down, is := w.last("v0").(connection.Down); !is || !down.Closed || down.Reason != "shutdown" {
		t.Errorf("who stops in order says so: %v", w.last("v0"))
	}
}

func TestAPartitionCountsItsConnections(t *testing.T) {
	w := wire(t, 1, Link{})
	r := w.Partition([]string{"v0"}, []string{"r0"})
	w.validator.Do(connection.Send{ID: theirs, Stream: 1, Frame: []byte("0")})
	letRun(t, w.World, 6*time.Second)
	w.Partition([]string{"r0"}) // it goes on: another order, the same silence
	letRun(t, w.World, 3900*time.Millisecond)
	if _, over := w.last("r0").(connection.Down); over || r.Cut() != 1 || r.Dropped() != 1 {
		t.Fatalf("%v; %v", w.last("r0"), r)
	}
	letRun(t, w.World, 200*time.Millisecond)
	for _, name := range []string{"r0", "v0"} {
		if _, over := w.last(name).(connection.Down); !over {
			t.Errorf("%s was told %v last", name, w.last(name))
		}
	}
}

func TestALinkThatLosesAllEndsTheConnection(t *testing.T) {
	w := wire(t, 1, Link{})
	w.LinkAll(Link{Loss: 1})
	w.validator.Do(connection.Send{ID: theirs, Stream: 1, Frame: []byte("0")})
	letRun(t, w.World, time.Minute)
	for _, name := range []string{"r0", "v0"} {
		if _, over := w.last(name).(connection.Down); !over {
			t.Errorf("%s was told %v last", name, w.last(name))
		}
	}
}

func TestAFrameThatTakesTooLongStalls(t *testing.T) {
	w := wire(t, 1, Link{Bandwidth: 50 << 10}) // a MiB takes twenty seconds
	w.runner.Do(connection.Admit{ID: ours})
	w.validator.Do(connection.Send{ID: theirs, Stream: 1, Frame: make([]byte, 400<<10)})
	w.validator.Do(connection.Send{ID: theirs, Stream: 5, Frame: make([]byte, connection.MaxFrameBytes)})
	letRun(t, w.World, time.Minute)
	came, stalled := false, false
	for _, e := range w.told["r0"] {
		switch e := e.(type) {
		case connection.Came:
			came = came || e.Stream == 1
		case connection.Stalled:
			stalled = stalled || e.Stream == 5
		}
	}
	if !came || !stalled {
		t.Errorf("of 400 KiB in 8 seconds it came: %v, of 1 MiB in 20 it stalled: %v", came, stalled)
	}
}

// TestTheFrozenAreToldAndDoNothing: QUIC goes on below them, and holds who sends up.
func TestTheFrozenAreToldAndDoNothing(t *testing.T) {
	w := wire(t, 1, Link{})
	ice, err := w.Freeze("r0")
	if err != nil {
		t.Fatal(err)
	}
	w.validator.Do(connection.Send{ID: theirs, Stream: 1, Frame: []byte("0")})
	letRun(t, w.World, time.Minute)
	if _, over := w.last("v0").(connection.Down); over || ice.Held() == 0 {
		t.Errorf("%v; %v", w.last("v0"), ice)
	}
}

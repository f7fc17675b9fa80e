package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// stormy runs a gossip of five through every kind of fault.
func stormy(t testing.TB, seed uint64) (types.Hash, uint64) {
	w := toys(t, Config{
		Seed: seed,
		Link: Link{Latency: 20 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.05, Duplicate: 0.02, Reorder: 0.1, Bandwidth: 10_000},
		Disk: Disk{Latency: time.Millisecond},
	}, 5, gossip(names(5)))
	letRun(t, w, time.Second)
	w.Partition([]string{"n0", "n1"})
	letRun(t, w, time.Second)
	w.Crash("n2")
	if _, err := w.Freeze("n3"); err != nil {
		t.Fatal(err)
	}
	letRun(t, w, time.Second)
	w.ClockSkew("n4", time.Second)
	w.CrashAt("n4", AfterAppend, 5)
	if err := w.Thaw("n3"); err != nil {
		t.Fatal(err)
	}
	w.Heal()
	letRun(t, w, time.Second)
	for _, n := range []string{"n2", "n4"} {
		if err := w.Boot(n); err != nil {
			t.Fatal(err)
		}
	}
	letRun(t, w, time.Second)
	return w.Digest(), w.Steps()
}

func TestOneSeedIsOneRun(t *testing.T) {
	var digests []types.Hash
	for _, cores := range []int{1, 2, 1, 2} {
		before := runtime.GOMAXPROCS(cores)
		digest, _ := stormy(t, 7)
		runtime.GOMAXPROCS(before)
		digests = append(digests, digest)
	}
	for _, d := range digests {
		if d != digests[0] {
			t.Fatalf("the digests of one seed differ: %v", digests)
		}
	}
	if other, _ := stormy(t, 8); other == digests[0] {
		t.Error("another seed has the same digest")
	}
}

// The digest of a seed is pinned, so that `go test` and `go test -race` are
// compared with each other. A change of the loop, of what it draws or of proto-actor's
// number of runs changes it, and then the figure here.
func TestTheDigestOfASeedIsTheSameUnderTheRaceDetector(t *testing.T) {
	digest, steps := stormy(t, 1)
	const want = "0x425a279121d8c09fca703f0e68498192b3f38a78943c20d4d14d6135efbb74b0"
	if digest.String() != want {
		t.Errorf("after %d steps the digest is\n %s, want\n %s", steps, digest, want)
	}
}

func TestTheDigestDependsOnContents(t *testing.T) {
	digest := func(frame string, note string) types.Hash {
		w := toys(t, Config{Seed: 1}, 2, func(string) *toy {
			return &toy{started: func(y *toy) {
				if y.name == "n0" {
					y.alarm.Set(y.Clock.Now().Add(1))
				}
			}, ring: func(y *toy) { y.send("n1", frame) }}
		})
		letRun(t, w, time.Second)
		w.Note("n0", "block", []byte(note))
		return w.Digest()
	}
	first, again := digest("a", "x"), digest("a", "x")
	if first != again || first == digest("b", "x") || first == digest("a", "y") {
		t.Error("a digest is not a function of frames and notes")
	}
}

func TestVirtualTimeJumpsToWhatIsNext(t *testing.T) {
	var rings []time.Duration
	w := toys(t, Config{Seed: 1}, 1, func(string) *toy {
		return &toy{
			started: func(y *toy) { y.alarm.Set(y.Clock.Now().Add(time.Hour)) },
			ring: func(y *toy) {
				rings = append(rings, y.Clock.Now().Sub(firstInstant))
				if len(rings) < 3 {
					y.alarm.Set(y.Clock.Now().Add(24 * time.Hour))
				}
			},
		}
	})
	if err := w.RunUntil(func() bool { return len(rings) == 3 }, types.Never); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{time.Hour, 25 * time.Hour, 49 * time.Hour}; !reflect.DeepEqual(rings, want) {
		t.Errorf("the alarm rang after %v, want %v", rings, want)
	}
	if err := w.RunUntil(func() bool { return false }, types.Never); !errors.Is(err, ErrAsleep) {
		t.Errorf("a world in which nothing happens: %v", err)
	}
}

func TestRunUntilStopsAtItsDeadline(t *testing.T) {
	w := toys(t, Config{Seed: 9}, 2, gossip(names(2)))
	deadline := w.Now().Add(time.Second)
	err := w.RunUntil(func() bool { return false }, deadline)
	if !errors.Is(err, ErrDeadline) || !strings.Contains(err.Error(), "seed 9") || w.Now() > deadline {
		t.Errorf("at %d: %v", w.Now(), err)
	}
}

func TestAnAlarmRingsAtTheTimeItWasSetToLast(t *testing.T) {
	for _, test := range []struct {
		name string
		set  []time.Duration // from the start, in one step
		want []time.Duration
	}{
		{"later", []time.Duration{5, 9}, []time.Duration{9}},
		{"earlier", []time.Duration{9, 5}, []time.Duration{5}},
		{"back and forth", []time.Duration{9, 5, 7}, []time.Duration{7}},
		{"the same", []time.Duration{5, 5}, []time.Duration{5}},
		{"never", []time.Duration{5, -1}, nil},
		{"never and again", []time.Duration{5, -1, 7}, []time.Duration{7}},
	} {
		var rings []time.Duration
		w := toys(t, Config{Seed: 1}, 1, func(string) *toy {
			return &toy{
				started: func(y *toy) {
					for _, d := range test.set {
						if d < 0 {
							y.alarm.Set(types.Never)
						} else {
							y.alarm.Set(firstInstant.Add(d))
						}
					}
				},
				ring: func(y *toy) { rings = append(rings, y.Clock.Now().Sub(firstInstant)) },
			}
		})
		letRun(t, w, time.Second)
		if !reflect.DeepEqual(rings, test.want) {
			t.Errorf("%s: set to %v it rang at %v, want %v", test.name, test.set, rings, test.want)
		}
	}
}

func TestASkewedClockRingsByItsOwnTime(t *testing.T) {
	var at []types.Time
	w := toys(t, Config{Seed: 1}, 2, func(self string) *toy {
		return &toy{
			started: func(y *toy) { y.alarm.Set(firstInstant.Add(10 * time.Second)) },
			ring:    func(y *toy) { at = append(at, y.world.Now()) },
		}
	})
	letRun(t, w, time.Second)
	w.ClockSkew("n0", 4*time.Second)
	w.ClockSkew("n1", -4*time.Second)
	letRun(t, w, time.Minute)
	want := []types.Time{firstInstant.Add(6 * time.Second), firstInstant.Add(14 * time.Second)}
	if !reflect.DeepEqual(at, want) {
		t.Errorf("the alarms rang at %v, want %v", at, want)
	}
}

func TestAPanicFailsTheRunWithItsSeed(t *testing.T) {
	w := toys(t, Config{Seed: 77}, 2, func(string) *toy {
		return &toy{started: func(y *toy) { panic("a bug") }}
	})
	err := w.RunFor(time.Second)
	var bug *Bug
	if !errors.As(err, &bug) || bug.Seed != 77 || bug.Value != "a bug" || !strings.HasSuffix(bug.Role, "/toy") {
		t.Fatalf("the run ended with %v", err)
	}
	if again := w.RunFor(time.Second); again != err {
		t.Errorf("a world with a bug ran on: %v", again)
	}
}

func TestTheSeedPicksWhoStepsNext(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(40) {
		var order strings.Builder
		w := toys(t, Config{Seed: seed}, 3, func(self string) *toy {
			return &toy{started: func(*toy) { order.WriteString(self) }}
		})
		letRun(t, w, time.Second)
		orders[order.String()] = true
	}
	if len(orders) != 6 {
		t.Errorf("40 seeds show %d of the 6 orders of three roles", len(orders))
	}
}

func TestTheTraceIsLinesOfJSON(t *testing.T) {
	var out bytes.Buffer
	w := toys(t, Config{Seed: 1, Trace: &out, Link: Link{Latency: time.Millisecond}}, 2, gossip(names(2)))
	letRun(t, w, time.Second)
	w.Note("n0", "finalized", []byte("block"))
	w.Crash("n1")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var step struct {
			Time int64
			Kind string
		}
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		seen[step.Kind] = true
	}
	for _, kind := range []string{"run", "frame", "alarm", "send", "append", "boot", "crash", "fault", "note"} {
		if !seen[kind] {
			t.Errorf("the trace has no %s", kind)
		}
	}
}

func TestEndlessStepsInOneInstantAreAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of steps")
	}
	w := toys(t, Config{Seed: 1}, 1, func(string) *toy {
		return &toy{
			started: func(y *toy) { y.inbox.Post("again") },
			event:   func(y *toy, event any) { y.inbox.Post(event) },
		}
	})
	err := w.RunFor(time.Second)
	if err == nil || !strings.Contains(err.Error(), "within one instant") {
		t.Errorf("an endless loop ended with %v", err)
	}
}

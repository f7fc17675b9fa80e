package sim

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// delivery is one frame as it arrived.
type delivery struct {
	number int
	after  time.Duration // since it was sent
	at     time.Duration
}

// streamed sends count frames from n0 to n1, one a gap, and returns what arrived.
func streamed(t testing.TB, seed uint64, l Link, count int, gap time.Duration, size int, during func(*World)) ([]delivery, *World) {
	var got []delivery
	pad := make([]byte, size)
	w := toys(t, Config{Seed: seed, Link: l}, 2, func(self string) *toy {
		next := 0
		return &toy{
			started: func(y *toy) {
				if self == "n0" {
					y.alarm.Set(y.Clock.Now().Add(gap))
				}
			},
			ring: func(y *toy) {
				frame := fmt.Sprintf("%d %d %s", next, y.Clock.Now(), pad)
				y.send("n1", frame)
				if next++; next < count {
					y.alarm.Set(y.Clock.Now().Add(gap))
				}
			},
			frame: func(y *toy, _ string, frame []byte) {
				var number int
				var sent types.Time
				fmt.Sscan(string(frame), &number, &sent)
				got = append(got, delivery{number, y.Clock.Now().Sub(sent), y.Clock.Now().Sub(firstInstant)})
			},
		}
	})
	if during != nil {
		during(w)
	}
	letRun(t, w, time.Duration(count)*gap+time.Hour)
	return got, w
}

func inOrder(got []delivery) bool {
	return slices.IsSortedFunc(got, func(a, b delivery) int { return a.number - b.number })
}

func TestALinkDelaysAndKeepsTheOrder(t *testing.T) {
	got, _ := streamed(t, 1, Link{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}, 2000, time.Millisecond, 0, nil)
	if len(got) != 2000 || !inOrder(got) {
		t.Fatalf("%d frames arrived, in order: %v", len(got), inOrder(got))
	}
	least, most := time.Hour, time.Duration(0)
	for _, d := range got {
		least, most = min(least, d.after), max(most, d.after)
	}
	if least < 20*time.Millisecond || most > 30*time.Millisecond || most-least < 8*time.Millisecond {
		t.Errorf("frames took %v to %v, want the range 20 to 30 ms used", least, most)
	}
}

func TestALinkLosesItsShare(t *testing.T) {
	got, w := streamed(t, 1, Link{Loss: 0.1}, 10_000, time.Millisecond, 0, nil)
	if lost := 10_000 - len(got); lost < 850 || lost > 1150 || w.configured().Dropped() != lost {
		t.Errorf("%d of 10,000 frames were lost at 10 %%, the receipt says %d", lost, w.configured().Dropped())
	}
	if !inOrder(got) {
		t.Error("loss reordered")
	}
}

func TestALinkDuplicatesItsShare(t *testing.T) {
	got, w := streamed(t, 1, Link{Latency: 5 * time.Millisecond, Duplicate: 0.2}, 5000, time.Millisecond, 0, nil)
	if more := len(got) - 5000; more < 850 || more > 1150 || w.configured().Duplicated() != more {
		t.Errorf("%d frames came twice at 20 %%, the receipt says %d", more, w.configured().Duplicated())
	}
}

func TestALinkReordersItsShare(t *testing.T) {
	got, w := streamed(t, 1, Link{Latency: 20 * time.Millisecond, Reorder: 0.1}, 5000, time.Millisecond, 0, nil)
	overtaken, highest := 0, -1
	for _, d := range got {
		if d.number < highest {
			overtaken++
		}
		highest = max(highest, d.number)
	}
	if len(got) != 5000 || overtaken < 300 || overtaken > 600 || w.configured().Reordered() < overtaken {
		t.Errorf("%d arrived, %d overtaken of some 500, receipt %v", len(got), overtaken, w.configured())
	}
}

func TestALinkHasItsBandwidth(t *testing.T) {
	const size = 10_000 // at 100 kB/s a tenth of a second each
	got, _ := streamed(t, 1, Link{Bandwidth: 100_000}, 50, time.Millisecond, size, nil)
	if len(got) != 50 || !inOrder(got) {
		t.Fatalf("%d frames arrived", len(got))
	}
	if took := got[49].at; took < 5*time.Second || took > 5100*time.Millisecond {
		t.Errorf("500 kB took %v over 100 kB/s", took)
	}
}

func TestABacklogIsBounded(t *testing.T) {
	const size = 1 << 20
	got, w := streamed(t, 1, Link{Bandwidth: 1000}, 40, time.Millisecond, size, nil)
	if len(got) >= 16 || w.configured().Dropped() != 40-15 {
		t.Errorf("%d of 40 MiB waited for a slow link, %d dropped", len(got), w.configured().Dropped())
	}
}

func TestAOneWayLinkIsSetOneWay(t *testing.T) {
	w := toys(t, Config{Seed: 1}, 2, func(string) *toy { return &toy{} })
	a, b := w.findNode("n0"), w.findNode("n1")
	w.Link("n0", "n1", Link{Latency: time.Second, OneWay: true})
	if w.findOrAddLink(a, b).Latency != time.Second || w.findOrAddLink(b, a).Latency != 0 {
		t.Error("one way was not one way")
	}
	w.Link("n0", "n1", Link{Latency: time.Minute})
	if w.findOrAddLink(a, b).Latency != time.Minute || w.findOrAddLink(b, a).Latency != time.Minute {
		t.Error("both ways were not both")
	}
	w.Heal()
	if w.findOrAddLink(a, b).Latency != 0 || w.findOrAddLink(b, a).Latency != 0 {
		t.Error("a link was not healed")
	}
}

// ring of everybody who heard n0's one broadcast after each fault.
func hearers(w *World, t *testing.T, heard map[string]bool) []string {
	clear(heard)
	from := w.findNode("n0").process
	for _, to := range names(5)[1:] {
		w.After(0, func() { w.sendFrame(from, w.findNode(to), []byte("hello")) })
	}
	letRun(t, w, time.Second)
	var all []string
	for n := range heard {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func TestPartitionsCutAndReplaceOneAnother(t *testing.T) {
	heard := map[string]bool{}
	w := toys(t, Config{Seed: 1}, 5, func(self string) *toy {
		return &toy{frame: func(*toy, string, []byte) { heard[self] = true }}
	})
	expect := func(what string, want ...string) {
		t.Helper()
		if got := hearers(w, t, heard); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v heard n0, want %v", what, got, want)
		}
	}
	expect("no fault", "n1", "n2", "n3", "n4")
	first := w.Partition([]string{"n0", "n1"})
	expect("partition", "n1")
	second := w.Partition([]string{"n1", "n2"}, []string{"n3"})
	expect("the unnamed are one group", "n4")
	third := w.Bridge("n2", []string{"n0", "n1"}, []string{"n3"})
	expect("bridge", "n1", "n2", "n4")
	w.Heal()
	expect("healed", "n1", "n2", "n3", "n4")
	if first.Cut() != 6 || first.Dropped() != 3 || second.Dropped() != 3 || third.Dropped() != 1 {
		t.Errorf("receipts: %v; %v; %v", first, second, third)
	}
	if !first.Over() || !third.Over() || first.Idle() {
		t.Error("a fault that is over lasts, or had no effect")
	}
}

func TestAPartitionDropsWhatIsUnderWay(t *testing.T) {
	var cut *Effect
	got, _ := streamed(t, 1, Link{Latency: time.Second}, 10, 100*time.Millisecond, 0, func(w *World) {
		w.After(1550*time.Millisecond, func() { cut = w.Partition([]string{"n0"}) })
	})
	if len(got) != 5 || cut.Dropped() != 5 || cut.Cut() != 1 {
		t.Errorf("%d frames arrived before the cut, %v", len(got), cut)
	}
}

func TestConnectedIsWhoCanBeReached(t *testing.T) {
	w := toys(t, Config{Seed: 1}, 4, func(string) *toy { return &toy{} })
	connected := func() (all []string) {
		for _, a := range (&transport{w.findNode("n0").process}).Connected() {
			all = append(all, nameOf(a))
		}
		return all
	}
	expect := func(want ...string) {
		t.Helper()
		if got := connected(); !reflect.DeepEqual(got, want) {
			t.Errorf("connected with %v, want %v", got, want)
		}
	}
	expect("n1", "n2", "n3")
	w.Crash("n2")
	expect("n1", "n3")
	w.Partition([]string{"n0", "n3"})
	expect("n3")
	w.Heal()
	if err := w.Boot("n2"); err != nil {
		t.Fatal(err)
	}
	expect("n1", "n2", "n3")
	(&transport{w.findNode("n1").process}).SetPeers(nil) // it lists n0 no more
	expect("n2", "n3")
}

func TestAnIdleFaultSaysSo(t *testing.T) {
	w := toys(t, Config{Seed: 1}, 3, func(string) *toy { return &toy{} })
	r := w.Link("n0", "n1", Link{Loss: 1})
	letRun(t, w, time.Second)
	if !r.Idle() || r.String() != "link n0 n1 loss 1: no effect" {
		t.Errorf("%v", r)
	}
	w.sendFrame(w.findNode("n0").process, w.findNode("n1"), []byte(strconv.Itoa(1)))
	if r.Idle() || r.Dropped() != 1 {
		t.Errorf("%v", r)
	}
}

// A frame that leaves at the instant in which its process dies arrives, and so it is
// heard; one that would have left later does neither.
func TestWhatLeavesAsItsProcessDiesIsHeard(t *testing.T) {
	for _, c := range []struct {
		name  string
		later time.Duration // that it leaves than the process dies
		heard int
	}{{"as it dies", 0, 1}, {"behind its death", time.Nanosecond, 0}} {
		arrived, heard := 0, 0
		w := toys(t, Config{Seed: 1}, 2, func(string) *toy {
			return &toy{frame: func(*toy, string, []byte) { arrived++ }}
		})
		w.Tap(func(types.Address, []byte) { heard++ })
		from, to := w.nodes[0], w.nodes[1]
		died := w.now.Add(time.Second)
		w.At(died, func() { from.process.dead, from.process.diedAt = true, died })
		process := from.process
		w.showTap(process, died.Add(c.later), []byte("x"))
		w.loop.enterEvent(event{at: died.Add(time.Minute), what: &flight{from: process, to: to.process, departs: died.Add(c.later),
			frame: []byte("x"), link: w.findOrAddLink(from, to)}})
		if err := w.RunFor(time.Hour); err != nil {
			t.Fatal(err)
		}
		if arrived != c.heard || heard != c.heard {
			t.Errorf("%s: it arrived %d times and was heard %d times, want %d", c.name, arrived, heard, c.heard)
		}
	}
}

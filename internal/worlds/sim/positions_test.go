package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// noisy is four validators whose links lose, delay and overtake, with a crash and a partition on the way.
func noisy(t *testing.T, record *Record, trial *Trial) *Network {
	t.Helper()
	c := Config{Seed: 7, Record: record, Trial: trial,
		Link: Link{Latency: 20 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05, Reorder: 0.02, Duplicate: 0.02}}
	n := aNetwork(t, NetworkConfig{World: c, Runners: 2, Open: true})
	for _, part := range []struct {
		order fault.Order
		lasts time.Duration
	}{
		{fault.Order{Verb: fault.Heal}, 8 * time.Second},
		{fault.Order{Verb: fault.Crash, Node: "v3"}, 8 * time.Second},
		{fault.Order{Verb: fault.Restart, Node: "v3"}, 4 * time.Second},
		{fault.Order{Verb: fault.Partition, Groups: [][]string{{"v0", "v1"}, {"v2", "v3"}}}, 4 * time.Second},
		{fault.Order{Verb: fault.Heal}, 12 * time.Second},
	} {
		if _, err := n.Do(part.order); err != nil {
			t.Fatal(err)
		}
		if err := n.RunFor(part.lasts); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestARecordedRunIsTheRun(t *testing.T) {
	plain, record := noisy(t, nil, nil), NewRecord()
	recorded := noisy(t, record, nil)
	again := noisy(t, nil, &Trial{Base: record})
	if plain.Digest() != recorded.Digest() {
		t.Errorf("recorded, the run has the digest %s, and %s without", recorded.Digest(), plain.Digest())
	}
	if plain.Digest() != again.Digest() {
		t.Errorf("a trial in which all is as it was has the digest %s, and the run %s", again.Digest(), plain.Digest())
	}
	why := map[Why]int{}
	for _, m := range record.Mishaps() {
		why[m.Why]++
	}
	for _, one := range []Why{WhyLost, WhyCut, WhyLate, WhyNotConnected} {
		if why[one] == 0 {
			t.Errorf("no frame is recorded as %s: %v", one, why)
		}
	}
}

// One lost frame arrives after all. What the seed draws for other frames stays: each frame that both runs send is lost in
// both or in none.
func TestAFrameThatArrivesAfterAllChangesNoOtherDraw(t *testing.T) {
	base := NewRecord()
	plain := noisy(t, base, nil)
	tried := 0
	for _, m := range base.Mishaps() {
		if m.Why != WhyLost || m.Says().Name != "vote" || m.Sent < firstInstant.Add(4*time.Second) {
			continue
		}
		if tried++; tried > 5 {
			break
		}
		record := NewRecord()
		trial := noisy(t, record, &Trial{Base: base, Deliver: map[Position]bool{m.Position: true}})
		if trial.Digest() == plain.Digest() {
			t.Errorf("with the frame sent at %v the run is the same", m.Sent)
		}
		lost := map[Position]bool{}
		for _, other := range record.Mishaps() {
			lost[other.Position] = other.Why == WhyLost
		}
		if lost[m.Position] {
			t.Error("the frame is lost all the same")
		}
		shared, differ := 0, 0
		for _, other := range base.Mishaps() {
			if _, sent := record.states[other.Position]; !sent || other.Why != WhyLost || other.what != drawnFrame || other.Position == m.Position {
				continue
			}
			if shared++; !lost[other.Position] {
				differ++
			}
		}
		// A frame of which both ends know each other in one run alone is not connected, or cut, in the other.
		if shared < 20 || differ > shared/20 {
			t.Errorf("of %d frames that are lost and sent in both runs %d are not lost in the trial", shared, differ)
		}
	}
	if tried == 0 {
		t.Fatal("no vote was lost")
	}
}

// A frame that was lost stays in a record of frames, however many came late or as usual since. One that a fault made late is kept with it.
func TestLateFramesDisplaceNoLostOnes(t *testing.T) {
	r := NewFrameRecord()
	r.add(Mishap{Sent: 1, Why: WhyCut})
	r.add(Mishap{Sent: 2, Arrives: 9, Why: WhyLate, By: &fault.Order{Verb: fault.SetLink}})
	for range maxMishaps + 1 {
		r.add(Mishap{Sent: 3, Arrives: 4, Why: WhyLate})
	}
	r.add(Mishap{Sent: 5, Arrives: 6, Why: WhyLate})
	if kept := r.Mishaps(); len(kept) != 2 || kept[0].Why != WhyCut || kept[1].By == nil {
		t.Errorf("%d mishaps are kept", len(kept))
	}
	if late := r.Late(); len(late) != maxPassed || late[0].Sent != 3 || late[len(late)-1].Sent != 5 {
		t.Errorf("%d late frames are kept", len(late))
	}
	trials := NewRecord()
	trials.add(Mishap{Sent: 1, Arrives: 2, Why: WhyLate})
	if len(trials.Mishaps()) != 1 || len(trials.Late()) != 0 {
		t.Error("a record for trials parts late frames from its mishaps")
	}
}

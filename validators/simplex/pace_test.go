package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Held, a view without a proposal stands still: no timeout, no vote, nothing
// sent, whatever time passes. The machine follows what others begin.
func TestHoldStandsStill(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.step(Hold{On: true})
	s.step(Hold{On: true})
	sent, persisted := len(s.all.Send), len(s.all.Persist)
	if s.m.Deadline() != types.Never {
		t.Errorf("due at %v", s.m.Deadline())
	}
	s.wait(24 * time.Hour)
	s.step(Work{Pending: true})
	if s.m.Deadline() != types.Never || len(s.all.Send) != sent || len(s.all.Persist) != persisted || s.m.View() != 1 {
		t.Errorf("it does something: view %d, due at %v", s.m.View(), s.m.Deadline())
	}
	s.receive(2, s.vote(types.Nullify, 1, nil, 2))
	if s.m.Deadline() == types.Never {
		t.Error("it does not send to a validator that has begun to nullify")
	}
}

func TestAHoldThatIsTakenBackGoesOn(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.step(Hold{On: true})
	s.wait(time.Hour)
	s.step(Hold{})
	if s.m.Deadline() == types.Never || s.voted(types.Nullify, 1) {
		t.Error("it does not continue, or counts the pause against the leader")
	}
	s.wait(3 * time.Second)
	if !s.voted(types.Nullify, 1) {
		t.Error("a leader that is silent after the pause is not nullified")
	}
}

// C8: up to a goal blocks are asked for without work and in spite of a hold, and
// none beyond.
func TestAGoalIsPursuedAndNotPassed(t *testing.T) {
	for name, auto := range map[string]bool{"held": false, "idle": true} {
		t.Run(name, func(t *testing.T) {
			s := newSolo(t, 4, func(c *Config) { c.Timing.Auto = auto })
			s.step(Hold{On: !auto})
			if s.m.Deadline() != types.Never {
				t.Fatal("it does not stand still")
			}
			s.step(Goal{Height: 1})
			if s.m.Deadline() == types.Never {
				t.Fatal("nothing is done about the goal")
			}
			s.settled() // the block of height 1 is notarized, in view 1
			b := s.m.tipHeader()
			if b.Height != 1 {
				t.Fatalf("at height %d", b.Height)
			}
			if s.m.inDemand() {
				t.Error("more blocks than the goal are in demand")
			}
			s.step(Goal{Height: 2})
			if !s.m.inDemand() {
				t.Error("a higher goal is not pursued")
			}
		})
	}
}

// C8: a block may be one away and thousands of heights above: it is fetched like
// any other. A validator is far only if it is far in heights and in views.
func TestASkippedRangeIsNotFar(t *testing.T) {
	s := newSolo(t, 4, nil)
	for _, c := range []struct {
		height types.Height
		view   types.View
		far    bool
	}{
		{MaxFetchBlocks, MaxFetchBlocks, false}, {10_000, 1, false}, {1, 10_000, false}, {10_000, MaxFetchBlocks, false},
		{MaxFetchBlocks + 1, MaxFetchBlocks + 1, true},
	} {
		if got := s.m.isTooFar(&types.Certificate{Height: c.height, View: c.view}); got != c.far {
			t.Errorf("height %d, view %d: far %v", c.height, c.view, got)
		}
	}
}

// C7: a clock that is set back stops no timeout. Stamps are judged by the clock as it is.
func TestC7AClockThatIsSetBackStopsNoTimeout(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.now = types.Time(time.Hour)
	s.step(Tick{})
	s.receive(1, s.certificate(types.Nullify, s.m.View(), nil, 1, 2, 3))
	view := s.m.View()
	s.now = types.Time(10 * time.Minute)
	s.step(Tick{})
	if due := s.m.Deadline(); due > s.now.Add(time.Second) {
		t.Errorf("set back by 50 minutes, it is due in %v", due.Sub(s.now))
	}
	s.wait(5 * time.Second)
	if !s.voted(types.Nullify, view) {
		t.Errorf("view %d is not nullified 5 s later", view)
	}
	s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3))
	b := s.child(nil, s.m.View())
	b.Header.Timestamp = s.now.Add(2 * time.Second).Millis()
	s.propose(s.m.View(), b)
	if r := s.m.rounds[b.Header.View]; !r.rejected {
		t.Error("a stamp 2 s ahead of the clock is taken")
	}
}

// A view whose leader gave it up is given up when it may be, and not only when its timeouts
// are over.
func TestAViewIsGivenUpAsSoonAsItMayBe(t *testing.T) {
	s := newSolo(t, 4, nil)
	for v := types.View(1); v <= 4; v++ {
		s.receive(1, s.certificate(types.Nullify, v, nil, 1, 2, 3))
	}
	least := s.m.mayGiveUp()
	if s.m.View() != 5 || least <= s.now || least >= s.m.pace.resendAt {
		t.Fatalf("in view %d it may give up at %v, and sends again at %v: the test shows nothing", s.m.View(), least, s.m.pace.resendAt)
	}
	s.receive(1, s.vote(types.Nullify, 5, nil, 1))
	if at := s.m.Deadline(); s.voted(types.Nullify, 5) || at > least {
		t.Fatalf("voted %v, due at %v, want %v", s.voted(types.Nullify, 5), at, least)
	}
	s.wait(least.Sub(s.now))
	if !s.voted(types.Nullify, 5) {
		t.Error("it does not give the view up when it may")
	}
}

package simplex

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// gaveUp returns the validator's report on the view's end, or fails.
func (s *solo) gaveUp(view types.View) GaveUp {
	s.t.Helper()
	for _, r := range s.all.Report {
		if g, ok := r.(GaveUp); ok && g.View == view {
			if !s.voted(types.Nullify, view) {
				s.t.Errorf("it gave view %d up and did not vote so", view)
			}
			return g
		}
	}
	s.t.Fatalf("view %d was not given up", view)
	return GaveUp{}
}

// Each way to a vote nullify names its cause, and the missing item. v0 is the
// validator under test, v1 leads view 1 and so on; v0 itself leads view 4.
func TestEachNullifyVoteSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name   string
		cause  Cause
		detail string
		view   types.View
		play   func(*solo)
	}{
		{"nothing came", NoProposal, "", 1, func(s *solo) { s.wait(2 * time.Second) }},
		{"the leader gave up", LeaderGaveUp, "", 1, func(s *solo) { s.receive(1, s.vote(types.Nullify, 1, nil, 1)) }},
		{"a check failed", ProposalRejected, "timestamp is not after the parent's", 1, func(s *solo) {
			b := s.child(nil, 1)
			b.Header.Timestamp = testGenesis(time.Second).Block.Header.Timestamp
			s.propose(1, b)
		}},
		{"the execution says no", ProposalRejected, "wrong_state_root", 1, func(s *solo) {
			b := s.child(nil, 1)
			s.propose(1, b)
			s.step(Executed{Hash: b.Hash(), Reason: "wrong_state_root"})
		}},
		{"the execution takes too long", ExecutionOverdue, "", 1, func(s *solo) {
			s.propose(1, s.child(nil, 1))
			s.wait(2 * time.Second)
		}},
		{"the host fails", ExecutionOverdue, "the host of programs failed", 1, func(s *solo) {
			b := s.child(nil, 1)
			s.propose(1, b)
			s.wait(1500 * time.Millisecond)
			s.step(Executed{Hash: b.Hash(), Failed: true, Reason: "it crashed"})
			s.wait(400 * time.Millisecond)
		}},
		{"too few agree", TooFewVotes, "2 of 3", 1, func(s *solo) {
			b := s.child(nil, 1)
			s.propose(1, b)
			s.execute(true)
			s.receive(1, s.vote(types.Notarize, 1, b, 1))
			s.wait(2 * time.Second)
		}},
		{"what is below it is not here", ParentMissing, "the block below 2", 2, func(s *solo) {
			first := s.child(nil, 1)
			s.receive(1, s.certificate(types.Notarize, 1, first, 1, 2, 3))
			s.propose(2, s.child(first, 2))
			s.wait(3 * time.Second)
		}},
		{"what is below it is not executed", ParentMissing, "the execution of block 1", 2, func(s *solo) {
			first := s.child(nil, 1)
			s.propose(1, first)
			s.receive(1, s.certificate(types.Notarize, 1, first, 1, 2, 3))
			s.propose(2, s.child(first, 2))
			s.wait(3 * time.Second)
		}},
		{"no message from it for four views", LeaderUnheard, "", 9, func(s *solo) {
			for v := types.View(1); v < 9; v++ {
				s.receive(2, s.certificate(types.Nullify, v, nil, 0, 2, 3))
			}
			s.wait(s.m.pace.leastView())
		}},
		{"the own block is not built in time", BuildOverdue, "", 4, func(s *solo) {
			s.receive(1, s.certificate(types.Nullify, 1, nil, 1, 2, 3))
			s.receive(1, s.certificate(types.Nullify, 2, nil, 1, 2, 3))
			s.receive(1, s.certificate(types.Nullify, 3, nil, 1, 2, 3))
			s.wait(30 * time.Second)
		}},
		{"the own block cannot be built", NotBuilt, "the application could not build a block", 4, func(s *solo) {
			s.receive(1, s.certificate(types.Nullify, 1, nil, 1, 2, 3))
			s.receive(1, s.certificate(types.Nullify, 2, nil, 1, 2, 3))
			s.receive(1, s.certificate(types.Nullify, 3, nil, 1, 2, 3))
			s.wait(time.Second)
			s.step(Built{Epoch: 0, View: 4})
		}},
		{"there is nothing to build on", ParentMissing, "a block to build on", 4, func(s *solo) {
			s.receive(1, s.certificate(types.Nullify, 3, nil, 1, 2, 3))
			s.wait(30 * time.Second)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSolo(t, 4, nil)
			c.play(s)
			got := s.gaveUp(c.view)
			if want := (GaveUp{0, c.view, s.m.set.Leader(c.view), c.cause, c.detail}); got != want {
				t.Errorf("%s of view %d: %q, want %s: %q", got.Cause, got.View, got.Detail, want.Cause, want.Detail)
			}
		})
	}
}

// A leader whose chain is too far ahead to be fetched block by block cannot build,
// and reports that at once.
func TestALeaderTooFarBehindSaysSo(t *testing.T) {
	s := newSolo(t, 4, nil)
	tip := s.child(nil, 1)
	tip.Header.Height, tip.Header.View = MaxFetchBlocks+5, 23
	s.receive(1, s.certificate(types.Finalize, 23, tip, 1, 2, 3))
	if got := s.gaveUp(24); got.Cause != LeaderBehind {
		t.Errorf("%s", got.Cause)
	}
}

// Every cause has a distinct name.
func TestCausesHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for c := NoCause; c < Causes; c++ {
		if name := c.String(); name == "" || seen[name] {
			t.Errorf("cause %d is called %q", c, name)
		} else {
			seen[name] = true
		}
	}
	if Causes.String() != "cause 11" {
		t.Error(Causes.String())
	}
}

// Decision C18: a body over which the environment fails has no vote. If it is
// notarized it is executed again, after twice as long each time and at most
// maxPatience, and the final result counts.
func TestWhatTheEnvironmentFailsOverIsExecutedAgain(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.child(nil, 1)
	s.propose(1, b)
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	interval := s.m.pace.resendInterval()
	asked := func() (n int) {
		for _, a := range s.all.Ask {
			if e, is := a.(Execute); is && e.Hash == b.Hash() {
				n++
			}
		}
		return n
	}
	for i, patience := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 64} {
		s.step(Executed{Hash: b.Hash(), Failed: true, Reason: "it crashed"})
		s.wait(patience*interval - 1)
		if n := asked(); n != i+1 {
			t.Fatalf("failure %d: asked %d times before %d intervals passed", i+1, n, patience)
		}
		if s.wait(1); asked() != i+2 {
			t.Fatalf("failure %d: asked %d times when %d intervals passed", i+1, asked(), patience)
		}
	}
	if s.voted(types.Notarize, 1) {
		t.Error("it voted for a block that it could not execute")
	}
	next := s.child(b, 2)
	s.propose(2, next)
	s.receive(1, s.certificate(types.Notarize, 2, next, 1, 2, 3))
	executing := func() bool {
		return slices.ContainsFunc(s.all.Ask, func(a Ask) bool { e, is := a.(Execute); return is && e.Hash == next.Hash() })
	}
	if executing() {
		t.Error("a block is executed whose parent was not")
	}
	if s.step(Executed{Hash: b.Hash(), Valid: true, Runners: 8}); !executing() {
		t.Error("what was executed in the end does not count")
	}
}

// Decision C18, 5: a block that is late here is nullified at once, since its proposer may
// be hostile. If others notarized it, this validator asks for it, since it must have it.
func TestWhatIsLateIsNullifiedAtOnce(t *testing.T) {
	for _, late := range []bool{true, false} {
		s := newSolo(t, 4, nil)
		b := s.child(nil, 1)
		s.propose(1, b)
		s.step(Executed{Hash: b.Hash(), Failed: true, Late: late, Reason: "it is late"})
		if s.voted(types.Nullify, 1) != late || s.voted(types.Notarize, 1) {
			t.Errorf("late %v: nullified %v", late, s.voted(types.Nullify, 1))
		}
		s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
		s.wait(s.m.pace.resendInterval())
		last, is := s.all.Ask[len(s.all.Ask)-1].(Execute)
		if !is || last.Hash != b.Hash() || !last.Notarized {
			t.Errorf("late %v: it asks for %+v", late, s.all.Ask[len(s.all.Ask)-1])
		}
	}
}

// A late block refuses the view that proposed it, and no later one whose own block is at work.
func TestALateBlockRefusesNoOtherView(t *testing.T) {
	s := newSolo(t, 4, nil)
	late := s.child(nil, 1)
	s.propose(1, late)
	s.receive(1, s.certificate(types.Nullify, 1, nil, 1, 2, 3))
	s.propose(2, s.child(nil, 2))
	s.step(Executed{Hash: late.Hash(), Failed: true, Late: true, Reason: "it is late"})
	if s.m.View() != 2 || s.voted(types.Nullify, 2) {
		t.Errorf("in view %d it nullifies view 2 for the block of view 1", s.m.View())
	}
}

// C4: a block that is proposed again without a notarization is refused for what its own views
// show. What lies before its view is not asked for.
func TestC4AnUnnotarizedBlockIsNotProposedAgain(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.receive(1, s.certificate(types.Nullify, 2, nil, 1, 2, 3)) // view 1 stays unknown
	b := s.child(nil, 3)
	s.receive(1, s.certificate(types.Nullify, 3, nil, 1, 2, 3))
	s.receive(1, s.certificate(types.Nullify, 4, nil, 1, 2, 3))
	s.propose(5, b)
	for _, r := range s.all.Report {
		if refused, is := r.(Rejected); is && refused.View == 5 && refused.Hash == b.Hash() {
			return
		}
	}
	t.Errorf("in view %d it does not refuse a block of view 3 that nobody notarized: %v", s.m.View(), s.all.Report)
}

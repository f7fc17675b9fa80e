package simplex

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// C1: a leader per view, round robin over the set sorted by address.
func TestC1LeadersTakeTurns(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.receive(1, s.certificate(types.Nullify, 1, nil, 1, 2, 3))
	s.receive(1, s.certificate(types.Nullify, 2, nil, 1, 2, 3))
	want := types.View(1)
	for _, r := range s.all.Report {
		if e, ok := r.(Entered); ok {
			if e.View != want || e.Leader != testAddress(int(want)%4) {
				t.Errorf("view %d with leader %s", e.View, name(e.Leader))
			}
			want++
		}
	}
	if want != 4 {
		t.Errorf("entered views up to %d", want-1)
	}
}

// C1: certificates of at least n - f votes.
func TestC1Quorum(t *testing.T) {
	for n, quorum := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 7: 5, 100: 67} {
		set := testSet(0, n)
		if set.Quorum() != quorum {
			t.Errorf("n %d: quorum %d", n, set.Quorum())
		}
	}
	s := newSolo(t, 4, nil)
	s.receive(2, s.vote(types.Nullify, 1, nil, 2))
	s.receive(3, s.vote(types.Nullify, 1, nil, 3))
	if s.m.View() != 1 {
		t.Fatal("two votes of four ended a view")
	}
	s.receive(1, s.vote(types.Nullify, 1, nil, 1)) // the leader: v0 joins
	if s.m.View() != 2 {
		t.Fatal("three votes of four did not end the view")
	}
}

// C1: at most one notarize vote a view.
func TestC1OneNotarizeAView(t *testing.T) {
	s := newSolo(t, 4, nil)
	first, second := s.child(nil, 1), s.child(nil, 1)
	second.Header.Timestamp++
	s.propose(1, first)
	s.execute(true)
	s.propose(1, second)
	if asked := s.out.Ask; len(asked) > 0 {
		t.Error("a second block is executed")
	}
	if votes := s.votes(types.Notarize, 1); len(votes) != 1 || votes[0].Block != first.Hash() {
		t.Errorf("%d notarize votes", len(votes))
	}
}

// C1: who nullified a view never finalizes it.
func TestC1NullifiedIsNotFinalized(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.child(nil, 1)
	s.propose(1, b)
	s.execute(true)
	s.wait(1800 * time.Millisecond)
	if !s.voted(types.Nullify, 1) {
		t.Fatal("no nullify vote after the view timeout")
	}
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	if s.voted(types.Finalize, 1) {
		t.Error("it finalized a view it had nullified")
	}
	if s.m.View() != 2 {
		t.Error("the notarization did not end the view")
	}
}

// C1: who finalized a view never nullifies it.
func TestC1FinalizedIsNotNullified(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.settled()
	if !s.voted(types.Finalize, 1) {
		t.Fatal("no finalize vote")
	}
	s.receive(1, s.vote(types.Nullify, 1, nil, 1))
	s.wait(time.Minute)
	if s.voted(types.Nullify, 1) {
		t.Error("it nullified a view it had finalized")
	}
}

// C1: a voter notarizes only what builds on a notarized block after which every
// view is nullified; it asks for the nullification it lacks.
func TestC1GapMustBeNullified(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.receive(2, s.certificate(types.Nullify, 2, nil, 1, 2, 3)) // view 1 is unknown
	b := s.child(nil, 3)
	s.propose(3, b)
	if len(s.out.Ask) > 0 || s.voted(types.Notarize, 3) {
		t.Fatal("the proposal is taken although view 1 is not known to be nullified")
	}
	asked := false
	for _, send := range s.out.Send {
		_, ok := send.Message.(*CertificateRequest)
		asked = asked || ok
	}
	if !asked {
		t.Fatal("no peer is asked for the nullification")
	}
	s.receive(3, s.certificate(types.Nullify, 1, nil, 1, 2, 3))
	s.execute(true)
	if !s.voted(types.Notarize, 3) {
		t.Error("no vote although the gap is closed")
	}
}

// C1: without the notarization of the parent there is no vote.
func TestC1ParentMustBeNotarized(t *testing.T) {
	s := newSolo(t, 4, nil)
	first := s.settled()
	b := s.child(first, 2)
	b.Parent = nil
	s.propose(2, b)
	if s.voted(types.Notarize, 2) || !s.voted(types.Nullify, 2) {
		t.Error("a block without its parent's notarization is voted for")
	}
}

// C2: a voter executes a proposal before it notarizes, and does not notarize
// what is not valid.
func TestC2ExecutesBeforeVoting(t *testing.T) {
	for _, valid := range []bool{true, false} {
		s := newSolo(t, 4, nil)
		s.propose(1, s.child(nil, 1))
		if s.voted(types.Notarize, 1) {
			t.Fatal("voted before execution")
		}
		s.execute(valid)
		if s.voted(types.Notarize, 1) != valid || s.voted(types.Nullify, 1) == valid {
			t.Errorf("valid %v: notarize %v, nullify %v", valid, s.voted(types.Notarize, 1), s.voted(types.Nullify, 1))
		}
	}
}

// C3: a leader carries every valid notarize vote it holds for the parent, and
// votes sign their bitmap.
func TestC3CarriesEveryVote(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	var parent *types.Block
	for view := types.View(1); view <= 3; view++ {
		parent = s.child(parent, view)
		s.propose(view, parent)
		s.execute(true)
		s.receive(1, s.vote(types.Notarize, view, parent, 1))
		s.receive(2, s.vote(types.Notarize, view, parent, 2))
		if view < 3 {
			continue
		}
		break
	}
	build := s.lastBuild()
	if build == nil || build.View != 4 || len(build.Notarization.Votes) != 3 {
		t.Fatalf("build %+v", build)
	}
	if own := s.votes(types.Notarize, 3)[0]; !slices.Equal(own.Bitmap, bitmapOf(7)) {
		t.Errorf("the vote has bitmap %v", own.Bitmap)
	}
	r := s.m.rounds[3]
	s.receive(3, s.vote(types.Notarize, 3, parent, 3))
	if full := r.fullNotarization(s.m.set); len(full.Votes) != 4 {
		t.Errorf("a late vote is not carried: %d votes", len(full.Votes))
	}
}

// C4: leader timeout block time + 2Δ without a proposal, view timeout block
// time + 3Δ with one.
func TestC4Timeouts(t *testing.T) {
	for _, proposed := range []bool{false, true} {
		s := newSolo(t, 4, nil)
		limit := 1500 * time.Millisecond
		if proposed {
			s.propose(1, s.child(nil, 1))
			limit = 1750 * time.Millisecond
		}
		s.wait(limit - time.Nanosecond)
		if s.voted(types.Nullify, 1) {
			t.Errorf("proposed %v: nullified too early", proposed)
		}
		s.wait(time.Nanosecond)
		if !s.voted(types.Nullify, 1) {
			t.Errorf("proposed %v: not nullified at the timeout", proposed)
		}
	}
}

// C4: timeouts double with each view without finality, up to 16 times. A notarization adds
// no doubling, and a final view resets them.
func TestC4Doubling(t *testing.T) {
	s := newSolo(t, 100, nil) // v0 leads no early view
	voters := make([]int, 67)
	for i := range voters {
		voters[i] = i + 1
	}
	for view, factor := types.View(1), time.Duration(1); view < 9; view++ {
		s.m.hearAll(view)
		if got, want := s.m.Deadline(), s.now.Add(500*time.Millisecond); got != want {
			t.Errorf("view %d: first deadline %v, want the resend at %v", view, got, want)
		}
		if got := s.m.pace.leaderDeadline().Sub(s.now); got != factor*1500*time.Millisecond {
			t.Errorf("view %d: leader timeout %v", view, got)
		}
		if got := s.m.pace.viewDeadline().Sub(s.now); got != factor*1750*time.Millisecond {
			t.Errorf("view %d: view timeout %v", view, got)
		}
		s.now = s.now.Add(time.Minute)
		s.receive(1, s.certificate(types.Nullify, view, nil, voters...))
		factor = min(2*factor, 16)
	}
	b := s.child(nil, 9)
	s.propose(9, b)
	s.execute(true)
	s.receive(1, s.certificate(types.Notarize, 9, b, voters...))
	s.receive(1, s.certificate(types.Finalize, 9, b, voters...))
	s.now = s.now.Add(time.Minute)
	s.receive(1, s.certificate(types.Nullify, 10, nil, voters...))
	if got := s.m.pace.leaderDeadline().Sub(s.now); got != 2*1500*time.Millisecond {
		t.Errorf("a view after a final one: leader timeout %v", got)
	}
}

// C4: entering a view forwards the certificate that allowed it.
func TestC4ForwardsTheCertificate(t *testing.T) {
	s := newSolo(t, 4, nil)
	c := s.certificate(types.Nullify, 1, nil, 1, 2, 3)
	s.receive(1, c)
	if !slices.ContainsFunc(s.out.Send, func(send Send) bool { return send.Message == Message(c) && send.To == nil }) {
		t.Error("the nullification is not forwarded")
	}
}

// C4: votes and the best certificate are sent again on a timer.
func TestC4SendsAgain(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.receive(1, s.certificate(types.Nullify, 1, nil, 1, 2, 3))
	s.wait(4 * time.Second) // the timeout of view 2 is 3 s
	before := len(s.all.Send)
	s.wait(500 * time.Millisecond)
	kinds := ""
	for _, send := range s.all.Send[before:] {
		kinds += describe(send.Message) + ";"
	}
	if kinds != "nullify(2);nullification(1: v1 v2 v3);" {
		t.Errorf("sent again: %s", kinds)
	}
}

// C4: a leader's own nullify ends its view at once.
func TestC4LeaderGivesUp(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.receive(2, s.vote(types.Nullify, 1, nil, 2))
	if s.voted(types.Nullify, 1) {
		t.Fatal("another validator's nullify ended the view")
	}
	s.receive(1, s.vote(types.Nullify, 1, nil, 1))
	if !s.voted(types.Nullify, 1) {
		t.Error("the leader's nullify did not")
	}
}

// C4: a leader unheard for four views is not waited for.
func TestC4UnheardLeader(t *testing.T) {
	s := newSolo(t, 7, nil)
	for view := types.View(1); view <= 5; view++ {
		for _, by := range []int{1, 2, 3, 4} { // v5, v6 are never heard
			s.receive(by, s.vote(types.Nullify, view, nil, by))
		}
		s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3, 4, 6))
		if view < 4 && s.voted(types.Nullify, view+1) {
			t.Fatalf("view %d ended at once", view+1)
		}
	}
	if !s.voted(types.Nullify, 6) {
		t.Error("view 6 waits for its leader, unheard since view 0")
	}
}

// C4: a proposer stops filling after a quarter of the leader timeout.
func TestC4StopsFilling(t *testing.T) {
	s := newSolo(t, 1, nil)
	if b := s.lastBuild(); b == nil || b.By != s.now.Add(375*time.Millisecond) {
		t.Errorf("build by %+v", b)
	}
}

// Timeouts follow the number of views nullified in a row, also after a restart and
// for a validator that skipped views that others saw nullified.
func TestC4DoublingIsRestored(t *testing.T) {
	leader := func(s *solo) time.Duration { return s.m.pace.leaderTimeout() }
	s := newSolo(t, 4, nil)
	first := leader(s)
	for view := types.View(1); view <= 3; view++ {
		s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3))
	}
	if got := leader(s); got != 8*first {
		t.Errorf("after three nullified views %v, want %v", got, 8*first)
	}
	s.restart(s.all.Persist)
	if got := leader(s); s.m.View() != 4 || got != 8*first {
		t.Errorf("after a restart in view %d %v, want %v", s.m.View(), got, 8*first)
	}
	s = newSolo(t, 4, nil)
	s.receive(1, s.certificate(types.Nullify, 3, nil, 1, 2, 3))
	if got := leader(s); s.m.View() != 4 || got != 8*first {
		t.Errorf("after a jump to view %d %v, want %v", s.m.View(), got, 8*first)
	}
	b := s.child(nil, 4)
	s.receive(1, s.certificate(types.Notarize, 4, b, 1, 2, 3))
	if got := leader(s); got != 8*first {
		t.Errorf("after a notarization %v, want %v", got, 8*first)
	}
	s.receive(1, s.certificate(types.Finalize, 4, b, 1, 2, 3))
	s.receive(1, s.certificate(types.Notarize, 5, s.child(b, 5), 1, 2, 3))
	if got := leader(s); got != first {
		t.Errorf("after a final view %v, want %v", got, first)
	}
}

// A finalization that cannot be of this chain is a conflict, wherever it comes
// in: the one proof of a fork that an honest validator may ever hold.
func TestAFinalizationOfAnotherChainIsAConflict(t *testing.T) {
	for name, forge := range map[string]func(b1, b2, b3 *types.Block, c *types.Certificate){
		"":                                  func(_, _, b3 *types.Block, c *types.Certificate) {},
		"below, of this chain":              func(b1, _, _ *types.Block, c *types.Certificate) { c.View, c.Height, c.Block = 1, 1, b1.Hash() },
		"another in the root's view":        func(_, _, _ *types.Block, c *types.Certificate) { c.Block = types.Hash{9} },
		"at the root's height, later":       func(_, _, _ *types.Block, c *types.Certificate) { c.View, c.Block = 7, types.Hash{9} },
		"below the root":                    func(_, _, _ *types.Block, c *types.Certificate) { c.View, c.Height, c.Block = 2, 2, types.Hash{9} },
		"below the root, in a later view":   func(_, _, _ *types.Block, c *types.Certificate) { c.View, c.Height, c.Block = 8, 1, types.Hash{9} },
		"above the root, in an earlier one": func(_, _, _ *types.Block, c *types.Certificate) { c.View, c.Height, c.Block = 2, 9, types.Hash{9} },
		"above the root and after it":       func(_, _, _ *types.Block, c *types.Certificate) { c.View, c.Height, c.Block = 4, 4, types.Hash{9} },
	} {
		s := newSolo(t, 4, nil)
		var blocks []*types.Block
		var parent *types.Block
		for view := types.View(1); view <= 3; view++ {
			b := s.child(parent, view)
			s.propose(view, b)
			s.execute(true)
			s.receive(1, s.certificate(types.Notarize, view, b, 1, 2, 3))
			s.receive(1, s.certificate(types.Finalize, view, b, 1, 2, 3))
			blocks, parent = append(blocks, b), b
		}
		if s.m.Root().Hash != parent.Hash() {
			t.Fatal("the chain is not final")
		}
		c := s.certificate(types.Finalize, 3, parent, 1, 2, 3)
		forge(blocks[0], blocks[1], blocks[2], c)
		for i := range c.Votes {
			v := c.Vote(i)
			c.Votes[i].Signature = testKey{v.Validator}.Sign(v.Digest(testChain))
		}
		s.receive(2, c)
		conflicts := 0
		for _, r := range s.all.Report {
			if _, ok := r.(Conflict); ok {
				conflicts++
			}
		}
		want := 1
		if name == "" || name == "below, of this chain" || name == "above the root and after it" {
			want = 0
		}
		if conflicts != want {
			t.Errorf("%q: %d conflicts, want %d", name, conflicts, want)
		}
	}
}

// C4: a finalize vote of a view that is over is sent again until that view is
// final: who lost it may be all that finality waits for.
func TestC4SendsFinalizeVotesOfPastViewsAgain(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.settled()
	if !s.voted(types.Finalize, 1) || s.m.View() != 2 {
		t.Fatal("view 1 is not over")
	}
	first := len(s.votes(types.Finalize, 1))
	s.wait(4 * time.Second)
	again := len(s.votes(types.Finalize, 1))
	if again == first {
		t.Error("the finalize vote of view 1 was sent once, in view 1")
	}
	s.receive(1, s.certificate(types.Finalize, 1, b, 1, 2, 3))
	s.wait(4 * time.Second)
	if n := len(s.votes(types.Finalize, 1)); n != again {
		t.Errorf("view 1 is final, and its vote is sent %d times more", n-again)
	}
}

package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// C3: who executes a block only when the others have notarized it still says which
// runners it sees: the next leader carries that vote.
func TestC3AVoteThatTheOthersWereQuickerThanIsCast(t *testing.T) {
	for name, notarize := range map[string]func(s *solo, b *types.Block){
		"before it is executed": func(s *solo, b *types.Block) {
			s.propose(1, b)
			s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
		},
		"before its body came": func(s *solo, b *types.Block) {
			s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
			s.receive(1, &BlockAnswer{Block: b})
		},
		"and final": func(s *solo, b *types.Block) {
			s.propose(1, b)
			s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
			s.receive(1, s.certificate(types.Finalize, 1, b, 1, 2, 3))
		},
	} {
		s := newSolo(t, 4, nil)
		b := s.child(nil, 1)
		notarize(s, b)
		if s.voted(types.Notarize, 1) {
			t.Errorf("%s: voted for an unexecuted block", name)
		}
		s.execute(true)
		votes := s.votes(types.Notarize, 1)
		if len(votes) != 1 || votes[0].Block != b.Hash() || string(votes[0].Bitmap) != string(bitmapOf(7)) {
			t.Fatalf("%s: votes %+v", name, votes)
		}
		if full := s.m.rounds[1].fullNotarization(s.m.set); len(full.Votes) != 4 {
			t.Errorf("%s: %d votes are carried", name, len(full.Votes))
		}
		if s.wait(s.m.pace.BlockTime); len(s.votes(types.Notarize, 1)) != 1 {
			t.Errorf("%s: voted twice", name)
		}
	}
}

// Such a vote serves only presence: it is not cast without registered runners, by a
// validator that gave the view up, or for a block that is not valid here.
func TestC3AVoteBehindTheOthersIsCastForPresenceAlone(t *testing.T) {
	notarized := func() (*solo, *types.Block) {
		s := newSolo(t, 4, nil)
		b := s.child(nil, 1)
		s.propose(1, b)
		return s, b
	}
	s, b := notarized()
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	if s.step(Executed{Hash: b.Hash(), Valid: true}); s.voted(types.Notarize, 1) {
		t.Error("voted though there are no runners")
	}
	s, b = notarized()
	s.wait(s.m.pace.growTimeout(viewDelays))
	if !s.voted(types.Nullify, 1) {
		t.Fatal("the view was not given up")
	}
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	if s.execute(true); s.voted(types.Notarize, 1) {
		t.Error("voted in a view that was given up")
	}
	s, b = notarized()
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	if s.execute(false); s.voted(types.Notarize, 1) {
		t.Error("voted for an invalid block")
	}
}

// lateLeader is v0 leading view 4 a block time late: the block of view 3 is voted on by v1
// and v2 and itself.
func lateLeader(t *testing.T, blockTime time.Duration, notarize func(s *solo, b *types.Block, by int)) (*solo, *types.Block) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = blockTime })
	var b *types.Block
	for view := types.View(1); view <= 3; view++ {
		b = s.child(b, view)
		s.propose(view, b)
		s.execute(true)
		if view == 3 {
			s.wait(blockTime + 50*time.Millisecond)
		}
		notarize(s, b, 1)
		notarize(s, b, 2)
	}
	if s.m.View() != 4 {
		t.Fatalf("it is in view %d", s.m.View())
	}
	return s, b
}

// C3: the leader of a late chain could propose at once. It gives the votes on runners a
// while to arrive: a quarter of a link's delay, or of the block time if that is
// shorter.
func TestC3ALateChainWaitsForVotesOnRunners(t *testing.T) {
	notarize := func(s *solo, b *types.Block, by int) {
		s.receive(by, s.vote(types.Notarize, b.Header.View, b, by))
	}
	for blockTime, patience := range map[time.Duration]time.Duration{
		time.Second: 250 * time.Millisecond / 4, 100 * time.Millisecond: 100 * time.Millisecond / 4,
	} {
		s, b := lateLeader(t, blockTime, notarize)
		if s.lastBuild() != nil {
			t.Fatalf("block time %v: it builds without the fourth vote", blockTime)
		}
		if got := s.m.Deadline(); got != s.now.Add(patience) {
			t.Errorf("block time %v: it waits until %v, want %v", blockTime, got, s.now.Add(patience))
		}
		notarize(s, b, 3)
		if build := s.lastBuild(); build == nil || len(build.Notarization.Votes) != 4 {
			t.Errorf("block time %v: with all votes there it asks for %+v", blockTime, build)
		}
		s, _ = lateLeader(t, blockTime, notarize)
		s.wait(patience)
		if build := s.lastBuild(); build == nil || len(build.Notarization.Votes) != 3 {
			t.Errorf("block time %v: when it has waited it asks for %+v", blockTime, build)
		}
	}
	if s, _ := lateLeader(t, 0, notarize); s.lastBuild() == nil {
		t.Error("as fast as can be: it waits")
	}
}

// Without runners there is nothing to wait for.
func TestC3ALateChainWithoutRunnersDoesNotWait(t *testing.T) {
	s, _ := lateLeader(t, time.Second, func(s *solo, b *types.Block, by int) {
		v := s.vote(types.Notarize, b.Header.View, b, by)
		v.Bitmap = []byte{}
		v.Signature = testKey{v.Validator}.Sign(v.Digest(testChain))
		s.m.cfg.Presence = func(types.Time, int, selection.Places) []byte { return []byte{} }
		s.receive(by, v)
	})
	if s.lastBuild() == nil {
		t.Error("it waits")
	}
}

package simplex

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// lateBy makes a chain of n blocks final for a machine that gets all bodies but the
// first one's; the last arrives by proposal.
func (s *solo) lateBy(n types.View) {
	s.t.Helper()
	var b *types.Block
	for v := types.View(1); v <= n; v++ {
		b = s.child(b, v)
		switch {
		case v > 1 && v == n:
			s.propose(v, b)
			s.receive(1, s.certificate(types.Finalize, v, b, 1, 2, 3))
		default:
			s.receive(1, s.certificate(types.Finalize, v, b, 1, 2, 3))
			if v > 1 {
				s.receive(1, &BlockAnswer{Block: b})
			}
		}
	}
}

func (s *solo) behind() (height types.Height) {
	for _, r := range s.all.Report {
		if r, ok := r.(Behind); ok {
			height = max(height, r.Certificate.Height)
		}
	}
	return height
}

// Peers keep the bodies of MaxRecentBlocks. When the chain outgrows them while a
// gap is being closed, only catch-up has the first of it, even though its own
// height is near.
func TestBehindWhenTheChainOutgrowsTheGap(t *testing.T) {
	near := newSolo(t, 4, nil)
	near.lateBy(MaxFetchBlocks - 1)
	if h := near.behind(); h != 0 {
		t.Errorf("Behind for block %d, which is near", h)
	}
	far := newSolo(t, 4, nil)
	far.lateBy(MaxFetchBlocks + 1)
	if h := far.behind(); h != MaxFetchBlocks+1 {
		t.Errorf("behind block %d, want %d", h, MaxFetchBlocks+1)
	}
}

// Peers that were started again keep no bodies. When no member answers, catch-up is
// asked, however near the block is.
func TestBehindWhenNobodyAnswers(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.lateBy(3)
	s.wait(s.m.pace.resendInterval())
	if h := s.behind(); h != 0 {
		t.Errorf("Behind for block %d before the others were asked", h)
	}
	s.wait(8 * s.m.pace.resendInterval())
	if h := s.behind(); h != 3 {
		t.Errorf("behind block %d, want 3", h)
	}
	if d := s.m.Deadline(); d > s.now.Add(time.Second) {
		t.Errorf("asks no more before %v", d)
	}
}

// A request for a body that no peer has any more is answered with the root's
// finalization. A validator that missed only that, and whose vote is needed for the
// next block, would otherwise ask without end (campaign seed 54982).
func TestWhoAsksForAnOldBodyLearnsThatItIsFinal(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	asked := func(hash types.Hash) (sent []any) {
		for _, send := range s.receive(2, &BlockRequest{Hash: hash}).Send {
			sent = append(sent, send.Message)
		}
		return sent
	}
	old := types.Hash{1}
	if sent := asked(old); len(sent) != 0 {
		t.Fatalf("nothing is final, and it answers %v", sent)
	}
	b := s.settled()
	f := s.certificate(types.Finalize, 1, b, 1, 2, 3)
	s.receive(1, f)
	if sent := asked(b.Hash()); len(sent) != 1 {
		t.Errorf("it answers the request for a body that it keeps with %v", sent)
	}
	if sent := asked(old); len(sent) != 1 || sent[0] != any(f) {
		t.Errorf("it answers the request for one that it does not keep with %v", sent)
	}
}

// Catch-up that ends below a block that is notarized already has it executed at once: nobody
// proposes it again.
func TestAfterCatchUpItsNotarizedChildIsExecuted(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	first := s.child(nil, 1)
	second := s.child(first, 2)
	s.propose(2, second)
	s.receive(1, s.certificate(types.Notarize, 2, second, 1, 2, 3))
	isAsked := func(asks []Ask) bool {
		return slices.ContainsFunc(asks, func(a Ask) bool { e, is := a.(Execute); return is && e.Hash == second.Hash() })
	}
	if isAsked(s.all.Ask) {
		t.Fatal("it is executed without its parent")
	}
	out := s.step(CaughtUp{Root: Root{Block: first, Hash: first.Hash(), Finalization: s.certificate(types.Finalize, 1, first, 1, 2, 3)},
		Set: testSet(0, 4)})
	if !isAsked(out.Ask) {
		t.Errorf("it is not executed: %+v", out.Ask)
	}
}

package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// lateBy makes a chain of n blocks final for a machine that is given all
// bodies but the first one's; the last comes by proposal.
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

// Peers keep the bodies of MaxRecentBlocks. When the chain outgrows them while
// a gap is being closed, the first of it is to be had from catch-up alone, even
// though its own height is near.
func TestBehindWhenTheChainOutgrowsTheGap(t *testing.T) {
	near := newSolo(t, 4, nil)
	near.lateBy(MaxFetchBlocks - 1)
	if h := near.behind(); h != 0 {
		t.Errorf("behind block %d, which is near", h)
	}
	far := newSolo(t, 4, nil)
	far.lateBy(MaxFetchBlocks + 1)
	if h := far.behind(); h != MaxFetchBlocks+1 {
		t.Errorf("behind block %d, want %d", h, MaxFetchBlocks+1)
	}
}

// Peers that were started again keep no bodies. When nobody of the set answers,
// catch-up is asked, however near the block is.
func TestBehindWhenNobodyAnswers(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.lateBy(3)
	s.wait(s.m.resendInterval())
	if h := s.behind(); h != 0 {
		t.Errorf("behind block %d before the others were asked", h)
	}
	s.wait(8 * s.m.resendInterval())
	if h := s.behind(); h != 3 {
		t.Errorf("behind block %d, want 3", h)
	}
	if d := s.m.Deadline(); d > s.now.Add(time.Second) {
		t.Errorf("asks no more before %v", d)
	}
}

package simplex

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// CIP-11 §7.2, decision C3: a vote has the attestation at the time it is made, and
// not that at its block's execution.
func TestC3AVoteAttestsItsOwnMoment(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	shown := byte(1)
	s.m.cfg.Presence = func(now types.Time, runners int, _ selection.Places) []byte {
		if now != s.now || runners != 8 {
			t.Errorf("asked at %v for %d runners", now, runners)
		}
		return bitmapOf(shown)
	}
	first := s.child(nil, 1)
	s.propose(1, first)
	shown = 2
	s.execute(true)
	second := s.child(first, 2)
	s.receive(1, s.certificate(types.Notarize, 1, first, 1, 2, 3))
	shown = 4
	s.propose(2, second)
	s.execute(true)
	for view, want := range map[types.View]byte{1: 2, 2: 4} {
		if votes := s.votes(types.Notarize, view); len(votes) != 1 || !slices.Equal(votes[0].Bitmap, bitmapOf(want)) {
			t.Errorf("view %d: %+v", view, votes)
		}
	}
}

// C3: two votes for one block with other bitmaps are a double vote. A validator that
// crashes when its vote is in the log makes no other one, whichever runners came and
// went since.
func TestC3ACrashMakesNoSecondVoteWithAnotherBitmap(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.child(nil, 1)
	s.propose(1, b)
	s.execute(true)
	before := s.votes(types.Notarize, 1)
	if len(before) != 1 {
		t.Fatalf("%d votes", len(before))
	}
	s.cfg.Presence = attesting(9)
	s.restart(s.all.Persist)
	s.propose(1, b)
	for _, ask := range s.out.Ask {
		if ask, is := ask.(Execute); is {
			s.step(Executed{Hash: ask.Hash, Valid: true, Runners: 8})
		}
	}
	s.receive(2, s.vote(types.Notarize, 1, b, 2))
	for range 10 {
		s.wait(s.cfg.Timing.BlockTime) // it sends its vote again, with the missing part
	}
	for _, v := range s.votes(types.Notarize, 1) {
		if !slices.Equal(v.Bitmap, before[0].Bitmap) {
			t.Fatalf("it signed %v, and %v before the crash", v.Bitmap, before[0].Bitmap)
		}
	}
}

package simplex

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// forgetful lets one validator after the other lose its log, and some lose their
// store as well, under loss and jitter; sits says whether they are told so. It
// returns what the witness of all votes found, and how many votes came back.
func forgetful(seed uint64, sits bool) (violation string, votedAgain int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	w := newWorld(seed, 4, func(w *world) {
		w.cfg.Timing.BlockTime, w.cfg.Timing.LinkDelay = 200*time.Millisecond, 50*time.Millisecond
		w.jitter, w.loss, w.epochBlocks = 60*time.Millisecond, 0.05, 7
	})
	for range 6 {
		w.run(time.Duration(500+rng.IntN(2000))*time.Millisecond, nil)
		n := w.nodes[rng.IntN(len(w.nodes))]
		w.stop(n)
		n.log, n.lost = nil, sits
		if rng.IntN(2) == 0 {
			n.root, n.chain, n.hashes = testGenesis(w.cfg.Timing.BlockTime), nil, nil
		}
		w.run(time.Duration(rng.IntN(300))*time.Millisecond, nil)
		w.start(n)
		at := w.now
		if w.run(time.Minute, func() bool { return n.machine.me >= 0 && n.machine.Root().Block.Header.Timestamp > at.Millis()+2000 }) {
			votedAgain++
		}
	}
	return w.violation, votedAgain
}

// C5, finding F17: a validator that lost its log contradicts none of the votes that
// it forgot, and votes again after a while.
func TestC5ALostLogIsSatOut(t *testing.T) {
	for seed := range uint64(30) {
		violation, again := forgetful(seed, true)
		if violation != "" || again != 6 {
			t.Errorf("seed %d: %d of 6 vote again; %s", seed, again, violation)
		}
	}
	caught := 0
	for seed := range uint64(30) {
		if violation, _ := forgetful(seed, false); violation != "" {
			caught++
		}
	}
	if caught == 0 {
		t.Error("nobody contradicts itself who is not told that its log is lost: the test shows nothing")
	}
}

// A crash while it sits out does not end that: the decision is in its log, which
// is compacted without losing it.
func TestSittingOutSurvivesACrash(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Lost = true })
	kept, err := Compact(s.all.Persist, s.m.Root())
	if err != nil {
		t.Fatal(err)
	}
	s.cfg.Lost = false
	s.now += types.Time(time.Second)
	s.restart(kept)
	s.wait(time.Minute)
	if s.voted(types.Nullify, 1) {
		t.Error("it votes")
	}
	single := newSolo(t, 3, func(c *Config) { c.Lost = true })
	if single.wait(time.Minute); !single.voted(types.Nullify, 1) {
		t.Error("where nobody may be missing it does not vote either")
	}
}

// What it voted since it came back it does not lose in a crash, though its log
// begins with a sitting out that is over.
func TestVotesAfterSittingOutSurviveACrash(t *testing.T) {
	s := newSolo(t, 4, nil)
	over := beginRecord(500)
	s.cfg.Root.Block.Header.Timestamp = 501
	s.cfg.Root.Hash = s.cfg.Root.Block.Hash()
	s.all = Output{}
	s.restart([][]byte{over})
	s.wait(time.Minute)
	if !s.voted(types.Nullify, 1) {
		t.Fatal("it does not vote though its sitting out is over")
	}
	s.restart(append([][]byte{over}, s.all.Persist...))
	if own := s.m.open(1).ownVote(types.Nullify); own == nil {
		t.Error("it forgot that it nullified view 1, and may finalize it")
	}
}

package simplex

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// forgetful lets one validator after the other lose its log, and some lose their
// store as well, under loss and jitter; sits chooses whether they are started as
// lost. It returns the violation found by the witness of all votes, and how many
// votes were repeated.
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
		t.Error("no validator with an unreported lost log contradicts itself: the test shows nothing")
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
		t.Error("in a set that needs every vote it does not vote either")
	}
}

// cutLogs lets one validator after the other lose the end of its log, down to any record,
// under loss and jitter. finds says whether the validators look for such a loss. A crash
// may have kept records after the tip's finalization from being written: such a cut is not
// made here.
func cutLogs(seed uint64, finds bool) (violation string, lost int) {
	rng := rand.New(rand.NewPCG(seed, 8))
	w := newWorld(seed, 4, func(w *world) {
		w.cfg.Timing.BlockTime, w.cfg.Timing.LinkDelay = 200*time.Millisecond, 50*time.Millisecond
		w.jitter, w.loss, w.epochBlocks = 60*time.Millisecond, 0.05, 7
	})
	for range 6 {
		w.run(time.Duration(500+rng.IntN(2000))*time.Millisecond, nil)
		n := w.nodes[rng.IntN(len(w.nodes))]
		w.stop(n)
		cut := len(n.log)
		for reach := Whole; reach == Whole && cut > 0; cut-- {
			reach, _ = ReachOf(n.log[:cut-1], n.root)
		}
		n.log = n.log[:rng.IntN(cut+1)]
		if n.cut = finds; !finds && len(n.log) > 0 { // it passes for whole
			n.log = append(slices.Clone(n.log), beginRecord(0, n.root.Hash))
		}
		w.start(n)
		if n.machine.cfg.Lost {
			lost++
		}
		w.run(10*time.Second, nil)
	}
	return w.violation, lost
}

// C5: a validator whose log lost its end contradicts none of the votes that went with
// it, since it sits out.
func TestC5ALogThatLostItsEndIsSatOut(t *testing.T) {
	for seed := range uint64(15) {
		if violation, lost := cutLogs(seed, true); violation != "" || lost == 0 {
			t.Errorf("seed %d: %d logs were found lost; %s", seed, lost, violation)
		}
	}
	for seed := range uint64(60) {
		if violation, _ := cutLogs(seed, false); violation != "" {
			return
		}
	}
	t.Error("no validator whose cut log passes for whole contradicts itself: the test shows nothing")
}

// A log of a former version marks no batch as caught up, and is not accused. Once it is
// adopted it is judged as any other, and its records of sitting out hold.
func TestALogOfAFormerVersionIsAdopted(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.settled()
	s.receive(1, s.certificate(types.Finalize, 1, b, 1, 2, 3))
	tip := Root{Block: &types.Block{Header: types.Header{Height: 50, View: 60}}, Hash: types.Hash{1}}
	former := append([][]byte{beginRecord(500, types.Hash{})}, s.all.Persist[1:]...)
	for _, root := range []Root{tip, s.m.Root()} {
		reach, err := ReachOf(former, root)
		if want := map[types.Height]Reach{50: Former, 1: Whole}[root.Block.Header.Height]; err != nil || reach != want || reach.Lost(true) {
			t.Fatalf("at height %d a former log is %d, want %d, %v", root.Block.Header.Height, reach, want, err)
		}
	}
	adopted, err := Adopt(former, s.m.Root())
	if err != nil {
		t.Fatal(err)
	}
	if reach, err := ReachOf(adopted, s.m.Root()); reach != Whole || err != nil {
		t.Errorf("adopted it is %d, %v", reach, err)
	}
	if reach, err := ReachOf(adopted, tip); reach != Short || err != nil {
		t.Errorf("adopted and cut it is %d, %v", reach, err)
	}
	begins := 0
	for i, data := range adopted {
		if r, err := decodeRecord(i, data); err != nil {
			t.Fatal(err)
		} else if r.Kind == beginKind {
			begins++
			if i != 0 || r.View != 500 {
				t.Errorf("record %d begins, sitting out until %d", i, r.View)
			}
		}
	}
	if begins != 1 {
		t.Errorf("%d records begin", begins)
	}
}

// A log reaches the tip by a finalization of it or of a later block, or because it began
// there. A vote for the tip or its notarization was written before the tip was final.
func TestOnlyAFinalizationReachesTheTip(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.child(nil, 1)
	tip := Root{Block: b, Hash: b.Hash()}
	begun := beginRecord(0, types.Hash{9})
	for name, one := range map[string]struct {
		record []byte
		want   Reach
	}{
		"its finalization":     {certificateRecord(s.certificate(types.Finalize, 1, b, 1, 2, 3)), Whole},
		"a later finalization": {certificateRecord(s.certificate(types.Finalize, 2, s.child(b, 2), 1, 2, 3)), Whole},
		"its notarization":     {certificateRecord(s.certificate(types.Notarize, 1, b, 1, 2, 3)), Short},
		"a later nullify vote": {voteRecord(s.vote(types.Nullify, 9, nil, 0)), Short},
		"its body":             {bodyRecord(b, b.Hash()), Short},
		"its beginning":        {beginRecord(0, b.Hash()), Whole},
		"another beginning":    {begun, Short},
	} {
		if reach, err := ReachOf([][]byte{begun, one.record}, tip); err != nil || reach != one.want {
			t.Errorf("%s: %d, want %d, %v", name, reach, one.want, err)
		}
	}
	if _, err := ReachOf([][]byte{begun, {1, 2, 3}}, tip); err == nil {
		t.Error("an unreadable record is skipped")
	}
}

// A start executes again what its log finalizes and holds whole, and leaves to the others what it does not hold.
func TestAReplayGoesToTheHighestFinalBlockWhoseAncestorsAreThere(t *testing.T) {
	s := newSolo(t, 4, nil)
	a := s.child(nil, 1)
	b := s.child(a, 2)
	c := s.child(b, 3)
	root := Root{Block: a, Hash: a.Hash()}
	body := func(block *types.Block) []byte { return bodyRecord(block, block.Hash()) }
	final := func(block *types.Block) []byte {
		return certificateRecord(s.certificate(types.Finalize, block.Header.View, block, 1, 2, 3))
	}
	for name, one := range map[string]struct {
		records [][]byte
		want    types.Height
	}{
		"nothing":                   {nil, 1},
		"no finalization":           {[][]byte{body(b), body(c)}, 1},
		"the next block":            {[][]byte{body(b), final(b), body(c)}, 2},
		"two blocks by the later":   {[][]byte{body(b), body(c), final(c)}, 3},
		"in another order":          {[][]byte{final(c), body(c), body(b)}, 3},
		"a body between is missing": {[][]byte{body(c), final(b), final(c)}, 1},
		"the last body is missing":  {[][]byte{body(b), final(b), final(c)}, 2},
	} {
		if got, err := ReplayHeight(one.records, root); got != one.want || err != nil {
			t.Errorf("%s: height %d, %v; want %d", name, got, err, one.want)
		}
	}
	if _, err := ReplayHeight([][]byte{{1, 2, 3}}, root); err == nil {
		t.Error("an unreadable record is skipped")
	}
}

// Each log that was lost begins again. The last beginning counts, and no other is kept.
func TestTheLastBeginningCounts(t *testing.T) {
	records := [][]byte{beginRecord(500, types.Hash{1}), beginRecord(700, types.Hash{2}), beginRecord(900, types.Hash{3})}
	kept, err := Compact(records, testGenesis(time.Second))
	if err != nil || len(kept) != 1 || !bytes.Equal(kept[0], records[2]) {
		t.Errorf("%d beginnings are kept, %v", len(kept), err)
	}
	s := newSolo(t, 4, nil)
	s.restart(records)
	if s.m.sitsOut != 900 {
		t.Errorf("it sits out until %d, want 900", s.m.sitsOut)
	}
}

// A validator does not lose votes since its rejoining in a crash, though its log
// begins with an abstention that is over.
func TestVotesAfterSittingOutSurviveACrash(t *testing.T) {
	s := newSolo(t, 4, nil)
	over := beginRecord(500, types.Hash{})
	s.cfg.Root.Block.Header.Timestamp = 501
	s.cfg.Root.Hash = s.cfg.Root.Block.Hash()
	s.all = Output{}
	s.restart([][]byte{over})
	s.wait(time.Minute)
	if !s.voted(types.Nullify, 1) {
		t.Fatal("it does not vote though its sitting out is over")
	}
	s.restart(append([][]byte{over}, s.all.Persist...))
	if own := s.m.openRound(1).ownVote(types.Nullify); own == nil {
		t.Error("it forgot that it nullified view 1, and may finalize it")
	}
}

// C20: a validator that cannot execute blocks as the network does never votes, even if no
// validator may be missing.
func TestC20WhoFollowsVotesForNothing(t *testing.T) {
	for _, validators := range []int{3, 4} {
		s := newSolo(t, validators, func(c *Config) { c.Follows = true })
		if s.wait(time.Hour); s.voted(types.Nullify, 1) {
			t.Errorf("one of %d votes", validators)
		}
	}
}

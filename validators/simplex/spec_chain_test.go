package simplex

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// C5: an own vote is persisted in the output that sends it, and before a
// notarize vote the block's body; after a restart from the records the same
// votes are sent and no other.
func TestC5PersistsBeforeSending(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.propose(1, s.child(nil, 1))
	out := s.execute(true)
	kinds := []recordKind{}
	for i, data := range out.Persist {
		r, err := decodeRecord(i, data)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, r.Kind)
	}
	if !slices.Equal(kinds, []recordKind{bodyKind, voteKind}) {
		t.Fatalf("persisted %v before the notarize vote", kinds)
	}
	sent := *s.votes(types.Notarize, 1)[0]
	records := s.all.Persist
	s.all = Output{}
	s.restart(records)
	if votes := s.votes(types.Notarize, 1); len(votes) != 1 || votes[0].Digest(testChain) != sent.Digest(testChain) {
		t.Error("the vote is not sent again after a restart")
	}
	other := s.child(nil, 1)
	other.Header.Timestamp += 5
	s.propose(1, other)
	if len(s.votes(types.Notarize, 1)) != 1 || len(s.out.Ask) > 0 {
		t.Error("another block is considered in a view voted in before the restart")
	}
}

// C5: a nullify vote is not forgotten either.
func TestC5NullifySurvivesARestart(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.child(nil, 1)
	s.propose(1, b)
	s.execute(true)
	s.wait(2 * time.Second)
	records := s.all.Persist
	s.all = Output{}
	s.restart(records)
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	if s.voted(types.Finalize, 1) {
		t.Error("it finalizes after a restart what it had nullified")
	}
}

// C5: Compact keeps what a machine on the root needs, and nothing below.
func TestC5Compact(t *testing.T) {
	w := newWorld(3, 4, func(w *world) { w.cfg.Timing.BlockTime = 0; w.epochBlocks = 7 })
	w.run(time.Second, nil)
	n := w.nodes[2]
	kept, err := Compact(n.log, n.root)
	if err != nil || len(kept) == 0 || len(kept) > 20 || len(kept) >= len(n.log) {
		t.Fatalf("%d of %d records kept, %v", len(kept), len(n.log), err)
	}
	if again, _ := Compact(kept, n.root); len(again) != len(kept) {
		t.Error("compacting twice drops more")
	}
	if _, err := Compact([][]byte{{1, 2, 3}}, n.root); err == nil {
		t.Error("a damaged record is read")
	}
	w.stop(n)
	n.log = kept
	w.start(n)
	if height := w.minHeight(); !w.run(5*time.Second, func() bool { return w.minHeight() > height+5 }) {
		t.Errorf("it does not continue: %s, %s", w.violation, describeWorld(w))
	}
}

// C6: an epoch's last block gets no child before it is final, and is proposed
// again in the next view.
func TestC6LastBlockIsProposedAgain(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	s.epochBlocks = 3
	var b *types.Block
	for view := types.View(1); view <= 3; view++ {
		b = s.child(b, view)
		s.propose(view, b)
		s.execute(true)
		s.receive(1, s.certificate(types.Notarize, view, b, 1, 2, 3))
	}
	s.wait(125 * time.Millisecond) // half a link delay
	var again *types.Proposal
	for _, send := range s.all.Send {
		if p, ok := send.Message.(*types.Proposal); ok {
			again = p
		}
	}
	if again == nil || again.View != 4 || again.Block != b || s.lastBuild() != nil {
		t.Fatalf("in view 4: %+v, build %+v, deadline %v", again, s.lastBuild(), s.m.Deadline())
	}
	if !s.voted(types.Notarize, 4) {
		t.Error("no vote for it in view 4")
	}
	// A child of it would belong to the next epoch, and is not a message of this
	// one.
	child := s.child(b, 5)
	child.Header.SetEpoch++
	if _, err := CheckProposal(testChain, testRecoverer{}, s.m.Sets(), &types.Proposal{View: 5, Block: child}); err == nil {
		t.Error("a block of the next epoch passes before the last one is final")
	}
}

// C6: the next epoch's first block carries the finalization; views continue after
// the one in the last block's header, whatever view it became final in.
func TestC6NextEpoch(t *testing.T) {
	next := testSet(1, 4)
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	s.epochBlocks = 1
	b := s.child(nil, 1)
	s.propose(1, b)
	hash := b.Hash()
	s.step(Executed{Hash: hash, Valid: true, Next: &next})
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	s.receive(1, s.certificate(types.Nullify, 2, nil, 1, 2, 3))
	s.receive(1, s.certificate(types.Notarize, 3, b, 1, 2, 3))
	f := s.certificate(types.Finalize, 3, b, 1, 2, 3)
	s.receive(1, f)
	if s.m.View() != 2 || s.m.Sets()[0].Epoch != 1 || s.m.Root().Hash != hash {
		t.Fatalf("view %d of epoch %d", s.m.View(), s.m.Sets()[0].Epoch)
	}
	for view := types.View(2); view < 4; view++ {
		s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3))
	}
	build := s.lastBuild()
	if build == nil || build.View != 4 || build.Epoch != 1 || build.Finalization != f || build.Notarization == nil ||
		build.ParentHash != hash {
		t.Fatalf("build %+v", build)
	}
}

// C6: a first block without the finalization is not voted for.
func TestC6FirstBlockNeedsTheFinalization(t *testing.T) {
	next := testSet(1, 4)
	for _, with := range []bool{true, false} {
		s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
		s.epochBlocks = 1
		b := s.child(nil, 1)
		s.propose(1, b)
		s.step(Executed{Hash: b.Hash(), Valid: true, Next: &next})
		notarization := s.certificate(types.Notarize, 1, b, 1, 2, 3)
		f := s.certificate(types.Finalize, 1, b, 1, 2, 3)
		s.receive(1, notarization)
		s.receive(1, f)
		first := s.child(b, 2)
		first.Parent = notarization
		if with {
			first.Finalization = f
		}
		s.propose(2, first)
		if with {
			s.step(Executed{Hash: first.Hash(), Valid: true, Next: &types.ValidatorSet{Epoch: 2, Members: next.Members}})
		}
		if s.voted(types.Notarize, 2) != with {
			t.Errorf("with the finalization %v: voted %v", with, !with)
		}
	}
}

// C6: an end of an epoch at which the set does not change is not a border: the next
// block is built at once on the notarized one, without its finalization.
func TestC6AnEndWithoutAChangeIsNoBorder(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	s.epochBlocks = 3
	var b *types.Block
	for view := types.View(1); view <= 3; view++ {
		b = s.child(b, view)
		b.Header.NextSet = types.Hash{}
		s.propose(view, b)
		s.execute(true)
		s.receive(1, s.certificate(types.Notarize, view, b, 1, 2, 3))
	}
	build := s.lastBuild()
	if build == nil || build.View != 4 || build.Epoch != 0 || build.ParentHash != b.Hash() || build.Finalization != nil {
		t.Fatalf("build %+v", build)
	}
}

// C6: whole networks cross ends with and without a change, and keep the set and its
// views if nothing changes.
func TestC6SetsGoOnOverQuietEnds(t *testing.T) {
	w := newWorld(5, 4, func(w *world) {
		w.cfg.Timing.BlockTime, w.epochBlocks = 0, 4
		w.quiet = func(e types.Epoch) bool { return e != 2 }
	})
	if !w.run(time.Minute, func() bool { return w.minHeight() >= 40 }) {
		t.Fatalf("%s, %s", w.violation, describeWorld(w))
	}
	for _, b := range w.nodes[0].chain {
		want := types.Epoch(0)
		if b.Header.Height > 12 {
			want = 3
		}
		if h := &b.Header; h.SetEpoch != want || h.Border() != (h.Height == 12) || (b.Finalization != nil) != (h.Height == 13) {
			t.Errorf("height %d: set of epoch %d, border %v, carries a finalization %v", h.Height, h.SetEpoch, h.Border(), b.Finalization != nil)
		}
	}
}

// C8: a block that skips heights is voted for up to the height that this
// validator was asked to travel to, and no further: one liar that leads could
// else throw the chain years ahead.
func TestC8OnlyTravelThatWasAskedForIsVotedFor(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
	b := s.child(nil, 1)
	b.Header.Skipped, b.Header.Height = 1_000_000, 1_000_001
	s.propose(1, b)
	s.step(Goal{Height: 1_000_000})
	if s.voted(types.Notarize, 1) || len(s.out.Ask) > 0 {
		t.Fatal("it votes for a height without a request")
	}
	s.step(Goal{Height: 1_000_001})
	s.execute(true)
	if !s.voted(types.Notarize, 1) {
		t.Error("asked for that height, it does not vote")
	}
}

// C7: timestamps are a block time after the parent's at least and at most max(block time, 2Δ)
// ahead of the voter's clock.
func TestC7Timestamps(t *testing.T) {
	for _, test := range []struct {
		blockTime time.Duration
		stamp     types.Millis
		ok        bool
	}{
		{time.Second, 1000, true}, {time.Second, 1001, false},
		{0, 500, true}, {0, 501, false}, {0, -5000, false}, {time.Second, -2001, false}, {time.Second, -2000, true},
	} {
		s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = test.blockTime })
		b := s.child(nil, 1)
		b.Header.Timestamp = test.stamp
		s.propose(1, b)
		if ok := len(s.out.Ask) == 1; ok != test.ok {
			t.Errorf("block time %v, timestamp %d: taken %v", test.blockTime, test.stamp, ok)
		}
	}
}

// C7: a child must keep the block time in force in it, as its parent's execution says. The
// block time that this validator heard last does not count.
func TestC7AChangedBlockTimeHoldsFromItsBlock(t *testing.T) {
	for _, test := range []struct {
		gap, after time.Duration
		ok         bool
	}{
		{5 * time.Second, 4999 * time.Millisecond, false}, {5 * time.Second, 5 * time.Second, true},
		{100 * time.Millisecond, 99 * time.Millisecond, false}, {100 * time.Millisecond, 100 * time.Millisecond, true},
	} {
		s := newSolo(t, 4, nil)
		first := s.child(nil, 1)
		first.Header.Timestamp = -500
		s.propose(1, first)
		s.step(Executed{Hash: first.Hash(), Valid: true, Gap: test.gap})
		s.now = s.now.Add(5 * time.Second)
		s.receive(1, s.certificate(types.Notarize, 1, first, 1, 2, 3))
		b := s.child(first, 2)
		b.Header.Timestamp = first.Header.Timestamp + types.Millis(test.after.Milliseconds())
		s.step(Timing{BlockTime: time.Second, LinkDelay: 250 * time.Millisecond})
		s.propose(2, b)
		if got := s.m.bodies.nodes[b.Hash()].status == executing; got != test.ok {
			t.Errorf("block time %v, %v after the parent: taken %v", test.gap, test.after, got)
		}
	}
}

// C7: a validator reports whose clock is off, and by how much. It reports one leader whose
// stamps are too far ahead, and itself if more than f others show that.
func TestC7SaysWhoseClockIsOff(t *testing.T) {
	said := func(s *solo) (all []ClockOff) {
		for _, r := range s.all.Report {
			if off, is := r.(ClockOff); is {
				all = append(all, off)
			}
		}
		return all
	}
	s := newSolo(t, 4, nil)
	for view := types.View(1); view <= 3; view++ {
		b := s.child(nil, view)
		b.Header.Timestamp = s.now.Add(10 * time.Minute).Millis()
		s.propose(view, b)
		s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3))
	}
	own := ClockOff{testAddress(0), -10 * time.Minute}
	want := []ClockOff{{testAddress(1), 10 * time.Minute}, own, own, own} // the last by the proposal of v0
	if got := said(s); !slices.Equal(got, want) {
		t.Errorf("it says %v, want %v", got, want)
	}

	ahead := newSolo(t, 4, nil)
	ahead.now = types.Time(time.Minute)
	for view := types.View(1); view <= 3; view++ {
		b := ahead.child(nil, view)
		b.Header.Timestamp = ahead.now.Add(-30 * time.Second).Millis()
		ahead.propose(view, b)
		ahead.receive(1, ahead.certificate(types.Nullify, view, nil, 1, 2, 3))
	}
	ahead.wait(2 * time.Second)
	if b := ahead.lastBuild(); b == nil || b.Ahead != 30*time.Second {
		t.Errorf("it builds %+v, with a clock 30 s ahead", b)
	}
	if got := said(ahead); !slices.Equal(got, []ClockOff{{testAddress(0), 30 * time.Second}}) {
		t.Errorf("it says %v", got)
	}
}

// C7: proposals that waited for a frozen validator say nothing of its clock: it leads as soon
// as the stamp of its tip shows that.
func TestC7ProposalsThatWaitedHoldNoLeaderUp(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.now = types.Time(5 * time.Minute)
	for view := types.View(1); view <= 2; view++ {
		b := s.child(nil, view)
		b.Header.Timestamp = types.Time(time.Duration(view) * time.Second).Millis()
		s.propose(view, b)
		s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3))
	}
	tip := s.child(nil, 3)
	tip.Header.Timestamp = s.now.Millis()
	s.propose(3, tip)
	s.execute(true)
	s.receive(1, s.certificate(types.Notarize, 3, tip, 1, 2, 3))
	s.wait(2 * time.Second)
	if b := s.lastBuild(); b == nil || b.View != 4 || b.Ahead > s.m.pace.Drift()+time.Second {
		t.Errorf("it builds %+v, with a clock that is right", b)
	}
}

// C7: f liars do not change what a validator holds of its clock, neither up nor down.
func TestC7FewStampsSayNothingOfTheClock(t *testing.T) {
	c := newClocks(4)
	c.noteStamp(1, 0, types.Time(time.Hour))
	if c.lagBehind(1) != 0 || c.leadAhead(1) != 0 {
		t.Error("a single one of four is believed")
	}
	c.noteStamp(2, 0, types.Time(time.Second))
	if got := c.lagBehind(1); got != time.Hour {
		t.Errorf("two say %v", got)
	}
	c.noteStamp(3, 0, types.Time(2*time.Second))
	if got := c.lagBehind(1); got != 2*time.Second {
		t.Errorf("a liar among three has it %v ahead", got)
	}
	if got := c.leadAhead(1); got != -2*time.Second {
		t.Errorf("ahead of it by %v", got)
	}
}

// C7: a block is asked for no earlier than a block time after its parent's
// timestamp, and no later than a block time after entering.
func TestC7BlockTime(t *testing.T) {
	s := newSolo(t, 4, nil)
	var b *types.Block
	for view := types.View(1); view <= 3; view++ {
		b = s.child(b, view)
		s.propose(view, b)
		s.execute(true)
		s.now = s.now.Add(100 * time.Millisecond)
		s.receive(1, s.certificate(types.Notarize, view, b, 1, 2, 3))
	}
	stamped := b.Header.Timestamp.Time()
	s.wait(899 * time.Millisecond)
	if s.lastBuild() != nil {
		t.Fatal("built too early")
	}
	s.wait(time.Millisecond)
	if s.lastBuild() == nil || s.now != stamped.Add(time.Second) {
		t.Errorf("not built at %v, a block time after %v", s.now, stamped)
	}
}

// C7: with block time auto nothing is due while there is no work.
func TestC7AutoIsIdle(t *testing.T) {
	s := newSolo(t, 4, func(c *Config) { c.Timing.Auto, c.Timing.BlockTime = true, 0 })
	if s.m.Deadline() != types.Never || len(s.all.Ask) > 0 {
		t.Errorf("due at %v", s.m.Deadline())
	}
	s.step(Work{Pending: true})
	if s.m.Deadline() != types.Time(500*time.Millisecond) {
		t.Errorf("with work, due at %v", s.m.Deadline())
	}
	s.step(Work{})
	if s.m.Deadline() != types.Never {
		t.Errorf("the work is gone, and yet due at %v", s.m.Deadline())
	}
}

// Block time and link delay are parameters that governance may change.
func TestTimingChanges(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.step(Timing{BlockTime: 0, LinkDelay: 100 * time.Millisecond})
	s.receive(1, s.certificate(types.Nullify, 1, nil, 1, 2, 3))
	if got := s.m.pace.leaderDeadline().Sub(s.now); got != 2*200*time.Millisecond {
		t.Errorf("leader timeout %v", got)
	}
	s.step(Timing{LinkDelay: 0})
	if s.m.pace.LinkDelay == 0 {
		t.Error("a link delay of 0 is taken")
	}
}

// C6: a set takes over only after a border, and only the set that the last block's
// header commits to, whatever an execution reports.
func TestC6ASetTakesOverBehindItsBorderAlone(t *testing.T) {
	for _, c := range []struct {
		what   string
		border bool // the block is the last of its set
		told   types.ValidatorSet
		epoch  types.Epoch // of the set afterwards
	}{
		{"the header's own", true, testSet(1, 4), 1},
		{"another than the header's", true, testSet(1, 3), 0},
		{"one in the middle of an epoch", false, testSet(1, 4), 0},
	} {
		s := newSolo(t, 4, func(c *Config) { c.Timing.BlockTime = 0 })
		if c.border {
			s.epochBlocks = 1
		}
		b := s.child(nil, 1)
		s.propose(1, b)
		s.step(Executed{Hash: b.Hash(), Valid: true, Next: &c.told})
		s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
		s.receive(1, s.certificate(types.Finalize, 1, b, 1, 2, 3))
		if s.m.Root().Hash != b.Hash() || b.Header.Border() != c.border {
			t.Fatalf("%s: the block is not final, or border is %v", c.what, b.Header.Border())
		}
		if got := s.m.Sets()[0].Epoch; got != c.epoch {
			t.Errorf("%s: the set of epoch %d decides", c.what, got)
		}
	}
}

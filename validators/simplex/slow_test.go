package simplex

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// C4: views that are notarized and not final double the timeouts, over a restart as well.
// It does not matter whether this validator nullified them all or every other one. A final
// view resets them.
func TestC4ALateNotarizationResetsNothing(t *testing.T) {
	for name, every := range map[string]types.View{"each too late": 1, "every other too late": 2} {
		s := newSolo(t, 100, nil) // v0 leads no early view
		voters := make([]int, 67)
		for i := range voters {
			voters[i] = i + 1
		}
		factor := func() time.Duration { return s.m.pace.leaderTimeout() / (1500 * time.Millisecond) }
		var last *types.Block
		for view := types.View(1); view <= 12; view++ {
			s.m.hearAll(view)
			if view%every == 0 {
				s.wait(time.Minute)
			}
			last = s.child(nil, view)
			s.receive(1, s.certificate(types.Notarize, view, last, voters...))
			in := types.View(1 - view%every) // the view directly before counts if it was nullified
			if want := time.Duration(1) << min(view-1+in, maxDoublings); factor() != want {
				t.Errorf("%s: after view %d the timeouts are %d-fold, want %d", name, view, factor(), want)
			}
		}
		s.restart(s.all.Persist)
		if s.m.View() != 13 || factor() != 16 {
			t.Errorf("%s: after a restart in view %d the timeouts are %d-fold", name, s.m.View(), factor())
		}
		s.receive(1, s.certificate(types.Finalize, 12, last, voters...))
		s.receive(1, s.certificate(types.Notarize, 13, s.child(last, 13), voters...))
		if s.m.View() != 14 || factor() != 1 {
			t.Errorf("%s: after a final view, in view %d, the timeouts are %d-fold", name, s.m.View(), factor())
		}
	}
}

// C4: views in which nothing can be proposed do not pass as fast as links are. Once every
// member led without finality they last Δ, doubled with each. Before that they end without
// a wait.
func TestC4ViewsInVainDoNotSpin(t *testing.T) {
	w := newWorld(1, 4, func(w *world) {
		for _, n := range w.nodes {
			n.fails = true
		}
	})
	w.run(5*time.Second, nil)
	early := w.nodes[0].machine.View()
	if w.run(10*time.Minute, func() bool { return w.nodes[0].machine.View() > 1000 }); w.violation != "" {
		t.Fatal(w.violation)
	}
	views := w.nodes[0].machine.View()
	if early < 4 || views > 200 {
		t.Errorf("%d views in 5 s, %d in 10 minutes; want 4 at least and 200 at most", early, views)
	}
	for _, n := range w.nodes {
		n.fails = false
	}
	if !w.run(10*time.Second, func() bool { return w.minHeight() >= 3 }) {
		t.Errorf("no 3 blocks within 10 s once blocks can be built: %s", describeWorld(w))
	}
}

// C4: beyond MaxOpenDepth notarized blocks without finality the leader proposes the newest
// one again. So memory has a bound and finality never waits for it. All becomes final with
// the first finalization, after a restart of all as well, and votes contradict none.
func TestC4ABlockIsProposedAgainWhileFinalityIsMissing(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w := newWorld(1, 4, func(w *world) { w.unfinal = true })
		w.run(3*time.Minute, nil)
		for _, n := range w.nodes {
			if got := len(n.machine.bodies.nodes); got < MaxOpenDepth || got > MaxOpenDepth+1 {
				t.Errorf("v%d holds %d bodies, want about %d", n.id, got, MaxOpenDepth)
			}
			if n.machine.View() < 60 {
				t.Errorf("v%d is in view %d after 3 minutes", n.id, n.machine.View())
			}
			if restart {
				w.stop(n)
			}
		}
		for _, n := range w.nodes {
			if n.down {
				w.start(n)
			}
		}
		w.unfinal = false
		if restart {
			w.run(5*time.Second, func() bool { return w.minHeight() >= MaxOpenDepth })
			for _, n := range w.nodes {
				w.stop(n)
				w.start(n)
			}
		}
		if !w.run(5*time.Second, func() bool { return w.minHeight() >= MaxOpenDepth+2 }) {
			t.Fatalf("restart %v: no finality within 5 s; violation %q, %s", restart, w.violation, describeWorld(w))
		}
		before := w.minHeight()
		w.run(30*time.Second, nil)
		if got := w.minHeight() - before; got < 27 || w.violation != "" {
			t.Errorf("restart %v: %d blocks in 30 s; violation %q", restart, got, w.violation)
		}
		if again := w.nodes[0].chain[MaxOpenDepth].Parent; again.View <= w.nodes[0].chain[MaxOpenDepth-1].Header.View {
			t.Errorf("block %d carries a notarization of view %d: its parent was not proposed again", MaxOpenDepth+1, again.View)
		}
	}
}

// stuck is the log of a validator as an earlier version left it over slow links. It has 256
// blocks, each the child of the one before, notarized and nullified, and nullified views
// after them.
func stuck(w *world, n *member, nullified int) (log [][]byte) {
	s := &solo{epochBlocks: 1 << 30, m: &Machine{state: &state{}}}
	set := testSet(0, len(w.nodes))
	s.m.set = &set
	voters := []int{0, 1, 2}
	own := func(kind types.VoteKind, view types.View, b *types.Block) {
		log = append(log, voteRecord(s.vote(kind, view, b, n.id)))
	}
	var b *types.Block
	view := types.View(1)
	for ; view <= 256; view++ {
		parent := b
		b = s.child(parent, view)
		if parent != nil {
			b.Parent = s.certificate(types.Notarize, parent.Header.View, parent, voters...)
		}
		log = append(log, bodyRecord(b, b.Hash()))
		own(types.Notarize, view, b)
		own(types.Nullify, view, nil)
		log = append(log, certificateRecord(s.certificate(types.Notarize, view, b, voters...)),
			certificateRecord(s.certificate(types.Nullify, view, nil, voters...)))
	}
	for ; view <= types.View(256+nullified); view++ {
		own(types.Nullify, view, nil)
		log = append(log, certificateRecord(s.certificate(types.Nullify, view, nil, voters...)))
	}
	return log
}

// C4: validators that hold as many blocks without finality as they may, and have nullified views
// since, make final blocks after an update. So do validators with more views than they remember.
func TestC4AStuckHomeGoesOn(t *testing.T) {
	for _, nullified := range []int{0, 40, MaxOpenViews + 100} {
		t.Run(fmt.Sprint(nullified), func(t *testing.T) {
			w := newWorld(1, 4, func(w *world) {
				for _, n := range w.nodes {
					n.log = stuck(w, n, nullified)
				}
			})
			if !w.run(2*time.Minute, func() bool { return w.minHeight() >= 260 }) {
				t.Fatalf("no finality within 2 minutes: violation %q, %s", w.violation, describeWorld(w))
			}
			for _, n := range w.nodes {
				if got := len(n.machine.rounds); got > MaxOpenViews {
					t.Errorf("v%d remembers %d views", n.id, got)
				}
			}
		})
	}
}

// A validator was away while more views were nullified than one answer holds. It catches up
// with them, and its vote counts if another validator has stopped meanwhile.
func TestManyNullifiedViewsAreCaughtUpWith(t *testing.T) {
	w := newWorld(1, 4, func(w *world) {
		for _, n := range w.nodes {
			n.fails = true
		}
	})
	w.groups[3] = 1
	w.run(10*time.Minute, func() bool { return w.nodes[0].machine.View() > 4*MaxCertificatesPerAnswer })
	if w.nodes[3].machine.View() > 5 {
		t.Fatal("v3 was not away")
	}
	w.stop(w.nodes[2])
	w.groups[3] = 0
	for _, n := range w.nodes {
		n.fails = false
	}
	three := []*member{w.nodes[0], w.nodes[1], w.nodes[3]}
	if !w.run(2*time.Minute, func() bool {
		for _, n := range three {
			if len(n.chain) < 5 {
				return false
			}
		}
		return true
	}) {
		t.Errorf("no 5 blocks within 2 minutes: %s", describeWorld(w))
	}
}

// C4: a block becomes final, and is proposed again in a later view. It gets children after
// a restart as well.
func TestC4ARootThatWasProposedAgainIsBuiltOnAfterARestart(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.settled()
	s.propose(2, b)
	s.receive(1, s.certificate(types.Notarize, 2, b, 1, 2, 3))
	final := s.certificate(types.Finalize, 1, b, 1, 2, 3)
	s.receive(1, final)
	if s.m.Root().Hash != b.Hash() || s.m.View() != 3 {
		t.Fatalf("in view %d, root of height %d", s.m.View(), s.m.Root().Block.Header.Height)
	}
	s.cfg.Root = Root{Block: b, Hash: b.Hash(), Finalization: final, Notarization: s.certificate(types.Notarize, 1, b, 1, 2, 3)}
	s.restart(s.all.Persist)
	s.receive(1, s.certificate(types.Nullify, 3, nil, 1, 2, 3))
	s.wait(1200 * time.Millisecond)
	if build := s.lastBuild(); build == nil || build.View != 4 || build.ParentHash != b.Hash() || build.Notarization.View != 2 {
		t.Errorf("v0 leads view 4 and asks for %+v", build)
	}
}

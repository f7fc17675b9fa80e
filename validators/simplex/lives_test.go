package simplex

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// twinned is a world whose members have lives, and may have twins.
func twinned(seed uint64, n int) *world {
	return newWorld(seed, n, func(w *world) {
		w.lives = true
		w.cfg.Timing.BlockTime, w.cfg.Timing.LinkDelay = 200*time.Millisecond, 50*time.Millisecond
		w.jitter = 20 * time.Millisecond
	})
}

// votes reports whether a member takes part.
func (n *member) votes() bool { return !n.down && n.machine.me >= 0 }

// waiting reports whether a member waits for an older life of its key.
func (n *member) waiting() bool { return !n.down && n.machine.waits }

// C5: a second process with a validator's key and an empty home votes for nothing while the
// first one answers. It takes part soon after that has ended.
func TestC5ASecondProcessOfOneKeyWaits(t *testing.T) {
	for seed := range uint64(6) {
		for _, after := range []time.Duration{0, time.Second, 80 * time.Second} {
			w := twinned(seed, 4)
			w.run(after, nil)
			twin := w.twin(w.nodes[1])
			first := w.nodes[1]
			if !w.run(time.Second, func() bool { return twin.waiting() || first.waiting() }) {
				t.Fatalf("seed %d, after %v: none waits; %s", seed, after, w.describe())
			}
			if after == 0 && first.waiting() { // they begin at one moment
				first, twin = twin, first
			}
			if w.run(30*time.Second, twin.votes); w.violation != "" || len(w.evidence) > 0 || twin.votes() {
				t.Fatalf("seed %d, after %v: %s, %d contradictions, votes %v", seed, after, w.violation, len(w.evidence), twin.votes())
			}
			w.stop(first)
			from := w.now
			if !w.run(10*time.Second, twin.votes) {
				t.Fatalf("seed %d, after %v: it does not vote once the first has ended: %s %s", seed, after, w.violation, w.describe())
			}
			if d := w.now.Sub(from); d > 4*time.Second {
				t.Errorf("seed %d, after %v: it votes %v after the first has ended", seed, after, d)
			}
			if w.run(20*time.Second, nil); w.violation != "" || len(w.evidence) > 0 {
				t.Fatalf("seed %d, after %v: %s, %d contradictions", seed, after, w.violation, len(w.evidence))
			}
		}
	}
}

// A restarted validator waits for a life that has ended only as long as that may take to
// answer.
func TestC5ARestartWaitsForASilentLifeTwoDelays(t *testing.T) {
	for seed := range uint64(6) {
		w := twinned(seed, 4)
		w.run(5*time.Second, nil)
		w.stop(w.nodes[1])
		w.start(w.nodes[1])
		from := w.now
		if !w.run(time.Minute, w.nodes[1].votes) {
			t.Fatalf("seed %d: it votes no more", seed)
		}
		if d := w.now.Sub(from); d > 4*w.cfg.Timing.LinkDelay {
			t.Errorf("seed %d: it votes after %v", seed, d)
		}
	}
}

// A second newcomer takes the place of the first, which waits no more: a machine that counts it goes on looking for silent lives.
func TestNewcomersThatWaitAreCountedOnce(t *testing.T) {
	for seed := range uint64(6) {
		w := twinned(seed, 4)
		w.run(5*time.Second, nil)
		met := 0
		for range 40 {
			w.stop(w.nodes[1])
			w.start(w.nodes[1])
			for range 3 {
				w.run(20*time.Millisecond, nil)
				for _, n := range w.nodes {
					waiting := 0
					for _, a := range n.machine.known {
						if a.until != types.Never {
							waiting++
						}
					}
					if met += waiting; n.machine.waiting != waiting {
						t.Fatalf("seed %d: %d newcomers wait, and %d are counted", seed, waiting, n.machine.waiting)
					}
				}
			}
		}
		if met == 0 {
			t.Errorf("seed %d: no newcomer waited", seed)
		}
	}
}

// C5: a partition keeps two processes of one key apart. The one that finds a vote that it did
// not cast stops voting, in its log as well. It returns after StrangerBlocks blocks without
// another.
func TestC5AVoteOfOnesOwnKeyThatOneDidNotCastStopsOnesVoting(t *testing.T) {
	for seed := range uint64(10) {
		w := twinned(seed, 4)
		w.run(3*time.Second, nil)
		first := w.nodes[1]
		w.groups[1] = 1
		w.run(time.Second, nil)
		twin := w.twin(first)
		if !w.run(10*time.Second, twin.votes) {
			t.Fatalf("seed %d: the second does not vote, though the others do not hear the first", seed)
		}
		w.run(2*time.Second, nil)
		w.groups[1] = 0
		if !w.run(time.Minute, func() bool { return first.machine.stranger.seen || twin.machine.stranger.seen }) {
			t.Fatalf("seed %d: the first does not find the second's votes: %s %s", seed, w.violation, w.describe())
		}
		if twin.machine.stranger.seen {
			first, twin = twin, first
		}
		w.stop(first)
		w.start(first)
		if w.run(5*time.Second, first.votes); first.votes() || !first.machine.stranger.seen {
			t.Fatalf("seed %d: it forgot in a restart that it has a twin", seed)
		}
		w.stop(twin)
		height := first.machine.rootHeight()
		if !w.run(10*time.Minute, first.votes) {
			t.Fatalf("seed %d: it never votes again", seed)
		}
		if blocks := first.machine.rootHeight() - height; blocks < StrangerBlocks-20 || blocks > StrangerBlocks+20 {
			t.Errorf("seed %d: it votes again after %d blocks", seed, blocks)
		}
		if w.run(20*time.Second, nil); w.violation != "" {
			t.Fatalf("seed %d: %s", seed, w.violation)
		}
	}
}

// C5: a home that is empty is a lost one if others know certificates. It is not if a network
// begins, or its validators begin one after the other.
func TestC5AnEmptyHomeIsALostHome(t *testing.T) {
	for seed := range uint64(6) {
		for _, blocks := range []types.Height{0, 1, 30, 400} {
			w := twinned(seed, 4)
			n := w.nodes[seed%4]
			if !w.run(10*time.Minute, func() bool { return n.machine.rootHeight() >= blocks }) {
				t.Fatal("no blocks")
			}
			w.stop(n)
			n.log, n.root, n.chain, n.hashes = nil, testGenesis(w.cfg.Timing.BlockTime), nil, nil
			w.start(n)
			from := w.now
			if !w.run(time.Minute, n.votes) {
				t.Fatalf("seed %d, %d blocks: it votes no more", seed, blocks)
			}
			if lost := n.machine.floor.known || n.machine.sitsOut != 0; blocks > 0 && !lost {
				t.Errorf("seed %d, %d blocks: it votes at once", seed, blocks)
			}
			if d := w.now.Sub(from); d > 5*time.Second {
				t.Errorf("seed %d, %d blocks: it votes after %v", seed, blocks, d)
			}
			if w.run(20*time.Second, nil); w.violation != "" || len(w.evidence) > 0 {
				t.Fatalf("seed %d, %d blocks: %s, %d contradictions", seed, blocks, w.violation, len(w.evidence))
			}
		}
	}
}

// A network whose validators begin with empty homes one after the other makes blocks as
// soon as enough of them run. No validator sits out for good.
func TestAFreshNetworkBeginsHoweverItsValidatorsStart(t *testing.T) {
	for seed := range uint64(6) {
		for _, size := range []int{1, 2, 3, 4, 7} {
			w := twinned(seed, size)
			for _, n := range w.nodes {
				w.stop(n)
				n.log = nil
			}
			for _, i := range w.rng.Perm(size) {
				w.run(time.Duration(w.rng.IntN(3000))*time.Millisecond, nil)
				w.start(w.nodes[i])
			}
			if !w.run(20*time.Second, func() bool {
				for _, n := range w.nodes {
					if !n.votes() || n.machine.rootHeight() < 5 {
						return false
					}
				}
				return true
			}) {
				t.Fatalf("seed %d, %d validators: %s", seed, size, w.describe())
			}
		}
	}
}

// C5, finding F116: a validator that begins long after the others is no lost home. It votes at
// once, though another one is down, also if it was killed before it had voted.
func TestC5AValidatorThatBeginsLateVotesAtOnce(t *testing.T) {
	for seed := range uint64(12) {
		w := twinned(seed, 4)
		late, down := w.nodes[seed%4], w.nodes[(seed+1)%4]
		w.stop(late)
		late.log = nil
		w.run(time.Duration(seed)*3*time.Second, nil)
		w.stop(down)
		w.start(late)
		if seed%3 == 0 {
			w.run(time.Duration(w.rng.IntN(100))*time.Millisecond, nil)
			w.stop(late)
			w.start(late)
		}
		height := late.machine.rootHeight()
		if !w.run(5*time.Second, func() bool { return late.votes() && late.machine.rootHeight() > height+5 }) {
			t.Errorf("seed %d: %s", seed, w.describe())
		}
		if w.violation != "" || len(w.evidence) > 0 {
			t.Errorf("seed %d: %s", seed, w.violation)
		}
	}
}

// C5: that a key was heard of is in the log of each that heard it. A home that was emptied
// is found lost though all others were started again since.
func TestC5OthersRememberAnEmptiedHomeOverARestart(t *testing.T) {
	for seed := range uint64(6) {
		w := twinned(seed, 4)
		n := w.nodes[seed%4]
		w.run(3*time.Second, nil)
		w.stop(n)
		n.log, n.root, n.chain, n.hashes = nil, testGenesis(w.cfg.Timing.BlockTime), nil, nil
		for _, other := range w.nodes {
			if other != n {
				w.stop(other)
				kept, err := Compact(other.log, other.root)
				if err != nil {
					t.Fatal(err)
				}
				other.log = kept
				w.start(other)
			}
		}
		w.start(n)
		if !w.run(time.Minute, n.votes) {
			t.Fatalf("seed %d: it votes no more: %s", seed, w.describe())
		}
		if !n.machine.floor.known && n.machine.sitsOut == 0 {
			t.Errorf("seed %d: it votes at once", seed)
		}
	}
}

// f members that lie make no life wait, and a lie about an old life lets no second one vote.
func TestC5LiarsMakeNobodyWait(t *testing.T) {
	for seed := range uint64(10) {
		for _, older := range []bool{true, false} {
			w := twinned(seed, 4)
			w.tamper = func(from int, s Send) []Send {
				if a, is := s.Message.(*LifeAnswer); is && from == 3 {
					lie := *a
					lie.Older, lie.First = older, lie.For
					s.Message = &lie
				}
				if from != 3 {
					w.witness(w.nodes[from], s.Message)
				}
				return []Send{s}
			}
			w.run(2*time.Second, nil)
			n := w.nodes[1]
			w.stop(n)
			n.log, n.root, n.chain, n.hashes = nil, testGenesis(w.cfg.Timing.BlockTime), nil, nil
			w.start(n)
			if !w.run(10*time.Second, n.votes) {
				t.Fatalf("seed %d: one liar keeps it from voting", seed)
			}
			twin := w.twin(n)
			if w.run(20*time.Second, twin.votes); w.violation != "" || twin.votes() {
				t.Fatalf("seed %d: %s, the second votes: %v", seed, w.violation, twin.votes())
			}
		}
	}
}

func (w *world) describe() (s string) {
	for _, n := range w.nodes {
		if n.down {
			s += fmt.Sprintf("v%d down; ", n.id)
			continue
		}
		m := n.machine
		s += fmt.Sprintf("v%d height %d view %d asks %v waits %v sits out %d stranger %v, answers %v; ", n.id, m.rootHeight(), m.view, m.asking,
			m.waits, m.sitsOut, m.stranger.seen, m.claim.answers)
	}
	return s
}

// C5: a vote of this validator's key that it did not cast shows another life, also where only a
// certificate that others made has it.
func TestC5AnotherLifeIsSeenInACertificate(t *testing.T) {
	life := types.Life{1}
	s := newSolo(t, 4, func(c *Config) { c.Life = life })
	for i := 1; i <= 3; i++ {
		s.receive(i, &LifeAnswer{For: life, Own: types.Life{byte(10 + i)}, First: life})
	}
	if s.m.me < 0 || s.m.unproven {
		t.Fatal("its log is not begun: the test shows nothing")
	}
	s.receive(1, s.certificate(types.Nullify, 1, nil, 0, 1, 2))
	for _, r := range s.all.Report {
		if stranger, is := r.(Stranger); is && stranger.Vote.View == 1 && stranger.Halts {
			return
		}
	}
	t.Errorf("it says nothing of its key's vote in view 1: %v", s.all.Report)
}

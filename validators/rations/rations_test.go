package rations

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

func peer(i int) types.Address { return types.Address{byte(i)} }

// world is rations of peers 1 to n, at a time that the test sets.
type world struct {
	*Rations
	t   *testing.T
	now types.Time
}

func newWorld(t *testing.T, n int) *world {
	w := &world{Rations: New(), t: t, now: types.Time(time.Hour)}
	var peers []types.Validator
	for i := range n {
		peers = append(peers, types.Validator{Address: peer(i + 1)})
	}
	w.Keep(w.now, peers)
	return w
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) offer(from int, class Class, data string) (taken, shut bool) {
	return w.Offer(w.now, Frame{peer(from), []byte(data)}, class, false)
}

// taken gives up all that waits, in order.
func (w *world) taken() (all string) {
	for {
		f, ok := w.Next()
		if !ok {
			return all
		}
		all += fmt.Sprintf("%d%s ", f.From[0], f.Data)
	}
}

func TestVotesComeFirstAndPeersTakeTurns(t *testing.T) {
	w := newWorld(t, 3)
	for i := range 3 {
		w.offer(1, Bulk, "t")
		w.offer(1, Votes, fmt.Sprint("v", i))
	}
	w.offer(2, Blocks, "p")
	w.offer(2, Votes, "v")
	w.offer(3, Bulk, "t")
	if got, want := w.taken(), "1v0 2v 1v1 1v2 2p 1t 3t 1t 1t "; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if w.Waiting() != 0 || w.bytes != 0 {
		t.Errorf("%d frames of %d bytes wait", w.Waiting(), w.bytes)
	}
}

// However many votes there are, a block waits for a few of them only.
func TestNoClassStarves(t *testing.T) {
	w := newWorld(t, 2)
	w.offer(2, Blocks, "p")
	w.offer(2, Bulk, "t")
	for range 100 {
		w.offer(1, Votes, "v")
	}
	seen := map[string]int{}
	for i := range 102 {
		f, _ := w.Next()
		if _, ok := seen[string(f.Data)]; !ok {
			seen[string(f.Data)] = i
		}
	}
	if seen["p"] != maxTurns || seen["t"] > 2*maxTurns {
		t.Errorf("first attended to: %v", seen)
	}
}

// A flood delays another peer's vote by a frame or two, however long it is.
func TestAFloodKeepsNobodyWaiting(t *testing.T) {
	w := newWorld(t, 3)
	for range 10_000 {
		w.offer(1, Votes, "x")
		w.offer(1, Bulk, "x")
	}
	for range 100 {
		w.offer(2, Votes, "v")
		waited := 0
		for f, _ := w.Next(); f.From != peer(2); f, _ = w.Next() {
			waited++
		}
		if waited > 2 { // a vote of the flooder's, and a class that was skipped long enough
			t.Fatalf("the vote waits for %d frames", waited)
		}
	}
}

// The queue is bounded for each peer and for all, for any input, and is counted
// right.
func TestWhatWaitsIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	heap := make([]byte, 1<<22)
	w := newWorld(t, 12)
	for step := range 20_000 {
		from := 1 + rng.IntN(12)
		size := 1 + rng.IntN(1<<rng.IntN(22))
		w.Offer(w.now, Frame{peer(from), heap[:size]}, Class(rng.IntN(classes)), rng.IntN(8) == 0)
		if rng.IntN(6) == 0 {
			w.Next()
		}
		if rng.IntN(100) == 0 {
			w.pass(time.Second)
		}
		bytes, frames := 0, 0
		for _, a := range w.order {
			bytes, frames = bytes+a.bytes, frames+a.frames
			if a.frames > MaxWaitingFrames || a.bytes > MaxWaitingBytes/4 {
				t.Fatalf("step %d: %d frames and %d bytes of one peer wait", step, a.frames, a.bytes)
			}
		}
		if bytes != w.bytes || frames != w.frames || bytes > MaxWaitingBytes+12*minShare {
			t.Fatalf("step %d: %d bytes in %d frames, counted as %d and %d", step, bytes, frames, w.bytes, w.frames)
		}
	}
	for w.Waiting() > 0 {
		w.Next()
	}
	if w.bytes != 0 || w.frames != 0 {
		t.Errorf("%d bytes in %d frames are left", w.bytes, w.frames)
	}
}

// A peer has the table's rations, no more at once and no more over time, and its
// use affects no other peer.
func TestARationIsWhatTheTableSays(t *testing.T) {
	for of := range Resource(resources) {
		if of == patience || of == pressure {
			continue
		}
		w := newWorld(t, 2)
		unit := max(1, int(table[of].most/64))
		spend := func() (n int64) {
			for n <= table[of].most { // more exceeds the ration
				w.accounts[peer(1)].levels[patience].left = table[patience].most
				if ok, _ := w.Spend(w.now, peer(1), of, unit); !ok {
					return n
				}
				n += int64(unit)
			}
			return n
		}
		if n := spend(); n != table[of].most {
			t.Errorf("resource %d: %d at first, want %d", of, n, table[of].most)
		}
		if ok, _ := w.Spend(w.now, peer(2), of, unit); !ok {
			t.Errorf("resource %d: another peer's use counts", of)
		}
		gained := int64(0)
		for range 4_000 { // in odd steps: nothing is lost in rounding
			w.pass(2_500_001)
			gained += spend()
		}
		if want := 10 * table[of].second; gained > want+int64(unit) || gained < want-int64(unit)-1 {
			t.Errorf("resource %d: %d in ten seconds, want %d", of, gained, want)
		}
		w.pass(time.Hour)
		if n := spend(); n != table[of].most {
			t.Errorf("resource %d: %d after an hour, want %d", of, n, table[of].most)
		}
	}
}

// The faster the chain, the more its peers may send; a flood does not hurry it.
func TestRationsFillWithViews(t *testing.T) {
	w := newWorld(t, 1)
	drain := func() (n int) {
		for int64(n) <= table[Recoveries].most { // more exceeds the ration
			if ok, _ := w.Spend(w.now, peer(1), Recoveries, 1); !ok {
				break
			}
			n++
		}
		return n
	}
	drain()
	w.Pace(10)
	if n := drain(); n != int(10*table[Recoveries].view) {
		t.Errorf("%d for ten views", n)
	}
	w.Pace(7)
	if n := drain(); n != 0 {
		t.Errorf("%d for a view long past", n)
	}
	w.Pace(1 << 62)
	if n := drain(); n != int(table[Recoveries].most) {
		t.Errorf("%d for a leap", n)
	}
}

// However fast the chain is, it costs no more patience, and the work that no view needs of a peer
// has its ration by the second.
func TestViewsFillNoRationThatTheyDoNotNeed(t *testing.T) {
	w := newWorld(t, 1)
	for _, of := range []Resource{Transactions, Ranges, Served, patience, pressure} {
		l := w.fillLevel(w.now, w.accounts[peer(1)], of)
		l.left = 0
		w.Pace(w.view + 1_000)
		if got := w.fillLevel(w.now, w.accounts[peer(1)], of).left; got != 0 {
			t.Errorf("a thousand views fill %d of resource %d", got, of)
		}
	}
}

// A peer that sends rubbish is muted within some dozens of frames, for longer each time,
// and is taken back. A peer that errs now and then is not muted.
func TestRubbishEnds(t *testing.T) {
	w := newWorld(t, 2)
	until := func() (frames int) {
		for !w.Blame(w.now, peer(1), Invalid) {
			frames++
			if frames > 1_000 {
				t.Fatal("it is never muted")
			}
		}
		return frames + 1
	}
	wait := firstBan
	for range 10 {
		if n := until(); n != int(table[patience].most/invalidCost) {
			t.Errorf("muted after %d frames", n)
		}
		if taken, _ := w.offer(1, Bulk, "t"); taken || !w.Muted(w.now, peer(1)) || w.Muted(w.now, peer(2)) || w.Shut(w.now, peer(1)) {
			t.Error("it is not muted, or the other is, or it is shut out")
		}
		w.pass(wait - 1)
		if !w.Muted(w.now, peer(1)) {
			t.Error("it is back early")
		}
		w.pass(1)
		if taken, _ := w.offer(1, Bulk, "t"); !taken {
			t.Error("it is not taken back")
		}
		wait = min(2*wait, maxBan)
	}
	w.pass(forgiven + time.Hour)
	until()
	if w.pass(firstBan); w.Muted(w.now, peer(1)) {
		t.Error("nothing is forgiven")
	}
	w = newWorld(t, 1)
	for range 1_000 {
		if w.Blame(w.now, peer(1), Invalid) {
			t.Fatal("one fault in four seconds mutes")
		}
		w.pass(4 * time.Second)
	}
}

// A muted peer is heard in the consensus, by the narrower ration, and answers that it was
// asked for are taken. Its other waiting frames are dropped.
func TestWhoIsMutedIsHeardInTheConsensus(t *testing.T) {
	w := newWorld(t, 2)
	w.offer(1, Bulk, "t")
	w.offer(2, Bulk, "t")
	for !w.Blame(w.now, peer(1), Invalid) {
	}
	for _, class := range []Class{Votes, Blocks} {
		if taken, _ := w.offer(1, class, "c"); !taken {
			t.Errorf("a frame of class %d is lost", class)
		}
	}
	if taken, _ := w.Offer(w.now, Frame{peer(1), []byte("a")}, Bulk, true); !taken {
		t.Error("what it was asked for is lost")
	}
	if got, want := w.taken(), "1c 1c 1a 2t "; got != want || w.bytes != 0 || w.frames != 0 {
		t.Errorf("%s wait, want %s; then %d bytes in %d frames", got, want, w.bytes, w.frames)
	}
	spent := int64(0)
	for ok := true; ok && spent <= table[Recoveries].most; spent++ {
		ok, _ = w.Spend(w.now, peer(1), Recoveries, 1)
	}
	if spent-1 != table[heard].most {
		t.Errorf("%d signatures are recovered of one that is muted, want %d", spent-1, table[heard].most)
	}
}

// Rubbish of other classes, as much as comes, costs no frame of the consensus its place,
// until the peer is shut out.
func TestRubbishTakesNoRationOfTheConsensus(t *testing.T) {
	w := newWorld(t, 2)
	for range 60 { // seconds of a thousand frames of rubbish each
		for i := range 1_000 {
			if _, shut := w.offer(1, Bulk, "rubbish"); shut {
				t.Fatal("a thousand small frames a second shut out")
			}
			w.Blame(w.now, peer(1), Invalid)
			if i%100 == 0 {
				if taken, _ := w.offer(1, Votes, "v"); !taken {
					t.Fatal("a vote is lost")
				}
				if ok, _ := w.Spend(w.now, peer(1), Recoveries, 1); !ok {
					t.Fatal("a vote is not looked at")
				}
			}
			w.taken()
			w.pass(time.Millisecond)
		}
		w.Pace(w.view + 1)
	}
}

// A peer that sends far more than is taken of it is shut out, for longer each time.
func TestPressureShutsOut(t *testing.T) {
	w := newWorld(t, 2)
	for wait := range 3 {
		shut := false
		for range int(table[Frames].most + table[pressure].most + 1) {
			if _, shut = w.offer(1, Votes, "v"); shut {
				break
			}
			w.taken()
		}
		if at := w.Deadline(w.now); !shut || !w.Shut(w.now, peer(1)) || w.Shut(w.now, peer(2)) || at != w.now.Add(firstBan<<wait) {
			t.Fatalf("time %d: shut out %v, until %v", wait, shut, at)
		}
		if taken, _ := w.offer(1, Votes, "v"); taken {
			t.Error("a vote of a peer that is shut out is taken")
		}
		w.pass(firstBan << wait)
		if taken, _ := w.offer(1, Votes, "v"); !taken || w.Deadline(w.now) != types.Never {
			t.Error("it is not taken back")
		}
		w.pass(time.Minute)
	}
}

// Each kind of flood ends: the peer is muted or shut out within what the rations hold.
func TestEveryFloodEnds(t *testing.T) {
	giant := make([]byte, 4<<20)
	for name, flood := range map[string]func(w *world) (ends bool){
		"small frames": func(w *world) bool { _, shut := w.offer(1, Votes, "v"); w.Next(); return shut },
		"giant frames": func(w *world) bool {
			_, shut := w.Offer(w.now, Frame{peer(1), giant}, Blocks, false)
			w.Next()
			return shut
		},
		"other frames":          func(w *world) bool { _, shut := w.offer(1, Bulk, "t"); w.Next(); return shut },
		"signatures":            func(w *world) bool { _, muted := w.Spend(w.now, peer(1), Recoveries, 3); return muted },
		"transactions":          func(w *world) bool { _, muted := w.Spend(w.now, peer(1), Transactions, 4096); return muted },
		"requests":              func(w *world) bool { _, muted := w.Spend(w.now, peer(1), Ranges, 1); return muted },
		"answers unasked":       func(w *world) bool { return w.Blame(w.now, peer(1), Unasked) },
		"bytes without a frame": func(w *world) bool { return w.Blame(w.now, peer(1), Invalid) },
	} {
		w := newWorld(t, 2)
		begun := w.now
		for !flood(w) {
			w.pass(8 * time.Microsecond) // 125,000 a second, as one was measured
			if w.now.Sub(begun) > 2*time.Second {
				t.Errorf("%s: does not end in %v", name, w.now.Sub(begun))
				break
			}
		}
	}
}

// Frames of honest validators at any pace of the chain are all taken: ten frames
// and forty signatures a view, from one view in ten seconds to a thousand a second,
// for ten thousand views.
func TestHonestPeersKeepTheirRations(t *testing.T) {
	for _, pace := range []time.Duration{time.Millisecond, 20 * time.Millisecond, time.Second, 10 * time.Second} {
		w := newWorld(t, 3)
		for view := types.View(1); view <= 10_000; view++ {
			w.Pace(view)
			for i := 1; i <= 3; i++ {
				for range 10 {
					if taken, _ := w.offer(i, Votes, "0123456789"); !taken {
						t.Fatalf("a view in %v: a frame of view %d is lost", pace, view)
					}
				}
				if ok, _ := w.Spend(w.now, peer(i), Recoveries, 40); !ok {
					t.Fatalf("a view in %v: signatures of view %d are not looked at", pace, view)
				}
			}
			for w.Waiting() > 0 {
				w.Next()
			}
			w.pass(pace)
		}
	}
}

func TestAnswersAreTakenOnceAndOnlyWhenAsked(t *testing.T) {
	w := newWorld(t, 2)
	if w.Answers(peer(1), Body) {
		t.Error("an unrequested answer is taken")
	}
	w.Expect(peer(1), Body)
	if w.Answers(peer(2), Body) || w.Answers(peer(1), Range) || !w.Answers(peer(1), Body) || w.Answers(peer(1), Body) {
		t.Error("it is not the one answer of the one peer that was asked")
	}
	for range 2 * MaxExpected {
		w.Expect(peer(1), Range)
	}
	if n := w.accounts[peer(1)].expected[Range]; n != MaxExpected {
		t.Errorf("%d answers are expected", n)
	}
}

// A former peer is forgotten with its waiting frames; one that is muted stays so.
func TestFormerPeersAreForgotten(t *testing.T) {
	w := newWorld(t, 3)
	w.offer(1, Votes, "a")
	w.offer(2, Votes, "b")
	for !w.Blame(w.now, peer(3), Invalid) {
	}
	w.Keep(w.now, []types.Validator{{Address: peer(2)}})
	if taken, _ := w.offer(1, Votes, "a"); taken || len(w.accounts) != 2 {
		t.Errorf("%d accounts", len(w.accounts))
	}
	w.Keep(w.now, []types.Validator{{Address: peer(2)}, {Address: peer(3)}})
	if !w.Muted(w.now, peer(3)) {
		t.Error("leaving the set takes back who was muted")
	}
	if got := w.taken(); got != "2b " || w.bytes != 0 {
		t.Errorf("%s waits, %d bytes", got, w.bytes)
	}
	w.pass(time.Hour)
	w.Keep(w.now, nil)
	if len(w.accounts) != 0 || len(w.order) != 0 {
		t.Error("somebody is remembered")
	}
}

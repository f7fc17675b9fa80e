package history

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// busyChain is n blocks with gaps between heights, in which timers are
// scheduled, extended, deferred, moved, fired and cancelled, and actors print.
// ends has the end of each timer.
func busyChain(n int, seed uint64) (blocks []*ledger.Result, timers []types.Timer, ends map[types.TimerID]types.Height, jobs *jobMaker) {
	jobs = newJobMaker()
	random := rand.New(rand.NewPCG(seed, 1))
	ends = map[types.TimerID]types.Height{}
	var pending []types.Timer
	h := types.Height(0)
	for range n {
		h += 1 + types.Height(random.IntN(3)/2*random.IntN(500))
		result := at(h)
		for range random.IntN(4) {
			t := types.Timer{ID: types.Keccak([]byte(fmt.Sprint(len(timers)))), Actor: types.Address{byte(random.IntN(3))}, ScheduledAt: h,
				Height: h + types.Height(random.IntN(40)), Seq: types.Seq(len(timers)), ExpiresAt: h + 9000, Payload: []byte("payload")}
			timers, pending = append(timers, t), append(pending, t)
			result.Timers = append(result.Timers, change(t, h, types.TimerPending, "", 0))
		}
		var left []types.Timer
		for _, t := range pending {
			switch pick := random.IntN(20); {
			case t.ScheduledAt == h:
			case pick < 3:
				result.Timers = append(result.Timers, change(t, h, types.TimerFired, "", 3))
				result.Receipts = append(result.Receipts, types.Receipt{Hash: t.ID, Height: h, Origin: types.OriginTimer})
				result.Logs = append(result.Logs, actors.LogLine{Actor: t.Actor, Cause: t.ID, Line: fmt.Sprint("fired ", t.Seq)})
				ends[t.ID] = h
				continue
			case pick == 3:
				result.Timers = append(result.Timers, change(t, h, types.TimerCancelled, "cancelled_by_owner", 0))
				ends[t.ID] = h
				continue
			case pick < 8:
				result.Timers = append(result.Timers, change(t, h, types.TimerPending, "lane_full", 2))
			case pick == 8:
				result.Timers = append(result.Timers, change(t, h, types.TimerPending, scheduler.ReasonExtended, 0))
			case pick == 9:
				result.Lane.Moves = append(result.Lane.Moves, types.TimerMove{Seq: t.Seq, From: "epoch", To: "ring"})
			}
			left = append(left, t)
		}
		pending = left
		result.Jobs = jobs.block(h, random)
		if random.IntN(3) == 0 {
			result.Events = []types.Event{{Name: "TimerExpired", Data: []byte{1}}}
		}
		result.Changes = []ledger.Change{{Key: []byte(fmt.Sprint("key", random.IntN(50))), Value: []byte(fmt.Sprint(h))}}
		blocks = append(blocks, result)
	}
	return blocks, timers, ends, jobs
}

// bounded commits blocks as the archive role does, with a bound.
func bounded(t *testing.T, blocks []*ledger.Result, bound uint64, perCommit func() int) *Archive {
	t.Helper()
	archive := Of(mem.NewStore())
	w := NewWriter(archive, bound, nil)
	for restart := 0; len(blocks) > 0; restart++ {
		if restart%7 == 6 { // it counts again
			w = NewWriter(archive, bound, nil)
		}
		n := min(perCommit(), len(blocks))
		for _, result := range blocks[:n] {
			result.Hash, result.State = result.Block.Hash(), someState
		}
		commit(t, archive, w, blocks[:n]...)
		blocks = blocks[n:]
	}
	return archive
}

var allBuckets = []env.Bucket{bucketState, bucketBlocks, bucketHashes, bucketExecutions, bucketTimers, bucketTimerSeqs, bucketTimerOrder,
	bucketActorTimers, bucketTimerNotes, bucketTimerEnds, bucketLanes, bucketLaneTimers, bucketLaneMoves, bucketEvents, bucketLogs,
	bucketJobs, bucketJobStandings, bucketJobOrder, bucketSubmitterJobs, bucketRunnerJobs, bucketStatusJobs, bucketJobNotes,
	bucketJobResults, bucketJobMarks}

func rowsIn(t *testing.T, a *Archive, bucket env.Bucket) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := a.store.Scan(bucket, nil, nil, false, func(key, value []byte) bool {
		found[string(key)] = bytes.Clone(value)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// An archive with a bound has of all buckets what one without has of the last
// blocks, the timers that are pending or ended in these, and the whole state.
func TestABoundedArchiveIsTheEndOfAWholeOne(t *testing.T) {
	const bound = 100
	blocks, timers, ends, jobs := busyChain(700, 3)
	random := rand.New(rand.NewPCG(4, 4))
	for name, perCommit := range map[string]func() int{"one by one": func() int { return 1 },
		"in batches": func() int { return 1 + random.IntN(30) }} {
		t.Run(name, func(t *testing.T) {
			whole := bounded(t, blocks, 0, func() int { return 50 })
			part := bounded(t, blocks, bound, perCommit)
			kept, err := part.Kept()
			if err != nil || kept.Blocks != bound {
				t.Fatal(kept, err)
			}
			first := blocks[len(blocks)-bound].Block.Header.Height
			before := blocks[len(blocks)-bound-1].Block.Header.Height
			if kept.From != before+1 {
				t.Fatalf("it is kept from %d, want %d", kept.From, before+1)
			}
			gone := map[string]bool{} // keys, by bucket and key
			forget := func(b env.Bucket, key []byte) { gone[string(b)+string(key)] = true }
			for _, r := range blocks[:len(blocks)-bound] {
				h := heightKey(r.Block.Header.Height)
				for _, b := range []env.Bucket{bucketBlocks, bucketLanes, bucketLaneTimers, bucketLaneMoves, bucketEvents,
					bucketJobMarks} {
					forget(b, h)
				}
				forget(bucketHashes, r.Hash[:])
				for i := range r.Receipts {
					forget(bucketExecutions, r.Receipts[i].Hash[:])
				}
			}
			ended := map[types.Seq]bool{}
			for _, timer := range timers {
				if end, over := ends[timer.ID]; over && end < first {
					ended[timer.Seq] = true
					forget(bucketTimers, timer.ID[:])
					forget(bucketTimerEnds, timer.ID[:])
					forget(bucketTimerSeqs, seqKey(timer.Seq))
				}
			}
			jobsOver := map[types.Hash]bool{}
			for id, end := range jobs.ends {
				if end < first {
					jobsOver[id] = true
					forget(bucketJobs, id[:])
					forget(bucketJobStandings, id[:])
					forget(bucketJobOrder, seqKey(jobs.seqs[id]))
				}
			}
			for _, bucket := range allBuckets {
				want, got := rowsIn(t, whole, bucket), rowsIn(t, part, bucket)
				for key, value := range want {
					dropped := gone[string(bucket)+key]
					switch bucket {
					case bucketTimerOrder, bucketActorTimers:
						dropped = ended[types.Seq(bigEndian(key[len(key)-8:]))]
					case bucketTimerNotes:
						dropped = ended[types.Seq(bigEndian(key[:8]))]
					case bucketSubmitterJobs, bucketRunnerJobs, bucketStatusJobs:
						dropped = jobsOver[types.Hash([]byte(value))]
					case bucketJobNotes, bucketJobResults:
						dropped = jobsOver[types.Hash([]byte(key[:32]))]
					case bucketLogs:
						dropped = types.Height(bigEndian(key[20:28])) < first
					}
					if dropped {
						delete(want, key)
					}
				}
				if len(want) == 0 {
					t.Errorf("%s: the chain puts nothing there to judge by", bucket)
				}
				if !equalRows(want, got) {
					t.Errorf("%s: %d rows, want %d", bucket, len(got), len(want))
				}
			}
		})
	}
}

func bigEndian(key string) (n uint64) {
	for i := range len(key) {
		n = n<<8 | uint64(key[i])
	}
	return n
}

func equalRows(a, b map[string][]byte) bool {
	for key, value := range a {
		if other, ok := b[key]; !ok || !bytes.Equal(value, other) {
			return false
		}
	}
	return len(a) == len(b)
}

// A home that was kept whole is emptied little by little, and never below the
// bound; without one it is kept again.
func TestABoundThatComesLaterDropsLittleByLittle(t *testing.T) {
	archive := bounded(t, nil, 0, nil)
	add := func(w *Writer, h types.Height) int {
		r := at(h)
		r.State, r.Hash = someState, r.Block.Hash()
		return commit(t, archive, w, r)
	}
	w := NewWriter(archive, 0, nil)
	for h := types.Height(1); h <= 400; h++ {
		add(w, h)
	}
	w = NewWriter(archive, 100, nil)
	for h, want := range []int{64, 64, 64, 64, 49, 1, 1} { // 301 of 401 go, and then one for each
		if got := add(w, types.Height(401+h)); got != want {
			t.Errorf("commit %d dropped %d blocks, want %d", h, got, want)
		}
	}
	if kept, _ := archive.Kept(); kept.From != 308 || !kept.Dropped(307) || kept.Dropped(308) || kept.Dropped(0) {
		t.Errorf("kept from %d", kept.From)
	}
	w = NewWriter(archive, 0, nil)
	if got := add(w, 408); got != 0 {
		t.Errorf("without a bound it dropped %d", got)
	}
}

// The story of a timer from before the bound states where it ends, and does not
// claim that no block examined the timer there.
func TestAStoryBeyondTheBoundSaysSo(t *testing.T) {
	a, _, blocks := storyChain()
	for h := types.Height(11); h <= 109; h++ {
		blocks = append(blocks, at(h))
	}
	archive := bounded(t, blocks, 100, func() int { return 1 }) // from 10 on, where it fired
	record, err := archive.Timer(a.ID)
	if err != nil || record == nil || record.Status != types.TimerFired || record.Reason != "" {
		t.Fatalf("%+v, %v", record, err)
	}
	s, err := archive.Story(someState.Params(), a.ID, 0, 100)
	if err != nil || s.KeptFrom != 10 || len(s.Moves) != 0 || len(s.Waits) != 0 || s.End == nil {
		t.Fatalf("%+v, %v", s, err)
	}
}

// An advance that is counted as its blocks are committed has all of them. A count after the
// oldest were dropped is refused, and leaves the receipt as it was.
func TestAnAdvanceIsCountedBeforeItsBlocksAreDropped(t *testing.T) {
	const bound = 100
	blocks, _, ends, _ := busyChain(300, 5)
	last := types.Height(0)
	for _, r := range blocks {
		h := r.Block.Header.Height
		r.Block.Header.Skipped = uint64(h - last - 1)
		r.Hash, r.State = r.Block.Hash(), someState
		last = h
	}
	archive := Of(mem.NewStore())
	w := NewWriter(archive, bound, nil)
	early, late := NewAdvance(0), NewAdvance(0)
	for i, r := range blocks {
		commit(t, archive, w, r)
		h := r.Block.Header.Height
		if i == 9 {
			if err := late.Count(archive, h); err != nil {
				t.Fatal(err)
			}
		}
		if i%bound != bound-1 { // it is called late, and still in time
			continue
		}
		if err := early.Count(archive, h); err != nil {
			t.Fatal(err)
		}
	}
	if early.Blocks != 300 || early.To != last || early.Skipped != uint64(last)-300 || early.Ended != uint64(len(ends)) ||
		len(early.Timers) != len(ends) {
		t.Errorf("it counts %d blocks to %d, %d skipped, %d ended, want %d ended", early.Blocks, early.To, early.Skipped, early.Ended, len(ends))
	}
	for _, e := range early.Timers {
		if ends[e.ID] != e.At {
			t.Errorf("timer %s ended at %d, want %d", e.ID, e.At, ends[e.ID])
		}
	}
	var refused *refusal.Error
	if err := late.Count(archive, last); !errors.As(err, &refused) || refused.Code != CodeNotKept {
		t.Errorf("blocks that were dropped: %v", err)
	}
	if late.Blocks != 10 || late.To != blocks[9].Block.Header.Height {
		t.Errorf("it counts %d blocks to %d", late.Blocks, late.To)
	}
}

package history

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// kindOf is what a change with such a status and reason is.
func kindOf(status types.TimerStatus, reason string) types.ChangeKind {
	switch {
	case status != types.TimerPending:
		return types.ChangeEnded
	case reason == "":
		return types.ChangeScheduled
	case reason == scheduler.ReasonTriggered:
		return types.ChangeTriggered
	case reason == scheduler.ReasonExtended:
		return types.ChangeExtended
	}
	return types.ChangeDeferred
}

func change(t types.Timer, at types.Height, status types.TimerStatus, reason string, priority uint64) types.TimerChange {
	return types.TimerChange{Kind: kindOf(status, reason), Timer: t, Status: status, At: at, Reason: reason, Priority: types.WeiOf(priority),
		Weight: types.Weight{Num: 3, Den: 2}}
}

// The life of two timers under eip1559: a is moved twice, waits over five blocks
// for two reasons with an extension between, and fires; b is not looked at in
// one of them, and waits on.
func storyChain() (a, b types.Timer, blocks []*ledger.Result) {
	a = types.Timer{ID: types.Hash{7}, Actor: types.Address{1}, Height: 5, Seq: 3, ExpiresAt: 90, ScheduledAt: 1}
	b = types.Timer{ID: types.Hash{8}, Actor: types.Address{2}, Height: 5, Seq: 2, ExpiresAt: 90, ScheduledAt: 1}
	extended := a
	extended.ExpiresAt = 95
	fired := extended
	fired.Deferrals = 5
	end := change(fired, 10, types.TimerFired, "", 4)
	end.CyclesUsed, end.CellsUsed, end.FeePaid, end.TipPaid, end.Result = 100, 2, types.WeiOf(100*(10+6+4)+2*7), types.WeiOf(400),
		types.StatusOK
	wait := types.TimerPending
	blocks = []*ledger.Result{
		at(1, change(a, 1, wait, "", 0), change(b, 1, wait, "", 0)),
		at(2), at(3), at(4),
		at(5, change(b, 5, wait, "lane_full", 3), change(a, 5, wait, "lane_full", 3)),
		at(6, change(b, 6, wait, "lane_full", 3), change(a, 6, wait, "lane_full", 3)),
		at(7, change(extended, 7, wait, "extended", 0), change(b, 7, wait, "lane_full", 3), change(extended, 7, wait, "lane_full", 3)),
		at(8, change(extended, 8, wait, "below_lane_basefee", 0)),
		at(9, change(b, 9, wait, "lane_full", 1), change(extended, 9, wait, "lane_full", 1)),
		at(10, end, change(b, 10, wait, "lane_full", 1)),
	}
	state := stateWith(params.Overrides{"cip1.policy": "eip1559", "cip1.lane_fee_multiplier_permille": "500"})
	for i, r := range blocks {
		h := &r.Block.Header
		h.BaseFeeCycle, h.BaseFeeCell, h.BaseFeeLaneTimer = types.WeiOf(10), types.WeiOf(7), types.WeiOf(uint64(10+i/3))
		h.Proposer, r.State = types.Address{9}, state
		r.Lane = ledger.LaneSummary{Policy: "eip1559", Examined: 2, Cycles: 1_900_000}
	}
	blocks[3].Lane.Moves = []types.TimerMove{{Seq: 3, From: "epoch", To: "ring"}}
	blocks[6].Lane.Moves = []types.TimerMove{{Seq: 2, From: "ring", To: "carry"}, {Seq: 3, From: "ring", To: "carry"}}
	failed := codec.Marshal(&scheduler.GasBidFailed{Bidder: types.Address{1}, Actor: types.Address{1}, TriggerBlockHeight: 5,
		Reason: "reverted"})
	other := codec.Marshal(&scheduler.GasBidFailed{Bidder: types.Address{2}, Actor: types.Address{2}, TriggerBlockHeight: 5,
		Reason: "reverted"})
	blocks[8].Events = []types.Event{{Name: "TimerExpired"}, {Name: scheduler.EventGasBidFailed, Data: other},
		{Name: scheduler.EventGasBidFailed, Data: failed}}
	return a, b, blocks
}

func tell(s *Story) (text string) {
	for _, m := range s.Moves {
		text += fmt.Sprintf("moved %d %s>%s\n", m.At, m.From, m.To)
	}
	for _, n := range s.Notes {
		text += fmt.Sprintf("note %d %s %d\n", n.At, n.Reason, n.ExpiresAt)
	}
	for _, w := range s.Waits {
		text += fmt.Sprintf("waits %d-%d %s %s %s fee %s-%s spare %d\n", w.From, w.To, w.Reason, w.Priority, w.Weight, w.FirstFee, w.LastFee,
			w.LeastSpare)
	}
	for _, f := range s.Failures {
		text += fmt.Sprintf("failed %d %s\n", f.At, f.Reason)
	}
	if s.End != nil {
		text += fmt.Sprintf("end %d %s lane price %s\n", s.End.Height, s.Status, s.End.LanePrice)
	}
	if s.Next != 0 {
		text += fmt.Sprintf("next %d\n", s.Next)
	}
	return text
}

func TestAStoryTellsALifeAndFoldsWhatIsEqual(t *testing.T) {
	archive := Of(mem.NewStore())
	a, b, blocks := storyChain()
	chronicle(t, archive, blocks...)
	p := someState.Params()
	for _, c := range []struct {
		id    types.TimerID
		from  types.Height
		limit int
		want  string
	}{
		{a.ID, 0, 100, `moved 4 epoch>ring
moved 7 ring>carry
note 7 extended 95
waits 5-7 lane_full 3 3/2 fee 11-12 spare 100000
waits 8-8 below_lane_basefee 0 3/2 fee 12-12 spare 100000
waits 9-9 lane_full 1 3/2 fee 12-12 spare 100000
failed 9 reverted
end 10 fired lane price 6
`},
		{a.ID, 6, 2, `moved 4 epoch>ring
moved 7 ring>carry
note 7 extended 95
waits 6-7 lane_full 3 3/2 fee 11-12 spare 100000
end 10 fired lane price 6
next 8
`},
		{b.ID, 8, 100, `moved 7 ring>carry
waits 8-8 not_examined 0  fee 12-12 spare 100000
waits 9-10 lane_full 1 3/2 fee 12-13 spare 100000
failed 9 reverted
`},
	} {
		s, err := archive.Story(p, c.id, c.from, c.limit)
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		if got := tell(s); got != c.want {
			t.Errorf("from %d, at most %d:\n%swant\n%s", c.from, c.limit, got, c.want)
		}
	}
	if s, err := archive.Story(p, types.Hash{1}, 0, 10); s != nil || err != nil {
		t.Error("a timer that never was has a story", s, err)
	}
	record, err := archive.Timer(b.ID)
	if err != nil || record.Timer.Deferrals != 6 || record.Reason != "lane_full" || record.Priority != types.WeiOf(1) ||
		record.Weight.String() != "3/2" {
		t.Errorf("%+v %v", record, err)
	}
}

// A timer that watches a key is due from the block in which that changed.
func TestAWatchingTimerIsDueWhenItIsTriggered(t *testing.T) {
	archive := Of(mem.NewStore())
	w := types.Timer{ID: types.Hash{7}, Actor: types.Address{1}, Height: 2, Seq: 3, ExpiresAt: 90, ScheduledAt: 1,
		Watch: &types.Watch{Actor: types.Address{2}, Key: types.Bytes("price")}}
	chronicle(t, archive, at(1, change(w, 1, types.TimerPending, "", 0)), at(2), at(3))
	record, err := archive.Timer(w.ID)
	if err != nil || record.DueAt != 0 || record.Timer.Deferrals != 0 || record.Examined {
		t.Fatalf("before: %+v %v", record, err)
	}
	chronicle(t, archive, at(4, change(w, 4, types.TimerPending, scheduler.ReasonTriggered, 0),
		change(w, 4, types.TimerPending, "lane_full", 5)),
		at(5, change(w, 5, types.TimerPending, "lane_full", 5)))
	record, err = archive.Timer(w.ID)
	if err != nil || record.DueAt != 4 || record.Timer.Deferrals != 2 || record.Reason != "lane_full" {
		t.Fatalf("after: %+v %v", record, err)
	}
	s, err := archive.Story(someState.Params(), w.ID, 0, 100)
	if want := "note 4 triggered 90\nwaits 4-5 lane_full 5 3/2 fee 0-0 spare 2000000\n"; err != nil || tell(s) != want {
		t.Errorf("%v\n%swant\n%s", err, tell(s), want)
	}
}

// A watcher whose time is over without a change waits for the cleanup lane, which
// defers it as it does every other.
func TestAnExpiredWatcherThatWaitsForTheCleanupLaneIsDeferred(t *testing.T) {
	archive := Of(mem.NewStore())
	w := types.Timer{ID: types.Hash{7}, Actor: types.Address{1}, Height: 2, Seq: 3, ExpiresAt: 3, ScheduledAt: 1,
		Watch: &types.Watch{Actor: types.Address{2}, Key: types.Bytes("price")}}
	chronicle(t, archive, at(1, change(w, 1, types.TimerPending, "", 0)), at(2), at(3))
	if record, err := archive.Timer(w.ID); err != nil || record.Timer.Deferrals != 0 || record.Reason != "" {
		t.Fatalf("at its expires_at: %+v %v", record, err)
	}
	chronicle(t, archive, at(4, change(w, 4, types.TimerPending, "gc_lane_full", 0)),
		at(5, change(w, 5, types.TimerPending, "gc_lane_full", 0)))
	if record, err := archive.Timer(w.ID); err != nil || record.DueAt != 0 || record.Timer.Deferrals != 2 || record.Reason != "gc_lane_full" {
		t.Fatalf("%+v %v", record, err)
	}
}

// A timer that was cancelled after the lane was deferred by its last block, and its
// story shows that; one cancelled before it was not.
func TestAStoryTellsTheDeferralOfTheBlockThatCancelled(t *testing.T) {
	for deferrals, want := range map[uint64]string{
		1: "waits 5-5 lane_full 3 3/2 fee 0-0 spare 2000000\n",
		2: "waits 5-6 lane_full 3 3/2 fee 0-0 spare 2000000\n",
	} {
		archive := Of(mem.NewStore())
		timer := types.Timer{ID: types.Hash{7}, Actor: types.Address{1}, Height: 5, Seq: 3, ExpiresAt: 90, ScheduledAt: 1}
		wait := types.TimerPending
		last := at(6)
		if deferrals == 2 {
			last.Timers = append(last.Timers, change(timer, 6, wait, "lane_full", 3))
		}
		end := timer
		end.Deferrals = deferrals
		last.Timers = append(last.Timers, change(end, 6, types.TimerCancelled, scheduler.ReasonByOwner, 0))
		chronicle(t, archive, at(1, change(timer, 1, wait, "", 0)), at(2), at(3), at(4), at(5, change(timer, 5, wait, "lane_full", 3)), last)
		s, err := archive.Story(someState.Params(), timer.ID, 0, 100)
		if err != nil || tell(s) != want {
			t.Errorf("%d deferrals: %v\n%swant\n%s", deferrals, err, tell(s), want)
		}
	}
}

func TestTheLastLanesAreListedNewestLast(t *testing.T) {
	archive := Of(mem.NewStore())
	_, _, blocks := storyChain()
	chronicle(t, archive, blocks...)
	lanes, err := archive.Lanes(9, 3)
	if err != nil || len(lanes) != 3 || lanes[0].Height != 7 || lanes[2].Height != 9 {
		t.Fatal(lanes, err)
	}
	l, err := archive.Lane(10)
	if err != nil || l.Fired != 1 || l.Deferrals() != 1 || l.Budget != 2_000_000 || l.BaseFeeLane != types.WeiOf(13) ||
		l.FireCycles != 250_000 {
		t.Errorf("%+v %v", l, err)
	}
	if l, err := archive.Lane(11); l != nil || err != nil {
		t.Error(l, err)
	}
}

// Deferred timers are named from their sequence numbers, however far apart
// these are.
func TestDeferredTimersAreNamed(t *testing.T) {
	for _, stride := range []types.Seq{1, 7, 1000} {
		archive := Of(mem.NewStore())
		first, second := at(1), at(9)
		for i := range types.Seq(20) {
			timer := types.Timer{ID: types.Hash{byte(i + 1)}, Actor: types.Address{byte(100 + i)}, Height: 9, Seq: (20 - i) * stride}
			first.Timers = append(first.Timers, change(timer, 1, types.TimerPending, "", 0))
			second.Timers = append(second.Timers, change(timer, 9, types.TimerPending, "lane_full", uint64(i)))
		}
		chronicle(t, archive, first, second)
		marks, err := archive.Deferred(9)
		if err != nil || len(marks) != 20 {
			t.Fatal(marks, err)
		}
		for i, m := range marks {
			if m.ID != (types.Hash{byte(i + 1)}) || m.Actor != (types.Address{byte(100 + i)}) || m.Reason != "lane_full" {
				t.Errorf("stride %d: %d is %+v", stride, i, m)
			}
		}
	}
}

// BenchmarkArchiveStorm: what a block of 50,000 deferrals costs each validator's
// archive, without the store's own work.
func BenchmarkArchiveStorm(b *testing.B) {
	result := at(9)
	result.State = someState
	for i := range types.Seq(50_000) {
		result.Timers = append(result.Timers, types.TimerChange{Kind: types.ChangeDeferred,
			Timer:  types.Timer{ID: types.Keccak(seqKey(i)), Actor: types.Address{byte(i % 100)}, Height: 9, Seq: i},
			Status: types.TimerPending, At: 9, Reason: "lane_full", Priority: types.WeiOf(uint64(i % 10)),
			Weight: types.Weight{Num: 100 + uint64(i%100), Den: 100}})
	}
	b.ReportAllocs()
	for b.Loop() {
		left := writesOf(&Stored{Block: result.Block}, result)
		bytes := 0
		for _, w := range left.writes {
			bytes += len(w.Value)
		}
		b.ReportMetric(float64(bytes)/50_000, "B/deferral")
		b.ReportMetric(float64(len(left.writes)), "writes")
	}
}

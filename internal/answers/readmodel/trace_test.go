package readmodel_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/history"
)

// Every execution of a storm can be repeated, from genesis and from the kept
// states, and its fee adds up to the wei under every policy.
func TestEveryExecutionIsTracedUnderEveryPolicy(t *testing.T) {
	for _, policy := range []string{scheduler.Fifo, scheduler.EIP1559, scheduler.GBA, scheduler.BiasVCG} {
		t.Run(policy, func(t *testing.T) {
			v := stormed(t, policy, 24)
			for h := v.Head().Height; h > 0; h-- {
				b, err := v.Block(h)
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Receipts {
					if i < 3 {
						tracedAlike(t, v, &b.Receipts[i])
					}
				}
			}
		})
	}
}

func tracedAlike(t *testing.T, v answers.Reader, r *types.Receipt) {
	t.Helper()
	trace, err := v.Trace(context.Background(), r.Hash, answers.TraceRequest{})
	if err != nil {
		t.Fatal(err)
	}
	shown := answers.ShowReceipt(r, trace.Receipt.Logs)
	if trace.Receipt.Fee != shown.Fee || trace.Receipt.Status != shown.Status || trace.Receipt.Cycles != shown.Cycles {
		t.Errorf("%s is traced as %+v", r.Hash, trace.Receipt)
	}
	f := trace.Fee
	if f.PerWhat == "none" && !f.Total.IsZero() {
		t.Errorf("%s %s: its fee %s is unknown", r.Origin, r.Hash, f.Total)
	}
	if sum := f.Burned.Cycle.Add(f.Burned.Cell).Add(f.Burned.LaneTimer).Add(f.Tip); sum != f.Total {
		t.Errorf("%s %s: the parts of its fee are %s, all of it is %s", r.Origin, r.Hash, sum, f.Total)
	}
	if r.Origin == types.OriginTimer && !f.Burned.LaneTimer.IsZero() && f.Burned.LaneTimer != f.Lane.Mul(uint64(r.Cycles)) {
		t.Errorf("%s: the lane's part %s is not %d times %s", r.Hash, f.Burned.LaneTimer, r.Cycles, f.Lane)
	}
	if trace.Call == nil && r.Handler != "init" {
		t.Errorf("%s %s: no call", r.Origin, r.Hash)
	}
}

// A request that runs out of time gets its progress, and the next request continues
// there.
func TestATraceThatRunsOutOfTimeGoesOn(t *testing.T) {
	v := stormed(t, scheduler.EIP1559, 30)
	timers, err := v.Timers(history.TimerFilter{Status: types.TimerFired, Page: history.Page{Limit: 1, Newest: true}})
	if err != nil || len(timers) != 1 {
		t.Fatal(timers, err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = v.Trace(over, timers[0].ID, answers.TraceRequest{})
	var refused *refusal.Error
	if !errors.As(err, &refused) || refused.Code != "still_replaying" {
		t.Fatalf("without time: %v", err)
	}
	first, err := v.Trace(context.Background(), timers[0].ID, answers.TraceRequest{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := v.Trace(context.Background(), timers[0].ID, answers.TraceRequest{})
	if err != nil || first.Replayed == 0 || again.Replayed != 0 {
		t.Errorf("%d blocks were executed again, then %d: %v", first.Replayed, again.Replayed, err)
	}
	if nothing, err := v.Trace(context.Background(), types.Hash{1}, answers.TraceRequest{}); nothing != nil || err != nil {
		t.Errorf("of nothing: %v, %v", nothing, err)
	}
	profile := answers.TraceRequest{Profile: true}
	if plain, err := v.Trace(context.Background(), timers[0].ID, profile); err != nil || len(plain.Call.Lines) > 0 {
		t.Errorf("a profile of a sample in Go: %v, %v", plain, err)
	}
}

// A trace has the timer that a call schedules, by its id, and what was printed.
func TestATraceNamesWhatACallMade(t *testing.T) {
	v := stormed(t, scheduler.EIP1559, 12)
	timers, err := v.Timers(history.TimerFilter{Page: history.Page{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := v.Block(timers[0].ScheduledAt)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := v.Trace(context.Background(), b.Receipts[0].Hash, answers.TraceRequest{Sources: true})
	if err != nil || trace.Call == nil {
		t.Fatal(trace, err)
	}
	made := 0
	for _, s := range trace.Call.Steps {
		if s.What == "schedule_timer" && slices.ContainsFunc(timers, func(x answers.Timer) bool { return s.ID != nil && x.ID == *s.ID }) {
			made++
		}
	}
	if made != 10 || len(trace.Sources) != 1 || trace.Call.Status != "ok" {
		t.Errorf("%d timers, %d sources, %s", made, len(trace.Sources), trace.Call.Status)
	}
}

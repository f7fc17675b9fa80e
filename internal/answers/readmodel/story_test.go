package readmodel_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/history"
)

func ref[T any](v T) *T { return &v }

// stormed is a chain on which forty timers are due at height 12, some with a tip
// or a bid, more than fit into a block.
func stormed(t *testing.T, policy string, height types.Height) answers.Reader {
	t.Helper()
	n, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 5}, Validators: 1,
		Params: params.Overrides{"cip1.policy": policy, "cip1.lane_fee_multiplier_permille": "700", "cip1.lane_timer_cycles": "1000000"}})
	if err != nil {
		t.Fatal(err)
	}
	tx, storm := n.Deploy("alice", samples.Code("storm"), types.WeiOf(100*types.CBY))
	n.Submit("v0", tx, nil)
	if err := n.RunToHeight(3, time.Minute); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(4) {
		order := samples.Storm{Count: 10, Height: 12, GasLimit: ref(types.Cycles(100_000)), Use: 50_000 + i, MaxFee: ref(types.WeiOf(1_000_000))}
		if i > 0 {
			order.Priority = ref(types.WeiOf(i))
		}
		if scheduler.BiasVCG == policy || scheduler.BiasFirstPrice == policy {
			order.Bid = ref(types.WeiOf(5000 * (i + 1)))
		}
		payload, err := json.Marshal(order)
		if err != nil {
			t.Fatal(err)
		}
		n.Submit("v0", n.Execute("alice", storm, "make", payload), nil)
	}
	if err := n.RunToHeight(height, time.Minute); err != nil {
		t.Fatal(err)
	}
	source := readmodel.NewSource(n.Genesis, samples.Mux{}, n.Scheme())
	return source.Of(n.Validator("v0"))
}

// Under every policy the story of each timer of a storm adds up: every block it
// was due in is told once, and what its fire paid went somewhere, to the wei.
func TestAStoryAddsUpUnderEveryPolicy(t *testing.T) {
	for _, policy := range []string{scheduler.Fifo, scheduler.EIP1559, scheduler.GBA, scheduler.BiasVCG, scheduler.BiasFirstPrice} {
		t.Run(policy, func(t *testing.T) {
			v := stormed(t, policy, 30)
			timers, err := v.Timers(history.TimerFilter{Page: history.Page{Limit: 100}})
			if err != nil || len(timers) != 40 {
				t.Fatal(len(timers), err)
			}
			var late, tips int
			for i := range timers {
				s, err := v.Story(timers[i].ID, 0, 1000)
				if err != nil {
					t.Fatal(err)
				}
				late += int(addsUp(t, s))
				if paid := s.Entries[len(s.Entries)-1].Paid; paid != nil && !paid.Tip.Add(paid.Payment).IsZero() {
					tips++
				}
			}
			if late == 0 {
				t.Error("no timer waited: this shows nothing")
			}
			if (tips > 0) != (policy != scheduler.Fifo) {
				t.Errorf("%d timers paid the proposer something", tips)
			}
			lane(t, v, timers)
		})
	}
}

// addsUp checks one story, and returns how many blocks deferred the timer.
func addsUp(t *testing.T, s *answers.Story) (waited uint64) {
	t.Helper()
	next := s.Timer.Height
	for _, e := range s.Entries {
		if e.Kind != model.StoryDeferred {
			continue
		}
		if e.From != next || e.Blocks != uint64(e.To-e.From)+1 || e.Priority == nil {
			t.Errorf("timer %s: %+v after block %d", s.Timer.ID, e, next-1)
		}
		next = e.To + 1
		waited += e.Blocks
	}
	end := s.Entries[len(s.Entries)-1]
	if end.Kind != model.StoryFired || end.From != next || waited != s.Timer.Deferrals || s.Entries[0].Kind != model.StoryScheduled {
		t.Errorf("timer %s waited for %d blocks up to %d and ended: %+v", s.Timer.ID, waited, next-1, end)
		return waited
	}
	p := end.Paid
	sum := p.Burned.Cycle.Add(p.Burned.LaneTimer).Add(p.Burned.Cell).Add(p.Tip).Add(p.Payment)
	if sum != p.FeePaid || p.FeePaid != s.Timer.FeePaid || p.MaxCost != p.FeePaid.Sub(p.Payment).Add(p.Refund) || p.CyclesLimit != 100_000 {
		t.Errorf("timer %s: %+v does not add up to %s", s.Timer.ID, p, s.Timer.FeePaid)
	}
	return waited
}

// lane checks that the lane's blocks say the same as the timers.
func lane(t *testing.T, v answers.Reader, timers []answers.Timer) {
	t.Helper()
	lanes, err := v.Lane(1000)
	if err != nil {
		t.Fatal(err)
	}
	var fired, deferred, want uint64
	for _, l := range lanes {
		fired, deferred = fired+l.Fired, deferred+l.Deferred
		if l.TimerCyclesUsed > l.Budget || l.Utilisation != 1000*uint64(l.TimerCyclesUsed)/uint64(l.Budget) {
			t.Errorf("%+v", l)
		}
		b, err := v.Block(l.Height)
		if err != nil {
			t.Fatal(err)
		}
		m := answers.ShowBlock(b)
		if len(m.TimersFired) != int(l.Fired) || len(m.TimersDeferred) != int(l.Deferred) || m.BaseFeeLaneTimer != l.BaseFeeLaneTimer ||
			m.Burned.LaneTimer != l.BurnedLaneTimer {
			t.Errorf("block %d says otherwise: %+v", l.Height, l)
		}
	}
	for i := range timers {
		want += timers[i].Deferrals
	}
	if fired != uint64(len(timers)) || deferred != want {
		t.Errorf("the lane fired %d and deferred %d times, the timers say %d", fired, deferred, want)
	}
}

// A timer that still waits shows the last block's verdict.
func TestAWaitingTimerShowsTheLastVerdict(t *testing.T) {
	v := stormed(t, scheduler.EIP1559, 13)
	timers, err := v.Timers(history.TimerFilter{Status: types.TimerPending, Page: history.Page{Limit: 100}})
	if err != nil || len(timers) == 0 {
		t.Fatal(timers, err)
	}
	m := api.TypesOf(v).Timer(&timers[0])
	if m.Tier == nil || *m.Tier != "carry" || m.Reason != "lane_full" || m.Deferrals != 2 || m.Priority != types.WeiOf(1) ||
		m.Weight != "1/1" || m.EndedAt != nil {
		t.Errorf("%+v", m)
	}
}

// kinds writes a story as its kinds, with the tiers of moves.
func kinds(s *answers.Story) (out []string) {
	for _, e := range s.Entries {
		text := e.Kind
		if e.Tier != "" {
			text += " " + e.TierFrom + ">" + e.Tier
		}
		out = append(out, text)
	}
	return out
}

// A timer far ahead passes through all tiers, one that watches a key waits until that
// changes, and a failed gas bidder is reported; the simulator's oracles check all of it.
func TestAStoryTellsOfTiersAndTriggers(t *testing.T) {
	n, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 5}, Validators: 1, Params: params.Overrides{"cip1.policy": "eip1559",
		"cip1.epoch_blocks": "8", "cip1.ring_buffer_size": "8", "cip1.queue_epochs": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	deploy, storm := n.Deploy("alice", samples.Code("storm"), types.WeiOf(100*types.CBY))
	n.Submit("v0", deploy, nil)
	deploy, counter := n.Deploy("alice", samples.Code("counter"), types.WeiOf(types.CBY))
	n.Submit("v0", deploy, nil)
	reach := func(h types.Height) {
		t.Helper()
		if err := n.RunToHeight(h, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	reach(3)
	// which answers nothing
	for _, order := range []samples.Storm{{Count: 1, Height: 40, Use: 10}, {Count: 1, Height: 12, Use: 10, GBA: &counter},
		{Count: 1, Height: 6, Use: 10, Watch: &types.Watch{Actor: counter, Key: types.Bytes("n")}, ExpiresIn: ref(types.Height(50))}} {
		payload, err := json.Marshal(order)
		if err != nil {
			t.Fatal(err)
		}
		n.Submit("v0", n.Execute("alice", storm, "make", payload), nil)
	}
	reach(20)
	n.Submit("v0", n.Execute("alice", counter, "increment", nil), nil)
	reach(45)
	source := readmodel.NewSource(n.Genesis, samples.Mux{}, n.Scheme())
	v := source.Of(n.Validator("v0"))
	timers, err := v.Timers(history.TimerFilter{Page: history.Page{Limit: 10}})
	if err != nil || len(timers) != 3 {
		t.Fatal(len(timers), err)
	}
	var got []string
	for i := range timers {
		s, err := v.Story(timers[i].ID, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(kinds(s), ", "))
	}
	want := []string{"scheduled >overflow, triggered, fired", "scheduled >epoch, moved epoch>ring, bid_failed, fired",
		"scheduled >overflow, moved overflow>epoch, moved epoch>ring, fired"}
	if !slices.Equal(got, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := n.Judge.Counts(); c.Triggered != 1 || c.Fired != 3 {
		t.Errorf("the oracles saw %+v", c)
	}
}

// Decision C18: the story of a timer names the validators whose hosts failed on it,
// from the state while it is pending, and how that ended it.
func TestAStoryTellsWhoseHostsFailed(t *testing.T) {
	n, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 5}, Validators: 7})
	if err != nil {
		t.Fatal(err)
	}
	tx, heart := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(100).Mul(types.CBY))
	n.Submit("v0", tx, nil)
	if err := n.RunToHeight(3, time.Minute); err != nil {
		t.Fatal(err)
	}
	n.Submit("v0", n.Execute("alice", heart, "start", samples.Number(12)), nil)
	for _, name := range n.Names() {
		if err := n.RunToHeight(6, time.Minute); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Do(fault.Order{Verb: fault.HostFail, Node: name, Actor: heart, How: fault.HostCrashes}); err != nil {
			t.Fatal(err)
		}
	}
	source := readmodel.NewSource(n.Genesis, samples.Mux{}, n.Scheme())
	var seen []int // how many were named, block by block
	for h := n.Tip() + 1; len(seen) == 0 || seen[len(seen)-1] >= 0; h++ {
		if err := n.RunToHeight(h, time.Minute); err != nil {
			t.Fatal(err)
		}
		v := n.Validator("v0")
		timers, err := source.Of(v).Timers(history.TimerFilter{Page: history.Page{Limit: 100}})
		if err != nil || len(timers) != 1 {
			t.Fatal(len(timers), err)
		}
		s, err := source.Of(v).Story(timers[0].ID, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		named := map[types.Address]bool{}
		for _, e := range s.Entries {
			if (e.Proposer != nil) != (e.Kind == model.StoryDeferred && e.Reason == scheduler.ReasonHostFailed) {
				t.Errorf("%+v", e)
			}
			if e.Proposer != nil {
				named[*e.Proposer] = true
			}
		}
		if s.Timer.EndedAt == 0 {
			blamed := v.Head().State.FailedOver(timers[0].ID)
			if len(blamed) != len(named) || slices.ContainsFunc(blamed, func(a types.Address) bool { return !named[a] }) {
				t.Errorf("height %d: the story names %v, state %v", h, named, blamed)
			}
			seen = append(seen, len(named))
			continue
		}
		end := s.Entries[len(s.Entries)-1]
		if end.Paid == nil || end.Paid.Status != string(types.StatusHostFailed) || named[end.Paid.Proposer] {
			t.Errorf("it ended as %+v", end)
		}
		seen = append(seen, -1)
	}
	if !slices.Contains(seen, 1) || !slices.Contains(seen, 2) {
		t.Errorf("block by block %v were named", seen)
	}
}

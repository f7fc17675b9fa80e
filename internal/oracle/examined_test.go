package oracle

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// siege is a chain under the first revision that examines two timers a block. Four are
// due at 2, by sequence; each block from 2 on examines the timers in seen. All wait for
// the reason.
func siege(reason string, arrears uint64, seen ...[2]types.Seq) *Judge {
	r := rules()
	r.Lane.Policy, r.Lane.Examined, r.Lane.Arrears = firstRevision, 2, arrears
	parent, j := r.Genesis, New(r)
	all := make([]types.Timer, 4)
	for seq := range all {
		all[seq] = timer(2, uint64(seq), types.Seq(seq))
		all[seq].ExpiresAt = 99
	}
	for i := range 1 + len(seen) {
		o := Observation{Block: &types.Block{}, Lane: r.Lane}
		at := types.Height(i + 1)
		for seq := range all {
			c := types.TimerChange{Kind: types.ChangeDeferred, Timer: all[seq], Status: types.TimerPending, At: at, Reason: reason}
			c.Timer.Deferrals = uint64(i)
			if i == 0 {
				c.Kind, c.Reason = types.ChangeScheduled, ""
			} else if s := seen[i-1]; s[0] != types.Seq(seq) && s[1] != types.Seq(seq) {
				continue
			}
			o.Timers = append(o.Timers, c)
		}
		seal(&o, parent)
		parent = o.Block
		j.Observe(o)
	}
	return j
}

// Decision T16: who could not pay comes last, the longest ago first; who could
// stays where he was.
func TestTheOrderOfExaminingIsJudged(t *testing.T) {
	const forgotten = "neither ended nor was deferred"
	type pairs = [][2]types.Seq
	for _, test := range []struct {
		name, reason string
		seen         pairs
		text         string // "": not accused
	}{
		{"in turn", "insufficient_funds", pairs{{0, 1}, {2, 3}, {0, 1}, {2, 3}}, ""},
		{"priced out, in turn", "below_basefee_cycle", pairs{{0, 1}, {2, 3}, {0, 1}}, ""},
		{"the same again", "insufficient_funds", pairs{{0, 1}, {0, 1}}, forgotten},
		{"not the longest ago", "insufficient_funds", pairs{{0, 1}, {2, 3}, {2, 3}}, forgotten},
		{"one of each", "insufficient_funds", pairs{{0, 1}, {1, 2}}, forgotten},
		{"one block, the higher sequence", "insufficient_funds", pairs{{0, 1}, {2, 3}, {0, 2}}, forgotten},
		{"no room, the same again", "lane_full", pairs{{0, 1}, {0, 1}}, ""},
		{"no room, and after the others", "lane_full", pairs{{0, 1}, {2, 3}}, forgotten},
		{"skipped, the same again", "not_begun", pairs{{0, 1}, {0, 1}}, ""},
		{"skipped, and after the others", "not_begun", pairs{{0, 1}, {2, 3}}, forgotten},
		{"insolvent and unburied, in turn", "gc_lane_full", pairs{{0, 1}, {2, 3}}, ""},
		{"insolvent and unburied, again", "gc_lane_full", pairs{{0, 1}, {0, 1}}, forgotten},
	} {
		j := siege(test.reason, 2, test.seen...)
		if test.text != "" {
			accused(t, test.name, j, "timers", test.text)
			continue
		}
		for _, v := range j.Violations() { // of others too: no header says why a timer was skipped
			if v.Oracle == "timers" {
				t.Errorf("%s: %v", test.name, v)
			}
		}
	}
}

// Decision T16: a block examines at most max_arrears_examined timers in arrears, in
// turn, though it has room for others.
func TestTheBoundOfTimersInArrearsIsJudged(t *testing.T) {
	const poor = "insufficient_funds"
	type pairs = [][2]types.Seq
	for _, test := range []struct {
		seen         pairs // twice the same: one is examined
		oracle, text string
	}{
		{seen: pairs{{0, 1}, {2, 3}, {0, 0}, {1, 1}, {2, 2}}},
		{pairs{{0, 1}, {2, 3}, {1, 1}}, "timers", "neither ended nor was deferred"},
		{pairs{{0, 1}, {2, 3}, {0, 1}}, "lane", "the block examined 2 due timers in arrears, at most 1"},
	} {
		j := siege(poor, 1, test.seen...)
		if test.text != "" {
			accused(t, test.text, j, test.oracle, test.text)
			continue
		}
		for _, v := range j.Violations() {
			if v.Oracle == "timers" || v.Oracle == "lane" {
				t.Error(v)
			}
		}
	}
}

// Decision T16: an expired timer may be examined in addition to the others, whatever
// its rank, and is not one of them. An earlier expired one may not be left out for it.
func TestExpiredTimersAreExaminedBeside(t *testing.T) {
	const h = 9
	at := func(seq types.Seq, expires types.Height) *life {
		return &life{timer: types.Timer{Seq: seq, ExpiresAt: expires}}
	}
	e := examinedTimers{full: true, live: at(4, 99), expired: at(8, 1)}
	for _, test := range []struct {
		seq     types.Seq
		expires types.Height
		allowed bool
	}{{3, 99, false}, {5, 99, true}, {9, 99, true}, {3, 1, false}, {5, 1, false}, {7, h - 1, false}, {7, h, true}, {9, 1, true}} {
		if got := e.leftOut(at(test.seq, test.expires), h); got != test.allowed {
			t.Errorf("sequence %d, expiring at %d, may be left out: %v", test.seq, test.expires, got)
		}
	}
	if e.full = false; e.leftOut(at(9, 99), h) {
		t.Error("a block that examined fewer than it may leaves out one")
	}
}

// Decision T16: max_examined are examined, and in addition at most as many expired ones
// as the cleanup lane takes.
func TestMoreThanMayBeExaminedIsFound(t *testing.T) {
	for _, test := range []struct {
		live, expired int
		budget        types.Cycles
		full          bool
		text          string
	}{
		{live: 1, expired: 3, budget: 15},
		{live: 2, expired: 3, budget: 15, full: true},
		{live: 0, expired: 5, budget: 15, full: true},
		{live: 3, full: true, text: "the block examined 3 due timers, at most 2 and 0 expired ones"},
		{live: 2, expired: 1, budget: 4, full: true, text: "the block examined 3 due timers, at most 2 and 0 expired ones"},
		{live: 2, expired: 3, budget: 10, full: true, text: "the block examined 5 due timers, at most 2 and 2 expired ones"},
	} {
		j, text := judge(), ""
		o := Observation{Block: &types.Block{Header: types.Header{Height: 9}}}
		for n := range test.live + test.expired {
			at := timer(2, uint64(n), types.Seq(n))
			c := types.TimerChange{Kind: types.ChangeDeferred, Timer: at, Status: types.TimerPending, At: 9, Reason: reasonGC}
			l := &life{timer: at}
			if l.timer.ExpiresAt = 99; n >= test.live {
				l.timer.ExpiresAt = 8
			}
			j.timers.pending[at.ID] = l
			o.Timers = append(o.Timers, c)
		}
		r := &laneOf{Judge: j, o: &o, rules: &LaneRules{Examined: 2, Arrears: 9, GCBudget: test.budget, GCPerTimer: 5},
			wrong: func(format string, args ...any) { text = fmt.Sprintf(format, args...) }}
		if r.gatherExaminedTimers(); text != test.text || j.timers.examined.full != test.full {
			t.Errorf("%+v: said %q, full %v", test, text, j.timers.examined.full)
		}
	}
}

// Decision T16: a block may leave out a live timer that follows the last live one it
// examined. The examined timers are therefore sorted by their expiry. The last of each
// kind is known separately, whether the block ended it or only reached it.
func TestExaminedTimersAreSortedByTheirExpiry(t *testing.T) {
	const h, late, early = 9, 99, 8
	type one struct {
		seq     types.Seq
		expires types.Height
		ended   bool
	}
	for _, test := range []struct {
		name          string
		changes       []one
		live, expired types.Seq // the last of each kind, 0 for none
	}{
		{"a live one, and a later expired one", []one{{1, late, false}, {5, early, false}}, 1, 5},
		{"an expired one, and a later live one", []one{{1, early, false}, {5, late, false}}, 5, 1},
		{"a later one that the block ended as expired", []one{{1, late, false}, {5, early, true}}, 1, 5},
		{"a timer at its last height", []one{{1, h, false}, {2, h - 1, false}}, 1, 2},
		{"none that expired", []one{{3, late, false}, {2, late, false}}, 3, 0},
		{"none that lives", []one{{3, early, true}, {2, early, false}}, 0, 3},
	} {
		j := judge()
		o := Observation{Block: &types.Block{Header: types.Header{Height: h}}}
		for _, it := range test.changes {
			at := timer(2, uint64(it.seq), it.seq)
			at.ExpiresAt = it.expires
			j.timers.pending[at.ID] = &life{timer: at}
			c := types.TimerChange{Kind: types.ChangeDeferred, Timer: at, Status: types.TimerPending, At: h, Reason: reasonGC}
			if it.ended {
				c.Kind, c.Status, c.Reason = types.ChangeEnded, types.TimerExpired, ""
			}
			o.Timers = append(o.Timers, c)
		}
		r := &laneOf{Judge: j, o: &o, rules: &LaneRules{Examined: 1, Arrears: 9, GCBudget: 5, GCPerTimer: 5}, wrong: func(string, ...any) {}}
		r.gatherExaminedTimers()
		e := j.timers.examined
		seq := func(l *life) types.Seq {
			if l == nil {
				return 0
			}
			return l.timer.Seq
		}
		if seq(e.live) != test.live || seq(e.expired) != test.expired {
			t.Errorf("%s: the last live one has sequence %d, want %d; the last expired one %d, want %d",
				test.name, seq(e.live), test.live, seq(e.expired), test.expired)
		}
		between := timer(2, 4, 4)
		between.ExpiresAt = late
		if got, want := e.leftOut(&life{timer: between}, h), e.full && test.live < 4; got != want {
			t.Errorf("%s: a live timer of sequence 4 may be left out: %v, want %v", test.name, got, want)
		}
	}
}

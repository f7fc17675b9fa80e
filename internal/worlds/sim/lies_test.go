package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// lying makes validators lie.
func (l *labour) lying(kind string, names ...string) (all []*Effect) {
	l.Helper()
	for _, name := range names {
		all = append(all, l.order(fault.Order{Verb: fault.Misbehave, Node: name, Kind: kind}))
	}
	return all
}

// One validator of four that lies about jobs costs no job and no honest runner its
// reputation.
func TestALiarAmongValidatorsCostsNoJob(t *testing.T) {
	for _, kind := range []string{"false_commit", "false_cancel", "withhold_result", "double_assign", "misshape_presence", "choose_votes"} {
		t.Run(kind, func(t *testing.T) {
			l := crewOfSix(t)
			r := l.lying(kind, "v0")[0]
			for range 4 {
				agreed, _ := l.done(echo(6, push.Deterministic))
				if len(agreed) != 6 {
					t.Fatalf("%d of 6 agree; %v", len(agreed), r)
				}
				if agreed, _ = l.done(echo(1, push.None)); len(agreed) != 1 {
					t.Fatalf("%d of 1 agree; %v", len(agreed), r)
				}
			}
			if r.Idle() {
				t.Error("it did nothing")
			}
			for _, name := range l.Runners() {
				if got := l.bestValidator().Head().State.Runner(l.findNode(name).address).Reputation; got < 75 {
					t.Errorf("%s lost reputation: %d", name, got)
				}
			}
		})
	}
}

// Decision J9's findings: under quorum, the rule as it is written, one liar of four has
// a runner present that nobody sees, where blocks carry three votes; under safe neither
// does it, nor does it hide one that all see.
func TestJ9WhatOneLiarOfFourDoesToPresence(t *testing.T) {
	for _, c := range []struct {
		rule             string
		ghost, forgotten bool
	}{{"quorum", true, false}, {"safe", false, false}} {
		t.Run(c.rule, func(t *testing.T) {
			run := func(kind string) (ghost, forgotten int) {
				l := labouring(t, NetworkConfig{World: quick(1), Runners: 3, Params: params.Overrides{"cip11.presence_rule": c.rule}})
				l.blocks(5)
				l.order(fault.Order{Verb: fault.Drop, Node: "r0"})
				for _, to := range []string{"v0", "v1", "v2"} { // its votes come late: blocks carry three
					l.Link("v3", to, Link{Latency: 1500 * time.Millisecond, OneWay: true})
				}
				l.blocks(5)
				r := l.lying(kind, "v0")[0]
				from := l.Tip() + 1
				l.blocks(24)
				for h := from; h <= l.Tip(); h++ {
					if p := l.presence[h].Bitmap; p.Has(0) {
						ghost++
					} else if !p.Has(1) || !p.Has(2) {
						forgotten++
					}
				}
				if r.Idle() {
					t.Errorf("%s did nothing", kind)
				}
				return ghost, forgotten
			}
			if ghost, _ := run("fabricate_presence"); (ghost > 0) != c.ghost {
				t.Errorf("a runner that is gone was present in %d blocks", ghost)
			}
			if _, forgotten := run("suppress_presence"); (forgotten > 0) != c.forgotten {
				t.Errorf("a runner that is there was absent in %d blocks", forgotten)
			}
		})
	}
}

// CIP-11 §8.1: a leader may carry any quorum of votes. Under quorum, the rule as it is
// written, one of ten that leaves three out hides a runner in the blocks that it
// proposes, though nobody lies about what it sees; under safe it hides nobody.
func TestJ9WhatALeaderThatChoosesVotesDoesToPresence(t *testing.T) {
	for _, rule := range []string{"quorum", "safe"} {
		t.Run(rule, func(t *testing.T) {
			var liar types.Address
			led, hidden := 0, 0
			l := labouring(t, NetworkConfig{World: quick(1), Validators: 10, Runners: 3, Params: params.Overrides{"cip11.presence_rule": rule},
				Final: func(_ types.Time, r *ledger.Result) {
					there := r.Presence.Bitmap.Has(0)
					switch {
					case r.Block.Header.Proposer == liar && !there:
						hidden++
					case r.Block.Header.Proposer != liar && !there && !liar.IsZero():
						t.Errorf("r0 is absent from a block of somebody else's, %d", r.Block.Header.Height)
					}
					if r.Block.Header.Proposer == liar {
						led++
					}
				}})
			l.blocks(6)
			r := l.lying("choose_votes", "v0")[0]
			liar = l.Key("v0").Address()
			l.blocks(40)
			if led == 0 || r.Idle() {
				t.Fatalf("it led %d blocks: %v", led, r)
			}
			if (hidden > 0) != (rule == "quorum") {
				t.Errorf("r0 is hidden in %d of its %d blocks", hidden, led)
			}
		})
	}
}

// Without any fault, where some votes come too late to be carried, quorum counts those
// of validators that a runner does not belong to: at 10 validators runners flicker, at
// 31 none is ever present. Under safe all always are.
func TestJ9WhatRulesDoWithoutFaults(t *testing.T) {
	for _, c := range []struct {
		rule       string
		validators int
		never      bool // is a runner present
		always     bool // are all
	}{
		{"quorum", 4, false, true}, {"quorum", 10, false, false}, {"quorum", 31, true, false},
		{"safe", 4, false, true}, {"safe", 10, false, true}, {"safe", 31, false, true},
	} {
		t.Run(fmt.Sprint(c.rule, " ", c.validators), func(t *testing.T) {
			l := labouring(t, NetworkConfig{World: quick(1), Validators: c.validators, Runners: 12,
				Params: params.Overrides{"cip11.presence_rule": c.rule}})
			for i, name := range l.Names() {
				for _, other := range l.Names()[:i] {
					l.Link(name, other, Link{Latency: 20 * time.Millisecond, Jitter: 900 * time.Millisecond})
				}
			}
			l.blocks(6)
			from, least, most := l.Tip()+1, 12, 0
			l.blocks(20)
			for h := from; h <= l.Tip(); h++ {
				count := l.presence[h].Bitmap.Count()
				least, most = min(least, count), max(most, count)
			}
			if (most == 0) != c.never || (least == 12) != c.always {
				t.Errorf("%d to %d of 12 runners are present", least, most)
			}
		})
	}
}

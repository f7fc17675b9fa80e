package system

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The audit accuses an index of returns that names anybody but the runner that left, at its
// place, and one that lacks it. It shows the index as it is to be right.
func TestTheAuditHoldsTheIndexOfReturns(t *testing.T) {
	for name, plant := range map[string]func(w *world, left *Runner) (accused string){
		"as it is": func(*world, *Runner) string { return "" },
		"a runner that stays": func(w *world, left *Runner) string {
			stays := w.address("r0")
			w.state.Set(keyLeaving(left.ReturnsAt, w.runner("r0").Index), stays[:])
			return "the index of returns names"
		},
		"nobody's address": func(w *world, left *Runner) string {
			w.state.Set(keyLeaving(left.ReturnsAt, left.Index), types.TreasuryAddress[:])
			return "the index of returns names"
		},
		"another place": func(w *world, left *Runner) string {
			w.state.Set(keyLeaving(left.ReturnsAt, left.Index), nil)
			w.state.Set(keyLeaving(left.ReturnsAt, left.Index+7), left.Address[:])
			return "the index of returns names"
		},
		"a runner with a job": func(w *world, left *Runner) string {
			drawn := w.committee(w.drawn(spec(1)))[0]
			w.must(w.registry("alice", "deregister", Naming{Runner: w.address(drawn)}))
			busy := w.runner(drawn)
			w.state.Set(keyLeaving(left.ReturnsAt, busy.Index), busy.Address[:])
			return "the index of returns names"
		},
		"a runner whose place is free": func(w *world, left *Runner) string {
			for w.runner("r1").holdsPlace() {
				w.end()
			}
			w.state.Set(keyLeaving(w.block.Height, left.Index), left.Address[:])
			return "the index of returns names"
		},
		"none": func(w *world, left *Runner) string {
			w.state.Set(keyLeaving(left.ReturnsAt, left.Index), nil)
			return "the index of returns lacks 1 runners"
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.register("r0", "r1")
			w.end()
			w.must(w.registry("alice", "deregister", Naming{Runner: w.address("r1")}))
			accused := plant(w, w.runner("r1"))
			err := Audit(w.state, w.block.Height)
			if (err == nil) != (accused == "") || err != nil && !strings.Contains(err.Error(), accused) {
				t.Errorf("got %v, want %q", err, accused)
			}
		})
	}
}

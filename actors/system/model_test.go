package system

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// TestAnyLifeOfJobs: whatever owners, submitters, runners and lying validators do,
// in any order, the books add up to the wei after each block, every job ends exactly
// once, and when all ended and all runners left nothing stays behind.
func TestAnyLifeOfJobs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, func(p *params.Params) {
			p.MaxDraws = rapid.Uint64Range(1, 4).Draw(rt, "max draws")
			p.MaxRetries = rapid.Uint64Range(0, 2).Draw(rt, "max retries")
			p.HeartbeatTxBlocks, p.EpochBlocks = 2, 2
		})
		names := []string{"r0", "r1", "r2", "r3", "r4"}
		ended, open := map[types.Hash]int{}, []types.Hash{}
		follow := func() {
			for _, e := range w.past {
				switch e.Name {
				case "job.completed", "job.failed", "job.cancelled":
					var event JobEvent
					if err := codec.Unmarshal(e.Data, 10_000, &event); err != nil {
						rt.Fatal(err)
					}
					ended[event.ID]++
				}
			}
		}
		runner := func() string { return rapid.SampledFrom(names).Draw(rt, "runner") }
		job := func() types.Hash {
			if len(open) == 0 {
				return types.Hash{}
			}
			return rapid.SampledFrom(open).Draw(rt, "job")
		}
		step := func(heights types.Height) {
			w.end(heights)
			follow()
		}
		for range rapid.IntRange(20, 120).Draw(rt, "steps") {
			switch rapid.IntRange(0, 13).Draw(rt, "what") {
			case 0:
				w.registry("alice", "register", w.registration("alice", runner()))
			case 1:
				handler := rapid.SampledFrom([]string{"pause", "resume", "deregister"}).Draw(rt, "handler")
				w.registry("alice", handler, Naming{Runner: w.address(runner())})
			case 2:
				w.absent[runner()] = rapid.Bool().Draw(rt, "absent")
			case 3, 4:
				s := spec(rapid.Uint64Range(1, 3).Draw(rt, "runners"))
				s.TimeoutBlocks = rapid.Uint64Range(2, 6).Draw(rt, "timeout")
				s.Bounds.MaxRetries = rapid.Uint64Range(1, 3).Draw(rt, "retries")
				if rapid.Bool().Draw(rt, "callback") {
					s.Callback = &push.Callback{Actor: types.Address{9}, Handler: "done", CorrelationID: []byte{}, Context: []byte{}}
				}
				if id, code := w.submit("bob", s); code == "" {
					open = append(open, id)
				}
			case 5:
				id := job()
				w.call("bob", types.DispatcherAddress, "cancel", id[:])
			case 6, 7:
				w.commit(rapid.SampledFrom([]string{"v0", "v1"}).Draw(rt, "validator"), job(), runner(),
					rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "result"))
			case 8, 9:
				w.reveal(rapid.SampledFrom([]string{OpReveal, OpResult}).Draw(rt, "op"), job(), runner(),
					rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "result"))
			case 10:
				w.refuse("v0", job(), runner())
			default:
				step(types.Height(rapid.IntRange(0, 3).Draw(rt, "heights")))
			}
		}
		for blocks := 0; JobsOf(w.state).Open > 0; blocks++ {
			if blocks > 2000 {
				rt.Fatal("jobs stay open without end")
			}
			step(0)
		}
		step(0)
		for _, id := range open {
			if ended[id] != 1 {
				rt.Fatalf("job %s ended %d times", id, ended[id])
			}
		}
		for _, name := range names {
			if r := w.runner(name); r != nil && r.ActiveJobs != 0 {
				rt.Fatalf("%s is busy with nothing", name)
			}
			w.registry("alice", "deregister", Naming{Runner: w.address(name)})
		}
		for range 5 {
			step(0)
		}
		if left := fmt.Sprint(w.balance(types.RegistryAddress), w.balance(types.DispatcherAddress),
			w.balance(types.VerifierAddress)); left != "0 0 0" {
			rt.Fatalf("the system actors keep %s wei without an owner", left)
		}
	})
}

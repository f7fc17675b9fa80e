package sim

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// pulse deploys a heartbeat that schedules itself every so many blocks.
func pulse(t testing.TB, n *Network, every uint64) types.Address {
	t.Helper()
	deploy, heart := n.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(500_000).Mul(types.CBY))
	n.Submit("v0", deploy, nil)
	n.Submit("v1", n.Execute("alice", heart, "start", samples.Number(every)), nil)
	return heart
}

func reach(t testing.TB, n *Network, h types.Height) {
	t.Helper()
	if err := n.RunToHeight(h, time.Hour); err != nil {
		t.Fatal(err)
	}
}

func advance(t testing.TB, n *Network, target history.Target) *history.Advance {
	t.Helper()
	receipt, err := n.Advance(target)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// C8: heights at which nothing is due have no block, each timer on the way fires
// at its own height, and timestamps rise by the block time a height, whatever
// the block time is.
func TestAnAdvanceSkipsAllButWhatIsDue(t *testing.T) {
	for _, c := range []struct {
		name      string
		overrides params.Overrides
		blockTime int64 // ms
		most      uint64
	}{
		{"a second", params.Overrides{"chain.epoch_blocks": "1000000"}, 1000, 24},
		{"epochs of 64", params.Overrides{}, 1000, 56},
		{"none", params.Overrides{"chain.epoch_blocks": "1000000", "chain.block_time_ms": "0"}, 0, 24},
		{"auto", params.Overrides{"chain.epoch_blocks": "1000000", "chain.block_time_auto": "true"}, 1000, 24},
	} {
		for _, paused := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, paused %v", c.name, paused), func(t *testing.T) {
				world := quick(7)
				world.Link.Latency = 5 * time.Millisecond
				n := aNetwork(t, NetworkConfig{World: world, Params: c.overrides})
				pulse(t, n, 100)
				scheduled := func() bool { return n.bestValidator().Head().State.TimersPending() == 1 } // with auto no block need follow that
				if err := n.RunUntil(scheduled, n.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				if paused {
					n.Pause()
					letRun(t, n.World, 10*time.Second)
				}
				before := n.bestValidator().Head().Block.Header
				receipt := advance(t, n, history.Target{Blocks: 2000})
				if receipt.From != before.Height || receipt.To != before.Height+2000 || receipt.Blocks+receipt.Skipped != 2000 {
					t.Errorf("%+v", receipt)
				}
				if receipt.Fired < 19 || receipt.Fired > 20 || receipt.Latest() != 0 || receipt.Blocks > c.most {
					t.Errorf("%d fired, the latest %d late, %d blocks", receipt.Fired, receipt.Latest(), receipt.Blocks)
				}
				stored, err := n.bestValidator().Archive().Block(receipt.To)
				if err != nil || stored == nil {
					t.Fatal(stored, err)
				}
				took := int64(stored.Block.Header.Timestamp - before.Timestamp)
				if off := took - 2000*c.blockTime; c.blockTime > 0 && (off < -4000 || off > 4000) {
					t.Errorf("timestamps moved by %d ms over 2000 heights", took)
				}
				if paused {
					letRun(t, n.World, time.Minute)
					if n.Tip() != receipt.To {
						t.Errorf("paused at %d, and went on to %d", receipt.To, n.Tip())
					}
					n.Resume()
				}
				if c.name == "auto" {
					letRun(t, n.World, time.Minute)
					if n.Tip() != receipt.To {
						t.Errorf("there was nothing to do after %d, and it went on to %d", receipt.To, n.Tip())
					}
					return
				}
				reach(t, n, receipt.To+3)
			})
		}
	}
}

// Where the next timer is due is where an advance to it ends.
func TestAnAdvanceToTheNextTimer(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(8), Params: params.Overrides{"chain.epoch_blocks": "5000"}})
	if _, err := n.Advance(history.Target{NextTimer: true}); !refused(err, history.CodeNoTimer) {
		t.Fatal(err)
	}
	pulse(t, n, 4321)
	reach(t, n, 3)
	first := advance(t, n, history.Target{NextTimer: true})
	second := advance(t, n, history.Target{NextTimer: true})
	if first.Fired != 1 || second.Fired != 1 || second.To-first.To != 4321 || second.Timers[0].At != second.To ||
		second.Timers[0].Due != second.To {
		t.Errorf("%+v, %+v", first, second)
	}
}

func refused(err error, code string) bool {
	var refused *refusal.Error
	return errors.As(err, &refused) && refused.Code == code
}

func TestAnAdvanceIsRefused(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(9)})
	reach(t, n, 5)
	for _, c := range []struct {
		target history.Target
		code   string
	}{
		{history.Target{}, history.CodeBadTarget},
		{history.Target{Blocks: 1, To: 9}, history.CodeBadTarget},
		{history.Target{To: 5}, history.CodeHeightPassed},
		{history.Target{Blocks: 1 << 63}, history.CodeTooFar},
		{history.Target{To: 1 << 63}, history.CodeTooFar},
		{history.Target{NextTimer: true}, history.CodeNoTimer},
	} {
		if _, err := n.Advance(c.target); !refused(err, c.code) {
			t.Errorf("%+v: %v", c.target, err)
		}
	}
	strict := aNetwork(t, NetworkConfig{World: quick(9), Params: params.Overrides{"chain.cheats": "false"}})
	reach(t, strict, 2)
	if _, err := strict.Advance(history.Target{Blocks: 9}); !refused(err, history.CodeStrict) {
		t.Error(err)
	}
}

// A parameter that changes at a height does so in a block of that height.
func TestAnAdvanceStopsAtAParameter(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(10), Params: params.Overrides{"chain.epoch_blocks": "5000"}})
	reach(t, n, 2)
	if _, err := n.SetParam(t.Context(), "cip3.min_basefee", "77", 1234); err != nil {
		t.Fatal(err)
	}
	reach(t, n, 6)
	advance(t, n, history.Target{To: 3000})
	if stored, err := n.bestValidator().Archive().Block(1234); err != nil || stored == nil {
		t.Errorf("height 1234 was skipped: %v", err)
	}
	if got := n.bestValidator().Head().State.Params().MinBaseFee; got != types.WeiOf(77) {
		t.Errorf("min_basefee is %s", got)
	}
	if _, err := n.SetParam(t.Context(), "chain.epoch_blocks", "9", 0); err == nil {
		t.Error("a parameter of genesis was set")
	}
}

// The same seed gives the same run, clocks that move included; and a leader that
// crashes amid an advance, and one that is down all the while, hold up nobody
// for good and catch up over skipped heights.
func TestAnAdvanceUnderCrashesIsOneRun(t *testing.T) {
	run := func(epoch string) string {
		world := quick(11)
		world.Link.Latency, world.Link.Jitter, world.Link.Loss = 5*time.Millisecond, 3*time.Millisecond, 0.02
		n := aNetwork(t, NetworkConfig{World: world, Params: params.Overrides{"chain.epoch_blocks": epoch}})
		pulse(t, n, 50)
		reach(t, n, 5)
		n.Crash("v3")
		n.After(300*time.Millisecond, func() { n.Boot("v3"); n.Crash("v1") })
		n.After(1500*time.Millisecond, func() { n.Boot("v1"); n.Crash("v2") })
		n.After(60*time.Second, func() { n.Boot("v2") })
		receipt := advance(t, n, history.Target{Blocks: 5000})
		if receipt.Fired < 99 || receipt.Latest() != 0 {
			t.Errorf("%d fired, the latest %d late", receipt.Fired, receipt.Latest())
		}
		letRun(t, n.World, 2*time.Minute)
		for _, name := range []string{"v1", "v2", "v3"} {
			if !n.Running(name) {
				t.Errorf("%s is down", name)
			}
		}
		reach(t, n, n.Tip()+5)
		return n.Digest().String()
	}
	for _, epoch := range []string{"64", "100000"} {
		if a, b := run(epoch), run(epoch); a != b {
			t.Errorf("epochs of %s: two runs differ: %s, %s", epoch, a, b)
		}
	}
}

// A paused network does nothing at all: no block, no view, no record in a log.
// What is handed in waits in the pool.
func TestPauseStandsStill(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(12)})
	reach(t, n, 5)
	n.Pause()
	n.Pause()
	letRun(t, n.World, 20*time.Second)
	at, view, steps, logged := n.Tip(), n.Validator("v0").Status().Round.View, n.Steps(), n.logged()
	taken := false
	n.Submit("v1", n.Transfer("bob", n.Key("alice").Address(), types.WeiOf(7)), func(_ types.Hash, err error) { taken = err == nil })
	letRun(t, n.World, 24*time.Hour)
	if n.Tip() != at || n.Validator("v0").Status().Round.View != view || n.logged() != logged || n.Steps() > steps+100 {
		t.Errorf("height %d to %d, view %d to %d, %d bytes logged to %d, %d steps", at, n.Tip(), view,
			n.Validator("v0").Status().Round.View, logged, n.logged(), n.Steps()-steps)
	}
	if !taken || n.Validator("v3").Status().Pool != 1 {
		t.Error("the pools did not take a transaction")
	}
	n.Crash("v2")
	if err := n.Boot("v2"); err != nil {
		t.Fatal(err)
	}
	letRun(t, n.World, time.Minute)
	if n.Tip() != at {
		t.Error("a validator that came back made blocks")
	}
	n.Resume()
	n.Resume()
	reach(t, n, at+3)
	if n.Validator("v3").Status().Pool != 0 {
		t.Error("the transaction was not included")
	}
}

func (n *Network) logged() (bytes int64) {
	for _, one := range n.nodes {
		bytes += one.process.validatorEnv().Log.Size()
	}
	return bytes
}

// C6: who joins starts from nothing, catches up and votes from its first epoch
// on; who leaves stops at the epoch's end; the others go on.
func TestJoinAndLeave(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(13), Params: params.Overrides{"chain.epoch_blocks": "16"}})
	reach(t, n, 20)
	if _, err := n.Join(t.Context(), "v4"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, 24)
	if got := n.Status("v4"); got != history.StatusJoining {
		t.Errorf("v4 is %s", got)
	}
	reach(t, n, 40)
	if got := n.Status("v4"); got != history.StatusActive || !n.votes("v4") {
		t.Errorf("v4 is %s, votes %v", got, n.votes("v4"))
	}
	if _, err := n.Leave(t.Context(), "v0"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, 45)
	if got := n.Status("v0"); got != history.StatusLeaving || !n.Running("v0") {
		t.Errorf("v0 is %s", got)
	}
	reach(t, n, 52)
	if got := n.Status("v0"); got != history.StatusLeft || n.Running("v0") {
		t.Errorf("v0 is %s, running %v", got, n.Running("v0"))
	}
	if _, err := n.Join(t.Context(), "v0"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, 70)
	if got := n.Status("v0"); got != history.StatusActive || !n.votes("v0") {
		t.Errorf("v0 is %s again", got)
	}
	for _, name := range []string{"v0", "alice"} {
		if _, err := n.Join(t.Context(), name); err == nil {
			t.Errorf("%s joined twice", name)
		}
	}
	if _, err := n.Leave(t.Context(), "v9"); err == nil {
		t.Error("v9, who is not there, left")
	}
}

// votes says whether one of the newest blocks carries a vote of a validator.
func (n *Network) votes(name string) bool {
	for h := n.reached(); h+10 > n.reached(); h-- {
		stored, err := n.bestValidator().Archive().Block(h)
		if err != nil || stored == nil {
			return false
		}
		for _, vote := range stored.Block.Parent.Votes {
			if vote.Validator == n.Key(name).Address() {
				return true
			}
		}
	}
	return false
}

// A joiner that goes away before its first vote and comes back after 1,000
// blocks catches up from peers that keep going, and votes within 30 more: it
// does not wait for an epoch's end. So does one that begins when all of genesis
// has left.
func TestAJoinerComesBackAfter1000Blocks(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(14), Params: params.Overrides{"chain.block_time_ms": "100", "chain.link_delay_ms": "50"}})
	reach(t, n, 20)
	if _, err := n.Join(t.Context(), "v4"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, 30)
	n.Crash("v4")
	reach(t, n, 1030)
	if err := n.Boot("v4"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, n.Tip()+30)
	if n.Status("v4") != history.StatusActive || !n.votes("v4") {
		t.Errorf("v4 is %s", n.Status("v4"))
	}
}

func TestAllOfGenesisIsReplaced(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(15), Params: params.Overrides{"chain.epoch_blocks": "16"}})
	for i := range 4 {
		reach(t, n, types.Height(2+32*i))
		_, joins := n.Join(t.Context(), fmt.Sprint("w", i))
		_, leaves := n.Leave(t.Context(), fmt.Sprint("v", i))
		if err := errors.Join(joins, leaves); err != nil {
			t.Fatal(err)
		}
	}
	reach(t, n, 150)
	if _, err := n.Join(t.Context(), "last"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, 180)
	for i := range 4 {
		if n.Status(fmt.Sprint("v", i)) != history.StatusLeft || n.Running(fmt.Sprint("v", i)) {
			t.Errorf("v%d has not left", i)
		}
	}
	if !n.votes("last") {
		t.Error("the last one does not vote")
	}
}

// churnSeeds is how many seeds of joins and leaves are run.
func churnSeeds() int {
	if os.Getenv("DEVNET_SOAK") != "" {
		return 200
	}
	return 8
}

// Validators join and leave, and time travels, under load and faults: agreement
// throughout, and liveness when the network has healed.
func TestJoinAndLeaveSeeds(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, joined, left := *firstSeed, 0, 0
	last := next + uint64(churnSeeds())
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				mu.Unlock()
				if seed >= last || t.Failed() {
					return
				}
				joins, leaves, err := churn(seed)
				mu.Lock()
				joined, left = joined+joins, left+leaves
				mu.Unlock()
				if err != nil {
					t.Errorf("%v\nreplay: go test ./internal/worlds/sim -run TestJoinAndLeaveSeeds -seed %d", err, seed)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d joined, %d left", joined, left)
	if !t.Failed() && (joined < 10 || left < 3) {
		t.Error("the campaign hardly moved a validator")
	}
}

func churn(seed uint64) (joins, leaves int, err error) {
	c, err := newCampaign(seed, func(nc *NetworkConfig) { nc.Params["chain.epoch_blocks"] = "8" })
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	first := len(c.names)
	for i, at := 0, 2*time.Second; at < storm; i, at = i+1, at+time.Duration(3000+c.rng.IntN(5000))*time.Millisecond {
		c.After(at, func() {
			if c.rng.IntN(2) == 0 || len(c.names) == first {
				c.join(fmt.Sprint("x", i))
				return
			}
			c.leave(c.names[c.rng.IntN(len(c.names))])
		})
	}
	if err := c.RunFor(storm); err != nil {
		return 0, 0, err
	}
	if err := c.travel(); err != nil {
		return 0, 0, fmt.Errorf("%w\nfaults:\n%s", err, strings.Join(c.faults, "\n"))
	}
	for _, name := range c.names {
		switch {
		case !strings.HasPrefix(name, "v") && c.Status(name) == history.StatusActive:
			joins++
		case strings.HasPrefix(name, "v") && c.Status(name) == history.StatusLeft:
			leaves++
		}
	}
	return joins, leaves, c.Err()
}

// travel lets a network that has calmed down travel through time, and go on.
func (c *campaign) travel() error {
	if err := c.calm(); err != nil {
		return err
	}
	if _, err := c.Advance(history.Target{Blocks: 200}); err != nil {
		return err
	}
	return c.RunToHeight(c.Tip()+liveBlocks, bound)
}

// An epoch's end at which nobody joins or leaves is no border, and so nothing
// that a leap has to stop at (decisions C6, C8).
func TestALeapOverManyEpochsIsOneBlock(t *testing.T) {
	n := aNetwork(t, NetworkConfig{World: quick(1), Params: params.Overrides{"chain.epoch_blocks": "64"}})
	reach(t, n, 4)
	receipt := advance(t, n, history.Target{Blocks: 1_000_000})
	if receipt.Blocks > 2 || receipt.Skipped < 999_998 {
		t.Errorf("a leap over nothing took %d blocks and skipped %d heights", receipt.Blocks, receipt.Skipped)
	}
	if _, err := n.Join(t.Context(), "v4"); err != nil {
		t.Fatal(err)
	}
	reach(t, n, n.Tip()+4)
	if receipt = advance(t, n, history.Target{Blocks: 1000}); receipt.Blocks < 2 || receipt.Blocks > 10 {
		t.Errorf("a leap over one border took %d blocks", receipt.Blocks)
	}
}

// BenchmarkAdvance is time travel by 1,000,000 blocks with 1,000 fires of a Go
// actor on the way, four validators, with the default parameters. "fires alone"
// is the same number of blocks with a fire each and nothing to skip.
func BenchmarkAdvance(b *testing.B) {
	for _, c := range []struct {
		name          string
		every, blocks uint64
	}{
		{"leaps", 1000, 1_000_000},
		{"fires alone", 1, 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				n := aNetwork(b, NetworkConfig{World: quick(1)})
				pulse(b, n, c.every)
				reach(b, n, 4)
				start := n.Now()
				b.StartTimer()
				receipt := advance(b, n, history.Target{Blocks: c.blocks})
				b.ReportMetric(float64(receipt.Blocks), "blocks")
				b.ReportMetric(float64(receipt.Fired), "fires")
				b.ReportMetric(n.Now().Sub(start).Seconds(), "virtual-s")
			}
		})
	}
}

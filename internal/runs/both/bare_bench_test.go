package both

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	programs "github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
)

// The load of BenchmarkFiresASecond: so many timers are due in each block.
const (
	busyActors = 10
	busyTimers = 30
	busyLane   = 264
)

// BenchmarkFiresASecond is one load in the bare world and in a simulated network of four
// validators (aim: the bare one makes four times as many fires of a second of processor).
func BenchmarkFiresASecond(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		room, err := crowd.New(crowd.Config{Seed: 1, Fires: busyLane,
			Crowds: []*crowd.Crowd{crowd.AlwaysDue("busy", busyActors, busyTimers, 1, crowd.Price{Tip: 100})}})
		if err != nil {
			b.Fatal(err)
		}
		reportFires(b, func() uint64 { return room.World.Fires() }, func() error { return room.Run(1) })
	})
	b.Run("network", func(b *testing.B) {
		n := busyNetwork(b)
		reportFires(b, func() uint64 { return uint64(n.Judge.Counts().Fired) }, func() error {
			return n.RunToHeight(n.Tip()+1, time.Minute)
		})
	})
}

// busyNetwork is a simulated network whose storms are due in every block.
func busyNetwork(b *testing.B) *sim.Network {
	n, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 1, Link: sim.Link{Latency: 20 * time.Millisecond}},
		Params: crowd.LaneParams(busyLane), Timeless: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { n.Close() })
	var storms []types.Address
	for range busyActors {
		deploy, at := n.Deploy("alice", programs.Code("storm"), types.WeiOf(10_000).Mul(types.CBY))
		storms = append(storms, at)
		n.Submit("v0", deploy, nil)
	}
	if err := n.RunToHeight(12, time.Minute); err != nil {
		b.Fatal(err)
	}
	order := fmt.Sprintf(`{"count":%d,"height":30,"max_fee":"1000000","priority":"100","use":500,"again":1}`, busyTimers)
	for _, at := range storms {
		n.Submit("v0", n.Execute("alice", at, "make", []byte(order)), nil)
	}
	if err := n.RunToHeight(31, time.Minute); err != nil {
		b.Fatal(err)
	}
	return n
}

// reportFires reports the fires of a second, and of a second of processor.
func reportFires(b *testing.B, fires func() uint64, block func() error) {
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			return 0
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before, began := fires(), used()
	for b.Loop() {
		if err := block(); err != nil {
			b.Fatal(err)
		}
	}
	made := float64(fires() - before)
	b.ReportMetric(made/b.Elapsed().Seconds(), "fires/s")
	b.ReportMetric(made/(used()-began).Seconds(), "fires/cpu-s")
	b.ReportMetric(made/float64(b.N), "fires/block")
}

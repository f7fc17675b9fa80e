package sim

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// beat is the Python actor of BenchmarkTimers: what samples' heartbeat does.
const beat = `import pvm_host

class Beat:
    def start(self, payload):
        pvm_host.set_state(b"every", payload)
        self.again()

    def handle_timer(self, payload):
        n = int.from_bytes(pvm_host.get_state(b"n") or b"", "big") + 1
        pvm_host.set_state(b"n", n.to_bytes(8, "big"))
        self.again()

    def again(self):
        every = int.from_bytes(pvm_host.get_state(b"every"), "big")
        pvm_host.schedule_timer(pvm_host.block_height() + every, b"")
`

// collectAsRunDoes sets the collector as `devnet run` does (runGCPercent).
func collectAsRunDoes(b *testing.B) {
	before := debug.SetGCPercent(400)
	b.Cleanup(func() { debug.SetGCPercent(before) })
}

// BenchmarkTimers is virtual seconds a second of four validators with ten timers
// a block, Go actors and Python ones (aims: 1,000 and 500).
func BenchmarkTimers(b *testing.B) {
	collectAsRunDoes(b)
	b.Run("go", func(b *testing.B) { benchTimers(b, nil, samples.Code("heartbeat"), false) })
	b.Run("timeless", func(b *testing.B) { benchTimers(b, nil, samples.Code("heartbeat"), true) })
	b.Run("python", func(b *testing.B) {
		host := pyhost.New(pyhost.Config{Hosts: 1, Blocks: 64}) // as `devnet run` has it
		defer host.Close()
		_, err := host.Probe()
		needed.Python(b, err)
		benchTimers(b, host, []byte(beat), false)
	})
}

func benchTimers(b *testing.B, host program.Host, code []byte, timeless bool) {
	const beats = 10
	n := aNetwork(b, NetworkConfig{World: quick(1), Programs: host, Timeless: timeless})
	var hearts []types.Address
	for i := range beats {
		deploy, at := n.Deploy("alice", code, types.WeiOf(10_000).Mul(types.CBY))
		hearts = append(hearts, at)
		n.Submit(fmt.Sprint("v", i%4), deploy, nil)
	}
	if err := n.RunToHeight(6, time.Minute); err != nil {
		b.Fatal(err)
	}
	for i, at := range hearts {
		n.Submit(fmt.Sprint("v", i%4), n.Execute("alice", at, "start", samples.Number(1)), nil)
	}
	if err := n.RunToHeight(10, time.Minute); err != nil {
		b.Fatal(err)
	}
	start, tip, fired := n.Now(), n.Tip(), n.Judge.Counts().Fired
	b.ResetTimer()
	if err := n.RunToHeight(tip+types.Height(b.N), time.Duration(b.N+10)*4*time.Second); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(n.Now().Sub(start).Seconds()/b.Elapsed().Seconds(), "virtual-s/s")
	b.ReportMetric(float64(n.Judge.Counts().Fired-fired)/float64(b.N), "fires/block")
}

// BenchmarkSeed is whole seeds of 60 virtual seconds, network made and closed
// (aim: 50,000 an hour on two cores, which is 144 ms each), without and with the
// model of work: it may cost a tenth.
func BenchmarkSeed(b *testing.B) {
	collectAsRunDoes(b)
	for _, model := range []struct {
		name     string
		timeless bool
	}{{"timeless", true}, {"work", false}} {
		b.Run(model.name, func(b *testing.B) {
			for i := range b.N {
				n, err := NewNetwork(NetworkConfig{World: quick(uint64(i + 1)), Timeless: model.timeless})
				if err != nil {
					b.Fatal(err)
				}
				if err := n.RunFor(time.Minute); err != nil {
					b.Fatal(err)
				}
				if err := n.Err(); err != nil {
					b.Fatal(err)
				}
				n.Close()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Hours(), "seeds/h/core")
		})
	}
}

// BenchmarkHundredValidators is 100 blocks of 100 validators.
func BenchmarkHundredValidators(b *testing.B) {
	collectAsRunDoes(b)
	for range b.N {
		n := aNetwork(b, NetworkConfig{World: quick(1), Validators: 100})
		if err := n.RunToHeight(100, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}

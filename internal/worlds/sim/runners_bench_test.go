package sim

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

var (
	crowdValidators = flag.Int("crowd-validators", 0, "how many validators BenchmarkTenThousandRunners has, in place of its own number")
	crowd           = flag.Int("crowd", 0, "how many runners it has, in place of its own number")
	crowdBlocks     = flag.Int("crowd-blocks", 0, "for how many blocks it runs, in place of its own number")
	crowdRule       = flag.String("crowd-rule", "subset", "under which presence rule it runs")
)

// BenchmarkRunners is virtual seconds and blocks a second of four validators with so
// many runners, which are all present. Without runners nothing of theirs is there.
func BenchmarkRunners(b *testing.B) {
	collectAsRunDoes(b)
	for _, count := range []int{0, 4, 100} {
		b.Run(strconv.Itoa(count), func(b *testing.B) { benchRunners(b, 4, count, types.Height(b.N)) })
	}
}

// crowdMemory is from how many bytes on the collector works harder: of the whole crowd's
// world some three GiB are held in the end, half of them histories.
const crowdMemory = 5 << 30

// BenchmarkTenThousandRunners is a hundred validators and ten thousand runners for a
// hundred blocks (aim: 3 minutes on two cores). DEVNET_SOAK makes it whole; else it is
// a tenth of each, in the same proportion.
func BenchmarkTenThousandRunners(b *testing.B) {
	collectAsRunDoes(b)
	before := debug.SetMemoryLimit(crowdMemory)
	b.Cleanup(func() { debug.SetMemoryLimit(before) })
	validators, count, blocks := 10, 1_000, types.Height(10)
	if os.Getenv("DEVNET_SOAK") != "" {
		validators, count, blocks = 100, 10_000, 100
	}
	if *crowdValidators > 0 {
		validators = *crowdValidators
	}
	if *crowd > 0 {
		count = *crowd
	}
	if *crowdBlocks > 0 {
		blocks = types.Height(*crowdBlocks)
	}
	for range b.N {
		benchRunners(b, validators, count, blocks)
	}
}

func benchRunners(b *testing.B, validators, count int, blocks types.Height) {
	present := 0
	n := aNetwork(b, NetworkConfig{World: quick(1), Validators: validators, Runners: count, Sample: 1 << 20,
		Params: params.Overrides{"cip11.presence_rule": *crowdRule},
		Final:  func(_ types.Time, r *ledger.Result) { present = r.Presence.Bitmap.Count() }})
	began, steps, used := n.Now(), n.Steps(), coresTime(b)
	b.ResetTimer()
	if err := n.RunToHeight(n.Tip()+blocks, time.Duration(blocks+60)*time.Minute); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	used = coresTime(b) - used
	if blocks > 8 && present != count {
		b.Errorf("%d of %d runners are present", present, count)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(blocks)/b.Elapsed().Seconds(), "blocks/s")
	b.ReportMetric(n.Now().Sub(began).Seconds()/b.Elapsed().Seconds(), "virtual-s/s")
	b.ReportMetric(float64(n.Steps()-steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(used.Seconds(), "cpu-s")
	b.ReportMetric(float64(memory.HeapInuse>>20), "MiB")
	b.ReportMetric(0, "ns/op")
}

// coresTime is the time that all cores have spent on this process.
func coresTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

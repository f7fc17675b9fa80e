package sim

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// BenchmarkRunners is virtual seconds and blocks a second of four validators with so
// many runners, which are all present. Without runners nothing of theirs is there.
func BenchmarkRunners(b *testing.B) {
	collectAsRunDoes(b)
	for _, count := range []int{0, 4, 100} {
		b.Run(strconv.Itoa(count), func(b *testing.B) { benchRunners(b, 4, count, types.Height(b.N)) })
	}
}

// BenchmarkTenThousandRunners is a hundred validators and ten thousand runners for a
// hundred blocks (aim: 3 minutes on two cores). DEVNET_SOAK makes it whole; else it is
// a tenth of each, in the same proportion.
func BenchmarkTenThousandRunners(b *testing.B) {
	collectAsRunDoes(b)
	validators, count, blocks := 10, 1_000, types.Height(10)
	if os.Getenv("DEVNET_SOAK") != "" {
		validators, count, blocks = 100, 10_000, 100
	}
	for range b.N {
		benchRunners(b, validators, count, blocks)
	}
}

func benchRunners(b *testing.B, validators, count int, blocks types.Height) {
	present := 0
	n := network(b, NetworkConfig{World: quick(1), Validators: validators, Runners: count, Sample: 1 << 20,
		Params: params.Overrides{"cip11.presence_rule": "subset"},
		Final:  func(_ types.Time, r *ledger.Result) { present = r.Presence.Bitmap.Count() }})
	began, steps := n.Now(), n.Steps()
	b.ResetTimer()
	if err := n.RunToHeight(n.Tip()+blocks, time.Duration(blocks+60)*time.Minute); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	if blocks > 8 && present != count {
		b.Errorf("%d of %d runners are present", present, count)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(blocks)/b.Elapsed().Seconds(), "blocks/s")
	b.ReportMetric(n.Now().Sub(began).Seconds()/b.Elapsed().Seconds(), "virtual-s/s")
	b.ReportMetric(float64(n.Steps()-steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(float64(memory.HeapInuse>>20), "MiB")
	b.ReportMetric(0, "ns/op")
}

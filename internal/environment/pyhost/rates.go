package pyhost

import (
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// rates is how fast this machine is. Before its first message one child of four runs a plain
// loop, and writes to some pages of memory. The median of the last measures counts. So rates
// follows a machine that slows down, and no single measure decides.
type rates struct {
	stated time.Duration // 0: it is measured
	mu     sync.Mutex
	loops  []time.Duration // of a thousand cycles, oldest first
	pages  []time.Duration // of the first write to a page, oldest first
}

// keptRates bounds the measures that count.
const keptRates = 9

// add keeps what a child measured. thousand is 0 of one that did not.
func (r *rates) add(thousand, page time.Duration) {
	if thousand <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.loops) == keptRates {
		r.loops, r.pages = slices.Delete(r.loops, 0, 1), slices.Delete(r.pages, 0, 1)
	}
	r.loops, r.pages = append(r.loops, thousand), append(r.pages, page)
}

// rate is the CPU time of a thousand cycles of a plain loop.
func (r *rates) rate() time.Duration {
	if r.stated > 0 {
		return r.stated
	}
	return r.median(func() []time.Duration { return r.loops }, program.UsualRate)
}

// page is the CPU time of the first write to a page. If the rate was stated it is 0.
func (r *rates) page() time.Duration {
	if r.stated > 0 {
		return 0
	}
	return r.median(func() []time.Duration { return r.pages }, 0)
}

func (r *rates) median(of func() []time.Duration, unmeasured time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	sorted := slices.Sorted(slices.Values(of()))
	if len(sorted) == 0 {
		return unmeasured
	}
	return sorted[len(sorted)/2]
}

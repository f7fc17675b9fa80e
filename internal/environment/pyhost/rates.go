package pyhost

import (
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// rates is how fast this machine is. Each child runs a plain loop before its first message,
// and the median of the last measures counts. So rates follows a machine that slows down,
// and no single measure decides.
type rates struct {
	stated time.Duration // 0: it is measured
	mu     sync.Mutex
	last   []time.Duration // of a thousand cycles, oldest first
}

// keptRates bounds the measures that count.
const keptRates = 9

func (r *rates) add(thousand time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == keptRates {
		r.last = slices.Delete(r.last, 0, 1)
	}
	r.last = append(r.last, thousand)
}

// rate is the CPU time of a thousand cycles of a plain loop.
func (r *rates) rate() time.Duration {
	if r.stated > 0 {
		return r.stated
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == 0 {
		return program.UsualRate
	}
	sorted := slices.Sorted(slices.Values(r.last))
	return sorted[len(sorted)/2]
}

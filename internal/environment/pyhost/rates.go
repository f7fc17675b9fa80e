package pyhost

import (
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// rates is how fast this machine is. One child of sixteen runs a plain loop before its first
// message, until CPython has specialised it, and writes to some pages of memory. The least of the
// last loops counts: others' work makes a loop longer, and nothing makes it shorter.
type rates struct {
	stated time.Duration // 0: it is measured
	mu     sync.Mutex
	loops  []time.Duration // of a thousand cycles, oldest first
	pages  []time.Duration // of the first write to a page, oldest first
}

// keptRates bounds the measures that count.
const keptRates = 9

// calmTimes is how many times as long as its best a loop may take on a machine that judges
// what is late.
const calmTimes = 2

// isCalm reports whether a measure shows the machine as it mostly is.
func (r *rates) isCalm(thousand time.Duration) bool {
	return r.stated > 0 || thousand <= calmTimes*r.medianRate()
}

// leastRate is less than any interpreter of today takes: a measure below it is an error.
const leastRate = 4 * time.Microsecond

// addMeasurement keeps what a child measured. thousand is 0 of one that did not.
func (r *rates) addMeasurement(thousand, page time.Duration) {
	if thousand < leastRate {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.loops) == keptRates {
		r.loops, r.pages = slices.Delete(r.loops, 0, 1), slices.Delete(r.pages, 0, 1)
	}
	r.loops, r.pages = append(r.loops, thousand), append(r.pages, page)
}

// medianRate is the CPU time of a thousand cycles of a plain loop.
func (r *rates) medianRate() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stated > 0:
		return r.stated
	case len(r.loops) == 0:
		return program.UsualRate
	}
	return slices.Min(r.loops)
}

// medianPage is the CPU time of the first write to a page, the median. If the rate was stated it is 0.
func (r *rates) medianPage() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stated > 0 || len(r.pages) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(r.pages))[len(r.pages)/2]
}

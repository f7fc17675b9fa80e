package validators

import (
	"slices"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// Runners counts what happened to runners at a validator since it started.
type Runners struct {
	Live     int // connections, now
	Arrived  uint64
	Left     uint64
	Outcomes [gateway.Outcomes]uint64  // of deliveries, by gateway.Outcome (CIP-11 §10.6)
	Refused  [len(push.Reasons)]uint64 // who was not let in, by the place of the reason in push.Reasons
	Progress uint64                    // words of runners on how far they are
	NotTaken uint64                    // results
}

// runnerCounters are Runners in the making: the gateway role writes, anybody reads.
type runnerCounters struct {
	arrived, left, progress, notTaken atomic.Uint64
	outcomes                          [gateway.Outcomes]atomic.Uint64
	refused                           [len(push.Reasons)]atomic.Uint64
}

// countReport counts a report.
func (c *runnerCounters) countReport(report gateway.Report) {
	switch report := report.(type) {
	case gateway.Arrived:
		c.arrived.Add(1)
	case gateway.Left:
		c.left.Add(1)
	case gateway.Refused:
		c.refused[slices.Index(push.Reasons[:], report.Reason)].Add(1)
	case gateway.Classified:
		c.outcomes[report.Outcome].Add(1)
	case gateway.Progressed:
		c.progress.Add(1)
	case gateway.NotTaken:
		c.notTaken.Add(1)
	}
}

func (c *runnerCounters) readCounts() (r Runners) {
	r.Left, r.Progress, r.NotTaken = c.left.Load(), c.progress.Load(), c.notTaken.Load()
	r.Arrived = c.arrived.Load() // read after Left, so that Left never exceeds Arrived
	r.Live = int(r.Arrived - r.Left)
	for i := range r.Outcomes {
		r.Outcomes[i] = c.outcomes[i].Load()
	}
	for i := range r.Refused {
		r.Refused[i] = c.refused[i].Load()
	}
	return r
}

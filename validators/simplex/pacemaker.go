package simplex

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// pacemaker is the timeouts of the present view (decision C4). They run while it is
// armed; the deadlines of a view that is not do not come.
type pacemaker struct {
	Timing
	armed     bool
	since     types.Time // when they began to run
	resendAt  types.Time // next time that votes are sent again
	doublings int        // views without a notarization before this one, at most maxDoublings
}

// begin is that of a new view, before which so many in a row had no notarization.
func (p *pacemaker) begin(without uint64) {
	p.armed, p.doublings = false, int(min(without, maxDoublings))
}

// arm has them run from now on.
func (p *pacemaker) arm(now types.Time) {
	p.armed, p.since, p.resendAt = true, now, now.Add(p.resendInterval())
}

// grown is a timeout with its doublings.
func (p *pacemaker) grown(delays time.Duration) time.Duration {
	return (p.BlockTime + delays*p.LinkDelay) << p.doublings
}

func (p *pacemaker) leaderTimeout() time.Duration  { return p.grown(leaderDelays) }
func (p *pacemaker) leaderDeadline() types.Time    { return p.deadline(p.leaderTimeout()) }
func (p *pacemaker) viewDeadline() types.Time      { return p.deadline(p.grown(viewDelays)) }
func (p *pacemaker) resendInterval() time.Duration { return resendDelays * p.LinkDelay }

func (p *pacemaker) deadline(after time.Duration) types.Time {
	if !p.armed {
		return types.Never
	}
	return p.since.Add(after)
}

// late reports whether the view takes longer than one without faults does.
func (p *pacemaker) late(now types.Time) bool {
	return now >= p.since.Add(p.BlockTime+leaderDelays*p.LinkDelay)
}

// presencePatience is how long a leader that could propose at once waits for the votes that
// its parent's notarization lacks.
func (p *pacemaker) presencePatience() time.Duration {
	return min(p.BlockTime, p.LinkDelay) / presenceFraction
}

// drift is how far ahead of a voter's clock a timestamp may lie (decision C7).
func (p *pacemaker) drift() time.Duration { return max(p.BlockTime, driftDelays*p.LinkDelay) }

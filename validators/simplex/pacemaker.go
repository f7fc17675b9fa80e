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
	doublings int        // views without finality before this one, at most maxDoublings
	surplus   int        // views without finality beyond a turn of every member, at most maxDoublings + 1
}

// beginView starts a view after vain views without finality in a row, in a set of the given
// size.
func (p *pacemaker) beginView(vain, members int) {
	p.armed = false
	p.doublings = min(vain, maxDoublings)
	p.surplus = min(max(vain-members+1, 0), maxDoublings+1)
}

// leastView is how long a view lasts before it may be given up without a timeout. It is 0
// until every member has led without finality. Then it is Δ, doubled with each view more,
// and at most the leader timeout. Views in which nothing can be proposed otherwise pass as
// fast as the links.
func (p *pacemaker) leastView() time.Duration {
	if p.surplus == 0 {
		return 0
	}
	return min(p.LinkDelay<<(p.surplus-1), p.leaderTimeout())
}

// startTimeouts starts them.
func (p *pacemaker) startTimeouts(now types.Time) {
	p.armed, p.since, p.resendAt = true, now, now.Add(p.resendInterval())
}

// growTimeout is a timeout with its doublings.
func (p *pacemaker) growTimeout(delays time.Duration) time.Duration {
	return (p.BlockTime + delays*p.LinkDelay) << p.doublings
}

func (p *pacemaker) leaderTimeout() time.Duration  { return p.growTimeout(leaderDelays) }
func (p *pacemaker) leaderDeadline() types.Time    { return p.deadlineAfter(p.leaderTimeout()) }
func (p *pacemaker) viewDeadline() types.Time      { return p.deadlineAfter(p.growTimeout(viewDelays)) }
func (p *pacemaker) resendInterval() time.Duration { return resendDelays * p.LinkDelay }

func (p *pacemaker) deadlineAfter(after time.Duration) types.Time {
	if !p.armed {
		return types.Never
	}
	return p.since.Add(after)
}

// isLate reports whether the view takes longer than one without faults does.
func (p *pacemaker) isLate(now types.Time) bool {
	return now >= p.since.Add(p.BlockTime+leaderDelays*p.LinkDelay)
}

// presencePatience is how long a leader that could propose at once waits for the votes that
// its parent's notarization lacks.
func (p *pacemaker) presencePatience() time.Duration {
	return min(p.BlockTime, p.LinkDelay) / presenceFraction
}

// stampLead is how far ahead of its clock a proposer may stamp a block.
func (p *pacemaker) stampLead() time.Duration { return p.Drift() - p.LinkDelay/2 }

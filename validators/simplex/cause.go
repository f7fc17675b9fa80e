package simplex

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Cause is why a validator gives a view up: what its vote nullify does not say.
type Cause uint8

// The causes, in the order in which they are looked for.
const (
	NoCause          Cause = iota
	ProposalRejected       // its proposal failed a check, which Detail names
	NotBuilt               // this validator leads and made no block that can be proposed; Detail says why
	LeaderGaveUp           // the leader nullified the view itself
	LeaderBehind           // this validator leads, and is too far behind to build
	LeaderUnheard          // nothing came from the leader for four views
	NoProposal             // the leader timeout passed without a proposal
	BuildOverdue           // this validator leads, and its block was not built in time
	ParentMissing          // the proposal, or the leader itself, waits for an ancestor; Detail names it
	ExecutionOverdue       // the proposal was not executed here within the view timeout
	TooFewVotes            // this validator voted for the proposal, and too few others did
	Causes                 // how many there are
)

var causeNames = [Causes]string{"none", "proposal_rejected", "not_built", "leader_gave_up", "leader_behind", "leader_unheard",
	"no_proposal", "build_overdue", "parent_missing", "execution_overdue", "too_few_votes"}

// String is the cause's name, as logs, traces and metrics have it.
func (c Cause) String() string {
	if c < Causes {
		return causeNames[c]
	}
	return fmt.Sprintf("cause %d", uint8(c))
}

// nullifyCause says why this validator is to vote nullify in its view now (decision C4),
// or NoCause: it is not to.
func (m *synchronizer) nullifyCause(r *round) (Cause, string) {
	leader := m.leaderIndex(r.view)
	mine := leader == m.me
	if m.now < m.mayGiveUp() {
		return NoCause, ""
	}
	switch {
	case r.rejected && mine && r.proposal == nil:
		return NotBuilt, r.reason
	case r.rejected:
		return ProposalRejected, r.reason
	case r.gaveUp(leader):
		return LeaderGaveUp, ""
	case mine && m.pace.armed && m.tooFarBehind():
		return LeaderBehind, ""
	case !mine && m.pace.armed && r.proposal == nil && r.view > m.heard[leader]+unheardViews:
		return LeaderUnheard, ""
	case m.isOverdue(r):
		return m.latenessCause(r, mine)
	}
	return NoCause, ""
}

// mayGiveUp is the first time at which the view may be given up, its timeouts included.
func (m *synchronizer) mayGiveUp() types.Time { return m.entered.Add(m.pace.leastView()) }

// gaveUp reports whether the member at index is known to have nullified the view.
func (r *round) gaveUp(index int) bool {
	votes := r.ballotOf(types.Nullify).votes
	return votes != nil && votes[index] != nil
}

// latenessCause says what a view whose time is over was waiting for.
func (m *synchronizer) latenessCause(r *round, mine bool) (Cause, string) {
	if r.proposal == nil {
		switch {
		case !mine:
			return NoProposal, ""
		case r.buildRequested:
			return BuildOverdue, ""
		}
		return ParentMissing, "a block to build on"
	}
	if r.ownVote(types.Notarize) != nil {
		return TooFewVotes, fmt.Sprintf("%d of %d", r.votesFor(r.hash), quorumOf(m.set))
	}
	n := m.bodies.nodes[r.hash]
	if n != nil && n.status == failed {
		return ExecutionOverdue, "the host of programs failed"
	}
	if n != nil && n.status == executing {
		return ExecutionOverdue, ""
	}
	return ParentMissing, m.missingParts(r)
}

// votesFor counts the notarize votes of a round for a block.
func (r *round) votesFor(hash types.Hash) (count int) {
	for _, t := range r.ballotOf(types.Notarize).tallies {
		if t.block == hash {
			count += t.count
		}
	}
	return count
}

// missingParts names what a proposal that is not being executed waits for.
func (m *synchronizer) missingParts(r *round) string {
	h := &r.proposal.Block.Header
	parent, ready := m.bodies.parentOf(r.proposal.Block, &m.root)
	switch {
	case parent == nil:
		return fmt.Sprintf("the block below %d", h.Height)
	case !ready:
		return fmt.Sprintf("the execution of block %d", parent.Height)
	case h.Skipped > 0 && h.Height > m.leap:
		return fmt.Sprintf("a reason to skip %d heights", h.Skipped)
	}
	for v := r.view - 1; v > parent.View; v-- {
		if !m.isNullified(v) {
			return fmt.Sprintf("the nullification of view %d", v)
		}
	}
	return fmt.Sprintf("the beginning of block %d", h.Height)
}

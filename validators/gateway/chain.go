package gateway

import (
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// chain is the machine's view of the chain: the newest final block, and the age of
// events before it.
type chain struct {
	self   types.Address // of the validator
	head   *Head
	blocks uint64 // up to the head, among those reported to the machine; skipped heights do not count
}

// takeHead takes the newest final block.
func (c *chain) takeHead(h *Head) {
	if h.Height < c.head.Height {
		panic(fmt.Sprintf("gateway: the head falls from height %d to %d", c.head.Height, h.Height))
	}
	rose := uint64(h.Height - c.head.Height)
	c.blocks += rose - min(rose, h.Skipped)
	c.head = h
}

func (c *chain) headParams() *params.Params { return c.head.Params }

func (c *chain) headPhase() selection.Phase { return selection.PhaseOf(c.head.Params) }

// mark is a moment by the two measures of age: the blocks up to it, and the time.
type mark struct {
	blocks uint64
	at     types.Time
}

// markNow is a moment, at this head.
func (c *chain) markNow(now types.Time) mark { return mark{c.blocks, now} }

// isWithin reports whether a number of blocks since a mark is not over: that many
// have come, skipped heights left out, and that many times cip11.min_block_ms has
// passed, before it is.
//
// The spec counts only blocks (deviation from CIP-11 §§6.3, 11.1, decision J13): if
// these come faster than pings travel, no runner would ever be present.
func (c *chain) isWithin(now types.Time, since mark, blocks uint64) bool {
	return c.blocks-since.blocks < blocks || now < c.timeAfter(since, blocks)
}

// timeAfter is when the time of a number of blocks since a mark is over.
func (c *chain) timeAfter(since mark, blocks uint64) types.Time {
	each := c.headParams().MinBlockMS.Duration()
	if blocks > uint64(types.Never)/uint64(max(each, 1)) {
		return types.Never
	}
	return since.at.Add(time.Duration(blocks) * each)
}

// membership is what a runner's place in the subsets follows from, besides its key.
type membership struct {
	epoch    uint64
	overlaps bool
	known    bool
}

// registry holds the registry's inputs to a runner's status, besides its key and its
// membership.
type registry struct {
	registrations any // nil if they are unknown
	params        *params.Params
}

// placePeer looks up whether a runner belongs to this validator: it is registered, has
// the stake, and this validator is in its subset, or during the overlap in its
// former one.
//
// Spec: CIP-11 §§5.2, 5.3, 6.2, decision J10.
func (c *chain) placePeer(p *peer) {
	rotation := c.head.Rotation
	now := membership{rotation.Epoch, rotation.Overlaps(c.head.Height, c.head.Pace), true}
	from := registry{c.head.Registry, c.head.Params}
	if p.membership == now && p.registry == from && from.registrations != nil {
		return
	}
	p.registry = from
	if p.membership != now { // a hash for each validator of the set
		p.membership = now
		p.turn, p.member = rotation.Turn(p.key, c.self, c.head.Height, c.head.Pace)
	}
	p.registered = c.head.Reader.Runner(p.address)
	standing := push.Standing{InSubset: p.member}
	if registered := p.registered; registered != nil {
		standing.Registered = !registered.Deregistered
		standing.Staked = registered.Stake.Cmp(c.headParams().MinStake) >= 0
		p.index, p.enlisted, p.mostJobs = registered.Index, registered.Since, registered.MaxJobs
	}
	p.misses = ""
	if err := standing.Check(); err != nil {
		p.misses = push.ReasonOf(err)
	}
}

// findAssignment finds an open assignment of a runner.
func (c *chain) findAssignment(runner types.Address, id AssignmentID) *Assignment {
	return c.head.Reader.Assignment(runner, id)
}

// assignmentIDOf returns the open assignment of a runner for a job. Without one its draw is 0.
func (c *chain) assignmentIDOf(runner types.Address, job types.Hash) AssignmentID {
	id := AssignmentID{Job: job}
	for _, a := range c.head.Reader.Assignments(runner) {
		if a.Job == job {
			id = a.AssignmentID
		}
	}
	return id
}

// attestsUntil is the four conditions of CIP-11 §7.2 in their order, and that no
// hard failure came since the last ping.
func (c *chain) attestsUntil(p *peer) types.Time {
	switch {
	case p.stage != live || !p.present || !p.accepting || !p.isServedHere():
		return 0
	case c.blocks-p.ping.blocks < c.headParams().PresenceTimeoutBlocks:
		return types.Never
	}
	return c.timeAfter(p.ping, c.headParams().PresenceTimeoutBlocks)
}

// heartbeatBlocks is how old a runner's heartbeat on chain has to be before this
// validator brings another: cip11.heartbeat_tx_blocks, and more for some runners and
// for validators that come later in the runner's subset. So the heartbeats of a
// thousand runners of genesis come in many blocks, and one per runner, if no validator
// fails. The extra is at most half of the blocks left before the runner is stale.
func (c *chain) heartbeatBlocks(p *peer) uint64 {
	least := c.headParams().HeartbeatTxBlocks
	slack := c.headParams().StaleHeartbeatBlocks - min(least, c.headParams().StaleHeartbeatBlocks)
	spread := uint64(p.index) % (min(least/3, slack/4, heartbeatSpread) + 1)
	return least + spread + min(min(least/8, heartbeatTurn)*uint64(p.turn), slack/4)
}

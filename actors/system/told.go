package system

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Limits of a block's report on its draws. Nothing follows from it.
const (
	// maxCounted bounds the runners that one Census judges: some ten milliseconds.
	maxCounted = 250_000
	// maxToldCandidates bounds the reported candidates of one draw, and maxToldInBlock
	// those of all draws of a block: each takes some thirty bytes in the history.
	maxToldCandidates = 1_024
	maxToldInBlock    = 4_096
)

// Census counts, for jobs that find too few candidates, how many runners each filter
// leaves out. It is told, and decides nothing.
type Census struct {
	runners []selection.Runner // that are not deregistered
	filter  selection.Filter   // without demand and exclusion
	counted int
	known   map[selection.Demand][]uint32 // of jobs without exclusions
}

// NewCensus returns a census of the runners of a roster, empty if it is nil, by a filter without demand and
// exclusion.
func NewCensus(roster *Roster, filter selection.Filter) *Census {
	c := &Census{filter: filter, known: map[selection.Demand][]uint32{}}
	if roster == nil {
		return c
	}
	for _, page := range roster.pages {
		for i := range page {
			if page[i].Health != selection.Deregistered {
				c.runners = append(c.runners, page[i])
			}
		}
	}
	return c
}

// Census returns the census of a block in the making, at its current state.
func (b *InBlock) Census() *Census {
	return NewCensus(b.currentRoster(), selection.Filter{Height: b.Height, Phase: selection.PhaseOf(b.Params), Presence: b.Presence,
		Limits: selection.LimitsOf(b.Params)})
}

// Of returns the numbers of runners by the first filter that each fails for a job
// (selection.Reason). It is nil where the census has judged maxCounted runners.
//
// Spec: CIP-11 §9.1.
func (c *Census) Of(j *Job) []uint32 {
	demand := j.demandOf()
	left := c.known[demand]
	if left != nil && len(j.Excluded) == 0 {
		return left
	}
	if c.counted += len(c.runners); c.counted > maxCounted && c.counted > len(c.runners) {
		return nil
	}
	filter := c.filter
	filter.Demand, filter.Excluded = demand, j.Excluded
	pool := filter.Pool(c.runners)
	left = make([]uint32, len(pool.Judged))
	for reason, n := range pool.Judged {
		left[reason] = uint32(n)
	}
	if len(j.Excluded) == 0 {
		c.known[demand] = left
	}
	return left
}

// newDrawReport returns the report of a draw: the inputs from which it followed.
func (d *drawing) newDrawReport(basis, seed types.Hash, candidates []selection.Candidate, favour selection.Favour) *types.JobDraw {
	draw := &types.JobDraw{Basis: basis, Seed: seed, Number: uint32(len(candidates)), Multiplier: 1}
	if favour != (selection.Favour{}) {
		draw.Favoured, draw.Multiplier = &favour.Runner, favour.Multiplier
	}
	if len(candidates) > maxToldCandidates || d.kept+len(candidates) > maxToldInBlock {
		return draw
	}
	d.kept += len(candidates)
	draw.Candidates = make([]types.DrawCandidate, len(candidates))
	for i, c := range candidates {
		draw.Candidates[i] = types.DrawCandidate{Runner: c.Address, Weight: c.Weight}
	}
	return draw
}

package ledger

import (
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Outlook is a final state as runners see it (decision J13). The open jobs are read
// once for all runners. It is not safe for concurrent use.
type Outlook struct {
	state *State
	pace  selection.Pace
	open  map[types.Address]map[execution.ID]chainview.Standing
	known map[types.PublicKey]belonging // cache for one epoch, by key; looked up only
}

// belonging is the part of a runner's view that is the same in most blocks.
type belonging struct {
	address    types.Address
	validators []types.Validator
}

// Outlook returns the state as runners see it.
func (s *State) Outlook() *Outlook {
	o := &Outlook{state: s, pace: s.Pace(), open: map[types.Address]map[execution.ID]chainview.Standing{},
		known: map[types.PublicKey]belonging{}}
	s.Jobs(func(j *system.Job) bool {
		o.enterJob(j)
		return true
	})
	return o
}

// Next returns a later state as runners see it: where the subsets are still those of
// this one, they are not worked out again.
func (o *Outlook) Next(s *State) *Outlook {
	next := s.Outlook()
	if s.runners.rotation.Epoch == o.state.runners.rotation.Epoch && next.hasOverlap() == o.hasOverlap() {
		next.known = o.known
	}
	return next
}

// hasOverlap says whether former subsets hold as well.
func (o *Outlook) hasOverlap() bool {
	return o.state.runners.rotation.Overlaps(o.state.header.Height, o.pace)
}

// belongingOf is where a runner belongs.
func (o *Outlook) belongingOf(runner types.PublicKey) belonging {
	b, known := o.known[runner]
	if !known {
		address, err := crypto.AddressOf(runner)
		if err != nil {
			panic("ledger: a runner's view of an invalid key")
		}
		b = belonging{address, slices.Clip(o.state.runners.rotation.Serving(runner, o.state.header.Height, o.pace))}
		o.known[runner] = b
	}
	return b
}

// Pace returns when subsets rotate after the state's block, and how long the former
// subsets stay valid.
func (s *State) Pace() selection.Pace { return selection.PaceOf(s.next) }

// enterJob takes note of an open job for each of its committee whose result is not final.
func (o *Outlook) enterJob(j *system.Job) {
	if len(j.Committee) == 0 {
		return
	}
	spec := types.Keccak(o.state.JobSpec(j.ID))
	for i := range j.Committee {
		m := &j.Committee[i]
		if !m.Owes() {
			continue
		}
		s := chainview.Standing{Open: true, SpecHash: spec, Deadline: j.Deadline(), Alone: len(j.Committee) == 1, Reveals: j.Reveals()}
		if m.Committed > 0 {
			s.Commitments = []types.Hash{o.state.Commitment(j.ID, m.Runner).Commitment}
		}
		if o.open[m.Runner] == nil {
			o.open[m.Runner] = map[execution.ID]chainview.Standing{}
		}
		o.open[m.Runner][execution.ID{Job: j.ID, Drawn: m.Drawn}] = s
	}
}

// Of returns the hash of the state's block.
func (o *Outlook) Of() types.Hash { return o.state.Hash() }

// Head returns the state's part of a runner's view: all its open assignments, and
// the end of others that it follows. The endpoints of validators are those that the
// chain has.
func (o *Outlook) Head(runner types.PublicKey, followed []execution.ID) *chainview.Head {
	b, s := o.belongingOf(runner), o.state
	height := s.header.Height
	h := &chainview.Head{Height: height, Params: s.next, Epoch: s.runners.rotation.Epoch,
		Overlaps: o.hasOverlap(), Validators: b.validators, Assignments: o.open[b.address]}
	if r := s.Listed(b.address); r != nil && r.Health != selection.Deregistered {
		h.Registered, h.Staked, h.Heartbeat = true, r.Stake.Cmp(s.next.MinStake) >= 0, r.LastHeartbeat
	}
	own := false
	for _, id := range followed {
		if _, open := h.Assignments[id]; open || id.Drawn > height {
			continue
		}
		if !own {
			h.Assignments, own = cloneStandings(h.Assignments), true
		}
		h.Assignments[id] = chainview.Standing{}
	}
	return h
}

// cloneStandings copies the assignments of a head.
func cloneStandings(from map[execution.ID]chainview.Standing) map[execution.ID]chainview.Standing {
	to := make(map[execution.ID]chainview.Standing, len(from)+1)
	for id, standing := range from { // order: what is copied has none
		to[id] = standing
	}
	return to
}

// Assignments lists the open jobs in whose committee a runner is, by deadline. A job whose
// result or refusal by the runner is final is left out.
func (s *State) Assignments(runner types.Address) (open []*system.Job) {
	if r := s.Listed(runner); r == nil || r.ActiveJobs == 0 {
		return nil
	}
	s.Jobs(func(j *system.Job) bool {
		for i := range j.Committee {
			if m := &j.Committee[i]; m.Runner == runner && m.Owes() {
				open = append(open, j)
			}
		}
		return true
	})
	return open
}

// Page lists the jobs for a polling runner after a cursor, and returns the cursor of the
// next page, zero if there is none (polling.Page).
//
// Spec: decision J11.
func (s *State) Page(runner types.Address, after polling.Cursor) ([]*system.Job, polling.Cursor) {
	return polling.Page(s.Assignments(runner), after,
		func(j *system.Job) polling.Cursor { return polling.Cursor{Deadline: j.Deadline(), Job: j.ID} },
		func(j *system.Job) int { return len(s.JobSpec(j.ID)) })
}

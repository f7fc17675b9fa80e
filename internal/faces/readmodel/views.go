package readmodel

import (
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Views tells runners how one final state looks to them (decision J13): what a
// chainview.Head says. It remembers what is the same for all of them, and what one
// block has in common with the next, so that ten thousand runners can ask it. It is
// for one goroutine.
type Views struct {
	state    *ledger.State
	rotation *selection.Rotation
	overlaps bool
	pace     selection.Pace
	params   chainview.Params
	minStake types.Wei
	serving  map[types.PublicKey][]types.Validator // of this epoch; looked up only
	specs    map[types.Hash]types.Hash             // of open jobs; looked up only
	open     map[types.Address][]*system.Job       // by members of their committees; nil until asked
	listens  func(types.Validator) string
}

// ViewsOf reads a state. What the state before it had in common is taken from there;
// before may be nil. listens says where a validator of the rotation listens now; nil:
// where it did then.
func ViewsOf(s *ledger.State, before *Views, listens func(types.Validator) string) *Views {
	p := s.Params()
	v := &Views{state: s, rotation: s.Rotation(), pace: paceOf(p), params: viewParams(p), minStake: p.MinStake, listens: listens}
	v.overlaps = v.rotation.Overlaps(s.Height(), v.pace)
	v.serving, v.specs = map[types.PublicKey][]types.Validator{}, map[types.Hash]types.Hash{}
	if before != nil && before.rotation.Epoch == v.rotation.Epoch && before.overlaps == v.overlaps {
		v.serving = before.serving
	}
	if before != nil {
		s.Jobs(func(j *system.Job) bool {
			if spec, known := before.specs[j.ID]; known {
				v.specs[j.ID] = spec
			}
			return true
		})
	}
	return v
}

func paceOf(p *params.Params) selection.Pace {
	return selection.Pace{EpochBlocks: p.SubsetEpochBlocks, ChurnPermille: p.ChurnPermille, OverlapBlocks: p.OverlapBlocks}
}

func viewParams(p *params.Params) chainview.Params {
	ms := func(n uint64) time.Duration { return time.Duration(n) * time.Millisecond }
	return chainview.Params{Push: p.Push, BlockTime: ms(p.BlockTimeMS), HeartbeatBlocks: p.HeartbeatBlocks,
		HelloTimeout: ms(p.HelloTimeoutMS), WriteTimeout: ms(p.WriteTimeoutMS), GoodbyeGrace: ms(p.GoodbyeGraceMS),
		ControlFramesPerSecond: int(p.ControlFramesPerSecond)}
}

// Hash is that of the state's block.
func (v *Views) Hash() types.Hash { return v.state.Hash() }

// Head is what the state says of a runner, by its key and the address of that, and of
// the assignments that it follows. Of more than chainview.MaxFollowed the first count.
func (v *Views) Head(runner types.PublicKey, address types.Address, follow []execution.ID) *chainview.Head {
	h := &chainview.Head{Height: v.state.Height(), Params: v.params, Epoch: v.rotation.Epoch, Overlaps: v.overlaps,
		Assignments: map[execution.ID]chainview.Standing{}}
	if r := v.state.Runner(address); r != nil {
		h.Registered = r.Health != selection.Deregistered
		h.Staked = r.Stake.Cmp(v.minStake) >= 0
	}
	known := false
	if h.Validators, known = v.serving[runner]; !known {
		h.Validators = v.rotation.Serving(runner, v.state.Height(), v.pace)
		for i := range h.Validators {
			if v.listens != nil {
				h.Validators[i].Endpoint = v.listens(h.Validators[i])
			}
		}
		v.serving[runner] = h.Validators
	}
	for _, id := range follow[:min(len(follow), chainview.MaxFollowed)] {
		h.Assignments[id] = chainview.Standing{} // unless it is among the open ones
	}
	for _, j := range v.openOf(address) {
		id := execution.ID{Job: j.ID, Drawn: j.Since}
		if _, followed := h.Assignments[id]; followed || len(h.Assignments) < chainview.MaxFollowed {
			h.Assignments[id] = v.standing(j, address)
		}
	}
	return h
}

// openOf lists the open jobs in whose committee a runner is.
func (v *Views) openOf(runner types.Address) []*system.Job {
	if v.open == nil {
		v.open = map[types.Address][]*system.Job{}
		v.state.Jobs(func(j *system.Job) bool {
			for i := range j.Committee {
				v.open[j.Committee[i].Runner] = append(v.open[j.Committee[i].Runner], j)
			}
			return true
		})
	}
	return v.open[runner]
}

// standing is how an assignment to a member of an open job's committee stands.
//
// Spec: decision J15.
func (v *Views) standing(j *system.Job, runner types.Address) chainview.Standing {
	last, all := types.Height(0), true
	var own *system.Member
	for i := range j.Committee {
		m := &j.Committee[i]
		last, all = max(last, m.Committed), all && m.Committed > 0
		if m.Runner == runner {
			own = m
		}
	}
	if own.RevealedAt > 0 {
		return chainview.Standing{}
	}
	s := chainview.Standing{Open: true, SpecHash: v.spec(j.ID), Deadline: j.Deadline(), Alone: len(j.Committee) == 1}
	for _, c := range v.state.Commitments(j.ID, runner) {
		if len(s.Commitments) < chainview.MaxCommitments {
			s.Commitments = append(s.Commitments, c.Commitment)
		}
	}
	switch {
	case all:
		s.Reveals = last + 1
	case v.state.Height() >= j.CommitDeadline():
		s.Reveals = j.CommitDeadline() + 1
	}
	return s
}

// spec is the hash of a job's spec.
func (v *Views) spec(job types.Hash) types.Hash {
	hash, known := v.specs[job]
	if !known {
		hash = types.Keccak(v.state.JobSpec(job))
		v.specs[job] = hash
	}
	return hash
}

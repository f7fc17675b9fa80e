package validators

import (
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// jobIndex is a final state as the gateway reads it: the open jobs by the runners that
// have them. It is updated from head to head by the blocks' job changes, so that a
// head costs the number of changes and not the number of open jobs. It implements
// gateway.Reader.
type jobIndex struct {
	state *ledger.State
	jobs  map[types.Hash]*system.Job // the open jobs that have a committee
	specs map[types.Hash]types.Hash  // the hashes of their specifications
	of    map[types.Address][]gateway.Assignment
	open  map[assignment]*gateway.Assignment // all that are in of
	ended map[types.Hash]attempt             // the jobs that ended between the head before and this one
	since []types.Hash                       // the jobs that changed between the head before and this one, without duplicates

	spec   *push.JobSpec // the specification that was asked for last
	specOf types.Hash
}

// assignment names an assignment of a runner.
type assignment struct {
	runner types.Address
	gateway.AssignmentID
}

// attempt is the outcome of a job's committee.
type attempt struct {
	committee []system.Member // of the head before
	revealed  []types.Address // whose result became final
	over      bool            // how holds for those who did not reveal too
	how       gateway.Ending
}

// newJobIndex reads a state.
func newJobIndex(state *ledger.State) *jobIndex {
	d := &jobIndex{state: state, jobs: map[types.Hash]*system.Job{}, specs: map[types.Hash]types.Hash{},
		of: map[types.Address][]gateway.Assignment{}, open: map[assignment]*gateway.Assignment{}, ended: map[types.Hash]attempt{}}
	var open []*system.Job
	state.Jobs(func(j *system.Job) bool { open = append(open, j); return true })
	slices.SortFunc(open, func(a, b *system.Job) int {
		if a.Since != b.Since {
			return int(a.Since) - int(b.Since)
		}
		return int(a.Seq) - int(b.Seq)
	})
	for _, j := range open {
		d.putJob(j)
	}
	return d
}

// followBlocks advances to the state after blocks, by their job changes.
func (d *jobIndex) followBlocks(results []*ledger.Result) {
	d.state = results[len(results)-1].State
	clear(d.ended)
	d.since = nil
	seen := map[types.Hash]bool{}
	for _, result := range results {
		for i := range result.Jobs {
			d.noteChange(&result.Jobs[i])
			if id := result.Jobs[i].ID; !seen[id] {
				seen[id] = true
				d.since = append(d.since, id)
			}
		}
	}
	for _, id := range d.since {
		d.readJob(id)
	}
}

// noteChange remembers how a committee that the head before had comes to its end.
func (d *jobIndex) noteChange(change *types.JobChange) {
	before := d.jobs[change.ID]
	if before == nil {
		return
	}
	end := d.ended[change.ID]
	if end.over {
		return // later changes belong to another committee
	}
	end.committee, end.over = before.Committee, true
	switch change.Kind {
	case types.JobChangeRevealed:
		end.over = false
		end.revealed = append(end.revealed, *change.Runner)
	case types.JobChangeRetried:
		end.how = gateway.Reassigned
	case types.JobChangeCompleted:
		end.how = gateway.Expired
	case types.JobChangeCancelled:
		end.how = gateway.Failed
	case types.JobChangeFailed:
		end.how = gateway.Failed
		if change.Error.Code == system.ErrorTimeout {
			end.how = gateway.Expired
		}
	default:
		return
	}
	d.ended[change.ID] = end
}

// readJob takes a job from the current state.
func (d *jobIndex) readJob(id types.Hash) {
	if before := d.jobs[id]; before != nil {
		for i := range before.Committee {
			d.takeAssignment(before.Committee[i].Runner, id, before.Committee[i].Drawn)
		}
		delete(d.jobs, id)
	}
	if d.specOf == id {
		d.spec = nil
	}
	if now := d.state.Job(id); now != nil {
		d.putJob(now)
	} else {
		delete(d.specs, id)
	}
}

// putJob enters a job for each of its committee whose result is not final.
func (d *jobIndex) putJob(j *system.Job) {
	if len(j.Committee) == 0 {
		return
	}
	d.jobs[j.ID] = j
	spec, known := d.specs[j.ID]
	if !known {
		spec = types.Keccak(d.state.JobSpec(j.ID))
		d.specs[j.ID] = spec
	}
	committed := j.AllCommitted()
	for i := range j.Committee {
		m := &j.Committee[i]
		if !m.Owes() {
			continue
		}
		a := gateway.Assignment{AssignmentID: gateway.AssignmentID{Job: j.ID, Drawn: m.Drawn}, Spec: spec, MaxReturn: j.Terms.MaxReturn,
			Deadline: j.Deadline(), CommitEnd: j.CommitDeadline(), Committee: len(j.Committee), AllCommitted: committed}
		if m.Committed > 0 {
			if made := d.state.Commitment(j.ID, m.Runner); made != nil {
				a.Commitments = []types.Hash{made.Commitment}
			}
		}
		d.of[m.Runner] = inOrder(d.of[m.Runner], a)
		d.open[assignment{m.Runner, a.AssignmentID}] = &a
	}
}

// inOrder inserts an assignment by the order of draws.
func inOrder(all []gateway.Assignment, a gateway.Assignment) []gateway.Assignment {
	at := len(all)
	for at > 0 && all[at-1].Drawn > a.Drawn {
		at--
	}
	return slices.Insert(slices.Clone(all), at, a)
}

// takeAssignment takes an assignment from a runner.
func (d *jobIndex) takeAssignment(runner types.Address, job types.Hash, drawn types.Height) {
	id := gateway.AssignmentID{Job: job, Drawn: drawn}
	delete(d.open, assignment{runner, id})
	rest := slices.DeleteFunc(slices.Clone(d.of[runner]), func(a gateway.Assignment) bool { return a.AssignmentID == id })
	if len(rest) == 0 {
		delete(d.of, runner)
	} else {
		d.of[runner] = rest
	}
}

// Runner implements gateway.Reader.
func (d *jobIndex) Runner(a types.Address) *gateway.Registration {
	r := d.state.Listed(a)
	if r == nil {
		return nil
	}
	return &gateway.Registration{Index: r.Index, Since: r.Since, Deregistered: r.Health == selection.Deregistered, Stake: r.Stake,
		MaxJobs: r.MaxJobs, LastHeartbeat: r.LastHeartbeat}
}

// Assignments implements gateway.Reader.
func (d *jobIndex) Assignments(runner types.Address) []gateway.Assignment { return d.of[runner] }

// Assignment implements gateway.Reader.
func (d *jobIndex) Assignment(runner types.Address, id gateway.AssignmentID) *gateway.Assignment {
	return d.open[assignment{runner, id}]
}

// Changed implements gateway.Reader.
func (d *jobIndex) Changed() ([]types.Hash, bool) { return d.since, true }

// Spec implements gateway.Reader.
func (d *jobIndex) Spec(job types.Hash) *push.JobSpec {
	if d.spec == nil || d.specOf != job {
		d.spec, d.specOf = d.state.Spec(job), job
	}
	return d.spec
}

// Ending implements gateway.Reader.
func (d *jobIndex) Ending(runner types.Address, a gateway.AssignmentID) gateway.Ending {
	end, known := d.ended[a.Job]
	switch {
	case !known || !slices.ContainsFunc(end.committee, func(m system.Member) bool { return m.Runner == runner && m.Drawn == a.Drawn }):
		return gateway.Failed
	case slices.Contains(end.revealed, runner):
		return gateway.Landed
	}
	return end.how
}

package ledger

import (
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// systemBlock lends the system actors this block.
func (r *run) systemBlock() *system.InBlock {
	return &system.InBlock{Params: r.params, State: r.state, Height: r.header.Height, Parent: r.header.Parent, Presence: r.presence.Bitmap,
		Recover: r.x.Verifier.Recover, Roster: r.parent.runners.roster,
		BaseFeeCycle: r.header.BaseFeeCycle, BaseFeeCell: r.header.BaseFeeCell, Within: r.actWithin}
}

// actWithin lets a contract act while another one acts; if it panics, neither
// continues.
func (r *run) actWithin(contract types.Address, step string, do func()) {
	_, err := r.x.newDeliverer().Run(actors.Native(func() program.Outcome {
		do()
		return program.Outcome{}
	}), nil, program.Code{}, program.Message{Kind: program.Call, Self: contract, Handler: step})
	if err != nil {
		panic(err)
	}
}

// systemActors is the system actors as programs and transactions reach them in a
// block: actors.System.
type systemActors struct{ run *run }

// Answers implements actors.System.
func (systemActors) Answers(a types.Address) bool { return system.Answers(a) }

// Cost implements actors.System.
func (s systemActors) Cost(m program.Message) (types.Cycles, types.Cells) {
	return system.Cost(s.run.params, m)
}

// Handle implements actors.System.
func (s systemActors) Handle(state *actors.State, m program.Message) (actors.SystemEffect, *program.Fault) {
	block := s.run.systemBlock()
	block.State = state
	effect, fault := block.Handle(m)
	if fault != nil {
		status := types.StatusReverted
		if fault.Code == system.CodeNoHandler {
			status = types.StatusNoHandler
		}
		return actors.SystemEffect{}, &program.Fault{Status: status, Code: fault.Code, Message: fault.Message}
	}
	return actors.SystemEffect(effect), nil
}

// advanceJobs ends overdue jobs and draws committees, after all steps of the block
// that can submit a job.
func (r *run) advanceJobs() error {
	var effect system.Effect
	if err := r.instructContract(types.DispatcherAddress, "advance", func() { effect = r.systemBlock().Advance() }); err != nil {
		return err
	}
	r.events = append(r.events, effect.Events...)
	r.jobs = append(r.jobs, effect.Jobs...)
	r.tellWaiting()
	return nil
}

// tellWaiting records the jobs that wait for runners from this block on: those that
// were submitted, or taken from a committee, and got no new one.
func (r *run) tellWaiting() {
	last := map[types.Hash]int{}
	for i := range r.jobs {
		last[r.jobs[i].ID] = i
	}
	var census *system.Census
	for i, c := range r.jobs[:len(r.jobs):len(r.jobs)] {
		if last[c.ID] != i || c.Status != system.Pending {
			continue
		}
		if census == nil {
			census = r.systemBlock().Census()
		}
		waiting := types.JobChange{Kind: types.JobChangeWaiting, ID: c.ID, Seq: c.Seq, Submitter: c.Submitter, At: c.At, Status: c.Status,
			Attempts: c.Attempts, Since: c.Since}
		if j := system.JobOf(r.state, c.ID); j != nil {
			waiting.Left = census.Of(j)
		}
		r.jobs = append(r.jobs, waiting)
	}
}

// tellCallback records that a job's outcome was delivered, with the fault of the
// handler if it failed. Only the dispatcher sends as 0x02.
func (r *run) tellCallback(m *actors.Message, fault *types.Fault) {
	if m.From == types.DispatcherAddress {
		r.jobs = append(r.jobs, types.JobChange{Kind: types.JobChangeCalledBack, ID: m.Cause, Submitter: &m.To, At: r.header.Height,
			Error: fault})
	}
}

// nextDeadline returns the lowest deadline of an open job.
func (s *State) nextDeadline() (types.Height, bool) { return system.NextDeadline(reader{s.tree}) }

// jobsDue reports whether the next block has to attend to jobs: a deadline has
// passed, or the round of draws has not reached some jobs.
func (s *State) jobsDue() bool {
	deadline, open := s.nextDeadline()
	return open && (deadline <= s.header.Height || system.JobsOf(reader{s.tree}).Left > 0 || system.Vacancies(reader{s.tree}))
}

// returnsLate reports whether the bound of a block left stakes or free places to the next
// one (decision J20).
func (s *State) returnsLate() bool {
	returns, waits := system.NextReturn(reader{s.tree})
	return waits && returns <= s.header.Height
}

// OpenJobs is how many jobs have not ended.
func (s *State) OpenJobs() uint64 { return system.JobsOf(reader{s.tree}).Open }

// Job returns an open job, or nil.
func (s *State) Job(id types.Hash) *system.Job { return system.JobOf(reader{s.tree}, id) }

// JobSpec returns the canonical JobSpec of an open job, or nil.
func (s *State) JobSpec(id types.Hash) []byte { return system.RawSpecOf(reader{s.tree}, id) }

// LeftOut counts the runners by the filter that excludes each from a draw for an open job in
// the next block, given the present runners (selection.Reason); nil if the job is unknown.
func (s *State) LeftOut(id types.Hash, present *selection.Bitmap) []uint32 {
	j := s.Job(id)
	if j == nil {
		return nil
	}
	p := s.NextParams()
	return system.NewCensus(s.runners.roster, selection.Filter{Height: s.Height() + 1, Phase: selection.PhaseOf(p), Presence: present,
		Limits: selection.LimitsOf(p)}).Of(j)
}

// Spec returns the JobSpec of an open job, or nil.
func (s *State) Spec(id types.Hash) *push.JobSpec { return system.SpecOf(reader{s.tree}, id) }

// Commitment is the one that counts for a member of an open job's committee, or nil.
func (s *State) Commitment(id types.Hash, member types.Address) *system.Commitment {
	return system.CommitmentOf(reader{s.tree}, id, member)
}

// Jobs calls each for every open job, by deadline, until it returns false.
func (s *State) Jobs(each func(*system.Job) bool) { system.OpenJobs(reader{s.tree}, each) }

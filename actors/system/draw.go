package system

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// maxJudged bounds how many runners all draws of a block look at together, so that
// no size of the registry makes a block late: 256 draws among 15,625 that are
// there. What is beyond waits for the next block.
const maxJudged = 4_000_000

// Advance attends to jobs at the end of a block: those whose deadline passed, by
// deadline, and then those that wait for runners, in the order of submission. Both
// are bounded; the rest is for the next block.
//
// Spec: CIP-1 §3 step 11, CIP-11 §§9, 11.2, decisions J4, J6.
func (b *InBlock) Advance() (effect Effect) {
	for _, id := range b.overdue() {
		b.expire(JobOf(b.State, id), &effect)
	}
	b.drawWaiting(&effect)
	return effect
}

// overdue lists jobs whose deadline is behind, as many as a block attends to.
func (b *InBlock) overdue() (ids []types.Hash) {
	b.State.Scan([]byte(prefixDeadline), keyDeadline(b.Height, 0), func(_, id []byte) bool {
		ids = append(ids, types.Hash(id))
		return uint64(len(ids)) < b.Params.MaxDraws
	})
	return ids
}

// expire ends a job that waited in vain, or settles one by what came.
func (b *InBlock) expire(j *Job, effect *Effect) {
	if j.Status == Pending {
		b.unindex(j)
		b.fail(j, ErrorNoCandidates, effect)
		return
	}
	b.conclude(j, effect)
}

// drawWaiting draws committees. Where more jobs wait than a block tries, the next
// block goes on behind the last: jobs that nobody can do keep none from its turn.
func (b *InBlock) drawWaiting(effect *Effect) {
	jobs := JobsOf(b.State)
	ids := b.waiting(jobs.Cursor)
	if len(ids) == 0 {
		return
	}
	urn := b.newDrawing()
	var last *Job
	all := uint64(len(ids)) < b.Params.MaxDraws
	for _, id := range ids {
		if urn.spent() {
			all = false
			break
		}
		last = JobOf(b.State, id)
		b.draw(last, urn, effect)
	}
	cursor := types.Seq(0)
	if !all && last != nil {
		cursor = last.Seq + 1
	}
	if cursor != jobs.Cursor {
		jobs = JobsOf(b.State)
		jobs.Cursor = cursor
		b.setJobs(jobs)
	}
}

// waiting lists jobs that wait to be drawn, from the cursor on and then those
// before it, as many as a block tries.
func (b *InBlock) waiting(cursor types.Seq) (ids []types.Hash) {
	take := func(_, id []byte) bool {
		ids = append(ids, types.Hash(id))
		return uint64(len(ids)) < b.Params.MaxDraws
	}
	b.State.Scan(keyWaiting(cursor), after(prefixWaiting), take)
	if cursor > 0 && uint64(len(ids)) < b.Params.MaxDraws {
		b.State.Scan([]byte(prefixWaiting), keyWaiting(cursor), take)
	}
	return ids
}

// drawing is what the draws of one block share.
type drawing struct {
	runners []selection.Runner // who passes what no job decides, sorted by address
	weights []uint64           // theirs
	buffer  []selection.Candidate
	judged  int
	few     map[selection.Demand]uint64 // candidates there were, where they were too few; a block only makes them fewer
	filter  selection.Filter            // without demand and exclusion
}

func (d *drawing) spent() bool { return d.judged >= maxJudged }

func (b *InBlock) newDrawing() *drawing {
	p := b.Params
	d := &drawing{few: map[selection.Demand]uint64{}, filter: selection.Filter{
		Height: b.Height, Phase: selection.PhaseOf(p), Presence: b.Presence, Limits: selection.LimitsOf(p)}}
	d.runners = b.roster().Available(&d.filter)
	for i := range d.runners {
		d.weights = append(d.weights, selection.Weight(d.runners[i].Stake, p.MinStake))
	}
	return d
}

// candidates are those of the runners who pass a job's filters, until the next
// call.
func (d *drawing) candidates(j *Job) []selection.Candidate {
	filter := d.filter
	filter.Demand, filter.Excluded = j.demand(), j.Excluded
	d.judged += len(d.runners)
	d.buffer = filter.Candidates(d.buffer[:0], d.runners, d.weights)
	return d.buffer
}

func (b *InBlock) roster() *Roster {
	if b.Roster == nil {
		return NewRoster(b.State)
	}
	return b.Roster.After(b.State)
}

// draw gives a job a committee, where there are enough candidates; else it goes on
// waiting (decision J4).
func (b *InBlock) draw(j *Job, d *drawing, effect *Effect) {
	demand := j.demand()
	if found, tried := d.few[demand]; tried && found < j.Terms.Runners {
		return
	}
	candidates := d.candidates(j)
	if found := uint64(len(candidates)); found < j.Terms.Runners {
		if len(j.Excluded) == 0 {
			d.few[demand] = found
		}
		return
	}
	seed := j.Seed
	if j.Attempts == 0 {
		seed = selection.Seed(b.Parent, j.ID, j.At)
		j.Seed = seed
	} else {
		seed = selection.RetrySeed(seed, j.Attempts)
	}
	committee, _ := selection.Draw(seed, candidates, int(j.Terms.Runners), b.favour(j))
	b.assign(j, committee, d)
	effect.changed(types.DispatcherAddress, j.change(types.JobChangeDrawn, b.Height), j.told())
}

// assign makes runners a job's committee.
func (b *InBlock) assign(j *Job, committee []types.Address, d *drawing) {
	b.unindex(j)
	j.Status, j.Since, j.Attempts = Assigned, b.Height, j.Attempts+1
	for _, runner := range committee {
		r := RunnerOf(b.State, runner)
		r.ActiveJobs++
		b.setStanding(r.Address, &r.Standing)
		at, _ := slices.BinarySearchFunc(d.runners, runner, byAddress)
		d.runners[at].ActiveJobs = r.ActiveJobs
		j.Committee = append(j.Committee, Member{Runner: runner, Card: r.Offer.RateCard})
	}
	b.index(j)
	b.put(j)
}

// favour is the runner that completed the submitter's last job of the kind. A
// record that weighs no more is taken out.
//
// Spec: CIP-11 §§9.3, 9.4.
func (b *InBlock) favour(j *Job) selection.Favour {
	key := keyMRU(j.Submitter, j.Kind)
	mru := load[selection.MRU](b.State, types.DispatcherAddress, key)
	switch {
	case mru == nil:
		return selection.Favour{}
	case !mru.Favours(b.Height, b.Params.MRUTTLBlocks):
		b.State.DeleteStorage(types.DispatcherAddress, key)
		return selection.Favour{}
	}
	return selection.Favour{Runner: mru.Runner, Multiplier: uint32(b.Params.MRUWeightMultiplier)}
}

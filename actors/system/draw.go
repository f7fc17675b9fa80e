package system

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// maxJudged bounds how many runners all draws of a block examine together, so that
// no size of the registry delays a block: 256 draws among 15,625 available runners.
// Further draws wait for the next block.
const maxJudged = 4_000_000

// Advance attends to jobs at the end of a block: first the jobs whose deadline passed,
// by deadline, then the draws. Then it returns the stakes whose time has come. All three
// are bounded; the rest is for the next block.
//
// Spec: CIP-1 §3 step 11, CIP-11 §§9, 11.2, decisions J2, J4, J6, J12, J20.
func (b *InBlock) Advance() (effect Effect) {
	var census *Census
	for _, id := range b.listOverdue() {
		j := JobOf(b.State, id)
		if j.Status == Pending && census == nil {
			census = b.Census()
		}
		b.expireJob(j, census, &effect)
	}
	b.drawWaiting(&effect)
	b.returnStakes(&effect)
	return effect
}

// listOverdue lists jobs whose deadline is behind, as many as a block attends to.
func (b *InBlock) listOverdue() (ids []types.Hash) {
	b.State.Scan([]byte(prefixDeadline), keyDeadline(b.Height, 0), func(_, id []byte) bool {
		ids = append(ids, types.Hash(id))
		return uint64(len(ids)) < b.Params.MaxDraws
	})
	return ids
}

// expireJob ends a job that waited too long, or settles a job by the results that
// came. A job that was drawn before it waited ends with the code of its last draw.
//
// Spec: decisions J4, J19.
func (b *InBlock) expireJob(j *Job, census *Census, effect *Effect) {
	if j.Status == Pending {
		b.unindexJob(j)
		left, code := census.Of(j), ErrorNoCandidates
		if j.Ended != "" {
			code = j.Ended
		}
		b.failJob(j, code, effect)
		effect.Jobs[len(effect.Jobs)-1].Left = left
		return
	}
	b.concludeAttempt(j, effect)
}

// drawWaiting draws committees: first for the jobs that begin to wait in this block,
// in the order of submission, then for places that refusals emptied, then for the next
// jobs of the round. A round goes once over all waiting jobs. It begins when the
// registry, P or a parameter changes, so that no draw is spent on a job for which
// nothing changed.
//
// Spec: decisions J2, J4, J21.
func (b *InBlock) drawWaiting(effect *Effect) {
	vacant := b.listVacant(b.Params.MaxDraws)
	if first, _ := b.listWaiting(nil, nil, 1); len(first)+len(vacant) == 0 {
		return
	}
	jobs := JobsOf(b.State)
	before := jobs
	if pool := b.poolHash(); pool != jobs.Pool || b.wroteRegistry() {
		jobs.Pool, jobs.Left = pool, jobs.Open
	}
	fresh, more := b.listWaiting(keyWaiting(b.Height, 0), nil, b.Params.MaxDraws)
	turns := b.Params.MaxDraws - uint64(len(fresh))
	vacant = vacant[:min(uint64(len(vacant)), (turns+1)/2)]
	old, all := b.nextRound(jobs, min(jobs.Left, turns-uint64(len(vacant))))
	var urn *drawing
	if len(fresh)+len(vacant)+len(old) > 0 {
		urn = b.newDrawing()
	}
	tried := b.drawAll(fresh, urn, effect)
	for _, id := range vacant {
		if !urn.isSpent() {
			b.refillPlaces(JobOf(b.State, id), urn, effect)
		}
	}
	tried = append(tried, b.drawAll(old, urn, effect)...)
	next := Place{Since: b.Height}
	if len(tried) > 0 {
		next = tried[len(tried)-1]
		next.Seq++
	}
	switch ofOld := len(tried) - len(fresh); {
	case ofOld < 0 || more: // a new job was not tried: the round comes to it
		if jobs.Left == 0 || all && len(old) == 0 {
			jobs.Cursor = next
		}
		jobs.Left = jobs.Open
	case all && ofOld == len(old):
		jobs.Left, jobs.Cursor = 0, Place{}
	case ofOld > 0:
		jobs.Left, jobs.Cursor = jobs.Left-uint64(ofOld), next
	}
	if jobs != before {
		now := JobsOf(b.State) // a job may have ended
		now.Cursor, now.Left, now.Pool = jobs.Cursor, jobs.Left, jobs.Pool
		b.setJobs(now)
	}
}

// drawAll draws for jobs in turn, until the block has judged as many runners as it may.
// It returns the places of the jobs it tried.
func (b *InBlock) drawAll(ids []types.Hash, urn *drawing, effect *Effect) (tried []Place) {
	for _, id := range ids {
		if urn.isSpent() {
			break
		}
		j := JobOf(b.State, id)
		tried = append(tried, Place{Since: j.Since, Seq: j.Seq})
		b.drawCommittee(j, urn, effect)
	}
	return tried
}

// nextRound lists the next jobs of the round, up to most, and reports whether they are all
// jobs that waited before this block.
func (b *InBlock) nextRound(jobs Jobs, most uint64) (ids []types.Hash, all bool) {
	cursor, end := keyWaiting(jobs.Cursor.Since, jobs.Cursor.Seq), keyWaiting(b.Height, 0)
	ids, more := b.listWaiting(cursor, end, most)
	if more {
		return ids, false
	}
	rest, more := b.listWaiting(nil, cursor, most-uint64(len(ids)))
	return append(ids, rest...), !more
}

// listWaiting lists up to most jobs that wait under keys in [from, to), and reports
// whether there are more. A nil bound is the bound of all waiting jobs.
func (b *InBlock) listWaiting(from, to []byte, most uint64) (ids []types.Hash, more bool) {
	if from == nil {
		from = []byte(prefixWaiting)
	}
	if to == nil {
		to = keyAfterPrefix(prefixWaiting)
	}
	b.State.Scan(from, to, func(_, id []byte) bool {
		if more = uint64(len(ids)) == most; !more {
			ids = append(ids, types.Hash(id))
		}
		return !more
	})
	return ids, more
}

// poolHash identifies what decides who may be drawn, except for the registry: P, parameters,
// and the reputations that time gives back.
func (b *InBlock) poolHash() types.Hash {
	p := b.Params
	return types.Keccak(b.Presence.Bytes(), codec.Marshal([]any{p.Push, p.MinStake, p.MinReputation, p.StaleHeartbeatBlocks,
		p.StakeCoverPermille, uint64(b.Height) / p.RecoveryBlocks}))
}

// wroteRegistry reports whether this block wrote a runner's record.
func (b *InBlock) wroteRegistry() bool {
	return slices.ContainsFunc(b.State.StorageWritten(types.RegistryAddress), func(key []byte) bool {
		_, is := RunnerIn(key)
		return is
	})
}

// drawing is the state that the draws of one block share.
type drawing struct {
	all     *Roster
	runners []selection.Runner // who passes what no job decides, sorted by address
	weights []uint64           // theirs
	buffer  []selection.Candidate
	judged  int
	kept    int                         // candidates that are reported
	few     map[selection.Demand]uint64 // number of candidates, if they were too few; a block only makes them fewer
	filter  selection.Filter            // without demand and exclusion
}

func (d *drawing) isSpent() bool { return d.judged >= maxJudged }

func (b *InBlock) newDrawing() *drawing {
	p := b.Params
	d := &drawing{few: map[selection.Demand]uint64{}, filter: selection.Filter{
		Height: b.Height, Phase: selection.PhaseOf(p), Presence: b.Presence, Limits: selection.LimitsOf(p)}}
	d.all = b.currentRoster()
	d.runners = d.all.Available(&d.filter)
	d.weights = d.filter.Weights(d.runners)
	return d
}

// candidatesFor returns the runners that pass a job's filters; the list is valid until
// the next call. excluded is sorted.
func (d *drawing) candidatesFor(j *Job, excluded []types.Address) []selection.Candidate {
	filter := d.filter
	filter.Demand, filter.Excluded = j.demandOf(), excluded
	d.judged += len(d.runners)
	d.buffer = filter.Candidates(d.buffer[:0], d.runners, d.weights)
	return d.buffer
}

func (b *InBlock) currentRoster() *Roster {
	if b.Roster == nil {
		return NewRoster(b.State)
	}
	return b.Roster.After(b.State)
}

// drawCommittee gives a job a committee, if there are enough candidates; otherwise the job
// continues to wait (decision J4).
func (b *InBlock) drawCommittee(j *Job, d *drawing, effect *Effect) {
	demand := j.demandOf()
	var candidates []selection.Candidate
	found, tried := d.few[demand]
	if !tried || found >= j.Terms.Runners {
		candidates = d.candidatesFor(j, j.Excluded)
		found = uint64(len(candidates))
	}
	if found < j.Terms.Runners {
		if len(j.Excluded) == 0 {
			d.few[demand] = found
		}
		if j.endedByAnswers() && !d.mayServe(j) {
			b.unindexJob(j)
			b.failJob(j, j.Ended, effect)
		}
		return
	}
	basis, seed := j.Seed, j.Seed
	if j.Attempts == 0 {
		basis, seed = b.Parent, selection.Seed(b.Parent, j.ID, j.At)
		j.Seed = seed
	} else {
		seed = selection.RetrySeed(seed, j.Attempts)
	}
	favour := b.favourOf(j)
	committee, _ := selection.Draw(seed, candidates, int(j.Terms.Runners), favour)
	b.assignCommittee(j, committee, d)
	change := j.newChange(types.JobChangeDrawn, b.Height)
	change.Draw = d.newDrawReport(basis, seed, candidates, favour)
	effect.addJobChange(types.DispatcherAddress, change, j.newJobEvent())
}

// assignCommittee makes runners a job's committee.
func (b *InBlock) assignCommittee(j *Job, committee []types.Address, d *drawing) {
	b.unindexJob(j)
	j.Status, j.Since, j.Attempts = Assigned, b.Height, j.Attempts+1
	for _, runner := range committee {
		j.Committee = append(j.Committee, b.engageRunner(runner, d))
	}
	b.indexJob(j)
	b.putJob(j)
}

// engageRunner makes a runner that was drawn a member of a committee.
func (b *InBlock) engageRunner(runner types.Address, d *drawing) Member {
	r := RunnerOf(b.State, runner)
	r.ActiveJobs++
	b.setStanding(r.Address, &r.Standing)
	at, _ := slices.BinarySearchFunc(d.runners, runner, byAddress)
	d.runners[at].ActiveJobs = r.ActiveJobs
	return Member{Runner: runner, Card: r.Offer.RateCard, Drawn: b.Height}
}

// favourOf is the runner that completed the submitter's last job of the kind. A
// record that weighs no more is taken out.
//
// Spec: CIP-11 §§9.3, 9.4.
func (b *InBlock) favourOf(j *Job) selection.Favour {
	key := keyMRU(j.Submitter, j.Kind)
	mru := loadRecord[selection.MRU](b.State, types.DispatcherAddress, key)
	switch {
	case mru == nil:
		return selection.Favour{}
	case !mru.Favours(b.Height, b.Params.MRUTTLBlocks):
		b.State.DeleteStorage(types.DispatcherAddress, key)
		return selection.Favour{}
	}
	return selection.Favour{Runner: mru.Runner, Multiplier: uint32(b.Params.MRUWeightMultiplier)}
}

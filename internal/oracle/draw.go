package oracle

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// favourKey is the submitter and kind of a completed job, favour its runner (CIP-11
// §9.4).
type favourKey struct {
	submitter types.Address
	kind      jobKind
}

type favour struct {
	runner types.Address
	at     types.Height
}

// maxLooked is how many runners the draws of one block look at together.
const maxLooked = 4_000_000

// endBlock repeats the steps at the end of a block: first the jobs whose deadline
// has passed, by deadline, then the draws, in the order of submission, then the
// stakes that return (decisions J4, J6, J20, CIP-11 §11.2).
func (w *work) endBlock(o *Observation) {
	late := w.inOrder(func(j *job) bool { return j.deadlineHeight() < w.height && j.spec.TimeoutBlocks > 0 },
		func(a, b *job) int { return cmp.Or(cmp.Compare(a.deadlineHeight(), b.deadlineHeight()), bySeq(a, b)) })
	for _, j := range late[:min(len(late), int(w.rules.Draws))] {
		switch {
		case !j.pending:
			w.concludeAttempt(j)
		case j.attempts > 0: // drawn, and its runners failed it
			w.failJob(j, j.ended)
		default:
			w.failJob(j, "no_candidates")
		}
	}
	w.drawAll(o)
	w.giveBack()
}

// endedByAnswers reports whether the last draw of a waiting job ended by answers that did not
// complete it, and not by silence (decisions J19, J21).
func (j *job) endedByAnswers() bool { return j.ended != "" && j.ended != "timeout" }

// drawAll draws first for the jobs that begin to wait in this block, then continues
// the round: once over all older ones, whenever the set of candidates may have changed
// (decisions J2, J4).
func (w *work) drawAll(o *Observation) {
	waits := func(j *job) bool { return j.pending && j.spec.TimeoutBlocks > 0 }
	fresh := w.inOrder(func(j *job) bool { return waits(j) && j.since == w.height }, bySeq)
	older := w.inOrder(func(j *job) bool { return waits(j) && j.since < w.height }, bySince)
	vacant := w.inOrder(func(j *job) bool { return j.vacant }, bySeq)
	if len(fresh)+len(older)+len(vacant) == 0 {
		return
	}
	if now := w.rules.candidatePool(w.present, w.height); w.touched || now != w.round.pool {
		w.round.pool, w.round.left = now, len(w.open)
	}
	most := int(w.rules.Draws)
	untried := len(fresh) > most
	fresh = fresh[:min(len(fresh), most)]
	if from := slices.IndexFunc(older, func(j *job) bool { return bySince(j, &w.round.next) >= 0 }); from > 0 {
		older = append(slices.Clone(older[from:]), older[:from]...)
	}
	vacant = vacant[:min(len(vacant), (most-len(fresh)+1)/2)]
	turn := older[:min(len(older), most-len(fresh)-len(vacant), w.round.left)]
	d := drawing{work: w, runners: w.availableRunners(), few: map[demand]int{}}
	for _, r := range d.runners {
		d.halves = d.halves || d.countRefusals(r) > 0
	}
	drawn, at := 0, job{since: w.height}
	walk := func(jobs []*job) {
		for _, j := range jobs {
			if d.looked >= maxLooked {
				return
			}
			at = job{since: j.since, seq: j.seq + 1}
			d.drawCommittee(j, o.Block.Header.Parent)
			drawn++
		}
	}
	walk(fresh)
	for _, j := range vacant {
		if d.looked < maxLooked {
			d.refillPlaces(j, o.Block.Header.Parent)
		}
	}
	walk(turn)
	switch over := drawn - len(fresh); {
	case over < 0 || untried:
		if w.round.left == 0 || len(older) == 0 {
			w.round.next = at
		}
		w.round.left = len(w.open)
	case over == len(older):
		w.round.left, w.round.next = 0, job{}
	case over > 0:
		w.round.left, w.round.next = w.round.left-over, at
	}
}

// round is how far the draws have come with the jobs that wait.
type round struct {
	pool string // inputs of the candidates, besides the registry
	left int    // jobs to draw for, at most
	next job    // only by since and seq: where to continue
}

// candidatePool returns the inputs of the candidates besides the registry: P and parameters.
func (r *JobRules) candidatePool(present []byte, height types.Height) string {
	return fmt.Sprint(present, r.Push, uint64(height)/r.RecoveryBlocks, r.MinStake, r.MinReputation, r.StaleBlocks, r.CoverPermille)
}

// bySince orders jobs by the height since which they wait, then by submission.
func bySince(a, b *job) int { return cmp.Or(cmp.Compare(a.since, b.since), bySeq(a, b)) }

// demand holds a job's inputs of the candidates besides its exclusions.
type demand struct {
	kind    jobKind
	subject string
	tee     bool
	pool    string
	price   types.Wei
}

func (j *job) demandOf() demand {
	d := demand{kind: j.spec.kind, subject: j.spec.subject, tee: j.spec.Verification.TEERequired, price: j.spec.MaxPrice}
	if j.spec.Pool != nil {
		d.pool = *j.spec.Pool
	}
	return d
}

// drawing is the draws of one block.
type drawing struct {
	*work
	runners []*Runner      // who passes what no job decides, by address
	few     map[demand]int // number of candidates, if they were too few; a block only makes them fewer
	looked  int
	halves  bool // a runner refused within the window
}

// availableRunners are the runners that pass filters 1, 1.5 and 2 of CIP-11 §9.1.
func (w *work) availableRunners() (out []*Runner) {
	for _, r := range w.runners.places {
		if r == nil {
			continue
		}
		silent := w.height > r.LastHeartbeat && uint64(w.height-r.LastHeartbeat) > w.rules.StaleBlocks
		absent := int(r.Index) >= len(w.present) || w.present[r.Index] == 0
		switch {
		case r.Health != Healthy, silent && w.rules.Push != "sunset":
		case absent && (w.rules.Push == "hot" || w.rules.Push == "sunset"):
		case w.reputationOf(r) < w.rules.MinReputation:
		default:
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Runner) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	return out
}

// candidatesFor are those who pass all filters of a job, by address.
func (d *drawing) candidatesFor(j *job, without map[types.Address]bool) (out []*Runner) {
	d.looked += len(d.runners)
	want := j.demandOf()
	cover := new(big.Int).Mul(want.price.Big(), new(big.Int).SetUint64(d.rules.CoverPermille))
	for _, r := range d.runners {
		funds := new(big.Int).Mul(r.Stake.Big(), big.NewInt(permille))
		switch {
		case without[r.Address], !r.Offer.canServe(want.kind, want.subject), want.tee && !r.Offer.isTrusted():
		case want.price.Less(r.Offer.ComputeSecond), r.ActiveJobs >= r.Offer.MaxJobs:
		case want.pool != "" && !slices.Contains(r.Offer.Entitlements, want.pool), funds.Cmp(cover) < 0:
		default:
			out = append(out, r)
		}
	}
	return out
}

// drawCommittee gives a job a committee if there are enough candidates (decisions J2, J4).
func (d *drawing) drawCommittee(j *job, parent types.Hash) {
	wanted := int(j.spec.Verification.Runners)
	var candidates []*Runner
	found, tried := d.few[j.demandOf()]
	if !tried || found >= wanted {
		candidates = d.candidatesFor(j, j.excluded)
		found = len(candidates)
	}
	if found < wanted {
		if len(j.excluded) == 0 {
			d.few[j.demandOf()] = found
		}
		if j.endedByAnswers() && !d.mayServe(j) {
			d.failJob(j, j.ended)
		}
		return
	}
	seed := keccak256(j.seed[:], []byte("retry:"), le4(j.attempts))
	if j.attempts == 0 {
		seed = keccak256(parent[:], []byte("cowboy-runner-select-v2:"), j.id[:], le8(uint64(j.spec.SubmittedAt)))
		j.seed = seed
	}
	j.lots = seed
	key := favourKey{j.spec.Submitter, j.spec.kind}
	last, known := d.mru[key]
	if known && uint64(d.height-last.at) > d.rules.MRUBlocks {
		delete(d.mru, key)
		known = false
	}
	j.pending, j.since, j.attempts, j.committee = false, d.height, j.attempts+1, nil
	for _, r := range drawByWeight(seed, candidates, wanted, func(r *Runner, step int) uint64 {
		weight := d.weightOf(r)
		if known && step == 0 && r.Address == last.runner {
			weight *= d.rules.MRUMultiplier
		}
		return weight
	}) {
		r.ActiveJobs++
		j.committee = append(j.committee, &member{runner: r.Address, offer: r.Offer, drawn: d.height})
	}
	d.seen.Draws++
	d.expectJobEvent("job.drawn", j, nil, nil, types.DispatcherAddress)
}

// drawByWeight is the weighted Fisher-Yates of CIP-11 §9.2, walked step by step.
func drawByWeight(seed types.Hash, from []*Runner, wanted int, weight func(*Runner, int) uint64) []*Runner {
	urn := slices.Clone(from)
	for step := range wanted {
		seed = keccak256(seed[:], le8(uint64(step)))
		total := uint64(0)
		for _, r := range urn[step:] {
			total += weight(r, step)
		}
		ticket := binary.LittleEndian.Uint64(seed[:8]) % total
		at := step
		for ; ticket >= weight(urn[at], step); at++ {
			ticket -= weight(urn[at], step)
		}
		urn[step], urn[at] = urn[at], urn[step]
	}
	return urn[:wanted]
}

// stakeWeight is floor(log2(stake / least + 1)) + 1, which is how many binary digits
// the quotient and one has (decision J3).
func stakeWeight(stake, least types.Wei) uint64 {
	n := new(big.Int).Div(stake.Big(), least.Big())
	return uint64(n.Add(n, big.NewInt(1)).BitLen())
}

// weightOf returns a runner's weight: by its stake, and in sixteenths if any runner
// refused within the window, halved for each refusal, four times at most (decision
// J21).
func (d *drawing) weightOf(r *Runner) uint64 {
	weight := stakeWeight(r.Stake, d.rules.MinStake)
	if !d.halves {
		return weight
	}
	weight *= 16
	for range min(d.countRefusals(r), 4) {
		weight /= 2
	}
	return weight
}

func (d *drawing) countRefusals(r *Runner) uint64 {
	if uint64(d.height-r.RefusedAt) < d.rules.RefusalBlocks {
		return r.Refusals
	}
	return 0
}

// refillPlaces draws for the places that refusals emptied: single ones while others work,
// otherwise for a whole committee (decision J21).
func (d *drawing) refillPlaces(j *job, parent types.Hash) {
	j.vacant = false
	without := map[types.Address]bool{}
	for a := range j.excluded { // order: a set
		without[a] = true
	}
	var empty []*member
	for _, m := range j.committee {
		if m.refused > 0 {
			empty = append(empty, m)
		} else {
			without[m.runner] = true
		}
	}
	if len(empty) == len(j.committee) {
		if !slices.ContainsFunc(empty, func(m *member) bool { return !d.refusedInTime(m) }) {
			j.declined++
		}
		d.retryJob(j, "refused")
		if d.open[j.id] != nil {
			d.drawCommittee(j, parent)
		}
		return
	}
	if over := uint64(d.height - j.since); over > j.terms.commitBlocks || 2*(j.terms.commitBlocks-over) < j.terms.commitBlocks {
		return // less than half of the time to commit is left
	}
	candidates := d.candidatesFor(j, without)
	n := min(len(empty), len(candidates))
	if n == 0 {
		return
	}
	seed := keccak256(j.seed[:], []byte("refusal:"), le4(j.refusals))
	for i, r := range drawByWeight(seed, candidates, n, func(r *Runner, _ int) uint64 { return d.weightOf(r) }) {
		r.ActiveJobs++
		*empty[i] = member{runner: r.Address, offer: r.Offer, drawn: d.height}
	}
	d.seen.Draws++
	d.expectJobEvent("job.drawn", j, nil, nil, types.DispatcherAddress)
}

// mayServe reports whether enough runners may do a job by their registry entries,
// even if they are away or busy.
func (d *drawing) mayServe(j *job) bool {
	for _, r := range d.work.runners.places {
		if r != nil {
			d.looked++
		}
	}
	want := j.demandOf()
	cover := new(big.Int).Mul(want.price.Big(), new(big.Int).SetUint64(d.rules.CoverPermille))
	n := 0
	for _, r := range d.work.runners.known { // order: counted
		silent := d.height > r.LastHeartbeat && uint64(d.height-r.LastHeartbeat) > d.rules.StaleBlocks && d.rules.Push != "sunset"
		may := r.Health == Healthy && !silent && d.reputationOf(r) >= d.rules.MinReputation && !j.excluded[r.Address] &&
			r.Offer.canServe(want.kind, want.subject) && (!want.tee || r.Offer.isTrusted()) && !want.price.Less(r.Offer.ComputeSecond) &&
			(want.pool == "" || slices.Contains(r.Offer.Entitlements, want.pool)) &&
			new(big.Int).Mul(r.Stake.Big(), big.NewInt(permille)).Cmp(cover) >= 0
		if may {
			n++
		}
	}
	return n >= int(j.spec.Verification.Runners)
}

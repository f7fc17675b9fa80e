package oracle

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Spec is the JobSpec of an open job, in its canonical form.
type Spec struct {
	Job  types.Hash
	Spec []byte
}

// work is all runners and jobs by this package's own count. It starts from the
// orders of owners and submitters and the reports that validators bring, derives
// the rest, and compares it with the chain's events, payments and state (decisions
// J1 to J7, J15, J16, J18 to J20).
type work struct {
	*Judge
	runners registry
	open    map[types.Hash]*job
	nonces  map[types.Address]uint64 // jobs submitted
	mru     map[favourKey]favour
	next    types.Seq // of the next job
	round   round
	unseen  uint64 // jobs that came and went within a block
	callers map[types.Hash]*callback

	// State of the judged block.
	rules    JobRules
	lane     LaneRules
	height   types.Height
	epoch    types.Epoch
	header   *types.Header
	present  []byte // P(parent), one byte per runner
	touched  bool   // a runner's record was written
	written  map[types.Address]*Runner
	specs    map[types.Hash][]byte
	expected []types.Event
	moved    []transfer
	calls    []*callback
}

func newWork(j *Judge) *work {
	w := &work{Judge: j, runners: registry{known: map[types.Address]*Runner{}}, open: map[types.Hash]*job{},
		nonces: map[types.Address]uint64{}, mru: map[favourKey]favour{}, callers: map[types.Hash]*callback{}}
	for i := range j.rules.Runners {
		r := j.rules.Runners[i]
		w.enterRunner(&r)
	}
	return w
}

func (w *work) reportWrong(format string, args ...any) {
	w.reportViolation("jobs", w.height, types.Address{}, format, args...)
}

// transfer is money that a block moves for runners and jobs.
type transfer struct {
	from, to types.Address
	amount   *big.Int
}

func (w *work) moveMoney(from, to types.Address, amount *big.Int) {
	w.moved = append(w.moved, transfer{from, to, amount})
}

// callback is the message that reports a job's outcome to an actor.
type callback struct {
	job         *job
	payload     []byte
	cycle, cell types.Wei // what the escrow paid for each
}

// job is an open job.
type job struct {
	id        types.Hash
	seq       types.Seq
	spec      spec
	raw       []byte // its spec, canonical
	terms     terms
	pending   bool
	attempts  uint32
	seed      types.Hash
	lots      types.Hash // the seed of the last draw of a whole committee
	since     types.Height
	committee []*member
	excluded  map[types.Address]bool
	vacant    bool // a place is to be drawn again
	refusals  uint32
	declined  uint32   // draws whose whole committee refused while that was free
	ended     string   // how its last draw ended; "" if none did
	why       string   // of the last refusal, or of results that do not count
	earlier   []result // of attempts before this one
}

// result is a result of an attempt that did not complete its job.
type result struct {
	runner types.Address
	claim  claim
}

type member struct {
	runner      types.Address
	offer       Offer // when it was drawn
	commitments []commitment
	revealed    types.Height
	claim       claim
	bytes       uint64
	result      []byte
	drawn       types.Height
	refused     types.Height // 0: not; then it is a member no more
}

type commitment struct {
	height types.Height
	of     types.Hash
}

func (j *job) deadlineHeight() types.Height { return j.since + types.Height(j.spec.TimeoutBlocks) }

func (j *job) commitDeadline() types.Height { return j.since + types.Height(j.terms.commitBlocks) }

func (j *job) memberOf(runner types.Address) *member {
	for _, m := range j.committee {
		if m.runner == runner && m.refused == 0 {
			return m
		}
	}
	return nil
}

func (j *job) memberAddresses() []types.Address {
	all := []types.Address{}
	for _, m := range j.committee {
		if m.refused == 0 {
			all = append(all, m.runner)
		}
	}
	return all
}

// hasCommittedTo reports whether the first commitment was in an earlier block, and to this
// result.
func (m *member) hasCommittedTo(of types.Hash, height types.Height) bool {
	return len(m.commitments) > 0 && m.commitments[0].of == of && m.commitments[0].height < height
}

// tookEmptiedPlace reports whether a member took an emptied place (decision J21).
func (j *job) tookEmptiedPlace(m *member) bool { return m.drawn != j.since }

// takesReveals reports whether a block takes reveals: all committed in earlier ones,
// or the commit deadline is past (decision J15). An emptied place counts while it may be
// drawn again (decision J21).
func (j *job) takesReveals(height types.Height) bool {
	if height > j.commitDeadline() {
		return true
	}
	for _, m := range j.committee {
		if m.refused > 0 && !j.vacant {
			continue
		}
		if len(m.commitments) == 0 || m.commitments[0].height >= height {
			return false
		}
	}
	return true
}

// isDone reports whether nothing more can come: a single runner's result did, or the
// commit phase is over and who committed revealed (decision J19).
func (j *job) isDone(height types.Height) bool {
	if len(j.committee) == 1 {
		return j.committee[0].revealed > 0
	}
	for _, m := range j.committee {
		if len(m.commitments) > 0 && m.revealed == 0 {
			return false
		}
	}
	return j.takesReveals(height)
}

// jobEvent is the data of the chain's events about a job.
type jobEvent struct {
	ID        types.Hash      `cbor:"id"`
	Attempt   uint32          `cbor:"attempt"`
	Committee []types.Address `cbor:"committee"`
	Runner    *types.Address  `cbor:"runner"`
	Validator *types.Address  `cbor:"validator"`
	Price     *types.Wei      `cbor:"price"`
	Error     *string         `cbor:"error"`
}

func (j *job) newEvent() jobEvent {
	return jobEvent{ID: j.id, Attempt: j.attempts, Committee: j.memberAddresses()}
}

func (w *work) expectEvent(of types.Address, name string, data []byte) {
	w.expected = append(w.expected, types.Event{Actor: of, Name: name, Data: data})
}

// expectJobEvent expects an event about a job.
func (w *work) expectJobEvent(name string, j *job, runner, validator *types.Address, of types.Address) {
	e := j.newEvent()
	e.Runner, e.Validator = runner, validator
	w.expectEvent(of, name, codec.Marshal(&e))
}

// judgeRunnersAndJobs judges what a block did to runners and jobs.
func (w *work) judgeRunnersAndJobs(o *Observation) {
	h := &o.Block.Header
	w.rules, w.lane, w.height, w.epoch, w.header = o.Jobs, o.Lane, h.Height, h.Epoch, h
	w.present = w.judgePresence(o)
	w.written, w.specs = map[types.Address]*Runner{}, map[types.Hash][]byte{}
	w.expected, w.moved, w.calls, w.touched = nil, nil, nil, false
	for i := range o.Runners {
		w.written[o.Runners[i].Address] = &o.Runners[i]
	}
	for _, s := range o.Specs {
		w.specs[s.Job] = s.Spec
	}
	brought, enters := map[types.Hash]*report{}, map[types.Hash]*entry{}
	for i := range o.Block.Transactions {
		tx := &o.Block.Transactions[i]
		if r := w.reportOf(tx); r != nil {
			brought[keccak256(codec.Marshal(tx))] = r
		} else if e := w.entryOf(tx); e != nil {
			enters[keccak256(codec.Marshal(tx))] = e
		}
	}
	for i := range o.Receipts {
		w.followExecution(&o.Receipts[i], brought[o.Receipts[i].Hash])
		w.judgeRegistration(&o.Receipts[i], enters[o.Receipts[i].Hash])
	}
	w.endBlock(o)
	w.compareEvents("the end of the block", ofSystem(o.Events))
	w.compareRunners(o)
	w.calledBack(o)
	w.judgeJobsWithoutSpec()
}

// followExecution follows one execution: a report, or whatever reached a system actor's
// handlers.
func (w *work) followExecution(r *types.Receipt, brought *report) {
	events := ofSystem(r.Events)
	if brought != nil {
		w.followReport(brought)
		w.compareEvents("a "+brought.op, events)
		return
	}
	var returned []types.Event
	for _, e := range events {
		switch {
		case e.Name == "runner.stake_returned":
			returned = append(returned, e)
		case e.Actor == types.RegistryAddress:
			var data runnerEvent
			if w.decodeEvent(&e, &data) {
				w.ownersWord(e.Name, &data)
			}
		default:
			var data jobEvent
			if w.decodeEvent(&e, &data) {
				w.submittersWord(&e, &data)
			}
		}
	}
	w.compareEvents("an execution", returned)
}

func (w *work) decodeEvent(e *types.Event, into any) bool {
	err := codec.Unmarshal(e.Data, types.MaxTransactionBytes, into)
	if err != nil {
		w.reportWrong("the event %s does not decode: %v", e.Name, err)
	}
	return err == nil
}

// ofSystem are the events of the actors that know runners and jobs.
func ofSystem(events []types.Event) (of []types.Event) {
	for _, e := range events {
		if e.Actor == types.RegistryAddress || e.Actor == types.DispatcherAddress || e.Actor == types.VerifierAddress {
			of = append(of, e)
		}
	}
	return of
}

// compareEvents holds what the chain tells against what it was to tell.
func (w *work) compareEvents(where string, told []types.Event) {
	want := w.expected
	w.expected = nil
	for i := range max(len(told), len(want)) {
		if i < len(told) && i < len(want) && told[i].Actor == want[i].Actor && told[i].Name == want[i].Name &&
			bytes.Equal(told[i].Data, want[i].Data) {
			continue
		}
		is, was := "nothing", "nothing"
		if i < len(told) {
			is = inWords(&told[i])
		}
		if i < len(want) {
			was = inWords(&want[i])
		}
		w.reportWrong("%s tells %s; want %s", where, is, was)
		return
	}
}

// inWords tells an event for people.
func inWords(e *types.Event) string {
	var j jobEvent
	if codec.Unmarshal(e.Data, types.MaxTransactionBytes, &j) != nil {
		return fmt.Sprintf("%s %x", e.Name, []byte(e.Data))
	}
	text := fmt.Sprintf("%s of %s, attempt %d, committee %v", e.Name, j.ID, j.Attempt, j.Committee)
	if j.Runner != nil {
		text += fmt.Sprintf(", runner %s", *j.Runner)
	}
	if j.Validator != nil {
		text += fmt.Sprintf(", validator %s", *j.Validator)
	}
	if j.Price != nil {
		text += fmt.Sprintf(", price %s", *j.Price)
	}
	if j.Error != nil {
		text += ", " + *j.Error
	}
	return text
}

// submittersWord follows one event of the dispatcher that a submitter caused.
func (w *work) submittersWord(e *types.Event, data *jobEvent) {
	switch e.Name {
	case "job.submitted":
		w.enterJob(data.ID)
	case "job.cancelled":
		w.cancelJob(data)
	default:
		w.reportWrong("an execution tells %s, which no submitter can cause", inWords(e))
		return
	}
	if want := data.ID; e.Actor != types.DispatcherAddress || data.Runner != nil || data.Price != nil || data.Validator != nil {
		w.reportWrong("job %s: %s reports an event that does not fit its time", want, e.Name)
	}
}

// cancelJob ends a job for its submitter: all of the escrow is refunded, and no
// callback is sent (decision J19).
func (w *work) cancelJob(data *jobEvent) {
	j := w.open[data.ID]
	if j == nil {
		w.reportWrong("job %s is cancelled, and is not open", data.ID)
		return
	}
	if data.Error == nil || *data.Error != "cancelled" || !slices.Equal(data.Committee, j.memberAddresses()) || data.Attempt != j.attempts {
		w.reportWrong("job %s is cancelled in attempt %d with committee %v; want %d, %v", j.id, data.Attempt, data.Committee, j.attempts,
			j.memberAddresses())
	}
	w.releaseCommittee(j)
	w.moveMoney(types.DispatcherAddress, j.spec.Submitter, j.terms.escrowOf(&j.spec))
	w.forgetJob(j)
}

func (w *work) forgetJob(j *job) {
	delete(w.open, j.id)
	w.seen.JobsEnded++
}

// inOrder are the open jobs for which a test holds, in an order.
func (w *work) inOrder(which func(*job) bool, order func(a, b *job) int) (jobs []*job) {
	for _, j := range w.open { // order: sorted below
		if which(j) {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, order)
	return jobs
}

func bySeq(a, b *job) int { return cmp.Compare(a.seq, b.seq) }

// calledBack judges that each job that ended in the block called back once, and
// that the dispatcher sent no other messages (decision J16).
func (w *work) calledBack(o *Observation) {
	due := map[types.Hash]*callback{}
	for _, c := range w.calls {
		due[c.job.id] = c
	}
	for i := range o.Sent {
		s := &o.Sent[i]
		if s.From != types.DispatcherAddress {
			continue
		}
		c := due[s.Cause]
		if c == nil {
			w.reportWrong("the dispatcher calls %s back for job %s, which it has no reason to, or twice", s.To, s.Cause)
			continue
		}
		delete(due, s.Cause)
		to := c.job.spec.Callback
		if s.To != to.Actor || s.Handler != to.Handler || s.Cycles != c.job.terms.cycles || s.Cells != c.job.terms.cells ||
			!bytes.Equal(s.Payload, c.payload) {
			w.reportWrong("job %s calls back %s.%s with %d cycles and %d cells and another payload; want %s.%s with %d and %d", s.Cause, s.To,
				s.Handler, s.Cycles, s.Cells, to.Actor, to.Handler, c.job.terms.cycles, c.job.terms.cells)
		}
		w.callers[s.Hash] = c
	}
	for _, c := range w.calls {
		if due[c.job.id] != nil {
			w.reportWrong("job %s ended and does not call back", c.job.id)
		}
	}
}

// judgeJobsWithoutSpec judges jobs of whose spec the state shows nothing: they went in the
// block in which they came.
func (w *work) judgeJobsWithoutSpec() {
	for _, j := range w.inOrder(func(j *job) bool { return j.spec.TimeoutBlocks == 0 }, bySeq) {
		w.reportWrong("job %s is open, and the state has no spec of it", j.id)
		delete(w.open, j.id)
	}
}

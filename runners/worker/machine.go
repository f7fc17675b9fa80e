package worker

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Verifier judges signatures (decision C10).
type Verifier interface {
	Recover(digest types.Hash, sig types.Signature) (signer types.Address, ok bool)
}

// Config is what a machine is made of.
type Config struct {
	ChainID  uint64
	Signer   crypto.Signer // of the runner
	Verifier Verifier
	// Accepts returns why a job cannot be done here, nil if it can. It starts
	// nothing, and the same job has the same answer.
	Accepts func(*push.JobSpec) *execution.Refusal
	MaxJobs uint32 // at once, as registered; at least 1
	Polls   bool   // it can bring results without a connection
}

// Machine is all assignments of one runner, and the streams they came on.
type Machine struct {
	config   Config
	head     *chainview.Head
	streams  []*stream // the streams, in the order they were opened
	jobs     map[ID]*job
	order    []*job                         // the jobs, in the order they were accepted
	declined map[refusal]declinedAssignment // the refused assignments
	unmet    map[ID]types.Height            // open ones that no validator has delivered, and the first head that showed each
	draining string                         // why; empty while not draining
	load     push.BackpressureSignal        // that was told last
	moved    bool                           // other assignments are to be followed

	now types.Time
	out Output
}

// New returns a machine without assignments and without a head of the chain.
func New(config Config) *Machine {
	return &Machine{config: config, head: new(chainview.Head), jobs: map[ID]*job{},
		declined: map[refusal]declinedAssignment{}, unmet: map[ID]types.Height{},
		load: push.BackpressureSignal{MaxConcurrent: config.MaxJobs, AcceptingNew: true}}
}

// Step takes an event; times never decrease.
func (m *Machine) Step(now types.Time, e Event) Output {
	m.now = now
	switch e := e.(type) {
	case Head:
		m.onHead(e.Head)
	case Stream:
		m.onStream(e)
	case Polled:
		m.onPolled(e)
	case Advanced:
		m.onAdvanced(e)
	case Finished:
		m.onFinished(e)
	case Broke:
		m.onBroke(e)
	case Drain:
		m.draining = ""
		if e.On {
			m.draining = clipText("draining: " + e.Reason)
		}
	default:
		panic(fmt.Sprintf("worker: an event of type %T", e))
	}
	m.tellLoad()
	m.followAssignments()
	out := m.out
	m.out = Output{}
	return out
}

func (m *Machine) addVerb(v connection.Verb)                    { m.out.Do = append(m.out.Do, v) }
func (m *Machine) addAsk(a Ask)                                 { m.out.Ask = append(m.out.Ask, a) }
func (m *Machine) addReport(r Report)                           { m.out.Report = append(m.out.Report, r) }
func (m *Machine) signDigest(digest types.Hash) types.Signature { return m.config.Signer.Sign(digest) }

// countBusy counts the assignments that the executor works on. An assignment not yet known to
// be on the chain takes no place: a liar's assignments would otherwise keep honest ones
// out of a small runner, and make it report that it is full.
func (m *Machine) countBusy() (n uint32) {
	for _, j := range m.order {
		if j.state == running {
			n++
		}
	}
	return n
}

// followAssignments names the assignments that the view is to report, if they changed.
func (m *Machine) followAssignments() {
	if !m.moved {
		return
	}
	m.moved = false
	m.out.Follow = make([]ID, 0, len(m.order))
	for _, j := range m.order {
		m.out.Follow = append(m.out.Follow, j.ID)
	}
}

// Load is what the runner has to do.
func (m *Machine) Load() push.BackpressureSignal {
	load := push.BackpressureSignal{ActiveJobs: m.countBusy(), MaxConcurrent: m.config.MaxJobs, AcceptingNew: true}
	switch {
	case m.draining != "":
		load.AcceptingNew, load.Reason = false, &m.draining
	case m.isFull():
		why := "at capacity"
		load.AcceptingNew, load.Reason = false, &why
	}
	return load
}

// tellLoad says whether more would be accepted, where that changed (CIP-11 §6.4).
func (m *Machine) tellLoad() {
	load := m.Load()
	if load.AcceptingNew != m.load.AcceptingNew {
		m.load = load
		m.out.Load = &load
	}
}

func (m *Machine) isFull() bool {
	return m.countBusy() >= m.config.MaxJobs || len(m.order) >= MaxAssignments
}

// onHead looks up the status of each assignment.
func (m *Machine) onHead(h *chainview.Head) {
	if h.Height < m.head.Height {
		panic(fmt.Sprintf("worker: the head falls from height %d to %d", m.head.Height, h.Height))
	}
	m.head = h
	for _, j := range slices.Clone(m.order) {
		m.lookUpOnChain(j)
		m.tellProgress(j)
	}
	m.noteMissing()
}

// lookUpOnChain asks the chain about an assignment: whether it is over, which of its specs is
// the true one, and whether its result arrived.
func (m *Machine) lookUpOnChain(j *job) {
	s, told := m.standingOf(j.ID)
	switch {
	case !told:
		m.believeEarly(j)
		return
	case !s.Open:
		m.endJob(j, "it is not open on chain")
		return
	}
	j.known = true
	m.chooseSpec(j, &s)
	m.handOver(j, &s)
	m.handRefusal(j, &s)
}

// believeEarly begins an assignment that the view does not show yet, where more than half of
// the validators that the runner belongs to delivered the same. Fewer may have made it
// up, and what is done and signed for it cannot be taken back (finding F56).
func (m *Machine) believeEarly(j *job) {
	if j.state != waiting {
		return
	}
	for _, c := range j.specs {
		agree := 0
		for _, v := range m.head.Validators {
			if slices.Contains(c.by, v.PublicKey) {
				agree++
			}
		}
		if agree > len(m.head.Validators)/2 {
			m.beginJob(j, c)
			return
		}
	}
}

// chooseSpec begins work by the chain's spec, again if another spec or deadline was in
// work: its deliverer lied.
func (m *Machine) chooseSpec(j *job, s *Standing) {
	if j.state != waiting && j.spec.matchesChain(s) {
		return
	}
	if j.state == running {
		m.addAsk(Abandon{ID: j.ID})
	}
	at := slices.IndexFunc(j.specs, func(c *claim) bool { return c.matchesChain(s) })
	if at < 0 {
		m.forgetJob(j, "the chain has another spec")
		return
	}
	m.beginJob(j, j.specs[at])
}

// beginJob asks the executor, if it has a free place: if the chain gives the runner more
// jobs at once than its setting, they wait for one.
func (m *Machine) beginJob(j *job, c *claim) {
	if j.state == waiting && m.countBusy() >= m.config.MaxJobs {
		return
	}
	j.spec, j.state, j.frame, j.result, j.refusal, j.tries = c, running, nil, nil, nil, 0
	m.addAsk(Execute{ID: j.ID, Spec: c.spec, Deadline: c.deadline})
}

// endJob ends an assignment: the executor stops, and our side of each stream ends.
//
// Spec: CIP-11 §10.5.
func (m *Machine) endJob(j *job, why string) {
	if j.state == running {
		m.addAsk(Abandon{ID: j.ID})
	}
	m.forgetJob(j, why)
}

// forgetJob drops an assignment. Its streams stay until the validators have ended them.
func (m *Machine) forgetJob(j *job, why string) {
	for _, s := range m.streams {
		if s.job == j {
			m.endStream(s)
			s.job = nil
		}
	}
	m.forgetEndedStreams()
	delete(m.jobs, j.ID)
	m.moved = true
	m.order = slices.DeleteFunc(m.order, func(other *job) bool { return other == j })
	m.addReport(Over{ID: j.ID, Why: why})
}

// onAdvanced keeps the newest progress of an assignment, and reports it as soon as it may.
//
// Spec: CIP-11 §10.4.
func (m *Machine) onAdvanced(e Advanced) {
	j := m.jobs[e.ID]
	if j == nil || j.state != running {
		return
	}
	j.progress = &push.JobProgress{JobID: e.ID.Job, Fraction: min(e.Fraction, 100)}
	if e.Detail != "" {
		detail := clipText(e.Detail)
		j.progress.Detail = &detail
	}
	m.tellProgress(j)
}

// tellProgress sends the newest progress, at most one frame per progressGap and stream.
// Progress that comes too soon, or while no stream is open, waits for a later head.
func (m *Machine) tellProgress(j *job) {
	if j.progress == nil || j.state != running {
		return
	}
	s := m.openStream(j)
	if s == nil || s.progressed && m.now < s.progress.Add(progressGap) {
		return
	}
	s.progressed, s.progress = true, m.now
	m.sendFrame(s, j.progress)
	j.progress = nil
}

// onFinished signs a result and sends it.
func (m *Machine) onFinished(e Finished) {
	j := m.jobs[e.ID]
	if j == nil || j.state != running {
		return
	}
	if most := min(j.spec.spec.ResultSchema.MaxReturnBytes, MaxResultBytes); uint64(len(e.Result)) > most {
		m.failJob(j, fmt.Sprintf("the result has %d bytes, at most %d", len(e.Result), most))
		return
	}
	f := &push.JobResult{JobID: j.Job, ResultData: e.Result}
	f.RunnerSigned = m.signDigest(f.Digest(m.config.ChainID))
	j.commitment = push.Commitment(f.ResultData, f.RunnerSigned)
	if s, _ := m.standingOf(j.ID); len(s.Commitments) > 0 && !slices.Contains(s.Commitments, j.commitment) {
		m.failJob(j, otherStands)
		return
	}
	if j.spec.spec.Verification.Runners > 1 {
		signed := m.signDigest(push.CommitmentDigest(m.config.ChainID, j.Job, j.Drawn, j.commitment))
		f.CommitSigned = &signed
	}
	j.state, j.frame, j.result = finished, push.Write(f), f
	m.sendResult(j)
}

// onBroke ends what the executor cannot do. A stream has no word for it after its ack: the
// assignment ends by its deadline, or by a refusal without a stream.
//
// Spec: decision J21.
func (m *Machine) onBroke(e Broke) {
	if j := m.jobs[e.ID]; j != nil && j.state == running {
		m.failJob(j, e.Why)
		if e.Refusal != nil && m.config.Polls {
			j.refusal = m.newRefusalAck(j.ID, j.spec, e.Refusal.Reason, e.Refusal.Detail)
			m.lookUpOnChain(j)
		}
	}
}

// failJob leaves an assignment without a result. It stays known, so that it is not begun
// again for the next validator.
func (m *Machine) failJob(j *job, why string) {
	j.state = failed
	for _, s := range m.streams {
		if s.job == j {
			m.endStream(s)
		}
	}
	m.forgetEndedStreams()
	m.addReport(Over{ID: j.ID, Why: why, Failed: true})
}

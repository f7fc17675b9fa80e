package poller

import (
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

const (
	// maxResults bounds the results and refusals on their way: one for each assignment of a
	// worker.
	maxResults = 1_024
	// onDemand is the time between polls where blocks are made on demand.
	onDemand = time.Second
	// leastEvery is the time between polls where blocks come as fast as they are made.
	leastEvery = 10 * time.Millisecond
	// A validator may take a block time to answer, and from leastPatience to mostPatience.
	leastPatience = time.Second
	mostPatience  = 4 * time.Second
	// A validator that did not answer rests for firstRest, twice as long each time, and at
	// most for longestRest.
	firstRest   = 500 * time.Millisecond
	longestRest = 16 * time.Second
	// beatAgainBlocks is after how many blocks a heartbeat that is not on chain yet is
	// brought again.
	beatAgainBlocks = 8
)

// Config is what a machine is made of.
type Config struct {
	ChainID uint64
	Signer  crypto.Signer // of the runner
	Every   time.Duration // between two polls; 0: a block time
}

// Machine is all questions of one runner.
type Machine struct {
	config  Config
	head    *chainview.Head // nil before the first
	missing Missing
	stopped bool

	turn    int // the place in the head's validators of the next that is asked
	rests   map[types.Address]rest
	lastID  polling.ID
	asked   []*question    // under way, in the order they were asked
	next    types.Time     // of the next poll
	after   polling.Cursor // of the page that it asks for
	pages   int            // that were asked for in a row
	results []*result      // and refusals on their way, in the order they came
	beaten  bool           // a heartbeat was brought
	beat    types.Height

	answered types.Height // the head at the last answered poll
	now      types.Time
	out      Output
}

// question is a question under way.
type question struct {
	polling.Question
	due    types.Time
	result *result // that it brings, or nil
}

// isForJobs reports whether it asks for jobs.
func (q *question) isForJobs() bool { return q.result == nil && q.Heartbeat == nil }

// result is a result or a refusal on its way to a validator.
type result struct {
	id      execution.ID
	signed  *push.JobResult
	refusal *push.JobAck // in place of signed
	left    int          // how many more validators it is brought to
}

// rest is how long a validator is not asked.
type rest struct {
	failures int
	until    types.Time
}

// New returns a machine without a head of the chain.
func New(config Config) *Machine {
	return &Machine{config: config, rests: map[types.Address]rest{}}
}

// Step takes an event; times never decrease.
func (m *Machine) Step(now types.Time, e Event) Output {
	m.now = now
	switch e := e.(type) {
	case Head:
		m.onHead(e.Head)
	case Missing:
		m.missing = e
	case Bring:
		m.onBring(e)
	case Over:
		m.dropResult(e.ID)
	case Answer:
		m.onAnswer(e.Answer)
	case Stop:
		m.stopped, m.asked, m.results = true, nil, nil
	case Tick:
	default:
		panic(fmt.Sprintf("poller: an event of type %T", e))
	}
	m.attendDue()
	out := m.out
	m.out = Output{}
	return out
}

// Answered is the height of the head when a validator answered a poll last; 0 before.
func (m *Machine) Answered() types.Height { return m.answered }

// Deadline is when a Tick is due, or types.Never.
func (m *Machine) Deadline() types.Time {
	at := types.Never
	for _, q := range m.asked {
		at = min(at, q.due)
	}
	if m.stopped || m.head == nil || len(m.head.Validators) == 0 {
		return at
	}
	if m.shouldPoll() && !m.isAsking((*question).isForJobs) {
		at = min(at, max(m.next, m.nextFreeTime()))
	}
	if m.shouldBeat() || slices.ContainsFunc(m.results, func(r *result) bool { return !m.isBringing(r) }) {
		at = min(at, m.nextFreeTime())
	}
	return at
}

// onHead takes a head, and forgets the validators that the runner left.
func (m *Machine) onHead(h *chainview.Head) {
	m.head = h
	for address := range m.rests { // order: each is judged by itself
		if !slices.ContainsFunc(h.Validators, func(v types.Validator) bool { return v.Address == address }) {
			delete(m.rests, address)
		}
	}
}

// onBring takes a result or a refusal, in place of an earlier one of the assignment.
func (m *Machine) onBring(e Bring) {
	m.dropResult(e.ID)
	if m.stopped || len(m.results) >= maxResults {
		return // the worker says it again
	}
	m.results = append(m.results, &result{id: e.ID, signed: e.Result, refusal: e.Refusal, left: len(m.listValidators())})
}

// dropResult forgets a result.
func (m *Machine) dropResult(id execution.ID) {
	m.results = slices.DeleteFunc(m.results, func(r *result) bool { return r.id == id })
	m.asked = slices.DeleteFunc(m.asked, func(q *question) bool { return q.result != nil && q.result.id == id })
}

func (m *Machine) listValidators() []types.Validator {
	if m.head == nil {
		return nil
	}
	return m.head.Validators
}

// isAsking reports whether a question of a kind is under way.
func (m *Machine) isAsking(kind func(*question) bool) bool { return slices.ContainsFunc(m.asked, kind) }

// isBringing reports whether a result is under way.
func (m *Machine) isBringing(r *result) bool {
	return m.isAsking(func(q *question) bool { return q.result == r })
}

// shouldPoll reports whether validators are asked for jobs.
//
// Spec: CIP-11 §14, decision J11.
func (m *Machine) shouldPoll() bool {
	if m.head == nil || !m.head.Registered {
		return false
	}
	switch selection.PhaseOf(m.head.Params) {
	case selection.Off, selection.Shadow:
		return true
	case selection.Hot:
		return m.missing.Is && m.head.Height >= m.missing.Since &&
			uint64(m.head.Height-m.missing.Since) >= m.head.Params.AckTimeoutBlocks
	}
	return false
}

// shouldBeat reports whether a heartbeat is to be brought. Validators that the runner is
// connected with, in shadow, bring its pings: it is not sooner than they are.
//
// Spec: decision J18.
func (m *Machine) shouldBeat() bool {
	if m.head == nil || !m.head.Registered || m.isAsking(func(q *question) bool { return q.Heartbeat != nil }) {
		return false
	}
	p, last := m.head.Params, m.head.Heartbeat
	wait := p.HeartbeatTxBlocks
	switch selection.PhaseOf(p) {
	case selection.Off:
	case selection.Shadow:
		wait += (max(p.StaleHeartbeatBlocks, wait) - wait) / 2
	default:
		return false
	}
	ripe := m.head.Height > last && uint64(m.head.Height-last) >= max(wait, 1)
	onItsWay := m.beaten && m.beat > last && uint64(m.head.Height-m.beat) < beatAgainBlocks
	return ripe && !onItsWay
}

// pollInterval is the time between two polls.
func (m *Machine) pollInterval() time.Duration {
	switch {
	case m.config.Every > 0:
		return m.config.Every
	case m.head.Params.BlockTimeAuto:
		return onDemand
	}
	return max(m.head.Params.BlockTime(), m.head.Params.MinBlockMS.Duration(), leastEvery)
}

// answerPatience is how long a validator may take to answer.
func (m *Machine) answerPatience() time.Duration {
	return min(max(leastPatience, m.head.Params.BlockTime()), mostPatience)
}

// nextFreeTime is when a validator may be asked: now, or when the first has rested.
func (m *Machine) nextFreeTime() types.Time {
	at := types.Never
	for _, v := range m.listValidators() {
		at = min(at, m.rests[v.Address].until)
	}
	return at
}

// chooseValidator is the next validator in turn that does not rest, or nil.
func (m *Machine) chooseValidator() *types.Validator {
	all := m.listValidators()
	for i := range all {
		at := (m.turn + i) % len(all)
		if m.now >= m.rests[all[at].Address].until {
			m.turn = at + 1
			return &all[at]
		}
	}
	return nil
}

// attendDue does what is due.
func (m *Machine) attendDue() {
	for _, q := range slices.Clone(m.asked) {
		if m.now >= q.due {
			m.restValidator(q)
		}
	}
	if m.stopped || m.head == nil {
		return
	}
	if m.shouldPoll() && m.now >= m.next && !m.isAsking((*question).isForJobs) {
		if m.askNext(&question{Question: polling.Question{After: m.after}}) {
			m.next = m.now.Add(m.pollInterval())
		}
	}
	if m.shouldBeat() {
		m.bringHeartbeat()
	}
	for _, r := range m.results {
		if !m.isBringing(r) {
			m.askNext(&question{Question: polling.Question{Result: r.signed, Refusal: r.refusal}, result: r})
		}
	}
}

// askNext asks the next validator in turn, and reports whether there was one.
func (m *Machine) askNext(q *question) bool {
	v := m.chooseValidator()
	if v == nil {
		return false
	}
	m.lastID++
	q.ID, q.Validator, q.due = m.lastID, *v, m.now.Add(m.answerPatience())
	m.asked = append(m.asked, q)
	m.out.Ask = append(m.out.Ask, q.Question)
	return true
}

// bringHeartbeat signs a ping of the view's height, and brings it.
func (m *Machine) bringHeartbeat() {
	ping := &push.HeartbeatPing{BlockHeight: m.head.Height, Nonce: 1}
	ping.Signed = m.config.Signer.Sign(ping.Digest(m.config.ChainID))
	if m.askNext(&question{Question: polling.Question{Heartbeat: ping}}) {
		m.beaten, m.beat = true, m.head.Height
	}
}

// finishQuestion takes a question off those under way, or returns nil.
func (m *Machine) finishQuestion(id polling.ID) *question {
	at := slices.IndexFunc(m.asked, func(q *question) bool { return q.ID == id })
	if at < 0 {
		return nil
	}
	q := m.asked[at]
	m.asked = slices.Delete(m.asked, at, at+1)
	return q
}

// onAnswer takes an answer to a question under way.
func (m *Machine) onAnswer(a polling.Answer) {
	q := m.finishQuestion(a.ID)
	switch {
	case q == nil: // it came too late
	case a.Lost:
		m.restValidator(q)
	default:
		delete(m.rests, q.Validator.Address)
		m.handleAnswer(q, &a)
	}
}

// handleAnswer does what an answer says.
func (m *Machine) handleAnswer(q *question, a *polling.Answer) {
	switch {
	case q.result != nil:
		m.handleBrought(q, a.Refused)
	case q.Heartbeat != nil: // what was refused is brought to the next as what got lost on its way
	case a.Refused == "":
		m.answered = m.head.Height
		for _, j := range a.Jobs[:min(len(a.Jobs), polling.MaxJobs)] {
			m.out.Jobs = append(m.out.Jobs, Job{q.Validator.PublicKey, j})
		}
		m.turnPage(q, a)
	default:
		m.after, m.pages = polling.Cursor{}, 0
	}
}

// turnPage asks the next validator in turn for the page after an answer, at once. A
// cursor that does not advance comes from a liar: the next poll begins at the first
// page.
func (m *Machine) turnPage(q *question, a *polling.Answer) {
	m.pages++
	if len(a.Jobs) == 0 || a.Next.Compare(q.After) <= 0 || m.pages >= polling.MaxPages {
		m.after, m.pages = polling.Cursor{}, 0
		return
	}
	m.after, m.next = a.Next, m.now
}

// handleBrought ends the way of a result that was taken; the next validator gets one that was
// refused, while there is one.
func (m *Machine) handleBrought(q *question, refused string) {
	m.out.Report = append(m.out.Report, Brought{ID: q.result.id, Validator: q.Validator.Address, Refused: refused})
	if q.result.left--; refused == "" || q.result.left <= 0 {
		m.dropResult(q.result.id)
	}
}

// restValidator has a validator rest that did not answer. Another is asked at once.
func (m *Machine) restValidator(q *question) {
	m.finishQuestion(q.ID)
	r := m.rests[q.Validator.Address]
	r.until = m.now.Add(min(firstRest<<min(r.failures, 16), longestRest))
	r.failures++
	m.rests[q.Validator.Address] = r
	switch {
	case q.result != nil:
		m.handleBrought(q, "it did not answer")
	case q.Heartbeat != nil:
		m.beaten = false
	default:
		m.next = m.now
	}
}

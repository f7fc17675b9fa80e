package byzantine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// The ways in which a runner misbehaves.
const (
	WrongResult     Kind = "wrong_result"     // it signs another result than its executor's
	LateResult      Kind = "late_result"      // it says its result when the assignment is over
	DuplicateResult Kind = "duplicate_result" // it says each result twice
	NoReveal        Kind = "no_reveal"        // it works, and says no result
	BadSignature    Kind = "bad_signature"    // its results have an invalid signature
	ReplayNonce     Kind = "replay_nonce"     // it says each ping twice
	Reject          Kind = "reject"           // it rejects every job
)

// RunnerMask makes one process of a runner lie, slow down or falter: it wraps the
// runner's environment. The runner itself stays honest and notices nothing. It works
// alike in the simulator and live, and is safe for concurrent use.
type RunnerMask struct {
	clock env.Clock

	speaks atomic.Bool // its frames may differ from the runner's

	mu     sync.Mutex
	kind   Kind          // "": it is honest
	lies   *fault.Counts // of the kind
	hole   *fault.Counts // of the black hole that it is, or nil
	full   *fault.Counts // of saying that it takes nothing, or nil
	offers *fault.Counts // of saying that it offers more or less, or nil
	delay  time.Duration // of work
	slowed *fault.Counts
	flap   flapping
	links  connections
}

// NewRunnerMask makes a mask for a runner with that environment, and puts it on.
func NewRunnerMask(node env.Runner) (*RunnerMask, env.Runner) {
	m := &RunnerMask{clock: node.Clock}
	m.links = connections{Connections: node.Connections, mask: m, up: map[connection.ID]bool{}}
	node.Connections, node.Executor = &m.links, &doing{node.Executor, m}
	if node.Polls != nil {
		node.Polls = &polls{Polls: node.Polls, mask: m}
	}
	return m, node
}

// Behave chooses how it misbehaves, replacing its earlier behaviour: its effects
// are added to counts. It refuses an unknown behaviour.
func (m *RunnerMask) Behave(kind string, counts *fault.Counts) error {
	if !slices.Contains(fault.KindsOf(fault.Runners), kind) {
		return fmt.Errorf("there is no behaviour %.40q of runners", kind)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kind, m.lies = Kind(kind), counts
	m.noteChange()
	return nil
}

// Honest ends that.
func (m *RunnerMask) Honest() {
	m.mu.Lock()
	late := m.links.late
	m.kind, m.links.late = "", nil
	m.noteChange()
	m.mu.Unlock()
	for _, l := range late { // their results are dropped
		for _, end := range l.lateVerbs()[1:] {
			m.links.Connections.Do(end)
		}
	}
}

// noteChange records whether frames have to be inspected: for a sound runner none are.
// The caller holds mu.
func (m *RunnerMask) noteChange() {
	m.speaks.Store(m.kind != "" || m.hole != nil || m.full != nil || m.offers != nil)
}

// Swallow lets nothing out on the streams of jobs, until counts are nil.
func (m *RunnerMask) Swallow(counts *fault.Counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hole = counts
	m.noteChange()
}

// Saturate counts the runner's reports of being full, until counts are nil. The
// runner's owner makes it full (runners.Runner.Drain).
func (m *RunnerMask) Saturate(counts *fault.Counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = counts
	m.noteChange()
}

// Offer counts the CapabilityDeltas that are sent. The owner of the runner tells it to send
// them (runners.Runner.Change).
func (m *RunnerMask) Offer(_ fault.Order, counts *fault.Counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offers = counts
	m.noteChange()
}

// Slow lengthens work that begins from now on by delay.
func (m *RunnerMask) Slow(delay time.Duration, counts *fault.Counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.delay, m.slowed = delay, counts
}

// misbehavesBy says whether it misbehaves in a way, and counts that it did.
func (m *RunnerMask) misbehavesBy(kind Kind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kind != kind {
		return false
	}
	m.lies.Forged.Add(1)
	return true
}

// doing is an executor behind a mask.
type doing struct {
	env.Executor
	mask *RunnerMask
}

// Accepts implements env.Executor.
func (d *doing) Accepts(spec *push.JobSpec) *execution.Refusal {
	if d.mask.misbehavesBy(Reject) {
		return execution.Refuse(push.Capacity, "this runner rejects whatever comes")
	}
	return d.Executor.Accepts(spec)
}

// Execute implements env.Executor.
func (d *doing) Execute(id execution.ID, spec *push.JobSpec, tell func(execution.Report)) {
	d.mask.mu.Lock()
	delay, counts := d.mask.delay, d.mask.slowed
	d.mask.mu.Unlock()
	tell = d.mask.falsifyReports(tell)
	if delay <= 0 {
		d.Executor.Execute(id, spec, tell)
		return
	}
	d.Executor.Execute(id, spec, func(report execution.Report) {
		counts.Delayed.Add(1)
		d.mask.clock.NewAlarm(func() { tell(report) }).Set(d.mask.clock.Now().Add(delay))
	})
}

// falsifyReports tells another result than the executor's, which the runner then signs as its
// own.
func (m *RunnerMask) falsifyReports(tell func(execution.Report)) func(execution.Report) {
	return func(report execution.Report) {
		if report.What == execution.Done && m.misbehavesBy(WrongResult) {
			report.Result = differentResult(report.Result)
		}
		tell(report)
	}
}

// differentResult is a result that differs from the given one.
func differentResult(result []byte) []byte {
	if len(result) == 0 {
		return []byte{1}
	}
	result = slices.Clone(result)
	result[0] ^= 1
	return result
}

// connections is the runner's connections behind a mask.
type connections struct {
	env.Connections
	mask    *RunnerMask
	receive func(connection.Event)

	// The mask's mu guards these.
	up   map[connection.ID]bool
	late []lateResult
}

// lateResult is a result that waits until its assignment is over. The runner's side of the stream
// ends after it.
type lateResult struct {
	connection.Send
	ended bool // the runner ended its side
}

// lateVerbs are the result and, if the runner ended its side, the end.
func (l lateResult) lateVerbs() []connection.Verb {
	if !l.ended {
		return []connection.Verb{l.Send}
	}
	return []connection.Verb{l.Send, connection.End{ID: l.ID, Stream: l.Stream}}
}

// Start implements env.Connections.
func (c *connections) Start(receive func(connection.Event)) error {
	c.receive = receive
	return c.Connections.Start(c.handOnEvent)
}

// handOnEvent passes on an event, after the mask's own reaction.
func (c *connections) handOnEvent(e connection.Event) {
	if came, is := e.(connection.Came); !is || len(came.Frame) > 0 && push.Type(came.Frame[0]) == push.TypeJobCancel {
		for _, v := range c.recordEvent(e) {
			c.Connections.Do(v)
		}
	}
	c.receive(e)
}

// recordEvent records an event, frames only if they are cancels, and returns frames that
// are late enough to be sent.
func (c *connections) recordEvent(e connection.Event) (say []connection.Verb) {
	m := c.mask
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e := e.(type) {
	case connection.Up:
		c.up[e.ID] = true
	case connection.Down:
		delete(c.up, e.ID)
		c.late = slices.DeleteFunc(c.late, func(l lateResult) bool { return l.ID == e.ID })
	case connection.Came:
		c.late = slices.DeleteFunc(c.late, func(l lateResult) bool {
			mine := l.ID == e.ID && l.Stream == e.Stream
			if mine {
				say = append(say, l.lateVerbs()...)
			}
			return mine
		})
	}
	return say
}

// Do implements env.Connections.
func (c *connections) Do(v connection.Verb) {
	switch one := v.(type) { // v is handed on as it came: one in an interface again takes memory
	case connection.Dial:
		if c.mask.isUnreachable() {
			c.receive(connection.Down{ID: one.ID, Reason: "its connections are gone for a while"})
			return
		}
		c.Connections.Do(v)
	case connection.Send:
		if !c.mask.speaks.Load() {
			c.Connections.Do(v)
			return
		}
		for _, said := range c.mask.replaceFrame(one) {
			c.Connections.Do(said)
		}
	case connection.End:
		if !c.holdsEnd(one) {
			c.Connections.Do(v)
		}
	default:
		c.Connections.Do(v)
	}
}

// holdsEnd keeps the end of a side with the late result before it.
func (c *connections) holdsEnd(end connection.End) bool {
	c.mask.mu.Lock()
	defer c.mask.mu.Unlock()
	i := slices.IndexFunc(c.late, func(l lateResult) bool { return l.ID == end.ID && l.Stream == end.Stream })
	if i >= 0 {
		c.late[i].ended = true
	}
	return i >= 0
}

// maxLate bounds the results that wait; one beyond is said in time.
const maxLate = 1_024

// replaceFrame returns what is sent in place of a frame.
func (m *RunnerMask) replaceFrame(v connection.Send) []connection.Verb {
	m.mu.Lock()
	defer m.mu.Unlock()
	as := []connection.Verb{v}
	if len(v.Frame) == 0 {
		return as
	}
	if m.hole != nil && v.Stream.IsJob() {
		m.hole.Withheld.Add(1)
		return nil
	}
	switch push.Type(v.Frame[0]) {
	case push.TypeBackpressureSignal:
		if m.full != nil {
			m.full.Signalled.Add(1)
		}
	case push.TypeCapabilityDelta:
		if m.offers != nil {
			m.offers.Signalled.Add(1)
		}
	case push.TypeHeartbeatPing:
		if m.kind == ReplayNonce {
			m.lies.Forged.Add(1)
			return append(as, v)
		}
	case push.TypeJobResult:
		return m.replaceResult(v)
	}
	return as
}

// replaceResult is what is sent in place of a result.
func (m *RunnerMask) replaceResult(v connection.Send) []connection.Verb {
	as := []connection.Verb{v}
	switch m.kind {
	case NoReveal:
		m.lies.Withheld.Add(1)
		return nil
	case LateResult:
		if len(m.links.late) < maxLate {
			m.lies.Held.Add(1)
			m.links.late = append(m.links.late, lateResult{Send: v})
			return nil
		}
	case DuplicateResult:
		m.lies.Forged.Add(1)
		return append(as, v)
	case BadSignature:
		if forged := missignFrame(v.Frame); forged != nil {
			m.lies.Forged.Add(1)
			v.Frame = forged
			return []connection.Verb{v}
		}
	}
	return as
}

// missignFrame returns the frame of a result with an invalid signature; nil if the frame is
// not a result.
func missignFrame(frame []byte) []byte {
	f, err := push.Decode(push.Raw{Type: push.Type(frame[0]), Payload: frame[1:]})
	if err != nil {
		return nil
	}
	result, is := f.(*push.JobResult)
	if !is {
		return nil
	}
	missignResult(result)
	return stripLength(result)
}

// missignResult gives a result an invalid signature.
func missignResult(result *push.JobResult) { result.RunnerSigned[0] ^= 1 }

// stripLength is a frame without its length, as connections take it.
func stripLength(f push.Frame) []byte {
	whole, err := push.Encode(f)
	if err != nil {
		panic(err) // we made it
	}
	return whole[4:]
}

package roles

import (
	"runtime/debug"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// MaxQueued bounds the events that wait for one role. Outside input is refused
// long before (Offer), so a queue this long means that roles feed one another
// without end: the event is dropped and reported as a panic is. While the role hangs
// the event is only dropped.
const MaxQueued = 1 << 16

// Killed ends a role in the middle of a step, as kill -9 ends a process: a role
// that panics with it handles no further event, and no panic is reported. The
// simulator crashes nodes with it.
type Killed struct{}

// mailbox is an actor.Mailbox that handles one event a scheduled run, so that
// the dispatcher, and not the role, decides who steps next. System messages of
// proto-actor come before events; both are first in, first out. A batch is one
// event (proto-actor's own mailbox delivers it twice).
type mailbox struct {
	mu         sync.Mutex
	system     queue
	user       queue
	state      state
	suspended  bool // proto-actor's: a failure waits for its supervisor
	killed     bool
	held       bool // the role hangs: it handles no event
	inPlace    bool
	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher
	report     func(value any, stack []byte)
	full       func() // called when roles made a queue too long; it may be nil
	step       func() // m.run, bound once
}

// state says who owns the next run of a mailbox.
type state uint8

const (
	idle      state = iota
	scheduled       // a run waits in the dispatcher
	running
)

func newMailbox(report func(value any, stack []byte)) *mailbox {
	m := &mailbox{report: report}
	m.step = m.runOnce
	return m
}

// RegisterHandlers implements actor.Mailbox. Events posted before it wait for
// the first system message.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, d actor.Dispatcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invoker, m.dispatcher = invoker, d
	_, m.inPlace = d.(inPlace)
}

// Start implements actor.Mailbox.
func (m *mailbox) Start() {}

// UserMessageCount implements actor.Mailbox.
func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.user.length()
}

// PostUserMessage implements actor.Mailbox.
func (m *mailbox) PostUserMessage(event any) { m.offerEvent(event, MaxQueued, true) }

// offerEvent queues an event unless limit of them wait already. An overflow that is this
// program's fault is reported.
func (m *mailbox) offerEvent(event any, limit int, report bool) bool {
	m.mu.Lock()
	if m.killed {
		m.mu.Unlock()
		return false
	}
	if m.user.length() >= limit {
		held := m.held
		m.mu.Unlock()
		if report && !held {
			m.report(overfull, debug.Stack())
			if m.full != nil {
				m.full()
			}
		}
		return false
	}
	m.user.push(event)
	m.unlockAndSchedule()
	return true
}

// overfull is what is reported of a queue that is too long.
const overfull = "the mailbox is full: roles feed it faster than it steps"

// holdEvents lets the role handle no event, or handle events again. It may stop meanwhile.
func (m *mailbox) holdEvents(on bool) {
	m.mu.Lock()
	m.held = on
	m.unlockAndSchedule()
}

// PostSystemMessage implements actor.Mailbox.
func (m *mailbox) PostSystemMessage(message any) {
	m.mu.Lock()
	m.system.push(message)
	m.unlockAndSchedule()
}

// unlockAndSchedule unlocks the mailbox and schedules a run if none is due yet.
func (m *mailbox) unlockAndSchedule() {
	start := m.dispatcher != nil && m.state == idle && m.isRunnable()
	if start {
		m.state = scheduled
	}
	m.mu.Unlock()
	if start {
		m.dispatcher.Schedule(m.step)
	}
}

func (m *mailbox) isRunnable() bool {
	return m.system.length() > 0 || (m.user.length() > 0 && !m.suspended && !m.killed && !m.held)
}

// runOnce is one scheduled run: all system messages, then one event. In place the
// runs follow one another here, since scheduling would nest them.
func (m *mailbox) runOnce() {
	for {
		m.mu.Lock()
		m.state = running
		m.handleSystem()
		event, ok := m.nextEvent()
		m.mu.Unlock()
		if ok {
			m.invokeHandler(event, m.invoker.InvokeUserMessage)
		}
		m.mu.Lock()
		more := m.isRunnable()
		if !more {
			m.state = idle
		} else if !m.inPlace {
			m.state = scheduled
		}
		m.mu.Unlock()
		if !more {
			return
		}
		if !m.inPlace {
			m.dispatcher.Schedule(m.step)
			return
		}
	}
}

func (m *mailbox) nextEvent() (any, bool) {
	if m.suspended || m.killed || m.held || m.user.length() == 0 {
		return nil, false
	}
	return m.user.pop(), true
}

// handleSystem handles what system messages wait. It is called and returns with
// the lock held, and gives it up around each message.
func (m *mailbox) handleSystem() {
	for m.system.length() > 0 {
		message := m.system.pop()
		switch message.(type) {
		case *actor.SuspendMailbox:
			m.suspended = true
		case *actor.ResumeMailbox:
			m.suspended = false
		default:
			m.mu.Unlock()
			m.invokeHandler(message, m.invoker.InvokeSystemMessage)
			m.mu.Lock()
		}
	}
}

// finishSystem handles the waiting system messages in the caller. It may be called only
// if no run can be in progress concurrently; within the role's own step it does
// nothing, since the messages follow right after that.
func (m *mailbox) finishSystem() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == running {
		return
	}
	before := m.state
	m.state = running
	m.handleSystem()
	m.state = before
}

// invokeHandler handles one message and turns a panic into proto-actor's failure.
func (m *mailbox) invokeHandler(message any, handle func(any)) {
	defer func() {
		if value := recover(); value != nil {
			m.reportPanic(value, message)
		}
	}()
	handle(message)
}

func (m *mailbox) reportPanic(value, message any) {
	if _, ok := value.(Killed); ok {
		m.mu.Lock()
		m.killed = true
		m.user = queue{}
		m.mu.Unlock()
		return
	}
	m.report(value, debug.Stack())
	m.invoker.EscalateFailure(value, message)
}

// wasKilled says whether the role ended with Killed.
func (m *mailbox) wasKilled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.killed
}

// isBusy says whether the role is in a step.
func (m *mailbox) isBusy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state == running
}

// queue is a growing ring, first in, first out. Its capacity is a power of two.
type queue struct {
	ring  []any
	head  int
	count int
}

func (q *queue) length() int { return q.count }

func (q *queue) push(v any) {
	if q.count == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.count)&(len(q.ring)-1)] = v
	q.count++
}

func (q *queue) pop() any {
	v := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.count--
	return v
}

func (q *queue) grow() {
	ring := make([]any, max(8, 2*len(q.ring)))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// loop is virtual time: what happens when, and which role steps next.
type loop struct {
	seed     uint64
	runtime  *roles.Runtime
	schedule *rand.Rand // which role steps next
	// positions are those of all draws, in a run that is recorded or a trial; nil in others.
	positions *positions
	trace     trace

	now       types.Time
	sequence  uint64 // of the event entered last
	events    eventHeap
	scheduled uint64 // runs of roles
	runnable  []run
	current   *roleLoop // whose step it is, or nil
	latest    *roleLoop // whose step it was last, or nil
	steps     uint64
	instant   int        // steps since the clock moved last
	crashed   []*process // died within the present step
	bug       *Bug
	tasks     tasks
	// occurring says that an event happens: nothing can wait.
	occurring bool
	stepped   func() error // Config.Stepped
}

// Bug is a panic in a role: our own mistake, found by a seed.
type Bug struct {
	Seed  uint64
	Role  string
	At    types.Time
	Value any
	Stack []byte
}

func (b *Bug) Error() string {
	return fmt.Sprintf("sim: seed %d: %s panicked %v after the start: %v\n%s", b.Seed, b.Role, b.At.Sub(firstInstant), b.Value, b.Stack)
}

// ErrDeadline is that a condition of RunUntil did not come true in time.
var ErrDeadline = errors.New("the deadline passed")

// ErrAsleep is that nothing will ever happen any more.
var ErrAsleep = errors.New("no role can step, no alarm is set and no frame is under way")

// Now is the world's time, which clocks without skew show until MoveClocks.
func (l *loop) Now() types.Time { return l.now }

// Steps is the number of steps taken by roles.
func (l *loop) Steps() uint64 { return l.steps }

// Stirred counts what was entered to happen. If neither it nor the digest has changed, nothing was done to
// the world.
func (l *loop) Stirred() uint64 { return l.sequence + l.scheduled }

// LatestStep names who stepped last, as NODE/ROLE; "" before the first step.
func (l *loop) LatestStep() string {
	if l.latest == nil {
		return ""
	}
	return l.latest.roleName()
}

// enterEvent enters an event, after all of its time that were entered before.
func (l *loop) enterEvent(e event) {
	l.sequence++
	e.sequence = l.sequence
	l.events.pushEvent(e)
}

// At calls fn at a virtual time, between steps: transactions, faults and
// readings of a test.
func (l *loop) At(t types.Time, fn func()) {
	l.enterEvent(event{at: max(t, l.now), what: call(fn)})
}

// After calls fn when d has passed.
func (l *loop) After(d time.Duration, fn func()) { l.At(l.now.Add(d), fn) }

// RunFor lets d pass.
func (l *loop) RunFor(d time.Duration) error {
	until := l.now.Add(d)
	err := l.RunUntil(func() bool { return false }, until)
	if errors.Is(err, ErrDeadline) || errors.Is(err, ErrAsleep) {
		l.now = until
		return nil
	}
	return err
}

// RunUntil runs until cond holds, and asks it whenever no role can step at the
// present instant. It fails with ErrDeadline if the next event is after the
// deadline, with ErrAsleep if there is no event, and with a *Bug.
func (l *loop) RunUntil(cond func() bool, deadline types.Time) error {
	for {
		if err := l.runToFixpoint(); err != nil {
			return err
		}
		if cond() {
			return nil
		}
		if len(l.runnable) > 0 {
			continue // cond made a role runnable
		}
		if len(l.events) == 0 {
			return fmt.Errorf("sim: seed %d: %w", l.seed, ErrAsleep)
		}
		next := l.events[0].at
		if next > deadline {
			return fmt.Errorf("sim: seed %d: %w: %v after the start", l.seed, ErrDeadline, deadline.Sub(firstInstant))
		}
		l.now, l.instant = max(l.now, next), 0
		for len(l.events) > 0 && l.events[0].at <= l.now {
			l.nextEvent()
		}
	}
}

// runToFixpoint steps roles until none can step at this instant.
func (l *loop) runToFixpoint() error {
	for len(l.runnable) > 0 && l.bug == nil {
		if l.instant++; l.instant > MaxInstantSteps {
			return fmt.Errorf("sim: seed %d: more than %d steps within one instant, the last by %s", l.seed, MaxInstantSteps,
				l.runnable[0].loop.roleName())
		}
		l.stepRole()
		if l.stepped == nil {
			continue
		}
		if err := l.stepped(); err != nil {
			return err
		}
	}
	if l.bug != nil {
		return l.bug
	}
	return nil
}

// stepRole lets the role step that the seed picks.
func (l *loop) stepRole() {
	i := 0
	if n := len(l.runnable); n > 1 {
		if l.positions != nil {
			l.positions.choose(l.now)
		}
		i = int(l.schedule.Uint64N(uint64(n)))
	}
	next := l.runnable[i]
	last := len(l.runnable) - 1
	l.runnable[i] = l.runnable[last]
	l.runnable[last] = run{}
	l.runnable = l.runnable[:last]
	l.takeRun(next)
}

func (l *loop) takeRun(next run) {
	l.trace.traceRun(l.now, next.loop)
	l.steps++
	l.current, l.latest = next.loop, next.loop
	if n := next.loop.process.node; n.lag > 0 {
		next.loop.busy = max(next.loop.busy, l.now).Add(n.lag)
		n.cpuSlow.Slowed.Add(1)
	}
	next.fn() // a mailbox: it recovers panics of its role
	l.current = nil
	if len(l.crashed) > 0 {
		l.stopDeadRoles()
	}
}

// nextEvent lets the next event happen.
func (l *loop) nextEvent() {
	defer l.recoverPanic()
	l.occurring = true
	e := l.events.popEvent()
	e.what.happenAt(e)
}

// runOutsideStep runs what happens outside a role's step, and turns a crash within it
// into one, and a panic into a bug.
func (l *loop) runOutsideStep(fn func()) {
	defer l.recoverPanic()
	fn()
}

func (l *loop) recoverPanic() {
	l.occurring = false
	if value := recover(); value != nil {
		if _, ok := value.(roles.Killed); !ok && l.bug == nil {
			l.bug = &Bug{l.seed, "the world", l.now, value, stackTrace()}
		}
	}
	if len(l.crashed) > 0 {
		l.stopDeadRoles()
	}
}

// stopDeadRoles stops the roles of dead processes; they only run proto-actor's end notices,
// which have no effect on the world.
func (l *loop) stopDeadRoles() {
	for len(l.crashed) > 0 {
		dead := l.crashed[0]
		l.crashed = l.crashed[1:]
		l.runtime.StopOn(func(d actor.Dispatcher) bool {
			one, ok := d.(*roleLoop)
			return ok && one.process == dead
		})
	}
}

// delayMessages returns how a role's messages to others are delayed while the role or its
// disk is busy; nil if nothing delays them.
func (l *loop) delayMessages() func(func()) {
	if l.current == nil || l.current.busy <= l.now {
		return nil
	}
	return l.untilDone
}

func (l *loop) untilDone(tell func()) {
	process := l.current.process
	l.At(l.current.busy, func() {
		if !process.dead {
			tell()
		}
	})
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
)

// Patience with nodes.
const (
	startPatience = 60 * time.Second
	startEach     = 5 * time.Second // more for each node that starts at the same time: an engine takes them in turn
	endPatience   = 45 * time.Second
	helloEvery    = 10 * time.Millisecond
	againEvery    = 50 * time.Millisecond // a stream that broke off is begun again
)

// member is what is common to nodes of both kinds: the carrier's process of a name, and
// the control server in it.
type member struct {
	identity network.Identity
	backend  *Backend
	client   *control.Client
	enter    remote.EnterSocket

	started atomic.Bool
	frozen  atomic.Bool
	away    atomic.Bool // off its network: unreachable
	showing atomic.Bool // a runner is being told what was seen
	failure atomic.Pointer[error]
	fallen  atomic.Int64           // how often a role that was told to panic took the node along in this life
	felled  atomic.Pointer[string] // the role that did so last

	mu     sync.Mutex
	life   *life                         // nil while no process runs
	before map[int][fault.Effects]int64  // what was counted of faults in this life, by number
	rules  map[netip.AddrPort]lossy.Rule // in force
	told   string                        // the rules as the node was told them last, in this life
}

// life is one process of a node.
type life struct {
	ctx    context.Context // ends with it
	end    context.CancelFunc
	work   sync.WaitGroup // of those who follow it
	socket netip.AddrPort
	seq    atomic.Uint64 // number of its latest event
	heard  chan struct{} // has room for one: more was heard
	// followed has room for one: more of its final blocks was executed.
	followed chan struct{}

	cutting sync.Mutex
	streams map[int]func() // ends of the streams that follow it, each by a separate number
	made    int            // streams so far
}

func newMember(c *Backend, identity network.Identity, enter remote.EnterSocket) *member {
	m := &member{identity: identity, backend: c, enter: enter}
	m.client = control.NewClient(func() string { return c.carrier.Control(identity.Name) }, c.secret)
	return m
}

// isFollowed reports whether what the node says is followed: it is a validator.
func (m *member) isFollowed() bool { return m.identity.Kind == fault.Validators }

// Who implements network.Node.
func (m *member) Who() network.Identity { return m.identity }

// Phase implements network.Node.
func (m *member) Phase() network.Phase {
	switch {
	case !m.started.Load():
		return network.Stopped
	case m.failure.Load() != nil:
		return network.Failed
	case m.frozen.Load():
		return network.Frozen
	}
	return network.Running
}

// Fail implements remote.ValidatorNode. An ordered panic of a role is not a failure of the node.
func (m *member) Fail(err error) {
	most := int64(roles.MaxRestarts)
	if m.backend.hosts.Strategy() == roles.Stop {
		most = 0
	}
	if m.fallen.Load() > most {
		err = fmt.Errorf("%w: %w", err, &roles.Failure{Role: *m.felled.Load(), Reason: &roles.Ordered{}, Strategy: m.backend.hosts.Strategy()})
	}
	m.failure.Store(&err)
}

// Failure implements remote.ValidatorNode and remote.RunnerNode.
func (m *member) Failure() error {
	if err := m.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// canAnswer reports whether the node can be asked something now.
func (m *member) canAnswer() bool { return m.Phase() == network.Running && !m.away.Load() }

// startProcess starts the process, and returns when its control server answers.
func (m *member) startProcess() (*life, control.Hello, error) {
	l := &life{heard: make(chan struct{}, 1), followed: make(chan struct{}, 1)}
	l.ctx, l.end = context.WithCancel(m.backend.ctx)
	m.mu.Lock()
	m.life, m.before, m.told = l, map[int][fault.Effects]int64{}, ""
	m.mu.Unlock()
	m.failure.Store(nil)
	m.fallen.Store(0)
	if err := m.backend.launchUnlessRunning(m.identity.Name); err != nil {
		l.end()
		m.mu.Lock()
		m.life = nil
		m.mu.Unlock()
		return nil, control.Hello{}, err
	}
	ctx, cancel := context.WithTimeout(m.backend.ctx, startPatience) // from its start on, however long that took
	defer cancel()
	hello, err := m.awaitHello(ctx, l)
	if err == nil {
		l.socket, err = netip.ParseAddrPort(hello.Socket)
	}
	if err == nil && hello.Address != m.identity.Address {
		err = fmt.Errorf("%s: got the address %s, want %s", m.identity.Name, hello.Address, m.identity.Address)
	}
	m.backend.takeNewerTravel(hello.Travel.Record())
	if have := m.backend.Travelled(); err == nil && have != hello.Travel.Record() {
		err = m.client.SetTravel(ctx, have)
	}
	if err != nil {
		if !errors.As(err, new(*remote.EndedError)) { // that says it all
			err = fmt.Errorf("%s does not come up: %w", m.identity.Name, err)
		}
		return nil, hello, errors.Join(err, m.endProcess(true))
	}
	return l, hello, nil
}

// awaitHello asks the control server until it answers, or the process has ended.
func (m *member) awaitHello(ctx context.Context, l *life) (hello control.Hello, err error) {
	for {
		if hello, err = m.client.Hello(ctx); err == nil {
			return hello, nil
		}
		select {
		case <-ctx.Done():
			return hello, err
		case <-l.ctx.Done():
			if failure := m.Failure(); failure != nil {
				return hello, failure
			}
			return hello, err
		case <-time.After(helloEvery):
		}
	}
}

// endProcess ends the process where it still runs: at once, or in good order.
func (m *member) endProcess(atOnce bool) error {
	m.mu.Lock()
	l := m.life
	m.life = nil
	m.mu.Unlock()
	m.started.Store(false)
	if l == nil {
		return nil
	}
	var err error
	if l.ctx.Err() == nil && !m.backend.isClosing() {
		ctx, cancel := context.WithTimeout(context.Background(), endPatience)
		defer cancel()
		if m.frozen.Load() {
			atOnce = true
		}
		end := m.backend.carrier.Stop
		if atOnce {
			end = m.backend.carrier.Kill
		}
		err = end(ctx, m.identity.Name)
		l.drainReaders()
	}
	l.end()
	l.work.Wait()
	m.frozen.Store(false)
	m.away.Store(false)
	m.client.Close()
	return err
}

// drainPatience is how long the streams of an ended process are still read: its sent
// data is available.
const drainPatience = 2 * time.Second

// drainReaders waits until those who follow a process have read all that it told.
func (l *life) drainReaders() {
	over := make(chan struct{})
	go func() {
		l.work.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(drainPatience):
	}
}

// onUnorderedEnd records that the process ended without an order.
func (m *member) onUnorderedEnd(err error) {
	m.Fail(err)
	m.mu.Lock()
	l := m.life
	m.mu.Unlock()
	if l != nil {
		l.end()
	}
}

// Freeze implements network.Node.
func (m *member) Freeze(counts *fault.Counts) error {
	switch {
	case !m.Phase().Up():
		return fmt.Errorf("%s does not run", m.identity.Name)
	case m.frozen.Swap(true):
		return fmt.Errorf("%s is frozen already", m.identity.Name)
	}
	if err := m.backend.carrier.Freeze(m.identity.Name); err != nil {
		m.frozen.Store(false)
		return err
	}
	counts.Stopped.Add(1)
	return nil
}

// Thaw implements network.Node.
func (m *member) Thaw() error {
	if !m.frozen.Load() {
		return fmt.Errorf("%s is not frozen", m.identity.Name)
	}
	if err := m.backend.carrier.Thaw(m.identity.Name); err != nil {
		m.Fail(err)
	}
	m.frozen.Store(false)
	m.applyRules()
	return nil
}

// setRules is a part of remote.EnterSocket.
func (m *member) setRules(rules map[netip.AddrPort]lossy.Rule) {
	m.mu.Lock()
	m.rules = rules
	m.mu.Unlock()
	m.applyRules()
}

// enterSocket enters where the node's peers find it now, so that the rules of their links name that.
func (m *member) enterSocket(l *life) {
	m.mu.Lock()
	at := l.socket
	m.mu.Unlock()
	m.enter(at, m.setRules)
}

// applyRules sends the node the rules in force, if it has others.
func (m *member) applyRules() {
	if !m.canAnswer() {
		return // it is told when it runs
	}
	m.mu.Lock()
	rules := m.backend.encodeRules(m.rules)
	text := fmt.Sprint(rules)
	if text == m.told || len(rules) == 0 && m.told == "" {
		m.mu.Unlock()
		return
	}
	m.told = text
	m.mu.Unlock()
	if err := m.client.SetRules(m.backend.ctx, rules); err != nil && m.canAnswer() {
		m.backend.keepFirstError(fmt.Errorf("cannot set the link rules of %s: %w", m.identity.Name, err))
	}
}

// orderFault orders the node to apply a fault to itself.
func (m *member) orderFault(counts *fault.Counts, o fault.Order) error {
	if !m.canAnswer() {
		return nil // a new process is sound
	}
	all, err := m.client.Order(m.backend.ctx, m.backend.faultNumber(counts), o)
	m.noteCounts(all)
	return err
}

// Do implements network.Node: it passes the order to the node unchanged. The answer to a panic
// reports its effect, since the process may end.
func (m *member) Do(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	waits := o.Verb == fault.Panic || o.Verb == fault.Hang
	switch {
	case waits && !m.canAnswer():
		return fmt.Errorf("%s does not answer", m.identity.Name)
	case counts == nil:
		m.collectCounts() // what it did is counted before it ends
	case over != nil:
		m.backend.whenOver(counts, func() { over(0) })
	}
	if err := m.orderFault(counts, *o); err != nil {
		return err
	}
	if waits {
		m.felled.Store(&o.Role)
		m.fallen.Add(counts.Ended.Load())
	}
	return nil
}

// silenceNode has the node fall silent at once: to be killed takes some carriers a while.
func (m *member) silenceNode() {
	if !m.canAnswer() {
		return
	}
	ctx, cancel := context.WithTimeout(m.backend.ctx, countPatience)
	defer cancel()
	_ = m.client.Mute(ctx) // the kill that follows does not depend on it
}

// showBlock announces to a runner the block up to which the supervisor has seen the
// chain, without waiting: of several blocks, only the latest is sent.
func (m *member) showBlock() {
	if !m.canAnswer() || m.showing.Swap(true) {
		return
	}
	go func() {
		seen := m.backend.seen.Load()
		err := m.client.Show(m.backend.ctx, types.Height(seen)) // one that is not told loses its patience by itself
		m.showing.Store(false)
		if err == nil && m.backend.seen.Load() != seen {
			m.showBlock()
		}
	}()
}

// collectCounts adds what faults did in the node since it was asked last.
func (m *member) collectCounts() {
	if !m.canAnswer() {
		return
	}
	ctx, cancel := context.WithTimeout(m.backend.ctx, countPatience)
	defer cancel()
	all, err := m.client.Counts(ctx)
	if err == nil {
		m.noteCounts(all)
	}
}

// noteCounts notes what the faults of the node's process did so far.
func (m *member) noteCounts(all []control.Count) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before == nil {
		return
	}
	for _, one := range all {
		m.backend.addEffects(one, m.before[one.Fault])
		m.before[one.Fault] = one.Figures
	}
}

const countPatience = 2 * time.Second

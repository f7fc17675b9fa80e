package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Config is what a backend is made of.
type Config struct {
	Carrier Carrier
	Hosts   *hosts.Network // as it was written to Dir, with its driver's secret
	Dir     string
	Secret  string
	// Port finds a port of this machine for a node that joins; nil: it needs none, since
	// it has its own host.
	Port func() (int, error)
	Log  *slog.Logger // nil: none
	// Scripted delays work of runners until Saw has reported the block that drew them.
	Scripted bool
	// Stores is the folder that keeps what validators made final, for the next start; "": it
	// is kept in memory.
	Stores string
	URL    string      // of the network's API, which nodes name to those who ask them instead; it may be ""
	Ended  func(Ended) // called for nodes that ended without an order; it may be nil
}

// Backend opens the nodes of a network where a carrier runs them (remote.Nodes).
type Backend struct {
	carrier Carrier
	hosts   *hosts.Network
	dir     string
	secret  string
	port    func() (int, error)
	genesis *ledger.Genesis
	log     *slog.Logger
	script  bool // runners wait for Saw
	stores  string
	url     string
	told    func(Ended)
	chain   *chain // set by the first validator

	ctx       context.Context // of all requests to nodes
	cancel    context.CancelFunc
	reader    sync.WaitGroup // of Ended
	calling   sync.WaitGroup // of those that name nodes to validators
	seen      atomic.Uint64  // the height up to which the supervisor has seen the chain
	heardUpTo atomic.Int64   // the height up to which what validators said before was heard

	mu        sync.Mutex
	early     map[string]chan error // nodes that are being started before they are asked for
	fell      map[string]error      // those of them that ended before they were: how
	members   map[string]*member
	followers []*follower
	known     map[string]bool // to the carrier
	numbers   map[*fault.Counts]int
	counts    map[int]*fault.Counts
	overs     map[int]func() // what to do when a fault is over
	wrong     error          // the first thing that no node can be blamed for
	isClosed  bool
	travel    network.Travel // how far time travel came
	// abandoned says that the network has not come up: none of its nodes is asked to end.
	abandoned bool
}

// NewBackend makes a backend.
func NewBackend(c Config) *Backend {
	backend := &Backend{carrier: c.Carrier, hosts: c.Hosts, dir: c.Dir, secret: c.Secret, port: c.Port, genesis: c.Hosts.Genesis, log: c.Log,
		script: c.Scripted, stores: c.Stores, url: c.URL, told: c.Ended,
		early: map[string]chan error{}, fell: map[string]error{}, members: map[string]*member{}, known: map[string]bool{},
		numbers: map[*fault.Counts]int{}, counts: map[int]*fault.Counts{}, overs: map[int]func(){}}
	if backend.log == nil {
		backend.log = slog.New(slog.DiscardHandler)
	}
	for _, one := range slices.Concat(c.Hosts.Validators, c.Hosts.Runners) {
		backend.known[one.Name] = true
	}
	backend.ctx, backend.cancel = context.WithCancel(context.Background())
	backend.reader.Go(backend.watchForEnds)
	return backend
}

// watchForEnds notes which nodes end by themselves.
func (c *Backend) watchForEnds() {
	for end := range c.carrier.Ended() {
		if c.told != nil { // before its start fails
			c.told(end)
		}
		ended := &remote.EndedError{Node: end.Name, Cause: cmp.Or(end.Err, errors.New("no exit status"))}
		c.mu.Lock()
		m := c.members[end.Name]
		if c.early[end.Name] != nil {
			c.fell[end.Name] = ended
		}
		c.mu.Unlock()
		if m != nil {
			m.onUnorderedEnd(ended)
		}
	}
}

// Launch begins to start all nodes at once but those that have left: each takes a while,
// and none waits for another.
func (c *Backend) Launch() {
	nodes := slices.Concat(c.hosts.Validators, c.hosts.Runners)
	nodes = slices.DeleteFunc(nodes, func(one hosts.Node) bool { return one.Left })
	patience := startPatience + time.Duration(len(nodes))*startEach
	for _, one := range nodes {
		started := make(chan error, 1)
		c.mu.Lock()
		c.early[one.Name] = started
		c.mu.Unlock()
		go func() {
			ctx, cancel := context.WithTimeout(c.ctx, patience)
			defer cancel()
			started <- c.carrier.Start(ctx, one.Name)
			close(started)
		}()
	}
}

// launchUnlessRunning starts a node, where Launch has not.
func (c *Backend) launchUnlessRunning(name string) error {
	c.mu.Lock()
	started := c.early[name]
	c.mu.Unlock()
	if started == nil {
		ctx, cancel := context.WithTimeout(c.ctx, startPatience)
		defer cancel()
		return c.carrier.Start(ctx, name)
	}
	err := <-started
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.early, name)
	return cmp.Or(err, c.fell[name])
}

// addToCarrier adds a node to the carrier, unless it is known, once write has written its
// files, given a port for it.
func (c *Backend) addToCarrier(kind, name string, write func(port int) error) error {
	c.mu.Lock()
	known := c.known[name]
	c.known[name] = true
	c.mu.Unlock()
	if known {
		return nil
	}
	port := 0
	if c.port != nil {
		var err error
		if port, err = c.port(); err != nil {
			return err
		}
	}
	if err := write(port); err != nil {
		return err
	}
	return c.carrier.Add(c.ctx, Node{Name: name, Kind: kind})
}

func (c *Backend) enterMember(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members[m.identity.Name] = m
}

func (c *Backend) allMembers() []*member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*member
	for _, name := range slices.Sorted(maps.Keys(c.members)) {
		list = append(list, c.members[name])
	}
	return list
}

// faultNumber returns the number of a fault, by the counts of its effects; 0 for nil.
func (c *Backend) faultNumber(counts *fault.Counts) int {
	if counts == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.numbers[counts]; n != 0 {
		return n
	}
	n := len(c.numbers) + 1
	c.numbers[counts], c.counts[n] = n, counts
	return n
}

// whenOver calls over when a fault can have no effect any more.
func (c *Backend) whenOver(counts *fault.Counts, over func()) {
	n := c.faultNumber(counts)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.overs[n] = over
}

// addEffects adds what a fault did in a node.
func (c *Backend) addEffects(one control.Count, before [fault.Effects]int64) {
	c.mu.Lock()
	counts, over := c.counts[one.Fault], c.overs[one.Fault]
	if one.Over {
		delete(c.overs, one.Fault)
	}
	c.mu.Unlock()
	if counts != nil {
		counts.Grow(before, one.Figures)
	}
	if one.Over && over != nil {
		over()
	}
}

// Count implements remote.Nodes: it asks all nodes what faults did there.
func (c *Backend) Count() {
	var asked sync.WaitGroup
	for _, m := range c.allMembers() {
		asked.Go(m.collectCounts)
	}
	asked.Wait()
}

// encodeRules are rules as nodes are told them.
func (c *Backend) encodeRules(rules map[netip.AddrPort]lossy.Rule) (all []control.Rule) {
	for to, rule := range rules {
		one := control.Rule{To: to.String(), Link: rule.Link, LinkFault: c.faultNumber(rule.LinkCounts)}
		if rule.Cut {
			one.CutFault = c.faultNumber(rule.CutCounts)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b control.Rule) int { return cmp.Compare(a.To, b.To) })
	return all
}

// Travelled implements remote.Nodes.
func (c *Backend) Travelled() network.Travel {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.travel
}

// SetTravel implements remote.Nodes: it sends all nodes how far time travel came. A node that
// starts later is told at its start.
func (c *Backend) SetTravel(t network.Travel) {
	c.mu.Lock()
	c.travel = t
	c.mu.Unlock()
	var told sync.WaitGroup
	for _, m := range c.allMembers() {
		if !m.canAnswer() {
			continue
		}
		told.Go(func() {
			if err := m.client.SetTravel(c.ctx, t); err != nil && m.canAnswer() {
				c.keepFirstError(fmt.Errorf("%s was not told the time: %w", m.identity.Name, err))
			}
		})
	}
	told.Wait()
}

// Saw announces to runners the block up to which the supervisor has seen the chain:
// work for which earlier blocks drew them may begin.
func (c *Backend) Saw(height types.Height) {
	if c.seen.Swap(uint64(height)) == uint64(height) {
		return
	}
	for _, m := range c.allMembers() {
		if !m.isFollowed() {
			m.showBlock()
		}
	}
}

// takeNewerTravel takes the record of a node that has run before, if it is newer: a crash may have come
// before all nodes had it.
func (c *Backend) takeNewerTravel(t network.Travel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Number > c.travel.Number || t.Number == c.travel.Number && t.Clock > c.travel.Clock {
		c.travel = t
	}
}

// keepFirstError keeps the first thing that went wrong in driving.
func (c *Backend) keepFirstError(err error) {
	c.log.Error("driving a network", "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong == nil && !c.isClosed {
		c.wrong = err
	}
}

// Err returns the first failure that is not a node's own. Either a final block gives a
// different result here, or a node could not be reached.
func (c *Backend) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong
}

func (c *Backend) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isClosed || c.abandoned
}

// Abandon implements remote.Nodes: Close ends all nodes at once.
func (c *Backend) Abandon() {
	c.mu.Lock()
	c.abandoned = true
	c.mu.Unlock()
	c.cancel()
}

// Close ends all nodes at once, and the carrier with them.
func (c *Backend) Close() error {
	c.mu.Lock()
	if c.isClosed {
		c.mu.Unlock()
		return nil
	}
	c.isClosed = true
	early := c.early
	c.early = nil
	c.mu.Unlock()
	for _, started := range early {
		<-started
	}
	c.cancel()
	err := c.carrier.Close()
	c.reader.Wait()
	c.calling.Wait()
	return err
}

// CloseStores closes the stores of validators' final blocks. They have no readers any
// more, and Close was called before.
func (c *Backend) CloseStores() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.followers {
		err = errors.Join(err, f.closeStores())
	}
	c.followers = nil
	return err
}

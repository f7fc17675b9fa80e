package simplex

import (
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Signer holds this validator's key.
type Signer interface {
	Address() types.Address
	Sign(digest types.Hash) types.Signature
}

// Config is what a machine is made of.
type Config struct {
	ChainID   uint64
	Signer    Signer
	BlockTime time.Duration       // the time from one block to the next; 0: none
	LinkDelay time.Duration       // Δ of decision C4, above 0
	Auto      bool                // make blocks only when there is work (decision C7)
	Set       types.ValidatorSet  // which decides on the block after Root
	Previous  *types.ValidatorSet // which decided on Root, where a border follows it
	Root      Root
	Lost      bool // the log of an earlier life is gone: it may have sent votes that nobody here knows of
	// Presence returns what this validator attests at a time, for a registry of so many
	// runners, as votes have it (decision C3). It is asked at the moment of each vote for
	// a block. nil: it lets no runner in.
	Presence func(now types.Time, runners int) []byte
}

// Root is the finalized block a machine stands on: genesis, or what the store
// holds.
type Root struct {
	Block        *types.Block // its header is enough
	Hash         types.Hash
	Finalization *types.Certificate // nil for genesis
	Notarization *types.Certificate // nil for genesis, or where it is not known: peers are asked for it
}

// Machine is one validator's part in the consensus. It is driven by Step alone.
type Machine struct {
	cfg      Config
	self     types.Address
	previous *types.ValidatorSet // the set before the last border; nil when not known
	set      *types.ValidatorSet
	sets     Sets
	index    map[types.Address]int // each member's place in set
	me       int                   // own index in set, -1 for who only follows, or sits out
	begun    bool                  // the log says that this validator has begun
	sitsOut  types.Millis          // it sits out until a block stamped later than this is final; 0: it takes part
	upcoming *types.ValidatorSet   // the set behind the border that the root stands before

	now     types.Time
	started bool
	out     *Output

	// The finalized block, and what peers that lack it are given.
	root Root
	edge Root // the block before the last border

	// The views of the current set above the root's.
	rounds    map[types.View]*round
	view      types.View
	entered   types.Time
	pace      pacemaker
	newest    types.View         // the highest with a notarization or finalization
	heard     []types.View       // the view in which each member was heard last, by index
	top       *types.Certificate // allows a later view
	final     *types.Certificate // the highest finalization that is not reported yet
	finalFrom types.Address

	bodies  bodies
	fetcher fetcher
	peers   map[types.Address]*peer
	hasWork bool         // the application has something to put into a block
	paused  bool         // no blocks are made, by Hold
	goal    types.Height // blocks are asked for up to it
	later   []record     // records of sets to come, from the log
	broken  bool         // Conflict was reported
}

// peer is what one sender may still ask for.
type peer struct {
	since    types.Time // begin of the interval that is counted
	requests int
	helped   bool
}

// New returns a machine that stands on cfg.Root and remembers what it persisted
// earlier: records are given as they were appended, the oldest first. It fails
// when the configuration contradicts itself or a record cannot be read.
func New(cfg Config, replay [][]byte) (*Machine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	m := &Machine{
		cfg: cfg, self: cfg.Signer.Address(), root: cfg.Root,
		bodies: newBodies(),
		pace:   pacemaker{Timing: Timing{BlockTime: cfg.BlockTime, LinkDelay: cfg.LinkDelay, Auto: cfg.Auto}},
	}
	if cfg.Previous != nil {
		m.previous = cfg.Previous
		m.edge = cfg.Root
	}
	m.install(&cfg.Set)
	if err := m.replay(replay); err != nil {
		return nil, err
	}
	return m, nil
}

func (cfg *Config) check() error {
	switch {
	case cfg.Signer == nil || cfg.Root.Block == nil:
		return fmt.Errorf("simplex: the configuration lacks a signer or a root")
	case cfg.LinkDelay <= 0 || cfg.BlockTime < 0:
		return fmt.Errorf("simplex: link delay %v must be above 0 and block time %v not below", cfg.LinkDelay, cfg.BlockTime)
	}
	return checkSet(&cfg.Set, &cfg.Root.Block.Header)
}

// checkSet judges a set that is said to decide on the block after root.
func checkSet(set *types.ValidatorSet, root *types.Header) error {
	if len(set.Members) == 0 {
		return fmt.Errorf("simplex: the validator set of epoch %d is empty", set.Epoch)
	}
	if !root.Precedes(set) {
		return fmt.Errorf("simplex: the set of epoch %d is not the one that decides on the block after height %d", set.Epoch, root.Height)
	}
	return checkSorted(set)
}

func checkSorted(set *types.ValidatorSet) error {
	for i := 1; i < len(set.Members); i++ {
		if set.Members[i-1].Address.Compare(set.Members[i].Address) >= 0 {
			return fmt.Errorf("simplex: the validator set of epoch %d is not sorted by address at member %d", set.Epoch, i)
		}
	}
	return nil
}

// install makes set the current one. Rounds are numbered on from the root's
// view: the view of the first proposal of the last block, which its hash fixes,
// so that every validator begins behind the border with the same one.
func (m *Machine) install(set *types.ValidatorSet) {
	m.set = set
	m.sets = Sets{*set}
	if m.previous != nil {
		m.sets = append(m.sets, *m.previous)
	}
	m.index = make(map[types.Address]int, len(set.Members))
	m.peers = make(map[types.Address]*peer, len(set.Members))
	for i := range set.Members {
		m.index[set.Members[i].Address] = i
		m.peers[set.Members[i].Address] = &peer{}
	}
	m.me = m.place()
	m.rounds = map[types.View]*round{}
	m.view = m.rootView()
	m.heard = make([]types.View, len(set.Members))
	for i := range m.heard {
		m.heard[i] = m.view
	}
	m.pace.doublings, m.top, m.final, m.fetcher.last, m.upcoming = 0, nil, nil, certRequest{}, nil
}

// Sets are those that messages can be checked against now. The result is never
// changed afterwards.
func (m *Machine) Sets() Sets { return m.sets }

// View is the current view.
func (m *Machine) View() types.View { return m.view }

// Root is the finalized block the machine stands on.
func (m *Machine) Root() Root { return m.root }

func (m *Machine) rootView() types.View     { return m.root.Block.Header.View }
func (m *Machine) rootHeight() types.Height { return m.root.Block.Header.Height }

// Step takes one event at the time now and returns what has to be done. Slices
// and messages of the output are the caller's to read, not to change.
func (m *Machine) Step(now types.Time, event Event) Output {
	var out Output
	m.out, m.now = &out, max(now, m.now)
	if _, ok := event.(Start); ok && !m.started {
		m.started = true
		m.begin()
		m.rejoin()
	} else if m.started {
		m.handle(event)
	}
	if m.started {
		m.runToFixpoint()
	}
	m.out = nil
	return out
}

func (m *Machine) handle(event Event) {
	switch e := event.(type) {
	case Received:
		m.receive(e.From, e.Message)
	case Built:
		m.built(e)
	case Executed:
		m.executed(e)
	case Work:
		m.hasWork = e.Pending
		m.disarmIdle()
	case Timing:
		if e.LinkDelay > 0 && e.BlockTime >= 0 {
			m.pace.Timing = e
		}
	case Hold:
		m.paused = e.On
		m.disarmIdle()
	case Goal:
		m.goal = e.Height
		m.disarmIdle()
	case CaughtUp:
		m.caughtUp(e)
	}
}

// runToFixpoint does what the state allows until nothing is left: each pass
// either finalizes, moves to a later view, votes or asks, and none of these can
// be done twice.
func (m *Machine) runToFixpoint() {
	m.retryFailing()
	for m.comeBack() || m.finalizeNext() || m.beginEpoch() || m.advance() || m.timeOut() || m.consider() || m.propose() {
	}
	m.resend()
	m.retryWants()
}

func (m *Machine) persist(r record) { m.out.Persist = append(m.out.Persist, r.encode()) }

func (m *Machine) broadcast(message Message) {
	m.out.Send = append(m.out.Send, Send{Message: message})
}

func (m *Machine) sendTo(to types.Address, message Message) {
	m.out.Send = append(m.out.Send, Send{To: &to, Message: message})
}

func (m *Machine) ask(a Ask) { m.out.Ask = append(m.out.Ask, a) }

func (m *Machine) report(r Report) { m.out.Report = append(m.out.Report, r) }

package simplex

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Signer holds this validator's key.
type Signer interface {
	Address() types.Address
	Sign(digest types.Hash) types.Signature
}

// Config is what a machine is made of.
type Config struct {
	ChainID  uint64
	Signer   Signer
	Timing   Timing
	Set      types.ValidatorSet  // which decides on the block after Root
	Previous *types.ValidatorSet // which decided on Root, where a border follows it
	Root     Root
	Lost     bool // the log of an earlier life is gone, or its end is: it may have sent votes that are not recorded here (Reach)
	// Life is this start's. Before its first vote it asks the others whether an older one
	// answers them. The zero Life does not ask.
	Life types.Life
	// Python is the version of this validator's, for the others' words; "": unknown.
	Python string
	// Lied reports whether votes of this key that this validator did not cast were made
	// here by a fault. Nil: none were.
	Lied func() bool
	// Follows says that this validator cannot execute blocks as the network does: it
	// follows the chain, and neither proposes nor votes (decision C20).
	Follows bool
	// Presence returns this validator's attestation at a time, for a registry with the
	// given number of places, in the form of votes (decision C3). It is asked at the
	// moment of each vote for a block. nil: it lets no runner in.
	Presence func(now types.Time, runners int, places selection.Places) []byte
}

// Root is the finalized block of a machine: genesis, or the block in the store.
type Root struct {
	Block        *types.Block // its header is enough
	Hash         types.Hash
	Finalization *types.Certificate // nil for genesis
	Notarization *types.Certificate // nil for genesis, or if it is unknown: peers are asked for it
}

// Machine is one validator's part in the consensus. Only Step drives it. Each of its
// parts calls only those listed before it.
type Machine struct {
	*state
	*executor
	*requester
	*responder
	*lives
	*collector
	*proposer
	*voter
	*finalizer
	*synchronizer
	*recovery
}

// composeMachine puts the parts of a machine together.
func composeMachine(s *state) *Machine {
	executor, responder := &executor{s}, &responder{s}
	requester := &requester{executor}
	collector := &collector{requester, responder}
	return &Machine{state: s, executor: executor, requester: requester, responder: responder, lives: &lives{responder: responder},
		collector: collector,
		proposer:  &proposer{requester}, voter: &voter{collector}, finalizer: &finalizer{requester},
		synchronizer: &synchronizer{collector}, recovery: &recovery{collector: collector}}
}

// New returns a machine at cfg.Root that remembers its earlier records: they are
// given as they were appended, the oldest first. It fails when the configuration
// contradicts itself or a record cannot be read.
func New(cfg Config, replay [][]byte) (*Machine, error) {
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	m := composeMachine(&state{
		cfg: cfg, membership: membership{self: cfg.Signer.Address(), unfit: cfg.Follows, asking: !cfg.Life.IsZero()},
		newestFinal: newestFinal{root: cfg.Root, gap: cfg.Timing.BlockTime},
		bodies:      newBodies(),
		pace:        pacemaker{Timing: cfg.Timing},
	})
	if cfg.Previous != nil {
		m.previous = cfg.Previous
		m.edge = cfg.Root
	}
	m.installSet(&cfg.Set)
	if err := m.replayRecords(replay); err != nil {
		return nil, err
	}
	return m, nil
}

func (cfg *Config) checkConfig() error {
	switch {
	case cfg.Signer == nil || cfg.Root.Block == nil:
		return fmt.Errorf("simplex: the configuration lacks a signer or a root")
	case cfg.Timing.LinkDelay <= 0 || cfg.Timing.BlockTime < 0:
		return fmt.Errorf("simplex: link delay %v must be above 0 and block time %v not below", cfg.Timing.LinkDelay, cfg.Timing.BlockTime)
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
	return checkSetOrder(set)
}

func checkSetOrder(set *types.ValidatorSet) error {
	for i := 1; i < len(set.Members); i++ {
		if set.Members[i-1].Address.Compare(set.Members[i].Address) >= 0 {
			return fmt.Errorf("simplex: the validator set of epoch %d is not sorted by address at member %d", set.Epoch, i)
		}
	}
	return nil
}

// Step takes one event at the time now and returns what has to be done. Slices
// and messages of the output are the caller's to read, not to change.
func (m *Machine) Step(now types.Time, event Event) Output {
	if now < m.clock {
		m.back += m.clock.Sub(now) // the clock was set back: timeouts continue without a jump
	}
	m.clock, m.now = now, now.Add(m.back)
	if _, ok := event.(Start); ok && !m.started {
		m.started = true
		m.beginRecovery()
		m.rejoinView()
	} else if m.started {
		m.handleEvent(event)
	}
	if m.started {
		m.runToFixpoint()
	}
	out := m.out
	m.out = Output{}
	return out
}

func (m *Machine) handleEvent(event Event) {
	switch e := event.(type) {
	case Received:
		m.receiveMessage(e.From, e.Message)
	case Built:
		m.handleBuilt(e)
	case Executed:
		m.handleExecuted(e)
	case Abstain:
		m.unfit = true
		m.me = m.ownPlace()
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
		m.goal, m.leap = e.Height, e.Height
		if e.Every {
			m.leap = 0
		}
		m.clocks = newClocks(len(m.set.Members)) // stamps follow clocks that were moved, block by block
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
	for m.settleEmptyLog() || m.comeBack() || m.attestLate() || m.finalizeNext() || m.beginEpoch() || m.advanceView() || m.timeOut() ||
		m.considerVote() ||
		m.tryPropose() {
	}
	m.resendOwnMessages()
	m.retryWants()
	m.seekFinality()
	m.seekVouchers()
	m.seekLives()
	m.replaceSilent()
}

// receiveMessage takes a verified message. It ignores validators that are not in the set.
func (m *Machine) receiveMessage(from types.Address, message Verified) {
	if m.peers[from] == nil || from == m.self {
		return
	}
	switch msg := message.(type) {
	case VerifiedVote:
		m.receiveVote(from, msg.vote)
	case VerifiedCertificate:
		m.receiveCertificate(from, msg.certificate)
	case VerifiedProposal:
		m.receiveProposal(from, msg)
	case VerifiedBlock:
		m.receiveBlock(from, msg)
	case *BlockRequest:
		m.answerBlock(from, msg)
	case *CertificateRequest:
		m.answerCertificates(from, msg)
	case *ViewRequest:
		m.answerView(from, msg)
	case VerifiedView:
		m.takeViewAnswer(from, msg.answer)
	case *LifeRequest:
		m.answerLife(from, msg)
	case *LifeAnswer:
		m.hearLife(from, msg.Own)
		m.takeLife(from, msg)
	case *Past:
		m.sendMissingCertificate(from, msg.Epoch, msg.View)
	}
}

// Deadline is when Step wants a Tick, or types.Never.
func (m *Machine) Deadline() types.Time {
	if !m.started {
		return types.Never
	}
	if at := m.nextDeadline(); at != types.Never {
		return at.Add(-m.back)
	}
	return types.Never
}

func (m *Machine) nextDeadline() types.Time {
	at := min(m.fetcher.retryAt(), m.bodies.retryAt(), m.vouchersDue(), m.livesDue(), m.silentDue())
	if m.hasReachedBorder() {
		return at
	}
	if !m.pace.armed {
		if m.hasUnfinished() {
			at = min(at, m.entered.Add(m.pace.resendInterval()))
		}
		return at
	}
	at = min(at, m.pace.resendAt)
	r := m.rounds[m.view]
	if r == nil {
		return at
	}
	if m.me >= 0 && r.ownVote(types.Nullify) == nil && r.ownVote(types.Finalize) == nil {
		at = min(at, m.pace.viewDeadline())
		if least := m.mayGiveUp(); m.now < least {
			at = min(at, least)
		}
		if r.proposal == nil {
			at = min(at, m.pace.leaderDeadline())
		}
	}
	if m.hasToPropose(r) && m.now < m.buildAt() {
		at = min(at, m.buildAt())
	}
	return at
}

package scenario

import (
	"fmt"
	"io"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/history"
)

// Config is what network(…) asks a backend for. A zero BlockTime is blocks without
// a pause.
type Config struct {
	Seed       uint64
	Validators int
	Runners    int
	Terms      []model.RunnerRequest // of the first of them, what differs from what all register; nil of none
	BlockTime  time.Duration         // with Auto, how long waiting for a block is patient
	Auto       bool                  // blocks are made when there is something to do
	Params     map[string]string     // what differs from the defaults
	Link       fault.Link            // of every pair of nodes
	Strategy   roles.Strategy        // effect on a node when one of its roles panics
	Trace      io.Writer             // nil: none; otherwise the run as JSON lines
	Timeline   *Timeline             // gets the network's views and receipts; it may be nil
	Snapshots  bool                  // the script takes some
}

// Open brings a network up for a script, which closes it at its end. Validators
// run when it returns, in real time with a quorum connected; blocks come after that.
type Open func(Config) (Backend, error)

// Backend is a world as a script drives it: one network, simulated or live. A
// script calls it from one goroutine. An error that is an *refusal.Error or made by
// Unable is the script's to read; every other one is the devnet's own fault.
//
// Reads go through answers.Reader, so that a script sees what HTTP shows.
type Backend interface {
	Name() string // sim, live, …
	Info() answers.Info
	// Nodes lists the validators in the order of their names: v0, v1, …; those
	// that joined or left included.
	Nodes() []answers.Node
	// Reader reads a node's latest final state; for "", the state of the running
	// honest validator with the highest final block.
	Reader(node string) (answers.Reader, error)
	Accounts() []answers.NamedAccount
	// Runners lists the runners that the network runs itself, in the order of their
	// names: r0, r1, …; those that joined included.
	Runners() []answers.NamedAccount
	// RunnerRuns reports whether one of them does.
	RunnerRuns(name string) bool
	// RunnerLetters are their dead letters, by address (api.Backend).
	RunnerLetters() map[types.Address]uint64
	Signer(name string) env.Signer // of a devnet account, or nil
	// Python is what keeps this world from running actors in Python, or nil.
	Python() error

	// Next lets the network run until its highest final block is above a height, or
	// patience of its clock is over, and returns the height it then has. In the
	// simulator this drives the world; live, it waits.
	Next(above types.Height, patience time.Duration) (types.Height, error)
	// Now is the network's clock.
	Now() types.Time
	// Submit hands a signed transaction to validators, until one has admitted or
	// refused it.
	Submit(raw []byte) (types.Hash, error)
	// NextNonce returns the nonce after all that are final or wait in the pool.
	NextNonce(types.Address) types.Nonce

	// World makes faults of validators and links. A node's name is checked before.
	fault.World

	// Governance and time.
	Join(name string) error  // "": the next free name
	Leave(name string) error // at the epoch's end
	// JoinRunner starts a runner and registers it; the name "" is the next free one. What the
	// terms leave out is as of all runners.
	JoinRunner(terms model.RunnerRequest) error
	// UpdateRunner changes the offer of a runner; what the terms leave out stays.
	UpdateRunner(name string, terms model.RunnerRequest) error
	AddStake(name string, amount types.Wei) error
	LeaveRunner(name string) error // it is deregistered, and stops
	// Answer gives the result of a job of the executor manual to the runners that have
	// it, or says how far it is.
	Answer(job types.Hash, given execution.Given) error
	SetParam(key, value string, at types.Height) error
	CancelTimer(types.TimerID) error
	ExtendTimer(id types.TimerID, expiresAt types.Height) error
	// SystemKey signs instructions; nil: the network has no cheats.
	SystemKey() env.Signer
	// Cheated lists a cheat among the faults.
	Cheated(fault.Effect)
	Pause() error
	Resume() error
	// Advance travels (decision C8): a *refusal.Error where it refuses to.
	Advance(history.Target) (*history.Advance, error)

	// Snapshot keeps the network as it is; restore, at any later time and any number of
	// times, makes it that again. Faults so far stay listed, and the digest continues.
	Snapshot() (restore func() error, err error)

	// Violation is the first rule that an oracle saw broken, or the first
	// validator that stopped by itself; nil while all is well.
	Violation() error
	// Check returns the verdict of one of Oracles on the run so far. It fails as
	// well where the oracle had nothing to judge.
	Check(oracle string) error
	// Queues lists what waits in each running node and how much may.
	Queues() []Queue
	// Digest is the hash of the whole run so far. Live, where every run differs, it
	// is the hash of the final chain.
	Digest() (types.Hash, error)
	Close() error
}

// Oracles are the names that Backend.Check takes; those of runners have something to
// judge in a network that has some. The checks queues and liveness are the
// scenario's own.
var (
	Oracles = []string{"agreement", "certificates", "roots", "supply", "fees", "basefees", "lane", "timers", "leader", "nonces", "accounts",
		"nextset", "durable", "turns", "upgrades"}
	OraclesOfRunners = []string{"jobs", "presence"}
)

// NothingJudged says that an oracle had nothing to go by yet.
func NothingJudged(oracle string) error {
	need, known := needs[oracle]
	if !known {
		need = "run some blocks first"
	}
	return &nothingJudged{fmt.Sprintf("the oracle of %s had nothing to judge yet: %s", oracle, need)}
}

// nothingJudged is the error of NothingJudged.
type nothingJudged struct{ what string }

func (e *nothingJudged) Error() string { return e.what }

// needs names inputs of oracles that some blocks do not have.
var needs = map[string]string{"roots": "it audits some heights; run some more blocks",
	"supply": "it audits some heights; run some more blocks",
	"fees":   "send a transaction first", "timers": "schedule a timer first", "nextset": "let a validator join or leave first",
	"turns": "send a message or submit a job with a callback first",
	"jobs":  "submit a job first", "presence": "bring runners up, and run some blocks first"}

// Queue is the length of a queue.
type Queue struct {
	Node   string
	Name   string
	Length int
	Limit  int
}

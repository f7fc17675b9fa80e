package box

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Elsewhere opens the nodes of a network in separate processes (Config.Elsewhere),
// which this one controls: all other parts of a network are here.
type Elsewhere interface {
	// Validator and Runner make a node that is not started.
	Validator(name string, key *crypto.Key, tell Receivers) (RemoteValidator, error)
	Runner(name string, key *crypto.Key) RemoteRunner
	// Validators names the validators that have files, in their order. Key is the key of a
	// node that has files, or nil.
	Validators() []string
	Key(name string) *crypto.Key
	// Left reports whether a node has left and is not started with the others. SetLeft notes
	// it; a start of the node takes it back.
	Left(name string) bool
	SetLeft(name string)
	// Travelled is how far time travel came, as the nodes that have started kept it.
	Travelled() network.Travel
	// SetTravel sends all nodes, also those that start later, how far time travel came.
	SetTravel(network.Travel)
	// Count asks all nodes what faults did there.
	Count()
	// Abandon reports that the network does not come up: its nodes are no longer needed,
	// and their maker ends them.
	Abandon()
}

// Receivers has the receivers of a remote validator's reports, one call at a time for
// each function, and the executor of its blocks here.
type Receivers struct {
	Executor  ledger.Executor
	Final     func(validators.FinalBlocks)
	Booted    func(types.Address, Boot)
	Consensus func(name string, report simplex.Report)
	Runners   func(name string, report gateway.Report)
	Sent      func(from types.Address, frame []byte) // a vote, as it left
	Dropped   func(hash types.Hash, why string)
}

// Boot is what a validator begins with.
type Boot struct {
	Header *types.Header // of the last block that it has
	Hash   types.Hash
	Root   types.Hash // of its state
}

// Engine is the machine of a node, wherever it runs: node.Machine says what is meant.
type Engine interface {
	Who() *node.Identity
	Started() bool
	Running() bool
	Frozen() bool
	Failure() error
	Fail(error)
	Kill()
	Freeze(*fault.Counts) error
	Thaw() bool
	Wipe(*fault.Counts) error // counts what is lost
	// Do does a fault of the node's own: network.Node says what is meant.
	Do(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error
}

// Validating is a validator and its machine: node.Validator says what is meant.
type Validating interface {
	Engine
	// Endpoint is host:port by which others reach it, as the chain has to know it; ""
	// where they need not be told.
	Endpoint() (string, error)
	Open() error
	Start(bootstrap []types.Validator) error
	Stop() error
	Shell() Shell // nil before the first start, if that is here
	Store() env.Store
	Misbehaves() bool // it was told to lie to the others
}

// Shell is a running validator, or the one that ran last: validators.Validator says what
// is meant.
type Shell interface {
	network.Steered
	Head() *validators.Head
	Archive() *history.Archive
	Status() validators.Status
	Connections() []gateway.Live
}

// Packets is the socket of a node: lossy.Conn says what is meant.
type Packets interface {
	SetRules(map[netip.AddrPort]lossy.Rule)
	Kill()
}

// Remote is what is more of a node elsewhere.
type Remote interface {
	Socket() netip.AddrPort // as its peers see it, while it runs
	Packets() Packets
}

// RemoteValidator is a validator elsewhere.
type RemoteValidator interface {
	Validating
	Remote
}

// RemoteRunner is a runner elsewhere.
type RemoteRunner interface {
	Serving
	Remote
}

// Serving is a runner and its machine: node.Runner says what is meant.
type Serving interface {
	Engine
	Start() error
	Stop() error
	Leave(finish bool, gone func())
	Status() runners.Status
	Reload() error
	Manual() Manual
}

// Manual is the executor of jobs that are answered by hand: custom.Manual says what is
// meant.
type Manual interface {
	Waiting() []types.Hash
	Answer(job types.Hash, given execution.Given) error
}

var (
	_ Shell   = (*validators.Validator)(nil)
	_ Packets = (*lossy.Conn)(nil)
	_ Manual  = (*custom.Manual)(nil)
)

// localValidator is a validator of this process.
type localValidator struct {
	*node.Validator
	mask     *byzantine.Mask
	programs *fault.Programs
	twin     *atomic.Pointer[byzantine.Twin] // of the process that runs, or ran last
}

// Shell implements Validating.
func (v localValidator) Shell() Shell {
	if shell := v.Validator.Shell(); shell != nil {
		return shell
	}
	return nil
}

// Endpoint implements Validating: the book tells.
func (v localValidator) Endpoint() (string, error) { return "", nil }

// Wipe implements Engine.
func (v localValidator) Wipe(counts *fault.Counts) error { return wipeMachine(&v.Machine, counts) }

// Do implements Engine.
func (v localValidator) Do(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	return (&byzantine.ValidatorProcess{Mask: v.mask, Programs: v.programs, Shell: v.Validator.Shell(),
		Contracts: v.Contracts(), Twin: v.twin.Load()}).Do(o, counts, over)
}

// Stop implements Validating. Its next process is honest.
func (v localValidator) Stop() error {
	v.mask.Honest()
	return v.Validator.Stop()
}

// Misbehaves implements Validating.
func (v localValidator) Misbehaves() bool { return v.mask.Misbehaves() }

// Do implements Engine.
func (r localRunner) Do(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	return (&byzantine.RunnerProcess{Mask: r.mask.Load(), Shell: r.Shell()}).Do(o, counts, over)
}

// wipeMachine loses the files of a machine, and counts their bytes.
func wipeMachine(m *node.Machine, counts *fault.Counts) error {
	lost, err := m.Wipe()
	counts.Lost.Add(lost)
	return err
}

// localRunner is a runner of this process.
type localRunner struct {
	*node.Runner
	key    *crypto.Key
	manual func() *custom.Manual                 // of the run under way
	mask   *atomic.Pointer[byzantine.RunnerMask] // of the process that runs, or ran last
}

// Wipe implements Engine.
func (r localRunner) Wipe(counts *fault.Counts) error { return wipeMachine(&r.Machine, counts) }

// Status implements Serving.
func (r localRunner) Status() runners.Status {
	if shell := r.Shell(); shell != nil {
		return shell.Status()
	}
	return runners.Status{Name: r.Name, Address: r.Address, PublicKey: r.key.PublicKey()}
}

// Reload implements Serving.
func (r localRunner) Reload() error { return api.ErrNoSettings(r.Name) }

// Manual implements Serving.
func (r localRunner) Manual() Manual {
	if manual := r.manual(); manual != nil {
		return manual
	}
	return nil
}

// remoteNode makes a validator elsewhere.
func remoteNode(n *Network, name string, one *Node) (*Node, error) {
	tell := Receivers{Executor: ledger.Executor{Programs: n.programs, Verifier: n.verifier}, Final: n.reports.handOnFinal,
		Booted:    n.reports.reportBoot,
		Consensus: n.reports.handOnReport, Runners: n.reports.gatewayReporter(one.key.Address()), Sent: n.reports.handOnVote,
		Dropped: n.reports.handOnDrop}
	validator, err := n.config.Elsewhere.Validator(name, one.key, tell)
	if err != nil {
		return nil, err
	}
	endpoint, err := validator.Endpoint()
	if err != nil {
		return nil, err
	}
	n.book.Enter(one.key.Address(), endpoint)
	one.validator = validator
	one.machine = machine{Identity: validator.Who(), Engine: validator, network: n, kind: fault.Validators, process: one}
	return one, nil
}

// remoteRunner makes a runner elsewhere.
func remoteRunner(n *Network, name string, one *Runner) *Runner {
	one.runner = n.config.Elsewhere.Runner(name, one.key)
	one.machine = machine{Identity: one.runner.Who(), Engine: one.runner, network: n, kind: fault.Runners, process: one}
	return one
}

// enterSocket enters the socket of a node elsewhere, which is another in each of its lives.
func (m *machine) enterSocket() {
	if remote, is := m.Engine.(Remote); is {
		m.network.links.enterSocket(m.Name, remote.Packets(), remote.Socket())
	}
}

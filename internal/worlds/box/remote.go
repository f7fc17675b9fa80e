package box

import (
	"net/netip"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Elsewhere opens the nodes of a network in processes of their own (Config.Elsewhere),
// which this one drives: all that a network is beside its nodes is here.
type Elsewhere interface {
	// Validator and Runner make a node that is not started.
	Validator(name string, key *crypto.Key, tell Told) (RemoteValidator, error)
	Runner(name string, key *crypto.Key) RemoteRunner
	// Validators names the validators that have files, in their order. Key is the key of a
	// node that has files, or nil.
	Validators() []string
	Key(name string) *crypto.Key
	// Left reports whether a node has left and is not started with the others. SetLeft notes
	// it; a start of the node takes it back.
	Left(name string) bool
	SetLeft(name string)
	// Ahead is how far the clocks of nodes that have started were ahead of the machine's.
	Ahead() time.Duration
	// SetClock tells all nodes, also those that start later, how far the network's clock
	// is ahead of the machine's.
	SetClock(ahead time.Duration)
	// Count asks all nodes what faults did there.
	Count()
	// Abandon says that the network does not come up: nobody needs its nodes, and whoever
	// made them ends them.
	Abandon()
}

// Told is who hears what a validator elsewhere does, one call at a time for each
// function, and what its blocks are executed with here.
type Told struct {
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
	// Upset has an actor panic or hang: byzantine.Upset says what is meant.
	Upset(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error
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
	Shell() Shell // nil before the first start, where that is here
	Store() env.Store
}

// Shell is a running validator, or the one that ran last: validators.Validator says what
// is meant.
type Shell interface {
	Head() *validators.Head
	Archive() *history.Archive
	Status() validators.Status
	Connections() []gateway.Live
	Submit(raw []byte, answer func(types.Hash, error))
	NextNonce(account types.Address, final types.Nonce, answer func(types.Nonce))
	Waiting(hash types.Hash, answer func(*ledger.Checked))
	BringHeartbeat(runner types.Address, ping *push.HeartbeatPing, answer func(types.Hash, error))
	BringResult(runner types.Address, result *push.JobResult, answer func(error))
	BringRefusal(runner types.Address, ack *push.JobAck, answer func(error))
	Pause(on bool)
	SkipTo(height types.Height, done func())
	MakeTo(height types.Height, done func())
}

// Lying is what has a validator lie to the others: byzantine.Mask says what is meant.
type Lying interface {
	Behave(kind string, counts *fault.Counts) error
	Honest()
	Misbehaves() bool
}

// Failing is what has its host of programs fail: fault.Programs says what is meant.
type Failing interface {
	Fail(actor types.Address, how string, counts *fault.Counts)
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
	Lying
	Remote
	Programs() Failing
}

// RemoteRunner is a runner elsewhere.
type RemoteRunner interface {
	Serving
	Faltering
	Remote
}

// Serving is a runner and its machine: node.Runner says what is meant.
type Serving interface {
	Engine
	Start() error
	Stop() error
	Leave(finish bool, gone func())
	Status() runners.Status
	Drain(on bool, reason string)
	Change(added, removed []string)
	Reload() error
	Manual() Manual
}

// Manual is the executor of jobs that are answered by hand: custom.Manual says what is
// meant.
type Manual interface {
	Waiting() []types.Hash
	Answer(job types.Hash, given execution.Given) error
}

// Faltering is what has a runner do wrong: byzantine.RunnerMask says what is meant.
type Faltering interface {
	Swallow(*fault.Counts)
	Saturate(*fault.Counts)
	Offer(fault.Order, *fault.Counts)
	Slow(delay time.Duration, counts *fault.Counts)
	Flap(up, down time.Duration, times int, counts *fault.Counts, over func())
	Behave(kind string, counts *fault.Counts) error
	Honest()
}

var (
	_ Shell     = (*validators.Validator)(nil)
	_ Lying     = (*byzantine.Mask)(nil)
	_ Failing   = (*fault.Programs)(nil)
	_ Packets   = (*lossy.Conn)(nil)
	_ Faltering = (*byzantine.RunnerMask)(nil)
	_ Manual    = (*custom.Manual)(nil)
)

// localValidator is a validator of this process.
type localValidator struct{ *node.Validator }

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
func (v localValidator) Wipe(counts *fault.Counts) error { return wiped(&v.Machine, counts) }

// Upset implements Engine.
func (v localValidator) Upset(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	return byzantine.Upset(v.Validator, o, counts, over)
}

// Upset implements Engine.
func (r localRunner) Upset(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	return byzantine.Upset(r.Runner, o, counts, over)
}

// wiped loses the files of a machine, and counts their bytes.
func wiped(m *node.Machine, counts *fault.Counts) error {
	lost, err := m.Wipe()
	counts.Lost.Add(lost)
	return err
}

// localRunner is a runner of this process.
type localRunner struct {
	*node.Runner
	key    *crypto.Key
	manual func() *custom.Manual // of the run under way
}

// Wipe implements Engine.
func (r localRunner) Wipe(counts *fault.Counts) error { return wiped(&r.Machine, counts) }

// Status implements Serving.
func (r localRunner) Status() runners.Status {
	if shell := r.Shell(); shell != nil {
		return shell.Status()
	}
	return runners.Status{Name: r.Name, Address: r.Address, PublicKey: r.key.PublicKey()}
}

// Drain implements Serving.
func (r localRunner) Drain(on bool, reason string) { r.Shell().Drain(on, reason) }

// Change implements Serving.
func (r localRunner) Change(added, removed []string) { r.Shell().Change(added, removed) }

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
	tell := Told{Executor: ledger.Executor{Programs: n.programs, Verifier: n.verifier}, Final: n.reports.observe, Booted: n.reports.boots,
		Consensus: n.reports.tell, Runners: n.reports.gateway(one.key.Address()), Sent: n.reports.sent, Dropped: n.reports.dropped}
	validator, err := n.config.Elsewhere.Validator(name, one.key, tell)
	if err != nil {
		return nil, err
	}
	endpoint, err := validator.Endpoint()
	if err != nil {
		return nil, err
	}
	n.book.Enter(one.key.Address(), endpoint)
	one.mask, one.programs = validator, validator.Programs()
	one.validator, one.machine = validator, machine{Identity: validator.Who(), Engine: validator, network: n, process: one}
	return one, nil
}

// remoteRunner makes a runner elsewhere.
func remoteRunner(n *Network, name string, one *Runner) *Runner {
	one.runner = n.config.Elsewhere.Runner(name, one.key)
	one.machine = machine{Identity: one.runner.Who(), Engine: one.runner, network: n, process: one}
	return one
}

// linked enters the socket of a node elsewhere, which is another in each of its lives.
func (m *machine) linked() {
	if remote, is := m.Engine.(Remote); is {
		m.network.links.open(m.Name, remote.Packets(), remote.Socket())
	}
}

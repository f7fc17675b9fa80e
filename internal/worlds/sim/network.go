package sim

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/environment/store/writeback"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/observe"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// rewriteBytes is as large as a log becomes unless its configuration says otherwise. A simulated log takes no disk, and each
// rewrite is an event of the run's digest.
const rewriteBytes = 8 << 20

// NetworkConfig says what network of validators to simulate. The zero value of
// a field means its default.
type NetworkConfig struct {
	World      Config
	Validators int // 4
	Runners    int // none
	// Terms return what the first of the runners register with, by what all offer; the others register that.
	Terms    []func(own system.Offer) (setup.Terms, error)
	Open     bool             // to runners that join a network without first runners
	ChainID  uint64           // 8011
	Params   params.Overrides // what differs from the defaults
	Accounts []string         // funded, by name; alice and bob
	Funds    types.Wei        // of each account; 1,000,000 CBY
	Programs program.Host     // besides the Go samples; none
	Alone    bool             // Programs run all code: there are no Go samples
	Timeless bool             // work takes no virtual time; otherwise it takes World.Work, or MeasuredWork if that is zero
	Real     bool             // real signatures instead of the world's keyed hash
	Apart    bool             // every validator executes every block itself
	// FlushDelay is how long a validator's store gathers commits in memory, which a crash loses, as a live one's does; 0: it
	// writes each at once.
	FlushDelay time.Duration
	Rewrite    int64             // bytes of a log from which on it is rewritten; rewriteBytes
	Sample     types.Height      // heights between full audits by the oracles; 16
	Unjudged   bool              // no oracle watches
	Strategy   roles.Strategy    // the treatment of a node whose role panics
	Keeps      bool              // keep what the oracles are told, so that a network from its rest is judged as well
	Pythons    map[string]string // by validator, the version that it says it has; none says any
	Answers    *Answers          // of runners, as a test gives them; nil: they do what the jobs say
	From       *Rest             // begin as that network of an equal configuration was at rest; nil: at genesis
	// Tell is told what a validator's consensus reported, and Final of the blocks
	// that each made final. They may be nil.
	Tell  func(at types.Time, name string, report simplex.Report)
	Final func(at types.Time, result *ledger.Result)
	// Saw is told what a validator's gateway reported of runners, and the first height
	// that no block has become final at. It may be nil.
	Saw func(next types.Height, validator types.Address, report gateway.Report)
	// Told is told what a runner reported. It may be nil.
	Told func(name string, report runners.Report)
	// Wrap puts something between a validator and its environment: a fault to be
	// found, or a misbehaviour. It may be nil.
	Wrap func(name string, node env.Validator) env.Validator

	decodes bool // each validator decodes every frame, as in one seed of twenty
}

// Network is validators in a world, the accounts that use them, and the oracles
// that watch them, composed of its parts. Nodes are named v0, v1, … in the order of
// their keys' making.
type Network struct {
	*World

	config NetworkConfig
	memo   *validators.Memo
	system *crypto.Key
	accounts
	validatorNodes
	watch
	sets
	runnerNodes
	*network.Network
}

// NewNetwork makes a world of validators and boots them all.
func NewNetwork(c NetworkConfig) (*Network, error) {
	c.fillDefaults()
	n := &Network{World: New(c.World), config: c, system: wallet.AccountKey(c.World.Seed, wallet.System)}
	n.composeParts()
	n.tipAt = n.now
	n.answers = c.Answers
	n.scheme = crypto.NewKeyedHash(types.Keccak(fmt.Append(nil, "sim", c.World.Seed)))
	if c.Real {
		n.scheme = crypto.NewVerifier(true)
	}
	n.memo = newMemo(&c)
	if c.From != nil {
		n.resumeFrom(c.From)
		n.Judge = oracle.New(c.From.rules)
		for _, told := range c.From.told {
			n.tellOracles(told)
		}
		n.showVotes()
		return n, n.bootAll()
	}
	if err := n.makeGenesis(); err != nil {
		return nil, err
	}
	state, block, err := n.memo.MakeGenesis(n.Genesis)
	if err != nil {
		return nil, err
	}
	rules := observe.RulesOf(n.Genesis, state, block, n.scheme.Recover)
	rules.Hears, rules.Connects = true, true
	n.rules, n.Judge = rules, oracle.New(rules)
	n.showVotes()
	return n, n.bootAll()
}

// decodedSeeds is how many seeds there are for each whose validators decode every frame.
const decodedSeeds = 20

// newMemo returns what validators share: nothing where each executes by itself, and no messages that were not decoded
// in one seed of twenty.
func newMemo(c *NetworkConfig) *validators.Memo {
	switch {
	case c.Apart:
		return new(validators.Memo)
	case c.decodes || c.World.Seed%decodedSeeds == 0:
		return validators.NewMemo().SameSlices()
	}
	return validators.NewMemo().SameSlices().AsSent()
}

// showVotes shows the oracles what validators send.
func (n *Network) showVotes() {
	if !n.config.Unjudged {
		n.Tap(n.showVote)
	}
}

// composeParts gives each part those that it is built on.
func (n *Network) composeParts() {
	n.accounts = accounts{chainID: n.config.ChainID, keys: map[string]*crypto.Key{}, nonces: map[string]types.Nonce{}}
	n.validatorNodes = validatorNodes{World: n.World, accounts: &n.accounts, running: map[string]*validators.Validator{}}
	n.watch = watch{validatorNodes: &n.validatorNodes, audits: observe.Every(n.config.Sample), keeps: n.config.Keeps,
		gathers: n.config.FlushDelay > 0, twinLogs: map[types.Address]*mem.Log{}}
	n.runnerNodes = runnerNodes{validatorNodes: &n.validatorNodes, config: &n.config, working: map[string]*runners.Runner{},
		states: map[string]*ledger.State{}}
	var begin network.Begin
	if from := n.config.From; from != nil {
		begin = network.Begin{Goal: from.goal, Joining: slices.Clone(from.joining)}
	}
	n.Network = network.New(operatedNetwork{n.World, n}, n.orders, begin)
	n.hooks = hooks{height: n.Tip, harmed: n.noteHarm, can: network.Simulated}
	if !n.admitsRunners() {
		n.hooks.can &^= network.OwnRunners
	}
	n.tasks.failed = func(_ string, err error) { n.keepFailure(err) }
}

func (c *NetworkConfig) fillDefaults() {
	if c.Validators == 0 {
		c.Validators = 4
	}
	if c.ChainID == 0 {
		c.ChainID = wallet.ChainID
	}
	if c.Accounts == nil {
		c.Accounts = wallet.Users()[:2]
	}
	if c.Funds.IsZero() {
		c.Funds = wallet.Funds
	}
	if c.Sample == 0 {
		c.Sample = 16
	}
	if c.World.Work == (Work{}) && !c.Timeless {
		c.World.Work = MeasuredWork
	}
	c.Unjudged = c.Unjudged || c.From != nil && !c.Keeps // the oracles have to know what was before
	if !c.Alone {
		c.Programs = samples.Mux{Other: c.Programs}
	}
}

// makeGenesis makes the keys of all nodes and accounts, and the genesis.
func (n *Network) makeGenesis() (err error) {
	c := &n.config
	chain := setup.Chain{ID: c.ChainID, Begins: firstInstant, Params: c.Params, System: n.system.Address()}
	for i := range c.Validators {
		name := wallet.ValidatorName(i)
		n.names, n.keys[name] = append(n.names, name), wallet.ValidatorKey(c.World.Seed, name)
		chain.Validator(n.keys[name], n.endpointOf(name))
	}
	for _, name := range append(slices.Clone(c.Accounts), wallet.System) {
		n.keys[name] = wallet.AccountKey(c.World.Seed, name)
		chain.Fund(n.keys[name].Address(), c.Funds)
	}
	for i := range c.Runners {
		name := wallet.RunnerName(i)
		n.runners, n.keys[name] = append(n.runners, name), wallet.RunnerKey(c.World.Seed, name)
		terms, err := c.registrationTerms(i, n.RunnerOffer())
		if err != nil {
			return err
		}
		chain.Runner(n.keys[name], terms)
	}
	n.Genesis, err = chain.Genesis()
	return err
}

// registrationTerms are what a runner of genesis registers with.
func (c *NetworkConfig) registrationTerms(i int, own system.Offer) (setup.Terms, error) {
	if i < len(c.Terms) {
		return c.Terms[i](own)
	}
	return setup.UsualTerms(own)
}

func (n *Network) bootAll() error {
	for _, name := range n.names {
		parts := Parts{Signer: n.scheme.Signer(n.keys[name]), Verifier: n.scheme, Programs: n.config.Programs}
		if err := n.AddNode(name, parts, n.bootValidator(name)); err != nil {
			return err
		}
	}
	if n.config.From != nil {
		for i := range n.config.From.disks {
			d := &n.config.From.disks[i]
			n.findNode(d.name).disk.holdRestedDisk(d)
		}
	}
	for _, name := range n.runners {
		if err := n.addRunner(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(n.names, n.runners) {
		if err := n.Boot(name); err != nil {
			return err
		}
	}
	return nil
}

func (n *Network) bootValidator(name string) Boot[env.Validator] {
	return func(node env.Validator) (func(), error) {
		log := n.config.World.Log
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		if n.config.FlushDelay > 0 {
			node.Store = writeback.New(node.Store)
		}
		if n.config.Wrap != nil {
			node = n.config.Wrap(name, node)
		}
		if !n.admitsRunners() {
			node.Connections = nil
		}
		mask := byzantine.NewMask(n.chainID, node.Signer)
		node, twin := byzantine.NewTwin(mask.Before(node), func(twin validators.Config, given env.Validator) (*validators.Validator, error) {
			twin.Name, twin.Genesis, twin.Log, twin.Bootstrap = name+"-twin", n.Genesis, log, n.bootstrapMembers()
			twinLog := mem.NewLog()
			n.watch.twinLogs[node.Signer.Address()] = twinLog
			given.Store, given.Base.Log = mem.NewStore(), twinLog
			return validators.Start(n.Runtime(), twin, given)
		})
		v, err := validators.Start(n.Runtime(), validators.Config{Name: name, Genesis: n.Genesis, Memo: n.memo, Log: log,
			RewriteBytes: cmp.Or(n.config.Rewrite, rewriteBytes), FlushDelay: n.config.FlushDelay, Head: n.headAtRest(name),
			Python: n.config.Pythons[name], Bootstrap: n.bootstrapMembers(),
			Observe: n.observeFinal, Tell: n.traceReport, TellRunners: n.tellRunners,
			Dropped: n.Dropped, Strategy: n.config.Strategy, OnFailure: func(err error) { n.onNodeEnded(name, err) }}, node)
		if err != nil {
			return nil, err
		}
		n.running[name] = v
		process := n.findNode(name).process
		process.mask = mask
		process.does = &byzantine.ValidatorProcess{Mask: mask, Programs: process.node.programs, Shell: v,
			Contracts: process.contracts, Twin: twin}
		head := v.Head()
		if !n.config.Unjudged {
			address, root := n.keys[name].Address(), head.State.Root()
			n.tellOracles(func(j *oracle.Judge) { j.Booted(address, &head.Block.Header, head.Hash, root) })
		}
		n.serveViews(name, head.State)
		n.Tell(v)
		return func() {
			twin.End()
			v.Stop()
		}, nil
	}
}

// traceReport writes into the trace what a validator's consensus reported, and hands it
// on.
func (n *Network) traceReport(name string, report simplex.Report) {
	n.trace.traceReport(n.now, n.findNode(name), report, n.nameOf)
	if n.config.Tell != nil {
		n.config.Tell(n.now, name, report)
	}
}

// observeFinal tells the oracles what a validator finalized.
func (n *Network) observeFinal(f validators.FinalBlocks) {
	var seen []oracle.Observation
	if !n.config.Unjudged {
		seen = n.audits.Observations(f, n.keys[f.Validator].Address())
	}
	var higher []*ledger.Result
	for i, r := range f.Results {
		if r.Block.Header.Height > n.tip {
			higher = append(higher, r)
			n.tip, n.tipAt = r.Block.Header.Height, n.now
		}
		n.Note(f.Validator, "final", r.Hash[:])
		if seen != nil {
			one := &seen[i]
			n.tellOracles(func(j *oracle.Judge) { j.Observe(*one) })
		}
		n.noteNextSet(r)
		if n.config.Final != nil {
			n.config.Final(n.now, r)
		}
	}
	last := f.Results[len(f.Results)-1]
	if seen != nil {
		n.tellStoredBlock(f.Validator, last)
	}
	n.answerViews(f.Validator, last.State)
	for _, r := range higher {
		n.Network.Final(r)
	}
}

// SinceBlock is how long no validator has finalized a higher block, or since the start.
func (n *Network) SinceBlock() time.Duration { return n.now.Sub(n.tipAt) }

// tellRunners reports the connections of runners to the oracles and to the watcher.
func (n *Network) tellRunners(name string, report gateway.Report) {
	if n.config.Saw != nil {
		n.config.Saw(n.tip+1, n.keys[name].Address(), report)
	}
	if !n.config.Unjudged {
		address := n.keys[name].Address()
		n.tellOracles(func(j *oracle.Judge) { observe.Connection(j, address, report) })
	}
}

// RunToHeight runs until every running, unfrozen and honest validator has finalized
// a height: a liar's peers owe it nothing, and it may fall behind. It
// fails when the time is over first, or when something went wrong.
func (n *Network) RunToHeight(h types.Height, within time.Duration) error {
	behind := "" // the validator that was, when it was looked last: mostly it is still
	err := n.RunUntil(func() bool {
		if n.Err() != nil || n.tip < h {
			return n.Err() != nil
		}
		if behind != "" && n.owesBlock(behind, h) {
			return false
		}
		for _, behind = range n.names {
			if n.owesBlock(behind, h) {
				return false
			}
		}
		return true
	}, n.Now().Add(within))
	if wrong := n.Err(); wrong != nil {
		return wrong
	}
	if err != nil {
		return fmt.Errorf("waiting for height %d: %w; validators are at %v", h, err, n.finalHeights())
	}
	return nil
}

// owesBlock says whether a validator that should has not finalized a height.
func (n *Network) owesBlock(name string, h types.Height) bool {
	return n.Running(name) && n.Honest(name) && n.findNode(name).frozen == nil && n.Height(name) < h
}

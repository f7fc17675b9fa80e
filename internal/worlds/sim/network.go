package sim

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/faces/oracle"
	"github.com/cowboyinc/devnet/internal/worlds/observe"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// NetworkConfig says what network of validators to simulate. The zero value of
// a field means its default.
type NetworkConfig struct {
	World      Config
	Validators int              // 4
	Runners    int              // none
	Open       bool             // to runners that join, where there are none at first
	ChainID    uint64           // 8011
	Params     params.Overrides // what differs from the defaults
	Accounts   []string         // funded, by name; alice and bob
	Funds      types.Wei        // of each account; 1,000,000 CBY
	Programs   program.Host     // beside the Go samples; none
	Timeless   bool             // work takes no virtual time; else World.Work, MeasuredWork where that is zero
	Real       bool             // real signatures instead of the world's keyed hash
	Apart      bool             // every validator executes every block itself
	Rewrite    int64            // bytes of a log from which on it is rewritten; validators.DefaultRewriteBytes
	Sample     types.Height     // heights between full audits by the oracles; 16
	Unjudged   bool             // no oracle watches
	Answers    *Answers         // of runners, as a test gives them; nil: they do what the jobs say
	From       *Rest            // begin as that network of an equal configuration was at rest, unjudged; nil: at genesis
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
}

// Network is validators in a world, the accounts that use them, and the oracles
// that watch them. Nodes are named v0, v1, … in the order of their keys' making.
type Network struct {
	*World
	Genesis *ledger.Genesis
	Judge   *oracle.Judge

	config  NetworkConfig
	scheme  crypto.Scheme
	memo    *validators.Memo
	rules   oracle.Rules
	names   []string
	running map[string]*validators.Validator // looked up only
	keys    map[string]*crypto.Key           // looked up only
	nonces  map[string]types.Nonce
	system  *crypto.Key
	tip     types.Height // highest height that any validator finalized
	failure error
	last    tappedFrame
	audits  *observe.Audits
	wiped   map[string]bool // lost their disks at some time
	behaviour
	steering
	crew
}

// NewNetwork makes a world of validators and boots them all.
func NewNetwork(c NetworkConfig) (*Network, error) {
	c.fill()
	n := &Network{World: New(c.World), config: c, running: map[string]*validators.Validator{}, wiped: map[string]bool{},
		keys: map[string]*crypto.Key{}, nonces: map[string]types.Nonce{}, system: wallet.AccountKey(c.World.Seed, wallet.System),
		audits: observe.Every(c.Sample), crew: crew{working: map[string]*runners.Runner{}, states: map[string]*ledger.State{},
			faces: map[string]*face{}}}
	n.answers = c.Answers
	n.scheme = crypto.NewKeyedHash(types.Keccak(fmt.Append(nil, "sim", c.World.Seed)))
	if c.Real {
		n.scheme = crypto.NewVerifier(true)
	}
	if !c.Apart {
		n.memo = validators.NewMemo()
	}
	if c.From != nil {
		n.wake(c.From)
		n.Judge = oracle.New(c.From.rules)
		return n, n.bootAll()
	}
	n.makeGenesis()
	rules, err := observe.RulesOf(n.Genesis, n.scheme.Recover)
	if err != nil {
		return nil, err
	}
	rules.Hears, rules.Connects = true, true
	n.rules, n.Judge = rules, oracle.New(rules)
	if !c.Unjudged {
		n.Tap(n.overhear)
	}
	return n, n.bootAll()
}

func (c *NetworkConfig) fill() {
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
	c.Unjudged = c.Unjudged || c.From != nil // the oracles would have to know what was before
	c.Programs = samples.Mux{Other: c.Programs}
}

func (n *Network) makeGenesis() {
	c := &n.config
	p := params.Defaults()
	if err := p.Apply(c.Params); err != nil {
		p = params.Defaults() // Genesis.State says what is wrong with them
	}
	begun := firstInstant.Add(-3 * time.Duration(p.BlockTimeMS) * time.Millisecond).Millis()
	n.Genesis = &ledger.Genesis{ChainID: c.ChainID, SystemKey: n.system.Address(), Params: c.Params,
		Timestamp: max(begun, 0)} // with block times of an hour the first blocks wait after all
	for i := range c.Validators {
		name := wallet.ValidatorName(i)
		key := wallet.ValidatorKey(c.World.Seed, name)
		n.names, n.keys[name] = append(n.names, name), key
		n.Genesis.Validators.Members = append(n.Genesis.Validators.Members,
			types.Validator{Address: key.Address(), PublicKey: key.PublicKey(), Endpoint: n.endpoint(name)})
	}
	slices.SortFunc(n.Genesis.Validators.Members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	n.keys[wallet.System] = n.system
	for _, name := range append(slices.Clone(c.Accounts), wallet.System) {
		key := wallet.AccountKey(c.World.Seed, name)
		n.keys[name] = key
		n.Genesis.Accounts = append(n.Genesis.Accounts, ledger.Funding{Address: key.Address(), Balance: c.Funds})
	}
	n.enrol()
	slices.SortFunc(n.Genesis.Accounts, func(a, b ledger.Funding) int { return a.Address.Compare(b.Address) })
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
			n.find(d.name).disk.hold(d)
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
		if n.config.Wrap != nil {
			node = n.config.Wrap(name, node)
		}
		if !n.open() {
			node.Connections = nil
		}
		node = n.masked(name, node)
		v, err := validators.Start(n.Runtime(), validators.Config{Name: name, Genesis: n.Genesis, Memo: n.memo, Log: log,
			RewriteBytes: n.config.Rewrite, Head: n.woken(name),
			Bootstrap: n.bootstrap(name), Lost: n.wiped[name], Observe: n.observe, Tell: n.tell, TellRunners: n.tellRunners,
			OnFailure: n.failed}, node)
		if err != nil {
			return nil, err
		}
		n.running[name] = v
		head := v.Head()
		if !n.config.Unjudged {
			n.Judge.Booted(n.keys[name].Address(), &head.Block.Header, head.Hash, head.State.Root())
		}
		n.host(name, head.State)
		n.steer(v)
		return v.Stop, nil
	}
}

// failed keeps why a validator stopped by itself. One that crashed or whose
// disk was told to fail did not: the test did it.
func (n *Network) failed(err error) {
	if n.failure == nil && !errors.Is(err, ErrCrashed) && !errors.Is(err, ErrDiskFailed) && !errors.Is(err, ErrDamaged) {
		n.failure = fmt.Errorf("sim: seed %d: %w", n.Seed(), err)
	}
}

// tell writes into the trace what a validator's consensus reported, and hands it
// on.
func (n *Network) tell(name string, report simplex.Report) {
	n.trace.report(n.now, n.find(name), report, n.nameOf)
	if n.config.Tell != nil {
		n.config.Tell(n.now, name, report)
	}
}

// nameOf is what the node of an address is called.
func (n *Network) nameOf(a types.Address) string {
	if one := n.byAddress[a]; one != nil {
		return one.name
	}
	return a.String()
}

// observe tells the oracles what a validator finalized.
func (n *Network) observe(f validators.FinalBlocks) {
	var seen []oracle.Observation
	if !n.config.Unjudged {
		seen = n.audits.Observations(f, n.keys[f.Validator].Address())
	}
	for i, r := range f.Results {
		n.tip = max(n.tip, r.Block.Header.Height)
		n.Note(f.Validator, "final", r.Hash[:])
		if seen != nil {
			n.Judge.Observe(seen[i])
		}
		n.follow(r)
		if n.config.Final != nil {
			n.config.Final(n.now, r)
		}
	}
	last := f.Results[len(f.Results)-1]
	if seen != nil {
		n.keep(f.Validator, last)
	}
	n.answerViews(f.Validator, last.State)
	n.rejoined()
	n.funded(last.State)
}

// keep tells the oracles of a block that a validator has stored, once it is synced.
func (n *Network) keep(name string, r *ledger.Result) {
	one := n.find(name)
	kept := func() { n.Judge.Kept(one.address, r.Block.Header.Height, r.Hash) }
	if synced := one.disk.free; synced > n.now {
		process := one.process
		n.At(synced, func() {
			if process != nil && !process.dead {
				kept()
			}
		})
		return
	}
	kept()
}

// tappedFrame is the last frame that was overheard: one goes to many.
type tappedFrame struct {
	from  types.Address
	frame []byte
}

// overhear shows the oracles every vote that is sent, also those that no
// certificate will hold.
func (n *Network) overhear(from types.Address, frame []byte) {
	if n.last.from == from && bytes.Equal(n.last.frame, frame) {
		return // to another peer
	}
	n.last = tappedFrame{from, frame}
	if vote := observe.VoteIn(frame, from, n.config.ChainID, n.scheme.Recover); vote != nil {
		n.Judge.Vote(*vote)
		n.Judge.Sends(vote, n.byAddress[from].disk.records)
	} else if p := observe.ProposalIn(frame); p != nil {
		n.Judge.Proposed(from, p.Block)
	}
}

// tellRunners tells the oracles of the connections of runners, and whoever watches.
func (n *Network) tellRunners(name string, report gateway.Report) {
	if n.config.Saw != nil {
		n.config.Saw(n.tip+1, n.keys[name].Address(), report)
	}
	if !n.config.Unjudged {
		observe.Connection(n.Judge, n.keys[name].Address(), report)
	}
}

// Names are the nodes' names.
func (n *Network) Names() []string { return slices.Clone(n.names) }

// Validator returns a running validator, or nil where the node is down.
func (n *Network) Validator(name string) *validators.Validator {
	if !n.Running(name) {
		return nil
	}
	return n.running[name]
}

// Key is the key of an account or a validator.
func (n *Network) Key(name string) *crypto.Key { return n.keys[name] }

// Tip is the highest height that any validator finalized.
func (n *Network) Tip() types.Height { return n.tip }

// Height is what a validator finalized; 0 where it is down.
func (n *Network) Height(name string) types.Height {
	if v := n.Validator(name); v != nil {
		return v.Head().Block.Header.Height
	}
	return 0
}

// Err is the first thing that went wrong: a rule broken, as an oracle saw it, or
// a validator that stopped by itself.
func (n *Network) Err() error {
	if err := n.Judge.Err(); err != nil {
		return fmt.Errorf("sim: seed %d: %w", n.Seed(), err)
	}
	return n.failure
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
		if behind != "" && n.owes(behind, h) {
			return false
		}
		for _, behind = range n.names {
			if n.owes(behind, h) {
				return false
			}
		}
		return true
	}, n.Now().Add(within))
	if wrong := n.Err(); wrong != nil {
		return wrong
	}
	if err != nil {
		return fmt.Errorf("waiting for height %d: %w; validators are at %v", h, err, n.heights())
	}
	return nil
}

// owes says whether a validator that should has not finalized a height.
func (n *Network) owes(name string, h types.Height) bool {
	return n.Running(name) && n.Honest(name) && n.find(name).frozen == nil && n.Height(name) < h
}

func (n *Network) heights() []string {
	var all []string
	for _, name := range n.names {
		all = append(all, fmt.Sprintf("%s:%d", name, n.Height(name)))
	}
	return all
}

// Submit hands a transaction to a validator; answer, which may be nil, is told
// whether it was taken. Where the validator is down it is lost.
func (n *Network) Submit(via string, tx *types.Transaction, answer func(types.Hash, error)) {
	if answer == nil {
		answer = func(types.Hash, error) {}
	}
	if v := n.Validator(via); v != nil {
		v.Submit(tx.Encode(), answer)
	}
}

// Sign completes a transaction of an account: its next nonce, generous limits,
// and fees that hold while base fees do not rise a hundredfold.
func (n *Network) Sign(from string, to *types.Address, value types.Wei, payload any) *types.Transaction {
	cycles, cells := types.Cycles(200_000), types.Cells(20_000)
	offer := wallet.Offer{ChainID: n.config.ChainID, MaxFeePerCycle: types.WeiOf(100_000), MaxFeePerCell: types.WeiOf(100_000),
		TipPerCycle: types.WeiOf(10), TipPerCell: types.WeiOf(1)}
	nonce := n.nonces[from]
	n.nonces[from]++
	draft := wallet.Draft{To: to, Value: value, Cycles: &cycles, Cells: &cells, Payload: payload}
	return draft.Sign(offer, n.scheme.Signer(n.keys[from]), nonce)
}

// Transfer is a transaction that pays.
func (n *Network) Transfer(from string, to types.Address, value types.Wei) *types.Transaction {
	return n.Sign(from, &to, value, types.Transfer{Kind: types.KindTransfer})
}

// Deploy is a transaction that creates an actor from a Go sample or other code,
// with funds of its own, and the actor's address.
func (n *Network) Deploy(from string, code []byte, funds types.Wei) (*types.Transaction, types.Address) {
	address := actors.ActorAddress(n.keys[from].Address(), wallet.Salt(n.nonces[from]), code)
	return n.Sign(from, nil, funds, types.Deploy{Kind: types.KindDeploy, Code: code}), address
}

// Execute is a transaction that calls a handler.
func (n *Network) Execute(from string, to types.Address, handler string, payload []byte) *types.Transaction {
	return n.Sign(from, &to, types.Wei{}, types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload})
}

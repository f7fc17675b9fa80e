package box

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/faces/readmodel"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Network is a live network in this process. It is safe for concurrent use.
type Network struct {
	config    Config
	seed      uint64
	genesis   *ledger.Genesis
	home      *home.Home // nil when ephemeral
	resumed   bool       // it goes on with the network of its home
	runtime   *roles.Runtime
	clock     *clock.Clock
	memo      *validators.Memo
	verifier  *crypto.Verifier
	programs  program.Host
	owned     *pyhost.Pool // closed with the network; nil when the programs were given
	log       *slog.Logger
	book      *node.Book
	finality  *finality
	sightings readmodel.Sightings
	nodes     atomic.Pointer[[]*Node] // List reads it; a join adds to it
	watch     *node.Watch             // of final states, by the runners

	ownRunners atomic.Pointer[[]*Runner] // RunnerList reads it; a join adds to it
	presence   atomic.Pointer[shownPresence]

	views  *readmodel.Source
	links  *links
	faults faults

	ending    context.Context // of the network
	end       context.CancelFunc
	returning sync.WaitGroup // of runners that are to come back

	mu     sync.Mutex // of starting and stopping nodes
	closed bool
	steering
}

// Up brings a network up and returns when all its validators run; blocks come
// after that (Ready waits for them). ctx bounds the start alone.
func Up(ctx context.Context, config Config) (*Network, error) {
	config.setDefaults()
	if err := config.checkHistory(); err != nil {
		return nil, err
	}
	n := &Network{config: config, clock: clock.New(), verifier: crypto.NewVerifier(!config.NoRemember), log: config.Log, book: node.NewBook(),
		links: newLinks()}
	n.ending, n.end = context.WithCancel(context.Background())
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// open settles which network this is: that of the home, or a new one.
func (n *Network) open() error {
	if n.config.Here != nil {
		return n.openHere()
	}
	if n.config.Ephemeral {
		return n.create(nil)
	}
	if n.config.Home == "" {
		return errors.New("box: a network needs a home directory, or to be ephemeral")
	}
	if n.config.Reset {
		if err := home.Reset(n.config.Home); err != nil {
			return err
		}
	}
	if _, err := home.ReadMeta(n.config.Home); errors.Is(err, os.ErrNotExist) {
		n.config.setIdentity()
	}
	h, err := home.Open(n.config.Home, home.Want{Version: n.config.Version, ChainID: n.config.ChainID, Seed: n.config.Seed, Now: time.Now(),
		Durability: n.config.Durability})
	if err != nil {
		return err
	}
	n.home = h
	n.seed, n.config.ChainID = h.Meta.Seed, h.Meta.ChainID
	data, err := h.ReadGenesis()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return n.create(func(g *ledger.Genesis) error { return h.WriteGenesis(codec.Marshal(g)) })
	case err != nil:
		return err
	}
	return n.resume(data)
}

// create makes a new genesis, and keeps it where keep is given.
func (n *Network) create(keep func(*ledger.Genesis) error) error {
	c := &n.config
	if c.Validators == 0 {
		c.Validators = 4
	}
	if c.Validators < 1 || c.Validators > MaxValidators {
		return fmt.Errorf("box: %d validators: a network in one process has 1 to %d", c.Validators, MaxValidators)
	}
	if c.Runners < 0 || c.Runners > MaxRunners {
		return fmt.Errorf("box: %d runners: a network in one process has 0 to %d", c.Runners, MaxRunners)
	}
	if n.home == nil {
		c.setIdentity()
		n.seed = *c.Seed
	}
	g, err := c.NewGenesis(c.founders(n.seed), time.Now())
	if err != nil {
		return err
	}
	n.genesis = g
	if keep != nil {
		return keep(g)
	}
	return nil
}

// setIdentity settles what tells a new network from others: its chain id and the
// seed of its keys.
func (c *Config) setIdentity() {
	if c.ChainID == 0 {
		c.ChainID = wallet.ChainID
	}
	if c.Seed == nil {
		seed := rand.Uint64()
		c.Seed = &seed
	}
}

// resume goes on with the network of a home. What was asked for must be what it
// is.
func (n *Network) resume(data []byte) (err error) {
	if n.genesis, err = ledger.DecodeGenesis(data); err != nil {
		return fmt.Errorf("%s cannot be read: %w; begin anew with --reset", n.home.Genesis(), err)
	}
	p, err := n.genesis.Parameters()
	if err != nil {
		return err
	}
	if have := len(n.genesis.Validators.Members); n.config.Validators != 0 && n.config.Validators != have {
		return &ChangedError{Home: n.config.Home, What: "validators", Have: fmt.Sprint(have), Want: fmt.Sprint(n.config.Validators)}
	}
	n.config.Validators = len(n.genesis.Validators.Members)
	if have, want := len(n.genesis.Runners), n.config.Runners; n.config.AsRunners && want != have {
		return &ChangedError{Home: n.config.Home, What: "runners", Have: fmt.Sprint(have), Want: fmt.Sprint(want)}
	}
	n.config.Runners = len(n.genesis.Runners)
	if n.config.Strict && p.Cheats {
		return &ChangedError{Home: n.config.Home, What: "strict", Have: "false", Want: "true"}
	}
	n.resumed = true
	n.config.ChainID = n.genesis.ChainID
	n.config.Strict = !p.Cheats
	n.config.Auto = p.BlockTimeAuto
	n.config.BlockTime = time.Duration(p.BlockTimeMS) * time.Millisecond
	return nil
}

// ChangedError says that a home's network is another than was asked for.
type ChangedError struct {
	Home, What, Have, Want string
	Settable               bool // by devnet params set, while it runs
}

func (e *ChangedError) Error() string {
	way := "leave it out to go on with that network"
	if e.Settable {
		way += fmt.Sprintf(", and change it while it runs with devnet params set %s %s", e.What, e.Want)
	}
	return fmt.Sprintf("the network in %s has %s = %s, not %s: %s; or begin anew with --reset", e.Home, e.What, e.Have, e.Want, way)
}

// sameParameters refuses parameters that the network which goes on has not: they
// are settled by genesis, and later by the system key.
func (n *Network) sameParameters() error {
	have := n.Best().Validator().Head().State.NextParams()
	want := *have
	if err := want.Apply(params.Overrides(n.config.Params)); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(n.config.Params)) {
		info, err := params.Lookup(key)
		if err != nil {
			return err
		}
		is, err := have.Get(key)
		if err != nil {
			return err
		}
		asked, err := want.Get(key)
		if err != nil {
			return err
		}
		if is != asked {
			return &ChangedError{Home: n.config.Home, What: key, Have: is, Want: asked,
				Settable: info.Class != params.Genesis && !n.config.Strict}
		}
	}
	return nil
}

func (n *Network) start(ctx context.Context) error {
	if !n.config.NoMemo {
		n.memo = validators.NewMemo()
	}
	n.startPrograms()
	n.finality = newFinality()
	n.watch = node.NewWatch(n.book)
	n.runtime = roles.New(n.log)
	n.runtime.OnPanic = func(name string, value any, stack []byte) {
		n.log.Error("a bug of devnet: a role panicked", "role", name, "panic", value, "stack", string(stack))
		n.roleFailed(name, fmt.Errorf("a bug of devnet: %s panicked: %v", name, value))
	}
	for _, name := range n.names() {
		node, err := n.newNode(name)
		if err != nil {
			return err
		}
		n.add(node)
	}
	if err := n.resumeSteering(); err != nil {
		return err
	}
	for _, node := range n.inOrder() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := n.noteLost(node); err != nil {
			return err
		}
		if err := node.start(); err != nil {
			return err
		}
	}
	for _, node := range n.List() { // those that began before others told what they keep
		if err := n.mustFollow(node); err != nil {
			return err
		}
	}
	if n.resumed {
		if err := n.sameParameters(); err != nil {
			return err
		}
	}
	n.startReaper()
	return n.startRunners()
}

// booted tells the configuration's Booted of one validator.
func (n *Network) booted(validator types.Address) func(*validators.Head) {
	if n.config.Booted == nil {
		return nil
	}
	return func(view *validators.Head) { n.config.Booted(validator, view) }
}

// startPrograms prepares the hosts of programs. Without a fitting Python the
// network runs all the same, and whoever needs one is told.
func (n *Network) startPrograms() {
	host := n.config.Programs
	if host == nil {
		n.owned = pyhost.New(pyhost.Config{Python: n.config.Python, Slow: n.config.Slow})
		host = n.owned
	}
	if !n.config.Strict {
		host = samples.Mux{Other: host}
	}
	n.programs = host
	n.views = readmodel.NewSource(n.genesis, n.programs, n.verifier)
	n.views.Sightings = &n.sightings
}

// Probe returns the version of Python that runs actors, or what is missing. It
// is of no use where the programs were given.
func (n *Network) Probe() (version string, err error) {
	if n.owned == nil {
		return "", nil
	}
	return n.owned.Probe()
}

// Close stops the nodes and lets the home go.
func (n *Network) Close() error {
	n.stopReaper()
	n.end()
	n.returning.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	errs := n.stopRunners()
	if n.watch != nil {
		n.watch.Close()
	}
	for _, node := range n.List() {
		errs = append(errs, node.stop())
	}
	if n.runtime != nil {
		n.runtime.Close()
	}
	if n.owned != nil {
		n.owned.Close()
	}
	if n.finality != nil {
		n.finality.close()
	}
	if n.home != nil {
		errs = append(errs, n.home.Close())
	}
	return errors.Join(errs...)
}

// List is the validators: those of genesis by name, then those that joined.
func (n *Network) List() []*Node {
	if list := n.nodes.Load(); list != nil {
		return *list
	}
	return nil
}

func (n *Network) add(node *Node) {
	list := append(slices.Clone(n.List()), node)
	n.nodes.Store(&list)
}

// Best is the running node with the highest final block, neither frozen nor a
// liar where there is another. Where all are stopped it is the one that was highest.
func (n *Network) Best() *Node {
	nodes := n.List()
	best := nodes[0]
	for _, node := range nodes[1:] {
		trust, before := node.trust(), best.trust()
		if trust > before || trust == before && node.height() > best.height() {
			best = node
		}
	}
	return best
}

// trust says how well a node can answer for the network: not while it is
// stopped; less while it is frozen or lies.
func (node *Node) trust() int {
	switch {
	case !node.Running():
		return 0
	case node.Frozen() || !node.Honest():
		return 1
	}
	return 2
}

// Config is what the network was brought up with, defaults filled in.
func (n *Network) Config() Config { return n.config }

// Home is the directory of the network's files, "" when it is ephemeral.
func (n *Network) Home() *home.Home { return n.home }

// Key returns the key of an account, system and the faucet included, or of a runner of
// the network's own, or nil.
func (n *Network) Key(name string) crypto.Signer {
	for _, known := range wallet.Accounts() {
		if name == known && n.signs() {
			return n.verifier.Signer(wallet.AccountKey(n.seed, name))
		}
	}
	if r := n.findRunner(name); r != nil {
		return n.verifier.Signer(r.key)
	}
	return nil
}

// Address returns the address of an account that Key knows.
func (n *Network) address(name string) types.Address {
	return wallet.AccountKey(n.seed, name).Address()
}

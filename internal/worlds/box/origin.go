package box

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// origin is which network this is: that of a home, or a new one. It does not change
// once it is opened.
type origin struct {
	config  Config // as it was asked for, defaults and what the home holds filled in
	seed    uint64 // of the keys
	genesis *ledger.Genesis
	home    *home.Home   // nil when the network is ephemeral
	resumed bool         // the network continues with the genesis of its home
	owned   *pyhost.Pool // of the network's own hosts; nil where the programs were given
	unfit   string       // why those cannot run its programs; "": they can, or it is not known yet
	proof   chan error   // is told why they cannot, if a proof that was made later says so
	python  string       // the version of their interpreter; "": unknown
	// whole is the URL of the whole network's API, where only one node runs here; nil: it is
	// not known.
	whole atomic.Pointer[string]
}

// openOrigin settles which network a configuration asks for. Where it fails, the home
// is let go.
func openOrigin(config Config) (*origin, error) {
	config.setDefaults()
	if err := config.checkHistory(); err != nil {
		return nil, err
	}
	o := &origin{config: config, proof: make(chan error, 1)}
	if config.Programs == nil {
		o.owned = pyhost.New(pyhost.Config{Python: config.Python, Slow: config.Slow, Recall: true, ReadsYield: true})
		o.owned.Prepare()
	}
	if err := o.openNetwork(); err != nil {
		return nil, errors.Join(err, o.closeHome())
	}
	return o, nil
}

// openNetwork settles the network, and then whether this machine's Python can run its programs.
func (o *origin) openNetwork() error {
	if err := o.settleGenesis(); err != nil {
		return err
	}
	if o.config.Strict && (o.config.Qlog != "" || o.config.KeyLog != nil) {
		return &WatchedError{}
	}
	if o.owned == nil {
		return nil
	}
	o.owned.Require(o.genesis.Python())
	err := o.checkPythonFits()
	o.python, _ = o.owned.Probe() // it returned the error
	var missing *pyhost.MissingError
	if err == nil || errors.As(err, &missing) && missing.Minor == "" {
		return nil // no genesis asks for Python: the network runs without
	}
	if o.config.Here == nil && o.config.Elsewhere == nil {
		return &PythonError{Genesis: o.genesis.Python(), Cause: err}
	}
	o.unfit = err.Error()
	return nil
}

// checkPythonFits reports whether this machine's Python can run the network's programs. A proof takes a second of
// processor time. A network whose validators are all in this process goes without it until a program needs it:
// nobody can execute otherwise. A validator among others must know before its first vote.
func (o *origin) checkPythonFits() error {
	if o.config.Here != nil || o.config.Elsewhere != nil {
		return o.owned.Fit()
	}
	return o.owned.FitLater(func(err error) {
		if err != nil {
			o.proof <- &PythonError{Genesis: o.genesis.Python(), Cause: err}
		}
	})
}

// Unfit is told, once, if this machine's Python turns out not to give the receipts of its version while the
// network runs. Python actors do not run then.
func (o *origin) Unfit() <-chan error { return o.proof }

// NamedPython is the minor version of Python that a file of a genesis names. It is "" if
// the file names none, or is not a genesis.
func NamedPython(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	g, err := ledger.DecodeGenesis(data)
	if err != nil {
		return ""
	}
	return g.Python()
}

// PythonError says that this machine's Python cannot run the programs of a network.
type PythonError struct {
	Genesis string // the minor version that the genesis names
	Cause   error
}

func (e *PythonError) Error() string {
	return "the network's programs cannot run here: " + e.Cause.Error()
}

func (e *PythonError) Unwrap() error { return e.Cause }

func (o *origin) settleGenesis() error {
	if o.config.Here != nil {
		return o.openHere()
	}
	if o.config.Elsewhere != nil {
		return o.takeExisting()
	}
	if o.config.Ephemeral {
		return o.createGenesis(nil)
	}
	if o.config.Home == "" {
		return errors.New("box: a network needs a home directory, or to be ephemeral")
	}
	if o.config.Reset {
		if err := home.Reset(o.config.Home); err != nil {
			return err
		}
	}
	if _, err := home.ReadMeta(o.config.Home); errors.Is(err, os.ErrNotExist) {
		o.config.setIdentity()
	}
	h, err := home.Open(o.config.Home, home.Want{Version: o.config.Version, ChainID: o.config.ChainID, Seed: o.config.Seed, Now: time.Now(),
		Durability: o.config.Durability})
	if err != nil {
		return err
	}
	o.home = h
	o.seed, o.config.ChainID = h.Meta.Seed, h.Meta.ChainID
	data, err := h.ReadGenesis()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return o.createGenesis(func(g *ledger.Genesis) error { return h.WriteGenesis(codec.Marshal(g)) })
	case err != nil:
		return err
	}
	return o.resumeHome(data)
}

// createGenesis makes a new genesis, and keeps it where keep is given.
func (o *origin) createGenesis(keep func(*ledger.Genesis) error) error {
	c := &o.config
	if c.Validators == 0 {
		c.Validators = 4
	}
	if c.Validators < 1 || c.Validators > setup.MaxValidators {
		return fmt.Errorf("box: %d validators: a network in one process has 1 to %d", c.Validators, setup.MaxValidators)
	}
	if c.Runners < 0 || c.Runners > setup.MaxRunners {
		return fmt.Errorf("box: %d runners: a network in one process has 0 to %d", c.Runners, setup.MaxRunners)
	}
	if o.home == nil {
		c.setIdentity()
		o.seed = *c.Seed
	}
	if o.owned != nil && c.Minor == "" {
		if version, err := o.owned.Probe(); err == nil {
			c.Minor = pyhost.Minor(version)
		}
	}
	g, err := c.GenesisFromSeed(o.seed, types.Time(time.Now().UnixNano()), node.OwnOffer())
	if err != nil {
		return err
	}
	o.genesis = g
	if keep != nil {
		return keep(g)
	}
	return nil
}

// takeExisting begins with a network that was made before, whose nodes keep their files
// themselves.
func (o *origin) takeExisting() error {
	c := &o.config
	if c.Genesis == nil || c.Seed == nil {
		return errors.New("box: a network whose nodes run elsewhere needs its genesis and the seed of its keys")
	}
	o.genesis, o.seed, c.ChainID = c.Genesis, *c.Seed, c.Genesis.ChainID
	c.Validators, c.Runners = len(c.Genesis.Validators.Members), len(c.Genesis.Runners)
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

// resumeHome continues the network of a home. It must match the request.
func (o *origin) resumeHome(data []byte) (err error) {
	if o.genesis, err = ledger.DecodeGenesis(data); err != nil {
		return fmt.Errorf("%s cannot be read: %w; start over with --reset", o.home.Genesis(), err)
	}
	if err := o.knowsParameters(); err != nil {
		return err
	}
	p, err := o.genesis.Parameters()
	if err != nil {
		return err
	}
	if have := len(o.genesis.Validators.Members); o.config.Validators != 0 && o.config.Validators != have {
		return &ChangedError{Home: o.config.Home, What: "validators", Have: fmt.Sprint(have), Want: fmt.Sprint(o.config.Validators)}
	}
	o.config.Validators = len(o.genesis.Validators.Members)
	if have, want := len(o.genesis.Runners), o.config.Runners; o.config.AsRunners && want != have {
		return &ChangedError{Home: o.config.Home, What: "runners", Have: fmt.Sprint(have), Want: fmt.Sprint(want)}
	}
	o.config.Runners = len(o.genesis.Runners)
	if o.config.Strict && p.Cheats {
		return &ChangedError{Home: o.config.Home, What: "strict", Have: "false", Want: "true"}
	}
	o.resumed = true
	o.config.ChainID = o.genesis.ChainID
	o.config.Strict = !p.Cheats
	o.config.Auto = p.BlockTimeAuto
	o.config.BlockTime = p.BlockTimeMS.Duration()
	return nil
}

// knowsParameters refuses a home whose genesis states a parameter that a later version has.
func (o *origin) knowsParameters() error {
	for _, key := range slices.Sorted(maps.Keys(o.genesis.Params)) {
		if _, err := params.Lookup(key); err != nil && key != ledger.PythonKey {
			return &LaterError{Home: o.config.Home, WrittenBy: o.home.Meta.Version, Binary: o.config.Version, Key: key}
		}
	}
	return nil
}

// LaterError says that a home's network has a parameter that this version lacks.
type LaterError struct{ Home, WrittenBy, Binary, Key string }

func (e *LaterError) Error() string {
	return fmt.Sprintf("the network in %s has the parameter %.64q, which this devnet %s lacks: run devnet %s, which made it; "+
		"or start over with --reset", e.Home, e.Key, e.Binary, e.WrittenBy)
}

// sameParameters refuses parameters that differ from those of the network that
// continues: genesis sets them, and later the system key.
func (o *origin) sameParameters(have *params.Params) error {
	want := *have
	if err := want.Apply(params.Overrides(o.config.Params)); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(o.config.Params)) {
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
			return &ChangedError{Home: o.config.Home, What: key, Have: is, Want: asked,
				Settable: info.Class != params.Genesis && !o.config.Strict}
		}
	}
	return nil
}

// closeHome lets the home go.
func (o *origin) closeHome() error {
	if o.home == nil {
		return nil
	}
	return o.home.Close()
}

// Config is what the network was brought up with, defaults filled in.
func (o *origin) Config() Config { return o.config }

// Home is the directory of the network's files, nil when it is ephemeral.
func (o *origin) Home() *home.Home { return o.home }

// Genesis is what the chain began with.
func (o *origin) Genesis() *ledger.Genesis { return o.genesis }

// Secret returns the private key of a named account: for --config-out, so that other
// tools can sign. A devnet's keys follow from its seed and guard nothing.
func (o *origin) Secret(name string) types.Hash { return wallet.AccountKey(o.seed, name).Secret() }

// addressOf returns the address of a named account.
func (o *origin) addressOf(name string) types.Address {
	return wallet.AccountKey(o.seed, name).Address()
}

// validatorNames are the validators of genesis that run in this process.
func (o *origin) validatorNames() (names []string) {
	if here := o.config.Here; here != nil {
		return []string{here.Name}
	}
	for i := range o.config.Validators {
		names = append(names, wallet.ValidatorName(i))
	}
	return names
}

// validatorKey is the key of a validator that runs in this process, or elsewhere.
func (o *origin) validatorKey(name string) *crypto.Key {
	if here := o.config.Here; here != nil {
		return here.Key
	}
	if other := o.config.Elsewhere; other != nil {
		if key := other.Key(name); key != nil {
			return key
		}
	}
	return wallet.ValidatorKey(o.seed, name)
}

// knowsAccountKeys reports whether the keys of the named accounts are known.
func (o *origin) knowsAccountKeys() bool { return o.config.Here == nil || o.config.Seed != nil }

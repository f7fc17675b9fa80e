package setup

import (
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of a network in one process.
const (
	MaxValidators = 100   // each has a socket, two files and some goroutines
	MaxRunners    = 2_000 // each has a socket, a connection to some validators, and an executor
)

// Plan is what a network is to be: its chain and first nodes, and how the nodes keep the chain.
type Plan struct {
	Validators int
	Runners    int     // that a new network begins with
	Terms      []Terms // what the first of the runners register with; the others with what all do
	BlockTime  time.Duration
	Auto       bool // blocks are made when there is something to do
	Seed       *uint64
	ChainID    uint64
	Strict     bool              // no cheats
	Params     map[string]string // what differs from the defaults, by key
	Minor      string            // version of CPython that a new genesis names, as 3.11; "": none
	Durability store.Durability
	Strategy   roles.Strategy // effect on a node when one of its roles panics
	History    uint64         // blocks that each archive keeps, history.MinHistory or more; 0: all
}

// NewChain describes a new chain without founders, which begins at the given time: by the
// plan's pace, parameters and cheats.
func (p *Plan) NewChain(now types.Time) Chain {
	overrides := params.Overrides{}
	for key, value := range p.Params { // order: a map to a map
		overrides[key] = value
	}
	overrides["chain.block_time_ms"] = fmt.Sprint(p.BlockTime.Milliseconds())
	overrides["chain.block_time_auto"] = fmt.Sprint(p.Auto)
	overrides["chain.cheats"] = fmt.Sprint(!p.Strict)
	if _, given := p.Params["chain.upgrades"]; p.Strict && !given { // the drafts have none (decision C25)
		overrides["chain.upgrades"] = "false"
	}
	if p.Minor != "" {
		overrides[ledger.PythonKey] = p.Minor
	}
	return Chain{ID: p.ChainID, Begins: now, Params: overrides}
}

// UsualTerms are those of a runner that offers what all do, without an error.
func UsualTerms(own system.Offer) (Terms, error) { return Terms{wallet.RunnerStake, own}, nil }

// RunnerTerms are what the runners of a new network register with, in their order. own is what
// a runner of the devnet's own offers.
func (p *Plan) RunnerTerms(own system.Offer) []Terms {
	all := make([]Terms, p.Runners)
	for i := range all {
		if all[i], _ = UsualTerms(own); i < len(p.Terms) {
			all[i] = p.Terms[i]
		}
	}
	return all
}

// GenesisFromSeed is the genesis of a network whose keys all follow from a seed.
func (p *Plan) GenesisFromSeed(seed uint64, now types.Time, own system.Offer) (*ledger.Genesis, error) {
	chain := p.NewChain(now)
	for i := range p.Validators {
		chain.Validator(wallet.ValidatorKey(seed, wallet.ValidatorName(i)), "")
	}
	for i, terms := range p.RunnerTerms(own) {
		chain.Runner(wallet.RunnerKey(seed, wallet.RunnerName(i)), terms)
	}
	chain.Named(seed)
	return chain.Genesis()
}

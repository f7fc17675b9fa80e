// Package setup is what a network begins with. A Chain describes a new chain. Its genesis
// follows only from that description, whichever way the network is started.
package setup

import (
	"maps"
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Chain describes a new chain and its founders.
type Chain struct {
	ID     uint64
	Begins types.Time       // the start of the network
	Params params.Overrides // what differs from the defaults
	System types.Address    // whose instructions count; zero: no such key

	validators []types.Validator // in any order
	runners    []founder         // in the order of the registry
	funds      []ledger.Funding  // in any order
}

// Terms are what a runner registers with.
type Terms struct {
	Stake types.Wei
	Offer system.Offer
}

// founder is a runner of genesis.
type founder struct {
	key *crypto.Key
	Terms
}

// Validator adds a validator with the endpoint where others reach it, or "".
func (c *Chain) Validator(key *crypto.Key, endpoint string) {
	c.validators = append(c.validators, types.Validator{Address: key.Address(), PublicKey: key.PublicKey(), Endpoint: endpoint})
}

// Runner adds a runner, which owns itself and has some funds (decision J20).
func (c *Chain) Runner(key *crypto.Key, terms Terms) {
	c.runners = append(c.runners, founder{key, terms})
	c.Fund(key.Address(), wallet.RunnerFunds)
}

// Fund gives an account its balance.
func (c *Chain) Fund(account types.Address, balance types.Wei) {
	c.funds = append(c.funds, ledger.Funding{Address: account, Balance: balance})
}

// Named funds the named accounts of a seed, and gives its system key the say.
func (c *Chain) Named(seed uint64) {
	c.System = wallet.AccountKey(seed, wallet.System).Address()
	for _, name := range wallet.Listed() {
		c.Fund(wallet.AccountKey(seed, name).Address(), wallet.Funds)
	}
	c.Fund(wallet.AccountKey(seed, wallet.Faucet).Address(), wallet.FaucetFunds)
}

// Genesis is the genesis of the chain. Its timestamp is three block times before the start
// (decision C7), and at least 0. The error says what is wrong with the description.
func (c *Chain) Genesis() (*ledger.Genesis, error) {
	given := params.ForNewChains()
	maps.Copy(given, c.Params)
	g := &ledger.Genesis{ChainID: c.ID, SystemKey: c.System, Params: given, Accounts: slices.Clone(c.funds)}
	p, err := g.Parameters()
	if err != nil {
		return nil, err
	}
	g.Timestamp = max(c.Begins.Add(-3*p.BlockTimeMS.Duration()).Millis(), 0)
	g.Validators.Members = slices.Clone(c.validators)
	for _, r := range c.runners {
		g.Runners = append(g.Runners, system.Enrolment{PublicKey: r.key.PublicKey(), Owner: r.key.Address(), Stake: r.Stake, Offer: r.Offer})
	}
	slices.SortFunc(g.Validators.Members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	slices.SortFunc(g.Accounts, func(a, b ledger.Funding) int { return a.Address.Compare(b.Address) })
	return g, g.Check()
}

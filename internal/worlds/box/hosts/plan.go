package hosts

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Formats say where the nodes of a network run.
const (
	Processes = "processes" // of this machine, each on a port of its own
	Compose   = "compose"   // in containers, each a host of its name
)

// Formats are those of Plan.
var Formats = []string{Processes, Compose}

// Port is that of a validator in a container: of its mesh by UDP and of its HTTP API
// by TCP; and of the first of those on one machine, where the others have the next.
const Port = 4000

// Plan is what Make is asked for.
type Plan struct {
	// Chain has the numbers of validators and runners, chain id, pace, parameters,
	// and whether there are cheats.
	Chain  box.Config
	Seed   *uint64 // of the named accounts; nil: there are none
	Funds  []types.Address
	Format string
	Port   int    // 0: Port
	Image  string // of containers
	Now    time.Time
}

// Node is one node of a plan, with its key.
type Node struct {
	Name string
	Key  *crypto.Key
	// Of a validator: where others reach its socket, where that and its HTTP API
	// listen, and where people reach the API. Of a runner: empty, but for API, which is
	// where it reaches one.
	Endpoint, Listen, HTTP, API string
}

// Network is what Make made, not written yet.
type Network struct {
	plan       Plan
	Genesis    *ledger.Genesis
	Validators []Node // by name
	Runners    []Node
}

// Make draws the keys of a plan's nodes and makes its genesis.
func Make(p Plan) (*Network, error) {
	if p.Port == 0 {
		p.Port = Port
	}
	n := &Network{plan: p}
	founders := box.Founders{}
	for i := range p.Chain.Validators {
		v := p.validator(i)
		v.Key = newKey()
		n.Validators = append(n.Validators, v)
		founders.Validators = append(founders.Validators,
			types.Validator{Address: v.Key.Address(), PublicKey: v.Key.PublicKey(), Endpoint: v.Endpoint})
	}
	for i := range p.Chain.Runners {
		key := newKey()
		n.Runners = append(n.Runners, Node{Name: wallet.RunnerName(i), Key: key, API: p.inside(i % p.Chain.Validators)})
		founders.Runners = append(founders.Runners, key.PublicKey())
	}
	if p.Seed != nil {
		founders.Fund(*p.Seed)
	}
	for _, account := range p.Funds {
		founders.Funds = append(founders.Funds, ledger.Funding{Address: account, Balance: wallet.Funds})
	}
	var err error
	n.Genesis, err = p.Chain.NewGenesis(founders, p.Now)
	return n, err
}

// validator is the i-th, without its key.
func (p *Plan) validator(i int) Node {
	name := wallet.ValidatorName(i)
	api := fmt.Sprintf("127.0.0.1:%d", p.Port+i)
	if p.Format == Compose {
		all := fmt.Sprintf("0.0.0.0:%d", Port)
		return Node{Name: name, Endpoint: fmt.Sprintf("%s:%d", name, Port), Listen: all, HTTP: all, API: api}
	}
	return Node{Name: name, Endpoint: api, Listen: api, HTTP: api, API: api}
}

// inside is the URL by which other nodes reach a validator's HTTP API.
func (p *Plan) inside(validator int) string { return "http://" + p.validator(validator).Endpoint }

// newKey draws a key. One number in 2^128 is none.
func newKey() *crypto.Key {
	for {
		var secret [32]byte
		_, _ = rand.Read(secret[:]) // ends the process where the system has no chance to give
		if key, err := crypto.NewKey(secret); err == nil {
			return key
		}
	}
}

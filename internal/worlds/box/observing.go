package box

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// observe hands on what a validator made final, to those who wait for it and to
// whoever judges it.
func (n *Network) observe(f validators.FinalBlocks) {
	if n.config.Observe != nil {
		n.config.Observe(f)
	}
	n.finality.observe(f)
	n.noteRunners(f.Results[len(f.Results)-1])
}

// tell hands on what a validator's consensus reported.
func (n *Network) tell(name string, report simplex.Report) {
	if n.config.Tell != nil {
		n.config.Tell(n.clock.Now(), name, report)
	}
}

// gateway hands on what a validator's gateway reports.
func (n *Network) gateway(validator types.Address, to func(string, gateway.Report)) func(string, gateway.Report) {
	return func(name string, report gateway.Report) {
		if n.config.Gateway != nil {
			n.config.Gateway(validator, report)
		}
		to(name, report)
	}
}

// Genesis is what the chain began with.
func (n *Network) Genesis() *ledger.Genesis { return n.genesis }

// Now is the clock that the nodes go by.
func (n *Network) Now() types.Time { return n.clock.Now() }

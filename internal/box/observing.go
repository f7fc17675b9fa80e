package box

import (
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// observe hands on what a validator made final, to those who wait for it and to
// whoever judges it.
func (n *Network) observe(f validators.Finality) {
	if n.config.Observe != nil {
		n.config.Observe(f)
	}
	n.finality.observe(f)
}

// Genesis is what the chain began with.
func (n *Network) Genesis() *ledger.Genesis { return n.genesis }

// Now is the clock that the nodes go by.
func (n *Network) Now() types.Time { return n.clock.Now() }

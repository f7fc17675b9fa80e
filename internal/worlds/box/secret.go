package box

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// Secret returns the private key of an account that Key knows: for --config-out,
// so that other tools can sign. A devnet's keys follow from its seed and guard
// nothing.
func (n *Network) Secret(name string) types.Hash { return wallet.AccountKey(n.seed, name).Secret() }

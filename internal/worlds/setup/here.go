package setup

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Here is the one validator of a network that runs in this process, while the others
// run elsewhere. The network answers for it, and refuses requests that need the whole
// network. Its configuration has the home of only this validator, and the Seed of the named
// accounts if the network has them.
type Here struct {
	Genesis *ledger.Genesis // which says where each validator is reached
	Name    string          // as files and logs call it: 1 to 32 lower-case letters, digits and hyphens
	Key     *crypto.Key
	Listen  string // host:port of its socket
	// Announced is the host:port by which the others reach a validator that is not
	// in genesis, and joins.
	Announced string
	// Lost says that it has run before, on a home that is gone: it votes once the
	// others have made a block without it (finding F17).
	Lost bool
	// Driven reports that a supervisor drives the network from another process
	// (Driven), and may set the link rules of this node.
	Driven bool
	// Names has the names of the other nodes, validators and runners, for people; it may
	// be nil.
	Names map[types.Address]string
	// Keys has the keys of runners for whose owners the API signs, by name; it may be
	// nil.
	Keys map[string]*crypto.Key
}

// memberOfGenesis is its place among the validators of genesis.
func (h *Here) memberOfGenesis() (types.Validator, error) {
	i := h.Genesis.Validators.Index(h.Key.Address())
	if h.Joins() {
		return types.Validator{Address: h.Key.Address(), PublicKey: h.Key.PublicKey(), Endpoint: h.Announced}, nil
	}
	if i < 0 {
		return types.Validator{}, fmt.Errorf("the genesis has no validator of %s's key, %s: give genesis and key that were made together",
			h.Name, h.Key.Address())
	}
	return h.Genesis.Validators.Members[i], nil
}

// Joins reports that it is not a validator of genesis.
func (h *Here) Joins() bool {
	return h.Announced != "" && h.Genesis.Validators.Index(h.Key.Address()) < 0
}

// Endpoint is where the others reach it.
func (h *Here) Endpoint() string {
	member, _ := h.memberOfGenesis()
	return member.Endpoint
}

// Check refuses a validator that cannot take part in the chain of its genesis.
func (h *Here) Check(seed *uint64) error {
	if err := h.Genesis.Check(); err != nil {
		return err
	}
	member, err := h.memberOfGenesis()
	if err != nil {
		return err
	}
	if member.Endpoint == "" {
		return fmt.Errorf("the genesis does not say where %s is reached: make one with devnet init", h.Name)
	}
	p, err := h.Genesis.Parameters()
	switch {
	case err != nil:
		return err
	case seed == nil && p.Cheats:
		return errors.New("the genesis has the devnet's named accounts: give the seed of their keys")
	case seed != nil && !p.Cheats:
		return errors.New("the genesis has no named accounts (init --strict): leave the seed out")
	case seed != nil && wallet.AccountKey(*seed, wallet.System).Address() != h.Genesis.SystemKey:
		return fmt.Errorf("the seed %d is not that of the genesis's accounts", *seed)
	}
	return nil
}

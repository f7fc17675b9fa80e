package box

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Here is the one validator of a network that runs in this process, while the others
// run elsewhere: the network answers for it, and refuses in words what is of a whole
// network. Its Config has the home of this validator alone, and the Seed of the named
// accounts where the network has them.
type Here struct {
	Genesis *ledger.Genesis // which says where each validator is reached
	Name    string          // as files and logs call it: 1 to 32 lower-case letters, digits and hyphens
	Key     *crypto.Key
	Listen  string // host:port of its socket
	// Lost says that it has run before, on a home that is gone: it votes once the
	// others have made a block without it (finding F17).
	Lost bool
}

// OtherGenesisError says that a home holds another chain than the genesis begins.
type OtherGenesisError struct {
	Home       string
	Have, Want types.Hash
}

func (e *OtherGenesisError) Error() string {
	return fmt.Sprintf("home %s holds the chain of genesis %s, not of %s: give the genesis that it began with, or choose another home",
		e.Home, e.Have, e.Want)
}

// member is its place among the validators of genesis.
func (h *Here) member() (types.Validator, error) {
	i := h.Genesis.Validators.Index(h.Key.Address())
	if i < 0 {
		return types.Validator{}, fmt.Errorf("the genesis has no validator of %s's key, %s: give genesis and key that were made together",
			h.Name, h.Key.Address())
	}
	return h.Genesis.Validators.Members[i], nil
}

// Endpoint is where the others reach it.
func (h *Here) Endpoint() string {
	member, _ := h.member()
	return member.Endpoint
}

// Check refuses a validator that cannot take part in the chain of its genesis.
func (h *Here) Check(seed *uint64) error {
	if _, _, err := h.Genesis.State(); err != nil {
		return err
	}
	member, err := h.member()
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

// openHere opens the home of a validator whose network was made elsewhere.
func (n *Network) openHere() error {
	c, here := &n.config, n.config.Here
	if c.Home == "" {
		return errors.New("box: a validator needs a home directory")
	}
	if err := here.Check(c.Seed); err != nil {
		return err
	}
	h, err := home.Open(c.Home, home.Want{Version: c.Version, ChainID: here.Genesis.ChainID, Seed: c.Seed, Now: time.Now(),
		Durability: c.Durability, Node: here.Name})
	if err != nil {
		return err
	}
	n.home, n.seed = h, h.Meta.Seed
	data, err := h.ReadGenesis()
	fresh := errors.Is(err, os.ErrNotExist)
	if fresh {
		data = codec.Marshal(here.Genesis)
		err = h.WriteGenesis(data)
	}
	if err != nil {
		return err
	}
	if have, want := types.Keccak(data), here.Genesis.Hash(); have != want {
		return &OtherGenesisError{Home: c.Home, Have: have, Want: want}
	}
	c.NoMemo = true // there is nobody to share results with
	if err := n.resume(data); err != nil {
		return err
	}
	n.resumed = !fresh
	return nil
}

// noteLostHere marks a validator whose log is gone: one that has had a folder for it,
// or of which that was said. How far the others are it cannot know.
func (n *Network) noteLostHere(node *Node) error {
	votes := home.NodeFiles(n.home.Dir(), node.Name).Votes
	_, err := os.Stat(filepath.Dir(votes))
	switch {
	case node.bare() > 0:
		node.Lost = n.config.Here.Lost || err == nil
	case n.config.Here.Lost:
		return fmt.Errorf("%s has its log of votes, %s: it has lost nothing", node.Name, votes)
	}
	return nil
}

// names are the validators of genesis that run in this process.
func (n *Network) names() (names []string) {
	if here := n.config.Here; here != nil {
		return []string{here.Name}
	}
	for i := range n.config.Validators {
		names = append(names, wallet.ValidatorName(i))
	}
	return names
}

// validatorKey is the key of a validator that runs in this process.
func (n *Network) validatorKey(name string) *crypto.Key {
	if here := n.config.Here; here != nil {
		return here.Key
	}
	return wallet.ValidatorKey(n.seed, name)
}

// signs reports whether the keys of the named accounts are known.
func (n *Network) signs() bool { return n.config.Here == nil || n.config.Seed != nil }

// elsewhere refuses what takes all nodes, where others run elsewhere.
func (n *Network) elsewhere(what string) error {
	if n.config.Here == nil {
		return nil
	}
	return api.Refuse(http.StatusConflict, "elsewhere", "%s takes a whole network, and only %s runs in this process", what,
		n.config.Here.Name).
		Hint("A network that devnet up brings up has all its nodes in one process.")
}

package box

import (
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// resumeValidators makes the validators of a home that are not in genesis: they joined.
func (n *Network) resumeValidators() error {
	names, err := n.keptValidators()
	if err != nil {
		return err
	}
	for _, name := range names {
		if n.findNode(name) != nil {
			continue
		}
		node, err := newNode(n, name)
		if err != nil {
			return err
		}
		n.addNode(node)
	}
	return nil
}

// keptValidators names the validators of which files are kept.
func (n *Network) keptValidators() ([]string, error) {
	if other := n.config.Elsewhere; other != nil {
		return other.Validators(), nil
	}
	if n.home == nil || n.config.Here != nil {
		return nil, nil
	}
	return n.home.Nodes()
}

// Validators implements network.Operated.
func (b backend) Validators() (all []network.Node) {
	for _, node := range b.network.List() {
		all = append(all, node)
	}
	return all
}

// AddValidator implements network.Operated.
func (b backend) AddValidator(name string) (network.Node, error) {
	if len(b.network.List()) >= setup.MaxValidators {
		return nil, refusal.New("too_many_validators", "a network in one process has at most %d validators", setup.MaxValidators)
	}
	if err := b.network.files.refuseFromGenesis("a validator", "join"); err != nil {
		return nil, err
	}
	node, err := newNode(b.network, name)
	if err != nil {
		return nil, err
	}
	b.network.addNode(node)
	return node, nil
}

// Member implements network.Operated.
func (b backend) Member(name string) (types.Validator, error) {
	node := b.network.findNode(name)
	endpoint, err := node.Endpoint()
	return types.Validator{Address: node.Address, PublicKey: node.key.PublicKey(), Endpoint: endpoint}, err
}

// ValidatorAddress implements network.Operated.
func (b backend) ValidatorAddress(name string) types.Address {
	if node := b.network.findNode(name); node != nil {
		return node.Address
	}
	return b.network.others.addressOf(name)
}

// Left implements network.Operated.
func (b backend) Left(name string) { b.network.noteLeft(name) }

package box

import (
	"context"
	"errors"
	"net/http"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// membership is how validators join and leave by the devnet's keys: who joins is started
// before, and who has left is stopped by the reaper.
type membership struct {
	origin    *origin
	nodes     *nodeList
	roster    *roster
	files     *files
	steering  *network.Steering
	authority *network.Authority
	others    *others
	make      func(name string) (*Node, error) // a node that is not started
}

// resume makes the validators of a home that are not in genesis: they joined.
func (m *membership) resume() error {
	names, err := m.kept()
	if err != nil {
		return err
	}
	for _, name := range names {
		if m.nodes.find(name) != nil {
			continue
		}
		node, err := m.make(name)
		if err != nil {
			return err
		}
		m.nodes.add(node)
	}
	return nil
}

// kept names the validators of which files are kept.
func (m *membership) kept() ([]string, error) {
	if other := m.origin.config.Elsewhere; other != nil {
		return other.Validators(), nil
	}
	if m.origin.home == nil || m.origin.config.Here != nil {
		return nil, nil
	}
	return m.origin.home.Nodes()
}

// Join starts a validator of a new name, or one that has left, and has the
// system key ask for its membership from the next epoch on. It returns when the
// instruction is final; the validator catches up meanwhile. An empty name means
// the next of v0, v1, … that is free.
func (m *membership) Join(ctx context.Context, name string) (*Node, error) {
	if err := m.origin.strict("joining by the devnet's keys"); err != nil {
		return nil, err
	}
	if err := m.origin.elsewhere("joining by the devnet's keys"); err != nil {
		return nil, err
	}
	if m.steering.Paused() {
		return nil, api.ErrPausedOrder()
	}
	if err := m.files.refuseBounded("a validator", "join"); err != nil {
		return nil, err
	}
	node, err := m.admit(name)
	if err != nil {
		return nil, err
	}
	endpoint, err := node.validator.Endpoint()
	if err != nil {
		return nil, err
	}
	_, err = m.authority.Instruct(ctx, governance.OpJoinValidator, governance.JoinValidator{PublicKey: node.key.PublicKey(), Endpoint: endpoint})
	if err != nil {
		node.joining.Store(false) // the reaper stops it, unless the instruction becomes final later
		return nil, err
	}
	return node, nil
}

// admit starts the node of a validator that is to join.
func (m *membership) admit(name string) (node *Node, err error) {
	err = m.roster.alone(func() error {
		node, err = m.start(name)
		return err
	})
	if errors.Is(err, network.ErrClosed) {
		return nil, api.Refuse(http.StatusServiceUnavailable, "closing", "the network ends")
	}
	return node, err
}

// start makes the node if it does not exist, and starts it if it does not run.
func (m *membership) start(name string) (*Node, error) {
	if name == "" {
		for i := 0; m.nodes.find(wallet.ValidatorName(i)) != nil; i++ {
			name = wallet.ValidatorName(i + 1)
		}
	}
	node, status := m.nodes.find(name), ""
	if node != nil {
		status = node.status(m.nodes.state())
	}
	if err := api.CheckJoin(name, wallet.Accounts(), status); err != nil {
		return nil, err
	}
	if node == nil {
		if m.roster.runners.findRunner(name) != nil {
			return nil, api.Refuse(http.StatusConflict, "name_taken", "%s is a runner's name", name).
				Hint("A name stands for one node: choose another.").At("name")
		}
		if len(m.nodes.List()) >= MaxValidators {
			return nil, api.Refuse(http.StatusConflict, "too_many_validators", "a network in one process has at most %d validators", MaxValidators)
		}
		var err error
		if node, err = m.make(name); err != nil {
			return nil, err
		}
		m.nodes.add(node)
	}
	node.joining.Store(true)
	if node.Started() {
		return node, nil
	}
	if err := node.start(); err != nil {
		node.joining.Store(false)
		return nil, err
	}
	return node, nil
}

// Leave has the system key ask for the end of a validator's membership, which
// comes with the epoch's. It returns when the instruction is final.
func (m *membership) Leave(ctx context.Context, name string) (address types.Address, err error) {
	if err := m.origin.strict("leaving by the devnet's keys"); err != nil {
		return address, err
	}
	node := m.nodes.find(name)
	if node != nil {
		address = node.Address
	} else if address = m.others.addressOf(name); address.IsZero() {
		return address, api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", name).
			Hint("GET /validators lists them.").At("name")
	}
	if _, err := m.authority.Instruct(ctx, governance.OpLeaveValidator, governance.LeaveValidator{Address: address}); err != nil {
		return address, err
	}
	if node != nil {
		node.joining.Store(false)
	}
	return address, nil
}

package box

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/validators"
)

// Node is one validator of the network.
type Node struct {
	machine
	validator *node.Validator
	key       *crypto.Key
	joining   atomic.Bool // asked for, and not yet final

	mask     *byzantine.Mask
	lie      *Fault                   // of its misbehaviour, or nil
	programs *fault.Programs          // the network's host, which fails where it is told
	broken   map[types.Address]*Fault // by the actors over which it fails
}

func (n *Network) newNode(name string) (*Node, error) {
	key := n.validatorKey(name)
	signer := n.verifier.Signer(key)
	one := &Node{key: key, mask: byzantine.NewMask(n.genesis.ChainID, signer), broken: map[types.Address]*Fault{},
		programs: &fault.Programs{Host: n.programs, Wait: func(d time.Duration) { <-time.After(d) }}}
	config := node.Config{
		Parts: node.Parts{Name: name, Signer: signer, Verifier: n.verifier, Clock: n.clock, Durability: n.config.Durability,
			Overhear: n.config.Overhear},
		Shell: validators.Config{Genesis: n.genesis, Memo: n.memo, History: n.config.History,
			Booted: n.booted(signer.Address()), Observe: n.observe, Tell: n.tell,
			TellRunners: n.gateway(signer.Address(), n.saw(signer.Address())), Dropped: n.finality.drop},
		Runtime: n.runtime, Book: n.book, Programs: one.programs, Log: n.log, WrapConn: n.lossy(name),
		Wrap: func(given env.Validator) env.Validator {
			given.Mesh, given.Programs = one.mask.Wrap(given.Mesh), one.mask.WrapPrograms(given.Programs)
			given.Connections = one.mask.WrapConnections(given.Connections)
			return given
		},
	}
	if here := n.config.Here; here != nil {
		config.Listen, config.Announced = here.Listen, here.Endpoint()
	}
	if n.home != nil {
		config.Files = func() (home.Node, error) { return n.home.Node(name) }
	}
	validator, err := node.NewValidator(config)
	if err != nil {
		return nil, err
	}
	one.validator, one.machine = validator, machine{Machine: &validator.Machine, network: n, process: one}
	return one, nil
}

// lossy has the links of this network stand before a node's socket. With strict
// nobody can ask for a fault of theirs, nor where the other ends are elsewhere.
func (n *Network) lossy(name string) func(net.PacketConn) net.PacketConn {
	if n.config.Strict || n.config.Here != nil {
		return nil
	}
	return func(socket net.PacketConn) net.PacketConn {
		conn := lossy.Wrap(socket, n.seed)
		n.links.open(name, conn, socket.LocalAddr().(*net.UDPAddr).AddrPort())
		return conn
	}
}

func (node *Node) start() error {
	n := node.network
	if err := node.validator.Open(); err != nil {
		return n.remedy(node.Name, err)
	}
	if err := n.mustFollow(node); err != nil {
		return errors.Join(err, node.stop())
	}
	if err := node.validator.Start(n.bootstrap()); err != nil {
		return n.remedy(node.Name, err)
	}
	n.steer(node.Validator())
	return nil
}

// stop ends the node. Its last head stays readable where it is in memory.
func (node *Node) stop() error {
	node.thaw()
	node.unmask()
	return node.validator.Stop()
}

// roleFailed marks the node of a role that panicked.
func (n *Network) roleFailed(role string, err error) {
	name, _, _ := strings.Cut(role, "/")
	for _, node := range n.List() {
		if node.Name == name {
			node.Fail(err)
		}
	}
	if r := n.findRunner(name); r != nil {
		r.Fail(err)
	}
}

// Validator is the running validator, or the one that ran last.
func (node *Node) Validator() *validators.Validator { return node.validator.Shell() }

func (node *Node) height() types.Height {
	if v := node.Validator(); v != nil {
		return v.Head().Block.Header.Height
	}
	return 0
}

// StopNode stops one node, as if its process had ended in good order.
func (n *Network) StopNode(name string) error { return n.change(name, (*Node).stop) }

// StartNode starts it again.
func (n *Network) StartNode(name string) error { return n.change(name, (*Node).start) }

func (n *Network) change(name string, do func(*Node) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errors.New("the network is closed")
	}
	if node := n.find(name); node != nil {
		return do(node)
	}
	return n.unknown(name)
}

func (n *Network) find(name string) *Node {
	for _, node := range n.List() {
		if node.Name == name {
			return node
		}
	}
	return nil
}

func (n *Network) unknown(name string) error {
	if here := n.config.Here; here != nil {
		return api.Refuse(http.StatusNotFound, "unknown_node", "no node called %q runs in this process, which has %s alone", name, here.Name).
			Hint("Ask the HTTP API of the process that runs it.").At("node")
	}
	there := fmt.Sprintf("%s to %s", n.List()[0].Name, n.List()[len(n.List())-1].Name)
	if all := n.RunnerList(); len(all) > 0 {
		there += fmt.Sprintf(" and %s to %s", all[0].Name, all[len(all)-1].Name)
	}
	return api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", name).
		Hint("They are %s; GET /ready lists them.", there).At("node")
}

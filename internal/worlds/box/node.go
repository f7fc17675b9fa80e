package box

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/environment/store/log"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/environment/transport/quic"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/validators"
)

// Node is one validator of the network and its environment.
type Node struct {
	Name    string
	Address types.Address

	network   *Network
	validator atomic.Pointer[validators.Validator] // stays readable when the node is stopped
	running   atomic.Bool
	failure   atomic.Pointer[error]
	endpoint  string      // of its QUIC socket, kept over restarts
	joining   atomic.Bool // asked for, and not yet final

	mask   *byzantine.Mask
	frozen atomic.Pointer[Fault] // nil unless it is frozen
	lie    *Fault                // of its misbehaviour, or nil
	death  *Fault                // of its crash while it is down, or nil
	lost   bool                  // its files are gone, and it has run before

	programs *fault.Programs          // see host
	broken   map[types.Address]*Fault // by the actors over which it fails

	// Present while it runs, but for the memory of an ephemeral node.
	transport *quic.Transport
	gate      *gate
	loops     loops
	log       env.Log
	store     env.Store
}

func (n *Network) newNode(name string) (*Node, error) {
	node := &Node{Name: name, Address: wallet.ValidatorKey(n.seed, name).Address(), network: n, endpoint: "127.0.0.1:0"}
	node.mask = byzantine.NewMask(n.genesis.ChainID, n.verifier.Signer(wallet.ValidatorKey(n.seed, name)))
	if err := node.listen(); err != nil {
		return nil, err
	}
	return node, nil
}

// listen opens the socket, so that the others know where it is before any of
// them dials.
func (node *Node) listen() error {
	n := node.network
	config := quic.Config{Signer: n.verifier.Signer(wallet.ValidatorKey(n.seed, node.Name)), Genesis: n.genesis.Hash(), Listen: node.endpoint, Logger: n.log.With("node", node.Name)}
	var conn *lossy.Conn
	if !n.config.Strict {
		config.WrapPacketConn = func(socket net.PacketConn) net.PacketConn {
			conn = lossy.Wrap(socket, n.seed)
			return conn
		}
	}
	transport, err := quic.New(config)
	if err != nil {
		return fmt.Errorf("%s cannot listen: %w", node.Name, err)
	}
	node.transport = transport
	node.endpoint = transport.Addr().(*net.UDPAddr).String()
	n.book.set(node.Address, node.endpoint)
	if conn != nil {
		n.links.open(node.Name, conn, transport.Addr().(*net.UDPAddr).AddrPort())
	}
	return nil
}

func (node *Node) start() error {
	n := node.network
	if node.transport == nil {
		if err := node.listen(); err != nil {
			return err
		}
	}
	if err := node.openFiles(); err != nil {
		return errors.Join(n.remedy(node.Name, err), node.stop())
	}
	if err := n.mustFollow(node); err != nil {
		return errors.Join(err, node.stop())
	}
	node.loops = newLoops()
	node.gate = &gate{Transport: node.mask.Wrap(node.tapped(n.book.transport(node.transport)))}
	key := wallet.ValidatorKey(n.seed, node.Name)
	environment := env.Node{Clock: n.clock, Loops: node.loops, Transport: node.gate, Log: node.log,
		Store: node.store, Signer: n.verifier.Signer(key), Verifier: n.verifier, Programs: node.mask.WrapPrograms(node.host())}
	validator, err := validators.Start(n.runtime, validators.Config{Name: node.Name, Genesis: n.genesis, Memo: n.memo, Log: n.log,
		Bootstrap: n.bootstrap(), Lost: node.lost, History: n.config.History, Booted: n.booted(key.Address()), Observe: n.observe, Tell: n.tell, OnFailure: func(err error) { node.fail(err) }}, environment)
	if err != nil {
		return errors.Join(n.remedy(node.Name, err), node.stop())
	}
	node.tellCut()
	n.steer(validator)
	validator.AskPool(func(p *validators.Pool) { p.OnDrop = n.finality.drop })
	node.validator.Store(validator)
	node.failure.Store(nil)
	node.running.Store(true)
	return nil
}

// host is the node's host of programs: the network's, which fails where it is told.
func (node *Node) host() *fault.Programs {
	if node.programs == nil {
		node.programs = &fault.Programs{Host: node.network.programs, Wait: func(d time.Duration) { <-time.After(d) }}
	}
	return node.programs
}

func (node *Node) openFiles() (err error) {
	n := node.network
	if n.home == nil {
		if node.log == nil {
			node.log, node.store = mem.NewLog(), mem.NewStore()
		}
		return nil
	}
	files, err := n.home.Node(node.Name)
	if err != nil {
		return err
	}
	votes, err := log.Open(files.Votes, n.config.Durability)
	if err != nil {
		return fmt.Errorf("%s: %w", node.Name, err)
	}
	node.log = votes
	state, err := bolt.Open(files.State, n.config.Durability)
	if err != nil {
		return fmt.Errorf("%s: %w", node.Name, err)
	}
	node.store = state
	return nil
}

// stop ends the node. Its last view stays readable where it is in memory.
func (node *Node) stop() (err error) {
	node.thaw()
	node.unmask()
	running := node.running.Swap(false)
	if v := node.validator.Load(); v != nil && running {
		v.Stop()
	}
	if node.transport != nil {
		err = node.transport.Close()
		node.transport = nil
	}
	node.loops.close()
	node.loops = nil
	if node.network.home != nil {
		if node.log != nil {
			err = errors.Join(err, node.log.Close())
		}
		if node.store != nil {
			err = errors.Join(err, node.store.Close())
		}
		node.log, node.store = nil, nil
	}
	return err
}

func (node *Node) fail(err error) { node.failure.Store(&err) }

// roleFailed marks the node of a role that panicked.
func (n *Network) roleFailed(role string, err error) {
	name, _, _ := strings.Cut(role, "/")
	for _, node := range n.List() {
		if node.Name == name {
			node.fail(err)
		}
	}
}

// Running reports whether the node takes part.
func (node *Node) Running() bool { return node.running.Load() && node.failure.Load() == nil }

// Failure is why the node stopped by itself, or nil.
func (node *Node) Failure() error {
	if err := node.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Validator is the running validator, or the one that ran last.
func (node *Node) Validator() *validators.Validator { return node.validator.Load() }

func (node *Node) height() types.Height {
	if v := node.validator.Load(); v != nil {
		return v.View().Block.Header.Height
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
	return api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", name).
		Hint("They are %s to %s; GET /validators lists them.", n.List()[0].Name, n.List()[len(n.List())-1].Name).At("node")
}

// loops are the goroutines of a node: one a role, so that neither programs nor
// disks keep a vote waiting.
type loops map[string]*roles.Loop

func newLoops() loops {
	l := loops{}
	for _, role := range []string{"intake", "consensus", "execution", "archive"} {
		l[role] = roles.NewLoop()
	}
	return l
}

// Loop implements env.Loops.
func (l loops) Loop(role string) actor.Dispatcher { return l[role] }

// kill ends the loops after the steps they are in, all at once.
func (l loops) kill() {
	var all sync.WaitGroup
	for _, loop := range l {
		all.Go(loop.Kill)
	}
	all.Wait()
}

func (l loops) close() {
	for _, loop := range l {
		loop.Close()
	}
}

// addressBook knows where the validators of this process listen: the chain's
// own record has no endpoints for them, since ports are the system's choice.
type addressBook struct {
	mu        sync.Mutex
	endpoints map[types.Address]string
}

func newAddressBook() *addressBook { return &addressBook{endpoints: map[types.Address]string{}} }

func (b *addressBook) set(a types.Address, endpoint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints[a] = endpoint
}

func (b *addressBook) endpoint(v types.Validator) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if endpoint, ok := b.endpoints[v.Address]; ok {
		return endpoint
	}
	return v.Endpoint
}

// transport returns t with peers looked up in the book.
func (b *addressBook) transport(t *quic.Transport) env.Transport { return bookedTransport{t, b} }

type bookedTransport struct {
	*quic.Transport
	book *addressBook
}

// SetPeers implements env.Transport.
func (t bookedTransport) SetPeers(peers []types.Validator) {
	found := make([]types.Validator, 0, len(peers))
	for _, peer := range peers {
		if peer.Endpoint = t.book.endpoint(peer); peer.Endpoint != "" {
			found = append(found, peer)
		}
	}
	t.Transport.SetPeers(found)
}

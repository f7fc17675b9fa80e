package box

import (
	"slices"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// nodeList is the validators of a network. It only grows, and is read without a lock;
// who adds holds the roster's.
type nodeList struct {
	all atomic.Pointer[[]*Node]
}

// List is the validators: those of genesis by name, then those that joined.
func (l *nodeList) List() []*Node {
	if list := l.all.Load(); list != nil {
		return *list
	}
	return nil
}

func (l *nodeList) addNode(node *Node) {
	list := append(slices.Clone(l.List()), node)
	l.all.Store(&list)
}

// Best returns the running node with the highest final block, neither frozen nor a
// liar if there is another. Where all are stopped it is the one that was highest.
func (l *nodeList) Best() *Node {
	nodes := l.List()
	best := nodes[0]
	for _, node := range nodes[1:] {
		trust, before := node.trustLevel(), best.trustLevel()
		if trust > before || trust == before && node.finalHeight() > best.finalHeight() {
			best = node
		}
	}
	return best
}

// bestForOperator is the best node as the network's operator finds it.
func (l *nodeList) bestForOperator() network.Best { return l.Best().asBest() }

// asBest is a node as the network's operator finds the best.
func (node *Node) asBest() (best network.Best) {
	best.Name = node.Name
	v := node.Validator()
	if v == nil {
		return best
	}
	best.State, best.Archive = v.Head().State, v.Archive()
	if node.Running() {
		best.Validator = v
	}
	return best
}

// bestState is the final state of the best node.
func (l *nodeList) bestState() *ledger.State { return l.Best().Validator().Head().State }

func (l *nodeList) findNode(name string) *Node {
	for _, node := range l.List() {
		if node.Name == name {
			return node
		}
	}
	return nil
}

// findRunning is the node of a name, or for "" the best, where its validator runs.
func (l *nodeList) findRunning(name string) (*Node, error) {
	node := l.Best()
	if name != "" {
		if node = l.findNode(name); node == nil {
			return nil, refusal.New("unknown_node", "no node is called %q", name).
				Hint("GET /validators lists them.").At("node")
		}
	}
	if node.Validator() == nil || !node.Running() {
		return nil, refusal.New("node_stopped", "%s is not running", node.Name).At("node")
	}
	return node, nil
}

// inOrder lists the nodes in the order of start: first those that have files, since
// these show whether the network has run.
func (l *nodeList) inOrder() []*Node {
	nodes := slices.Clone(l.List())
	slices.SortStableFunc(nodes, func(a, b *Node) int { return a.countLostLog() - b.countLostLog() })
	return nodes
}

// highestBlock is the highest block that a node started so far holds; those that are
// not started have their say in their own store.
func (l *nodeList) highestBlock() (h types.Height) {
	for _, node := range l.List() {
		h = max(h, node.finalHeight())
	}
	return h
}

// bootstrapMembers returns the members that a node may connect with before it has synced.
func (l *nodeList) bootstrapMembers() []types.Validator {
	if v := l.Best().Validator(); v != nil {
		return v.Head().State.Validators().Members
	}
	return nil
}

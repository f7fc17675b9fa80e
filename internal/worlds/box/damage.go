package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/log"
	"github.com/cowboyinc/devnet/validators"
)

// DamagedError says that a node's file cannot be used, and what to do.
type DamagedError struct {
	Node   string
	Cause  error // names the file and the place
	Remedy string
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s: %v: %s", e.Node, e.Cause, e.Remedy) }

func (e *DamagedError) Unwrap() error { return e.Cause }

// remedy adds to what is wrong with a node's files how to go on. State is what
// the other validators have as well; votes are not, so who lost them sits out for
// a while (finding F17), which not all can.
func (n *Network) remedy(name string, err error) error {
	if n.home == nil {
		return err
	}
	files := home.NodeFiles(n.home.Dir(), name)
	switch {
	case errors.As(err, new(*store.DamagedError)), errors.As(err, new(*validators.StoreError)):
		if n.droppedBeside(name) {
			return &DamagedError{name, err, n.copyState(name)}
		}
		return &DamagedError{name, err, fmt.Sprintf("remove %s, and %s fetches its state from the others; or begin anew with --reset",
			files.State, name)}
	case errors.Is(err, log.ErrDamaged), errors.Is(err, log.ErrFormat):
		return &DamagedError{name, err, fmt.Sprintf("remove %s, and %s votes again once the others have gone on; or begin anew with --reset",
			files.Votes, name)}
	}
	return err
}

// inOrder lists the nodes as they are to be started: first those that have files,
// since they tell whether the network has run.
func (n *Network) inOrder() []*Node {
	nodes := slices.Clone(n.List())
	slices.SortStableFunc(nodes, func(a, b *Node) int { return a.bare() - b.bare() })
	return nodes
}

// bare is 1 for a node whose log is not there, else 0.
func (node *Node) bare() int {
	if node.network.home == nil {
		return 0
	}
	if info, err := os.Stat(home.NodeFiles(node.network.home.Dir(), node.Name).Votes); err == nil && info.Size() > 0 {
		return 0
	}
	return 1
}

// noteLost marks a node of a network that has final blocks, and whose log is
// gone. More than f of them cannot sit out: nobody would be left to go on.
func (n *Network) noteLost(node *Node) error {
	if n.config.Here != nil {
		return n.noteLostHere(node)
	}
	if !n.resumed || node.bare() == 0 || n.reached() == 0 {
		return nil
	}
	node.Lost = true
	var lost []string
	for _, other := range n.List() {
		if other.Lost {
			lost = append(lost, other.Name)
		}
	}
	if f := n.genesis.Validators.MaxFaulty(); len(lost) > f {
		return fmt.Errorf("the logs of votes of %s are gone from %s: of %d validators %d can do without, since the others wait until blocks "+
			"are made again; "+
			"put %s back, or begin anew with --reset", strings.Join(lost, ", "), filepath.Join(n.home.Dir(), "nodes"),
			len(n.genesis.Validators.Members), f,
			home.NodeFiles(n.home.Dir(), node.Name).Votes)
	}
	return nil
}

// reached is the highest block that a node started so far holds; those that are
// not started have their say in their own store.
func (n *Network) reached() (h types.Height) {
	for _, node := range n.List() {
		h = max(h, node.height())
	}
	return h
}

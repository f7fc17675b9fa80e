package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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

// remedy adds to an error of a node's files how to continue. State is what the
// other validators have as well; votes are not, so who lost them sits out for a
// while (finding F17), which not all can.
func (f *files) remedy(name string, err error) error {
	if f.origin.home == nil {
		return err
	}
	of := home.NodeFiles(f.origin.home.Dir(), name)
	switch {
	case errors.As(err, new(*store.DamagedError)), errors.As(err, new(*validators.StoreError)):
		if f.droppedBeside(name) {
			return &DamagedError{name, err, f.copyState(name)}
		}
		return &DamagedError{name, err, fmt.Sprintf("remove %s, and %s fetches its state from the others; or start over with --reset",
			of.State, name)}
	case errors.Is(err, log.ErrDamaged), errors.Is(err, log.ErrFormat):
		return &DamagedError{name, err, fmt.Sprintf("remove %s, and %s votes again once the others are past it; or start over with --reset",
			of.Votes, name)}
	}
	return err
}

// bare returns 1 for a node whose log is missing, otherwise 0.
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
// gone. At most f of them can abstain: with more, the network could not continue.
func (f *files) noteLost(node *Node) error {
	if f.origin.config.Here != nil {
		return f.noteLostHere(node)
	}
	if !f.origin.resumed || node.bare() == 0 || f.nodes.reached() == 0 {
		return nil
	}
	node.Lost = true
	return f.spareLost()
}

// noteCut marks a node whose log ends before its store's tip, which its start found:
// such a log is lost too (decision C5).
func (f *files) noteCut(node *Node) error {
	if f.origin.config.Here != nil || !f.origin.resumed || node.Lost || !node.Validator().Status().Lost {
		return nil
	}
	node.Lost = true
	return f.spareLost()
}

// spareLost refuses a home that has lost more logs than f: those that sit out would
// wait for each other.
func (f *files) spareLost() error {
	var lost []string
	for _, other := range f.nodes.List() {
		if other.Lost {
			lost = append(lost, other.Name)
		}
	}
	spare := f.origin.genesis.Validators.MaxFaulty()
	if len(lost) <= spare {
		return nil
	}
	return fmt.Errorf("the logs of votes of %s are lost or cut; of %d validators %d may lose theirs; "+
		"put %s back, or start over with --reset",
		strings.Join(lost, ", "), len(f.origin.genesis.Validators.Members), spare, filepath.Join(f.origin.home.Dir(), "nodes", "*", "votes.log"))
}

// noteLostHere marks a validator whose log is gone: one that has had a folder for it,
// or of which that was said. How far the others are it cannot know.
func (f *files) noteLostHere(node *Node) error {
	votes := home.NodeFiles(f.origin.home.Dir(), node.Name).Votes
	_, err := os.Stat(filepath.Dir(votes))
	switch {
	case node.bare() > 0:
		node.Lost = f.origin.config.Here.Lost || err == nil
	case f.origin.config.Here.Lost:
		return fmt.Errorf("%s has its log of votes, %s: it has lost nothing", node.Name, votes)
	}
	return nil
}

package box

import (
	"errors"
	"fmt"
	"os"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/validators/history"
)

// files is the disk state of a network's nodes: missing parts, the parts that other
// nodes still have, and how to continue.
type files struct {
	origin *origin
	nodes  *nodeList
	broken []error // why validators did not start; written by the start alone
}

// whyNotFromGenesis returns why no validator can begin from genesis in this network, or "":
// blocks were dropped, or will be before a new one has caught up.
func (f *files) whyNotFromGenesis() string {
	if kept := f.keptAbove(0); kept.From > 1 {
		return kept.String()
	}
	if f.origin.config.History > 0 {
		return fmt.Sprintf("this network keeps %d blocks (--history)", f.origin.config.History)
	}
	return ""
}

// keptAbove returns the largest range of blocks that a running node above a height
// keeps; empty if there is no such node. It skips a store that cannot be read.
func (f *files) keptAbove(h types.Height) (most history.Kept) {
	for _, node := range f.nodes.List() {
		if node.Phase() == network.Stopped || node.finalHeight() <= h {
			continue
		}
		if kept, err := node.Validator().Archive().Kept(); err == nil && (most.From == 0 || kept.From < most.From) {
			most = kept
		}
	}
	return most
}

// cutOff returns why a node at a height cannot catch up, or "".
func (f *files) cutOff(at types.Height) string {
	if kept := f.keptAbove(at); kept.Dropped(at + 1) {
		return fmt.Sprintf("its state is at height %d and cannot catch up: %s", at, kept)
	}
	return ""
}

// refuseFromGenesis refuses an order that would make a validator begin from genesis.
func (f *files) refuseFromGenesis(who, what string) error {
	if why := f.whyNotFromGenesis(); why != "" {
		return refusal.New("history_bounded", "%s cannot %s: it would have to execute all blocks from genesis, and %s", who,
			what, why).
			Hint("A network brought up without --history keeps all its blocks.")
	}
	return nil
}

// mustFollow refuses a node that lacks blocks which no other keeps, such as one
// whose state was removed.
func (f *files) mustFollow(node *Node) error {
	tip, err := history.Of(node.Store()).Tip()
	if err != nil {
		return nil // starting tells
	}
	at := types.Height(0)
	if tip != nil {
		at = tip.Block.Header.Height
	}
	why := f.cutOff(at)
	switch {
	case why == "":
		return nil
	case f.origin.home == nil:
		return fmt.Errorf("%s: %s", node.Name, why)
	}
	return &DamagedError{node.Name, errors.New(why), f.copyState(node.Name)}
}

// copyState is the remedy where the state cannot be fetched from the others:
// state.db holds nothing that is one validator's own.
func (f *files) copyState(name string) string {
	if f.origin.config.Here != nil {
		return fmt.Sprintf("copy the state.db of another validator to %s while neither runs", home.NodeFiles(f.origin.home.Dir(), name).State)
	}
	return fmt.Sprintf("copy %s to %s while the network does not run; or start over with --reset",
		f.stateBeside(name), home.NodeFiles(f.origin.home.Dir(), name).State)
}

// stateBeside returns the path of another validator's state, preferably of a
// running one: that is complete.
func (f *files) stateBeside(name string) (path string) {
	for _, node := range f.nodes.List() {
		of := home.NodeFiles(f.origin.home.Dir(), node.Name)
		if _, err := os.Stat(of.State); err != nil || node.Name == name {
			continue
		}
		if node.Phase() != network.Stopped && node.finalHeight() > 0 {
			return of.State
		}
		if path == "" {
			path = of.State
		}
	}
	return path
}

// droppedBeside reports whether a validator other than name, which may not have
// been started yet, has dropped blocks.
func (f *files) droppedBeside(name string) bool {
	if f.whyNotFromGenesis() != "" {
		return true
	}
	for _, node := range f.nodes.List() {
		of := home.NodeFiles(f.origin.home.Dir(), node.Name)
		if _, err := os.Stat(of.State); err != nil || node.Name == name || node.Store() != nil {
			continue
		}
		db, err := bolt.Open(of.State, f.origin.config.Durability)
		if err != nil {
			continue // damaged too, which is told when its turn comes
		}
		kept, err := history.Of(db).Kept()
		if closed := db.Close(); err == nil && closed == nil && kept.From > 1 {
			return true
		}
	}
	return false
}

// staysDown reports whether an error of a start is of its node alone, so that the others may go on
// without it: its files are beyond help, or its process ended by itself.
func (f *files) staysDown(err error) bool {
	switch {
	case f.origin.config.Here != nil:
		return false
	case f.origin.config.Elsewhere != nil:
		return errors.As(err, new(*remote.EndedError))
	}
	return f.origin.home != nil && errors.As(err, new(*DamagedError))
}

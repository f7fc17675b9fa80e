package box

import (
	"fmt"
	"net/http"
	"os"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
)

// files is what the nodes of a network hold on disk: what they lack of it, what of
// that the others still have, and how to go on.
type files struct {
	origin *origin
	nodes  *nodeList
}

// bounded says why nobody can begin from genesis in this network, or "": blocks
// were dropped, or will be before who begins now is done.
func (f *files) bounded() string {
	if kept := f.keptAbove(0); kept.From > 1 {
		return kept.String()
	}
	if f.origin.config.History > 0 {
		return fmt.Sprintf("this network keeps %d blocks (--history)", f.origin.config.History)
	}
	return ""
}

// keptAbove is what the running nodes that are above a height keep, the most of
// them; nothing where there are none. Of a store that cannot be read it says
// nothing.
func (f *files) keptAbove(h types.Height) (most history.Kept) {
	for _, node := range f.nodes.List() {
		if !node.Started() || node.height() <= h {
			continue
		}
		if kept, err := node.Validator().Archive().Kept(); err == nil && (most.From == 0 || kept.From < most.From) {
			most = kept
		}
	}
	return most
}

// cutOff says why a node that stands at a height cannot catch up, or "".
func (f *files) cutOff(at types.Height) string {
	if kept := f.keptAbove(at); kept.Dropped(at + 1) {
		return fmt.Sprintf("it stands at height %d and cannot catch up: %s", at, kept)
	}
	return ""
}

// refuseBounded refuses what would have a validator begin from genesis.
func (f *files) refuseBounded(who, what string) error {
	if why := f.bounded(); why != "" {
		return api.Refuse(http.StatusConflict, "history_bounded", "%s cannot %s: it would have to execute all blocks from genesis, and %s", who,
			what, why).
			Hint("A network brought up without --history keeps all its blocks.")
	}
	return nil
}

// mustFollow refuses a node that lacks blocks which no other keeps, such as one
// whose state was removed.
func (f *files) mustFollow(node *Node) error {
	tip, err := history.Of(node.validator.Store()).Tip()
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
	return fmt.Errorf("%s: %s; %s", node.Name, why, f.copyState(node.Name))
}

// copyState is the remedy where the state cannot be fetched from the others:
// state.db holds nothing that is one validator's own.
func (f *files) copyState(name string) string {
	if f.origin.config.Here != nil {
		return fmt.Sprintf("copy the state.db of another validator to %s while neither runs", home.NodeFiles(f.origin.home.Dir(), name).State)
	}
	return fmt.Sprintf("copy %s to %s while the network does not run; or begin anew with --reset",
		f.stateBeside(name), home.NodeFiles(f.origin.home.Dir(), name).State)
}

// stateBeside is the state of another validator, of one that runs where there is
// one: that is whole.
func (f *files) stateBeside(name string) (path string) {
	for _, node := range f.nodes.List() {
		of := home.NodeFiles(f.origin.home.Dir(), node.Name)
		if _, err := os.Stat(of.State); err != nil || node.Name == name {
			continue
		}
		if node.Started() && node.height() > 0 {
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
	if f.bounded() != "" {
		return true
	}
	for _, node := range f.nodes.List() {
		of := home.NodeFiles(f.origin.home.Dir(), node.Name)
		if _, err := os.Stat(of.State); err != nil || node.Name == name || node.validator.Store() != nil {
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

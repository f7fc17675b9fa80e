package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// follower is what one validator made final, as executed here.
type follower struct {
	owner   *Backend
	name    string
	store   atomic.Pointer[env.Store]
	head    atomic.Pointer[validators.Head]
	writer  *history.Writer
	pending []*ledger.Result // final, whose certificate has not come yet
	former  []env.Store      // stores before a reset: a request may still read them
}

// storePath is the file that keeps what the validator made final; "": it is kept in memory.
func (f *follower) storePath() string {
	if f.owner.stores == "" {
		return ""
	}
	return filepath.Join(f.owner.stores, f.name+storeSuffix)
}

// resumeFromFile begins with the kept file. A file that cannot be read is replaced by one that
// begins at genesis.
func (f *follower) resumeFromFile() error {
	if f.storePath() == "" {
		return f.resetToGenesis()
	}
	if err := os.MkdirAll(f.owner.stores, 0o700); err != nil {
		return err
	}
	kept, err := bolt.Open(f.storePath(), store.Process)
	if err != nil {
		f.owner.log.Warn("the kept blocks of a validator cannot be read: they are executed again from genesis", "node", f.name, "error", err)
		return f.resetToGenesis()
	}
	head, err := validators.Restore(kept)
	if err != nil || head == nil {
		if err != nil {
			f.owner.log.Warn("the kept blocks of a validator cannot be read: they are executed again from genesis", "node", f.name, "error", err)
		}
		if err := kept.Close(); err != nil {
			return err
		}
		return f.resetToGenesis()
	}
	f.useStore(kept, head)
	return nil
}

// resetToGenesis has it begin at genesis.
func (f *follower) resetToGenesis() error {
	state, block, err := f.owner.genesis.State()
	if err != nil {
		return err
	}
	fresh, err := f.newEmptyStore()
	if err != nil {
		return err
	}
	if err := fresh.Commit(history.GenesisWrites(state)); err != nil {
		return errors.Join(err, fresh.Close())
	}
	f.useStore(fresh, &validators.Head{State: state, Block: block, Hash: block.Hash()})
	return nil
}

// newEmptyStore is a new store, in place of the kept file.
func (f *follower) newEmptyStore() (env.Store, error) {
	if f.storePath() == "" {
		return mem.NewStore(), nil
	}
	if err := os.Remove(f.storePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return bolt.Open(f.storePath(), store.Process)
}

// useStore takes a store, and the head that it holds.
func (f *follower) useStore(in env.Store, head *validators.Head) {
	if before := f.store.Swap(&in); before != nil {
		f.former = append(f.former, *before)
	}
	f.writer = history.NewWriter(history.Of(in), f.owner.hosts.Chain().History, f.owner.chain.shareWrites)
	f.pending = nil
	f.head.Store(head)
}

// closeStores closes its stores, after the last reader.
func (f *follower) closeStores() (err error) {
	for _, one := range append(f.former, *f.store.Load()) {
		err = errors.Join(err, one.Close())
	}
	return err
}

// tipState returns the state for the next block.
func (f *follower) tipState() *ledger.State {
	if n := len(f.pending); n > 0 {
		return f.pending[n-1].State
	}
	return f.head.Load().State
}

// addFinal executes the next final block. It returns the blocks that are final with it where
// it has a certificate.
func (f *follower) addFinal(final control.Final) (*validators.FinalBlocks, error) {
	result, err := f.owner.chain.applyBlock(f.tipState(), final.Block)
	if err != nil {
		return nil, f.newDifferenceError(final, "it is final there, and refused here: "+err.Error())
	}
	if root := result.State.Root(); !final.Root.IsZero() && final.Root != root {
		return nil, f.newDifferenceError(final, fmt.Sprintf("its state has root %s, executing the block here gives %s", final.Root, root))
	}
	f.pending = append(f.pending, result)
	if final.Finalization == nil {
		return nil, nil
	}
	all := f.pending
	f.pending = nil
	writes, err := f.writer.Writes([]history.Final{{Results: all, Finalization: final.Finalization}})
	if err != nil {
		return nil, err
	}
	if err := (*f.store.Load()).Commit(writes); err != nil {
		return nil, err
	}
	f.head.Store(&validators.Head{State: result.State, Block: result.Block, Hash: result.Hash, Finalization: final.Finalization})
	return &validators.FinalBlocks{Validator: f.name, Results: all, Finalization: final.Finalization}, nil
}

// newDifferenceError returns the error that a node and this program disagree on a block's
// result.
func (f *follower) newDifferenceError(final control.Final, detail string) error {
	return oracle.Violation{Oracle: "roots", Height: final.Block.Header.Height, Detail: f.name + ": " + detail}
}

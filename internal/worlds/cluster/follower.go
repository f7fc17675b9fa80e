package cluster

import (
	"fmt"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/faces/oracle"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// follower is what one validator made final, as executed here.
type follower struct {
	owner   *Crew
	name    string
	store   atomic.Pointer[mem.Store]
	head    atomic.Pointer[validators.Head]
	writer  *history.Writer
	pending []*ledger.Result // final, whose certificate has not come yet
}

// reset has it begin at genesis.
func (f *follower) reset() error {
	state, block, err := f.owner.genesis.State()
	if err != nil {
		return err
	}
	store := mem.NewStore()
	if err := store.Commit(history.GenesisWrites(state)); err != nil {
		return err
	}
	f.store.Store(store)
	f.writer = history.NewWriter(history.Of(store), 0, f.owner.chain.share)
	f.pending = nil
	f.head.Store(&validators.Head{State: state, Block: block, Hash: block.Hash()})
	return nil
}

// tip is the state that the next block stands on.
func (f *follower) tip() *ledger.State {
	if n := len(f.pending); n > 0 {
		return f.pending[n-1].State
	}
	return f.head.Load().State
}

// add executes the next final block. It returns the blocks that are final with it where
// it has a certificate.
func (f *follower) add(final control.Final) (*validators.FinalBlocks, error) {
	result, err := f.owner.chain.apply(f.tip(), final.Block)
	if err != nil {
		return nil, f.differs(final, "it is final there, and refused here: "+err.Error())
	}
	if root := result.State.Root(); !final.Root.IsZero() && final.Root != root {
		return nil, f.differs(final, fmt.Sprintf("its state has root %s, executing the block here gives %s", final.Root, root))
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
	if err := f.store.Load().Commit(writes); err != nil {
		return nil, err
	}
	f.head.Store(&validators.Head{State: result.State, Block: result.Block, Hash: result.Hash, Finalization: final.Finalization})
	return &validators.FinalBlocks{Validator: f.name, Results: all, Finalization: final.Finalization}, nil
}

// differs is that a node and this program do not agree on what a block gives.
func (f *follower) differs(final control.Final, detail string) error {
	return oracle.Violation{Oracle: "roots", Height: final.Block.Header.Height, Detail: f.name + ": " + detail}
}

// Package crowded plays a room of crowds on a simulated network: four validators, or as many as it names, with votes and
// links, whose oracles watch. It shows that what the bare world says of a rule is so where blocks are agreed on.
package crowded

import (
	"errors"
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/bare"
	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// linkLatency is small beside a block's time, so that what is submitted after a block is in the next.
const linkLatency = 20 * time.Millisecond

// blockWithin is the virtual time in which the next block has to be final.
const blockWithin = time.Minute

// maxIdleBlocks is how many blocks in a row may take none of the transactions that wait.
const maxIdleBlocks = 100

// World is a network of a room.
type World struct {
	network *sim.Network
	observe func(*ledger.Result)
	head    *ledger.State
	failed  error
	nonces  map[string]types.Nonce
	waiting int // transactions that are in no block
	blocks  uint64
	fires   uint64
}

// Open implements crowd.Opener.
func Open(seed uint64, c bare.Config) (crowd.World, error) {
	w := &World{observe: c.Observe, nonces: map[string]types.Nonce{}}
	given := params.Overrides{"chain.cheats": "true"}
	for key, value := range c.Params { // order: into a map
		given[key] = value
	}
	network, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: seed, Link: sim.Link{Latency: linkLatency}}, Params: given,
		Validators: c.Validators, Accounts: c.Accounts, Funds: bare.Balance, Programs: c.Programs, Alone: true, Timeless: true,
		ChainID: bare.ChainID, Final: func(_ types.Time, r *ledger.Result) { w.noteFinal(r) }})
	if err != nil {
		return nil, err
	}
	w.network, w.head = network, network.Validator("v0").Head().State
	return w, nil
}

// noteFinal counts a block when the first validator has finalized it.
func (w *World) noteFinal(r *ledger.Result) {
	if r.Block.Header.Height <= w.head.Header().Height {
		return
	}
	if err := bare.FailedTransaction(r); err != nil && w.failed == nil {
		w.failed = err
	}
	w.head, w.waiting = r.State, w.waiting-len(r.Block.Transactions)
	w.blocks, w.fires = w.blocks+1, w.fires+bare.CountFires(r)
	if w.observe != nil {
		w.observe(r)
	}
}

// Deploy implements crowd.World.
func (w *World) Deploy(account, name string, code []byte, fund types.Wei) (types.Address, error) {
	d, at := bare.NewDeploy(w.network.Key(account).Address(), name, code)
	return at, w.submitTransaction(account, w.newTransaction(account, nil, fund, d))
}

// Call implements crowd.World.
func (w *World) Call(account string, actor types.Address, handler string, payload []byte) error {
	call := &types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload}
	return w.submitTransaction(account, w.newTransaction(account, &actor, types.Wei{}, call))
}

// Fill implements crowd.World.
func (w *World) Fill(account string, actor types.Address, handler string, cells types.Cells, most types.Wei) (types.Wei, bool, error) {
	price := w.head.NextBaseFees().Cell
	if most.Less(price) {
		return types.Wei{}, false, nil
	}
	call, err := bare.CallOfCells(handler, cells)
	if err != nil {
		return types.Wei{}, false, err
	}
	tx := w.newTransaction(account, &actor, types.Wei{}, call)
	tx.CellsLimit = types.Cells(len(tx.Payload))
	return price.Mul(uint64(tx.CellsLimit)), true, w.submitTransaction(account, tx)
}

func (w *World) newTransaction(account string, to *types.Address, value types.Wei, payload any) *types.Transaction {
	return bare.NewTransaction(w.head.NextParams(), w.nonces[account], to, value, payload)
}

func (w *World) submitTransaction(account string, tx *types.Transaction) (refused error) {
	signature := w.network.Scheme().Signer(w.network.Key(account)).Sign(tx.SigningDigest())
	tx.Signature = &signature
	answered := false
	w.network.Submit("v0", tx, func(_ types.Hash, err error) { answered, refused = true, err })
	if err := w.network.RunUntil(func() bool { return answered }, w.network.Now().Add(blockWithin)); err != nil {
		return fmt.Errorf("a transaction of %s is not answered: %w", account, err)
	}
	if refused != nil {
		return fmt.Errorf("a transaction of %s: %w", account, refused)
	}
	w.nonces[account]++
	w.waiting++
	return nil
}

// Step implements crowd.World.
func (w *World) Step() error {
	if err := w.network.RunToHeight(w.head.Header().Height+1, blockWithin); err != nil {
		return err
	}
	return w.failed
}

// Settle implements crowd.World.
func (w *World) Settle() error {
	for idle := 0; w.waiting > 0; {
		before := w.waiting
		if err := w.Step(); err != nil {
			return err
		}
		if idle++; w.waiting < before {
			idle = 0
		}
		if idle == maxIdleBlocks {
			return errors.New("the transactions that wait fit into no block: raise cip3.lane_user_cycles")
		}
	}
	return nil
}

// Head implements crowd.World.
func (w *World) Head() *ledger.State { return w.head }

// Root implements crowd.World.
func (w *World) Root() types.Hash { return w.head.Root() }

// Audit implements crowd.World. It also fails where an oracle saw a rule broken.
func (w *World) Audit() error { return errors.Join(w.network.Err(), ledger.Audit(w.head)) }

// Blocks implements crowd.World.
func (w *World) Blocks() uint64 { return w.blocks }

// Fires implements crowd.World.
func (w *World) Fires() uint64 { return w.fires }

// Close implements crowd.World.
func (w *World) Close() { w.network.Close() }

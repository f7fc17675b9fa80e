package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// fleet is the validators of a network, in their world.
type fleet struct {
	*World
	*accounts
	Genesis *ledger.Genesis
	names   []string
	running map[string]*validators.Validator // looked up only
	tip     types.Height                     // highest height that any validator finalized
	failure error
}

// Names are the nodes' names.
func (f *fleet) Names() []string { return slices.Clone(f.names) }

// Validator returns a running validator, or nil where the node is down.
func (f *fleet) Validator(name string) *validators.Validator {
	if !f.Running(name) {
		return nil
	}
	return f.running[name]
}

// Tip is the highest height that any validator finalized.
func (f *fleet) Tip() types.Height { return f.tip }

// Height returns a validator's highest final height; 0 if it is down.
func (f *fleet) Height(name string) types.Height {
	if v := f.Validator(name); v != nil {
		return v.Head().Block.Header.Height
	}
	return 0
}

// heights is what each has finalized, for people.
func (f *fleet) heights() []string {
	var all []string
	for _, name := range f.names {
		all = append(all, fmt.Sprintf("%s:%d", name, f.Height(name)))
	}
	return all
}

// Submit hands a transaction to a validator; answer, which may be nil, is told
// whether it was taken. Where the validator is down it is lost.
func (f *fleet) Submit(via string, tx *types.Transaction, answer func(types.Hash, error)) {
	if answer == nil {
		answer = func(types.Hash, error) {}
	}
	if v := f.Validator(via); v != nil {
		v.Submit(tx.Encode(), answer)
	}
}

// failed keeps why a validator stopped by itself. A crash, or an ordered failure of
// its disk, does not count: the test caused it.
func (f *fleet) failed(err error) {
	if f.failure == nil && !errors.Is(err, ErrCrashed) && !errors.Is(err, ErrDiskFailed) && !errors.Is(err, ErrDamaged) {
		f.failure = fmt.Errorf("sim: seed %d: %w", f.Seed(), err)
	}
}

// nameOf is what the node of an address is called.
func (f *fleet) nameOf(a types.Address) string {
	if one := f.byAddress[a]; one != nil {
		return one.name
	}
	return a.String()
}

// Terms of a transaction that is handed in again until it is final, in virtual time.
const (
	resubmitEvery = 10 * time.Second
	resubmitTimes = 60
)

// resubmit hands a transaction in at all validators, until it is final.
func (f *fleet) resubmit(from string, tx *types.Transaction, times int) {
	best := f.best()
	if times == 0 || best != nil && best.Head().State.Account(f.keys[from].Address()).Nonce > tx.Nonce {
		return
	}
	for _, name := range f.names {
		f.Submit(name, tx, nil)
	}
	f.After(resubmitEvery, func() { f.resubmit(from, tx, times-1) })
}

// best is the running validator with the highest final block, or nil.
func (f *fleet) best() (best *validators.Validator) {
	for _, name := range f.names {
		v := f.Validator(name)
		if v != nil && (best == nil || v.Head().Block.Header.Height > best.Head().Block.Header.Height) {
			best = v
		}
	}
	return best
}

// reached is the highest height that a running validator has finalized.
func (f *fleet) reached() types.Height {
	if best := f.best(); best != nil {
		return best.Head().Block.Header.Height
	}
	return 0
}

// order has an account call a handler, and hands that in again until it is final.
func (f *fleet) order(from string, to types.Address, handler string, args any) {
	f.follows(from)
	f.resubmit(from, f.Execute(from, to, handler, codec.Marshal(args)), resubmitTimes)
}

// follows sets an account's next nonce above all that the chain has seen.
func (f *fleet) follows(account string) {
	if best := f.best(); best != nil {
		f.nonces[account] = max(f.nonces[account], best.Head().State.Account(f.keys[account].Address()).Nonce)
	}
}
